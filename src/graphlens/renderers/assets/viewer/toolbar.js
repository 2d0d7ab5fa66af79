// The bar above the picture: search, zoom, open and close, colour, and which body is shown.

import { button, counted, make, replaceContent } from "./dom.js";

export class Toolbar {
  constructor(viewer, actions) {
    this.viewer = viewer;
    this.field = make("input", {
      type: "search", placeholder: "search names, operators, modules, files", "aria-label": "Search this graph",
      oninput: () => actions.search(this.field.value),
      onkeydown: (event) => {
        if (event.key === "Enter") actions.nextHit(event.shiftKey ? -1 : 1);
        if (event.key === "Escape") actions.focusCanvas();
      },
    });
    this.status = make("span", { class: "table-status", role: "status" });
    this.colours = make("select", { "aria-label": "Colour by", onchange: () => actions.colourBy(this.colours.value) });
    this.bodies = make("select", { "aria-label": "Graph or body shown", onchange: () => actions.showPicture(Number(this.bodies.value)) });
    this.element = make("div", { class: "viewer-bar", role: "toolbar", "aria-label": "Graph viewer" },
      make("div", { class: "bar-group grow" }, this.field,
        button("↑", "Previous hit", () => actions.nextHit(-1)), button("↓", "Next hit", () => actions.nextHit(1)), this.status),
      make("div", { class: "bar-group" },
        button("−", "Zoom out", () => actions.zoom(0.8)), button("+", "Zoom in", () => actions.zoom(1.25)),
        button("fit", "Fit the whole graph", () => actions.fit())),
      make("div", { class: "bar-group" },
        button("open all", "Open all modules", () => actions.openAll(true)),
        button("close all", "Close all modules", () => actions.openAll(false))),
      make("div", { class: "bar-group" }, make("label", {}, "colour ", this.colours)),
      viewer.payload.pictures.length > 1 ? make("div", { class: "bar-group" }, this.bodies) : null);
    replaceContent(this.bodies, ...viewer.payload.pictures.map((picture, number) =>
      make("option", { value: number }, picture.name ? `body ${picture.name}` : "the graph")));
  }

  update() {
    const { scene, search, number } = this.viewer;
    replaceContent(this.colours, ...scene.colourings.map((one) => make("option", { value: one.key }, one.title)));
    this.colours.value = scene.colouring.key;
    this.bodies.value = String(number);
    if (document.activeElement !== this.field) this.field.value = search.query;
    this.status.textContent = this.told(search);
  }

  told(search) {
    if (!search.query) return "";
    if (!search.hits.length) return "nothing found";
    const at = search.at >= 0 ? `${search.at + 1} of ` : "";
    return `${at}${counted(search.hits.length, "box", "boxes")}, ${counted(search.nodes, "node")}`;
  }
}
