//! What a room leaves behind whose game broke down: nothing that others would have to wait for.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use playerthree_binding::{GameRooms, Matches};
use playerthree_game::{
    Bot, CannotCreate, Clock, Context, Game, GameMatch, Manifest, Name, Outcome, Seat, SeatInfo, Setup,
    ViewKind,
};
use playerthree_host::{Accounts, Agents, PolicyPlaces};
use playerthree_rooms::testing::{Received, TestServer, guest};
use playerthree_rooms::{AuthRequest, Config, Method, Server};
use playerthree_sandbox::Workers;
use playerthree_session::{CommanderId, Surface};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::sync::Arc;

/// Tic-tac-toe that panics at the first move.
struct Fragile;

struct FragileMatch(Box<dyn GameMatch>);

impl Game for Fragile {
    fn manifest(&self) -> Manifest {
        TicTacToe.manifest()
    }
    fn clock(&self) -> Clock {
        TicTacToe.clock()
    }
    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Ok(Box::new(FragileMatch(TicTacToe.create(setup)?)))
    }
    fn create_bot(&self, seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
        TicTacToe.create_bot(seat, opponent)
    }
}

impl GameMatch for FragileMatch {
    fn tick(&self) -> u64 {
        self.0.tick()
    }
    fn step(&mut self) {
        self.0.step();
    }
    fn outcome(&self, team: &str) -> Outcome {
        self.0.outcome(team)
    }
    fn view(&self, team: &str, kind: ViewKind) -> Value {
        self.0.view(team, kind)
    }
    fn observe(&self, seat: &Seat, since: i64, detail: &[Name]) -> Value {
        self.0.observe(seat, since, detail)
    }
    fn apply(&mut self, _: &Seat, _: &Value, _: &Context) -> Result<(), &'static str> {
        panic!("a game breaks down")
    }
    fn report(&self, team: &str) -> Value {
        self.0.report(team)
    }
    fn events(&self, seat: &Seat, since: i64) -> Vec<Value> {
        self.0.events(seat, since)
    }
    fn set_seat_info(&mut self, seat: &Seat, info: &SeatInfo) {
        self.0.set_seat_info(seat, info);
    }
    fn match_data(&self, seat: &Seat) -> Option<Value> {
        self.0.match_data(seat)
    }
    fn observer_view(&self) -> Option<Value> {
        self.0.observer_view()
    }
}

/// §20.3: a commander whose match broke down is in its lobby again, so that its owner can seat or remove it.
#[tokio::test(start_paused = true)]
async fn a_room_that_panics_gives_its_commanders_back() {
    let accounts = Arc::new(Accounts::default());
    let places = PolicyPlaces::new(1, Workers::of_this_program());
    let agents = Arc::new(Agents::new(places.clone()));
    let surface = Arc::new(Surface::new(Arc::new(Fragile)).unwrap());
    let rooms = GameRooms::new(
        Arc::clone(&surface),
        Arc::clone(&accounts),
        Arc::clone(&agents),
        Matches::default(),
        places,
    );
    let server = TestServer::new(Server::builder(Config::default()).define("game", rooms).build().unwrap());
    let (token, account) = accounts.login("Ann").unwrap();
    let request = AuthRequest { token: Some(token.reveal().to_owned()), ..guest(json!({ "team": "x" })) };
    let mut ann = server.join_as(Method::Create, "game", request).await.unwrap();
    ann.send(
        "playerthree:addCommander",
        &json!({ "op": "addCommander", "seq": 1, "name": "Falcon", "roles": ["player"] }),
    )
    .await;
    let id = loop {
        if let Received::Message(kind, body) = ann.next().await
            && kind == "playerthree:result"
        {
            break CommanderId(body["data"]["id"].as_str().unwrap().into());
        }
    };
    let assign = json!({ "op": "assign", "seq": 2, "role": "player", "kind": "agent", "commander": id.0 });
    ann.send("playerthree:assign", &assign).await;
    let seats = || agents.commanders().list(&surface, &account.owner)[0]["seats"].as_array().unwrap().len();
    ann.rest().await;
    assert_eq!(seats(), 1, "it plays");

    let act = json!({ "intents": [{ "kind": "move", "row": 0, "col": 0 }] });
    let call = json!({ "op": "call", "seq": 3, "role": "player", "method": "act", "args": act });
    ann.send("playerthree:call", &call).await;
    ann.rest().await;
    assert!(server.server().listing().is_empty(), "the room has failed");
    assert_eq!(seats(), 0);
    agents.commanders().remove(&surface, &account.owner, &id).unwrap();
}
