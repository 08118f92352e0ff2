//! §18 over a real room, with the clock paused and stepped: a room whose session is paused steps nothing, says so, and goes
//! on at its own pace.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../../session/tests/common/drill.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of sessions, which use more of it")]
mod drill;

use drill::Drill;
use playerthree_binding::{GameRooms, Matches};
use playerthree_game::{Clock, PauseLimits};
use playerthree_host::{Accounts, Agents, PolicyPlaces};
use playerthree_rooms::testing::{Received, TestClient, TestServer, guest};
use playerthree_rooms::{AuthRequest, Config, Method, Server};
use playerthree_sandbox::Workers;
use playerthree_session::Surface;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// A person who leads side a in a room of the drill, which steps ten times a second.
struct Ann {
    client: TestClient,
    seq: u32,
    status: Value,
    /// Her own seat as she sees it.
    seat: Value,
    /// Keeps the rooms.
    _server: TestServer,
}

impl Ann {
    async fn plays(pausable: Option<PauseLimits>) -> Self {
        let accounts = Arc::new(Accounts::default());
        let places = PolicyPlaces::new(1, Workers::of_this_program());
        let agents = Arc::new(Agents::new(places.clone()));
        let mut game = Drill::new(Clock::Realtime);
        game.control.pausable = pausable;
        let surface = Arc::new(Surface::new(Arc::new(game)).unwrap());
        let rooms = GameRooms::new(surface, Arc::clone(&accounts), agents, Matches::default(), places);
        let server = Server::builder(Config::default()).define("drill", rooms).build().unwrap();
        let server = TestServer::new(server);
        let (token, _) = accounts.login("Ann").unwrap();
        let wish = guest(json!({ "team": "a", "role": "lead" }));
        let request = AuthRequest { token: Some(token.reveal().to_owned()), ..wish };
        let client = server.join_as(Method::Create, "drill", request).await.unwrap();
        let mut ann = Self { client, seq: 0, status: Value::Null, seat: Value::Null, _server: server };
        ann.read().await;
        ann
    }

    /// Takes in what came, and returns the answers among it.
    async fn read(&mut self) -> Vec<Value> {
        let mut answers = Vec::new();
        for received in self.client.rest().await {
            let Received::Message(kind, body) = received else { continue };
            match &*kind {
                "playerthree:status" => self.status = body,
                "playerthree:seats" => self.seat = body["seats"][0].clone(),
                "playerthree:result" => answers.push(body),
                _ => {}
            }
        }
        answers
    }

    async fn ask(&mut self, op: &str, mut fields: Value) -> Value {
        self.seq += 1;
        (fields["op"], fields["seq"], fields["role"]) = (json!(op), json!(self.seq), json!("lead"));
        self.client.send(format!("playerthree:{op}").as_str(), &fields).await;
        self.read().await.pop().expect("an operation is answered")
    }

    async fn mandates(&mut self, when_absent: &str) -> Value {
        let mut mandate = self.seat["mandate"].clone();
        mandate["whenAbsent"] = json!(when_absent);
        self.ask("mandate", json!({ "mandate": mandate })).await
    }

    async fn calls(&mut self, method: &str, args: Value) -> Value {
        self.ask("call", json!({ "method": method, "args": args })).await
    }

    async fn tick(&mut self) -> u64 {
        self.calls("observe", json!({})).await["data"]["observation"]["tick"].as_u64().unwrap()
    }
}

async fn pass(millis: u64) {
    sleep(Duration::from_millis(millis)).await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_room_steps_nothing_and_goes_on_at_its_own_pace() {
    let mut ann = Ann::plays(Some(PauseLimits { max_pause_seconds: None })).await;
    pass(1_050).await;
    assert_eq!(ann.tick().await, 10);
    assert_eq!(ann.mandates("pause").await["ok"], true);
    assert_eq!(ann.ask("controller", json!({ "controller": "agent" })).await["ok"], true);
    let held = ann.status["paused"]["seats"][0].clone();
    assert_eq!((&held["team"], &held["role"], &held["tick"]), (&json!("a"), &json!("lead"), &json!(10)));
    assert_eq!(ann.seat["pause"]["since"], held["since"]);
    for _ in 0..10 {
        pass(6_000).await;
        assert_eq!(ann.tick().await, 10);
    }
    let acted = ann.calls("act", json!({ "intents": [{ "kind": "mark", "n": 1 }] })).await;
    assert_eq!(acted["code"], "paused");
    assert_eq!(ann.ask("controller", json!({ "controller": "human" })).await["ok"], true);
    assert_eq!((ann.tick().await, ann.status.get("paused"), ann.seat.get("pause")), (10, None, None));
    for seconds in 1..=5 {
        pass(1_000).await;
        assert_eq!(ann.tick().await, 10 + 10 * seconds, "neither a burst nor a drift");
    }
}

#[tokio::test(start_paused = true)]
async fn the_mandate_operation_knows_pause_in_pausable_games_alone() {
    let mut ann = Ann::plays(None).await;
    let refused = ann.mandates("pause").await;
    assert_eq!((&refused["ok"], &refused["code"]), (&json!(false), &json!("invalid")));
    assert_eq!(ann.mandates("hold").await["ok"], true);
}
