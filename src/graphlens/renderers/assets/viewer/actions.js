// What keys, mouse, outline, panel and toolbar may ask of a viewer.

import { writeState } from "./url_state.js";

export function viewerActions(viewer) {
  return {
    select: (id, show = false) => viewer.select(id, show),
    toggle: (id) => viewer.toggle(id),
    toggleSelected: () => viewer.scene.selected !== null && viewer.scene.tree.isCluster(viewer.scene.selected) && viewer.toggle(viewer.scene.selected),
    pick: (copy) => viewer.pick(copy),
    goTo: (node) => viewer.goTo(node),
    showKernel: (number) => viewer.kernels.show(number),
    follow: (what) => viewer.follow(what),
    moved: () => viewer.moved(),
    fit: () => { viewer.camera.fit(viewer.scene.layout); viewer.moved(); },
    zoom: (factor) => { viewer.camera.zoomAt(viewer.camera.width / 2, viewer.camera.height / 2, factor); viewer.moved(); },
    openAll: (open) => viewer.openAll(open),
    search: (query) => { viewer.setSearch(query); viewer.changed(); },
    nextHit: (by) => viewer.nextHit(by),
    colourBy: (key) => { viewer.scene.colouring = viewer.scene.colourings.find((one) => one.key === key); viewer.relayout(); viewer.changed(); },
    showPicture: (number) => { viewer.showPicture(number); writeState(viewer); },
    focusSearch: () => viewer.toolbar.field.focus(),
    focusCanvas: () => viewer.canvas.focus({ preventScroll: true }),
  };
}
