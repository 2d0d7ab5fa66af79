// The data of one graph: unpacked from its block in the page, with strings and numbers joined
// into objects. The order of the fields is that of viewer_payload.py and viewer_facts.py.

const INPUT_MARK = "\u0000";
const OPCODES = ["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"];

export async function unpack(block) {
  if (block.type === "application/json") return JSON.parse(block.textContent);
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser cannot unpack the data of this report. Use a newer one, or save the report " +
        'with report.save("report.html", compress=False).',
    );
  }
  const binary = atob(block.textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// A graph, or the body of one of its operators.
export class Picture {
  constructor(payload, number) {
    const raw = payload.pictures[number];
    this.payload = payload;
    this.strings = payload.strings;
    this.name = raw.name;
    this.title = raw.title;
    this.operators = raw.operators;
    this.facts = raw.facts;
    this.count = raw.facts.name.length;
    this.boxes = raw.boxes.map((row, index) => this.box(row, index, raw.members[index]));
    this.clusters = raw.clusters.map((row, index) => this.cluster(row, index));
    this.edges = pairs(raw.edges);
    this.loops = triples(raw.loops);
    this.setSpans();
  }

  box(row, index, steps) {
    const s = this.strings;
    const [node, family, label, caption, value, place, path, cluster, operators, parameters, count, rows] = row;
    let at = 0;
    return {
      index, node, family, cluster, operators, parameters, count,
      label: s[label], caption: s[caption], value: s[value], place: s[place], path: s[path],
      rows: pairs(rows).map(([kind, text]) => ({ kind: s[kind], text: s[text] })),
      nodes: steps.map((step) => (at += step)),
    };
  }

  cluster(row, index) {
    const s = this.strings;
    const [label, path, type, parent, leaf, repeats, note, ...box] = row;
    return {
      index, parent, repeats, leaf: leaf === 1, label: s[label], path: s[path], type: s[type],
      note: s[note], box: { ...this.box(box, index, []), cluster: parent },
    };
  }

  // The boxes of each module stand together: from first up to, without, end.
  setSpans() {
    for (const cluster of this.clusters) Object.assign(cluster, { first: Infinity, end: 0 });
    for (const box of this.boxes) {
      for (let c = box.cluster; c >= 0; c = this.clusters[c].parent) {
        const cluster = this.clusters[c];
        cluster.first = Math.min(cluster.first, box.index);
        cluster.end = box.index + 1;
      }
    }
    for (const cluster of this.clusters) {
      cluster.box.nodes = this.boxes.slice(cluster.first, cluster.end).flatMap((box) => box.nodes);
    }
  }

  inputs(node) {
    return this.facts.inputs[node].map((back) => node - back);
  }

  users(node) {
    if (!this.usersOf) {
      this.usersOf = Array.from({ length: this.count }, () => []);
      for (let user = 0; user < this.count; user += 1) {
        for (const input of this.inputs(user)) this.usersOf[input].push(user);
      }
    }
    return this.usersOf[node];
  }

  // Pieces of text and, as numbers, nodes.
  argumentParts(node) {
    const inputs = this.inputs(node);
    const text = this.strings[this.facts.args[node]];
    return text.split(INPUT_MARK).map((part, index) => (index % 2 ? inputs[Number(part)] : part));
  }

  argumentText(node) {
    return this.argumentParts(node)
      .map((part) => (typeof part === "number" ? this.facts.name[part] : part))
      .join("");
  }

  tensors(node) {
    return this.facts.tensors[node].map((index) => {
      const [shape, dtype, stride, device, bytes] = this.facts.tensor_table[index];
      const s = this.strings;
      return { shape: s[shape], dtype: s[dtype], stride: s[stride], device: s[device], bytes };
    });
  }

  // Bytes of a node's value; null where a size is not a number.
  bytes(node) {
    const sizes = this.facts.tensors[node].map((index) => this.facts.tensor_table[index][4]);
    if (!sizes.length || sizes.includes(null)) return null;
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  place(index) {
    if (index < 0) return null;
    const [file, line, inFunction, code] = this.facts.place_table[index];
    const s = this.strings;
    return { file: s[file], line, inFunction: s[inFunction], code: s[code] };
  }

  source(node) {
    return this.place(this.facts.place[node]);
  }

  caller(node) {
    return this.place(this.facts.caller[node]);
  }

  module(node) {
    const index = this.facts.module[node];
    if (index < 0) return null;
    const [path, type] = this.facts.module_table[index];
    return { path: this.strings[path], type: this.strings[type] };
  }

  text(column, node) {
    return this.strings[this.facts[column][node]];
  }

  opcode(node) {
    return OPCODES[this.facts.op[node]];
  }

  isOperator(node) {
    return this.opcode(node).startsWith("call_");
  }
}

function pairs(flat) {
  const found = [];
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i], flat[i + 1]]);
  return found;
}

function triples(flat) {
  const found = [];
  for (let i = 0; i < flat.length; i += 3) {
    found.push({ cluster: flat[i], source: flat[i + 1], target: flat[i + 2] });
  }
  return found;
}
