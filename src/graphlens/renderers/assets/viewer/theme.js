// Colours: those of the SVG pictures, from the page's data block, light or dark as the system is.

const darkness = matchMedia("(prefers-color-scheme: dark)");
let known = null;

export function loadTheme() {
  known = JSON.parse(document.getElementById("viewer-style").textContent);
}

export function palette() {
  return darkness.matches ? known.dark : known.light;
}

export function families() {
  return known.families;
}

export function whenThemeChanges(action) {
  darkness.addEventListener("change", action);
}

// Of the selected box, of what feeds it and of what uses it; also told by dashes and widths.
export function marks() {
  return darkness.matches
    ? { selected: "#ffd24a", input: "#5fb8ff", output: "#ff9d5c", hit: "#ffd24a" }
    : { selected: "#b45f00", input: "#0b67c2", output: "#c2410c", hit: "#e0a100" };
}
