//! The state of a match: sides with their units, buildings and stock, the parties they form, and the map.
//!
//! The state holds no hash map and no float, so equal inputs give equal states on every machine.

use crate::events::Log;
use crate::kinds::{Kind, MAX_BUILDINGS, Role};
use crate::map::{CORNERS, Map, PATCH_ALLOY, Point, Tile};
use crate::options::Options;
use crate::rng::Rng;
use crate::sight::Sight;
use playerthree_game::{Controller, Name, Outcome};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The number in an id such as `e_482113`. It is drawn at random, so it tells nothing of how many others exist.
pub(crate) type Id = u32;

/// Most alloy or energy that a side can hold.
pub(crate) const MAX_STOCK: i32 = 99_999;

/// What a unit has been told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Idle,
    /// Goes there without stopping.
    Move(Point),
    /// Goes there and fights whatever it meets.
    Advance(Point),
    /// Follows this enemy, last seen there.
    Attack {
        target: Id,
        seen: Point,
    },
    Gather {
        patch: usize,
        stage: Gathering,
    },
    Build {
        kind: Kind,
        site: Tile,
        /// Alloy that paying for it must leave: the mandate's `reserveAlloy` when it was ordered.
        reserve: i32,
    },
}

/// Where a gathering worker is in its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathering {
    /// On the way to the patch.
    Out,
    /// At the patch, with this many ticks to go.
    Mining(u8),
    /// On the way back with its load.
    Home,
}

impl Order {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Move(_) => "move",
            Self::Advance(_) => "advance",
            Self::Attack { .. } => "attack",
            Self::Gather { .. } => "gather",
            Self::Build { .. } => "build",
        }
    }

    /// Whether the order counts against a mandate's `maxAttackers`.
    pub(crate) fn is_offensive(self) -> bool {
        matches!(self, Self::Advance(_) | Self::Attack { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) id: Id,
    pub(crate) kind: Kind,
    pub(crate) at: Point,
    pub(crate) hp: i32,
    /// Ticks until its weapon is ready.
    pub(crate) cooldown: u16,
    /// Alloy that a worker carries.
    pub(crate) load: i32,
    pub(crate) order: Order,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Building {
    pub(crate) id: Id,
    pub(crate) kind: Kind,
    pub(crate) site: Tile,
    pub(crate) hp: i32,
    pub(crate) cooldown: u16,
    /// Ticks until construction ends; zero when it works.
    pub(crate) unfinished: u16,
    /// Units to produce, the one in work first. At most [`crate::kinds::MAX_QUEUE`].
    pub(crate) queue: VecDeque<Kind>,
    /// Ticks that the first unit of the queue still takes.
    pub(crate) remaining: u16,
}

impl Building {
    pub(crate) fn at(&self) -> Point {
        self.site.centre()
    }

    pub(crate) fn works(&self) -> bool {
        self.unfinished == 0
    }

    /// How far construction is, in percent; 100 only once it works.
    pub(crate) fn done(&self) -> u16 {
        let total = self.kind.stats().ticks;
        100 - (self.unfinished * 100).div_ceil(total)
    }
}

/// What a side did so far, for its report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) gathered: u32,
    pub(crate) produced: u32,
    pub(crate) built: u32,
    pub(crate) lost: u32,
    pub(crate) destroyed: u32,
}

/// A seat's owner restrictions (§7), those that the mandate names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Most units of the seat's role under attack or advance orders.
    pub(crate) max_attackers: Option<usize>,
    /// Alloy that production and construction must leave.
    pub(crate) reserve_alloy: Option<i32>,
    /// Construction is forbidden.
    pub(crate) no_build: bool,
}

/// Who holds a seat and under which restrictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeatState {
    pub(crate) controller: Controller,
    pub(crate) limits: Limits,
}

impl Default for SeatState {
    fn default() -> Self {
        Self { controller: Controller::None, limits: Limits::default() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Side {
    pub(crate) name: Name,
    /// Index of its party.
    pub(crate) party: usize,
    pub(crate) corner: usize,
    pub(crate) alloy: i32,
    pub(crate) energy: i32,
    pub(crate) units: Vec<Unit>,
    pub(crate) buildings: Vec<Building>,
    pub(crate) tally: Tally,
    pub(crate) log: Log,
    /// Who holds its seats, by role in declaration order.
    pub(crate) seats: [SeatState; Role::ALL.len()],
    /// The side's own source of ids, so that they tell nothing of other sides.
    ids: Rng,
}

impl Side {
    pub(crate) fn seat(&self, role: Role) -> &SeatState {
        &self.seats[role as usize]
    }

    pub(crate) fn seat_mut(&mut self, role: Role) -> &mut SeatState {
        &mut self.seats[role as usize]
    }

    /// Whether it has a building of this kind that works.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.buildings.iter().any(|building| building.kind == kind && building.works())
    }

    /// Whether it has the building that beginning one of these takes.
    pub(crate) fn knows(&self, kind: Kind) -> bool {
        kind.stats().requires.is_none_or(|building| self.has(building))
    }

    /// Units of a role, those in production included.
    pub(crate) fn count(&self, role: Role) -> usize {
        let living = self.units.iter().filter(|unit| unit.kind.stats().role == role).count();
        let coming = self.buildings.iter().flat_map(|building| &building.queue);
        living + coming.filter(|kind| kind.stats().role == role).count()
    }

    pub(crate) fn unit(&self, id: Id) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.id == id)
    }

    pub(crate) fn building(&self, id: Id) -> Option<&Building> {
        self.buildings.iter().find(|building| building.id == id)
    }

    pub(crate) fn earn(&mut self, alloy: i32, energy: i32) {
        self.alloy = (self.alloy + alloy).min(MAX_STOCK);
        self.energy = (self.energy + energy).min(MAX_STOCK);
    }

    /// Takes the whole price, or nothing when the side cannot pay it and have this much alloy left.
    pub(crate) fn pay(&mut self, kind: Kind, reserve: i32) -> bool {
        let price = kind.stats();
        let affordable = self.alloy - price.alloy >= reserve && self.energy >= price.energy;
        if affordable {
            self.alloy -= price.alloy;
            self.energy -= price.energy;
        }
        affordable
    }

    /// The state of its id source, for debug views.
    pub(crate) fn id_state(&self) -> u64 {
        self.ids.state()
    }

    fn has_id(&self, id: Id) -> bool {
        self.unit(id).is_some() || self.building(id).is_some()
    }
}

/// Sides that see, win and lose together: an alliance or a lone side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) sight: Sight,
    /// Alloy in each patch when this party last saw it.
    pub(crate) patches: Vec<u16>,
    /// Whether an enemy was in sight after the last tick.
    pub(crate) contact: bool,
    pub(crate) outcome: Outcome,
    /// Final placement, once the outcome is final.
    pub(crate) rank: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) map: Arc<Map>,
    pub(crate) tick: u64,
    pub(crate) max_ticks: u64,
    /// In the order of their corners, so that nothing which happens depends on what a side is called.
    pub(crate) sides: Vec<Side>,
    pub(crate) parties: Vec<Party>,
    /// Alloy left in each patch.
    pub(crate) patches: Vec<u16>,
}

/// What every side starts with, at the first corner.
const FIRST_AIRFIELD: Tile = Tile { x: 8, y: 5 };
const FIRST_SOLDIERS: [Tile; 2] = [Tile { x: 3, y: 4 }, Tile { x: 4, y: 3 }];
const FIRST_WORKERS: [Tile; 6] = [
    Tile { x: 4, y: 6 },
    Tile { x: 6, y: 4 },
    Tile { x: 4, y: 4 },
    Tile { x: 6, y: 6 },
    Tile { x: 4, y: 5 },
    Tile { x: 5, y: 4 },
];

impl World {
    /// The world of a seed. `parties` partitions the sides, which are in manifest order.
    pub(crate) fn new(seed: u32, options: &Options, sides: &[Name], parties: &[Vec<usize>]) -> Self {
        let map = Arc::new(Map::generate(options.map_seed.unwrap_or(seed), options.size));
        let patches = vec![PATCH_ALLOY; map.patches().len()];
        let party = Party {
            sight: Sight::default(),
            patches: patches.clone(),
            contact: false,
            outcome: Outcome::Running,
            rank: 0,
        };
        let mut world = Self {
            map,
            tick: 0,
            max_ticks: options.max_ticks,
            sides: Vec::with_capacity(sides.len()),
            parties: vec![party; parties.len()],
            patches,
        };
        for (corner, index) in places(seed, parties) {
            let side = world.sides.len();
            world.sides.push(Side {
                name: sides[index].clone(),
                party: parties.iter().position(|members| members.contains(&index)).unwrap_or(0),
                corner,
                alloy: options.alloy,
                energy: options.energy,
                units: Vec::new(),
                buildings: Vec::with_capacity(MAX_BUILDINGS),
                tally: Tally::default(),
                log: Log::default(),
                seats: [SeatState::default(); Role::ALL.len()],
                ids: Rng::new(seed, 16 + corner as u64),
            });
            world.settle(side, options.workers);
        }
        world.look();
        world
    }

    fn settle(&mut self, side: usize, workers: usize) {
        let corner = self.sides[side].corner;
        let start = self.map.start(corner);
        self.place(side, Kind::Base, start, 0);
        let airfield = self.map.turned(FIRST_AIRFIELD, corner);
        self.place(side, Kind::Airfield, airfield, 0);
        for tile in FIRST_WORKERS.into_iter().take(workers) {
            let tile = self.map.turned(tile, corner);
            self.muster(side, Kind::Worker, tile.centre());
        }
        for tile in FIRST_SOLDIERS {
            let tile = self.map.turned(tile, corner);
            self.muster(side, Kind::Soldier, tile.centre());
        }
        self.muster(side, Kind::Scout, airfield.centre());
    }

    /// Adds a unit.
    pub(crate) fn muster(&mut self, side: usize, kind: Kind, at: Point) -> Id {
        let id = self.fresh_id(side);
        let hp = kind.stats().hp;
        self.sides[side].units.push(Unit { id, kind, at, hp, cooldown: 0, load: 0, order: Order::Idle });
        id
    }

    /// Adds a building that needs this many ticks until it works.
    pub(crate) fn place(&mut self, side: usize, kind: Kind, site: Tile, unfinished: u16) -> Id {
        let id = self.fresh_id(side);
        self.sides[side].buildings.push(Building {
            id,
            kind,
            site,
            hp: kind.stats().hp,
            cooldown: 0,
            unfinished,
            queue: VecDeque::new(),
            remaining: 0,
        });
        id
    }

    /// Six digits that no living thing bears. Each corner has numbers of its own, so that no draw tells of another side's
    /// things; it repeats with a chance below one in two thousand.
    #[expect(clippy::cast_possible_truncation, reason = "corners are four")]
    fn fresh_id(&mut self, side: usize) -> Id {
        let owner = &mut self.sides[side];
        loop {
            let draw = owner.ids.below(900_000 / CORNERS as u32);
            let id = 100_000 + draw * CORNERS as u32 + owner.corner as u32;
            if !owner.has_id(id) {
                return id;
            }
        }
    }

    pub(crate) fn side_index(&self, team: &str) -> Option<usize> {
        self.sides.iter().position(|side| &*side.name == team)
    }

    pub(crate) fn party_of(&self, side: usize) -> &Party {
        &self.parties[self.sides[side].party]
    }

    pub(crate) fn are_enemies(&self, one: usize, other: usize) -> bool {
        self.sides[one].party != self.sides[other].party
    }

    /// Whether the side sees this place, through its own eyes or an ally's.
    pub(crate) fn sees(&self, side: usize, at: Point) -> bool {
        self.party_of(side).sight.sees(at)
    }

    /// Where the enemy of this id stands, if the side sees it. A hidden one is the same as none.
    pub(crate) fn visible_enemy(&self, side: usize, id: Id) -> Option<Point> {
        let enemies = (0..self.sides.len()).filter(|other| self.are_enemies(side, *other));
        enemies
            .filter_map(|enemy| {
                let enemy = &self.sides[enemy];
                let unit = enemy.unit(id).map(|unit| unit.at);
                unit.or_else(|| enemy.building(id).map(Building::at))
            })
            .find(|at| self.sees(side, *at))
    }

    /// Whether a building may stand here, as far as this side can tell.
    pub(crate) fn is_site_open(&self, side: usize, site: Tile) -> bool {
        self.is_buildable(site, |other, at| !self.are_enemies(side, other) || self.sees(side, at))
    }

    /// Whether a building may really stand here.
    pub(crate) fn is_site_free(&self, site: Tile) -> bool {
        self.is_buildable(site, |_, _| true)
    }

    fn is_buildable(&self, site: Tile, counts: impl Fn(usize, Point) -> bool) -> bool {
        let near = |other: Tile| (site.x - other.x).abs().max((site.y - other.y).abs()) <= 1;
        let blocked = self.sides.iter().enumerate().any(|(index, side)| {
            side.buildings.iter().any(|building| near(building.site) && counts(index, building.at()))
        });
        self.map.is_free(site) && !blocked && !self.map.patches().iter().any(|patch| near(*patch))
    }
}

/// The side of every taken corner. Two duellists face each other and allies are neighbours; beyond that the seed draws
/// places, each party as often every one as every other of its size.
fn places(seed: u32, parties: &[Vec<usize>]) -> BTreeMap<usize, usize> {
    let seats: Vec<usize> = parties.iter().flatten().copied().collect();
    let apart = if seats.len() == 2 { 2 } else { 1 };
    // Twelve draws are whole rounds of two, three and four sides, and of the corner at which they begin.
    let draw = Rng::new(seed, 2).below(12) as usize;
    // Exchanging three sides would put the one without an ally between the two that are allied.
    let exchange = if seats.len() == 3 && parties.len() == 2 { 0 } else { draw };
    let corner = |place: usize| ((place + exchange) % seats.len() * apart + draw / seats.len()) % CORNERS;
    seats.iter().enumerate().map(|(place, side)| (corner(place), *side)).collect()
}
