// Keys on the canvas: the same things that the mouse does.

const PAN_STEP = 60;

export function listenToKeys(canvas, camera, actions) {
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 5 : 1;
    const pan = (x, y) => {
      camera.panBy(x * PAN_STEP * far, y * PAN_STEP * far);
      actions.moved();
    };
    const zoom = (factor) => {
      camera.zoomAt(camera.width / 2, camera.height / 2, factor);
      actions.moved();
    };
    const keys = {
      ArrowLeft: () => pan(1, 0),
      ArrowRight: () => pan(-1, 0),
      ArrowUp: () => pan(0, 1),
      ArrowDown: () => pan(0, -1),
      PageUp: () => pan(0, 8),
      PageDown: () => pan(0, -8),
      "+": () => zoom(1.25),
      "=": () => zoom(1.25),
      "-": () => zoom(0.8),
      0: () => actions.fit(),
      "/": () => actions.focusSearch(),
      n: () => actions.nextHit(1),
      p: () => actions.nextHit(-1),
      i: () => actions.follow("inputs"),
      o: () => actions.follow("outputs"),
      Enter: () => actions.toggleSelected(),
      " ": () => actions.toggleSelected(),
      Escape: () => actions.select(null),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
