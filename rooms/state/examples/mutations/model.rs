//! Values that can be made and changed at random, and what a client must see of them.

use fastrand::Rng;
use playerthree_rooms_state::{
    Bag, BigInt, BigUint, Id, Item, List, Map, Number, Present, Set, Shared, State,
};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::Hash;
use std::thread::LocalKey;

pub(crate) trait Model {
    fn random(rng: &mut Rng) -> Self;
    fn mutate(&mut self, rng: &mut Rng);
    /// As the test reads a decoded state: sets sorted, numbers that JSON lacks as text.
    fn json(&self) -> Value;
    /// Structures that a client holds. A shared instance counts once until `SEEN` is emptied.
    fn structures(&self) -> usize {
        0
    }
}

macro_rules! scalar {
    ($type:ty, $random:expr, $json:expr) => {
        impl Model for $type {
            fn random(rng: &mut Rng) -> Self {
                let random: fn(&mut Rng) -> $type = $random;
                random(rng)
            }

            fn mutate(&mut self, rng: &mut Rng) {
                *self = Self::random(rng);
            }

            fn json(&self) -> Value {
                let json: fn(&$type) -> Value = $json;
                json(self)
            }
        }
    };
}

/// Small numbers most of the time, the extremes sometimes.
macro_rules! integer {
    ($($type:ident)*) => {$(
        scalar!(
            $type,
            |rng| match rng.u8(0..6) {
                0 => $type::MIN,
                1 => $type::MAX,
                2 => rng.$type(..),
                _ => rng.$type(0..20),
            },
            |v| float(*v as f64)
        );
    )*};
}

integer!(i8 u8 i16 u16 i32 u32 i64 u64);

fn float(value: f64) -> Value {
    if value.is_finite() && (value != 0.0 || value.is_sign_positive()) {
        json!(value)
    } else if value.is_nan() {
        json!("NaN")
    } else {
        json!(format!("float {value}"))
    }
}

fn double(rng: &mut Rng) -> f64 {
    match rng.u8(0..12) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => -0.0,
        4 => 0.1,
        5 => f64::from(i32::MIN),
        6 => 4_294_967_296.0,
        7 => f64::MAX,
        8 => -f64::from(rng.u16(..)),
        9 => rng.f64(),
        _ => f64::from(rng.u32(0..70_000)),
    }
}

scalar!(f64, double, |v| float(*v));
scalar!(f32, |rng| double(rng) as f32, |v| float(f64::from(*v)));
scalar!(Number, |rng| Number(double(rng)), |v| float(v.0));
scalar!(BigInt, |rng| BigInt(i64::random(rng)), |v| json!(format!("big {}", v.0)));
scalar!(BigUint, |rng| BigUint(u64::random(rng)), |v| json!(format!("big {}", v.0)));
scalar!(bool, Rng::bool, |v| json!(v));
scalar!(
    String,
    |rng| match rng.u16(0..400) {
        0 => "a".repeat(31),
        1 => "b".repeat(32),
        2 => "c".repeat(254),
        3 => "d".repeat(255),
        4 => "e".repeat(256),
        5 => "f".repeat(65_536),
        6 => "😀é".repeat(rng.usize(0..20)),
        7..=50 => String::new(),
        _ => format!("s{}", rng.u8(0..5)),
    },
    |v| json!(v)
);

impl<V: Model + Present> Model for Option<V> {
    fn random(rng: &mut Rng) -> Self {
        rng.bool().then(|| V::random(rng))
    }

    fn mutate(&mut self, rng: &mut Rng) {
        match self {
            Some(value) if rng.u8(0..3) > 0 => value.mutate(rng),
            _ => *self = Self::random(rng),
        }
    }

    fn json(&self) -> Value {
        self.as_ref().map_or(json!("undefined"), Model::json)
    }

    fn structures(&self) -> usize {
        self.as_ref().map_or(0, Model::structures)
    }
}

fn key(rng: &mut Rng) -> String {
    match rng.u8(0..12) {
        0 => String::new(),
        1 => "ключ😀".to_owned(),
        2 => "k".repeat(300),
        other => format!("k{other}"),
    }
}

fn some<T>(rng: &mut Rng, make: impl Fn(&mut Rng) -> T) -> Vec<T> {
    (0..rng.usize(0..4)).map(|_| make(rng)).collect()
}

impl<V: Model + Item> Model for Map<V> {
    fn random(rng: &mut Rng) -> Self {
        some(rng, |rng| (key(rng), V::random(rng))).into_iter().collect()
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let key = key(rng);
        match rng.u8(0..20) {
            0 => self.clear(),
            1 => *self = Self::random(rng),
            2 => self.retain(|_, value| {
                value.mutate(rng);
                rng.bool()
            }),
            3 => self.values_mut().for_each(|value| value.mutate(rng)),
            4..=6 => drop(self.remove(&key)),
            7..=8 => {
                if let Some(value) = self.remove(&key) {
                    self.insert(key, value);
                }
            }
            9..=14 => match self.get_mut(&key) {
                Some(value) => value.mutate(rng),
                None => drop(self.insert(key, V::random(rng))),
            },
            _ => drop(self.insert(key, V::random(rng))),
        }
    }

    fn json(&self) -> Value {
        json!({ "map": self.iter().map(|(key, value)| (key.to_owned(), value.json())).collect::<serde_json::Map<_, _>>() })
    }

    fn structures(&self) -> usize {
        1 + self.values().map(Model::structures).sum::<usize>()
    }
}

impl<T: Model + Item> Model for List<T> {
    fn random(rng: &mut Rng) -> Self {
        some(rng, T::random).into()
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let (at, other) = (rng.usize(0..self.len() + 1), rng.usize(0..self.len() + 1));
        match rng.u8(0..24) {
            0 => self.clear(),
            1 => *self = Self::random(rng),
            2 => self.reverse(),
            3 => self.sort_by(|a, b| a.json().to_string().cmp(&b.json().to_string())),
            4 => self.retain(|_| rng.bool()),
            5 => self.truncate(at),
            6..=7 => self.swap(at, other),
            8..=9 => drop(self.remove(at)),
            10 => drop(self.swap_remove(at)),
            11 => drop(self.pop()),
            12..=13 => self.insert(at, T::random(rng)),
            14 => drop(self.replace(at, T::random(rng))),
            15 => {
                if let Some(item) = self.remove(at) {
                    self.insert(other, item);
                }
            }
            16 => self.iter_mut().for_each(|item| item.mutate(rng)),
            17..=20 if at < self.len() => self[at].mutate(rng),
            _ => self.push(T::random(rng)),
        }
    }

    fn json(&self) -> Value {
        json!(self.iter().map(Model::json).collect::<Vec<_>>())
    }

    fn structures(&self) -> usize {
        1 + self.iter().map(Model::structures).sum::<usize>()
    }
}

fn unordered<'a, T: Model + 'a>(items: impl Iterator<Item = &'a T>) -> Value {
    let mut items: Vec<_> = items.map(|item| item.json().to_string()).collect();
    items.sort();
    json!({ "unordered": items })
}

impl<T: Model + Item> Model for Bag<T> {
    fn random(rng: &mut Rng) -> Self {
        some(rng, T::random).into_iter().collect()
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let keys: Vec<_> = self.iter().map(|(key, _)| key).collect();
        let key = rng.choice(keys);
        match (rng.u8(0..12), key) {
            (0, _) => self.clear(),
            (1, _) => *self = Self::random(rng),
            (2..=4, Some(key)) => drop(self.remove(key)),
            (5..=7, Some(key)) => self.get_mut(key).unwrap().mutate(rng),
            _ => drop(self.insert(T::random(rng))),
        }
    }

    fn json(&self) -> Value {
        unordered(self.iter().map(|(_, item)| item))
    }

    fn structures(&self) -> usize {
        1 + self.iter().map(|(_, item)| item.structures()).sum::<usize>()
    }
}

impl<T: Model + Item + Eq + Hash + Clone> Model for Set<T> {
    fn random(rng: &mut Rng) -> Self {
        some(rng, T::random).into_iter().collect()
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let item = T::random(rng);
        match rng.u8(0..12) {
            0 => self.clear(),
            1 => *self = Self::random(rng),
            2..=5 => drop(self.remove(&item)),
            _ => drop(self.insert(item)),
        }
    }

    fn json(&self) -> Value {
        unordered(self.iter())
    }

    fn structures(&self) -> usize {
        1 + self.iter().map(Model::structures).sum::<usize>()
    }
}

thread_local! {
    static SEEN: RefCell<HashSet<Id>> = RefCell::default();
}

/// Structures that a client of this state holds.
pub(crate) fn structures(state: &impl Model) -> usize {
    SEEN.take();
    state.structures()
}

/// A struct whose instances stand in several places.
pub(crate) trait Pooled: Model + State {
    /// The instances that a place may be given, some of which are in none.
    fn pool() -> &'static LocalKey<RefCell<Vec<Shared<Self>>>>
    where
        Self: Sized;

    /// Changes an instance through none of its places.
    fn mutate_any(rng: &mut Rng)
    where
        Self: Sized,
    {
        if let Some(instance) = Self::pool().with_borrow(|pool| rng.choice(pool).cloned()) {
            instance.borrow_mut().mutate(rng);
        }
    }
}

impl<T: Pooled> Model for Shared<T> {
    fn random(rng: &mut Rng) -> Self {
        let at = rng.usize(0..6);
        if let Some(known) = T::pool().with_borrow(|pool| pool.get(at).cloned())
            && rng.u8(0..8) > 0
        {
            return known;
        }
        let instance = Self::new(T::random(rng));
        T::pool().with_borrow_mut(|pool| match pool.get_mut(at) {
            Some(place) => place.clone_from(&instance),
            None => pool.push(instance.clone()),
        });
        instance
    }

    fn mutate(&mut self, rng: &mut Rng) {
        if rng.bool() {
            self.borrow_mut().mutate(rng);
        } else {
            *self = Self::random(rng);
        }
    }

    fn json(&self) -> Value {
        self.borrow().json()
    }

    fn structures(&self) -> usize {
        let first = SEEN.with_borrow_mut(|seen| seen.insert(self.id()));
        if first { self.borrow().structures() } else { 0 }
    }
}

/// A struct of the state: random in each field, changed in one.
macro_rules! model {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl crate::model::Model for $type {
            fn random(rng: &mut fastrand::Rng) -> Self {
                Self { $($field: crate::model::Model::random(rng),)* }
            }

            fn mutate(&mut self, rng: &mut fastrand::Rng) {
                let fields = [$(stringify!($field)),*];
                let chosen = fields[rng.usize(0..fields.len())];
                $(if chosen == stringify!($field) {
                    return crate::model::Model::mutate(&mut self.$field, rng);
                })*
            }

            fn json(&self) -> serde_json::Value {
                let mut fields = serde_json::Map::new();
                $(fields.insert(stringify!($field).to_owned(), crate::model::Model::json(&self.$field));)*
                serde_json::Value::Object(fields)
            }

            fn structures(&self) -> usize {
                1 $(+ crate::model::Model::structures(&self.$field))*
            }
        }
    };
}

pub(crate) use model;
