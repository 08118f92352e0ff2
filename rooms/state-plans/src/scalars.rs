//! Numbers, booleans and texts at random: their edges, or texts that occur once.

use crate::model::Model;
use crate::sight::Sight;
use fastrand::Rng;
use playerthree_rooms_state::{BigInt, BigUint, Number};
use serde_json::{Value, json};
use std::cell::Cell;

/// Which texts a plan writes.
#[derive(Clone, Copy)]
pub(crate) enum Texts {
    /// Those at which the format changes its form, and others that come again and again.
    Edges,
    /// Texts that no other place ever holds, so that they can be looked for in what a client is sent.
    Secrets,
}

thread_local! {
    static TEXTS: Cell<Texts> = const { Cell::new(Texts::Edges) };
}

pub(crate) fn write_texts(texts: Texts) {
    TEXTS.set(texts);
}

fn secret(rng: &mut Rng) -> String {
    format!("<{:016x}>", rng.u64(..))
}

/// A key for a map that has the keys `known`.
pub(crate) fn key<'a>(known: impl Iterator<Item = &'a str>, rng: &mut Rng) -> String {
    match (TEXTS.get(), rng.u8(0..12)) {
        (Texts::Secrets, _) => {
            let known: Vec<_> = known.collect();
            let at = rng.usize(0..5);
            known.get(at).map_or_else(|| secret(rng), |key| (*key).to_owned())
        }
        (Texts::Edges, 0) => String::new(),
        (Texts::Edges, 1) => "ключ😀".to_owned(),
        (Texts::Edges, 2) => "k".repeat(300),
        (Texts::Edges, other) => format!("k{other}"),
    }
}

fn text(rng: &mut Rng) -> String {
    match (TEXTS.get(), rng.u16(0..400)) {
        (Texts::Secrets, _) => secret(rng),
        (Texts::Edges, 0) => "a".repeat(31),
        (Texts::Edges, 1) => "b".repeat(32),
        (Texts::Edges, 2) => "c".repeat(254),
        (Texts::Edges, 3) => "d".repeat(255),
        (Texts::Edges, 4) => "e".repeat(256),
        (Texts::Edges, 5) => "f".repeat(65_536),
        (Texts::Edges, 6) => "😀é".repeat(rng.usize(0..20)),
        (Texts::Edges, 7..=50) => String::new(),
        _ => format!("s{}", rng.u8(0..5)),
    }
}

macro_rules! scalar {
    ($type:ty, $random:expr, $seen:expr) => {
        impl Model for $type {
            fn random(rng: &mut Rng) -> Self {
                let random: fn(&mut Rng) -> $type = $random;
                random(rng)
            }

            fn mutate(&mut self, rng: &mut Rng) {
                *self = Self::random(rng);
            }

            fn seen(&self, sight: &mut Sight<'_>) -> Value {
                let seen: fn(&$type, &mut Sight<'_>) -> Value = $seen;
                seen(self, sight)
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
            |v, _| float(*v as f64)
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

scalar!(f64, double, |v, _| float(*v));
scalar!(f32, |rng| double(rng) as f32, |v, _| float(f64::from(*v)));
scalar!(Number, |rng| Number(double(rng)), |v, _| float(v.0));
scalar!(BigInt, |rng| BigInt(i64::random(rng)), |v, _| json!(format!("big {}", v.0)));
scalar!(BigUint, |rng| BigUint(u64::random(rng)), |v, _| json!(format!("big {}", v.0)));
scalar!(bool, Rng::bool, |v, _| json!(v));
scalar!(String, text, |v, sight| sight.text(v));
