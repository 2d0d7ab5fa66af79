// The order and the x of everything in the rows of one module: as in layout_rows.py. A line is
// held by a bend in each row that it crosses; rows are swept down and up, and in each, items go
// where the items they hang on are, as near as their order and widths allow.

import { OUTSIDE } from "./ranks.js";
import { spread } from "./spread.js";

export const PART = 0;
export const BEND = 1;
export const IN = 2;
export const OUT = 3;
export const TAG_IN = 4;
export const TAG_OUT = 5;
const MARGIN = [10, 6, 7, 7, 6, 6];
const TAG_HEIGHT = 16;
const LONGEST_LINE = 40;
const BENDS_PER_PART = 5;
const SWEEPS = 5;
const SETTLING = 3;
const STRAIGHT = 10000;
const STEP = 60;
const HOMING_WIDTH = 20;
const WIDE = 400;

export function arrangeRows(parts, wires, rank, tagWidths) {
  const rows = new Rows(parts, rank.reduce((most, row) => Math.max(most, row), -1) + 3);
  parts.forEach((part, number) => rows.add(rank[number] + 1, PART, number, part.width, part.height));
  const longest = longestLine(wires, rank, parts.length);
  for (const wire of wires) stringWire(rows, wire, rank, longest, tagWidths);
  sweep(rows);
  return rows;
}

class Rows {
  constructor(parts, count) {
    this.parts = parts;
    this.items = [];
    this.rows = Array.from({ length: count }, () => []);
  }

  add(row, kind, of, width = 0, height = 0) {
    const isBox = kind === PART && this.parts[of].isBox;
    const item = { number: this.items.length, kind, of, width, height, isBox, x: 0, up: [], down: [] };
    this.items.push(item);
    this.rows[row].push(item);
    return item;
  }

  // The offsets say where on a module the line enters or leaves it.
  link(source, target, value) {
    const link = { source, target, value, sourceOffset: 0, targetOffset: 0 };
    if (source.kind === PART && !source.isBox) {
      const part = this.parts[source.of];
      link.sourceOffset = part.outs.get(value) - part.width / 2;
    }
    if (target.kind === PART && !target.isBox) {
      const part = this.parts[target.of];
      link.targetOffset = part.ins.get(value) - part.width / 2;
    }
    source.down.push(link);
    target.up.push(link);
  }
}

function longestLine(wires, rank, count) {
  const spans = wires
    .filter((wire) => wire.targets.length && wire.source !== OUTSIDE && !wire.leaves)
    .map((wire) => wire.targets.reduce((row, target) => Math.max(row, rank[target]), 0) - rank[wire.source])
    .sort((a, b) => a - b);
  let room = BENDS_PER_PART * count + 100;
  for (const span of spans) {
    room -= span;
    if (room < 0) return Math.max(2, Math.min(LONGEST_LINE, span - 1));
  }
  return LONGEST_LINE;
}

function stringWire(rows, wire, rank, longest, tagWidths) {
  const outside = wire.source === OUTSIDE;
  const start = outside ? 0 : rank[wire.source] + 1;
  const tagged = [];
  const byRow = new Map();
  for (const target of wire.targets) {
    const row = rank[target] + 1;
    if (row - start > longest && !outside && !wire.leaves) tagged.push(target);
    else if (byRow.has(row)) byRow.get(row).push(target);
    else byRow.set(row, [target]);
  }
  const { value } = wire;
  const width = tagged.length ? tagWidths(value) : 0;
  for (const target of tagged) {
    rows.link(rows.add(rank[target], TAG_IN, value, width, TAG_HEIGHT), rows.items[target], value);
  }
  if (tagged.length) {
    rows.link(rows.items[wire.source], rows.add(start + 1, TAG_OUT, value, width, TAG_HEIGHT), value);
  }
  const last = wire.leaves ? rows.rows.length - 1 : Math.max(0, ...byRow.keys());
  if (!last) return;
  let carrier = outside ? rows.add(0, IN, value) : rows.items[wire.source];
  for (let row = start + 1; row <= last; row += 1) {
    for (const target of byRow.get(row) || []) rows.link(carrier, rows.items[target], value);
    if (row < last || wire.leaves) {
      const bend = rows.add(row, row < rows.rows.length - 1 ? BEND : OUT, value);
      rows.link(carrier, bend, value);
      carrier = bend;
    }
  }
}

function sweep(rows) {
  for (const row of rows.rows) pack(row);
  const sweeps = rows.items.length < 20000 ? SWEEPS : 2;
  for (let round = 0; round < sweeps + SETTLING; round += 1) {
    const sorts = round < sweeps;
    for (const row of rows.rows.slice(1)) settle(row, true, false, sorts);
    for (const row of rows.rows.slice(0, -1).reverse()) settle(row, !sorts, true, sorts);
  }
  meet(rows.rows[0]);
  for (const row of rows.rows.slice(1)) straighten(row);
  meet(rows.rows[0]);
}

function pack(row) {
  let right = 0;
  for (const item of row) {
    const reach = item.width / 2 + MARGIN[item.kind];
    item.x = right + reach;
    right += 2 * reach;
  }
  for (const item of row) item.x -= Math.floor(right / 2);
}

// Moves the items of a row to where their neighbours want them.
function settle(row, above, below, sorts) {
  for (const item of row) {
    let weights = homing(item);
    let total = 0;
    for (const link of above ? item.up : []) {
      const weight = linkWeight(link);
      total += weight * (link.source.x + link.sourceOffset - link.targetOffset);
      weights += weight;
    }
    for (const link of below ? item.down : []) {
      const weight = linkWeight(link);
      total += weight * (link.target.x + link.targetOffset - link.sourceOffset);
      weights += weight;
    }
    item.wanted = item.up.length || item.down.length ? Math.floor(total / weights) : item.x;
  }
  if (sorts) row.sort((a, b) => a.wanted - b.wanted || a.x - b.x || a.number - b.number);
  place(row, row.map((item) => item.wanted), row.map((item) => (item.kind === BEND ? 4 : 1)));
}

function homing(item) {
  if (item.kind !== PART || item.isBox) return 1;
  return 1 + Math.floor(Math.max(0, item.width - WIDE) / HOMING_WIDTH);
}

function linkWeight(link) {
  return [8, 16, 64][(link.source.kind === BEND) + (link.target.kind === BEND)];
}

// Lets values enter right above where they go.
function meet(row) {
  const wanted = row.map((item) => {
    const ends = item.down.map((link) => link.target.x + link.targetOffset - link.sourceOffset);
    return ends.length ? ends.sort((a, b) => a - b)[Math.floor((ends.length - 1) / 2)] : item.x;
  });
  place(row, wanted, row.map(() => 1));
}

// Moves items right below the one they hang on; boxes give way to lines.
function straighten(row) {
  const wanted = [];
  const insists = [];
  for (const item of row) {
    let { x } = item;
    let insistence = 1;
    if (item.up.length === 1) {
      const link = item.up[0];
      x = link.source.x + link.sourceOffset - link.targetOffset;
      if (Math.abs(x - item.x) > STEP && item.kind === PART && !item.isBox) x = item.x;
      const isLine = item.kind === BEND || item.kind === OUT;
      const straight = isLine && (link.source.kind === BEND || link.source.kind === IN);
      insistence = isLine ? 2 : 6;
      if (straight && link.source.down.length === 1) insistence = STRAIGHT;
    }
    wanted.push(x);
    insists.push(insistence);
  }
  place(row, wanted, insists);
}

function place(row, wanted, insists) {
  const places = spread(wanted, row.map((item) => item.width / 2 + MARGIN[item.kind]), insists);
  row.forEach((item, index) => {
    item.x = places[index];
  });
}
