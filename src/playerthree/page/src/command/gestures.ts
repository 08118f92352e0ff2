/** What hands do on the canvas, as a few meanings: a point, a box, an order, a pan, a zoom, a hover. */

import type { Place } from "./camera.js";

export interface Meanings {
  /** A click or tap; `add` with the shift key. */
  point(at: Place, how: { readonly touch: boolean; readonly add: boolean }): void;
  /** An order, by the second button. */
  order(at: Place): void;
  /** A drag so far; `done` when it ended. */
  box(from: Place, to: Place, how: { readonly done: boolean; readonly add: boolean }): void;
  pan(dx: number, dy: number): void;
  zoom(at: Place, factor: number): void;
  /** The place under the mouse, nothing once it left. */
  hover(at: Place | undefined): void;
}

/** Shorter drags are clicks, in pixels. */
const CLICK = 7;

/** Follows the pointers of the canvas. Places are pixels of it. */
export function followHands(canvas: HTMLCanvasElement, meanings: Meanings): void {
  const down = new Map<number, { start: Place; last: Place; button: number; touch: boolean }>();
  let pinched = false;
  const place = (event: MouseEvent): Place => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    const at = place(event);
    if (event.pointerType === "mouse" && event.button === 2) return meanings.order(at);
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, { start: at, last: at, button: event.button, touch: event.pointerType !== "mouse" });
    pinched ||= down.size > 1;
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    const hand = down.get(event.pointerId);
    if (!hand) return meanings.hover(at);
    if (down.size > 1) pinch(event.pointerId, at);
    else if (hand.button === 1) meanings.pan(at.x - hand.last.x, at.y - hand.last.y);
    else if (!pinched && far(hand.start, at)) meanings.box(hand.start, at, { done: false, add: event.shiftKey });
    hand.last = at;
  });

  const up = (event: PointerEvent) => {
    const hand = down.get(event.pointerId);
    down.delete(event.pointerId);
    const wasPinched = pinched;
    if (down.size === 0) pinched = false;
    if (!hand || wasPinched || hand.button !== 0) return;
    const at = place(event);
    const add = event.shiftKey;
    if (event.type === "pointercancel" || !far(hand.start, at)) meanings.box(at, at, { done: false, add });
    if (event.type === "pointercancel") return;
    if (far(hand.start, at)) meanings.box(hand.start, at, { done: true, add });
    else meanings.point(at, { touch: hand.touch, add });
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => meanings.hover(undefined));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      meanings.zoom(place(event), Math.exp(-event.deltaY / 400));
    },
    { passive: false },
  );

  /** Two fingers pan with their middle and zoom with their distance. */
  function pinch(moved: number, at: Place): void {
    const [one, other] = [...down.entries()];
    if (!one || !other) return;
    const hand = down.get(moved);
    const still = (moved === one[0] ? other : one)[1].last;
    if (!hand) return;
    const before = Math.hypot(hand.last.x - still.x, hand.last.y - still.y);
    const after = Math.hypot(at.x - still.x, at.y - still.y);
    meanings.pan((at.x - hand.last.x) / 2, (at.y - hand.last.y) / 2);
    if (before > 0) meanings.zoom({ x: (at.x + still.x) / 2, y: (at.y + still.y) / 2 }, after / before);
  }
}

function far(from: Place, to: Place): boolean {
  return Math.hypot(to.x - from.x, to.y - from.y) > CLICK;
}
