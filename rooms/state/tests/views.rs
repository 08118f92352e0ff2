//! What a view's client is sent when items get their names late and when a patch comes between hiding and showing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

use playerthree_rooms_state::{Joining, State, Synced, Synchronized as _, View, ViewMap};

#[derive(State, Default)]
struct Ghost {
    name: String,
}

#[derive(State, Default)]
struct World {
    ghosts: ViewMap<Ghost>,
}

fn haunted(names: &[&str]) -> Synced<World> {
    let mut world = Synced::new(World::default());
    for name in names {
        world.ghosts.insert(*name, Ghost { name: format!("<{name}>") });
    }
    world.patch().unwrap();
    world
}

/// Sends the client of a view its patch, as a room does. Whether `text` is in it.
fn hears(world: &mut Synced<World>, view: &mut View, text: &str) -> bool {
    let (patch, full) = world.full(Joining::New).unwrap();
    let full = view.is_changed().then_some(&*full);
    let bytes = patch.restricted(view, full);
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

// An item gets its name when somebody asks for it, which changes no byte of the state.
#[test]
fn an_item_that_is_named_after_a_full_state_was_made_is_shown() {
    let mut world = haunted(&["g", "h"]);
    let mut view = View::default();
    let g = world.ghosts.id("g").unwrap();
    view.add(g);
    assert!(hears(&mut world, &mut view, "<g>"));
    let h = world.ghosts.id("h").unwrap();
    view.add(h);
    assert!(hears(&mut world, &mut view, "<h>"));
    assert!(view.contains(h, 0));
}

#[test]
fn what_changed_while_it_was_hidden_is_told_when_it_is_shown_again() {
    let mut world = haunted(&["g"]);
    let mut view = View::default();
    let g = world.ghosts.id("g").unwrap();
    view.add(g);
    assert!(hears(&mut world, &mut view, "<g>"));
    view.remove(g);
    world.ghosts.get_mut("g").unwrap().name = "<changed>".to_owned();
    assert!(!hears(&mut world, &mut view, "<changed>"));
    view.add(g);
    assert!(hears(&mut world, &mut view, "<changed>"));
}
