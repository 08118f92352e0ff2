//! The built-in opponents: one way of playing per role, and a doctrine per tier that says how well.
//!
//! A bot sees what its seat sees, acts through the same intents, and draws no randomness.

mod air;
mod ask;
mod economy;
mod ground;
mod plan;
mod requests;
mod sense;

use crate::kinds::{Kind, Role};
use playerthree_game::{Bot, Seat};
use sense::{MatchData, Observation, OwnBuilding};
use serde::Deserialize;
use serde_json::{Value, json};

/// How a tier plays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doctrine {
    /// Workers to have.
    pub(crate) workers: usize,
    /// Factories to have.
    pub(crate) factories: usize,
    /// Reactors to have.
    pub(crate) reactors: usize,
    /// Turrets to have.
    pub(crate) turrets: usize,
    /// Idle fighters that start an attack.
    pub(crate) group: usize,
    /// As many once the match has lasted long, so that equal sides come to an end.
    pub(crate) late_group: usize,
    /// Soldiers per tank; zero makes no tanks.
    pub(crate) soldiers_per_tank: usize,
    /// Gunships that start an attack; zero makes none.
    pub(crate) wing: usize,
    /// Ticks between two looks at the field.
    pub(crate) pause: u64,
    /// How far from the base an enemy is met, in points; zero never comes back to defend.
    pub(crate) guard: i64,
    /// Ticks between two requests to a fellow commander; zero asks for nothing.
    pub(crate) talk: u64,
}

const RECRUIT: Doctrine = Doctrine {
    workers: 5,
    factories: 1,
    reactors: 0,
    turrets: 0,
    group: 2,
    late_group: 5,
    soldiers_per_tank: 0,
    wing: 0,
    pause: 60,
    guard: 0,
    talk: 0,
};
const VETERAN: Doctrine = Doctrine {
    workers: 8,
    factories: 2,
    reactors: 1,
    turrets: 0,
    group: 5,
    late_group: 5,
    soldiers_per_tank: 0,
    wing: 2,
    pause: 20,
    guard: 1000,
    talk: 300,
};
const COMMANDER: Doctrine = Doctrine {
    workers: 14,
    factories: 4,
    reactors: 1,
    turrets: 0,
    group: 16,
    late_group: 16,
    soldiers_per_tank: 6,
    wing: 4,
    pause: 4,
    guard: 1300,
    talk: 300,
};

/// The bot of a tier for a seat.
pub(crate) fn create(seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
    let doctrine = match opponent {
        "recruit" => RECRUIT,
        "veteran" => VETERAN,
        "commander" => COMMANDER,
        _ => return None,
    };
    let role = Role::from_name(&seat.role)?;
    Some(Box::new(Commander { role, doctrine, data: MatchData::default(), wake: 0, quiet_until: 0 }))
}

struct Commander {
    role: Role,
    doctrine: Doctrine,
    data: MatchData,
    /// The tick of the next look.
    wake: u64,
    /// The tick of the next request, if there is one then.
    quiet_until: u64,
}

impl Bot for Commander {
    fn init(&mut self, match_data: &Value) {
        self.data = MatchData::deserialize(match_data).unwrap_or_default();
    }

    fn next_think(&self) -> u64 {
        self.wake
    }

    fn think(&mut self, observation: &Value) -> Vec<Value> {
        let tick = observation.get("tick").and_then(Value::as_u64).unwrap_or(0);
        if tick < self.wake {
            return Vec::new();
        }
        self.wake = tick + self.doctrine.pause;
        let Ok(observation) = Observation::deserialize(observation) else { return Vec::new() };
        let mut intents = match self.role {
            Role::Economy => economy::think(&self.doctrine, &self.data, &observation),
            Role::Ground => ground::think(&self.doctrine, &self.data, &observation),
            Role::Air => air::think(&self.doctrine, &self.data, &observation),
        };
        // Last, so that what a teammate asked for prevails over the bot's own plan.
        intents.extend(requests::answer(self.role, &observation));
        if self.doctrine.talk > 0 && tick >= self.quiet_until {
            let request = ask::ask(self.role, &self.doctrine, &self.data, &observation);
            self.quiet_until = request.as_ref().map_or(tick, |_| tick + self.doctrine.talk);
            intents.extend(request);
        }
        intents
    }
}

/// An intent that orders one unit of a building.
fn produce(maker: &OwnBuilding, kind: Kind) -> Value {
    json!({ "kind": "produce", "building": maker.id, "unit": kind.name() })
}

/// An intent that sends these units to a place.
fn send(kind: &str, units: &[&str], to: sense::Spot) -> Value {
    json!({ "kind": kind, "units": units, "x": to.x, "y": to.y })
}
