// The panel beside the picture: all that is known of the selected box or module. Of a box that
// stands for several equal ones, the reader picks which of them is told about.

import { button, counted, grouped, make, memoryText, replaceContent, textButton } from "./dom.js";
import { callText, factList, nodeList, placeBlock, tensorTable } from "./facts.js";
import { families } from "./theme.js";

export class Details {
  constructor(scene, actions) {
    this.scene = scene;
    this.actions = actions;
    this.element = make("div", { class: "details-body" });
  }

  update() {
    const { scene } = this;
    if (scene.selected === null) {
      replaceContent(this.element, this.introduction());
    } else {
      const isModule = scene.tree.isCluster(scene.selected);
      replaceContent(this.element, ...(isModule ? this.module() : this.box()));
    }
    this.element.parentElement?.scrollTo(0, 0);
  }

  introduction() {
    const { picture } = this.scene.tree;
    return make("div", { class: "hint" },
      make("p", {}, `${counted(picture.operators, "operator")}, ${counted(picture.count, "node")}.`),
      make("p", {}, "Select a box to see what it computes, from which line and with which shapes. " +
        "A click on a module opens it, one on its headline closes it. The wheel zooms once the picture is clicked, " +
        "or with Ctrl."),
      make("p", {}, make("b", {}, "Keys: "), "arrows pan, + and − zoom, 0 fits all, / searches, n and p go " +
        "through what was found, i and o go to an input or a user, Enter opens a module."));
  }

  module() {
    const { tree, selected } = this.scene;
    const cluster = tree.clusterOf(selected);
    const { box } = cluster;
    const open = tree.isOpen(selected);
    const parts = [
      this.heading(cluster.label, "module"),
      make("div", { class: "panel-buttons" },
        button(open ? "Close module" : "Open module", "", () => this.actions.toggle(selected))),
      factList([
        ["path", make("code", {}, cluster.path)],
        ["class", cluster.type ? make("code", {}, cluster.type) : ""],
        ["stands for", cluster.repeats > 1 ? `${cluster.repeats} equal modules, one after another` : ""],
        ["differs", cluster.note],
        ["operators", grouped(box.operators)],
        ["parameters", box.parameters ? grouped(box.parameters) : ""],
        ["result", box.value],
      ]),
    ];
    return [...parts, ...this.neighbours()];
  }

  box() {
    const { tree, selected, copy } = this.scene;
    const { picture } = tree;
    const box = tree.boxOf(selected);
    const each = box.nodes.length / box.count;
    const whole = Number.isInteger(each);
    const nodes = whole ? box.nodes.slice(copy * each, (copy + 1) * each) : box.nodes;
    const node = nodes[0];
    return [
      this.heading(picture.text("label", node), families()[box.family].meaning),
      box.count > 1 && whole ? this.picker(box, nodes) : null,
      make("section", {}, make("p", {}, callText(picture, node, this.actions.goTo))),
      this.value(node),
      this.kernels(nodes),
      placeBlock(picture, picture.caller(node) ? "Line in the library" : "Line", picture.source(node)),
      placeBlock(picture, "Your line", picture.caller(node)),
      this.moduleOf(node),
      nodeList(picture, "Takes", picture.inputs(node), this.actions.goTo),
      nodeList(picture, "Used by", picture.users(node), this.actions.goTo),
      nodes.length > 1 ? this.members(nodes) : null,
    ];
  }

  heading(text, kind) {
    return make("header", {}, make("h4", {}, text), make("p", { class: "beside" }, kind));
  }

  picker(box, nodes) {
    const { picture } = this.scene.tree;
    const { copy } = this.scene;
    const go = (to) => this.actions.pick((to + box.count) % box.count);
    const number = make("input", {
      type: "number", min: 1, max: box.count, value: copy + 1, "aria-label": `Which of the ${box.count} equal ones`,
      onchange: (event) => go(Math.min(box.count, Math.max(1, Number(event.target.value) || 1)) - 1),
    });
    const module = picture.module(nodes[0]);
    return make("div", { class: "picker" },
      button("‹", "The one before", () => go(copy - 1)), number,
      make("span", {}, `of ${box.count}`), button("›", "The next one", () => go(copy + 1)),
      module ? make("code", { class: "beside" }, module.path) : null);
  }

  value(node) {
    const { picture } = this.scene.tree;
    const bytes = picture.bytes(node);
    const several = picture.facts.tensors[node].length > 1;
    return make("section", {}, make("h5", {}, "Value"),
      factList([
        ["node", make("code", {}, picture.facts.name[node])],
        ["value", picture.text("value", node)],
        ["role", picture.text("role", node)],
        ["stands for", picture.text("origin", node)],
        ["memory", several && bytes !== null ? memoryText(bytes) : ""],
      ]),
      tensorTable(picture, node));
  }

  // Kernels that compute these nodes: shown where the report knows them.
  kernels(nodes) {
    const { picture, kernels } = this.scene.tree;
    const names = picture.facts.name;
    const numbers = new Set(nodes.flatMap((node) => (Object.hasOwn(kernels.of, names[node]) ? kernels.of[names[node]] : [])));
    if (!numbers.size) return null;
    return make("section", { class: "kernels" }, make("h5", {}, numbers.size > 1 ? "Kernels" : "Kernel"),
      ...[...numbers].map((number) => {
        const kernel = kernels.list[number];
        return make("details", { open: true }, make("summary", {}, make("code", {}, kernel.name)),
          factList([["time", kernel.time], ["accuracy", kernel.accuracy]]),
          make("p", { class: "beside" }, `${kernel.language} · ${kernel.facts}`),
          textButton("Its lines, nodes and source side by side", () => this.actions.showKernel(number)));
      }));
  }

  moduleOf(node) {
    const { tree, selected } = this.scene;
    const module = tree.picture.module(node);
    if (!module) return null;
    const parent = tree.parentOf(selected);
    return make("section", {}, make("h5", {}, "Module"),
      factList([["path", make("code", {}, module.path || "(root)")], ["class", make("code", {}, module.type)]]),
      parent < 0 ? null : button("Go to module", "", () => this.actions.select(tree.idOf(parent), true)));
  }

  members(nodes) {
    const { picture } = this.scene.tree;
    return make("section", {}, make("h5", {}, `Stands for ${nodes.length} nodes`),
      make("ul", { class: "node-list" }, ...nodes.map((node) => make("li", {},
        make("code", {}, picture.facts.name[node]),
        make("span", { class: "beside" }, ` ${picture.text("origin", node) || picture.text("label", node)} `,
          picture.tensors(node).map((tensor) => `${tensor.shape} ${tensor.dtype}`).join(", "))))));
  }

  // Boxes of the picture before and after, to jump to.
  neighbours() {
    const { near, tree } = this.scene;
    if (!near) return [];
    const list = (title, ids, kind) => {
      if (!ids.size) return null;
      const items = [...ids].slice(0, 30).map((id) => {
        const box = tree.boxOf(id);
        const text = box.caption ? `${box.label} · ${box.caption}` : box.label;
        return make("li", {}, textButton(text, () => this.actions.select(id, true), kind));
      });
      return make("section", {}, make("h5", {}, title), make("ul", { class: "node-list" }, ...items));
    };
    return [
      list("Boxes that feed it", near.inputs, "is-input"),
      list("Boxes that use it", near.outputs, "is-output"),
    ];
  }
}
