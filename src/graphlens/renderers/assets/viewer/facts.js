// The facts of one node as elements: for the details panel.

import { counted, fileName, make, memoryText, textButton } from "./dom.js";

const AROUND = 3;

export function factList(pairs) {
  const rows = pairs
    .filter(([, value]) => value !== null && value !== "" && value !== undefined)
    .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  return rows.length ? make("dl", { class: "node-facts" }, ...rows) : null;
}

export function nodeLink(picture, node, go) {
  return textButton(picture.facts.name[node], () => go(node));
}

// The call as it was made, each input a link to what made it.
export function callText(picture, node, go) {
  const parts = picture.argumentParts(node).map((part) => (typeof part === "number" ? nodeLink(picture, part, go) : part));
  const target = picture.text("target", node);
  return picture.isOperator(node) ? make("code", { class: "call" }, `${target}(`, ...parts, ")") : make("code", {}, target);
}

// Each tensor of the value: shape, dtype, strides, device, bytes.
export function tensorTable(picture, node) {
  const tensors = picture.tensors(node);
  if (!tensors.length) return null;
  const heads = ["shape", "dtype", "strides", "device", "memory"];
  const rows = tensors.map((tensor) => [
    tensor.shape, tensor.dtype, tensor.stride, tensor.device,
    tensor.bytes === null ? "" : memoryText(tensor.bytes),
  ]);
  const used = heads.map((_, column) => rows.some((row) => row[column] !== ""));
  const pick = (cells, tag) => cells.filter((_, column) => used[column]).map((text) => make(tag, {}, text));
  if (rows.length === 1) return factList(heads.map((head, column) => [head, rows[0][column]]));
  return make("div", { class: "small-scroll" }, make("table", { class: "tensors-of-node" },
    make("thead", {}, make("tr", {}, ...pick(heads, "th"))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...pick(row, "td"))))));
}

// The user's line among those lines around it that this graph knows.
export function excerpt(picture, place) {
  if (!place.code) return null;
  const lines = knownLines(picture, place);
  return make("pre", { class: "excerpt", tabindex: 0 }, ...lines.map(([line, code]) => {
    const number = make("span", { class: "gutter", "aria-hidden": "true" }, String(line).padStart(4));
    return make("code", { class: line === place.line ? "here" : "" }, number, `${code}\n`);
  }));
}

function knownLines(picture, place) {
  const lines = new Map();
  for (let i = 0; i < picture.facts.place_table.length; i += 1) {
    const other = picture.place(i);
    const near = Math.abs(other.line - place.line) <= AROUND;
    if (near && other.code && other.file === place.file) lines.set(other.line, other.code);
  }
  lines.set(place.line, place.code);
  return [...lines].sort((a, b) => a[0] - b[0]);
}

export function placeBlock(picture, title, place) {
  if (!place) return null;
  const where = place.line ? `${fileName(place.file)}:${place.line}` : fileName(place.file);
  return make("section", {}, make("h5", {}, title),
    make("p", { class: "place-line" }, make("code", { title: place.file }, where),
      place.inFunction ? ` in ${place.inFunction}` : ""),
    excerpt(picture, place));
}

export function nodeList(picture, title, nodes, go, most = 12) {
  if (!nodes.length) return null;
  const shown = nodes.slice(0, most).map((node) => make("li", {}, nodeLink(picture, node, go),
    make("span", { class: "beside" }, ` ${picture.text("label", node)}`)));
  if (nodes.length > most) shown.push(make("li", { class: "beside" }, `and ${counted(nodes.length - most, "other")}`));
  return make("section", {}, make("h5", {}, title), make("ul", { class: "node-list" }, ...shown));
}
