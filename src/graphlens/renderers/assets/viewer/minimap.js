// A small picture of the whole, with what is seen as a rectangle; a click or drag goes there.

import { boxColours } from "./colouring.js";
import { make } from "./dom.js";
import { marks, palette } from "./theme.js";

const WIDTH = 150;
const HEIGHT = 170;

export class Minimap {
  constructor(scene, camera, moved) {
    this.scene = scene;
    this.camera = camera;
    this.moved = moved;
    this.canvas = make("canvas", { class: "minimap", "aria-hidden": "true" });
    this.stored = document.createElement("canvas");
    this.canvas.addEventListener("pointerdown", (event) => this.drag(event));
    this.canvas.addEventListener("pointermove", (event) => event.buttons && this.drag(event));
  }

  // The whole is drawn once for each layout, then copied.
  update() {
    const { layout, view, tree, heats } = this.scene;
    this.scale = Math.min(WIDTH / Math.max(1, layout.width), HEIGHT / Math.max(1, layout.height), 0.2);
    const ratio = devicePixelRatio || 1;
    this.left = (WIDTH - layout.width * this.scale) / 2;
    this.top = (HEIGHT - layout.height * this.scale) / 2;
    for (const canvas of [this.canvas, this.stored]) {
      canvas.width = WIDTH * ratio;
      canvas.height = HEIGHT * ratio;
    }
    const pen = this.stored.getContext("2d");
    pen.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, ratio * this.left, ratio * this.top);
    const colours = palette();
    pen.fillStyle = colours.odd;
    for (const cluster of view.opened) {
      const rect = layout.rects.get(tree.idOf(cluster));
      pen.fillRect(rect.x, rect.y, rect.width, rect.height);
    }
    for (const box of view.boxes.values()) {
      const rect = layout.rects.get(box.id);
      [, , pen.fillStyle] = boxColours(box, heats.get(box.id));
      pen.fillRect(rect.x, rect.y, Math.max(rect.width, 1 / this.scale), Math.max(rect.height, 1 / this.scale));
    }
    this.frame();
  }

  frame() {
    if (!this.scale) return;
    const { layout } = this.scene;
    const seen = this.camera.seen();
    const whole = seen.left <= 0 && seen.top <= 0 && seen.right >= layout.width && seen.bottom >= layout.height;
    this.canvas.classList.toggle("unneeded", whole);
    const pen = this.canvas.getContext("2d");
    const ratio = this.canvas.width / WIDTH;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.stored, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [x, y] = [this.left + seen.left * this.scale, this.top + seen.top * this.scale];
    const [right, bottom] = [this.left + seen.right * this.scale, this.top + seen.bottom * this.scale];
    const [x0, y0] = [Math.max(1, x), Math.max(1, y)];
    pen.strokeStyle = marks().selected;
    pen.lineWidth = 1.5;
    pen.strokeRect(x0, y0, Math.max(6, Math.min(WIDTH - 1, right) - x0), Math.max(6, Math.min(HEIGHT - 1, bottom) - y0));
  }

  drag(event) {
    const bounds = this.canvas.getBoundingClientRect();
    this.camera.x = (event.clientX - bounds.left - this.left) / this.scale;
    this.camera.y = (event.clientY - bounds.top - this.top) / this.scale;
    this.moved();
    event.preventDefault();
  }
}
