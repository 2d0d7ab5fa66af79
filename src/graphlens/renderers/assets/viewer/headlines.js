// The headlines of open modules.

import { HEAD_FONT, HEADER, textWidth } from "./text.js";
import { palette } from "./theme.js";

const READABLE = 0.9;
const SMALLEST_HEADLINE = 0.5;
const ROOM_FOR_HEADLINE = 0.18;

export function isSeen(rect, seen) {
  return rect.x < seen.right && rect.x + rect.width > seen.left && rect.y < seen.bottom && rect.y + rect.height > seen.top;
}

// On their own ground, or lines that enter the module would strike the words through. From afar
// they keep a size that can be read, as far as the module has room and none is there already.
export function drawHeadlines(pen, scene, camera, seen) {
  const colours = palette();
  const taken = [];
  pen.font = HEAD_FONT;
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  for (const cluster of scene.view.opened) {
    const rect = scene.layout.rects.get(scene.tree.idOf(cluster));
    if (!isSeen(rect, seen)) continue;
    const { label } = scene.tree.picture.clusters[cluster];
    const width = textWidth(label, HEAD_FONT) + 20;
    const scale = headlineScale(camera, rect, width);
    const place = { x: rect.x + 8, y: rect.y + 4, width: width * scale, height: (HEADER - 8) * scale };
    if (!scale || taken.some((other) => isSeen(place, edges(other)))) continue;
    taken.push(place);
    pen.save();
    pen.translate(place.x, place.y);
    pen.scale(scale, scale);
    pen.fillStyle = scene.tree.depths[cluster] % 2 ? colours.even : colours.odd;
    pen.fillRect(0, 0, width, HEADER - 8);
    pen.fillStyle = colours.quiet;
    pen.fillText("▾", 1, 14);
    pen.fillStyle = colours.text;
    pen.fillText(label, 15, 14);
    pen.restore();
  }
}

// How much larger than the picture a headline is; 0 where it cannot be read.
function headlineScale(camera, rect, width) {
  const wanted = Math.max(1, READABLE / camera.zoom);
  const room = Math.max(1, Math.min((rect.width - 16) / width, (rect.height * ROOM_FOR_HEADLINE) / HEADER));
  const scale = Math.min(wanted, room);
  return scale * camera.zoom < SMALLEST_HEADLINE ? 0 : scale;
}

function edges({ x, y, width, height }) {
  return { left: x, top: y, right: x + width, bottom: y + height };
}
