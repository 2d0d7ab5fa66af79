// Starts everything: a viewer for each graph when its section is opened, tables, and code.

import { make, replaceContent } from "./dom.js";
import { unpack } from "./payload.js";
import { enhanceTables } from "./plain_tables.js";
import { loadTheme } from "./theme.js";
import { readState } from "./url_state.js";
import { Viewer } from "./viewer.js";

const started = new Map();

async function start(holder, parts) {
  const anchor = holder.dataset.anchor;
  if (started.has(anchor)) return started.get(anchor);
  started.set(anchor, null);
  try {
    const payload = await unpack(document.getElementById(holder.dataset.payload));
    const viewer = new Viewer(holder, payload, anchor, parts);
    started.set(anchor, viewer);
    holder.dataset.ready = "yes";
    offerCode(holder, payload);
    return viewer;
  } catch (error) {
    replaceContent(holder, make("p", { class: "viewer-failed", role: "alert" }, error.message));
    throw error;
  }
}

// Programs are put into the page when they are asked for: they can be megabytes.
function offerCode(holder, payload) {
  const places = holder.parentElement.querySelectorAll("details.code[data-code]");
  for (const details of places) {
    const fill = () => {
      const [, text] = payload.code[Number(details.dataset.code)];
      const code = details.querySelector("pre > code");
      if (details.open && !code.textContent) code.textContent = text;
    };
    details.addEventListener("toggle", fill);
    fill();
  }
}

function watch(holder) {
  const section = holder.closest("details.graph");
  const begin = () => start(holder, emptyParts());
  if (!section) {
    begin();
    return;
  }
  section.addEventListener("toggle", () => section.open && begin());
  if (section.open) begin();
}

function emptyParts() {
  return new URLSearchParams();
}

// Opens the graph that the address names, in the state that it names.
async function goToAddress() {
  const { anchor, parts } = readState();
  const holder = [...document.querySelectorAll(".viewer")].find((one) => one.dataset.anchor === anchor);
  if (!holder) return;
  const known = started.get(anchor);
  const begun = known ? null : start(holder, parts);
  const section = holder.closest("details.graph");
  if (section) section.open = true;
  document.getElementById(anchor).scrollIntoView();
  if (begun) await begun;
  else if ([...parts].length) known.showPicture(Number(parts.get("body")) || 0, parts);
}

function run() {
  loadTheme();
  goToAddress();
  for (const holder of document.querySelectorAll(".viewer")) watch(holder);
  enhanceTables();
  addEventListener("hashchange", goToAddress);
}

run();
