//! The limits of a state: at each bound all is well, past it there is a stated fault and no panic.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

use playerthree_rooms_state::{
    Fault, Id, Joining, List, MAX_DEPTH, MAX_VIEW_ENTRIES, State, Synced, Synchronized, View,
};

#[derive(State, Default)]
struct Chain {
    next: List<Chain>,
}

/// A chain of `depth` structs in each other.
fn chain(depth: u8) -> Chain {
    let mut chain = Chain::default();
    for _ in 1..depth {
        chain = Chain { next: vec![chain].into() };
    }
    chain
}

#[test]
fn structs_nest_as_deep_as_the_limit_and_no_deeper() {
    let mut state = Synced::new(chain(MAX_DEPTH));
    assert!(state.patch().is_ok());
    assert!(state.full(Joining::New).is_ok());
    let mut state = Synced::new(chain(MAX_DEPTH + 1));
    assert_eq!(state.patch().err(), Some(Fault::TooDeep));
    assert_eq!(state.patch().err(), Some(Fault::TooDeep), "what clients hold is unknown from then on");
    assert_eq!(state.full(Joining::New).err(), Some(Fault::TooDeep));
}

#[test]
fn a_view_takes_its_most_entries_and_refuses_the_next() {
    let mut items = Synced::new(Chain { next: (0..=MAX_VIEW_ENTRIES).map(|_| Chain::default()).collect() });
    let mut view = View::default();
    let ids: Vec<Id> = (0..=MAX_VIEW_ENTRIES).map(|index| items.next.id(index).unwrap()).collect();
    assert!(ids[..MAX_VIEW_ENTRIES].iter().all(|id| view.add(*id)));
    assert!(!view.add(ids[MAX_VIEW_ENTRIES]));
    assert!(view.add(ids[0]), "what it holds already is no entry more");
    view.remove(ids[0]);
    assert!(view.add(ids[MAX_VIEW_ENTRIES]));
}

// A view forgets items that are gone, so that their entries do not fill it up.
#[test]
fn a_view_forgets_what_is_gone() {
    let mut items = Synced::new(Chain { next: vec![Chain::default()].into() });
    let mut view = View::default();
    let id = items.next.id(0).unwrap();
    view.add(id);
    items.next.clear();
    let (patch, full) = items.full(Joining::New).unwrap();
    assert!(patch.restricted(&mut view, Some(&full)).is_empty());
    assert!(!view.contains(id, 0));
}
