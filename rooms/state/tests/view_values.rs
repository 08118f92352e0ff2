//! Maps of plain values of which clients see what their views hold.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

use playerthree_rooms_state::{Joining, State, Synced, Synchronized as _, View, ViewMap};

#[derive(State, Default)]
struct Purse {
    coins: ViewMap<u8>,
}

// A value has no identity: setting it again is an assignment, as for everybody else's maps.
#[test]
fn a_value_that_is_set_again_stays_in_the_views_that_hold_its_entry() {
    let mut purse = Synced::new(Purse::default());
    purse.coins.insert("ada", 7);
    let mut view = View::default();
    let id = purse.coins.id("ada").unwrap();
    view.add(id);
    let (_, full) = purse.full(Joining::New).unwrap();
    assert_eq!(full.restricted(&mut view), *b"\xff\x01\x80\x00\xa3ada\x07");
    purse.coins.insert("ada", 8);
    assert_eq!(purse.coins.id("ada"), Some(id));
    let patch = purse.patch().unwrap();
    assert_eq!(patch.restricted(&mut view, None), [0xff, 1, 0, 0, 8]);
    purse.coins.remove("ada");
    purse.coins.insert("ada", 9);
    assert_ne!(purse.coins.id("ada"), Some(id), "an entry that was removed is another when it returns");
    let patch = purse.patch().unwrap();
    assert_eq!(patch.restricted(&mut view, None), [0xff, 1, 0x40, 0]);
}
