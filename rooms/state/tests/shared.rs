//! Instances in several places: what patches say of them, byte by byte. That decoders agree is shown by
//! `tests/state/differential.test.mjs`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

use playerthree_rooms_state::{
    Fault, Joining, List, Map, Shared, State, Synced, Synchronized as _, View, ViewMap,
};

#[derive(State, Default)]
struct Card {
    face: u8,
    #[state(view)]
    back: Option<u8>,
}

fn card(face: u8) -> Shared<Card> {
    Shared::new(Card { face, back: None })
}

#[derive(State, Default)]
struct Table {
    a: Option<Shared<Card>>,
    b: Option<Shared<Card>>,
    map: Map<Shared<Card>>,
    list: List<Shared<Card>>,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn patch<S: State>(state: &mut Synced<S>) -> String {
    hex(state.patch().unwrap().shared())
}

/// A state whose map is reference 1 and whose list is reference 2.
fn table() -> Synced<Table> {
    let mut table = Synced::new(Table::default());
    assert_eq!(patch(&mut table), "82018302");
    table
}

// Colyseus wire facts, 14.4: the same instance in several places is one reference, whose content follows once.
#[test]
fn an_instance_in_four_places_is_told_once_and_so_are_its_changes() {
    let mut table = table();
    let card = card(7);
    table.a = Some(card.clone());
    table.b = Some(card.clone());
    table.map.insert("k", card.clone());
    table.list.push(card.clone());
    assert_eq!(patch(&mut table), "80038103ff018000a16b03ff02800003ff038007");
    table.list[0].borrow_mut().face = 8;
    card.borrow_mut().face = 9;
    assert_eq!(patch(&mut table), "ff038009");
    let full = table.full(Joining::New).unwrap().1;
    assert_eq!(hex(full.shared()), "8003810382018302ff018000a16b03ff02800003ff038009");
}

#[test]
fn a_handle_outside_the_state_is_enough_to_make_a_patch_due() {
    let mut table = table();
    let card = card(1);
    card.borrow_mut().face = 2;
    assert!(!table.is_touched(), "it is in no state yet");
    table.a = Some(card.clone());
    assert_eq!(patch(&mut table), "8003ff038002");
    assert!(!table.is_touched());
    drop(card.borrow());
    assert!(!table.is_touched(), "reading changes nothing");
    card.borrow_mut().face = 3;
    assert!(table.is_touched());
    assert_eq!(patch(&mut table), "ff038003");
    assert_eq!(patch(&mut table), "");
}

#[test]
fn an_instance_stays_itself_while_one_place_has_it_at_the_end_of_a_tick() {
    let mut table = table();
    let card = card(1);
    table.a = Some(card.clone());
    table.map.insert("k", card.clone());
    assert_eq!(patch(&mut table), "8003ff018000a16b03ff038001");
    table.map.remove("k");
    assert_eq!(patch(&mut table), "ff014000");
    table.a = None;
    table.b = Some(card.clone());
    assert_eq!(patch(&mut table), "408103", "moved between places, without a byte of content");
    table.b = None;
    card.borrow_mut().face = 2;
    assert_eq!(patch(&mut table), "41", "what was taken away is not told of");
    table.a = Some(card);
    assert_eq!(patch(&mut table), "8004ff048002", "clients forgot it: it is new to them, and told in full");
}

#[test]
fn another_instance_in_a_place_replaces_the_one_before_it() {
    let mut table = table();
    let (one, two) = (card(1), card(2));
    table.a = Some(one.clone());
    table.b = Some(two.clone());
    table.map.insert("k", one.clone());
    table.list.push(one);
    patch(&mut table);
    table.a = Some(two.clone());
    *table.map.get_mut("k").unwrap() = two.clone();
    table.list[0] = two.clone();
    assert_eq!(patch(&mut table), "c004ff01c000a16b04ff02c00004");
    table.map.insert("k", two);
    assert_eq!(patch(&mut table), "", "the same instance again is no change");
}

// Decoders of generation 0.16 let go of shared items twice where one collection replaces another.
#[test]
fn a_collection_of_shared_instances_is_deleted_before_another_takes_its_place() {
    let mut table = table();
    let card = card(1);
    table.list.push(card.clone());
    patch(&mut table);
    table.list = [card].into_iter().collect();
    assert_eq!(patch(&mut table), "438304ff04800003");
}

#[test]
fn a_restricted_field_of_a_shared_instance_is_seen_by_views_that_hold_its_name() {
    let mut table = table();
    let card = card(1);
    card.borrow_mut().back = Some(200);
    table.a = Some(card.clone());
    let (_, full) = table.full(Joining::New).unwrap();
    let mut view = View::default();
    assert_eq!(hex(&full.restricted(&mut view)), "");
    view.add(card.id());
    assert_eq!(hex(&full.restricted(&mut view)), "ff0381c8");
    card.borrow_mut().back = Some(201);
    let patch = table.patch().unwrap();
    assert_eq!(hex(patch.shared()), "");
    assert_eq!(hex(&patch.restricted(&mut view, None)), "ff0381c9");
    assert_eq!(hex(&patch.restricted(&mut View::default(), None)), "");
}

#[derive(State, Default)]
struct Hidden {
    cards: ViewMap<Table>,
}

#[test]
fn a_shared_instance_where_only_some_clients_see_it_ends_the_state() {
    let mut hidden = Synced::new(Hidden::default());
    hidden.cards.insert("k", Table { a: Some(card(1)), ..Table::default() });
    assert_eq!(hidden.patch().err(), Some(Fault::SharedInView));
}

#[test]
fn an_instance_belongs_to_one_state_at_a_time() {
    let card = card(1);
    let mut first = table();
    first.a = Some(card.clone());
    patch(&mut first);
    let mut second = table();
    second.a = Some(card.clone());
    assert_eq!(second.patch().err(), Some(Fault::SharedElsewhere));
    drop((first, second));
    let mut third = table();
    third.a = Some(card);
    assert_eq!(patch(&mut third), "8003ff038001");
}

// References of two states are alike.
#[test]
fn a_collection_from_another_state_is_another_collection() {
    let (mut first, mut second) = (table(), table());
    first.list.push(card(1));
    patch(&mut first);
    std::mem::swap(&mut first.list, &mut second.list);
    first.list.push(card(2));
    assert_eq!(patch(&mut first), "438304ff04800005ff058002");
}

#[derive(State, Default)]
struct Link {
    next: Option<Shared<Link>>,
}

#[test]
fn instances_may_lead_to_each_other_in_a_circle_or_a_long_row() {
    let mut state = Synced::new(Link::default());
    let circle = Shared::new(Link::default());
    circle.borrow_mut().next = Some(circle.clone());
    state.next = Some(circle.clone());
    assert_eq!(patch(&mut state), "8001ff018001");
    let mut row = Shared::new(Link::default());
    for _ in 0..1000 {
        row = Shared::new(Link { next: Some(row) });
    }
    circle.borrow_mut().next = Some(row);
    state.patch().unwrap();
    assert!(state.full(Joining::New).unwrap().1.shared().len() > 5000);
    state.next = None;
    assert_eq!(patch(&mut state), "40");
    circle.borrow_mut().next = None;
}

#[test]
#[should_panic(expected = "borrowed twice")]
fn a_second_borrow_of_one_instance_panics() {
    let card = card(1);
    let _first = card.borrow_mut();
    let _second = card.borrow();
}
