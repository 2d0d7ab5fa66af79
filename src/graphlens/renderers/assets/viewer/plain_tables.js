// Tables that are in the page already: headings sort, and long ones get a filter. Without this
// script they are plain tables.

import { grouped, make } from "./dom.js";

const FILTERED_FROM = 8;

export function enhanceTables() {
  for (const table of document.querySelectorAll("table.list")) enhanceTable(table);
}

function enhanceTable(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 2) return;
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const name = cell.textContent;
    const sort = make("button", { type: "button", class: "sort", onclick: () => sortRows(table, rows, column) }, name);
    cell.replaceChildren(sort);
  });
  if (rows.length >= FILTERED_FROM) addFilter(table, rows);
}

function sortRows(table, rows, column) {
  const heads = [...table.tHead.rows[0].cells];
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const text = (row) => row.cells[column].textContent.trim();
  const sorted = [...rows].sort((a, b) => {
    const order = compareTexts(text(a), text(b));
    return (down ? -order : order) || rows.indexOf(a) - rows.indexOf(b);
  });
  table.tBodies[0].append(...sorted);
}

const UNITS = { ns: 1e-9, "µs": 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

// Numbers with their units by size, all else by letters; what is empty or unknown last.
function compareTexts(a, b) {
  const [x, y] = [leadingNumber(a), leadingNumber(b)];
  if (x !== null && y !== null) return x - y;
  const rank = (text, number) => (number !== null ? 0 : text === "" || text === "?" ? 2 : 1);
  return rank(a, x) - rank(b, y) || a.localeCompare(b, "en", { numeric: true });
}

function leadingNumber(text) {
  const found = /^([+-]?[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w/:])\s*([A-Za-zµ]+)?/i.exec(text);
  if (!found) return null;
  return Number(found[1].replaceAll(",", "")) * (UNITS[found[2]] || 1);
}

function addFilter(table, rows) {
  const scroll = table.closest(".scroll");
  const name = scroll.getAttribute("aria-label") || "table";
  const status = make("span", { class: "table-status", role: "status" }, `${grouped(rows.length)} rows`);
  const box = make("input", { type: "search", placeholder: "filter", "aria-label": `Filter: ${name}` });
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    status.textContent = words.length ? `${grouped(shown)} of ${grouped(rows.length)} rows` : `${grouped(rows.length)} rows`;
  });
  scroll.before(make("div", { class: "table-bar" }, box, status));
}
