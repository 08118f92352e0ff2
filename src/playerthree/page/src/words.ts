/** What the page says in human words: errors, games, seats, modes. */

import { MatchMakeError, ServerError } from "@colyseus/sdk";
import { PlayerThreeError, type Controller, type Seat } from "playerthree-client";

const OPERATION: { readonly [code: string]: string } = {
  bad_message: "The server did not understand that request.",
  forbidden: "That seat is not yours.",
  invalid: "The server refused that: a value is out of range.",
  mode_unavailable: "This game does not offer that.",
  out_of_scope: "That seat may not do this.",
  rate_limited: "Too fast. Give it a second.",
  busy: "The server is busy with your last request.",
  approval_not_found: "That approval is no longer open.",
  approval_pending: "Another approval has to be decided first.",
  approval_failed: "The policy failed its trial, so nothing was changed.",
  not_in_match: "This side has finished playing.",
  internal: "Something went wrong on the server.",
  timeout: "The server did not answer in time.",
  closed: "The connection ended before the answer came.",
  protocol: "The server answered in a way this page does not understand.",
};

/** Why a game refused an intent. */
const REFUSALS: { readonly [code: string]: string } = {
  not_your_turn: "It is not your turn.",
  occupied: "That square is taken.",
  out_of_bounds: "That square is outside the board.",
  over: "The game is over.",
  game_over: "The game is over.",
  no_units: "Select units first.",
  no_such_unit: "That unit is gone.",
  wrong_role: "Your seat does not command that unit.",
  off_map: "That place is outside the map.",
  no_such_target: "That target is out of sight.",
  unarmed: "Those units carry no weapon.",
  not_a_worker: "Only workers can do that.",
  no_such_patch: "There is no alloy there.",
  blocked: "Something stands in the way there.",
  cap_reached: "Your side has as many units as it may have.",
  no_such_building: "That building is gone.",
  wrong_building: "That building cannot make this.",
  needs_building: "Another building must work before that.",
  queue_full: "That building's queue is full.",
  cannot_afford: "Not enough alloy or energy.",
  limit: "The mandate's limits forbid that.",
  out_of_play: "This side is out of play.",
  rate_limited: "Too many orders at once. Give it a second.",
};

const JOINS: { readonly [status: number]: string } = {
  400: "The server does not accept these options.",
  401: "Enter your name first.",
  503: "The server takes no more matches right now. Try again in a moment.",
  520: "This server does not know that game.",
  521: "No match has a seat that fits.",
  522: "This match is full or does not exist any more.",
  523: "The match could not be started.",
  524: "The time to come back has passed.",
  525: "Your login has expired. Enter your name again.",
};

/** An error as a sentence. */
export function explain(error: unknown): string {
  if (error instanceof PlayerThreeError) return OPERATION[error.code] ?? "That did not work.";
  if (error instanceof ServerError || error instanceof MatchMakeError) {
    const known = JOINS[error.code];
    if (known) return known;
    return error.message ? `The match said no: ${error.message}.` : "The match said no.";
  }
  return "The server cannot be reached.";
}

/** Why an intent was refused. */
export function refusal(code: string): string {
  return REFUSALS[code] ?? "That order was refused.";
}

const CONTROLLERS: { readonly [controller in Controller]: string } = {
  human: "a person",
  agent: "an AI agent",
  policy: "an AI policy",
  bot: "a bot",
  none: "nobody",
};

/** Who acts for a seat. */
export function controllerName(controller: Controller): string {
  return CONTROLLERS[controller] ?? controller;
}

const MODES: { readonly [mode in Seat["mode"]]: string } = {
  live: "live",
  policy: "policy acting",
  bot: "bot acting",
  held: "waiting",
};

/** What acts for a seat right now. */
export function modeName(mode: Seat["mode"]): string {
  return MODES[mode] ?? mode;
}

/** What a game is called where only its id is known. */
export function gameTitle(id: string): string {
  return id === "tic-tac-toe" ? "Tic-tac-toe" : id === "agent-command" ? "Agent Command" : id;
}

/** Whether every side of a game sees everything, so that it does not matter whose view one watches. */
export function isOpen(game: string): boolean {
  return game === "tic-tac-toe";
}

const SCOPES: readonly (readonly [scope: string, label: string])[] = [
  ["act", "act"],
  ["policy", "deploy policies"],
  ["practice", "practise"],
  ["publish", "publish policies"],
  ["say", "answer me"],
];

/** The scopes that a game has (§6), in words. */
export function scopesOf(game: string): readonly (readonly [scope: string, label: string])[] {
  return isOpen(game) ? SCOPES.slice(0, 1) : SCOPES;
}

/** What an owner may want most of an agent in a game whose mandate says so (§7), in words. */
export function objectivesOf(game: string): readonly (readonly [objective: string, label: string])[] {
  if (game !== "agent-command") return [];
  return [
    ["balanced", "what it thinks best"],
    ["economy", "a strong economy"],
    ["attack", "an attack"],
    ["defend", "a defence"],
    ["scout", "scouting"],
  ];
}

/** The first letter large. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A span of milliseconds, roughly. */
export function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}
