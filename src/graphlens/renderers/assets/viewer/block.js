// Lays out one module: its parts in rows, with the lines between them. As in layout_block.py, but
// in one column: in the viewer one can scroll, and what is open should not jump to another one.

import { ranks } from "./ranks.js";
import { arrangeRows, BEND, IN, OUT, PART, TAG_IN, TAG_OUT } from "./rows.js";

const ROW_GAP = 22;
const WIDEST_GAP = 56;
const IDLE_GAP = 14;
const PORT_GAP = 10;
const ENTRY_GAP = 12;
const CORNER = 8;

// A block has a width, a height, places of its parts, routes, tags, and where values enter at its
// top and leave at its bottom, by value.
export function layBlock(parts, wires, tagWidths) {
  const rows = arrangeRows(parts, wires, ranks(parts, wires), tagWidths);
  let left = Infinity;
  let right = -Infinity;
  for (const item of rows.items) {
    left = Math.min(left, item.x - item.width / 2);
    right = Math.max(right, item.x + item.width / 2);
  }
  if (!rows.items.length) left = right = 0;
  for (const item of rows.items) item.x -= left;
  setEntries(rows);
  const { tops, bottoms, height } = heights(rows);
  const block = {
    width: right - left, height, places: parts.map(() => [0, 0]), routes: [], tags: [],
    ins: new Map(), outs: new Map(),
  };
  rows.rows.forEach((row, number) => {
    for (const item of row) {
      placeItem(block, item, tops[number]);
      drawLinks(block, item, number, tops, bottoms);
    }
  });
  return block;
}

function placeItem(block, item, top) {
  const x = item.x - item.width / 2;
  if (item.kind === PART) block.places[item.of] = [x, top];
  else if (item.kind === IN) block.ins.set(item.of, item.x);
  else if (item.kind === OUT) {
    block.outs.set(item.of, item.x);
    if (top < block.height) {
      block.routes.push({ value: item.of, points: [[item.x, top], [item.x, block.height]] });
    }
  } else if (item.kind === TAG_IN || item.kind === TAG_OUT) {
    const rect = { x, y: top, width: item.width, height: item.height };
    block.tags.push({ value: item.of, rect, incoming: item.kind === TAG_IN });
  }
}

// The lines from an item to the next row; what they share is drawn once.
function drawLinks(block, item, row, tops, bottoms) {
  const start = tops[row] + (item.kind === BEND || item.kind === IN ? 0 : item.height);
  const drawn = new Set();
  for (const link of item.down) {
    const x = item.x + link.sourceOffset;
    const points = [[x, bottoms[row]]];
    if (start < bottoms[row] && !drawn.has(link.value)) points.unshift([x, start]);
    drawn.add(link.value);
    points.push([link.entry, tops[row + 1]]);
    const [from, to] = points.slice(-2);
    if (from[0] !== to[0] || from[1] !== to[1] || points.length > 2) {
      block.routes.push({ value: link.value, points, arrow: link.target.isBox, to: link.target.of });
    }
  }
}

// Where each link meets its target: side by side along a box, in the order they come.
function setEntries(rows) {
  for (const item of rows.items) {
    if (!item.isBox) {
      for (const link of item.up) link.entry = item.x + link.targetOffset;
      continue;
    }
    const room = Math.max(0, item.width / 2 - CORNER);
    const last = item.up.length - 1;
    const gap = Math.min(ENTRY_GAP, Math.floor((2 * room) / Math.max(1, last)));
    const start = (link) => link.source.x + link.sourceOffset;
    let low = item.x - room;
    [...item.up].sort((a, b) => start(a) - start(b)).forEach((link, place) => {
      const x = Math.min(Math.max(start(link), low), item.x + room - gap * (last - place));
      link.entry = x;
      low = x + gap;
    });
  }
}

function heights(rows) {
  const tops = [];
  const bottoms = [];
  let y = 0;
  for (const row of rows.rows) {
    tops.push(y);
    y += row.reduce((most, item) => Math.max(most, item.height), 0);
    bottoms.push(y);
    y += gapBelow(row);
  }
  return { tops, bottoms, height: bottoms[bottoms.length - 1] };
}

// Room between a row and the next: more where lines go far to the side.
function gapBelow(row) {
  if (!row.length) return 0;
  const links = row.flatMap((item) => item.down);
  if (!links.length) return IDLE_GAP;
  let aside = 0;
  for (const link of links) {
    aside = Math.max(aside, Math.abs(link.source.x + link.sourceOffset - link.entry));
  }
  const enter = links.every((link) => link.source.kind === IN || link.source.kind === TAG_IN);
  const leave = links.every((link) => link.target.kind === OUT || link.target.kind === TAG_OUT);
  return Math.min(WIDEST_GAP, (enter || leave ? PORT_GAP : ROW_GAP) + Math.floor(aside / 10));
}
