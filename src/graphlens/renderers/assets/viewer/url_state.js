// What a reader sees, in the fragment of the address: so that it can be kept, sent, reloaded.

const LATER = 200;

// "#graph-2?sel=5&at=10,20,1.5" as its anchor and its parts.
export function readState() {
  const [anchor, query = ""] = location.hash.slice(1).split("?");
  return { anchor, parts: new URLSearchParams(query) };
}

export function stateOf(viewer) {
  const { scene, camera, search } = viewer;
  const parts = new URLSearchParams();
  if (viewer.number) parts.set("body", String(viewer.number));
  parts.set("open", [...scene.tree.open].sort((a, b) => a - b).join(","));
  if (scene.selected !== null) parts.set("sel", `${scene.selected}${scene.copy ? `.${scene.copy}` : ""}`);
  parts.set("at", [Math.round(camera.x), Math.round(camera.y), Number(camera.zoom.toPrecision(3))].join(","));
  if (search.query) parts.set("q", search.query);
  if (scene.colouring.key !== "family") parts.set("by", scene.colouring.key);
  return parts.toString().replaceAll("%2C", ",");
}

// Sets what the parts say and leaves the rest; numbers that fit nothing are ignored.
export function restoreState(viewer, parts) {
  const { scene, camera } = viewer;
  const { picture } = scene.tree;
  const numbers = (name) => (parts.get(name) || "").split(/[,.]/).filter(Boolean).map(Number);
  if (parts.has("open")) {
    scene.tree.open = new Set(numbers("open").filter((c) => Number.isInteger(c) && c >= 0 && c < picture.clusters.length));
  }
  const [id, copy = 0] = numbers("sel");
  if (Number.isInteger(id) && id >= 0 && id < picture.boxes.length + picture.clusters.length) {
    scene.selected = id;
    scene.copy = Number.isInteger(copy) && copy >= 0 && copy < scene.tree.boxOf(id).count ? copy : 0;
    scene.tree.reveal(id);
  }
  const by = scene.colourings.find((one) => one.key === parts.get("by"));
  if (by) scene.colouring = by;
  const at = (parts.get("at") || "").split(",").map(Number);
  if (at.length === 3 && at.every(Number.isFinite) && at[2] > 0) {
    [camera.x, camera.y, camera.zoom] = at;
    return true;
  }
  return false;
}

let waiting = 0;

export function writeState(viewer) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    history.replaceState(null, "", `#${viewer.anchor}?${stateOf(viewer)}`);
  }, LATER);
}
