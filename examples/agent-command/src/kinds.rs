//! The table of units and buildings. Numbers only; what they do with them is decided in `step`.
//!
//! Distances are in points, [`TILE`] to a tile; sight is in tiles; times are in ticks.

/// Points to a tile. Positions, ranges and speeds are all in points.
pub(crate) const TILE: i32 = 100;

/// Most buildings of a side, unfinished ones included.
pub(crate) const MAX_BUILDINGS: usize = 16;
/// Most units waiting in one building, the one in work included.
pub(crate) const MAX_QUEUE: usize = 5;

/// Who commands a thing. Each role is a seat, a section of the observation and a branch of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Workers, and every building that makes nothing but wealth or safety.
    Economy,
    Ground,
    Air,
}

impl Role {
    /// In declaration order, which is the manifest's.
    pub(crate) const ALL: [Self; 3] = [Self::Economy, Self::Ground, Self::Air];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Economy => "economy",
            Self::Ground => "ground",
            Self::Air => "air",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Most living units of the role on a side, those in production included.
    pub(crate) const fn cap(self) -> usize {
        match self {
            Self::Economy => 16,
            Self::Ground => 24,
            Self::Air => 12,
        }
    }
}

/// Most living units of a side.
pub(crate) const MAX_UNITS: usize = Role::Economy.cap() + Role::Ground.cap() + Role::Air.cap();

/// A unit or a building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Worker,
    Soldier,
    Tank,
    Scout,
    Gunship,
    Base,
    Factory,
    Airfield,
    Reactor,
    Turret,
}

/// What shoots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weapon {
    pub(crate) damage: i32,
    pub(crate) range: i32,
    pub(crate) cooldown: u16,
    pub(crate) hits_air: bool,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stats {
    pub(crate) name: &'static str,
    /// Who commands it.
    pub(crate) role: Role,
    pub(crate) hp: i32,
    pub(crate) alloy: i32,
    pub(crate) energy: i32,
    /// Time to produce or to construct.
    pub(crate) ticks: u16,
    /// Points a tick; zero for buildings.
    pub(crate) speed: i32,
    pub(crate) sight: u8,
    pub(crate) weapon: Option<Weapon>,
    /// The building that produces it; none for buildings, which workers construct.
    pub(crate) maker: Option<Kind>,
    /// The building that the side must have in work to begin it: all the technology there is.
    pub(crate) requires: Option<Kind>,
}

impl Stats {
    /// Whether it is in the air, where rocks do not stop it and some weapons do not reach it.
    pub(crate) fn flies(&self) -> bool {
        self.role == Role::Air && self.speed > 0
    }
}

/// Every unit, in declaration order.
pub(crate) const UNITS: [Kind; 5] = [Kind::Worker, Kind::Soldier, Kind::Tank, Kind::Scout, Kind::Gunship];
/// Every building, in declaration order.
pub(crate) const BUILDINGS: [Kind; 5] =
    [Kind::Base, Kind::Factory, Kind::Airfield, Kind::Reactor, Kind::Turret];

const fn weapon(damage: i32, range: i32, cooldown: u16, hits_air: bool) -> Option<Weapon> {
    Some(Weapon { damage, range, cooldown, hits_air })
}

const WORKER: Stats = Stats {
    name: "worker",
    role: Role::Economy,
    hp: 40,
    alloy: 50,
    energy: 0,
    ticks: 100,
    speed: 20,
    sight: 5,
    weapon: None,
    maker: Some(Kind::Base),
    requires: None,
};
const SOLDIER: Stats = Stats {
    name: "soldier",
    role: Role::Ground,
    hp: 70,
    alloy: 60,
    energy: 0,
    ticks: 100,
    speed: 22,
    sight: 6,
    weapon: weapon(8, 300, 10, true),
    maker: Some(Kind::Factory),
    requires: None,
};
const TANK: Stats = Stats {
    name: "tank",
    role: Role::Ground,
    hp: 180,
    alloy: 120,
    energy: 40,
    ticks: 200,
    speed: 16,
    sight: 6,
    weapon: weapon(30, 400, 20, false),
    maker: Some(Kind::Factory),
    requires: Some(Kind::Reactor),
};
const SCOUT: Stats = Stats {
    name: "scout",
    role: Role::Air,
    hp: 40,
    alloy: 40,
    energy: 20,
    ticks: 100,
    speed: 50,
    sight: 9,
    weapon: None,
    maker: Some(Kind::Airfield),
    requires: None,
};
const GUNSHIP: Stats = Stats {
    name: "gunship",
    role: Role::Air,
    hp: 110,
    alloy: 100,
    energy: 60,
    ticks: 200,
    speed: 34,
    sight: 7,
    weapon: weapon(12, 280, 10, true),
    maker: Some(Kind::Airfield),
    requires: Some(Kind::Reactor),
};
const BASE: Stats = Stats {
    name: "base",
    role: Role::Economy,
    hp: 1000,
    alloy: 400,
    energy: 0,
    ticks: 600,
    speed: 0,
    sight: 8,
    weapon: None,
    maker: None,
    requires: None,
};
const FACTORY: Stats = Stats {
    name: "factory",
    role: Role::Ground,
    hp: 500,
    alloy: 150,
    energy: 0,
    ticks: 250,
    speed: 0,
    sight: 6,
    weapon: None,
    maker: None,
    requires: None,
};
const AIRFIELD: Stats = Stats {
    name: "airfield",
    role: Role::Air,
    hp: 400,
    alloy: 150,
    energy: 40,
    ticks: 250,
    speed: 0,
    sight: 6,
    weapon: None,
    maker: None,
    requires: Some(Kind::Factory),
};
const REACTOR: Stats = Stats {
    name: "reactor",
    role: Role::Economy,
    hp: 300,
    alloy: 100,
    energy: 0,
    ticks: 200,
    speed: 0,
    sight: 5,
    weapon: None,
    maker: None,
    requires: None,
};
const TURRET: Stats = Stats {
    name: "turret",
    role: Role::Economy,
    hp: 300,
    alloy: 110,
    energy: 30,
    ticks: 200,
    speed: 0,
    sight: 7,
    weapon: weapon(14, 500, 10, true),
    maker: None,
    requires: Some(Kind::Factory),
};

impl Kind {
    pub(crate) const fn stats(self) -> &'static Stats {
        match self {
            Self::Worker => &WORKER,
            Self::Soldier => &SOLDIER,
            Self::Tank => &TANK,
            Self::Scout => &SCOUT,
            Self::Gunship => &GUNSHIP,
            Self::Base => &BASE,
            Self::Factory => &FACTORY,
            Self::Airfield => &AIRFIELD,
            Self::Reactor => &REACTOR,
            Self::Turret => &TURRET,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        self.stats().name
    }

    pub(crate) fn unit_from_name(name: &str) -> Option<Self> {
        UNITS.into_iter().find(|kind| kind.name() == name)
    }

    pub(crate) fn building_from_name(name: &str) -> Option<Self> {
        BUILDINGS.into_iter().find(|kind| kind.name() == name)
    }
}
