//! The options of a match (§3 `matchOptions`), with the defaults filled in and the bounds checked again.

use crate::map::{DEFAULT_SIZE, MAX_SIZE, MIN_SIZE};
use playerthree_game::CannotCreate;
use serde_json::Value;

/// Shortest, default and longest match, in ticks.
pub(crate) const MIN_TICKS: i64 = 100;
pub(crate) const DEFAULT_TICKS: i64 = 9_000;
pub(crate) const MAX_TICKS: i64 = 36_000;
/// Largest starting alloy or energy.
pub(crate) const MAX_START: i64 = 5_000;
pub(crate) const DEFAULT_ALLOY: i64 = 200;
pub(crate) const DEFAULT_ENERGY: i64 = 50;
/// Workers that a side starts with.
pub(crate) const DEFAULT_WORKERS: i64 = 4;
pub(crate) const MAX_WORKERS: i64 = 6;

/// The ways to signal that a match can allow, as the option names them.
pub(crate) const SIGNALLING: [&str; 3] = ["all", "one", "none"];

/// How freely teammates may signal in a match (§10 `signalLimits`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signalling {
    All,
    /// One open request of each commander.
    One,
    None,
}

impl Signalling {
    fn from_name(name: &str) -> Option<Self> {
        let place = SIGNALLING.iter().position(|other| *other == name)?;
        Some([Self::All, Self::One, Self::None][place])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// The seed of the map, when it is not the match's.
    pub(crate) map_seed: Option<u32>,
    pub(crate) signalling: Signalling,
    pub(crate) size: u8,
    pub(crate) max_ticks: u64,
    pub(crate) alloy: i32,
    pub(crate) energy: i32,
    pub(crate) workers: usize,
}

impl Options {
    pub(crate) fn read(options: Option<&Value>) -> Result<Self, CannotCreate> {
        let options = options.unwrap_or(&Value::Null);
        let start = options.get("start").unwrap_or(&Value::Null);
        let size =
            number(options, "size", i64::from(DEFAULT_SIZE), (i64::from(MIN_SIZE), i64::from(MAX_SIZE)))?;
        let max_ticks = number(options, "maxTicks", DEFAULT_TICKS, (MIN_TICKS, MAX_TICKS))?;
        let map_seed = match options.get("seed") {
            None => None,
            Some(seed) => Some(seed.as_u64().and_then(|seed| u32::try_from(seed).ok()).ok_or(OUT_OF_BOUNDS)?),
        };
        let signalling = match options.get("signals") {
            None => Signalling::All,
            Some(name) => name.as_str().and_then(Signalling::from_name).ok_or(OUT_OF_BOUNDS)?,
        };
        Ok(Self {
            map_seed,
            signalling,
            size: u8::try_from(size).map_err(|_| OUT_OF_BOUNDS)?,
            max_ticks: max_ticks.unsigned_abs(),
            alloy: stock(start, "alloy", DEFAULT_ALLOY)?,
            energy: stock(start, "energy", DEFAULT_ENERGY)?,
            workers: usize::try_from(number(start, "workers", DEFAULT_WORKERS, (1, MAX_WORKERS))?)
                .map_err(|_| OUT_OF_BOUNDS)?,
        })
    }
}

const OUT_OF_BOUNDS: CannotCreate = CannotCreate("a match option is out of its bounds");

fn number(from: &Value, name: &str, default: i64, (min, max): (i64, i64)) -> Result<i64, CannotCreate> {
    match from.get(name) {
        None => Ok(default),
        Some(value) => value.as_i64().filter(|n| (min..=max).contains(n)).ok_or(OUT_OF_BOUNDS),
    }
}

fn stock(start: &Value, name: &str, default: i64) -> Result<i32, CannotCreate> {
    i32::try_from(number(start, name, default, (0, MAX_START))?).map_err(|_| OUT_OF_BOUNDS)
}
