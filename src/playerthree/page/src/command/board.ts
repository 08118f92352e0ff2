/** The screen of agent-command: views in, the map and everything around it out, and what hands and keys do with it. */

import { el, fill, say } from "../dom.js";
import type { Board, BoardContext } from "../match.js";
import { Chronicle, mood, tell, type Moment } from "./chronicle.js";
import { Commander, describe } from "./commander.js";
import { Gauges } from "./gauges.js";
import { followHands, type Drag, type Touch } from "./gestures.js";
import { isOver, type Hand, type Mark } from "./hand.js";
import { help } from "./help.js";
import { wish, type Wish } from "./keys.js";
import { Minimap } from "./minimap.js";
import { Orders } from "./orders.js";
import { overview } from "./overview.js";
import { inspect, members, Panel } from "./panel.js";
import { siteProblem } from "./placement.js";
import { SceneReader, tileOf, type Place, type RawView, type Scene, type Standing } from "./scene.js";
import { Score, summary, type Report } from "./score.js";
import { Stage } from "./stage.js";
import { Timeline } from "./timeline.js";

/** Rings on the map at one time. */
const MARKS = 8;
/** Between two sentences that a screen reader is given unasked, in milliseconds. */
const SENTENCE_MS = 4_000;
/** How long the camera stays where something happens, at least, while it follows the action, in milliseconds. */
const SHOT_MS = 5_000;
/** How near a click has to be to a unit, in pixels of the page, and within which bounds in points. */
const CLICK_REACH = 16;
const NEAREST_REACH = 60;
const FARTHEST_REACH = 110;

export function commandBoard(context: BoardContext): Board {
  const board = new CommandBoard(context);
  return { element: board.element, aside: board.aside, close: () => board.close() };
}

/** Selecting and ordering belong to players; everybody else looks. */
class CommandBoard {
  readonly #context: BoardContext;
  readonly #plays: boolean;
  readonly #waiting = el("p", { class: "overlay", role: "status" }, "Waiting for the first picture…");
  readonly #spoken = el("p", { class: "spoken", role: "status", "aria-live": "polite" });
  readonly #inspected = el("p", { class: "chosen", role: "status" });
  readonly #end = el("div", { class: "end" });
  readonly #follower = el(
    "button",
    { type: "button", class: "small", "aria-label": "Follow the action", title: "Follow the action", "aria-pressed": "false" },
    "◎",
  );
  readonly #score = new Score();
  readonly #gauges: Gauges;
  readonly #commander: Commander;
  readonly #panel: Panel;
  readonly #minimap: Minimap;
  readonly #timeline = new Timeline((moment) => this.#lookAt(moment));
  #chronicle = new Chronicle();
  readonly #reader: SceneReader;
  readonly #stage: Stage;
  readonly element: HTMLElement;
  readonly aside: HTMLElement;
  #scene: Scene | undefined;
  #goals: ReadonlyMap<string, Place> = new Map();
  #hover: Place | undefined;
  #box: Hand["box"];
  #cursor: Place | undefined;
  #marks: Mark[] = [];
  #saidAt = 0;
  #follows = false;
  #followedAt = 0;
  #isOver = false;

  constructor(context: BoardContext) {
    this.#context = context;
    this.#plays = context.welcome.seat !== undefined;
    const observes = context.side === undefined;
    this.#reader = new SceneReader(Object.values(context.welcome.alliances ?? {}));
    this.#gauges = new Gauges(!observes && this.#score.element);
    this.#commander = new Commander(new Orders(context), this.#plays, {
      changed: () => this.#show(),
      ordered: (at, meaning) => this.#mark(at, meaning),
    });
    this.#minimap = new Minimap({
      look: (at) => (this.#stage.camera.centre(at), this.#stage.redraw()),
      order: (at) => this.#commander.order(at),
    });
    this.#panel = new Panel(this.#commander, context.connection, this.#minimap.element, (building) => {
      this.#commander.select([building]);
      this.#stage.look(building);
    });
    const label = { role: "application", "aria-label": "Map", "aria-describedby": "map-help" };
    this.#stage = new Stage(label, () => this.#hand(), (now) => this.#drew(now));
    this.element = this.#layOut();
    this.aside = el(
      "div",
      { class: "column" },
      this.#end,
      this.#plays ? this.#panel.element : this.#overview(observes),
      this.#timeline.element,
    );
    this.#listen();
    this.#follower.addEventListener("click", () => this.#followAction(!this.#follows));
    this.#follow(context);
  }

  close(): void {
    this.#stage.close();
  }

  #layOut(): HTMLElement {
    const button = (text: string, label: string, click: () => void) =>
      el("button", { type: "button", class: "small", "aria-label": label, title: label, click }, text);
    const zooms = el(
      "div",
      { class: "zooms" },
      button("+", "Zoom in", () => this.#zoom(1.5)),
      button("−", "Zoom out", () => this.#zoom(1 / 1.5)),
      button("⤢", "Whole map", () => this.#act({ kind: "all" })),
      !this.#plays && this.#follower,
    );
    return el(
      "section",
      { class: "board command" },
      this.#gauges.element,
      el("div", { class: "mapframe" }, this.#stage.canvas, this.#waiting, zooms),
      this.#timeline.strip,
      help(this.#plays),
      this.#spoken,
    );
  }

  /** What those see beside the map who do not play; an observer is told what every side owns. */
  #overview(observes: boolean): HTMLElement {
    const told = el("div", {}, observes && this.#score.element, this.#inspected);
    return el("section", { class: "card overview", "aria-label": "Overview" }, this.#minimap.element, told);
  }

  #follow({ connection, side, acted }: BoardContext): void {
    if (side === undefined) {
      connection.observer.onFrame((frame) => {
        const view = frame.world as unknown as RawView;
        this.#take(view);
        const of = ({ side: team, controllers }: Standing) =>
          Object.entries(controllers).map(([role, controller]) => ({ team, role, controller }));
        acted(view.sides.flatMap(of));
      });
      connection.observer.watch();
      return;
    }
    const stream = connection.view<RawView>(side);
    if (stream?.view) this.#take(stream.view);
    stream?.onChange((view) => view && this.#take(view));
    connection.on("seats", () => this.#show());
  }

  #take(view: RawView): void {
    const scene = this.#reader.read(view);
    if (!scene) return;
    // An observer may change over to other eyes, which know another past.
    const isFirst = this.#scene === undefined || this.#scene.side !== scene.side;
    if (isFirst) this.#chronicle = new Chronicle();
    this.#scene = scene;
    this.#commander.take(scene);
    this.#goals = this.#commander.orders.goals(scene);
    this.#stage.take(scene);
    const home = scene.buildings.find((building) => building.side === scene.side);
    if (isFirst && this.#plays && home) this.#stage.begin(home);
    this.#waiting.hidden = true;
    const now = performance.now();
    for (const moment of this.#chronicle.take(scene)) this.#announce(moment, now, isFirst);
    this.#score.draw(scene);
    this.#timeline.draw(scene, this.#chronicle);
    this.#minimap.draw(scene, this.#stage.sight, this.#stage.camera, now);
    this.#show();
    void this.#finish(scene);
  }

  /** Draws what follows from the selection and the view, but for the map itself. */
  #show(): void {
    const scene = this.#scene;
    if (!scene) return;
    this.#gauges.draw(scene);
    if (this.#plays) this.#panel.draw(scene);
    else say(this.#inspected, inspect(scene, this.#commander) ?? "");
    this.#stage.canvas.dataset.mode = this.#commander.mode?.kind ?? "";
    this.#stage.redraw();
  }

  #drew(now: number): void {
    if (this.#marks.some((mark) => isOver(mark, now))) this.#marks = this.#marks.filter((mark) => !isOver(mark, now));
    this.#minimap.follow(this.#stage.camera, now);
  }

  /** Alarms on the small map, and a sentence for a screen reader now and then. What was before one came is no news. */
  #announce(moment: Moment, now: number, isOld: boolean): void {
    if (isOld) return;
    if (this.#follows && moment.at && moment.kind !== "produced" && now > this.#followedAt + SHOT_MS) {
      this.#followedAt = now;
      this.#lookAt(moment);
    }
    if (moment.at && mood(moment.kind) === "bad") this.#minimap.alarm(moment.at, now);
    if (moment.kind === "produced" || now < this.#saidAt + SENTENCE_MS) return;
    this.#saidAt = now;
    say(this.#spoken, tell(moment));
  }

  /** Once the watched side is final, or for an observer all are, shows what it came to. */
  async #finish(scene: Scene): Promise<void> {
    const running = scene.sides.filter(({ side, outcome }) => outcome === "running" && (scene.side ?? side) === side);
    if (this.#isOver || running.length > 0) return;
    this.#isOver = true;
    if (scene.side === undefined) return fill(this.#end, summary(scene.sides));
    if (!this.#plays) return;
    // A connection that ends first has no report, and a page without one misses nothing else.
    const { report } = await this.#context.connection.report<Report>().catch(() => ({ report: undefined }));
    if (report) fill(this.#end, summary([report]));
  }

  #listen(): void {
    const { canvas, camera } = this.#stage;
    followHands(canvas, {
      point: (at, how) => this.#point(camera.toMap(at), { ...how, proposes: how.touch }),
      order: (at) => this.#commander.order(camera.toMap(at)),
      drag: (drag) => this.#drag(drag),
      pan: (dx, dy) => (camera.pan(dx, dy), this.#stage.redraw()),
      zoom: (at, factor) => (camera.zoomAt(at, factor), this.#stage.redraw()),
      hover: (at) => {
        this.#hover = at && camera.toMap(at);
        if (this.#commander.mode) this.#stage.redraw();
      },
    });
    canvas.addEventListener("keydown", (event) => {
      const wanted = wish(event);
      if (!wanted || !this.#scene) return;
      event.preventDefault();
      this.#act(wanted);
    });
    // Whoever pressed a button with the mouse goes on with the keys of the map.
    this.aside.addEventListener("click", (event) => {
      const isByMouse = event instanceof PointerEvent && event.pointerType === "mouse" && event.detail > 0;
      if (isByMouse && this.#panel.element.contains(event.target as Node)) canvas.focus({ preventScroll: true });
    });
    canvas.addEventListener("blur", () => ((this.#cursor = undefined), this.#stage.redraw()));
  }

  #point(at: Place, how: Touch & { readonly proposes: boolean }): void {
    const { camera } = this.#stage;
    const reach = Math.min(FARTHEST_REACH, Math.max(NEAREST_REACH, CLICK_REACH / camera.scale));
    this.#commander.point(at, { ...how, reach, shows: (place) => camera.shows(place) });
  }

  /** Looks at whatever happens, until a hand takes the map. */
  #followAction(follows: boolean): void {
    this.#follows = follows;
    this.#followedAt = 0;
    this.#follower.setAttribute("aria-pressed", String(follows));
    if (follows) this.#act({ kind: "newest" });
  }

  /** A player's drag is a box; others have nothing to select and move the map. */
  #drag({ from, last, to, add, phase }: Drag): void {
    const { camera } = this.#stage;
    if (!this.#plays) {
      if (this.#follows) this.#followAction(false);
      if (phase !== "given up") camera.pan(to.x - last.x, to.y - last.y);
    } else {
      const box = { from: camera.toMap(from), to: camera.toMap(to) };
      this.#box = phase === "going" ? box : undefined;
      if (phase === "done") this.#commander.box(box.from, box.to, add);
    }
    this.#stage.redraw();
  }

  #act(wanted: Wish): void {
    const scene = this.#scene;
    if (!scene) return;
    const commander = this.#commander;
    if (wanted.kind === "step") this.#step(scene, wanted.dx, wanted.dy);
    else if (wanted.kind === "use") this.#point(this.#crosshair(scene), { touch: true, add: wanted.add, allOfKind: false, proposes: false });
    else if (wanted.kind === "zoom") this.#zoom(wanted.factor);
    else if (wanted.kind === "all") this.#stage.camera.showAll();
    else if (wanted.kind === "cancel") commander.cancel();
    else if (wanted.kind === "advance") commander.begin({ kind: "advance" });
    else if (wanted.kind === "stop") commander.stop();
    else if (wanted.kind === "store") commander.selection.store(wanted.digit);
    else if (wanted.kind === "recall") this.#recall(scene, wanted.digit);
    else if (wanted.kind === "army") commander.select(members(scene, commander.orders.mine(scene), "army"));
    else if (wanted.kind === "idle") this.#reveal(commander.nextIdle());
    else if (wanted.kind === "home") this.#reveal(scene.buildings.find(({ side }) => side === scene.side));
    else if (wanted.kind === "newest") this.#lookAt([...this.#chronicle.moments].reverse().find(({ at }) => at));
    else say(this.#spoken, overview(scene, this.#commander));
    this.#stage.redraw();
  }

  /** The place that the keyboard means. */
  #crosshair(scene: Scene): Place {
    const middle = (Math.floor(scene.map.size / 2) + 0.5) * scene.map.tile;
    return this.#cursor ?? this.#commander.units()[0] ?? { x: middle, y: middle };
  }

  #step(scene: Scene, dx: number, dy: number): void {
    const { size, tile } = scene.map;
    const { col, row } = tileOf(scene.map, this.#crosshair(scene));
    const within = (value: number) => (Math.min(size - 1, Math.max(0, value)) + 0.5) * tile;
    this.#cursor = { x: within(col + dx), y: within(row + dy) };
    this.#stage.camera.reveal(this.#cursor);
    const mode = this.#commander.mode;
    const site = tileOf(scene.map, this.#cursor);
    const problem = mode?.kind === "build" ? (siteProblem(scene, site.col, site.row) ?? "May be built here.") : "";
    say(this.#spoken, `${describe(scene, this.#cursor)}. ${problem}`.trim());
  }

  #recall(scene: Scene, digit: string): void {
    if (!this.#commander.selection.recall(digit, scene)) return;
    this.#show();
    this.#reveal(this.#commander.units()[0]);
  }

  /** Shows a place that is not on the screen, and puts the crosshair there where there is one. */
  #reveal(at: Place | undefined): void {
    if (!at) return;
    if (this.#cursor) this.#cursor = at;
    if (!this.#stage.camera.shows(at)) this.#stage.look(at);
  }

  #lookAt(moment: Moment | undefined): void {
    if (!moment?.at) return;
    this.#stage.look(moment.at);
    this.#addMark({ at: moment.at, since: performance.now(), kind: "look" });
  }

  #mark(at: Place, kind: "order" | "attack"): void {
    this.#addMark({ at, since: performance.now(), kind });
  }

  #addMark(mark: Mark): void {
    this.#marks = [...this.#marks, mark].slice(-MARKS);
    this.#stage.redraw();
  }

  #zoom(factor: number): void {
    const { camera, canvas } = this.#stage;
    const middle = canvas.clientWidth / 2;
    camera.zoomAt(this.#cursor ? camera.toScreen(this.#cursor) : { x: middle, y: middle }, factor);
    this.#stage.redraw();
  }

  #hand(): Hand {
    const ghost = this.#ghost();
    return {
      selected: this.#commander.selection.ids,
      goals: this.#goals,
      rallies: this.#commander.rallies.places,
      marks: this.#marks,
      ...(this.#box && { box: this.#box }),
      ...(this.#cursor && { cursor: this.#cursor }),
      ...(ghost && { ghost }),
    };
  }

  #ghost(): Hand["ghost"] {
    const { mode } = this.#commander;
    const at = this.#hover ?? this.#cursor;
    if (mode?.kind !== "build" || !this.#scene) return undefined;
    const site = mode.site ?? (at && tileOf(this.#scene.map, at));
    if (!site) return undefined;
    const { col, row } = site;
    return { kind: mode.building, col, row, isLegal: siteProblem(this.#scene, col, row) === undefined };
  }
}
