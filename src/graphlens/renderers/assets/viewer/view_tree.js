// Which modules are open, and what is shown of a picture then. A box is known by its index, a
// closed module by its index after those of all boxes, so that names do not change as others open.

export const ROOT = -1;
export const MANY_BOXES = 80;
export const MOST_BOXES = 300;

export class ViewTree {
  constructor(picture) {
    this.picture = picture;
    this.depths = [];
    this.children = new Map([[ROOT, []]]);
    for (const cluster of picture.clusters) {
      this.depths.push(cluster.parent === ROOT ? 1 : this.depths[cluster.parent] + 1);
      this.children.set(cluster.index, []);
    }
    this.collectChildren();
    this.open = this.firstView();
  }

  // Boxes and modules directly in each module, in the order of the boxes; modules as ids.
  collectChildren() {
    const { boxes, clusters } = this.picture;
    const seen = new Set();
    for (const box of boxes) {
      let inner = box.cluster;
      const chain = [];
      while (inner !== ROOT && !seen.has(inner)) {
        seen.add(inner);
        chain.push(inner);
        inner = clusters[inner].parent;
      }
      for (const cluster of chain.reverse()) {
        this.children.get(clusters[cluster].parent).push(this.idOf(cluster));
      }
      this.children.get(box.cluster).push(box.index);
    }
  }

  idOf(cluster) {
    return this.picture.boxes.length + cluster;
  }

  isCluster(id) {
    return id >= this.picture.boxes.length;
  }

  clusterOf(id) {
    return this.picture.clusters[id - this.picture.boxes.length];
  }

  // The box, or the one that stands for a module.
  boxOf(id) {
    return this.isCluster(id) ? this.clusterOf(id).box : this.picture.boxes[id];
  }

  parentOf(id) {
    return this.isCluster(id) ? this.clusterOf(id).parent : this.picture.boxes[id].cluster;
  }

  // Everything where that can be read; else leaf modules closed, then outer ones.
  firstView() {
    const { boxes, clusters } = this.picture;
    const all = new Set(clusters.keys());
    if (boxes.length <= MANY_BOXES) return all;
    let open = new Set([...all].filter((c) => !clusters[c].leaf && !clusters[c].note));
    let level = Math.max(0, ...this.depths);
    while (level >= 1 && this.countShown(open) > MOST_BOXES) {
      open = new Set([...open].filter((c) => this.depths[c] < level));
      level -= 1;
    }
    return open;
  }

  countShown(open) {
    let shown = 0;
    const waiting = [ROOT];
    while (waiting.length) {
      for (const id of this.children.get(waiting.pop())) {
        const cluster = this.isCluster(id) ? this.clusterOf(id).index : null;
        if (cluster !== null && open.has(cluster)) waiting.push(cluster);
        else shown += 1;
      }
    }
    return shown;
  }

  toggle(cluster) {
    if (!this.open.delete(cluster)) this.open.add(cluster);
  }

  // Opens every module around a box or module.
  reveal(id) {
    let changed = false;
    for (let c = this.parentOf(id); c !== ROOT; c = this.picture.clusters[c].parent) {
      if (!this.open.has(c)) {
        this.open.add(c);
        changed = true;
      }
    }
    return changed;
  }

  // The id that stands for a box now: its own, or that of the outermost closed module around it.
  shownFor(id) {
    let shown = id;
    for (let c = this.parentOf(id); c !== ROOT; c = this.picture.clusters[c].parent) {
      if (!this.open.has(c)) shown = this.idOf(c);
    }
    return shown;
  }

  isOpen(id) {
    return this.isCluster(id) && this.open.has(this.clusterOf(id).index);
  }

  // What is shown: ids in order, which open module each is in, edges and loops between ids.
  shown() {
    const ids = [];
    const opened = [];
    const walk = (container) => {
      for (const id of this.children.get(container)) {
        if (!this.isOpen(id)) {
          ids.push(id);
          continue;
        }
        opened.push(this.clusterOf(id).index);
        walk(this.clusterOf(id).index);
      }
    };
    walk(ROOT);
    const stands = this.picture.boxes.map((box) => this.shownFor(box.index));
    const uses = new Map();
    for (const [source, target] of this.picture.edges) {
      const from = stands[source];
      const to = stands[target];
      if (from === to) continue;
      if (!uses.has(from)) uses.set(from, new Set());
      uses.get(from).add(to);
    }
    const isOpened = new Set(opened);
    const loops = this.picture.loops
      .filter((loop) => isOpened.has(loop.cluster))
      .map((loop) => ({ cluster: loop.cluster, source: stands[loop.source], target: stands[loop.target] }));
    return { ids, opened, uses, loops };
  }
}
