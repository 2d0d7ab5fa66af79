// What boxes are coloured by: the kind of work, or numbers and words that the report has. Where
// it is not the kind, each box says its number too, so colour is never alone.

import { memoryText } from "./dom.js";
import { palette } from "./theme.js";

const LEVELS = 5;

// All that this graph can be coloured by; the kind of work first.
export function colourings(picture, overlays) {
  const found = [{ key: "family", title: "kind of work" }];
  found.push({
    key: "memory",
    title: "memory of results",
    number: (node) => (picture.isOperator(node) ? picture.bytes(node) : null),
    text: memoryText,
  });
  for (const overlay of overlays) found.push(fromOverlay(picture, overlay));
  return found.filter((one) => one.key === "family" || hasAny(picture, one));
}

function fromOverlay(picture, overlay) {
  const names = picture.facts.name;
  const { numbers = {}, words = {}, unit = "" } = overlay;
  return {
    key: overlay.key,
    title: overlay.title,
    number: (node) => (Object.hasOwn(numbers, names[node]) ? numbers[names[node]] : null),
    word: (node) => (Object.hasOwn(words, names[node]) ? words[names[node]] : null),
    text: (number) => `${Number(number.toPrecision(3))} ${unit}`.trim(),
  };
}

function hasAny(picture, colouring) {
  for (let node = 0; node < picture.count; node += 1) {
    if (colouring.number(node) !== null) return true;
    if (colouring.word && colouring.word(node) !== null) return true;
  }
  return false;
}

// The number of a box, of one where it stands for several; null where none is known.
function numberOf(colouring, box) {
  let sum = null;
  for (const node of box.nodes) {
    const number = colouring.number(node);
    if (number !== null) sum = (sum || 0) + number;
  }
  return sum === null ? null : sum / box.count;
}

function wordOf(colouring, box) {
  if (!colouring.word) return null;
  const marked = box.nodes.find((node) => colouring.word(node) !== null);
  return marked === undefined ? null : colouring.word(marked);
}

// Of each box shown its level of heat from 0 and the text of its row.
export function heats(colouring, boxes) {
  const found = new Map();
  if (colouring.key === "family") return found;
  const numbers = new Map([...boxes.values()].map((box) => [box.id, numberOf(colouring, box)]));
  const most = Math.max(0, ...numbers.values());
  for (const box of boxes.values()) {
    const word = wordOf(colouring, box);
    const number = numbers.get(box.id);
    if (word !== null) found.set(box.id, { level: LEVELS, text: word });
    else if (number === null) found.set(box.id, { level: 0, text: "" });
    else {
      const level = most ? Math.max(1, Math.ceil((LEVELS * number) / most)) : 1;
      const total = box.count > 1 ? ` each, ${colouring.text(number * box.count)}` : "";
      found.set(box.id, { level, text: `${colouring.text(number)}${total}` });
    }
  }
  return found;
}

// Fill, frame and badge of a box.
export function boxColours(box, heat) {
  const colours = palette();
  return heat ? colours.heats[heat.level] : colours.kinds[box.family];
}
