//! What a bot reads of its observation and match data, as plain structs.
//!
//! Bots take the same JSON as everybody else; nothing here reaches into the match.

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MatchData {
    pub(super) side: String,
    pub(super) size: i64,
    pub(super) tile: i64,
    pub(super) terrain: Vec<String>,
    pub(super) patch_places: Vec<PatchPlace>,
    pub(super) starts: Vec<Start>,
    pub(super) enemies: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct PatchPlace {
    pub(super) id: String,
    pub(super) x: i64,
    pub(super) y: i64,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Start {
    pub(super) side: String,
    pub(super) x: i64,
    pub(super) y: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Observation {
    pub(super) tick: u64,
    pub(super) alloy: i64,
    pub(super) energy: i64,
    pub(super) buildings: Vec<OwnBuilding>,
    pub(super) economy: Section,
    pub(super) ground: Section,
    pub(super) air: Section,
    pub(super) sides: Vec<Standing>,
    #[serde(default)]
    pub(super) signals: Requests,
}

/// What teammates ask for, and what was asked of them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Requests {
    pub(super) inbox: Vec<Request>,
    pub(super) sent: Vec<Request>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) state: String,
    /// Who took it.
    pub(super) by: Option<String>,
    pub(super) building: Option<String>,
    pub(super) x: Option<i64>,
    pub(super) y: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Section {
    pub(super) units: Vec<OwnUnit>,
    pub(super) enemies: Vec<Enemy>,
    pub(super) enemy_buildings: Vec<Enemy>,
    pub(super) patches: Vec<i64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct OwnUnit {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) order: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct OwnBuilding {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) done: i64,
    pub(super) queue: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Enemy {
    pub(super) kind: String,
    pub(super) x: i64,
    pub(super) y: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Standing {
    pub(super) side: String,
    pub(super) outcome: String,
}

/// A place in points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) x: i64,
    pub(super) y: i64,
}

impl Spot {
    pub(super) fn distance_squared(self, other: Self) -> i64 {
        (self.x - other.x).pow(2) + (self.y - other.y).pow(2)
    }

    pub(super) fn is_within(self, other: Self, range: i64) -> bool {
        self.distance_squared(other) <= range * range
    }

    /// The place this many points nearer to another, or the other one when it is that near.
    pub(super) fn towards(self, other: Self, points: i64) -> Self {
        let distance = self.distance_squared(other).isqrt();
        if distance <= points {
            return other;
        }
        let part = |from: i64, to: i64| from + (to - from) * points / distance;
        Self { x: part(self.x, other.x), y: part(self.y, other.y) }
    }
}

macro_rules! has_spot {
    ($($thing:ty),*) => { $(impl $thing {
        pub(super) fn at(&self) -> Spot {
            Spot { x: self.x, y: self.y }
        }
    })* };
}

has_spot!(PatchPlace, Start, OwnUnit, OwnBuilding, Enemy);

impl Observation {
    /// Finished and unfinished buildings of a kind.
    pub(super) fn count_buildings(&self, kind: &str) -> usize {
        self.buildings.iter().filter(|building| building.kind == kind).count()
    }

    /// Whether a building of this kind works.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.buildings.iter().any(|building| building.kind == kind && building.done == 100)
    }

    /// Enemies in sight that can hurt or stand, scouts left aside.
    pub(super) fn threats(&self) -> impl Iterator<Item = &Enemy> {
        let enemies = self.ground.enemies.iter().chain(&self.air.enemies).chain(&self.ground.enemy_buildings);
        enemies.filter(|enemy| enemy.kind != "scout")
    }

    /// The threat nearest to a place and not farther from it than this.
    pub(super) fn threat_near(&self, place: Spot, range: i64) -> Option<Spot> {
        let near = self.threats().map(Enemy::at).filter(|at| at.is_within(place, range));
        near.min_by_key(|at| (at.distance_squared(place), *at))
    }

    /// Whether fighters stand at a place and meet nobody there.
    fn is_deserted(&self, place: Spot, tile: i64) -> bool {
        let mut fighters = self.ground.units.iter().chain(&self.air.units);
        fighters.any(|unit| unit.at().is_within(place, 3 * tile))
            && self.threat_near(place, 6 * tile).is_none()
    }

    /// The first working base.
    pub(super) fn base(&self) -> Option<&OwnBuilding> {
        self.buildings.iter().find(|building| building.kind == "base" && building.done == 100)
    }

    /// Where the side is at home: at its first working base, else where it began.
    pub(super) fn home(&self, data: &MatchData) -> Option<Spot> {
        let start = data.starts.iter().find(|start| start.side == data.side);
        self.base().map(OwnBuilding::at).or(start.map(Start::at))
    }

    pub(super) fn units<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a OwnUnit> {
        let sections = [&self.economy, &self.ground, &self.air];
        sections.into_iter().flat_map(|section| &section.units).filter(move |unit| unit.kind == kind)
    }
}

impl MatchData {
    /// The start place of the nearest enemy that is still in play; of two as near the same one seen from every corner, so that
    /// armies meet in pairs and do not all fall in a circle.
    pub(super) fn target(&self, observation: &Observation, from: Spot) -> Option<Spot> {
        let plays = |side: &str| {
            observation.sides.iter().any(|other| other.side == side && other.outcome == "running")
        };
        let enemies =
            self.starts.iter().filter(|start| self.enemies.contains(&start.side) && plays(&start.side));
        let places = enemies.map(Start::at);
        let nearest = |at: &Spot| (at.distance_squared(from), *at);
        // A side that has lost its base plays on while its ally has one.
        let held = places.clone().filter(|at| !observation.is_deserted(*at, self.tile));
        held.min_by_key(nearest).or_else(|| places.min_by_key(nearest))
    }

    /// Whether this tile is on the map and without a rock.
    pub(super) fn is_free(&self, col: i64, row: i64) -> bool {
        let row = usize::try_from(row).ok().and_then(|row| self.terrain.get(row));
        let tile = row.zip(usize::try_from(col).ok()).and_then(|(row, col)| row.as_bytes().get(col));
        tile == Some(&b'.')
    }
}
