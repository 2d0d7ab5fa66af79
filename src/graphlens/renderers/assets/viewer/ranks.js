// Which row each part of a module goes to: longest paths, no row wider than it must be; a line
// always leads to a later row. As in layout_ranks.py.

const WIDEST_ROW = 1500;
const PART_GAP = 20;
export const OUTSIDE = -1;

export function ranks(parts, wires) {
  const inputs = parts.map(() => []);
  const users = parts.map(() => []);
  const fed = parts.map(() => false);
  for (const wire of wires) {
    for (const target of wire.targets) {
      if (wire.source === OUTSIDE) {
        fed[target] = true;
      } else {
        inputs[target].push(wire.source);
        users[wire.source].push(target);
      }
    }
  }
  const taken = new TakenRows(parts.reduce((most, part) => Math.max(most, part.width), WIDEST_ROW));
  const rank = parts.map(() => 0);
  parts.forEach((part, number) => {
    const earliest = inputs[number].reduce((row, source) => Math.max(row, rank[source] + 1), 0);
    rank[number] = taken.firstWithRoom(earliest, part.width);
  });
  // What nothing feeds goes down to its first user, or a line to it crosses all rows between.
  const hangs = [];
  inputs.forEach((sources, number) => {
    hangs.push(!fed[number] && sources.length <= 1 && sources.every((source) => hangs[source]));
  });
  for (let number = parts.length - 1; number >= 0; number -= 1) {
    if (!hangs[number] || !users[number].length) continue;
    const lowest = users[number].reduce((row, user) => Math.min(row, rank[user]), Infinity) - 1;
    rank[number] = taken.move(rank[number], lowest, parts[number].width);
  }
  const lowest = rank.reduce((row, other) => Math.max(row, other), 0);
  parts.forEach((part, number) => {
    if (part.isLast) rank[number] = lowest + 1;
  });
  return withoutGaps(rank);
}

// How much of each row is taken; rows that are as good as full are skipped.
class TakenRows {
  constructor(widest) {
    this.widest = widest;
    this.taken = [];
    this.next = [];
  }

  firstWithRoom(from, width) {
    let row = this.find(from);
    while (this.taken[row] && this.taken[row] + width > this.widest) row = this.find(row + 1);
    this.take(row, width);
    return row;
  }

  move(row, to, width) {
    if (to <= row || this.taken[to] + width > this.widest) return row;
    this.taken[row] -= width + PART_GAP;
    this.take(to, width);
    return to;
  }

  take(row, width) {
    this.taken[row] += width + PART_GAP;
    if (this.taken[row] * 10 > this.widest * 9) this.next[row] = row + 1;
  }

  find(start) {
    let row = start;
    const passed = [];
    for (;;) {
      while (this.next.length <= row) {
        this.next.push(this.next.length);
        this.taken.push(0);
      }
      if (this.next[row] === row) break;
      passed.push(row);
      row = this.next[row];
    }
    for (const skipped of passed) this.next[skipped] = row;
    return row;
  }
}

function withoutGaps(rank) {
  const used = [...new Set(rank)].sort((a, b) => a - b);
  const number = new Map(used.map((row, index) => [row, index]));
  return rank.map((row) => number.get(row));
}
