//! Values that can be made and changed at random, and what a client must see of them.

use crate::sight::Sight;
use fastrand::Rng;
use playerthree_rooms_state::Id;
use serde_json::{Map, Value};
use std::cell::Cell;

/// How deep structs are made inside each other at once.
const DEPTH: usize = 5;

thread_local! {
    static DEEP: Cell<usize> = const { Cell::new(0) };
}

pub(crate) trait Model {
    fn random(rng: &mut Rng) -> Self
    where
        Self: Sized;

    /// Changes something, here or inside.
    fn mutate(&mut self, rng: &mut Rng);

    /// As the test reads a decoded state: sets sorted, numbers that JSON lacks as text.
    fn seen(&self, sight: &mut Sight<'_>) -> Value;

    /// The name of something that a view can hold.
    fn any_id(&mut self, rng: &mut Rng) -> Option<Id> {
        let _ = rng;
        None
    }
}

/// A struct's fields, those of its parent among them.
pub(crate) trait Fields {
    fn see_fields(&self, into: &mut Map<String, Value>, sight: &mut Sight<'_>);
}

/// Goes into a struct.
pub(crate) fn deeper<T>(inside: impl FnOnce() -> T) -> T {
    DEEP.set(DEEP.get() + 1);
    let made = inside();
    DEEP.set(DEEP.get() - 1);
    made
}

/// A few values, the fewer the deeper.
pub(crate) fn some<T>(rng: &mut Rng, make: impl Fn(&mut Rng) -> T) -> Vec<T> {
    let most = DEPTH.saturating_sub(DEEP.get()).min(4);
    (0..rng.usize(0..most.max(1))).map(|_| make(rng)).collect()
}

/// A struct of the state: random in each field, changed in one or a few that are neighbours, sometimes as a whole.
///
/// A field is `field NAME`, with `as "…"` where it is renamed and `= TAG` where it is restricted; `parent NAME` and
/// `skipped NAME` are what the derive calls `extends` and `skip`.
macro_rules! model {
    ($type:ident { $($kind:ident $field:ident $(as $name:literal)? $(= $tag:literal)?),* $(,)? }) => {
        impl crate::model::Fields for $type {
            fn see_fields(
                &self,
                into: &mut serde_json::Map<String, serde_json::Value>,
                sight: &mut crate::sight::Sight<'_>,
            ) {
                $(crate::model::see!($kind, self.$field, into, sight, stringify!($field) $(, as $name)? $(, = $tag)?);)*
            }
        }

        impl crate::model::Model for $type {
            fn random(rng: &mut fastrand::Rng) -> Self {
                crate::model::deeper(|| Self { $($field: crate::model::Model::random(rng),)* })
            }

            fn mutate(&mut self, rng: &mut fastrand::Rng) {
                if rng.u8(0..24) == 0 {
                    *self = crate::model::Model::random(rng);
                    return;
                }
                let fields = [$(stringify!($field)),*].len();
                // The last one more often, which may be one of many and next to what a child adds.
                let first = if rng.u8(0..5) == 0 { fields - 1 } else { rng.usize(0..fields) };
                let chosen = first..=first + rng.usize(0..3);
                crate::model::deeper(|| {
                    let mut place = 0..;
                    $(if place.next().is_some_and(|place| chosen.contains(&place)) {
                        crate::model::Model::mutate(&mut self.$field, rng);
                    })*
                });
            }

            fn seen(&self, sight: &mut crate::sight::Sight<'_>) -> serde_json::Value {
                sight.structure();
                let mut fields = serde_json::Map::new();
                crate::model::Fields::see_fields(self, &mut fields, sight);
                serde_json::Value::Object(fields)
            }

            fn any_id(&mut self, rng: &mut fastrand::Rng) -> Option<playerthree_rooms_state::Id> {
                let chosen = rng.usize(0..[$(stringify!($field)),*].len());
                let mut place = 0..;
                $(if place.next() == Some(chosen) {
                    return crate::model::Model::any_id(&mut self.$field, rng);
                })*
                None
            }
        }
    };
}

macro_rules! see {
    (skipped, $value:expr, $into:ident, $sight:ident, $own:expr) => {};
    (parent, $value:expr, $into:ident, $sight:ident, $own:expr) => {
        crate::model::Fields::see_fields(&$value, $into, $sight);
    };
    (field, $value:expr, $into:ident, $sight:ident, $own:expr $(, as $name:literal)? $(, = $tag:literal)?) => {
        let seen = $sight.field(
            [$($tag,)?].first().copied(),
            |sight| crate::model::Model::seen(&$value, sight),
        );
        $into.insert([$($name,)? $own][0].to_owned(), seen);
    };
}

pub(crate) use {model, see};
