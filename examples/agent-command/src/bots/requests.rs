//! How a bot answers its fellow commander: it takes what its units can do, says so, and says when it is done.

use super::send;
use super::sense::{Observation, OwnUnit, Request, Spot};
use crate::kinds::{Kind, Role};
use serde_json::{Value, json};

/// A request is met once a unit is as near to its place as this, in points.
const THERE: i64 = 400;

pub(super) fn answer(role: Role, observation: &Observation) -> Vec<Value> {
    let open = observation.signals.inbox.iter().filter(|request| request.is_open_to(role));
    open.flat_map(|request| answer_one(role, observation, request)).collect()
}

fn answer_one(role: Role, observation: &Observation, request: &Request) -> Vec<Value> {
    let update = |update: &str| json!({ "kind": "signal_update", "id": request.id, "update": update });
    let taken = request.state == "working";
    if let Some(building) = request.building.as_deref() {
        return match (observation.has(building), taken) {
            (true, true) => vec![update("done")],
            (true, false) => vec![update("decline")],
            (false, true) => Vec::new(),
            // The economy builds it when it can; see `wanted`.
            (false, false) => vec![update("ack")],
        };
    }
    let (units, order) = able(role, observation, &request.kind);
    let Some(place) = request.place().filter(|_| !units.is_empty()) else {
        return vec![update(if taken { "fail" } else { "decline" })];
    };
    if taken {
        let there = units.iter().any(|unit| unit.at().is_within(place, THERE));
        return if there { vec![update("done")] } else { Vec::new() };
    }
    let ids: Vec<&str> = units.iter().map(|unit| &*unit.id).take(crate::intent::MAX_UNITS).collect();
    vec![update("ack"), send(order, &ids, place)]
}

/// The building that a teammate waits for and that does not stand yet.
pub(super) fn wanted(observation: &Observation) -> Option<Kind> {
    let taken = observation.signals.inbox.iter().filter(|request| request.state == "working");
    let mut kinds = taken.filter_map(|request| Kind::building_from_name(request.building.as_deref()?));
    kinds.find(|kind| observation.count_buildings(kind.name()) == 0)
}

/// The units that can meet a request of this kind, and how they are sent.
fn able<'a>(role: Role, observation: &'a Observation, kind: &str) -> (Vec<&'a OwnUnit>, &'static str) {
    match (kind, role) {
        ("look", Role::Air) => (observation.units("scout").take(1).collect(), "move"),
        ("strike" | "guard", Role::Air) => (observation.units("gunship").collect(), "advance"),
        ("strike" | "guard", Role::Ground) => (observation.ground.units.iter().collect(), "advance"),
        _ => (Vec::new(), "move"),
    }
}

impl Request {
    /// Whether anything may still come of it.
    pub(super) fn is_open(&self) -> bool {
        matches!(&*self.state, "submitted" | "working")
    }

    /// Whether the role can still answer it: a broadcast is no longer anybody's once another has taken it.
    fn is_open_to(&self, role: Role) -> bool {
        match &*self.state {
            "submitted" => true,
            "working" => self.by.as_deref() == Some(role.name()),
            _ => false,
        }
    }

    fn place(&self) -> Option<Spot> {
        Some(Spot { x: self.x?, y: self.y? })
    }
}
