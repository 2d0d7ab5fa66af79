// One frame: frames of modules, lines, headlines, tags and boxes, only what is seen, and less of
// it the smaller it is. What is drawn where is the layout's; colours are the theme's.

import { boxColours } from "./colouring.js";
import { drawHeadlines, isSeen } from "./headlines.js";
import { addRoute } from "./lines.js";
import { shortName } from "./names.js";
import { BADGE, LABEL_FONT, LINE, PADDING, TEXT_FONT } from "./text.js";
import { families, marks, palette } from "./theme.js";

const TEXTS = 0.42;
const LABELS = 0.26;
const INPUT_FAMILY = 7;
const OUTPUT_FAMILY_DRAWN = 8;

export function drawFrame(canvas, scene, camera) {
  const pen = canvas.getContext("2d");
  const ratio = canvas.width / camera.width;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = palette().ground;
  pen.fillRect(0, 0, camera.width, camera.height);
  const [x, y] = camera.toScreen(0, 0);
  pen.setTransform(ratio * camera.zoom, 0, 0, ratio * camera.zoom, ratio * x, ratio * y);
  const seen = camera.seen();
  drawModules(pen, scene, seen);
  drawLines(pen, scene, camera, seen);
  const far = camera.zoom < TEXTS;
  if (!far) drawHeadlines(pen, scene, camera, seen);
  if (camera.zoom >= LABELS) drawTags(pen, scene, seen);
  const drawn = drawBoxes(pen, scene, camera, seen);
  if (far) drawHeadlines(pen, scene, camera, seen);
  return drawn;
}

function drawModules(pen, scene, seen) {
  const colours = palette();
  pen.lineWidth = 1;
  for (const cluster of scene.view.opened) {
    const id = scene.tree.idOf(cluster);
    const rect = scene.layout.rects.get(id);
    if (!isSeen(rect, seen)) continue;
    pen.beginPath();
    pen.roundRect(rect.x, rect.y, rect.width, rect.height, 6);
    pen.fillStyle = scene.tree.depths[cluster] % 2 ? colours.even : colours.odd;
    pen.fill();
    const marked = scene.selected === id;
    pen.strokeStyle = marked ? marks().selected : colours.frame;
    pen.lineWidth = marked ? 3 : 1;
    pen.stroke();
  }
}

function drawLines(pen, scene, camera, seen) {
  const colours = palette();
  pen.lineWidth = Math.max(1.3, 0.5 / camera.zoom);
  pen.strokeStyle = pen.fillStyle = colours.line;
  pen.globalAlpha = scene.near ? 0.3 : 1;
  for (const tile of scene.paths.tiles) {
    const { left, top, right, bottom } = tile.bounds;
    if (left > seen.right || right < seen.left || top > seen.bottom || bottom < seen.top) continue;
    pen.stroke(tile.lines);
    pen.fill(tile.heads);
    pen.setLineDash([6, 4]);
    pen.stroke(tile.again);
    pen.setLineDash([]);
  }
  pen.globalAlpha = 1;
  if (scene.near) drawNear(pen, scene, camera);
}

// The lines to and from the selected box: inputs dashed, outputs solid, both wider.
function drawNear(pen, scene, camera) {
  pen.lineWidth = Math.max(2.4, 1.4 / camera.zoom);
  const draw = (routes, colour, dash) => {
    const paths = { lines: new Path2D(), again: new Path2D(), heads: new Path2D() };
    for (const route of routes) addRoute(paths, route);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.setLineDash(dash);
    pen.stroke(paths.lines);
    pen.stroke(paths.again);
    pen.setLineDash([]);
    pen.fill(paths.heads);
  };
  draw(scene.near.inputRoutes, marks().input, [7, 3]);
  draw(scene.near.outputRoutes, marks().output, []);
}

function drawTags(pen, scene, seen) {
  const colours = palette();
  pen.font = TEXT_FONT;
  pen.lineWidth = 1;
  for (const tag of scene.layout.tags) {
    if (!isSeen(tag.rect, seen)) continue;
    const { x, y, width, height } = tag.rect;
    pen.beginPath();
    pen.roundRect(x, y, width, height, 8);
    pen.fillStyle = colours.ground;
    pen.fill();
    pen.strokeStyle = colours.named;
    pen.stroke();
    pen.fillStyle = colours.named;
    pen.fillText(`${tag.incoming ? "←" : "→"} ${shortName(scene.tree, tag.value)}`, x + 8, y + 12);
  }
}

function drawBoxes(pen, scene, camera, seen) {
  let drawn = 0;
  for (const box of scene.view.boxes.values()) {
    const rect = scene.layout.rects.get(box.id);
    if (!isSeen(rect, seen)) continue;
    drawn += 1;
    drawBox(pen, scene, camera, box, rect);
  }
  return drawn;
}

function drawBox(pen, scene, camera, box, rect) {
  const { x, y, width, height } = rect;
  const [fill, stroke, badge] = boxColours(box, scene.heats.get(box.id));
  const round = box.family === INPUT_FAMILY || box.family === OUTPUT_FAMILY_DRAWN ? 12 : 4;
  const mark = markOf(scene, box.id);
  pen.globalAlpha = scene.near && !mark ? 0.6 : 1;
  if (scene.tree.isCluster(box.id)) drawStack(pen, rect, fill, stroke);
  pen.beginPath();
  pen.roundRect(x, y, width, height, round);
  pen.fillStyle = fill;
  pen.fill();
  pen.lineWidth = mark ? mark.width / Math.min(1, camera.zoom) : Math.max(1, 0.5 / camera.zoom);
  pen.strokeStyle = mark ? mark.colour : stroke;
  pen.setLineDash(mark ? mark.dash : []);
  pen.stroke();
  pen.setLineDash([]);
  pen.beginPath();
  pen.roundRect(x, y, BADGE, height, [round, 0, 0, round]);
  pen.fillStyle = badge;
  pen.fill();
  if (camera.zoom >= LABELS) drawTexts(pen, scene, camera, box, rect);
  pen.globalAlpha = 1;
}

// A second edge behind a closed module: there is more in it.
function drawStack(pen, { x, y, width, height }, fill, stroke) {
  pen.beginPath();
  pen.roundRect(x + 3, y + 3, width, height, 4);
  pen.fillStyle = fill;
  pen.fill();
  pen.lineWidth = 1;
  pen.strokeStyle = stroke;
  pen.stroke();
}

function markOf(scene, id) {
  const colours = marks();
  if (scene.selected === id) return { colour: colours.selected, width: 3, dash: [] };
  if (scene.near && scene.near.inputs.has(id)) return { colour: colours.input, width: 2, dash: [5, 2] };
  if (scene.near && scene.near.outputs.has(id)) return { colour: colours.output, width: 2, dash: [] };
  if (scene.hits && scene.hits.has(id)) return { colour: colours.hit, width: 2.5, dash: [2, 2] };
  return null;
}

function drawTexts(pen, scene, camera, box, rect) {
  const colours = palette();
  const left = rect.x + BADGE + PADDING;
  let y = rect.y + PADDING + 9;
  pen.textBaseline = "alphabetic";
  pen.font = LABEL_FONT;
  pen.textAlign = "center";
  pen.fillStyle = colours.ground;
  const closed = scene.tree.isCluster(box.id);
  pen.fillText(closed ? "+" : families()[box.family].sign, rect.x + BADGE / 2, rect.y + rect.height / 2 + 5);
  pen.textAlign = "left";
  pen.fillStyle = colours.text;
  pen.fillText(box.label, left, y);
  if (camera.zoom < TEXTS) return;
  pen.font = TEXT_FONT;
  const write = (text, colour) => {
    y += LINE;
    pen.fillStyle = colour;
    pen.fillText(text, left, y);
  };
  if (box.caption) write(box.caption, colours.text);
  for (const row of box.rows) {
    write(row.text, row.kind === "state" ? colours.quiet : row.kind === "mark" ? colours.text : colours.named);
  }
  if (!box.value && !box.place) return;
  write(box.value, colours.text);
  pen.textAlign = "right";
  pen.fillStyle = colours.quiet;
  pen.fillText(box.place, rect.x + rect.width - PADDING, y);
  pen.textAlign = "left";
}
