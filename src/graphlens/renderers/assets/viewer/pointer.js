// Mouse, pen and fingers on the canvas: drag pans, the wheel and two fingers zoom, a click
// selects a box, opens a closed module, and closes an open one by its headline.

import { HEADER } from "./text.js";

const STILL = 4;

export function listenToPointer(canvas, camera, scene, actions) {
  const fingers = new Map();
  let travelled = 0;

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (fingers.size === 1) travelled = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) {
      hover(canvas, camera, scene, event);
      return;
    }
    const now = [event.clientX, event.clientY];
    if (fingers.size === 1) {
      travelled += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      camera.panBy(now[0] - before[0], now[1] - before[1]);
    } else if (fingers.size === 2) {
      travelled = Infinity;
      pinch(canvas, camera, fingers, event.pointerId, now);
    }
    fingers.set(event.pointerId, now);
    if (travelled >= STILL) actions.moved();
  });
  const lift = (event) => {
    const wasDown = fingers.delete(event.pointerId);
    if (wasDown && event.type === "pointerup" && travelled < STILL) click(canvas, camera, scene, actions, event);
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("wheel", (event) => {
    // Without a key held, the wheel zooms only once the picture is in use: the page scrolls on.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const [x, y] = onCanvas(canvas, event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    camera.zoomAt(x, y, Math.exp(-event.deltaY * lines * 0.0015));
    actions.moved();
  }, { passive: false });
}

function onCanvas(canvas, event) {
  const bounds = canvas.getBoundingClientRect();
  return [event.clientX - bounds.left, event.clientY - bounds.top];
}

function pinch(canvas, camera, fingers, moving, now) {
  const [other] = [...fingers].filter(([id]) => id !== moving).map(([, place]) => place);
  const before = fingers.get(moving);
  const apart = (a, b) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
  const bounds = canvas.getBoundingClientRect();
  const middle = [(now[0] + other[0]) / 2 - bounds.left, (now[1] + other[1]) / 2 - bounds.top];
  camera.zoomAt(middle[0], middle[1], apart(now, other) / apart(before, other));
  camera.panBy((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
}

// The box or open module at a place; the innermost.
export function idAt(scene, x, y) {
  const inside = ({ x: left, y: top, width, height }) => x >= left && x <= left + width && y >= top && y <= top + height;
  for (const id of scene.view.ids) {
    if (inside(scene.layout.rects.get(id))) return id;
  }
  let found = null;
  for (const cluster of scene.view.opened) {
    const id = scene.tree.idOf(cluster);
    if (inside(scene.layout.rects.get(id))) found = id;
  }
  return found;
}

function click(canvas, camera, scene, actions, event) {
  const [x, y] = camera.toPicture(...onCanvas(canvas, event));
  const id = idAt(scene, x, y);
  if (id === null || !scene.tree.isCluster(id)) {
    actions.select(id);
    return;
  }
  const rect = scene.layout.rects.get(id);
  const onHeadline = y - rect.y <= Math.max(HEADER, 14 / camera.zoom);
  actions.select(id);
  if (!scene.tree.isOpen(id) || onHeadline) actions.toggle(id);
}

function hover(canvas, camera, scene, event) {
  const [x, y] = camera.toPicture(...onCanvas(canvas, event));
  const id = idAt(scene, x, y);
  canvas.classList.toggle("on-box", id !== null);
  const box = id === null ? null : scene.tree.boxOf(id);
  const title = box ? [box.label, box.caption, box.value, box.place].filter(Boolean).join(" · ") : "";
  if (canvas.title !== title) canvas.title = title;
}
