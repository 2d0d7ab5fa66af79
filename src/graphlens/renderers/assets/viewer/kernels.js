// The kernels of a graph in the order of execution. Each opens to the lines of the program with
// the nodes they led to, beside the generated source with what its statements load and store.

import { counted, make, replaceContent, textButton } from "./dom.js";
import { factList } from "./facts.js";

export class KernelList {
  constructor(kernels, picture, goTo) {
    Object.assign(this, { kernels, picture, goTo });
    this.places = kernels.map((kernel, number) => this.place(kernel, number));
    this.element = kernels.length
      ? make("section", { class: "kernel-list" }, make("h4", {}, `${counted(kernels.length, "kernel")}, in the order of execution`), ...this.places)
      : null;
  }

  show(number) {
    this.places[number].open = true;
    this.places[number].scrollIntoView({ block: "nearest" });
    this.places[number].querySelector("summary").focus();
  }

  place(kernel, number) {
    const body = make("div", { class: "kernel-body" });
    const details = make("details", { class: "kernel" },
      make("summary", {}, `${number + 1} `, make("code", {}, kernel.name), make("span", { class: "beside" }, ` ${kernel.language} · ${kernel.facts}`)),
      body);
    details.addEventListener("toggle", () => {
      if (details.open && !body.firstChild) replaceContent(body, this.facts(kernel), this.columns(kernel), ...this.others(kernel));
    });
    return details;
  }

  facts(kernel) {
    const tensors = (what) => kernel.tensors.filter(([kind]) => kind === what).map(([, text]) => make("li", {}, make("code", {}, text)));
    const group = (parts) => (parts.length ? make("ul", { class: "node-list" }, ...parts) : "");
    return factList([
      ["call", make("code", {}, kernel.call)],
      ["time", kernel.time],
      ["reads", group(tensors("reads"))],
      ["writes", group(tensors("writes"))],
      ["on the GPU", group(kernel.machine.map((text) => make("li", {}, text)))],
      ["not fused", group(kernel.apart.map((text) => make("li", {}, text)))],
    ]);
  }

  columns(kernel) {
    return make("div", { class: "kernel-columns" },
      make("div", { class: "kernel-lines" }, ...kernel.lines.map((line) => this.line(line))),
      this.source(kernel));
  }

  others(kernel) {
    return kernel.other.map(([title, text]) => make("details", {}, make("summary", {}, title),
      make("pre", { class: "excerpt kernel-source", tabindex: 0 }, make("code", {}, text))));
  }

  line([text, groups]) {
    return make("section", {}, make("h5", {}, make("code", {}, text)),
      ...groups.flatMap(([origins, nodes]) => [
        origins ? make("p", { class: "beside" }, make("code", {}, origins), " ⟶") : null,
        make("ul", { class: "node-list" }, ...nodes.map((node) => this.node(node))),
      ]));
  }

  node(node) {
    const { picture } = this;
    const shapes = picture.tensors(node).map((tensor) => `${tensor.shape} ${tensor.dtype}`).join(", ");
    return make("li", {}, textButton(picture.facts.name[node], () => this.goTo(node)),
      make("code", {}, ` = ${picture.text("label", node)}(${picture.argumentText(node)})`),
      make("span", { class: "beside" }, ` ${shapes}`));
  }

  source(kernel) {
    if (!kernel.source.length) {
      const same = kernel.same < 0 ? kernel.remark : `The source is that of kernel ${kernel.same + 1}.`;
      return make("p", { class: "remark" }, same);
    }
    const widest = Math.min(24, Math.max(...kernel.source.map(([mark]) => mark.length)));
    const rows = kernel.source.map(([mark, text]) => make("code", { class: mark.includes("→") ? "stores" : null },
      make("span", { class: "mark", title: mark.length > widest ? mark : null }, mark.slice(0, widest).padEnd(widest)), text || " "));
    return make("pre", { class: "excerpt kernel-source", tabindex: 0, "aria-label": "Generated source; ← loads, → stores" }, ...rows);
  }
}
