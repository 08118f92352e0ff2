//! Carrying out orders: who walks where, who stops to fight.

use super::combat::nearest_target;
use super::spotting::Spotted;
use crate::kinds::TILE;
use crate::map::Point;
use crate::world::{Order, Unit, World};

/// How much farther than its range an advancing unit notices an enemy, in points.
const ALERT: i32 = 2 * TILE;

impl World {
    /// Gives every unit its tick of work. Another side goes first every tick, so that none profits from its place.
    pub(super) fn carry_out_orders(&mut self) {
        let spotted = self.spotted_by_each_party();
        let sides = self.sides.len();
        let first = usize::try_from(self.tick % sides as u64).unwrap_or(0);
        for side in (first..sides).chain(0..first) {
            let enemies = &spotted[self.sides[side].party];
            for unit in 0..self.sides[side].units.len() {
                self.carry_out(side, unit, enemies);
            }
        }
    }

    fn carry_out(&mut self, side: usize, unit: usize, enemies: &[Spotted]) {
        match self.sides[side].units[unit].order {
            Order::Idle => {}
            Order::Move(goal) => self.go(side, unit, goal),
            Order::Advance(goal) => self.advance((side, unit), goal, enemies),
            Order::Attack { target, seen } => self.pursue((side, unit), target, seen, enemies),
            Order::Gather { patch, stage } => self.gather(side, unit, patch, stage),
            Order::Build { kind, site, reserve } => self.construct((side, unit), kind, site, reserve),
        }
    }

    /// Moves on, and rests at the goal.
    fn go(&mut self, side: usize, unit: usize, goal: Point) {
        self.walk(side, unit, goal);
        let unit = &mut self.sides[side].units[unit];
        if unit.at == goal {
            unit.order = Order::Idle;
        }
    }

    fn advance(&mut self, (side, unit): (usize, usize), goal: Point, enemies: &[Spotted]) {
        match nearest_threat(&self.sides[side].units[unit], enemies) {
            Some((_, true)) => {}
            Some((enemy, false)) => self.walk(side, unit, self.map.nearest_free(enemy)),
            None => self.go(side, unit, goal),
        }
    }

    /// Follows the target while it is in sight, then goes to where it was last seen.
    fn pursue(&mut self, (side, unit): (usize, usize), target: u32, seen: Point, enemies: &[Spotted]) {
        let Some(at) = enemies.iter().find(|enemy| enemy.id == target).map(|enemy| enemy.at) else {
            self.sides[side].units[unit].order = Order::Advance(self.map.nearest_free(seen));
            return;
        };
        self.sides[side].units[unit].order = Order::Attack { target, seen: at };
        let range = self.sides[side].units[unit].kind.stats().weapon.map_or(TILE, |weapon| weapon.range);
        if !self.sides[side].units[unit].at.is_within(at, range) {
            self.walk(side, unit, self.map.nearest_free(at));
        }
    }

    /// One tick of movement: air units fly straight, ground units go around rocks.
    pub(super) fn walk(&mut self, side: usize, unit: usize, goal: Point) {
        let unit = &mut self.sides[side].units[unit];
        let stats = unit.kind.stats();
        unit.at = if stats.flies() {
            unit.at.towards(goal, stats.speed)
        } else {
            self.map.walk(unit.at, goal, stats.speed)
        };
    }
}

/// The nearest enemy that an armed unit would leave its way for, and whether it is in range already.
fn nearest_threat(unit: &Unit, enemies: &[Spotted]) -> Option<(Point, bool)> {
    let weapon = unit.kind.stats().weapon?;
    let enemy = nearest_target(enemies, unit.at, weapon.range + ALERT, weapon)?;
    Some((enemy.at, unit.at.is_within(enemy.at, weapon.range)))
}
