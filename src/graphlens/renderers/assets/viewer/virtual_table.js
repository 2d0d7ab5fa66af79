// A table of any number of rows of which only those in sight are elements. It sorts by a click on
// a heading and is filtered by words.

import { counted, grouped, make, replaceContent, textButton } from "./dom.js";

const ROW = 26;
const MORE = 8;
const MEASURED = 300;
const WIDEST = 34;

// columns: {name, text(row), number(row)?, css?}; row numbers from 0 up to, without, count.
export class VirtualTable {
  constructor(count, columns, caption, chosen) {
    Object.assign(this, { count, columns, chosen, sorted: null, down: false, filter: "" });
    this.order = Array.from({ length: count }, (_, row) => row);
    this.head = make("tr", { "aria-rowindex": 1 });
    this.body = make("tbody");
    this.table = make("table", { class: "virtual", "aria-rowcount": count + 1 }, make("thead", {}, this.head), this.body);
    this.area = make("div", { class: "virtual-scroll", tabindex: 0, role: "region", "aria-label": caption }, this.table);
    this.status = make("span", { class: "table-status", role: "status" });
    this.box = make("input", { type: "search", placeholder: "filter", "aria-label": `Filter: ${caption}` });
    this.box.addEventListener("input", () => this.setFilter(this.box.value));
    this.area.addEventListener("scroll", () => this.draw());
    this.element = make("div", { class: "virtual-table" }, make("div", { class: "table-bar" }, this.box, this.status), this.area);
    new ResizeObserver(() => this.draw()).observe(this.area);
    this.table.prepend(make("colgroup", {}, ...columns.map((column) => this.column(column))));
    this.drawHead();
    this.arrange();
  }

  // Fixed widths, or columns would change as one scrolls: from some rows, evenly taken, without
  // the few longest texts.
  column(column) {
    const lengths = [];
    const step = Math.max(1, Math.floor(this.count / MEASURED));
    for (let row = 0; row < this.count; row += step) lengths.push(column.text(row).length);
    lengths.sort((a, b) => a - b);
    const usual = lengths[Math.floor(lengths.length * 0.9)] || 0;
    const element = make("col");
    element.style.width = `${Math.min(WIDEST, Math.max(column.name.length + 1, usual)) * 0.56 + 1.9}em`;
    return element;
  }

  drawHead() {
    replaceContent(this.head, ...this.columns.map((column, index) => {
      const isSorted = this.sorted === index;
      const sign = isSorted ? (this.down ? " ▾" : " ▴") : "";
      return make("th", { scope: "col", class: column.css, "aria-sort": isSorted ? (this.down ? "descending" : "ascending") : null },
        make("button", { type: "button", class: "sort", onclick: () => this.sortBy(index) }, `${column.name}${sign}`));
    }));
  }

  sortBy(index) {
    this.down = this.sorted === index ? !this.down : false;
    this.sorted = index;
    this.drawHead();
    this.arrange();
    this.head.children[index].firstChild.focus();
  }

  setFilter(text) {
    this.filter = text;
    this.arrange();
  }

  arrange() {
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    let rows = Array.from({ length: this.count }, (_, row) => row);
    if (words.length) {
      this.texts ||= rows.map((row) => this.columns.map((column) => column.text(row)).join("\n").toLowerCase());
      rows = rows.filter((row) => words.every((word) => this.texts[row].includes(word)));
    }
    if (this.sorted !== null) this.sort(rows, this.columns[this.sorted]);
    this.order = rows;
    const all = `${counted(this.count, "row")}`;
    this.status.textContent = words.length ? `${grouped(rows.length)} of ${all}` : all;
    this.table.setAttribute("aria-rowcount", String(rows.length + 1));
    this.area.scrollTop = 0;
    this.draw();
  }

  sort(rows, column) {
    const key = new Map(rows.map((row) => [row, column.number ? column.number(row) : column.text(row)]));
    const sign = this.down ? -1 : 1;
    rows.sort((a, b) => {
      const [x, y] = [key.get(a), key.get(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      const order = column.number ? x - y : x.localeCompare(y, "en", { numeric: true });
      return sign * order || a - b;
    });
  }

  draw() {
    const first = Math.max(0, Math.floor(this.area.scrollTop / ROW) - MORE);
    const last = Math.min(this.order.length, first + Math.ceil((this.area.clientHeight || 400) / ROW) + 2 * MORE);
    const filler = (rows) => {
      const row = make("tr", { class: "filler", "aria-hidden": "true" }, make("td", { colspan: this.columns.length }));
      row.firstChild.style.height = `${rows * ROW}px`;
      return row;
    };
    const rows = [];
    if (first > 0) rows.push(filler(first));
    for (let place = first; place < last; place += 1) rows.push(this.row(this.order[place], place));
    if (last < this.order.length) rows.push(filler(this.order.length - last));
    replaceContent(this.body, ...rows);
  }

  row(number, place) {
    const cells = this.columns.map((column, index) => {
      const text = column.text(number);
      const content = index === 0 && this.chosen
        ? textButton(text, () => this.chosen(number)) : text;
      return make(index ? "td" : "th", { class: column.css, title: text.length > 24 ? text : null, scope: index ? null : "row" }, content);
    });
    return make("tr", { "aria-rowindex": place + 2 }, ...cells);
  }
}
