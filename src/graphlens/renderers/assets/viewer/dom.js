// Elements from tags, attributes and children. Texts go in as text nodes only, so that nothing
// of a report is ever read as markup. And the few ways in which numbers are written.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function replaceContent(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

export function button(text, title, action, attributes = {}) {
  const label = title || text;
  return make("button", { type: "button", title: label, "aria-label": label, onclick: action, ...attributes }, text);
}

// Looks like a link, acts like a button, and wraps like text, which buttons do not.
export function textButton(text, action, css = "") {
  const act = (event) => {
    event.preventDefault();
    action();
  };
  const short = text.length > 60 ? `${text.slice(0, 30)}…${text.slice(-29)}` : text;
  return make("a", { href: "#", role: "button", class: `node-link ${css}`.trim(), title: short === text ? null : text, onclick: act }, short);
}

export function grouped(number) {
  return number.toLocaleString("en-US");
}

export function counted(number, word, several = `${word}s`) {
  return `${grouped(number)} ${number === 1 ? word : several}`;
}

// 1,536 as "1.5 KiB": at most three digits that count.
export function memoryText(bytes) {
  let size = bytes;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (size < 1024 || unit === "GiB") return `${Number(size.toPrecision(3))} ${unit}`;
    size /= 1024;
  }
  return "";
}

export function fileName(path) {
  return path.replace(/\\/g, "/").split("/").pop();
}

export function placeText(place) {
  return place.line ? `${fileName(place.file)}:${place.line}` : fileName(place.file);
}
