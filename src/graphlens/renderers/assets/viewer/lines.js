// The lines of a layout as paths, made once for each layout: one for each value, cut into tiles
// of the picture so that a frame draws only what is near.

const TILE = 1200;
const ARROW = 6;
const ROUND = 7;

export function linePaths(layout) {
  const tiles = new Map();
  const byValue = new Map();
  for (const route of layout.routes) {
    if (!byValue.has(route.value)) byValue.set(route.value, []);
    byValue.get(route.value).push(route);
    const key = tileOf(route.points[0]);
    if (!tiles.has(key)) tiles.set(key, { lines: new Path2D(), again: new Path2D(), heads: new Path2D(), bounds: noBounds() });
    const tile = tiles.get(key);
    addRoute(tile, route);
    for (const [x, y] of route.points) include(tile.bounds, x, y);
  }
  return { tiles: [...tiles.values()], byValue };
}

function tileOf([x, y]) {
  return `${Math.floor(x / TILE)},${Math.floor(y / TILE)}`;
}

function noBounds() {
  return { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
}

function include(bounds, x, y) {
  bounds.left = Math.min(bounds.left, x - 8);
  bounds.right = Math.max(bounds.right, x + 8);
  bounds.top = Math.min(bounds.top, y - 8);
  bounds.bottom = Math.max(bounds.bottom, y + 8);
}

export function addRoute(paths, route) {
  const points = route.points.map((point) => [...point]);
  if (route.again) {
    turns(paths.again, points);
    return;
  }
  if (route.arrow) {
    const end = points[points.length - 1];
    paths.heads.moveTo(end[0], end[1]);
    paths.heads.lineTo(end[0] - 4, end[1] - ARROW);
    paths.heads.lineTo(end[0] + 4, end[1] - ARROW);
    paths.heads.closePath();
    end[1] -= ARROW - 1;
  }
  curve(paths.lines, points);
}

// Straight down, and from one x to another in an S.
function curve(path, points) {
  path.moveTo(points[0][0], points[0][1]);
  for (let i = 1; i < points.length; i += 1) {
    const [[x, y], [toX, toY]] = [points[i - 1], points[i]];
    const middle = (y + toY) / 2;
    if (x === toX) path.lineTo(toX, toY);
    else path.bezierCurveTo(x, middle, toX, middle, toX, toY);
  }
}

// Right-angled, with rounded corners.
function turns(path, points) {
  path.moveTo(points[0][0], points[0][1]);
  for (let i = 1; i < points.length - 1; i += 1) {
    const [x, y] = points[i];
    path.arcTo(x, y, points[i + 1][0], points[i + 1][1], ROUND);
  }
  const [x, y] = points[points.length - 1];
  path.lineTo(x, y);
}
