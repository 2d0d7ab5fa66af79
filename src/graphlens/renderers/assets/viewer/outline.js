// The picture as a tree of text, for the keyboard and for screen readers: a real list, of which
// one line is in the tab order. What is open here is open in the picture.

import { button, counted, make, replaceContent } from "./dom.js";
import { ROOT } from "./view_tree.js";
import { families } from "./theme.js";

const MOST_LINES = 200;

export class Outline {
  constructor(scene, actions) {
    this.scene = scene;
    this.actions = actions;
    this.list = make("ul", { role: "tree", "aria-label": "Modules and operators", class: "outline-tree" });
    this.list.addEventListener("click", (event) => this.click(event));
    this.list.addEventListener("dblclick", (event) => this.act(event, (id) => this.actions.toggle(id)));
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.shownLines = new Map();
    this.active = null;
  }

  // Draws the tree anew; the focus stays on the line that had it.
  update() {
    const focused = this.list.contains(document.activeElement);
    this.items = new Map();
    replaceContent(this.list, ...this.lines(ROOT, 1));
    this.mark(this.scene.selected, focused);
  }

  lines(container, level) {
    const ids = this.scene.tree.children.get(container);
    const most = this.shownLines.get(container) || MOST_LINES;
    const lines = ids.slice(0, most).map((id) => this.line(id, level));
    if (ids.length > most) lines.push(this.moreLine(container, ids.length - most));
    return lines;
  }

  line(id, level) {
    const { tree } = this.scene;
    const box = tree.boxOf(id);
    const isModule = tree.isCluster(id);
    const open = tree.isOpen(id);
    const item = make("li", {
      role: "treeitem", "aria-level": level, tabindex: -1, "data-id": id,
      "aria-selected": "false", "aria-expanded": isModule ? String(open) : null,
    });
    const name = isModule ? tree.clusterOf(id).label : box.label;
    const beside = isModule ? "" : box.caption || tree.picture.facts.name[box.node];
    const family = families()[box.family];
    item.append(make("span", { class: "outline-line", title: beside ? `${name} ${beside}` : name },
      make("span", { class: "outline-mark", "aria-hidden": "true" }, isModule ? (open ? "▾" : "▸") : ""),
      make("span", { class: `outline-sign family-${family.name}`, "aria-hidden": "true" }, isModule ? "▣" : family.sign),
      make("span", { class: "outline-name" }, name),
      beside ? make("span", { class: "outline-beside" }, ` ${beside}`) : null));
    if (isModule && open) {
      item.append(make("ul", { role: "group" }, ...this.lines(tree.clusterOf(id).index, level + 1)));
    }
    this.items.set(id, item);
    return item;
  }

  moreLine(container, left) {
    const more = () => {
      this.shownLines.set(container, (this.shownLines.get(container) || MOST_LINES) + 5 * MOST_LINES);
      this.update();
    };
    return make("li", { role: "none" }, button(`${counted(left, "more line")}`, "Show more lines", more));
  }

  mark(id, focus = false) {
    if (id !== null && !this.items.has(id)) this.makeReachable(id);
    if (this.active) {
      this.active.setAttribute("aria-selected", "false");
      this.active.tabIndex = -1;
    }
    const item = this.items.get(id) || this.list.querySelector("[role=treeitem]");
    this.active = item;
    if (!item) return;
    item.tabIndex = 0;
    if (this.items.get(id) === item) item.setAttribute("aria-selected", "true");
    if (focus) item.focus({ preventScroll: true });
    if (this.items.get(id) === item) scrollInside(this.list, item.firstChild);
  }

  // A line beyond those that are shown in a long list.
  makeReachable(id) {
    const container = this.scene.tree.parentOf(id);
    const place = this.scene.tree.children.get(container).indexOf(id);
    if (place < (this.shownLines.get(container) || MOST_LINES)) return;
    this.shownLines.set(container, place + MOST_LINES);
    this.items = new Map();
    replaceContent(this.list, ...this.lines(ROOT, 1));
  }

  idAt(event) {
    const item = event.target.closest("[role=treeitem]");
    return item ? Number(item.dataset.id) : null;
  }

  act(event, action) {
    const id = this.idAt(event);
    if (id !== null) action(id);
  }

  click(event) {
    this.act(event, (id) => {
      if (event.target.closest(".outline-mark") && this.scene.tree.isCluster(id)) this.actions.toggle(id);
      else this.actions.select(id, true);
      this.mark(id, true);
    });
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const id = this.idAt(event);
    if (id === null || event.target.closest("button")) return;
    const { tree } = this.scene;
    const ordered = [...this.list.querySelectorAll("[role=treeitem]")].map((item) => Number(item.dataset.id));
    const at = ordered.indexOf(id);
    const go = (to) => to !== undefined && (this.actions.select(to, true), this.mark(to, true));
    const moves = {
      ArrowDown: () => go(ordered[at + 1]),
      ArrowUp: () => go(ordered[at - 1]),
      Home: () => go(ordered[0]),
      End: () => go(ordered[ordered.length - 1]),
      ArrowRight: () => {
        if (tree.isCluster(id) && !tree.isOpen(id)) this.actions.toggle(id);
        else if (tree.isOpen(id)) go(ordered[at + 1]);
      },
      ArrowLeft: () => {
        if (tree.isOpen(id)) this.actions.toggle(id);
        else if (tree.parentOf(id) !== ROOT) go(tree.idOf(tree.parentOf(id)));
      },
      Enter: () => (tree.isCluster(id) ? this.actions.toggle(id) : this.actions.select(id, true)),
      " ": () => this.actions.select(id, true),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
  }
}

// Scrolls within the list alone: the page stays where it is.
function scrollInside(list, line) {
  const area = list.parentElement;
  if (!area) return;
  const [outer, inner] = [area.getBoundingClientRect(), line.getBoundingClientRect()];
  if (inner.top < outer.top) area.scrollTop -= outer.top - inner.top + 20;
  else if (inner.bottom > outer.bottom) area.scrollTop += inner.bottom - outer.bottom + 20;
}
