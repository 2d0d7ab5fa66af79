// Which part of the picture is seen: a place of the picture in the middle of the canvas, and how
// many pixels of the screen one of the picture takes.

const SMALLEST = 0.02;
const LARGEST = 3;
const LEGIBLE = 0.8;
const SMALLEST_FIRST = 0.72;
const MARGIN_AROUND = 24;

export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
    this.width = 1;
    this.height = 1;
  }

  toScreen(x, y) {
    return [(x - this.x) * this.zoom + this.width / 2, (y - this.y) * this.zoom + this.height / 2];
  }

  toPicture(x, y) {
    return [(x - this.width / 2) / this.zoom + this.x, (y - this.height / 2) / this.zoom + this.y];
  }

  // The rectangle of the picture that is seen.
  seen() {
    const [left, top] = this.toPicture(0, 0);
    return { left, top, right: left + this.width / this.zoom, bottom: top + this.height / this.zoom };
  }

  panBy(x, y) {
    this.x -= x / this.zoom;
    this.y -= y / this.zoom;
  }

  // The place of the picture under a point of the canvas stays there.
  zoomAt(x, y, factor) {
    const [px, py] = this.toPicture(x, y);
    this.zoom = Math.min(LARGEST, Math.max(SMALLEST, this.zoom * factor));
    this.x = px - (x - this.width / 2) / this.zoom;
    this.y = py - (y - this.height / 2) / this.zoom;
  }

  fit(size) {
    const across = (this.width - 2 * MARGIN_AROUND) / Math.max(1, size.width);
    const down = (this.height - 2 * MARGIN_AROUND) / Math.max(1, size.height);
    this.zoom = Math.min(1, Math.max(SMALLEST, Math.min(across, down)));
    this.x = size.width / 2;
    this.y = size.height / 2;
  }

  // The whole where it can be read, else its beginning at a size that can; where even that is
  // too wide, with most of the boxes that stand at its top.
  first(size, boxes) {
    this.fit(size);
    if (this.zoom >= LEGIBLE) return;
    const across = (this.width - 2 * MARGIN_AROUND) / Math.max(1, size.width);
    this.zoom = Math.min(1, Math.max(SMALLEST_FIRST, across));
    this.y = (this.height / 2 - MARGIN_AROUND) / this.zoom;
    if (across >= this.zoom) return;
    const bottom = this.height / this.zoom;
    const middles = boxes.filter((box) => box.y < bottom).map((box) => box.x + box.width / 2);
    if (middles.length) this.x = middles.sort((a, b) => a - b)[Math.floor(middles.length / 2)];
  }

  // Moves as little as is needed to have a rectangle well inside.
  show(rect) {
    if (this.zoom < 0.4) this.zoom = LEGIBLE;
    const halfWidth = this.width / this.zoom / 2;
    const halfHeight = this.height / this.zoom / 2;
    const [airX, airY] = [halfWidth * 0.2, halfHeight * 0.25];
    const middleX = rect.x + rect.width / 2;
    const middleY = rect.y + Math.min(rect.height / 2, halfHeight * 0.6);
    const roomX = Math.max(0, halfWidth - airX - rect.width / 2);
    const roomY = Math.max(0, halfHeight - airY - Math.min(rect.height / 2, halfHeight * 0.6));
    this.x = Math.min(middleX + roomX, Math.max(middleX - roomX, this.x));
    this.y = Math.min(middleY + roomY, Math.max(middleY - roomY, this.y));
  }

  // Keeps at least a corner of the picture in sight.
  hold(size) {
    const [overX, overY] = [this.width / this.zoom / 2 - 60 / this.zoom, this.height / this.zoom / 2 - 60 / this.zoom];
    this.x = Math.min(size.width + overX, Math.max(-overX, this.x));
    this.y = Math.min(size.height + overY, Math.max(-overY, this.y));
  }
}
