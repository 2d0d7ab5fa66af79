// What feeds a box and what uses it, among what is shown: by the values it takes, not by the
// lines drawn, so that named values are followed too. And the lines that belong to them.

export function neighboursOf(scene, id) {
  const inputs = new Set();
  const outputs = new Set();
  const members = scene.tree.isOpen(id) ? shownInside(scene, id) : new Set([id]);
  for (const [source, users] of scene.view.uses) {
    for (const user of users) {
      if (members.has(user) && !members.has(source)) inputs.add(source);
      if (members.has(source) && !members.has(user)) outputs.add(user);
    }
  }
  const rect = scene.layout.rects.get(id);
  const pieces = (source) => scene.paths.byValue.get(source) || [];
  return {
    inputs,
    outputs,
    inputRoutes: [...inputs].flatMap((source) => inputLines(scene, pieces(source), source, rect)),
    outputRoutes: [...members].flatMap(pieces).filter((route) => !route.again && !isWithin(route, rect)),
  };
}

function shownInside(scene, id) {
  const { first, end } = scene.tree.clusterOf(id);
  const found = new Set();
  for (let box = first; box < end; box += 1) found.add(scene.tree.shownFor(box));
  return found;
}

// A value's line to one of its users: lines are pieces from row to row, so they are followed back
// from the box, each from where the one before ends.
function inputLines(scene, pieces, source, rect) {
  const found = new Set();
  const from = scene.layout.rects.get(source);
  for (const last of pieces.filter((piece) => reaches(piece, rect))) {
    let piece = last;
    while (piece && !found.has(piece)) {
      found.add(piece);
      const [x, y] = piece.points[0];
      const before = pieceBefore(pieces, piece, x, y);
      const end = before ? before.points[before.points.length - 1][1] : from.y + from.height;
      if (end < y) found.add({ value: source, points: [[x, end], [x, y]] });
      piece = before;
    }
  }
  return [...found];
}

function pieceBefore(pieces, piece, x, y) {
  let best = null;
  let lowest = -Infinity;
  for (const other of pieces) {
    const [endX, endY] = other.points[other.points.length - 1];
    if (other === piece || other.again || Math.abs(endX - x) > 1 || endY > y + 1 || endY <= lowest) continue;
    best = other;
    lowest = endY;
  }
  return best;
}

function reaches(piece, { x, y, width }) {
  const [endX, endY] = piece.points[piece.points.length - 1];
  return endX >= x - 1 && endX <= x + width + 1 && Math.abs(endY - y) <= 1;
}

function isWithin(route, { x, y, width, height }) {
  return route.points.every(([px, py]) => px >= x && px <= x + width && py >= y && py < y + height);
}
