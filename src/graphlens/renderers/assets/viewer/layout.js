// Where everything goes that is shown: each open module is laid out by itself, the innermost
// first, and is then one part of the module around it. Lines enter a module at its top and leave
// it at its bottom. A module whose inside has not changed keeps its layout. As in layout.py.

import { layBlock } from "./block.js";
import { shortName } from "./names.js";
import { OUTSIDE } from "./ranks.js";
import { boxSize, HEADER, headerWidth, tagWidth } from "./text.js";
import { ROOT } from "./view_tree.js";

const SIDE = 14;
const LOOP = 12;
const OUTPUT = 8;

export class Layouts {
  constructor(tree) {
    this.tree = tree;
    this.known = new Map();
  }

  // Rectangles by id, of boxes and of open modules; routes and tags; the size of the whole.
  place(view) {
    const wires = this.wires(view);
    const unfed = this.unfedOutput(view);
    const blocks = new Map();
    const contents = new Map();
    for (const container of [...view.opened].reverse().concat(ROOT)) {
      const ids = this.tree.children.get(container);
      contents.set(container, ids);
      const parts = ids.map((id) => {
        if (!view.boxes.has(id)) return { ...blocks.get(this.tree.clusterOf(id).index), isBox: false };
        return { ...boxSize(view.boxes.get(id)), isBox: true, isLast: id === unfed };
      });
      const index = new Map(ids.map((id, place) => [id, place]));
      const inside = [...wires.get(container).values()].map((use) => ({
        value: use.value,
        source: use.source === null ? OUTSIDE : index.get(use.source),
        targets: [...use.targets].map((id) => index.get(id)),
        leaves: use.leaves,
      }));
      blocks.set(container, this.block(container, parts, inside, view));
    }
    return absolute(this.tree, view, blocks, contents);
  }

  block(container, parts, wires, view) {
    const loops = view.loops.filter((loop) => loop.cluster === container);
    const key = JSON.stringify([parts.map((part) => [part.width, part.height, part.isLast || false,
      ...(part.ins || []), ...(part.outs || [])]), wires, loops]);
    const before = this.known.get(container);
    if (before && before.key === key) return before.block;
    let block = layBlock(parts, wires, (id) => tagWidth(shortName(this.tree, id)));
    if (container !== ROOT) {
      const label = this.tree.picture.clusters[container].label;
      block = framed(block, headerWidth(label), loopLines(view, block, loops));
    }
    this.known.set(container, { key, block });
    return block;
  }

  // An output whose values are named where they are made still stands last.
  unfedOutput(view) {
    const fed = new Set(view.lines.map((line) => line[1]));
    const outputs = view.ids.filter((id) => view.boxes.get(id).family === OUTPUT && !fed.has(id));
    return outputs.length ? outputs[outputs.length - 1] : -1;
  }

  // Takes each line apart into its pieces in the modules that it goes through.
  wires(view) {
    const { tree } = this;
    const wires = new Map([ROOT, ...view.opened].map((container) => [container, new Map()]));
    const use = (container, value) => {
      const uses = wires.get(container);
      if (!uses.has(value)) uses.set(value, { value, source: null, targets: new Set(), leaves: false });
      return uses.get(value);
    };
    const depth = (container) => (container === ROOT ? 0 : tree.depths[container]);
    const parent = (container) => tree.picture.clusters[container].parent;
    for (const [source, target] of view.lines) {
      let left = source;
      let right = target;
      let above = tree.parentOf(source);
      let below = tree.parentOf(target);
      while (above !== below) {
        if (depth(above) >= depth(below)) {
          Object.assign(use(above, source), { source: left, leaves: true });
          left = tree.idOf(above);
          above = parent(above);
        } else {
          use(below, source).targets.add(right);
          right = tree.idOf(below);
          below = parent(below);
        }
      }
      const wire = use(above, source);
      wire.source = left;
      wire.targets.add(right);
    }
    return wires;
  }
}

// A value that leaves a repeated module and enters it again, in place of the one from outside.
function loopLines(view, block, loops) {
  const targets = new Set(loops.map((loop) => loop.target));
  const fed = view.lines.filter(([source, target]) => targets.has(target) && block.ins.has(source));
  const sources = loops.map((loop) => loop.source).filter((id) => block.outs.has(id));
  return sources.length && fed.length ? [[Math.min(...sources), fed[0][0]]] : [];
}

// The block with a frame and a headline; lines are led through the frame.
function framed(block, headline, loops) {
  const more = loops.length ? LOOP : 0;
  let width = Math.max(block.width + 2 * (SIDE + more), headline);
  width += width % 2;
  const left = Math.floor((width - block.width) / 2);
  const top = HEADER + more;
  const end = top + block.height + more;
  const height = end + SIDE;
  const shiftedX = (ports) => new Map([...ports].map(([value, x]) => [value, x + left]));
  const ins = shiftedX(block.ins);
  const outs = shiftedX(block.outs);
  const routes = block.routes.map((route) => movedRoute(route, left, top));
  for (const [value, x] of ins) routes.push({ value, points: [[x, 0], [x, top]] });
  for (const [value, x] of outs) routes.push({ value, points: [[x, end - more], [x, height]] });
  for (const [source, value] of loops) {
    const lane = width - SIDE;
    const [from, to] = [outs.get(source), ins.get(value)];
    const points = [[from, end], [lane, end], [lane, HEADER + 2], [to, HEADER + 2], [to, top]];
    routes.push({ value: source, points, again: true });
  }
  return {
    width, height, ins, outs, routes,
    places: block.places.map(([x, y]) => [x + left, y + top]),
    tags: block.tags.map((tag) => movedTag(tag, left, top)),
  };
}

function movedRoute(route, x, y) {
  return { ...route, points: route.points.map(([px, py]) => [px + x, py + y]) };
}

function movedTag(tag, x, y) {
  return { ...tag, rect: { ...tag.rect, x: tag.rect.x + x, y: tag.rect.y + y } };
}

function absolute(tree, view, blocks, contents) {
  const root = blocks.get(ROOT);
  const rects = new Map();
  const routes = [];
  const tags = [];
  for (const container of [ROOT, ...view.opened]) {
    const block = blocks.get(container);
    const { x, y } = container === ROOT ? { x: 0, y: 0 } : rects.get(tree.idOf(container));
    contents.get(container).forEach((id, index) => {
      const [left, top] = block.places[index];
      const size = view.boxes.has(id) ? boxSize(view.boxes.get(id)) : blocks.get(tree.clusterOf(id).index);
      rects.set(id, { x: x + left, y: y + top, width: size.width, height: size.height });
    });
    for (const route of block.routes) routes.push(movedRoute(route, x, y));
    for (const tag of block.tags) tags.push(movedTag(tag, x, y));
  }
  return { width: root.width, height: root.height, rects, routes, tags };
}
