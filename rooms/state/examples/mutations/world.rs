//! A state with every type, and every type inside every other that may hold it.

use crate::model::{Model, Pooled, model};
use fastrand::Rng;
use playerthree_rooms_state::{Bag, BigInt, BigUint, List, Map, Number, Set, Shared, State};
use serde_json::Value;
use std::cell::RefCell;
use std::thread::LocalKey;

#[derive(State)]
pub(crate) struct Point {
    x: f32,
    y: f32,
}

#[derive(State)]
pub(crate) struct Base {
    id: u32,
    at: Option<Point>,
}

#[derive(State)]
pub(crate) struct Stack {
    kind: u8,
    count: Option<u16>,
    history: List<i16>,
}

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

/// A type whose own first field is field 21, behind a parent's that introduces references.
#[derive(State)]
pub(crate) struct Heir {
    #[state(extends)]
    elder: Elder,
    e21: List<u8>,
    e22: Option<Point>,
}

/// A type that holds itself.
#[derive(State)]
pub(crate) struct Tree {
    name: String,
    children: List<Tree>,
}

/// Of whom one is in several places.
#[derive(State)]
pub(crate) struct Hero {
    name: String,
    x: f32,
    tags: List<String>,
    stacks: Map<Stack>,
    mark: Option<Shared<Point>>,
}

#[derive(State)]
pub(crate) struct Team {
    lead: Shared<Hero>,
    next: Option<Shared<Hero>>,
    members: List<Shared<Hero>>,
    names: Option<Map<Shared<Hero>>>,
}

macro_rules! pooled {
    ($type:ident) => {
        impl Pooled for $type {
            fn pool() -> &'static LocalKey<RefCell<Vec<Shared<Self>>>> {
                thread_local!(static POOL: RefCell<Vec<Shared<$type>>> = RefCell::default());
                &POOL
            }
        }
    };
}

pooled!(Hero);
pooled!(Point);

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

model!(Elder {
    e0,
    e1,
    e2,
    e3,
    e4,
    e5,
    e6,
    e7,
    e8,
    e9,
    e10,
    e11,
    e12,
    e13,
    e14,
    e15,
    e16,
    e17,
    e18,
    e19,
    e20
});

/// Changes fields 20 to 22 in one step, most of the time.
impl Model for Heir {
    fn random(rng: &mut Rng) -> Self {
        Self { elder: Elder::random(rng), e21: List::random(rng), e22: Option::random(rng) }
    }

    fn mutate(&mut self, rng: &mut Rng) {
        if rng.u8(0..4) == 0 {
            self.elder.mutate(rng);
        }
        self.elder.e20 = Option::random(rng);
        self.e21 = List::random(rng);
        self.e22 = Option::random(rng);
    }

    fn json(&self) -> Value {
        let Value::Object(mut fields) = self.elder.json() else { return Value::Null };
        fields.insert("e21".to_owned(), self.e21.json());
        fields.insert("e22".to_owned(), self.e22.json());
        Value::Object(fields)
    }

    fn structures(&self) -> usize {
        self.elder.structures() + self.e21.structures() + self.e22.structures()
    }
}

model!(Point { x, y });
model!(Base { id, at });
model!(Stack { kind, count, history });
model!(Wide {
    f0,
    f1,
    f2,
    f3,
    f4,
    f5,
    f6,
    f7,
    f8,
    f9,
    f10,
    f11,
    f12,
    f13,
    f14,
    f15,
    f16,
    f17,
    f18,
    f19,
    f20,
    f21,
    f22,
    f23,
    f24,
    f25,
    f26,
    f27,
    f28,
    f29,
    f30,
    f31,
    f32,
    f33,
    f34,
    f35,
    f36,
    f37,
    f38,
    f39,
    f40,
    f41,
    f42,
    f43,
    f44,
    f45,
    f46,
    f47,
    f48,
    f49,
    f50,
    f51,
    f52,
    f53,
    f54,
    f55,
    f56,
    f57,
    f58,
    f59,
    f60,
    f61,
    f62
});

/// Clients see the parent's fields beside its own, and hold one structure for both.
impl Model for Unit {
    fn random(rng: &mut Rng) -> Self {
        Self {
            base: Base::random(rng),
            name: String::random(rng),
            x: f32::random(rng),
            y: f64::random(rng),
            tags: List::random(rng),
            stacks: Map::random(rng),
            spot: Point::random(rng),
            alive: rng.bool(),
        }
    }

    fn mutate(&mut self, rng: &mut Rng) {
        match rng.u8(0..8) {
            0 => self.base.mutate(rng),
            1 => self.name.mutate(rng),
            2 => self.x += 1.0,
            3 => self.y.mutate(rng),
            4 => self.tags.mutate(rng),
            5 => self.stacks.mutate(rng),
            6 => self.spot = Point::random(rng),
            _ => self.alive = !self.alive,
        }
    }

    fn json(&self) -> Value {
        let Value::Object(mut fields) = self.base.json() else { return Value::Null };
        fields.insert("name".to_owned(), self.name.json());
        fields.insert("x".to_owned(), self.x.json());
        fields.insert("y".to_owned(), self.y.json());
        fields.insert("tags".to_owned(), self.tags.json());
        fields.insert("stacks".to_owned(), self.stacks.json());
        fields.insert("spot".to_owned(), self.spot.json());
        fields.insert("alive".to_owned(), self.alive.json());
        Value::Object(fields)
    }

    fn structures(&self) -> usize {
        self.base.structures() + self.tags.structures() + self.stacks.structures() + self.spot.structures()
    }
}

impl Model for Tree {
    fn random(rng: &mut Rng) -> Self {
        // Half of the trees are leaves, so that growth ends.
        let children = if rng.u8(0..3) == 0 { List::random(rng) } else { List::new() };
        Self { name: String::random(rng), children }
    }

    fn mutate(&mut self, rng: &mut Rng) {
        if rng.bool() {
            self.name.mutate(rng);
        } else {
            self.children.mutate(rng);
        }
    }

    fn json(&self) -> Value {
        serde_json::json!({ "name": self.name.json(), "children": self.children.json() })
    }

    fn structures(&self) -> usize {
        1 + self.children.structures()
    }
}

model!(Hero { name, x, tags, stacks, mark });
model!(Team { lead, next, members, names });

model!(World {
    a,
    b,
    c,
    d,
    e,
    f,
    g,
    h,
    i,
    j,
    k,
    l,
    m,
    n,
    o,
    p,
    q,
    flags,
    numbers,
    words,
    units,
    stacks,
    set,
    names,
    bag,
    things,
    wide,
    unit,
    map,
    tree,
    first,
    second,
    heroes,
    row,
    team,
    teams,
    ranks,
    squads,
    marks,
    heir,
});
