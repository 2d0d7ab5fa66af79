// Search: all words must be in what is known of a node or module. A hit is a box or a module of
// the picture, and which of the nodes it stands for was found.

export class Search {
  constructor(tree) {
    this.tree = tree;
    this.query = "";
    this.hits = [];
    this.nodes = 0;
    this.at = -1;
    this.texts = null;
  }

  run(query) {
    this.query = query;
    this.at = -1;
    this.hits = [];
    this.nodes = 0;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return;
    const found = this.matches(words);
    const { boxes, clusters } = this.tree.picture;
    const matchesText = (text) => words.every((word) => text.includes(word));
    for (const cluster of clusters) {
      const text = `${cluster.label}\n${cluster.path}\n${cluster.type}`.toLowerCase();
      if (matchesText(text)) this.hits.push({ id: this.tree.idOf(cluster.index), copy: 0, at: cluster.first });
    }
    for (const box of boxes) {
      const each = box.nodes.length / box.count;
      const first = box.nodes.findIndex((node) => found.has(node));
      if (first >= 0) this.hits.push({ id: box.index, copy: Math.floor(first / each), at: box.index });
    }
    this.nodes = found.size;
    this.hits.sort((a, b) => a.at - b.at || b.id - a.id);
  }

  // Nodes by name, operator, target, module, place and user's name of an input.
  matches(words) {
    const { picture } = this.tree;
    if (!this.texts) this.texts = Array.from({ length: picture.count }, (_, node) => this.textOf(node));
    const found = new Set();
    this.texts.forEach((text, node) => {
      if (words.every((word) => text.includes(word))) found.add(node);
    });
    return found;
  }

  textOf(node) {
    const { picture } = this.tree;
    const module = picture.module(node);
    const places = [picture.source(node), picture.caller(node)].filter(Boolean);
    const shapes = picture.tensors(node).map((tensor) => `${tensor.shape} ${tensor.dtype}`);
    return [
      picture.facts.name[node],
      picture.text("label", node),
      picture.text("target", node),
      picture.text("origin", node),
      picture.text("role", node),
      module ? `${module.path} ${module.type}` : "",
      ...places.map((place) => `${place.file}:${place.line} ${place.code}`),
      ...shapes,
    ].join("\n").toLowerCase();
  }

  step(by) {
    if (!this.hits.length) return null;
    if (this.at < 0) this.at = by > 0 ? 0 : this.hits.length - 1;
    else this.at = (this.at + by + this.hits.length) % this.hits.length;
    return this.hits[this.at];
  }
}
