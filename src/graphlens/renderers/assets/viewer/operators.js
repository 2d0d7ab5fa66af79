// All nodes of a picture as a table; a click on a name selects its box.

import { fileName, memoryText } from "./dom.js";
import { VirtualTable } from "./virtual_table.js";

export function operatorTable(picture, overlays, chosen) {
  const names = picture.facts.name;
  const tensors = (node, what) => picture.tensors(node).map((tensor) => tensor[what]).join(", ");
  const place = (node) => {
    const found = picture.source(node);
    return found ? `${fileName(found.file)}:${found.line}` : "";
  };
  const columns = [
    { name: "node", text: (node) => names[node], css: "c-node" },
    { name: "#", text: (node) => String(node), number: (node) => node, css: "c-number" },
    { name: "operator", text: (node) => picture.text("role", node) || picture.text("label", node), css: "c-operator" },
    { name: "arguments", text: (node) => picture.argumentText(node) || picture.text("origin", node), css: "c-arguments" },
    { name: "shape", text: (node) => tensors(node, "shape") || picture.text("value", node), css: "c-shape" },
    { name: "dtype", text: (node) => tensors(node, "dtype"), css: "c-dtype" },
    {
      name: "memory", css: "c-number",
      text: (node) => (picture.bytes(node) === null ? "" : memoryText(picture.bytes(node))),
      number: (node) => picture.bytes(node),
    },
    { name: "line", text: place, css: "c-line" },
    { name: "module", text: (node) => (picture.module(node) || { path: "" }).path, css: "c-module" },
    ...overlays.map((overlay) => overlayColumn(names, overlay)),
  ];
  const nodes = Array.from({ length: picture.count }, (_, node) => node);
  const used = columns.filter((column) => nodes.some((node) => column.text(node) !== ""));
  return new VirtualTable(picture.count, used, `Operators of ${picture.title}`, chosen);
}

function overlayColumn(names, overlay) {
  const { numbers, words = {} } = overlay;
  const text = (node) => {
    if (Object.hasOwn(words, names[node])) return words[names[node]];
    return numbers && Object.hasOwn(numbers, names[node]) ? String(numbers[names[node]]) : "";
  };
  const number = numbers ? (node) => (Object.hasOwn(numbers, names[node]) ? numbers[names[node]] : null) : undefined;
  return { name: overlay.title, text, number, css: "" };
}
