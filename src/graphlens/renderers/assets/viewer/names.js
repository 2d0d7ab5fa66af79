// Values with many users are named at both ends, where lines would hide all else: as in
// diagram_names.py. The result is what the layout places: boxes with all their rows, and lines.

import { shortMiddle } from "./text.js";

const HUB_USERS = 8;
const OUTPUT_LINES = 6;
const FAR = 250;
const SHOWN_ROWS = 8;
const LONGEST_NAME = 40;
const OUTPUT_FAMILY = 8;

export function withNames(tree, shown) {
  const order = new Map(shown.ids.map((id, index) => [id, index]));
  const inputs = new Map();
  for (const users of shown.uses.values()) {
    for (const user of users) inputs.set(user, (inputs.get(user) || 0) + 1);
  }
  const isCrowded = (id) => tree.boxOf(id).family === OUTPUT_FAMILY && inputs.get(id) > OUTPUT_LINES;
  const rows = new Map();
  const add = (id, kind, text) => {
    if (!rows.has(id)) rows.set(id, []);
    rows.get(id).push({ kind, text });
  };
  const lines = [];
  for (const source of shown.ids) {
    const users = [...(shown.uses.get(source) || [])].sort((a, b) => order.get(a) - order.get(b));
    const all = users.length >= HUB_USERS;
    let named = 0;
    let last = null;
    for (const user of users) {
      const far = order.get(user) - order.get(source) > FAR;
      if (!all && !far && !isCrowded(user)) {
        lines.push([source, user]);
        continue;
      }
      named += 1;
      last = user;
      if (!isCrowded(user)) add(user, "from", `← ${shortName(tree, source)}`);
    }
    if (named === 1) add(source, "to", `→ ${shortName(tree, last)}`);
    else if (named) add(source, "to", `→ ${named} users`);
  }
  const boxes = new Map();
  for (const id of shown.ids) {
    const box = tree.boxOf(id);
    boxes.set(id, { ...box, id, rows: [...box.rows, ...limited(rows.get(id) || [])] });
  }
  return { ...shown, boxes, lines };
}

export function shortName(tree, id) {
  const box = tree.boxOf(id);
  const name = tree.isCluster(id) ? box.path : tree.picture.facts.name[box.node];
  return shortMiddle(name, LONGEST_NAME);
}

function limited(rows) {
  if (rows.length <= SHOWN_ROWS) return rows;
  const more = { kind: rows[0].kind, text: `and ${rows.length - SHOWN_ROWS + 1} more` };
  return [...rows.slice(0, SHOWN_ROWS - 1), more];
}
