//! A state with every type, and every type inside every other that may hold it. Its classes are written by hand in the
//! test.

use crate::model::model;
use playerthree_rooms_state::{Bag, BigInt, BigUint, List, Map, Number, Set, Shared, State};

#[derive(State)]
pub(crate) struct Point {
    x: f32,
    y: f32,
}

model!(Point { field x, field y });

#[derive(State)]
pub(crate) struct Base {
    id: u32,
    at: Option<Point>,
}

model!(Base { field id, field at });

#[derive(State)]
pub(crate) struct Stack {
    kind: u8,
    count: Option<u16>,
    history: List<i16>,
}

model!(Stack { field kind, field count, field history });

#[derive(State)]
pub(crate) struct Unit {
    #[state(extends)]
    base: Base,
    name: String,
    x: f32,
    y: f64,
    tags: List<String>,
    stacks: Map<Stack>,
    spot: Point,
    alive: bool,
}

model!(Unit { parent base, field name, field x, field y, field tags, field stacks, field spot, field alive });

/// As many fields as a type may have. Field 21 is a list that is replaced while its neighbours introduce references:
/// the byte that says so is the one that decoders take for a type id behind a reference.
#[derive(State)]
pub(crate) struct Wide {
    f0: u8,
    f1: u8,
    f2: u8,
    f3: u8,
    f4: u8,
    f5: u8,
    f6: u8,
    f7: u8,
    f8: u8,
    f9: u8,
    f10: u8,
    f11: u8,
    f12: u8,
    f13: u8,
    f14: u8,
    f15: u8,
    f16: u8,
    f17: u8,
    f18: u8,
    f19: u8,
    f20: Option<Point>,
    f21: List<Point>,
    f22: Option<Point>,
    f23: u8,
    f24: u8,
    f25: u8,
    f26: u8,
    f27: u8,
    f28: u8,
    f29: u8,
    f30: u8,
    f31: u8,
    f32: u8,
    f33: u8,
    f34: u8,
    f35: u8,
    f36: u8,
    f37: u8,
    f38: u8,
    f39: u8,
    f40: List<u8>,
    f41: u8,
    f42: u8,
    f43: u8,
    f44: u8,
    f45: u8,
    f46: u8,
    f47: u8,
    f48: u8,
    f49: u8,
    f50: u8,
    f51: u8,
    f52: u8,
    f53: u8,
    f54: u8,
    f55: u8,
    f56: u8,
    f57: u8,
    f58: u8,
    f59: u8,
    f60: u8,
    f61: u8,
    f62: u8,
}

model!(Wide {
    field f0, field f1, field f2, field f3, field f4, field f5, field f6, field f7, field f8, field f9,
    field f10, field f11, field f12, field f13, field f14, field f15, field f16, field f17, field f18,
    field f19, field f20, field f21, field f22, field f23, field f24, field f25, field f26, field f27,
    field f28, field f29, field f30, field f31, field f32, field f33, field f34, field f35, field f36,
    field f37, field f38, field f39, field f40, field f41, field f42, field f43, field f44, field f45,
    field f46, field f47, field f48, field f49, field f50, field f51, field f52, field f53, field f54,
    field f55, field f56, field f57, field f58, field f59, field f60, field f61, field f62,
});

/// Nothing but what makes the parent of [`Heir`] end at field 20.
#[derive(State)]
pub(crate) struct Elder {
    e0: u8,
    e1: u8,
    e2: u8,
    e3: u8,
    e4: u8,
    e5: u8,
    e6: u8,
    e7: u8,
    e8: u8,
    e9: u8,
    e10: u8,
    e11: u8,
    e12: u8,
    e13: u8,
    e14: u8,
    e15: u8,
    e16: u8,
    e17: u8,
    e18: u8,
    e19: u8,
    e20: Option<Point>,
}

model!(Elder {
    field e0, field e1, field e2, field e3, field e4, field e5, field e6, field e7, field e8, field e9,
    field e10, field e11, field e12, field e13, field e14, field e15, field e16, field e17, field e18,
    field e19, field e20,
});

/// A type whose own first field is field 21, behind a parent's that introduces references.
#[derive(State)]
pub(crate) struct Heir {
    #[state(extends)]
    elder: Elder,
    e21: List<u8>,
    e22: Option<Point>,
}

model!(Heir { parent elder, field e21, field e22 });

/// A type that holds itself.
#[derive(State)]
pub(crate) struct Tree {
    name: String,
    children: List<Tree>,
}

model!(Tree { field name, field children });

/// Of whom one is in several places.
#[derive(State)]
pub(crate) struct Hero {
    name: String,
    x: f32,
    tags: List<String>,
    stacks: Map<Stack>,
    mark: Option<Shared<Point>>,
}

model!(Hero { field name, field x, field tags, field stacks, field mark });

#[derive(State)]
pub(crate) struct Team {
    lead: Shared<Hero>,
    next: Option<Shared<Hero>>,
    members: List<Shared<Hero>>,
    names: Option<Map<Shared<Hero>>>,
}

model!(Team { field lead, field next, field members, field names });

#[derive(State)]
pub(crate) struct World {
    a: i8,
    b: u8,
    c: i16,
    d: u16,
    e: i32,
    f: u32,
    g: i64,
    h: u64,
    i: f32,
    j: f64,
    k: Number,
    l: BigInt,
    m: BigUint,
    n: bool,
    o: String,
    p: Option<String>,
    q: Option<f64>,
    flags: Map<bool>,
    numbers: List<Number>,
    words: List<String>,
    units: Map<Unit>,
    stacks: List<Stack>,
    set: Set<i32>,
    names: Set<String>,
    bag: Bag<String>,
    things: Bag<Stack>,
    wide: Wide,
    unit: Option<Unit>,
    map: Option<Map<u8>>,
    tree: Tree,
    first: Option<Shared<Hero>>,
    second: Option<Shared<Hero>>,
    heroes: Map<Shared<Hero>>,
    row: List<Shared<Hero>>,
    team: Team,
    teams: Map<Team>,
    ranks: List<Team>,
    squads: Bag<Team>,
    marks: Map<Shared<Point>>,
    heir: Heir,
}

model!(World {
    field a, field b, field c, field d, field e, field f, field g, field h, field i, field j, field k,
    field l, field m, field n, field o, field p, field q, field flags, field numbers, field words, field
    units, field stacks, field set, field names, field bag, field things, field wide, field unit, field
    map, field tree, field first, field second, field heroes, field row, field team, field teams, field
    ranks, field squads, field marks, field heir,
});
