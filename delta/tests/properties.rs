//! Properties of every delta, over random values and random evolutions of them: exact, strict, never much larger than
//! the new value, and deterministic.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails where its input is wrong")]

mod support;

use playerthree_delta::{Delta, DeltaError, apply, diff};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use support::{change, evolve, tricky_list, value};

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
