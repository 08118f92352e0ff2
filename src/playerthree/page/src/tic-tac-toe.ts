/** The board of tic-tac-toe: a grid of real buttons, for the hand, the keyboard and the screen reader. */

import type { Controller } from "playerthree-client";
import { el, fill, say, toast } from "./dom.js";
import type { Board, BoardContext } from "./match.js";
import { explain, refusal } from "./words.js";

/** The view of tic-tac-toe, which is the same for everybody. */
interface View {
  readonly rows: number;
  readonly cols: number;
  readonly winLength: number;
  readonly board: readonly string[];
  readonly turn: "x" | "o" | "none";
  readonly result: "running" | "x" | "o" | "draw";
  readonly last?: Square & { readonly side: string };
  readonly line: readonly Square[];
  readonly controllers: { readonly [side: string]: Controller };
}

interface Square {
  readonly row: number;
  readonly col: number;
}

const STEPS: { readonly [key: string]: readonly [rows: number, cols: number] } = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

export function ticTacToeBoard(context: BoardContext): Board {
  const game = new TicTacToe(context);
  return { element: game.element, close: () => {} };
}

class TicTacToe {
  readonly #status = el("p", { class: "turn", role: "status", "aria-live": "polite" }, "Waiting for the board…");
  readonly #grid = el("div", { class: "ttt", role: "grid", "aria-label": "Board" });
  readonly #resign = el("button", { type: "button", class: "small", hidden: true }, "Resign");
  readonly element = el("section", { class: "board" }, this.#status, this.#grid, el("div", { class: "row" }, this.#resign));
  readonly #context: BoardContext;
  #squares: HTMLButtonElement[] = [];
  #view: View | undefined;
  #sending = false;

  constructor(context: BoardContext) {
    this.#context = context;
    this.#grid.addEventListener("keydown", (event) => this.#walk(event));
    this.#resign.addEventListener("click", () => void this.#giveUp());
    const { connection, side } = context;
    const stream = side === undefined ? undefined : connection.view<View>(side);
    if (stream?.view) this.#draw(stream.view);
    stream?.onChange((view) => view && this.#draw(view));
    if (side !== undefined) return;
    connection.observer.onFrame((frame) => {
      const view = frame.world as unknown as View;
      this.#draw(view);
      context.acted(Object.entries(view.controllers).map(([team, controller]) => ({ team, role: "player", controller })));
    });
    connection.observer.watch();
  }

  get #mine(): string | undefined {
    return this.#context.welcome.seat?.team;
  }

  #draw(view: View): void {
    const resized = view.rows !== this.#view?.rows || view.cols !== this.#view?.cols;
    this.#view = view;
    if (resized) this.#layOut(view);
    for (const [index, square] of this.#squares.entries()) this.#drawSquare(square, Math.floor(index / view.cols), index % view.cols);
    say(this.#status, this.#sentence(view));
    this.element.dataset.turn = view.turn;
    this.#resign.hidden = this.#mine === undefined || view.result !== "running";
  }

  #layOut({ rows, cols }: View): void {
    this.#grid.style.setProperty("--rows", String(rows));
    this.#grid.style.setProperty("--cols", String(cols));
    this.#squares = [];
    const lines = Array.from({ length: rows }, (_, row) => {
      const squares = Array.from({ length: cols }, (_, col) => this.#square(row, col));
      this.#squares.push(...squares);
      return el("div", { class: "line", role: "row" }, ...squares.map((square) => el("div", { role: "gridcell" }, square)));
    });
    fill(this.#grid, ...lines);
    this.#squares[0]?.setAttribute("tabindex", "0");
  }

  #square(row: number, col: number): HTMLButtonElement {
    const square = el("button", { type: "button", class: "square", tabindex: -1, "data-square": `${row},${col}` });
    square.addEventListener("click", () => void this.#play(row, col));
    square.addEventListener("focus", () => {
      for (const other of this.#squares) other.tabIndex = other === square ? 0 : -1;
    });
    return square;
  }

  #drawSquare(square: HTMLButtonElement, row: number, col: number): void {
    const view = this.#view;
    if (!view) return;
    const mark = view.board[row]?.[col] ?? ".";
    const free = mark === ".";
    const is = (place: Square | undefined) => place?.row === row && place.col === col;
    square.dataset.mark = free ? "" : mark;
    square.classList.toggle("last", is(view.last));
    square.classList.toggle("won", view.line.some(is));
    // Never `disabled`: the keyboard walks over every square.
    square.setAttribute("aria-disabled", String(!free || !this.#myTurn));
    const what = free ? "free" : mark.toUpperCase();
    const more = view.line.some(is) ? ", in the winning line" : is(view.last) ? ", the last move" : "";
    square.setAttribute("aria-label", `Row ${row + 1}, column ${col + 1}: ${what}${more}`);
  }

  get #myTurn(): boolean {
    return this.#view?.result === "running" && this.#view.turn === this.#mine;
  }

  #sentence(view: View): string {
    const side = (mark: string) => mark.toUpperCase();
    if (view.result === "draw") return "Draw. Nobody wins.";
    if (view.result !== "running") return view.result === this.#mine ? "You win!" : this.#mine ? `${side(view.result)} wins. You lose.` : `${side(view.result)} wins.`;
    if (this.#mine === undefined) return `${side(view.turn)} to move.`;
    return this.#myTurn ? `Your turn. You are ${side(this.#mine)}.` : `Waiting for ${side(view.turn)}…`;
  }

  async #play(row: number, col: number): Promise<void> {
    if (!this.#myTurn || this.#view?.board[row]?.[col] !== ".") return;
    await this.#send({ kind: "move", row, col });
  }

  async #giveUp(): Promise<void> {
    if (this.#resign.dataset.sure === undefined) {
      this.#resign.dataset.sure = "";
      this.#resign.textContent = "Really resign?";
      setTimeout(() => {
        delete this.#resign.dataset.sure;
        this.#resign.textContent = "Resign";
      }, 4_000);
      return;
    }
    await this.#send({ kind: "resign" });
  }

  async #send(intent: object): Promise<void> {
    const seat = this.#context.welcome.seat;
    if (!seat || this.#sending) return;
    this.#sending = true;
    try {
      const [ack] = await this.#context.connection.seat(seat.role).act([intent]);
      if (ack && !ack.ok) toast(refusal(ack.gameCode ?? ack.code), "error");
    } catch (error) {
      toast(explain(error), "error");
    } finally {
      this.#sending = false;
    }
  }

  #walk(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    const view = this.#view;
    const at = this.#squares.findIndex((square) => square === document.activeElement);
    if (!step || !view || at < 0) return;
    event.preventDefault();
    const row = Math.min(view.rows - 1, Math.max(0, Math.floor(at / view.cols) + step[0]));
    const col = Math.min(view.cols - 1, Math.max(0, (at % view.cols) + step[1]));
    this.#squares[row * view.cols + col]?.focus();
  }
}
