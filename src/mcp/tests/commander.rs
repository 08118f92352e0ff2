//! §4, §5: commander tokens at the endpoint: no session, a lane for each role, and an end with the token.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod support;

use http::{Method, StatusCode};
use playerthree_agent_command::AgentCommand;
use playerthree_game::Seat;
use playerthree_host::MatchDoor;
use playerthree_mcp::Limits;
use playerthree_session::{CommanderId, CommanderKind, Draft, Isolation, Metadata, OwnerId};
use serde_json::{Value, json};
use std::sync::Arc;
use support::doors::{Actor, Script};
use support::{Answer, Post, Table};

struct Commanded {
    table: Table,
    id: CommanderId,
    token: String,
}

fn ann() -> OwnerId {
    OwnerId("ann".into())
}

impl Commanded {
    fn new(roles: &[&str]) -> Self {
        let door = Arc::new(Script::acks());
        let table = Table::new(Arc::new(AgentCommand), "red", door, Limits::default());
        let roles = roles.iter().map(|role| (*role).into()).collect();
        let draft = Draft {
            name: "Falcon".into(),
            roles,
            isolation: Isolation::Independent,
            kind: CommanderKind::Agent,
            metadata: Metadata::default(),
        };
        let (id, token) = table.agents.commanders().add(&table.surface, &ann(), draft).unwrap();
        Self { token: token.reveal().to_owned(), table, id }
    }

    async fn post(&self, method: &str, params: Value) -> Answer {
        self.table.send(Post::new(&self.token, method, params)).await
    }

    async fn tool(&self, name: &str, arguments: Value) -> Answer {
        self.post("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// Seats the commander on red's role.
    fn seat(&self, role: &str, script: Script) {
        let seat = Seat::new("red", role);
        let door = Arc::new(script) as Arc<dyn MatchDoor>;
        let (commanders, surface) = (self.table.agents.commanders(), &self.table.surface);
        commanders.seat(surface, (&ann(), "Ann"), &self.id, &seat, &"one".into(), door).unwrap();
    }
}

fn error(answer: &Answer) -> Value {
    serde_json::from_str(answer.result()["content"][0]["text"].as_str().unwrap()).unwrap()
}

/// §5, §20: a commander token is no lease: clients that keep no session header can play, several at once.
#[tokio::test]
async fn a_commander_token_needs_no_session() {
    let commanded = Commanded::new(&["ground"]);
    for _ in 0..3 {
        let listed = commanded.post("tools/list", json!({})).await;
        assert_eq!((listed.status, listed.session()), (StatusCode::OK, None));
    }
    let state = commanded.tool("game_wait", json!({ "seconds": 0 })).await;
    assert_eq!(state.result()["structuredContent"]["phase"], "lobby");
    let stray = Post::new(&commanded.token, "tools/list", json!({})).with("mcp-session-id", "whatever");
    assert_eq!(
        commanded.table.send(stray).await.status,
        StatusCode::OK,
        "there is no session to be wrong about"
    );
    let delete = Post::new(&commanded.token, "x", json!({})).verb(Method::DELETE);
    assert_eq!(commanded.table.send(delete).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

/// §4: with several roles a call names one, but for the briefing; a role that is not held is forbidden.
#[tokio::test]
async fn calls_of_a_commander_name_their_role() {
    let commanded = Commanded::new(&["ground", "air"]);
    let missing = commanded.tool("game_observe", json!({})).await;
    assert_eq!(
        error(&missing),
        json!({ "error": "invalid", "schemaCode": "missing_field", "path": ["role"] })
    );
    let briefing = commanded.tool("game_briefing", json!({})).await;
    let briefing = &briefing.result()["structuredContent"];
    assert_eq!((&briefing["seat"]["role"], &briefing["phase"]), (&json!("ground"), &json!("lobby")));
    assert_eq!(
        briefing["commands"],
        json!([{ "role": "ground", "phase": "lobby" }, { "role": "air", "phase": "lobby" }])
    );
    let one = Commanded::new(&["ground"]);
    assert_eq!(
        error(&one.tool("game_observe", json!({ "role": "air" })).await),
        json!({ "error": "forbidden" })
    );
    assert_eq!(error(&one.tool("game_observe", json!({ "role": "pope" })).await)["schemaCode"], "enum");
    assert_eq!(one.tool("game_ready", json!({})).await.result()["structuredContent"]["seat"], Value::Null);
}

/// §17: a briefing in the lobby tells where the commander's other lanes are, and makes nobody present there.
#[tokio::test]
async fn a_briefing_of_one_lane_is_no_call_of_another() {
    let commanded = Commanded::new(&["ground", "air"]);
    let (door, mut calls) = Script::new(|_, _| None);
    commanded.seat("air", door);
    tokio::select! {
        briefing = commanded.tool("game_briefing", json!({})) => {
            assert_eq!(briefing.result()["structuredContent"]["seat"]["role"], "ground");
        }
        _ = calls.recv() => panic!("the other lane was called"),
    }

    let commanded = Commanded::new(&["ground", "air"]);
    let Commanded { table, id, .. } = &commanded;
    let door = Actor::start(&table.surface, ["red", "blue"]);
    let seat = Seat::new("red", "air");
    let commanders = table.agents.commanders();
    commanders.seat(&table.surface, (&ann(), "Ann"), id, &seat, &"one".into(), door).unwrap();
    let briefing = commanded.tool("game_briefing", json!({})).await;
    assert_eq!(
        briefing.result()["structuredContent"]["commands"],
        json!([{ "role": "ground", "phase": "lobby" }, { "role": "air", "phase": "match", "team": "red" }])
    );
}

/// §4 "Agent sessions": a seated lane's calls go to its seat, another lane's do not.
#[tokio::test]
async fn calls_route_only_to_the_live_seat() {
    let commanded = Commanded::new(&["ground", "air"]);
    commanded.seat("air", Script::acks());
    let act = json!({ "role": "air", "intents": [{ "kind": "x" }] });
    assert_eq!(commanded.tool("game_act", act).await.result()["structuredContent"], json!({ "acks": [] }));
    let act = json!({ "role": "ground", "intents": [{ "kind": "x" }] });
    assert_eq!(error(&commanded.tool("game_act", act).await), json!({ "error": "not_in_match" }));
}

/// §5: rotation is felt at once by the old token's calls, and by every later one as a token like any bad one.
#[tokio::test]
async fn a_rotated_token_is_dead_at_once() {
    let commanded = Commanded::new(&["ground"]);
    commanded.post("tools/list", json!({})).await;
    let wait = commanded.tool("game_wait", json!({ "seconds": 60 }));
    let rotate = async {
        tokio::task::yield_now().await;
        let commanders = commanded.table.agents.commanders();
        commanders.rotate(&commanded.table.surface, &ann(), &commanded.id).unwrap()
    };
    let (waited, fresh) = tokio::join!(wait, rotate);
    assert_eq!(error(&waited), json!({ "error": "bad_token" }));
    let dead = commanded.post("tools/list", json!({})).await;
    let unknown = commanded.table.send(Post::new(&"A".repeat(32), "tools/list", json!({}))).await;
    assert_eq!((dead.status, &dead.text), (unknown.status, &unknown.text));
    assert_eq!(dead.status, StatusCode::UNAUTHORIZED);
    let alive = commanded.table.send(Post::new(fresh.reveal(), "tools/list", json!({}))).await;
    assert_eq!(alive.status, StatusCode::OK);
}
