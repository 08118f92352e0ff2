//! A state with restricted fields and items, inside each other.

use crate::model::model;
use playerthree_rooms_state::{List, Map, State, ViewMap};

#[derive(State)]
pub(crate) struct Note {
    text: String,
    #[state(view = 2)]
    signature: Option<String>,
}

model!(Note { field text, field signature = 2 });

#[derive(State)]
pub(crate) struct Stats {
    speed: u8,
    #[state(view)]
    luck: String,
}

model!(Stats { field speed, field luck = 0 });

#[derive(State)]
pub(crate) struct Unit {
    hp: u8,
    #[state(view)]
    orders: String,
    #[state(view = 1)]
    plan: Option<Stats>,
    stats: Stats,
    #[state(view = 1)]
    route: List<String>,
    notes: ViewMap<Note>,
}

model!(Unit { field hp, field orders = 0, field plan = 1, field stats, field route = 1, field notes });

#[derive(State)]
pub(crate) struct World {
    open: u8,
    #[state(view)]
    seed: String,
    units: ViewMap<Unit>,
    towns: Map<Unit>,
    hands: ViewMap<String>,
    line: List<Unit>,
}

model!(World { field open, field seed = 0, field units, field towns, field hands, field line });
