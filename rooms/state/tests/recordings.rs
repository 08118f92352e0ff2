//! Our bytes beside recordings of the official encoder (schema 5), where the format leaves no freedom.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

use playerthree_rooms_state::{Bag, Dialect, Joining, List, Map, Number, Set, State, Synced, Synchronized};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn patch<S: State>(state: &mut Synced<S>) -> String {
    hex(state.patch().unwrap().shared())
}

fn full<S: State>(state: &mut Synced<S>) -> String {
    let (patch, full) = state.full(Joining::New).unwrap();
    assert!(patch.is_empty(), "the state was changed since its patch");
    hex(full.shared())
}

#[derive(State, Default)]
struct One {
    v: Number,
}

#[derive(State, Default)]
struct Item {
    name: String,
    qty: u8,
}

fn item(name: &str, qty: u8) -> Item {
    Item { name: name.to_owned(), qty }
}

#[derive(State, Default)]
struct Items {
    items: List<Item>,
}

#[derive(State, Default)]
struct Player {
    x: Number,
    y: Number,
    name: String,
}

fn player(x: f64, y: f64, name: &str) -> Player {
    Player { x: x.into(), y: y.into(), name: name.to_owned() }
}

#[derive(State, Default)]
struct Players {
    players: Map<Player>,
}

#[derive(State, Default)]
struct Duo {
    a: Player,
    b: Option<Player>,
    n: u8,
}

#[derive(State, Default)]
struct Lists {
    v: List<Number>,
    s: List<String>,
}

#[derive(State, Default)]
struct Unkeyed {
    nums: Set<i32>,
    bag: Bag<String>,
    items: Bag<Item>,
}

#[derive(State, Default)]
struct Child {
    #[state(extends)]
    parent: One,
    name: String,
}

// Colyseus wire facts, 14.11: the reflection is itself a full state.
#[test]
fn the_reflection_of_generation_0_18_is_the_recorded_one() {
    let table = [
        (
            Synced::new(One::default()).reflection(Dialect::Apart),
            "8001ff01800002ff0280008203ff03800004ff0480a17681a66e756d626572",
        ),
        (
            Synced::new(Items::default()).reflection(Dialect::Apart),
            "8001ff01800002800105ff0280008203ff03800004ff0480a56974656d7381a561727261798201ff0580018206ff06800007800108\
             ff0780a46e616d6581a6737472696e67ff0880a371747981a575696e7438",
        ),
        (
            Synced::new(Lists::default()).reflection(Dialect::Joined),
            "8001ff01800002ff0280008203ff03800004800105ff0480a17681ac61727261793a6e756d62657282ffff0580a17381ac61727261\
             793a737472696e6782ff",
        ),
    ];
    for (ours, recorded) in table {
        assert_eq!(hex(&ours.unwrap()), recorded);
    }
}

// A parent stands before its child, so that the root need not be the first type.
#[test]
fn a_child_names_its_parent_and_lists_its_own_fields() {
    let reflection = hex(&Synced::new(Child::default()).reflection(Dialect::Apart).unwrap());
    assert!(reflection.starts_with("80018101ff01"), "{reflection}");
    assert!(reflection.contains("800181008206"), "type 1 extends type 0: {reflection}");
}

// Recordings `schema-map-of-schema`.
#[test]
fn a_map_of_structs_says_what_the_official_encoder_says() {
    let mut state = Synced::new(Players::default());
    assert_eq!(patch(&mut state), "8001");
    state.players.insert("alice", player(1.0, 2.0, "Alice"));
    assert_eq!(patch(&mut state), "ff018000a5616c69636502ff028001810282a5416c696365");
    state.players.insert("bob", player(3.0, 4.0, "Bob"));
    assert_eq!(patch(&mut state), "ff018001a3626f6203ff038003810482a3426f62");
    *state.players.get_mut("alice").unwrap().x = 10.0;
    assert_eq!(patch(&mut state), "ff02800a");
    state.players.insert("bob", player(30.0, 40.0, "Bob2"));
    assert_eq!(patch(&mut state), "ff01c001a3626f6204ff04801e812882a4426f6232");
    state.players.remove("alice");
    assert_eq!(patch(&mut state), "ff014000");
    assert_eq!(full(&mut state), "8001ff018001a3626f6204ff04801e812882a4426f6232");
    state.players.remove("bob");
    state.players.insert("bob", player(9.0, 9.0, "Bob4"));
    assert_eq!(patch(&mut state), "ff01c001a3626f6205ff058009810982a4426f6234");
    state.players.insert("tmp", player(0.0, 0.0, "T"));
    state.players.remove("tmp");
    assert_eq!(patch(&mut state), "", "what came and went within one tick is not mentioned");
    state.players.clear();
    assert_eq!(patch(&mut state), "ff010a");
    state.players.clear();
    state.players.insert("dave", player(2.0, 2.0, "Dave"));
    assert_eq!(patch(&mut state), "ff018000a46461766506ff068002810282a444617665");
}

// Recordings `schema-nested-ref`.
#[test]
fn nested_structs_say_what_the_official_encoder_says() {
    let mut state = Synced::new(Duo { a: player(1.0, 2.0, "A"), b: None, n: 1 });
    assert_eq!(patch(&mut state), "80018201ff018001810282a141");
    *state.a.x = 10.0;
    assert_eq!(patch(&mut state), "ff01800a");
    state.n = 2;
    *state.a.y = 20.0;
    assert_eq!(patch(&mut state), "8202ff018114");
    state.b = Some(player(5.0, 6.0, "B"));
    assert_eq!(patch(&mut state), "8102ff028005810682a142");
    assert_eq!(full(&mut state), "800181028202ff01800a811482a141ff028005810682a142");
    state.b = None;
    assert_eq!(patch(&mut state), "41");
    state.n = 2;
    assert_eq!(patch(&mut state), "", "an equal value is no change");
}

// Recordings `schema-array-of-primitives`.
#[test]
fn lists_say_what_the_official_encoder_says() {
    let numbers = |values: &[f64]| values.iter().map(|value| Number(*value)).collect::<List<_>>();
    let mut state = Synced::new(Lists { v: numbers(&[1.0, 2.0, 3.0]), s: List::new() });
    assert_eq!(patch(&mut state), "80018102ff01800001800102800203");
    state.v.extend([Number(4.0), Number(5.0)]);
    assert_eq!(patch(&mut state), "ff01800304800405");
    *state.v[1] = 20.0;
    assert_eq!(patch(&mut state), "ff01000114");
    state.v.pop();
    assert_eq!(patch(&mut state), "ff014004");
    state.v.remove(0);
    assert_eq!(patch(&mut state), "ff014000");
    state.v.remove(1);
    assert_eq!(patch(&mut state), "ff014001");
    state.v.clear();
    assert_eq!(patch(&mut state), "ff010a");
    state.v.push(Number(1.0));
    patch(&mut state);
    state.v.clear();
    state.v.push(Number(9.0));
    assert_eq!(patch(&mut state), "ff010a800009");
    state.v.remove(0);
    state.v.extend([Number(7.0), Number(8.0)]);
    assert_eq!(full_after(&mut state), "80018102ff01800007800108");
}

// Recordings `schema-set-and-collection`.
#[test]
fn sets_and_bags_say_what_the_official_encoder_says() {
    let mut state = Synced::new(Unkeyed::default());
    assert_eq!(patch(&mut state), "800181028203");
    state.nums.extend([5, 6]);
    state.bag.insert("x".to_owned());
    state.items.insert(item("a", 1));
    assert_eq!(
        patch(&mut state),
        "ff0180000500000080010600000\
         0ff028000a178ff03800004ff0480a1618101"
    );
    state.nums.insert(5);
    let second = state.bag.insert("x".to_owned());
    assert_eq!(patch(&mut state), "ff028001a178");
    state.bag.remove(second);
    assert_eq!(patch(&mut state), "ff020a8000a178", "a removal is told by all that stays");
    state.bag.clear();
    assert_eq!(patch(&mut state), "ff020a");
}

fn full_after<S: State>(state: &mut Synced<S>) -> String {
    patch(state);
    full(state)
}
