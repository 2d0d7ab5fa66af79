// How wide texts are, how they are cut, and how large that makes boxes: as in box_size.py.

const FAMILY = 'Helvetica, Arial, "Liberation Sans", sans-serif';
export const LABEL_FONT = `bold 13px ${FAMILY}`;
export const TEXT_FONT = `11px ${FAMILY}`;
export const HEAD_FONT = `bold 12px ${FAMILY}`;
export const LINE = 15;
export const PADDING = 8;
export const BADGE = 20;
export const HEADER = 26;
const COLUMN_GAP = 14;
const NARROWEST = 84;

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();

export function textWidth(text, font) {
  let known = widths.get(font);
  if (!known) widths.set(font, (known = new Map()));
  let width = known.get(text);
  if (width === undefined) {
    ruler.font = font;
    width = Math.ceil(ruler.measureText(text).width);
    known.set(text, width);
  }
  return width;
}

export function even(width) {
  return Math.ceil(width / 2) * 2;
}

export function boxSize(box) {
  let last = textWidth(box.value, TEXT_FONT) + textWidth(box.place, TEXT_FONT);
  if (box.value && box.place) last += COLUMN_GAP;
  let inner = Math.max(textWidth(box.label, LABEL_FONT), last, textWidth(box.caption, TEXT_FONT));
  for (const row of box.rows) inner = Math.max(inner, textWidth(row.text, TEXT_FONT));
  const lines = 1 + (box.caption ? 1 : 0) + box.rows.length + (box.value || box.place ? 1 : 0);
  return {
    width: Math.max(NARROWEST, even(BADGE + 2 * PADDING + inner + 2)),
    height: 2 * PADDING - 3 + LINE * lines,
  };
}

export function headerWidth(label) {
  return textWidth(label, HEAD_FONT) + 44;
}

export function tagWidth(name) {
  return even(textWidth(name, TEXT_FONT) + 30);
}

// The end of a name tells it apart from others, so the middle goes.
export function shortMiddle(text, most) {
  if (text.length <= most) return text;
  const head = Math.floor(most / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - head - 1))}`;
}
