// One graph's viewer: puts the parts together, and has what they do to one another.

import { viewerActions } from "./actions.js";
import { Camera } from "./camera.js";
import { colourings, heats } from "./colouring.js";
import { Details } from "./details.js";
import { make, replaceContent } from "./dom.js";
import { drawFrame } from "./draw.js";
import { listenToKeys } from "./keys.js";
import { KernelList } from "./kernels.js";
import { Layouts } from "./layout.js";
import { Legend } from "./legend.js";
import { linePaths } from "./lines.js";
import { Minimap } from "./minimap.js";
import { withNames } from "./names.js";
import { neighboursOf } from "./neighbours.js";
import { operatorTable } from "./operators.js";
import { Outline } from "./outline.js";
import { Picture } from "./payload.js";
import { listenToPointer } from "./pointer.js";
import { Search } from "./search.js";
import { palette, whenThemeChanges } from "./theme.js";
import { Toolbar } from "./toolbar.js";
import { restoreState, writeState } from "./url_state.js";
import { ViewTree } from "./view_tree.js";

export class Viewer {
  constructor(holder, payload, anchor, parts) {
    Object.assign(this, { holder, payload, anchor, camera: new Camera(), waiting: 0 });
    this.actions = viewerActions(this);
    this.canvas = make("canvas", { tabindex: 0, role: "application", class: "graph-canvas" });
    this.toolbar = new Toolbar(this, this.actions);
    this.stage = make("div", { class: "stage" }, this.canvas);
    this.side = make("nav", { class: "outline", "aria-label": "Outline", tabindex: -1 });
    this.panel = make("aside", { class: "panel", "aria-label": "Details", tabindex: 0 });
    this.legendHolder = make("div");
    this.tableHolder = make("div");
    this.kernelHolder = make("div");
    replaceContent(holder, this.toolbar.element,
      make("div", { class: "viewer-parts" }, this.side, this.stage, this.panel), this.legendHolder, this.tableHolder, this.kernelHolder);
    this.scene = {};
    listenToKeys(this.canvas, this.camera, this.actions);
    listenToPointer(this.canvas, this.camera, this.scene, this.actions);
    this.showPicture(Number(parts.get("body")) || 0, parts);
    new ResizeObserver(() => this.resize()).observe(this.stage);
    whenThemeChanges(() => this.recolour());
  }

  // A graph or the body of one of its operators, as the address says or as it is first seen.
  showPicture(number, parts = new URLSearchParams()) {
    this.number = number < this.payload.pictures.length ? number : 0;
    const picture = new Picture(this.payload, this.number);
    const tree = new ViewTree(picture);
    tree.kernels = this.payload.kernels;
    const options = colourings(picture, this.payload.overlays);
    Object.assign(this.scene, { tree, selected: null, copy: 0, near: null, hits: null, colourings: options, colouring: options[0] });
    this.layouts = new Layouts(tree);
    this.search = new Search(tree);
    this.outline = new Outline(this.scene, this.actions);
    this.details = new Details(this.scene, this.actions);
    this.minimap = new Minimap(this.scene, this.camera, () => this.moved());
    this.legend = new Legend(this.scene);
    replaceContent(this.side, this.outline.list);
    replaceContent(this.panel, this.details.element);
    replaceContent(this.stage, this.canvas, this.minimap.canvas);
    replaceContent(this.legendHolder, this.legend.element);
    replaceContent(this.tableHolder, operatorTable(picture, this.payload.overlays, (node) => this.goFromTable(node)).element);
    this.kernels = new KernelList(number ? [] : this.payload.kernels.list, picture, (node) => this.goFromTable(node));
    replaceContent(this.kernelHolder, this.kernels.element);
    this.canvas.setAttribute("aria-label", `Diagram of ${picture.title}; the outline before it has the same boxes as text`);
    const placed = restoreState(this, parts);
    if (parts.get("q")) this.setSearch(parts.get("q"));
    this.measure();
    this.relayout();
    if (!placed) this.first();
    this.update();
  }

  // Places what is shown; rows of numbers are part of the boxes.
  relayout() {
    const { scene } = this;
    const view = withNames(scene.tree, scene.tree.shown());
    scene.heats = heats(scene.colouring, view.boxes);
    for (const [id, heat] of scene.heats) {
      const box = view.boxes.get(id);
      if (heat.text) view.boxes.set(id, { ...box, rows: [...box.rows, { kind: "mark", text: heat.text }] });
    }
    scene.view = view;
    scene.layout = this.layouts.place(view);
    scene.paths = linePaths(scene.layout);
    scene.near = scene.selected === null ? null : neighboursOf(scene, scene.tree.shownFor(scene.selected));
    this.markHits();
    this.holder.dataset.shown = String(view.ids.length);
  }

  first() {
    const { layout, view } = this.scene;
    this.camera.first(layout, view.ids.map((id) => layout.rects.get(id)));
  }

  update() {
    this.outline.update();
    this.details.update();
    this.legend.update();
    this.toolbar.update();
    this.minimap.update();
    this.draw();
  }

  changed() {
    this.update();
    writeState(this);
  }

  moved() {
    this.camera.hold(this.scene.layout);
    this.draw();
    writeState(this);
  }

  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      const drawn = drawFrame(this.canvas, this.scene, this.camera);
      this.minimap.frame();
      if (!this.holder.dataset.drawn) performance.mark("graphlens first picture");
      this.holder.dataset.drawn = String(drawn);
    });
  }

  measure() {
    const { clientWidth, clientHeight } = this.stage;
    const ratio = devicePixelRatio || 1;
    Object.assign(this.camera, { width: Math.max(1, clientWidth), height: Math.max(1, clientHeight) });
    const [width, height] = [Math.round(this.camera.width * ratio), Math.round(this.camera.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
  }

  resize() {
    this.measure();
    this.draw();
  }

  recolour() {
    this.stage.style.background = palette().ground;
    this.update();
  }

  select(id, show = false, copy = 0) {
    const { scene } = this;
    Object.assign(scene, { selected: id, copy });
    if (id !== null && scene.tree.reveal(id)) this.relayout();
    else scene.near = id === null ? null : neighboursOf(scene, id);
    if (id !== null && show) this.camera.show(scene.layout.rects.get(id));
    this.markHits();
    this.changed();
  }

  // What was clicked stays where it is on the screen.
  toggle(id) {
    const { scene, camera } = this;
    const shown = scene.tree.shownFor(id);
    const before = scene.layout.rects.get(shown);
    const [x, y] = before ? camera.toScreen(before.x + before.width / 2, before.y) : [camera.width / 2, camera.height / 2];
    scene.tree.toggle(scene.tree.clusterOf(id).index);
    scene.selected = id;
    this.relayout();
    const after = scene.layout.rects.get(id);
    if (after) {
      camera.x = after.x + after.width / 2 - (x - camera.width / 2) / camera.zoom;
      camera.y = after.y - (y - camera.height / 2) / camera.zoom;
      camera.show({ ...after, height: Math.min(after.height, 60) });
    }
    this.changed();
  }

  openAll(open) {
    const { tree } = this.scene;
    tree.open = new Set(open ? tree.picture.clusters.keys() : []);
    if (this.scene.selected !== null) this.scene.selected = tree.shownFor(this.scene.selected);
    this.relayout();
    this.first();
    this.changed();
  }

  pick(copy) {
    this.scene.copy = copy;
    this.details.update();
    writeState(this);
  }

  // The box that stands for a node, and which of its copies has it.
  goTo(node) {
    const { picture } = this.scene.tree;
    const box = picture.boxes.find((one) => one.nodes.includes(node));
    if (!box) return;
    const copy = Math.floor(box.nodes.indexOf(node) / (box.nodes.length / box.count));
    this.select(box.index, true, copy);
  }

  goFromTable(node) {
    this.goTo(node);
    this.stage.scrollIntoView({ block: "nearest" });
  }

  follow(what) {
    const { near } = this.scene;
    if (near && near[what].size) this.select([...near[what]][0], true);
  }

  setSearch(query) {
    this.search.run(query.trim());
    this.markHits();
  }

  markHits() {
    const { tree } = this.scene;
    this.scene.hits = this.search.hits.length ? new Set(this.search.hits.map((hit) => tree.shownFor(hit.id))) : null;
  }

  nextHit(by) {
    const hit = this.search.step(by);
    if (hit) this.select(hit.id, true, hit.copy);
  }
}
