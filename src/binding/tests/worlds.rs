//! §18: rooms of persistent sessions go on while nobody is there, and there are never more of them than their game says.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use playerthree_binding::{GameRooms, Matches};
use playerthree_host::{Accounts, Agents, PolicyPlaces};
use playerthree_rooms::{Config, Server};
use playerthree_sandbox::Workers;
use playerthree_session::{Persistent, Surface};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::json;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

/// Long past the time in which a room that nobody joined ends.
const LATER: Duration = Duration::from_secs(120);

fn rooms() -> GameRooms {
    let places = PolicyPlaces::new(1, Workers::of_this_program());
    let agents = Arc::new(Agents::new(places.clone()));
    let surface = Arc::new(Surface::new(Arc::new(TicTacToe)).unwrap());
    GameRooms::new(surface, Arc::new(Accounts::default()), agents, Matches::default(), places)
}

#[tokio::test(start_paused = true)]
async fn a_room_without_an_end_outlasts_its_clients_and_there_are_only_so_many() {
    let worlds = rooms().persistent(Persistent::new(10, 2).unwrap(), NonZero::new(2).unwrap());
    let server = Server::builder(Config::default())
        .define("worlds", worlds)
        .define("matches", rooms())
        .build()
        .unwrap();
    let world = server.create("worlds", &json!({})).unwrap();
    server.create("worlds", &json!({})).unwrap();
    assert_eq!(server.create("worlds", &json!({})).unwrap_err().reason, "at_capacity");
    let ends = server.create("matches", &json!({})).unwrap();
    tokio::time::sleep(LATER).await;
    assert!(server.room(world).await.unwrap().is_some());
    assert!(server.room(ends).await.unwrap().is_none(), "a match that nobody plays ends");
    assert_eq!(server.create("worlds", &json!({})).unwrap_err().reason, "at_capacity");
}

#[tokio::test(start_paused = true)]
async fn a_room_that_is_not_made_takes_no_place() {
    let worlds = rooms().persistent(Persistent::new(10, 2).unwrap(), NonZero::<u16>::MIN);
    let server = Server::builder(Config::default()).define("worlds", worlds).build().unwrap();
    server.create("worlds", &json!({ "teams": [] })).unwrap_err();
    server.create("worlds", &json!({})).unwrap();
}
