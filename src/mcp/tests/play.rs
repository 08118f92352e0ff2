//! Whole games over the endpoint against real matches: what an agent that knows nothing but the tool list does.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use playerthree_game::Game;
use playerthree_mcp::Limits;
use playerthree_session::Surface;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use support::Table;
use support::doors::Actor;

fn tic_tac_toe() -> Arc<dyn Game> {
    Arc::new(playerthree_tic_tac_toe::TicTacToe)
}

fn agent_command() -> Arc<dyn Game> {
    Arc::new(playerthree_agent_command::AgentCommand)
}

/// Two seats of one match, each behind a token of its own.
fn seats(game: &Arc<dyn Game>, teams: [&str; 2]) -> [Table; 2] {
    let surface = Arc::new(Surface::new(Arc::clone(game)).unwrap());
    let door = Actor::start(&surface, teams);
    let limits = Limits { calls_per_second: 1000.0, calls_burst: 1000, ..Limits::default() };
    teams.map(|team| Table::new(Arc::clone(game), team, door.clone(), limits))
}

// §4: briefing with commands, topics and skills as text; then moves to an outcome that both are told.
#[tokio::test]
async fn two_agents_play_tic_tac_toe_to_the_end() {
    let [x, o] = seats(&tic_tac_toe(), ["x", "o"]);
    let (sx, so) = (x.claim().await, o.claim().await);

    let briefing = x.call(&sx, "game_briefing", json!({})).await.structured();
    assert_eq!(briefing["controlPlane"], 1);
    assert_eq!(briefing["surfaceHash"], json!(x.surface.hash));
    assert_eq!(briefing["commands"], json!([{ "role": "player", "phase": "match", "team": "x" }]));
    let topic = x.call(&sx, "game_briefing", json!({ "topic": "intents" })).await.result();
    assert_eq!(topic["structuredContent"]["topic"], "intents");
    assert!(
        topic["content"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with(topic["structuredContent"]["text"].as_str().unwrap())
    );
    let skill = json!({ "name": "playerthree-commander", "path": "SKILL.md" });
    let skill = x.call(&sx, "game_skill", skill).await.structured();
    assert!(skill["text"].as_str().unwrap().starts_with("---\n"));
    let with_role = json!({ "name": "playerthree-commander", "path": "SKILL.md", "role": "player" });
    assert_eq!(
        x.call(&sx, "game_skill", with_role).await.tool_error().unwrap()["schemaCode"],
        "unknown_field"
    );

    for (index, (row, col)) in [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)].into_iter().enumerate() {
        let (table, session) = if index % 2 == 0 { (&x, &sx) } else { (&o, &so) };
        let seen = table.call(session, "game_observe", json!({})).await.structured();
        assert_eq!(seen["observation"]["yourTurn"], true);
        let intents = json!({ "intents": [{ "kind": "move", "row": row, "col": col }] });
        assert_eq!(
            table.call(session, "game_act", intents).await.structured(),
            json!({ "acks": [{ "ok": true }] })
        );
    }
    // The first wait of a lane tells its entry (§4); the next one the end.
    for (table, session, outcome) in [(&x, &sx, "win"), (&o, &so, "loss")] {
        let entry = table.call(session, "game_wait", json!({ "seconds": 1 })).await.structured();
        assert_eq!((&entry["phase"], &entry["outcome"]), (&json!("match"), &json!(outcome)));
        let ended = table.call(session, "game_wait", json!({ "seconds": 60 })).await.structured();
        assert_eq!((&ended["wake"], &ended["outcome"]), (&json!("ended"), &json!(outcome)));
    }
}

// §4 wait: an event of another seat wakes a wait that is under way.
#[tokio::test]
async fn a_wait_wakes_at_a_visible_event() {
    let [x, o] = seats(&tic_tac_toe(), ["x", "o"]);
    let (sx, so) = (x.claim().await, o.claim().await);
    o.call(&so, "game_wait", json!({ "seconds": 0 })).await.structured();
    let waiting = o.call(&so, "game_wait", json!({ "seconds": 60, "until": ["move"] }));
    let moving = x.call(&sx, "game_act", json!({ "intents": [{ "kind": "move", "row": 1, "col": 1 }] }));
    let (woken, moved) = tokio::join!(waiting, moving);
    assert_eq!(moved.structured(), json!({ "acks": [{ "ok": true }] }));
    assert_eq!(woken.structured()["wake"], "event");
    assert_eq!(woken.structured()["events"][0]["kind"], "move");
}

// §4: a realtime game too: everything it shows is of its declared schemas, tick after tick.
#[tokio::test(start_paused = true)]
async fn agent_command_runs_and_every_result_conforms() {
    let [red, blue] = seats(&agent_command(), ["red", "blue"]);
    let (sr, sb) = (red.claim().await, blue.claim().await);
    let mut last = -1;
    for _ in 0..20 {
        for (table, session) in [(&red, &sr), (&blue, &sb)] {
            let seen = table.call(session, "game_observe", json!({ "role": "economy" })).await.structured();
            let tick = seen["observation"]["tick"].as_i64().unwrap();
            assert!(tick >= last);
            last = tick;
        }
        let told = red.call(&sr, "game_wait", json!({ "seconds": 0.5 })).await.structured();
        assert_eq!(told["phase"], "match");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(last > 10);
    let status: Value = red.call(&sr, "policy_status", json!({})).await.structured();
    assert!(status["policy"].is_object() || status["policy"].is_null());
}

// §15: what the match refuses comes back as a closed code with a path, never with the value.
#[tokio::test]
async fn bad_arguments_are_refused_without_an_echo() {
    let [x, _o] = seats(&tic_tac_toe(), ["x", "o"]);
    let session = x.claim().await;
    for (tool, arguments) in [
        ("game_briefing", json!({ "topic": "Canary7" })),
        ("game_briefing", json!({ "page": 2 })),
        ("game_observe", json!({ "Canary7": 1 })),
        ("game_observe", json!({ "fields": ["Canary7"] })),
        ("game_observe", json!({ "page": 0 })),
        ("game_observe", json!({ "page": 10_001 })),
        ("game_observe", json!({ "page": 2, "Canary7": 1 })),
        ("game_act", json!({ "intents": [] })),
        ("game_act", json!({ "intents": vec![json!({ "kind": "resign" }); 65] })),
        ("game_act", json!({ "intents": "Canary7" })),
        ("game_wait", json!({ "seconds": 61 })),
        ("game_wait", json!({ "seconds": -1 })),
        ("game_wait", json!({ "seconds": 1, "until": ["Canary7"] })),
        ("game_skill", json!({ "name": "Canary7", "path": "../../Canary7" })),
        ("policy_deploy", json!({ "runtime": "Canary7", "code": "" })),
        ("policy_status", json!({ "Canary7": 1 })),
    ] {
        let answer = x.call(&session, tool, arguments.clone()).await;
        let error = answer.tool_error().unwrap_or_else(|| panic!("{tool} {arguments} passed"));
        assert!(
            ["invalid", "mode_unavailable"].contains(&error["error"].as_str().unwrap()),
            "{tool}: {error}"
        );
        assert!(!answer.text.contains("Canary7"), "{tool} echoes: {}", answer.text);
    }
    let ack = x.call(&session, "game_act", json!({ "intents": [{ "kind": "Canary7" }] })).await;
    assert_eq!(ack.structured()["acks"][0]["ok"], false);
    assert!(!ack.text.contains("Canary7"));
}
