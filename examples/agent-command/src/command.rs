//! Judging a command and carrying it out. Everything is checked before anything is changed, and no check looks at
//! what the side cannot see.

use crate::intent::Intent;
use crate::kinds::{Kind, MAX_BUILDINGS, MAX_QUEUE, Role, TILE};
use crate::map::{Point, Tile};
use crate::world::{Gathering, Id, Limits, Order, World};

/// Why a command is refused, as the manifest's error codes.
pub(crate) const ERRORS: [&str; 18] = [
    "malformed",
    "out_of_play",
    "no_units",
    "no_such_unit",
    "wrong_role",
    "off_map",
    "no_such_target",
    "unarmed",
    "not_a_worker",
    "no_such_patch",
    "blocked",
    "cap_reached",
    "no_such_building",
    "wrong_building",
    "queue_full",
    "needs_building",
    "cannot_afford",
    "limit",
];

/// Who commands: the side, the roles it may command, and the owner's restrictions if they bind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commander<'a> {
    pub(crate) side: usize,
    /// The role of the acting seat.
    pub(crate) role: Role,
    /// Every role that it may command.
    pub(crate) roles: &'a [Role],
    /// The seat's restrictions; none for the owner in person.
    pub(crate) limits: Limits,
}

type Refusal = &'static str;

impl World {
    /// Carries out a command, or says why not. A refused command changes nothing.
    pub(crate) fn command(&mut self, by: Commander<'_>, intent: &Intent) -> Result<(), Refusal> {
        if self.party_of(by.side).outcome.is_final() {
            return Err("out_of_play");
        }
        match intent {
            Intent::Move { units, to } => self.send(by, units, *to, Order::Move),
            Intent::Advance { units, to } => self.send(by, units, *to, Order::Advance),
            Intent::Attack { units, target } => self.attack(by, units, *target),
            Intent::Stop { units } => {
                let units = self.own_units(by, units)?;
                self.order_all(by.side, &units, Order::Idle);
                Ok(())
            }
            Intent::Gather { units, patch } => self.send_gathering(by, units, *patch),
            Intent::Build { unit, building, site } => self.send_building(by, *unit, *building, *site),
            Intent::Produce { building, unit } => self.enqueue(by, *building, *unit),
        }
    }

    /// The places of these units in the side's list, all of them commanded by this commander.
    fn own_units(&self, by: Commander<'_>, ids: &[Id]) -> Result<Vec<usize>, Refusal> {
        if ids.is_empty() {
            return Err("no_units");
        }
        let units = &self.sides[by.side].units;
        ids.iter()
            .map(|id| {
                let index = units.iter().position(|unit| unit.id == *id).ok_or("no_such_unit")?;
                let commanded = by.roles.contains(&units[index].kind.stats().role);
                commanded.then_some(index).ok_or("wrong_role")
            })
            .collect()
    }

    fn order_all(&mut self, side: usize, units: &[usize], order: Order) {
        for unit in units {
            self.sides[side].units[*unit].order = order;
        }
    }

    /// Sends units to a place, each to its own spot around it.
    fn send(
        &mut self,
        by: Commander<'_>,
        ids: &[Id],
        to: Point,
        order: fn(Point) -> Order,
    ) -> Result<(), Refusal> {
        let units = self.own_units(by, ids)?;
        if !self.map.contains(to.tile()) {
            return Err("off_map");
        }
        if order(to).is_offensive() {
            self.check_attackers(by, &units)?;
        }
        for (spot, unit) in (0..).zip(units) {
            let flies = self.sides[by.side].units[unit].kind.stats().flies();
            let goal = to.offset(spiral(spot), self.sides[by.side].corner);
            let goal = if flies { self.map.clamp(goal) } else { self.map.nearest_free(goal) };
            self.sides[by.side].units[unit].order = order(goal);
        }
        Ok(())
    }

    fn attack(&mut self, by: Commander<'_>, ids: &[Id], target: Id) -> Result<(), Refusal> {
        let units = self.own_units(by, ids)?;
        let seen = self.visible_enemy(by.side, target).ok_or("no_such_target")?;
        let armed = |unit: &usize| self.sides[by.side].units[*unit].kind.stats().weapon.is_some();
        if !units.iter().all(armed) {
            return Err("unarmed");
        }
        self.check_attackers(by, &units)?;
        self.order_all(by.side, &units, Order::Attack { target, seen });
        Ok(())
    }

    /// The mandate's `maxAttackers`, counted as if these units attacked already.
    fn check_attackers(&self, by: Commander<'_>, joining: &[usize]) -> Result<(), Refusal> {
        let Some(most) = by.limits.max_attackers else { return Ok(()) };
        let units = self.sides[by.side].units.iter().enumerate();
        let attackers = units.filter(|(index, unit)| {
            unit.kind.stats().role == by.role && (unit.order.is_offensive() || joining.contains(index))
        });
        if attackers.count() > most { Err("limit") } else { Ok(()) }
    }

    fn send_gathering(&mut self, by: Commander<'_>, ids: &[Id], patch: usize) -> Result<(), Refusal> {
        let units = self.own_units(by, ids)?;
        if patch >= self.patches.len() {
            return Err("no_such_patch");
        }
        let side = &mut self.sides[by.side];
        if units.iter().any(|unit| side.units[*unit].kind != Kind::Worker) {
            return Err("not_a_worker");
        }
        for unit in units {
            let stage = if side.units[unit].load > 0 { Gathering::Home } else { Gathering::Out };
            side.units[unit].order = Order::Gather { patch, stage };
        }
        Ok(())
    }

    fn send_building(&mut self, by: Commander<'_>, unit: Id, kind: Kind, site: Tile) -> Result<(), Refusal> {
        if by.limits.no_build {
            return Err("limit");
        }
        let units = self.own_units(by, &[unit])?;
        if !self.map.contains(site) {
            return Err("off_map");
        }
        let side = &self.sides[by.side];
        if units.iter().any(|unit| side.units[*unit].kind != Kind::Worker) {
            return Err("not_a_worker");
        }
        if side.buildings.len() >= MAX_BUILDINGS {
            return Err("cap_reached");
        }
        if !self.is_site_open(by.side, site) {
            return Err("blocked");
        }
        self.check_means(by, kind)?;
        let reserve = by.limits.reserve_alloy.unwrap_or(0);
        self.order_all(by.side, &units, Order::Build { kind, site, reserve });
        Ok(())
    }

    /// Whether the side has the technology and the stock for it.
    fn check_means(&self, by: Commander<'_>, kind: Kind) -> Result<(), Refusal> {
        let side = &self.sides[by.side];
        if !side.knows(kind) {
            return Err("needs_building");
        }
        let price = kind.stats();
        if side.alloy < price.alloy || side.energy < price.energy {
            return Err("cannot_afford");
        }
        let reserve = by.limits.reserve_alloy.unwrap_or(0);
        if side.alloy - price.alloy < reserve { Err("limit") } else { Ok(()) }
    }

    fn enqueue(&mut self, by: Commander<'_>, building: Id, kind: Kind) -> Result<(), Refusal> {
        let side = &self.sides[by.side];
        let index = side.buildings.iter().position(|other| other.id == building).ok_or("no_such_building")?;
        let maker = &side.buildings[index];
        if !by.roles.contains(&maker.kind.stats().role) {
            return Err("wrong_role");
        }
        if !maker.works() || kind.stats().maker != Some(maker.kind) {
            return Err("wrong_building");
        }
        if maker.queue.len() >= MAX_QUEUE {
            return Err("queue_full");
        }
        let role = kind.stats().role;
        if side.count(role) >= role.cap() {
            return Err("cap_reached");
        }
        self.check_means(by, kind)?;
        let side = &mut self.sides[by.side];
        side.pay(kind, 0);
        let maker = &mut side.buildings[index];
        if maker.queue.is_empty() {
            maker.remaining = kind.stats().ticks;
        }
        maker.queue.push_back(kind);
        Ok(())
    }
}

/// The `spot`-th place of a square spiral, half a tile from one to the next.
fn spiral(spot: i32) -> (i32, i32) {
    let (mut x, mut y) = (0, 0);
    let (mut dx, mut dy) = (1, 0);
    let (mut left, mut turns) = (1, 0);
    for _ in 0..spot {
        (x, y) = (x + dx, y + dy);
        left -= 1;
        if left == 0 {
            (dx, dy) = (-dy, dx);
            turns += 1;
            // Two sides of the spiral have each length.
            left = 1 + turns / 2;
        }
    }
    (x * TILE / 2, y * TILE / 2)
}
