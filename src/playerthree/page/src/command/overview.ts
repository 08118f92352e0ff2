/** How a side stands, in a sentence or two, for somebody who does not see the map. */

import type { Commander } from "./commander.js";
import { areEnemies, clock, tileOf, type Entity, type Scene } from "./scene.js";

export function overview(scene: Scene, commander: Commander): string {
  const { side } = scene;
  const left = `${clock(scene.map.maxTicks - scene.tick)} left.`;
  if (side === undefined) return `${scene.sides.map(({ side: one }) => `${one}: ${counted(of(scene, one))}.`).join(" ")} ${left}`;
  const enemies = [...scene.units, ...scene.buildings].filter((entity) => areEnemies(scene, side, entity.side));
  const [nearest] = enemies;
  const place = nearest && tileOf(scene.map, nearest);
  const seen = place ? `${counted(enemies)}, one at column ${place.col + 1}, row ${place.row + 1}` : "none";
  const idle = commander.orders.mine(scene).filter(({ order }) => order === "idle").length;
  const stock = `Alloy ${scene.alloy ?? 0}, energy ${scene.energy ?? 0}.`;
  return `${stock} Yours: ${counted(of(scene, side))}; ${idle} idle. Enemies in sight: ${seen}. ${left}`;
}

function of(scene: Scene, side: string): Entity[] {
  return [...scene.units, ...scene.buildings].filter((entity) => entity.side === side);
}

function counted(entities: readonly Entity[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of entities) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}${count > 1 ? "s" : ""}`).join(", ") || "nothing";
}
