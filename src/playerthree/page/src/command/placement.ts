/** Where a building may stand, as far as the side can tell; the game has the last word. */

import type { Kind, Scene } from "./scene.js";

/** Why a building may not stand on a tile; nothing if it may. */
export function siteProblem({ map, buildings }: Scene, col: number, row: number): string | undefined {
  if (map.terrain[row]?.[col] !== ".") return "There is rock in the way.";
  const isNear = (place: { readonly x: number; readonly y: number }) =>
    Math.max(Math.abs(Math.floor(place.x / map.tile) - col), Math.abs(Math.floor(place.y / map.tile) - row)) <= 1;
  if (map.patchPlaces.some(isNear)) return "That is too close to alloy.";
  return buildings.some(isNear) ? "That is too close to another building." : undefined;
}

/** Why a kind cannot be made now, in a few words; nothing if it can. */
export function obstacle(scene: Scene, kind: Kind): string | undefined {
  const works = (name: string) =>
    scene.buildings.some((one) => one.side === scene.side && one.kind === name && one.done >= 100);
  if (kind.maker !== undefined && !works(kind.maker)) return `Needs ${withArticle(kind.maker)}`;
  if (kind.requires !== undefined && !works(kind.requires)) return `Needs a working ${kind.requires}`;
  const [alloy, energy] = [kind.alloy - (scene.alloy ?? 0), kind.energy - (scene.energy ?? 0)];
  if (alloy > 0) return `${alloy} alloy short`;
  return energy > 0 ? `${energy} energy short` : undefined;
}

/** What a kind is good for, for somebody who plays for the first time. */
export function purpose(scene: Scene, kind: Kind): string {
  if (kind.speed > 0) return `Made in ${withArticle(kind.maker ?? "building")}. ${weapon(kind)}`;
  const makes = scene.map.kinds.filter((other) => other.maker === kind.kind).map((other) => `${other.kind}s`);
  const allows = scene.map.kinds.filter((other) => other.requires === kind.kind).map((other) => other.kind);
  const parts = [makes.length > 0 && `makes ${makes.join(" and ")}`, allows.length > 0 && `needed for ${allows.join(", ")}`];
  return ["Built by a worker", ...parts.filter((part) => part !== false)].join("; ") + `. ${weapon(kind)}`;
}

function weapon(kind: Kind): string {
  return kind.damage > 0 ? `${kind.hp} hit points, ${kind.damage} damage.` : `${kind.hp} hit points, unarmed.`;
}

function withArticle(name: string): string {
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}
