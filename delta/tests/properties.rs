//! Properties of every delta, over random values and random evolutions of them: exact, strict, never much larger than
//! the new value, and deterministic.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails where its input is wrong")]

use playerthree_delta::{Delta, DeltaError, apply, diff};
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

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 120, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A list whose elements recur, as alignment must cope with: few distinct values, with and without ids.
fn tricky_list() -> impl Strategy<Value = Value> {
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
enum Change {
    Set(Value),
    Insert(Index, Value),
    Remove(Index),
    Move(Index, Index),
    Slide(usize, Vec<Value>),
    Splice(Index, String),
}

fn change() -> impl Strategy<Value = Change> {
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
fn evolve(value: &mut Value, path: &[Index], change: &Change) {
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

/// The size in MessagePack, the body of every message that carries a delta.
fn packed(value: &Value) -> usize {
    rmp_serde::to_vec(value).unwrap().len()
}

fn check_pair(old: &Value, new: &Value) {
    let Some(delta) = diff(old, new) else {
        return assert_eq!(old.to_string(), new.to_string(), "values that differ need a delta");
    };
    assert_eq!(Some(&delta), diff(old, new).as_ref(), "the same values give the same delta");
    let received = Delta::decode(delta.as_wire().clone()).expect("a made delta is well formed");
    let rebuilt = apply(old.clone(), &received).expect("a made delta fits");
    assert_eq!(rebuilt.to_string(), new.to_string());
    assert!(packed(delta.as_wire()) <= packed(new) + 2, "{} for {new}", delta.as_wire());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// §4: a version rebuilt from the one before and its delta is that version, whatever the two are.
    #[test]
    fn a_delta_between_any_two_values_is_exact(old in value(), new in value()) {
        check_pair(&old, &new);
    }

    /// §4: the same over lists in which elements recur, move and lose their neighbours.
    #[test]
    fn a_delta_between_tricky_lists_is_exact(old in tricky_list(), new in tricky_list()) {
        check_pair(&old, &new);
    }

    /// §4: the same along an evolution, where old and new have most in common.
    #[test]
    fn a_chain_of_deltas_follows_an_evolution(
        start in prop_oneof![value(), tricky_list()],
        changes in prop::collection::vec((prop::collection::vec(any::<Index>(), 0..4), change()), 1..12),
    ) {
        let mut old = start;
        for (path, change) in &changes {
            let mut new = old.clone();
            evolve(&mut new, path, change);
            check_pair(&old, &new);
            old = new;
        }
    }

    /// A delta damaged on its way is refused or gives some value; it never panics and never grows without bound.
    #[test]
    fn a_corrupted_delta_never_panics(
        old in tricky_list(), new in tricky_list(),
        path in prop::collection::vec(any::<Index>(), 0..4), change in change(),
    ) {
        let Some(delta) = diff(&old, &new) else { return Ok(()) };
        let mut wire = delta.into_wire();
        evolve(&mut wire, &path, &change);
        let bound = packed(&old) + packed(&wire) + 8;
        if let Ok(delta) = Delta::decode(wire)
            && let Ok(result) = apply(old, &delta)
        {
            prop_assert!(packed(&result) <= bound);
        }
    }

    /// Any JSON at all in place of a delta is refused or applied, without a panic.
    #[test]
    fn an_arbitrary_value_is_no_dangerous_delta(old in value(), wire in value()) {
        if let Ok(delta) = Delta::decode(wire) {
            let _ = apply(old, &delta);
        }
    }
}

/// Each bound holds one past its limit and not at it.
#[test]
fn bounds_are_exact() {
    use playerthree_delta::{MAX_DEPTH, MAX_EDITS, MAX_WEIGHT};
    let nested = |depth: usize| (1..depth).fold(json!([]), |value, _| json!([value]));
    let at = |inner: Value| Delta::decode(json!([0, inner])).map(drop);
    assert_eq!(at(nested(MAX_DEPTH - 1)), Ok(()));
    assert_eq!(at(nested(MAX_DEPTH)), Err(DeltaError::Depth));
    assert_eq!(at(nested(MAX_DEPTH * 4)), Err(DeltaError::Depth));

    // The outer list and its tag weigh two, the string weighs one and its length.
    assert_eq!(at(Value::from("\u{1f3b2}".repeat((MAX_WEIGHT - 4) / 2) + "a")), Ok(()));
    assert_eq!(at(Value::from("\u{1f3b2}".repeat((MAX_WEIGHT - 4) / 2) + "ab")), Err(DeltaError::Weight));

    let steps = |count: usize| {
        let mut steps = vec![json!(1)];
        steps.resize(count + 1, json!(1));
        Delta::decode(Value::from(steps)).map(drop)
    };
    assert_eq!(steps(MAX_EDITS - 1), Ok(()));
    assert_eq!(steps(MAX_EDITS), Err(DeltaError::Edits));
}

/// A version that changes in more places than a delta may have edits is sent whole.
#[test]
fn too_many_edits_become_a_replacement() {
    let row = |x: u32| json!({"name": "a name that is not worth resending for one number", "x": x});
    let rows = |shift: u32| Value::from((0..40_000).map(|x| row(x + shift)).collect::<Vec<_>>());
    let delta = diff(&rows(0), &rows(1_000_000)).unwrap();
    assert_eq!(delta.as_wire()[0], json!(0));
    assert_eq!(apply(rows(0), &delta).unwrap(), rows(1_000_000));
}
