"""The viewer's layout, run in the browser without a page: what `test_layout` checks of Python's."""

from pathlib import Path

import pytest

import graphlens.renderers
from graphlens.renderers.packed import packed
from graphlens.renderers.script import ORDER, joined
from graphlens.renderers.viewer_payload import viewer_payload
from hand_graphs import branching, chain, hostile, small, tangle
from tall_model import tall_model
from test_folded import stacked
from test_viewer import browser, pytestmark

__all__ = ["browser", "pytestmark"]
VIEWER = Path(graphlens.renderers.__file__).parent / "assets" / "viewer"
PROBE = """\
import { Picture } from "./payload.js";
import { withNames } from "./names.js";
import { Layouts } from "./layout.js";
import { ViewTree } from "./view_tree.js";

function placed(payload, what) {
  const tree = new ViewTree(new Picture(payload, 0));
  const layouts = new Layouts(tree);
  const all = [...tree.picture.clusters.keys()];
  if (what === "all") tree.open = new Set(all);
  if (what === "none") tree.open = new Set();
  if (what === "some") layouts.place(withNames(tree, tree.shown())), tree.open = new Set(all.filter((c) => c % 3));
  const view = withNames(tree, tree.shown());
  const layout = layouts.place(view);
  return {
    boxes: view.ids.map((id) => ({ id, ...layout.rects.get(id), inside: around(tree, id) })),
    modules: view.opened.map((c) => ({ id: tree.idOf(c), ...layout.rects.get(tree.idOf(c)), inside: around(tree, tree.idOf(c)) })),
    routes: layout.routes, lines: view.lines, width: layout.width, height: layout.height,
    nodes: view.ids.flatMap((id) => tree.boxOf(id).nodes).length,
  };
}

function around(tree, id) {
  const found = [];
  for (let c = tree.parentOf(id); c >= 0; c = tree.picture.clusters[c].parent) found.push(tree.idOf(c));
  return found;
}

window.placed = placed;
"""
GRAPHS = {
    "small": small,
    "branching": branching,
    "hostile": hostile,
    "chain": lambda: chain(40),
    "stacked": lambda: stacked(20, odd=7),
    "tall": tall_model,
    **{f"tangle {seed}": lambda seed=seed: tangle(seed, 150, 6, 2) for seed in range(4)},
}


@pytest.fixture(scope="module")
def page(browser):
    order = (*ORDER[: ORDER.index("layout") + 1], "probe")
    modules = {name: (VIEWER / f"{name}.js").read_text() for name in order[:-1]} | {"probe": PROBE}
    opened = browser.new_page()
    opened.set_content("<!doctype html><title>layout</title>")
    opened.add_script_tag(content=joined(modules, order))
    yield opened
    opened.close()


@pytest.mark.parametrize("what", ["first", "all", "none", "some"])
@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_overlaps_and_lines_lead_down_beside_boxes(page, name, what):
    payload = viewer_payload(GRAPHS[name]())
    found = page.evaluate(
        "([text, what]) => placed(JSON.parse(text), what)", [packed(payload, False), what]
    )
    boxes, modules = found["boxes"], {one["id"]: one for one in found["modules"]}
    assert found["nodes"] == sum(map(len, payload["pictures"][0]["members"]))
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert not overlap(one, other), (one, other)
    for one in (*boxes, *modules.values()):
        assert one["x"] >= 0
        assert one["x"] + one["width"] <= found["width"]
        for around in one["inside"]:
            assert within(one, modules[around])
        for other in modules.values():
            apart = other["id"] not in one["inside"] and one["id"] not in other["inside"]
            assert one is other or not apart or not overlap(one, other)
    for route in found["routes"]:
        if route.get("again"):
            continue
        heights = [y for _, y in route["points"]]
        assert heights == sorted(heights)
        for (x, top), (to_x, bottom) in zip(route["points"], route["points"][1:], strict=False):
            if x == to_x:  # an S stays in the gap between two rows
                crossed = [b for b in boxes if b["x"] < x < b["x"] + b["width"]
                           and top < b["y"] + b["height"] and b["y"] < bottom]  # fmt: skip
                assert crossed == []


def overlap(one, other):
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def within(one, outer):
    return (
        outer["x"] <= one["x"]
        and outer["y"] <= one["y"]
        and one["x"] + one["width"] <= outer["x"] + outer["width"]
        and one["y"] + one["height"] <= outer["y"] + outer["height"]
    )
