/** What hands do on the canvas, as a few meanings: a point, a drag, an order, a pan, a zoom, a hover. */

import type { Place } from "./scene.js";

/** How somebody pointed: with the shift key, by touch, and twice in a row or long, which means all of a kind. */
export interface Touch {
  readonly touch: boolean;
  readonly add: boolean;
  readonly allOfKind: boolean;
}

/** A drag with the first button or one finger. */
export interface Drag {
  readonly from: Place;
  readonly last: Place;
  readonly to: Place;
  readonly add: boolean;
  readonly phase: "going" | "done" | "given up";
}

/** Places are pixels of the canvas. */
export interface Meanings {
  point(at: Place, how: Touch): void;
  /** An order, by the second button. */
  order(at: Place): void;
  drag(drag: Drag): void;
  pan(dx: number, dy: number): void;
  zoom(at: Place, factor: number): void;
  /** The place under the mouse, nothing once it left. */
  hover(at: Place | undefined): void;
}

/** Shorter drags are clicks, in pixels. */
const CLICK = 7;
/** Two clicks this near in time and place are a double click, in milliseconds and pixels. */
const DOUBLE_MS = 350;
const DOUBLE = 24;
/** A finger that rests this long means all of a kind, in milliseconds. */
const LONG_MS = 550;

interface Pressed {
  readonly start: Place;
  last: Place;
  readonly button: number;
  readonly touch: boolean;
  /** Runs until a resting finger is a long press. */
  readonly long: ReturnType<typeof setTimeout> | undefined;
  /** It became something else than a click. */
  spent: boolean;
}

/** Follows the pointers of the canvas. */
export function followHands(canvas: HTMLCanvasElement, meanings: Meanings): void {
  const down = new Map<number, Pressed>();
  let clicked: { readonly at: Place; readonly time: number } | undefined;
  const place = (event: MouseEvent): Place => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    const at = place(event);
    if (event.pointerType === "mouse" && event.button === 2) return meanings.order(at);
    canvas.setPointerCapture(event.pointerId);
    const touch = event.pointerType !== "mouse";
    const hold = () => {
      const hand = down.get(event.pointerId);
      if (!hand || hand.spent) return;
      hand.spent = true;
      meanings.point(at, { touch, add: false, allOfKind: true });
    };
    const long = touch ? setTimeout(hold, LONG_MS) : undefined;
    down.set(event.pointerId, { start: at, last: at, button: event.button, touch, long, spent: false });
    // A second finger makes both a pinch, whatever the first was about.
    if (down.size > 1) for (const hand of down.values()) hand.spent = true;
    if (down.size > 1) meanings.drag({ from: at, last: at, to: at, add: false, phase: "given up" });
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    const hand = down.get(event.pointerId);
    if (!hand) return meanings.hover(at);
    if (down.size > 1) pinch(event.pointerId, at);
    else if (hand.button === 1) meanings.pan(at.x - hand.last.x, at.y - hand.last.y);
    else if (!hand.spent && isFar(hand.start, at)) {
      clearTimeout(hand.long);
      meanings.drag({ from: hand.start, last: hand.last, to: at, add: event.shiftKey, phase: "going" });
    }
    hand.last = at;
  });

  const up = (event: PointerEvent) => {
    const hand = down.get(event.pointerId);
    down.delete(event.pointerId);
    clearTimeout(hand?.long);
    if (!hand || hand.spent || hand.button !== 0) return;
    const at = place(event);
    const drag = { from: hand.start, last: hand.last, to: at, add: event.shiftKey };
    const isDrag = isFar(hand.start, at);
    if (event.type === "pointercancel" || !isDrag) meanings.drag({ ...drag, phase: "given up" });
    if (event.type === "pointercancel") return;
    if (isDrag) meanings.drag({ ...drag, phase: "done" });
    else click(event, at, hand.touch);
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

  function click(event: PointerEvent, at: Place, touch: boolean): void {
    const isSecond = clicked && event.timeStamp - clicked.time < DOUBLE_MS && Math.hypot(clicked.at.x - at.x, clicked.at.y - at.y) < DOUBLE;
    clicked = isSecond ? undefined : { at, time: event.timeStamp };
    meanings.point(at, { touch, add: event.shiftKey, allOfKind: isSecond === true });
  }

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

function isFar(from: Place, to: Place): boolean {
  return Math.hypot(to.x - from.x, to.y - from.y) > CLICK;
}
