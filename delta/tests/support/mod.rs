//! Random JSON values and random changes of them, for the property tests and for the differential test.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Number, Value, json};

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "id", "x", "hp", "kind"]).prop_map(String::from),
        1 => prop::sample::select(vec!["", "0", "10", "__proto__", "constructor", "toString", "é", "\u{1f3b2}"])
            .prop_map(String::from),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| Number::from_f64(float).map_or(Value::Null, Value::Number)),
        prop::sample::select(vec![0.0, -0.0, 1.0, 1e300]).prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "red",
            "blue",
            "....#....#....",
            "\u{1f3b2}\u{1f3b2}é.......\u{1f3b2}"
        ])
        .prop_map(Value::from),
        "\\PC{0,24}".prop_map(Value::from),
    ]
}

/// Any JSON value, small.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 120, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A list whose elements recur, as alignment must cope with: few distinct values, with and without ids.
pub(crate) fn tricky_list() -> impl Strategy<Value = Value> {
    let number = (0i64..4).prop_map(Value::from).boxed();
    let entity = (0i64..12, 0i64..3, any::<bool>())
        .prop_map(|(id, x, up)| json!({"id": id, "x": x, "up": up}))
        .boxed();
    let nameless = (prop::sample::select(vec!["hit", "move"]), 0i64..3)
        .prop_map(|(kind, n)| json!({"kind": kind, "n": n}));
    let pair = (0i64..3, 0i64..3).prop_map(|(a, b)| json!([a, b])).boxed();
    let mixed = prop_oneof![number.clone(), entity.clone(), pair.clone(), scalar()].boxed();
    prop_oneof![Just(number), Just(entity), Just(nameless.boxed()), Just(pair), Just(mixed)]
        .prop_flat_map(|item| prop::collection::vec(item, 0..40))
        .prop_map(Value::from)
}

/// One random change of a value somewhere inside it.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Set(Value),
    Insert(Index, Value),
    Remove(Index),
    Move(Index, Index),
    Slide(usize, Vec<Value>),
    Splice(Index, String),
}

/// Any change.
pub(crate) fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        value().prop_map(Change::Set),
        (any::<Index>(), value()).prop_map(|(at, value)| Change::Insert(at, value)),
        any::<Index>().prop_map(Change::Remove),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Change::Move(from, to)),
        (0usize..4, prop::collection::vec(scalar(), 0..4)).prop_map(|(drop, push)| Change::Slide(drop, push)),
        (any::<Index>(), "[a-z#]{0,3}").prop_map(|(at, text)| Change::Splice(at, text)),
    ]
}

/// Applies `change` at the place that `path` leads to.
pub(crate) fn evolve(value: &mut Value, path: &[Index], change: &Change) {
    if let Some((step, rest)) = path.split_first() {
        match value {
            Value::Array(items) if !items.is_empty() => {
                let at = step.index(items.len());
                return evolve(&mut items[at], rest, change);
            }
            Value::Object(members) if !members.is_empty() => {
                let at = step.index(members.len());
                return evolve(members.values_mut().nth(at).unwrap(), rest, change);
            }
            _ => {}
        }
    }
    match (value, change) {
        (Value::Array(items), Change::Insert(at, value)) => {
            items.insert(at.index(items.len() + 1), value.clone());
        }
        (Value::Array(items), Change::Remove(at)) if !items.is_empty() => {
            items.remove(at.index(items.len()));
        }
        (Value::Array(items), Change::Move(from, to)) if !items.is_empty() => {
            let item = items.remove(from.index(items.len()));
            items.insert(to.index(items.len() + 1), item);
        }
        (Value::Array(items), Change::Slide(drop, push)) => {
            items.drain(..(*drop).min(items.len()));
            items.extend_from_slice(push);
        }
        (Value::Object(members), Change::Insert(at, value)) => {
            members.insert(format!("k{}", at.index(6)), value.clone());
        }
        (Value::Object(members), Change::Remove(at)) if !members.is_empty() => {
            let key = members.keys().nth(at.index(members.len())).unwrap().clone();
            members.remove(&key);
        }
        (Value::String(text), Change::Splice(at, piece)) => {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            text.insert_str(places[at.index(places.len())], piece);
        }
        (slot, Change::Set(value)) => *slot = value.clone(),
        _ => {}
    }
}
