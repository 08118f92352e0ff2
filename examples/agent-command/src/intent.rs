//! From an intent's JSON to a command. Only the shape is read here; `command` judges whether it is allowed.

use crate::kinds::Kind;
use crate::map::{Point, Tile};
use crate::world::Id;
use serde_json::Value;

/// Most units named in one intent.
pub(crate) const MAX_UNITS: usize = 32;

/// What a seat asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    Move { units: Vec<Id>, to: Point },
    Advance { units: Vec<Id>, to: Point },
    Attack { units: Vec<Id>, target: Id },
    Stop { units: Vec<Id> },
    Gather { units: Vec<Id>, patch: usize },
    Build { unit: Id, building: Kind, site: Tile },
    Produce { building: Id, unit: Kind },
}

impl Intent {
    /// The command of an intent, or nothing when it does not have the manifest's shape.
    pub(crate) fn read(intent: &Value) -> Option<Self> {
        let point = || Some(Point { x: coordinate(intent, "x")?, y: coordinate(intent, "y")? });
        Some(match intent.get("kind")?.as_str()? {
            "move" => Self::Move { units: units(intent)?, to: point()? },
            "advance" => Self::Advance { units: units(intent)?, to: point()? },
            "attack" => Self::Attack { units: units(intent)?, target: id(intent.get("target")?)? },
            "stop" => Self::Stop { units: units(intent)? },
            "gather" => Self::Gather { units: units(intent)?, patch: patch(intent.get("patch")?)? },
            "build" => Self::Build {
                unit: id(intent.get("unit")?)?,
                building: Kind::building_from_name(intent.get("building")?.as_str()?)?,
                site: Tile { x: coordinate(intent, "col")?, y: coordinate(intent, "row")? },
            },
            "produce" => Self::Produce {
                building: id(intent.get("building")?)?,
                unit: Kind::unit_from_name(intent.get("unit")?.as_str()?)?,
            },
            _ => return None,
        })
    }
}

/// The named units without repetition, in the order given.
fn units(intent: &Value) -> Option<Vec<Id>> {
    let list = intent.get("units")?.as_array()?;
    let mut units = Vec::with_capacity(list.len().min(MAX_UNITS));
    for entry in list.iter().take(MAX_UNITS) {
        let unit = id(entry)?;
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    Some(units)
}

fn id(value: &Value) -> Option<Id> {
    value.as_str()?.strip_prefix("e_")?.parse().ok()
}

fn patch(value: &Value) -> Option<usize> {
    value.as_str()?.strip_prefix("p_")?.parse().ok()
}

fn coordinate(intent: &Value, name: &str) -> Option<i32> {
    i32::try_from(intent.get(name)?.as_i64()?).ok()
}
