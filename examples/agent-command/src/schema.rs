//! The closed schemas of what a match shows (§3). Every maximum is one that the rules enforce.

use crate::events::{KINDS, MAX_EVENTS};
use crate::kinds::{self, BUILDINGS, Kind, MAX_BUILDINGS, MAX_QUEUE, Role, TILE, UNITS};
use crate::map::{MAX_SIZE, MIN_SIZE, PATCH_ALLOY, PATCHES};
use crate::options::{MAX_START, MAX_TICKS, MAX_WORKERS, MIN_TICKS, SIGNALLING};
use crate::world::MAX_STOCK;
use playerthree_game::{Schema, t};

/// The declared sides.
pub(crate) const SIDES: [&str; 4] = ["red", "blue", "green", "gold"];
/// The declared roles, which are also the observation's sections.
pub(crate) const ROLES: [&str; 3] = [Role::Economy.name(), Role::Ground.name(), Role::Air.name()];
/// Events in a view.
pub(crate) const VIEW_EVENTS: usize = 12;

const MAX_UNITS: u64 = kinds::MAX_UNITS as u64;
/// A placement spot can lie beside the target by this much, in points; the map's edge clamps it.
const MAX_POINT: i64 = MAX_SIZE as i64 * TILE as i64 - 1;
/// The host may step a match that is over.
const LAST_TICK: i64 = i32::MAX as i64;
const MAX_TALLY: i64 = u32::MAX as i64;

type Field = (&'static str, Schema);

pub(crate) fn side() -> Schema {
    t::literals(SIDES)
}

pub(crate) fn unit_kind() -> Schema {
    t::literals(UNITS.map(Kind::name))
}

pub(crate) fn building_kind() -> Schema {
    t::literals(BUILDINGS.map(Kind::name))
}

fn any_kind() -> Schema {
    t::literals(UNITS.into_iter().chain(BUILDINGS).map(Kind::name))
}

pub(crate) fn entity() -> Schema {
    t::id("e")
}

pub(crate) fn coordinate() -> Schema {
    t::int(0, MAX_POINT)
}

pub(crate) fn tile() -> Schema {
    t::int(0, i64::from(MAX_SIZE) - 1)
}

fn tick() -> Schema {
    t::int(0, LAST_TICK)
}

fn hp() -> Schema {
    t::int(0, 1000)
}

fn stock() -> Schema {
    t::int(0, i64::from(MAX_STOCK))
}

fn outcome() -> Schema {
    t::literals(["running", "win", "loss", "draw"])
}

fn controller() -> Schema {
    t::literals(["human", "agent", "policy", "bot", "none"])
}

fn unit_order() -> Schema {
    t::literals(["idle", "move", "advance", "attack", "gather", "build"])
}

fn place() -> [Field; 3] {
    [("id", entity()), ("x", coordinate()), ("y", coordinate())]
}

fn with(fields: impl IntoIterator<Item = Field>, more: impl IntoIterator<Item = Field>) -> Vec<Field> {
    fields.into_iter().chain(more).collect()
}

fn own_unit() -> Schema {
    t::obj(with(
        place(),
        [
            ("kind", unit_kind()),
            ("hp", hp()),
            ("order", unit_order()),
            ("load", t::opt(t::int(0, 10).doc("Alloy that a worker carries; absent when none."))),
        ],
    ))
}

fn own_building() -> Schema {
    t::obj(with(
        place(),
        [
            ("kind", building_kind()),
            ("hp", hp()),
            ("done", t::int(0, 100).doc("Construction in percent; it works at 100.")),
            ("making", t::opt(unit_kind()).doc("The unit in production; absent when none.")),
            ("ready", t::opt(t::int(0, 100).doc("Production of that unit in percent."))),
            ("queue", t::int(0, MAX_QUEUE as i64).doc("Units waiting here, the one in production included.")),
        ],
    ))
}

fn other_unit() -> Schema {
    t::obj(with(place(), [("kind", unit_kind()), ("side", side()), ("hp", hp())]))
}

fn other_building() -> Schema {
    let done = t::int(0, 100).doc("Construction in percent.");
    t::obj(with(place(), [("kind", building_kind()), ("side", side()), ("hp", hp()), ("done", done)]))
}

fn patches() -> Schema {
    t::ints(PATCHES as u64, 0, i64::from(PATCH_ALLOY))
        .doc("Alloy in patch p_0, p_1, ... when your side last saw it. Places are in the match data.")
}

fn standings(more: impl IntoIterator<Item = Field>) -> Schema {
    let controllers = t::obj(ROLES.map(|role| (role, controller())));
    let fields = [("side", side()), ("outcome", outcome()), ("controllers", controllers)];
    t::list(t::obj(with(fields, more)), SIDES.len() as u64)
        .doc("Every side of the match and who plays its seats.")
}

const HAPPENINGS: &str = "produced: your unit left its maker. built: your building works now. blocked: your worker could not \
    start a building, for want of means or of room. depleted: a patch in sight is empty. attacked: something of yours is \
    under fire (told every 30 ticks at most). contact: enemies came in sight after a time without any. lost: something of \
    yours was destroyed. destroyed: an enemy's was, in your sight. eliminated: a side is out. ended: the match is over.";

/// One visible event.
pub(crate) fn event() -> Schema {
    t::obj([
        ("tick", tick()),
        ("kind", t::literals(KINDS).doc(HAPPENINGS)),
        ("id", t::opt(entity()).doc("The unit or building concerned.")),
        ("what", t::opt(any_kind()).doc("What the event is about.")),
        (
            "side",
            t::opt(side())
                .doc("Whose it is; absent when it is yours, but always told of a side that is eliminated."),
        ),
        ("x", t::opt(coordinate()).doc("Where it happened, in points.")),
        ("y", t::opt(coordinate()).doc("Where it happened, in points.")),
    ])
}

/// What a section says of the side's own units of its role: how many always, which only in full detail.
fn own_units(role: Role) -> Vec<Field> {
    let most = role.cap() as i64;
    vec![
        ("count", t::int(0, most).doc("Your units of this role.")),
        ("idle", t::int(0, most)),
        ("hurt", t::int(0, most).doc("Those below half of their hit points.")),
        ("units", t::opt(t::list(own_unit(), role.cap() as u64)).doc("Your units; only in full detail.")),
    ]
}

fn economy_section() -> Schema {
    t::obj(with(own_units(Role::Economy), [("patches", t::opt(patches()))]))
}

/// Units that live on the ground, or in the air, whoever commands them.
fn units_on(role: Role) -> u64 {
    let air = Role::Air.cap() as u64;
    if role == Role::Air { air } else { MAX_UNITS - air }
}

fn strangers(role: Role) -> Vec<Field> {
    let (enemies, allies) = (3 * units_on(role), 2 * units_on(role));
    let nearest = t::obj(with(place(), [("kind", unit_kind()), ("side", side())]));
    vec![
        ("enemyCount", t::int(0, enemies as i64).doc("Enemy units in sight.")),
        ("nearest", t::opt(nearest).doc("The enemy unit nearest to your first building.")),
        ("enemies", t::opt(t::list(other_unit(), enemies)).doc("Enemy units in sight; only in full detail.")),
        ("allies", t::opt(t::list(other_unit(), allies)).doc("Units of your allies; only in full detail.")),
    ]
}

fn ground_section() -> Schema {
    let buildings = |sides: u64| t::list(other_building(), sides * MAX_BUILDINGS as u64);
    let standing = [
        ("enemyBuildingCount", t::int(0, 3 * MAX_BUILDINGS as i64).doc("Enemy buildings in sight.")),
        ("enemyBuildings", t::opt(buildings(3)).doc("Enemy buildings in sight; only in full detail.")),
        ("allyBuildings", t::opt(buildings(2)).doc("Buildings of your allies; only in full detail.")),
    ];
    t::obj(with(with(own_units(Role::Ground), strangers(Role::Ground)), standing))
}

fn air_section() -> Schema {
    t::obj(with(own_units(Role::Air), strangers(Role::Air)))
}

/// What a seat observes. `signals` is the generated member, which the host fills in.
pub(crate) fn observation(signals: Schema) -> Schema {
    t::obj([
        ("tick", tick()),
        ("side", side().doc("Your side.")),
        ("role", t::literals(ROLES).doc("Your role.")),
        ("outcome", outcome().doc("Of your side.")),
        ("alloy", stock().doc("Alloy in store.")),
        ("energy", stock().doc("Energy in store.")),
        ("buildings", t::list(own_building(), MAX_BUILDINGS as u64).doc("Your buildings, of every role.")),
        ("economy", economy_section().doc("Your workers and the alloy left to dig.")),
        ("ground", ground_section().doc("Your army, and everything else that stands on the ground.")),
        ("air", air_section().doc("Your scouts and gunships, and whatever else flies.")),
        ("sides", standings([])),
        ("events", t::list(event(), MAX_EVENTS as u64).doc("What you saw happen, oldest first.")),
        ("signals", signals),
    ])
}

fn terrain() -> Schema {
    t::list(t::pattern(u32::from(MAX_SIZE), "^[#.]{24,40}$"), u64::from(MAX_SIZE))
        .doc("Rows of tiles from the top; # is rock, . is free.")
}

fn patch_places() -> Schema {
    t::list(t::obj([("id", t::id("p")), ("x", coordinate()), ("y", coordinate())]), PATCHES as u64)
}

fn starts() -> Schema {
    t::list(t::obj([("side", side()), ("x", coordinate()), ("y", coordinate())]), SIDES.len() as u64)
        .doc("Where each side's first base stands.")
}

fn kinds() -> Schema {
    t::list(
        t::obj([
            ("kind", any_kind()),
            ("role", t::literals(ROLES).doc("Who commands it.")),
            ("hp", hp()),
            ("alloy", t::int(0, 1000)),
            ("energy", t::int(0, 1000)),
            ("ticks", t::int(1, 1000).doc("Time to produce or construct.")),
            ("speed", t::int(0, 100).doc("Points a tick; 0 for buildings.")),
            ("sight", t::int(0, 10).doc("In tiles.")),
            ("damage", t::int(0, 100)),
            ("range", t::int(0, 1000).doc("In points; 0 without a weapon.")),
            ("cooldown", t::int(0, 100).doc("Ticks between shots.")),
            ("hitsAir", t::bool()),
            ("maker", t::opt(building_kind()).doc("The building that produces it.")),
            ("requires", t::opt(building_kind()).doc("The building you must have in work to begin it.")),
        ]),
        (UNITS.len() + BUILDINGS.len()) as u64,
    )
}

fn map_fields() -> Vec<Field> {
    vec![
        (
            "size",
            t::int(i64::from(MIN_SIZE), i64::from(MAX_SIZE)).doc("Tiles on each side of the square map."),
        ),
        ("tile", t::int(1, 1000).doc("Points to a tile.")),
        ("maxTicks", t::int(MIN_TICKS, MAX_TICKS).doc("The match is drawn after this tick.")),
        ("terrain", terrain()),
        ("patchPlaces", patch_places().doc("Where the alloy patches lie, in points.")),
        ("starts", starts()),
        ("kinds", kinds().doc("Numbers of every kind of unit and building.")),
    ]
}

/// Immutable data a seat starts from.
pub(crate) fn match_data() -> Schema {
    let you = [
        ("side", side().doc("Your side.")),
        ("role", t::literals(ROLES).doc("Your role.")),
        ("allies", t::list(side(), 2).doc("Sides that win and lose with you.")),
        ("enemies", t::list(side(), 3).doc("Sides to eliminate.")),
    ];
    t::obj(with(you, map_fields()))
}

/// A unit as a renderer needs it; orders and loads only of the viewer's own.
fn seen_unit() -> Schema {
    t::obj(with(
        place(),
        [
            ("kind", unit_kind()),
            ("side", side()),
            ("hp", hp()),
            ("order", t::opt(unit_order())),
            ("load", t::opt(t::int(0, 10))),
        ],
    ))
}

fn seen_building() -> Schema {
    t::obj(with(
        place(),
        [
            ("kind", building_kind()),
            ("side", side()),
            ("hp", hp()),
            ("done", t::int(0, 100)),
            ("making", t::opt(unit_kind())),
            ("ready", t::opt(t::int(0, 100))),
            ("queue", t::opt(t::int(0, MAX_QUEUE as i64))),
        ],
    ))
}

/// What a side's players and spectators render. `signals` is the generated member, which the host fills in.
pub(crate) fn view(signals: Schema) -> Schema {
    t::obj([
        ("tick", tick()),
        ("side", side()),
        ("outcome", outcome()),
        ("alloy", stock()),
        ("energy", stock()),
        ("map", t::opt(t::obj(map_fields())).doc("Never changes, so later views leave it out.")),
        ("units", t::list(seen_unit(), 4 * MAX_UNITS).doc("Everything in sight, by id.")),
        ("buildings", t::list(seen_building(), 4 * MAX_BUILDINGS as u64)),
        ("patches", patches()),
        ("sides", standings([])),
        ("events", t::list(event(), VIEW_EVENTS as u64).doc("The newest events, oldest first.")),
        ("signals", signals),
    ])
}

/// What an omniscient observer sees (§20.9).
pub(crate) fn observer() -> Schema {
    let economy = [
        ("alloy", stock()),
        ("energy", stock()),
        ("gathered", t::int(0, MAX_TALLY)),
        ("produced", t::int(0, MAX_TALLY)),
        ("built", t::int(0, MAX_TALLY)),
        ("lost", t::int(0, MAX_TALLY)),
        ("destroyed", t::int(0, MAX_TALLY)),
    ];
    t::obj([
        ("tick", tick()),
        ("map", t::obj(map_fields())),
        ("units", t::list(seen_unit(), 4 * MAX_UNITS)),
        ("buildings", t::list(seen_building(), 4 * MAX_BUILDINGS as u64)),
        ("patches", patches()),
        ("sides", standings(economy)),
        (
            "events",
            t::list(event(), VIEW_EVENTS as u64).doc(
                "The newest of all sides' own events and of those that everybody is told, oldest first.",
            ),
        ),
    ])
}

/// One side's after-action report.
pub(crate) fn report() -> Schema {
    t::obj([
        ("side", side()),
        ("outcome", outcome()),
        ("ticks", tick()),
        ("alloy", stock()),
        ("energy", stock()),
        ("gathered", t::int(0, MAX_TALLY).doc("Alloy brought home.")),
        ("produced", t::int(0, MAX_TALLY).doc("Units produced.")),
        ("built", t::int(0, MAX_TALLY).doc("Buildings finished.")),
        ("lost", t::int(0, MAX_TALLY).doc("Own units and buildings destroyed.")),
        ("destroyed", t::int(0, MAX_TALLY).doc("Enemy units and buildings destroyed.")),
        ("units", t::int(0, MAX_UNITS as i64).doc("Units left.")),
        ("buildings", t::int(0, MAX_BUILDINGS as i64).doc("Buildings left.")),
    ])
}

/// The lobby's summary of the coming match.
pub(crate) fn lobby() -> Schema {
    t::obj([
        (
            "size",
            t::opt(t::int(i64::from(MIN_SIZE), i64::from(MAX_SIZE))).doc("Tiles on each side of the map."),
        ),
        ("maxTicks", t::opt(t::int(MIN_TICKS, MAX_TICKS)).doc("The match is drawn after this tick.")),
        ("sides", t::list(side(), SIDES.len() as u64).doc("Who plays.")),
    ])
}

/// Options of a match.
pub(crate) fn options() -> Schema {
    let start = t::obj([
        ("alloy", t::opt(t::int(0, MAX_START)).doc("Default 200.")),
        ("energy", t::opt(t::int(0, MAX_START)).doc("Default 50.")),
        ("workers", t::opt(t::int(1, MAX_WORKERS)).doc("Default 4.")),
    ]);
    t::obj([
        ("size", t::opt(t::int(i64::from(MIN_SIZE), i64::from(MAX_SIZE))).doc("Tiles, default 32.")),
        ("maxTicks", t::opt(t::int(MIN_TICKS, MAX_TICKS)).doc("Time limit, default 9000: 15 minutes.")),
        (
            "start",
            t::opt(start.replace_on_merge()).doc(
                "What every side starts with. A later layer of options replaces the whole of it, so that the stock of \
                 one does not mix with the workers of another.",
            ),
        ),
        ("seed", t::opt(t::int(0, i64::from(u32::MAX))).doc("The map's seed; default the match's.")),
        (
            "signals",
            t::opt(t::literals(SIGNALLING))
                .doc("How freely teammates may signal: all as declared (default), one open request each, or none."),
        ),
    ])
}
