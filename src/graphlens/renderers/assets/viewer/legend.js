// What the colours and signs mean, of what is in the picture.

import { make, replaceContent } from "./dom.js";
import { families, palette } from "./theme.js";

const HOTTEST = 5;

export class Legend {
  constructor(scene) {
    this.scene = scene;
    this.element = make("ul", { class: "viewer-legend", "aria-label": "Legend" });
  }

  update() {
    const { colouring, view, heats } = this.scene;
    const items = colouring.key === "family" ? this.kinds(view) : this.levels(colouring, heats);
    replaceContent(this.element, ...items, this.lineKinds());
  }

  kinds(view) {
    const used = new Set([...view.boxes.values()].map((box) => box.family));
    return families().flatMap((family, number) => {
      if (!used.has(number)) return [];
      const sign = make("span", { class: `outline-sign family-${family.name}`, "aria-hidden": "true" }, family.sign);
      return [make("li", {}, sign, ` ${family.meaning}`)];
    });
  }

  levels(colouring, heats) {
    const hottest = [...heats.values()].find((heat) => heat.level === HOTTEST);
    const upto = hottest ? `, up to ${hottest.text.split(" each")[0]}` : "";
    const swatches = palette().heats.map(([fill, stroke]) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = fill;
      swatch.style.borderColor = stroke;
      return swatch;
    });
    const words = hottest && colouring.word ? ": what the boxes say" : `${upto}; each box says its own`;
    return [make("li", {}, ...swatches, ` ${colouring.title}${words}`)];
  }

  lineKinds() {
    return make("li", { class: "beside" }, "+ closed module · dashed: to the next of equal ones");
  }
}
