/** The demo of room state: many dots that the server moves, drawn from what the SDK has decoded. */

import { Client, type Room } from "@colyseus/sdk";
import { el, say } from "./dom.js";
import type { Screen } from "./main.js";

/** The state of the room `dots`, as the SDK learns it from the server. */
interface Field {
  readonly dots: Map<string, { readonly x: number; readonly y: number; readonly hue: number }>;
  readonly onlookers: number;
}

/** The side of the square in which dots move. */
const SIDE = 1000;
const RADIUS = 9;

export function dotsScreen(): Screen {
  const canvas = el("canvas", { class: "dots", width: SIDE, height: SIDE, role: "img", "aria-label": "Moving dots" });
  const news = el("p", { class: "note", role: "status" }, "Joining…");
  const title = el("h1", {}, "Dots");
  const text = "The server moves the dots. Click, and one of them is yours.";
  const element = el("section", { class: "dots-screen" }, title, el("p", { class: "lead" }, text), canvas, news);
  let room: Room<unknown, Field> | undefined;
  let closed = false;
  let frame = 0;
  const draw = () => {
    frame = requestAnimationFrame(draw);
    // The first state comes a moment after the join.
    if (!room?.state?.dots) return;
    paint(canvas, room.state, room.sessionId);
    say(news, `${room.state.dots.size} dots, ${room.state.onlookers} looking on`);
  };
  canvas.addEventListener("pointerdown", ({ offsetX, offsetY }) => {
    // On the border an offset is outside.
    const within = (offset: number) => Math.max(0, Math.min(SIDE, (offset * SIDE) / canvas.clientWidth));
    room?.send("put", { x: within(offsetX), y: within(offsetY) });
  });
  void new Client(location.origin).joinOrCreate<Field>("dots").then(
    (joined) => {
      if (closed) return void joined.leave();
      room = joined as unknown as Room<unknown, Field>;
      room.onLeave(() => {
        cancelAnimationFrame(frame);
        room = undefined;
        say(news, "The room has closed. Reload the page to join again.");
      });
      frame = requestAnimationFrame(draw);
    },
    () => say(news, "The dots cannot be reached."),
  );
  return {
    element,
    close() {
      closed = true;
      cancelAnimationFrame(frame);
      void room?.leave();
    },
  };
}

function paint(canvas: HTMLCanvasElement, { dots }: Field, own: string): void {
  const brush = canvas.getContext("2d");
  if (!brush) return;
  brush.clearRect(0, 0, SIDE, SIDE);
  for (const [key, { x, y, hue }] of dots) {
    brush.beginPath();
    brush.arc(x, y, key === own ? 2 * RADIUS : RADIUS, 0, 2 * Math.PI);
    brush.fillStyle = `hsl(${hue * 2} 70% 50%)`;
    brush.fill();
  }
}
