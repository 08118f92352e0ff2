//! Agents play with tools alone: games interleaved on one inbox, cheats caught, nothing secret ever shown.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has nothing else to do")]

mod common;

use common::Table;
use playerthree_pipes::tools::{Holder, ToolError, call, catalog};
use playerthree_pipes::verify::{Request, verify};
use playerthree_pipes::{PipesError, Rate};
use serde_json::{Value, json};

struct Agents {
    table: Table,
    shown: std::sync::Mutex<String>,
}

impl Agents {
    fn new() -> Self {
        let table = Table::with(|limits| limits.post_rate = Rate { per_second: 1, burst: 1000 });
        Self { table, shown: std::sync::Mutex::default() }
    }

    async fn call(&self, who: &str, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        let answer = call(&self.table.pipes, &Holder::new(who), tool, arguments).await;
        self.shown.lock().unwrap().push_str(&format!("{answer:?}"));
        answer
    }

    async fn ok(&self, who: &str, tool: &str, arguments: Value) -> Value {
        self.call(who, tool, arguments).await.unwrap()
    }

    /// A signed inbox with both players and one game; its id and the game's.
    async fn pair(&self) -> (String, String) {
        let made = self.ok("ada", "pipes_create_game", json!({})).await;
        self.ok("bob", "pipes_join", json!({"code": made["pairingCode"]})).await;
        (made["inbox"].as_str().unwrap().to_owned(), made["game"]["gameId"].as_str().unwrap().to_owned())
    }

    async fn play(&self, who: &str, inbox: &str, game: &str, (row, col): (i64, i64)) -> Value {
        self.ok(who, "pipes_move", json!({"inbox": inbox, "game": game, "row": row, "col": col})).await
    }

    /// The read token in the one `watchUrl` of an answer.
    fn watch_token(answer: &Value) -> String {
        answer["watchUrl"].as_str().unwrap().strip_prefix("/pipes/#token=").unwrap().to_owned()
    }

    async fn export(&self, inbox: &str) -> String {
        let file = self.table.dir.path().join(format!("{inbox}.jsonl"));
        std::fs::read_to_string(file).unwrap()
    }
}

#[tokio::test]
async fn two_agents_play_three_games_interleaved_and_a_third_party_verifies_the_log() {
    let agents = Agents::new();
    let (inbox, first) = agents.pair().await;
    let mut games = vec![first];
    for game in ["second", "third"] {
        agents
            .ok("ada", "pipes_create_game", json!({"inbox": inbox, "game": game, "rows": 3, "cols": 4}))
            .await;
        games.push(game.to_owned());
    }
    let moves = [("ada", (0, 0)), ("bob", (1, 0)), ("ada", (0, 1)), ("bob", (1, 1)), ("ada", (0, 2))];
    for (who, cell) in moves {
        for game in &games {
            let answer = agents.play(who, &inbox, game, cell).await;
            assert_eq!((&answer["posted"], &answer["accepted"]), (&json!(true), &json!(true)), "{answer}");
        }
    }
    let report = verify(agents.export(&inbox).await.as_bytes(), Request::default()).unwrap().to_json();
    assert_eq!(report["verdict"], json!({"ok": true}));
    for game in report["games"].as_array().unwrap() {
        assert_eq!((&game["winner"], &game["endedBy"]), (&json!("X"), &json!("line")));
        assert_ne!(game["signers"]["X"], game["signers"]["O"]);
    }
    // Games that began after the guest was seated declare both keys: every one of their events is signed.
    assert_eq!(report["games"][1]["verifiedSigs"], 6);
    let held = agents.ok("bob", "pipes_inboxes", json!({})).await;
    assert_eq!(
        (&held["inboxes"][0]["you"], held["inboxes"][0]["games"].as_array().unwrap().len()),
        (&json!("O"), 3)
    );
}

#[tokio::test]
async fn what_readers_would_fault_is_refused_before_it_is_posted() {
    let agents = Agents::new();
    let (inbox, game) = agents.pair().await;
    agents.play("ada", &inbox, &game, (1, 1)).await;
    let head =
        || async { agents.ok("ada", "pipes_list_captures", json!({"inbox": inbox})).await["total"].clone() };
    let before = head().await;
    for (who, cell, fault) in [
        ("ada", (0, 0), "wrong_turn"),
        ("bob", (1, 1), "cell_occupied"),
        ("bob", (3, 0), "cell_out_of_range"),
    ] {
        let answer = agents.play(who, &inbox, &game, cell).await;
        assert_eq!((&answer["posted"], &answer["wouldFault"]), (&json!(false), &json!(fault)));
    }
    let answer = agents.ok("ada", "pipes_resign", json!({"inbox": inbox, "game": game})).await;
    assert_eq!(answer["wouldFault"], "wrong_turn");
    let again = agents.ok("ada", "pipes_create_game", json!({"inbox": inbox, "game": game})).await;
    assert_eq!(again["wouldFault"], "two_geneses");
    assert_eq!(head().await, before);
    let over = agents.ok("bob", "pipes_resign", json!({"inbox": inbox, "game": game})).await;
    assert_eq!((&over["game"]["winner"], &over["game"]["endedBy"]), (&json!("X"), &json!("resign")));
    assert_eq!(agents.play("ada", &inbox, &game, (0, 0)).await["wouldFault"], "after_terminal");
}

#[tokio::test]
async fn a_cheat_is_caught_by_the_opponents_verifier_and_the_inbox_keeps_serving() {
    let agents = Agents::new();
    let (inbox, game) = agents.pair().await;
    let board = agents.play("ada", &inbox, &game, (0, 0)).await;
    let tip = board["game"]["tipHash"].clone();
    let event = |seq: u64, prev: &Value, player: &str, row: u64, status: Option<&str>| {
        let mut event = json!({
            "game": game, "seq": seq, "prevHash": prev, "player": player, "action": "move", "move": {"row": row, "col": 0},
        });
        if let Some(status) = status {
            event["status"] = json!(status);
        }
        event.to_string()
    };
    let start = json!({
        "game": game, "seq": 0, "prevHash": "", "player": "X", "action": "start", "protocol": "flurryport:tic-tac-toe",
        "rules": {"rows": 9, "cols": 9, "winLength": 1},
    });
    let zeroes = json!("0".repeat(64));
    // Each is posted under the cheat's own key; X's events of this game carry a sig, which the cheat cannot make.
    let cheats = [
        ("bob", event(2, &tip, "O", 0, None), "cell_occupied"),
        ("bob", event(2, &tip, "O", 7, None), "cell_out_of_range"),
        ("bob", event(2, &zeroes, "O", 1, None), "wrong_prev_hash"),
        ("bob", event(4, &tip, "O", 1, None), "wrong_seq"),
        ("bob", event(3, &tip, "O", 1, None), "wrong_turn"),
        ("bob", event(3, &tip, "X", 1, None), "wrong_signer"),
        ("bob", start.to_string(), "wrong_signer"),
        ("ada", start.to_string(), "missing_signature"),
        ("bob", "{\"game\":\"GAME\",\"seq\":2,\"seq\":2}".replace("GAME", &game), "malformed_event"),
        ("bob", event(2, &tip, "O", 1, Some("win")), "wrong_status"),
    ];
    for (at, (who, body, fault)) in cheats.iter().enumerate() {
        agents.ok(who, "pipes_post", json!({"inbox": inbox, "body": body})).await;
        let seen = agents.ok("ada", "pipes_board", json!({"inbox": inbox, "game": game})).await;
        assert_eq!(
            (&seen["faults"][at]["reason"], seen["faults"].as_array().unwrap().len()),
            (&json!(fault), at + 1)
        );
    }
    // The last one was a legal move with a false claim: it counts, and the game goes on.
    let answer = agents.play("ada", &inbox, &game, (1, 1)).await;
    assert_eq!(answer["accepted"], true);
    let report = agents.ok("ada", "pipes_verify", json!({"inbox": inbox, "game": game})).await;
    assert_eq!(report["verdict"]["reason"], "cell_occupied");
    let offline = verify(agents.export(&inbox).await.as_bytes(), Request::default()).unwrap().to_json();
    assert_eq!(offline["verdict"], report["verdict"]);
    assert_eq!(offline["faults"], report["faults"]);
}

#[tokio::test]
async fn no_answer_and_no_error_ever_shows_a_key_or_a_token_but_the_hosts_read_token() {
    let agents = Agents::new();
    let (inbox, game) = agents.pair().await;
    agents.play("ada", &inbox, &game, (0, 0)).await;
    for (tool, arguments) in [
        ("pipes_roster", json!({"inbox": inbox})),
        ("pipes_list_captures", json!({"inbox": inbox})),
        ("pipes_inboxes", json!({})),
        ("pipes_verify", json!({"inbox": inbox})),
        ("pipes_mint_seat", json!({"inbox": inbox})),
    ] {
        agents.ok("ada", tool, arguments).await;
    }
    let held = agents.ok("ada", "pipes_inboxes", json!({})).await;
    let watch = format!("/pipes/#token={}", Agents::watch_token(&held["inboxes"][0]));
    let meta = std::fs::read_to_string(agents.table.dir.path().join(format!("{inbox}.json"))).unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    let shown = agents.shown.lock().unwrap().clone();
    // The answers to one pipes_create_game and two pipes_inboxes, and nothing else.
    assert_eq!(shown.matches(&watch).count(), 3);
    let shown = shown.replace(&watch, "");
    assert!(!shown.contains("pk_"), "a signing key was shown");
    assert!(!shown.contains(&format!("{inbox}.")), "a bearer token was shown");
    for secret in ["write", "read", "host"] {
        assert!(!shown.contains(meta[secret].as_str().unwrap()), "a digest was shown");
    }
}

/// Whoever watches reads, and neither posts nor invites; the guest is given nothing to pass on.
#[tokio::test]
async fn a_watch_url_reads_its_inbox_and_does_nothing_else() {
    let agents = Agents::new();
    for mode in ["signed", "anonymous"] {
        let made = agents.ok("ada", "pipes_create_game", json!({"mode": mode})).await;
        let token = Agents::watch_token(&made);
        let pipes = &agents.table.pipes;
        assert_eq!(pipes.reader(&token).await.unwrap().id(), made["inbox"]);
        assert_eq!(pipes.writer(&token).await.unwrap_err(), PipesError::NotFound);
        assert_eq!(pipes.host(&token).await.unwrap_err(), PipesError::NotFound);
        assert!(pipes.seat(&token).await.is_err());
        // Another game of the inbox, and a game that is refused, are watched at the same place.
        let again = json!({"inbox": made["inbox"], "game": made["game"]["gameId"]});
        let again = agents.ok("ada", "pipes_create_game", again).await;
        assert_eq!((&again["posted"], &again["watchUrl"]), (&json!(false), &made["watchUrl"]));
    }
    let (inbox, _) = agents.pair().await;
    let held = agents.ok("bob", "pipes_inboxes", json!({})).await;
    assert_eq!(
        (&held["inboxes"][0]["inbox"], &held["inboxes"][0]["watchUrl"]),
        (&json!(inbox), &Value::Null)
    );
}

/// An inbox whose stored digest is of another token keeps that one, and no token that reads nothing is handed out.
#[tokio::test]
async fn a_watch_url_survives_a_restart_unless_the_inbox_has_another_read_token() {
    let agents = Agents::new();
    let kept = agents.ok("ada", "pipes_create_game", json!({})).await;
    let other = agents.ok("ada", "pipes_create_game", json!({})).await;
    let Agents { table, shown } = agents;
    let file = table.dir.path().join(format!("{}.json", other["inbox"].as_str().unwrap()));
    let mut meta: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    meta["read"] = json!("0".repeat(64));
    std::fs::write(&file, meta.to_string()).unwrap();
    let agents = Agents { table: table.restart(), shown };
    let held = agents.ok("ada", "pipes_inboxes", json!({})).await;
    for inbox in held["inboxes"].as_array().unwrap() {
        let expected = if inbox["inbox"] == kept["inbox"] { &kept["watchUrl"] } else { &Value::Null };
        assert_eq!(&inbox["watchUrl"], expected);
    }
    assert!(agents.table.pipes.reader(&Agents::watch_token(&other)).await.is_err());
}

#[tokio::test]
async fn anonymous_play_needs_an_invite_and_no_key() {
    let agents = Agents::new();
    let made = agents
        .ok("ada", "pipes_create_game", json!({"mode": "anonymous", "rows": 1, "cols": 2, "winLength": 2}))
        .await;
    let (inbox, game) = (made["inbox"].as_str().unwrap(), made["game"]["gameId"].as_str().unwrap());
    agents.ok("bob", "pipes_join", json!({"invite": made["invite"]})).await;
    agents.play("ada", inbox, game, (0, 0)).await;
    let answer = agents.play("bob", inbox, game, (0, 1)).await;
    assert_eq!((&answer["game"]["status"], &answer["game"]["signers"]), (&json!("draw"), &Value::Null));
    let bad = agents.call("eve", "pipes_join", json!({"invite": "a.b~c.d"})).await;
    assert_eq!(bad, Err(ToolError::Pipes(PipesError::NotFound)));
}

#[tokio::test]
async fn a_stranger_sees_nothing_and_bad_arguments_do_nothing() {
    let agents = Agents::new();
    let (inbox, game) = agents.pair().await;
    for (tool, arguments) in [
        ("pipes_board", json!({"inbox": inbox, "game": game})),
        ("pipes_move", json!({"inbox": inbox, "game": game, "row": 0, "col": 0})),
        ("pipes_post", json!({"inbox": inbox, "body": "x"})),
        ("pipes_list_captures", json!({"inbox": inbox})),
        ("pipes_roster", json!({"inbox": inbox})),
        ("pipes_verify", json!({"inbox": inbox})),
        ("pipes_mint_seat", json!({"inbox": inbox})),
        ("pipes_create_game", json!({"inbox": inbox})),
    ] {
        let answer = agents.call("eve", tool, arguments).await;
        assert_eq!(answer, Err(ToolError::Pipes(PipesError::NotFound)), "{tool}");
    }
    assert_eq!(
        agents.call("bob", "pipes_mint_seat", json!({"inbox": inbox})).await,
        Err(ToolError::Pipes(PipesError::NotFound))
    );
    for (tool, arguments) in [
        ("pipes_create_game", json!({"rows": 0})),
        ("pipes_create_game", json!({"cols": 1.5})),
        ("pipes_create_game", json!({"rows": 9_007_199_254_740_992_u64})),
        ("pipes_create_game", json!({"game": ""})),
        ("pipes_create_game", json!({"game": "x".repeat(129)})),
        ("pipes_create_game", json!({"unknown": 1})),
        ("pipes_join", json!({})),
        ("pipes_join", json!({"code": "nonsense"})),
        ("pipes_verify", json!({})),
        ("pipes_move", json!({"inbox": inbox, "game": game, "row": "0", "col": 0})),
        ("pipes_board", json!([])),
    ] {
        assert_eq!(
            agents.call("ada", tool, arguments.clone()).await,
            Err(ToolError::BadArguments),
            "{tool} {arguments}"
        );
    }
    for (bytes, error) in [(512 << 10, PipesError::BadRequest), ((512 << 10) + 1, PipesError::TooLarge)] {
        let log = json!({"log": "x".repeat(bytes)});
        assert_eq!(agents.call("ada", "pipes_verify", log).await, Err(ToolError::Pipes(error)));
    }
    assert_eq!(agents.call("ada", "pipes_delete", json!({})).await, Err(ToolError::UnknownTool));
    let listed = agents.ok("ada", "pipes_list_captures", json!({"inbox": inbox, "limit": 1})).await;
    assert_eq!(listed["captures"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn seats_of_agents_survive_a_restart() {
    let agents = Agents::new();
    let (inbox, game) = agents.pair().await;
    agents.play("ada", &inbox, &game, (0, 0)).await;
    let Agents { table, shown } = agents;
    let agents = Agents { table: table.restart(), shown };
    let answer = agents.play("bob", &inbox, &game, (1, 1)).await;
    assert_eq!(answer["accepted"], true);
    let held = agents.ok("bob", "pipes_inboxes", json!({})).await;
    assert_eq!(held["inboxes"][0]["inbox"], inbox);
}

#[test]
fn every_tool_has_closed_schemas_and_is_callable() {
    let mut names: Vec<_> = catalog().iter().map(|tool| tool.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 11);
    for tool in catalog() {
        for schema in [(tool.input)(), (tool.output)()] {
            assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        }
    }
}
