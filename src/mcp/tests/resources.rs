//! Skills as files and the status of seats as resources (§4, §17): what a credential may list and read, what it may not,
//! and how much of it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use http::StatusCode;
use playerthree_agent_command::AgentCommand;
use playerthree_host::Ttl;
use playerthree_mcp::Limits;
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use support::doors::{Actor, Script};
use support::{Answer, Post, Table};

/// A table and the session that claimed its token.
async fn claimed(table: Table) -> (Table, String) {
    let session = table.claim().await;
    (table, session)
}

async fn scripted() -> (Table, String) {
    claimed(Table::scripted(Script::acks())).await
}

async fn ask((table, session): &(Table, String), method: &'static str, params: Value) -> Answer {
    table.send(table.post(method, params).with("mcp-session-id", session)).await
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// §4: every served skill is listed with all of its files, and each file reads as the bytes that its size and digest are
/// of, the same that `game_skill` serves.
#[tokio::test]
async fn every_file_of_every_skill_reads_as_its_size_and_digest_say() {
    let game = Arc::new(AgentCommand);
    let at = claimed(Table::new(game, "red", Arc::new(Script::acks()), Limits::default())).await;
    let listed = ask(&at, "skills/list", json!({})).await.result();
    assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(3_600_000), &json!("private")));
    let entries = listed["skills"].as_array().unwrap();
    let served = at.0.surface.knowledge.skills();
    assert_eq!(entries.len(), served.len());
    for skill in served {
        let address = |path: &str| format!("skill://agent-command/{}/{path}", skill.name);
        let entry = entries.iter().find(|entry| entry["uri"] == address("SKILL.md")).unwrap();
        assert_eq!(entry["frontmatter"], Value::Object(skill.frontmatter().unwrap()));
        let files = entry["resources"].as_array().unwrap();
        assert_eq!(files.len(), skill.files.len());
        for (path, text) in &skill.files {
            let file = files.iter().find(|file| file["uri"] == address(path)).unwrap();
            let read = ask(&at, "resources/read", json!({ "uri": address(path) })).await.result();
            let [content] = &read["contents"].as_array().unwrap()[..] else { panic!("{read}") };
            let body = content["text"].as_str().unwrap();
            assert_eq!((body, &content["uri"]), (&**text, &file["uri"]));
            assert_eq!(file["size"], body.len());
            assert_eq!(file["digest"], format!("sha256:{}", digest(body)));
            assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(3_600_000), &json!("private")));
        }
        let got = ask(&at, "skills/get", json!({ "uri": address("SKILL.md") })).await.result();
        assert_eq!(&got["skill"], entry);
    }
}

/// §17: the list holds each `SKILL.md` and this credential's own status, and nobody keeps it.
#[tokio::test]
async fn resources_are_the_skills_heads_and_the_callers_own_status() {
    let at = scripted().await;
    let listed = ask(&at, "resources/list", json!({})).await.result();
    assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(0), &json!("private")));
    let resources = listed["resources"].as_array().unwrap();
    let (statuses, heads): (Vec<&Value>, Vec<&Value>) =
        resources.iter().partition(|it| it["uri"].as_str().unwrap().starts_with("playerthree://seat/"));
    assert_eq!(statuses.len(), 1);
    assert_eq!(statuses[0]["uri"].as_str().unwrap().len(), "playerthree://seat/".len() + 43);
    assert_eq!(heads.len(), at.0.surface.knowledge.skills().len());
    assert!(heads.iter().all(|head| head["uri"].as_str().unwrap().ends_with("/SKILL.md")));
    assert!(heads.iter().all(|head| head["mimeType"] == "text/markdown" && head["size"].is_u64()));
    let templates = ask(&at, "resources/templates/list", json!({})).await.result();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "skill://tic-tac-toe/{+path}");
}

/// §4: addresses that do not exist are not found, whatever they look like.
#[tokio::test]
async fn unknown_addresses_are_not_found() {
    let at = scripted().await;
    for uri in [
        "skill://tic-tac-toe/tic-tac-toe-reference/missing.md",
        "skill://tic-tac-toe/tic-tac-toe-reference/../SKILL.md",
        "skill://tic-tac-toe/tic-tac-toe-reference",
        "skill://tic-tac-toe/missing/SKILL.md",
        "skill://agent-command/playerthree-commander/SKILL.md",
        "playerthree://seat/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "playerthree://seat/",
        "file:///etc/passwd",
    ] {
        let answer = ask(&at, "resources/read", json!({ "uri": uri })).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::OK, Some(-32602)), "{uri}");
        assert_eq!(answer.message()["error"]["data"], json!({ "uri": uri }));
    }
    let missing = json!({ "uri": "skill://tic-tac-toe/missing/SKILL.md" });
    assert_eq!(ask(&at, "skills/get", missing).await.code(), Some(-32602));
}

/// §15: params out of their bounds are refused before anything is claimed, and nothing of them comes back.
#[tokio::test]
async fn params_out_of_their_bounds_are_refused_without_an_echo() {
    let table = Table::scripted(Script::acks());
    let long = format!("skill://{}/SKILL.md", "Canary7".repeat(80));
    let many: Vec<String> = (0..65).map(|n| format!("playerthree://seat/Canary7{n}")).collect();
    let listen = |wanted: Value| ("subscriptions/listen", json!({ "notifications": wanted }));
    let bent = [
        ("resources/list", json!({ "cursor": "Canary7" })),
        ("resources/templates/list", json!({ "cursor": "Canary7" })),
        ("skills/list", json!({ "cursor": "Canary7" })),
        ("resources/read", json!({})),
        ("resources/read", json!({ "uri": 7 })),
        ("resources/read", json!({ "uri": "" })),
        ("resources/read", json!({ "uri": long })),
        ("resources/read", json!({ "uri": "skill://Canary7/a b" })),
        ("skills/get", json!({ "uri": long })),
        ("skills/get", json!({ "uri": "skill://Canary7/a/README.md" })),
        ("skills/get", json!({ "uri": "skill://Canary7/a/SKILL.md?x=/SKILL.md" })),
        ("subscriptions/listen", json!({})),
        listen(json!([])),
        listen(json!({ "resourceSubscriptions": many })),
        listen(json!({ "resourceSubscriptions": "playerthree://seat/Canary7" })),
        listen(json!({ "resourceSubscriptions": [7] })),
        listen(json!({ "resourceSubscriptions": [long] })),
        listen(json!({ "toolsListChanged": "Canary7" })),
    ];
    for (method, params) in bent {
        let answer = table.send(table.post(method, params.clone())).await;
        assert_eq!((answer.code(), answer.session()), (Some(-32602), None), "{method} {params}");
        assert!(!answer.text.contains("Canary7"), "{}", answer.text);
    }
    for method in ["resources/subscribe", "resources/directory/read", "prompts/list", "logging/setLevel"] {
        let answer = table.send(table.post(method, json!({ "uri": "skill://a/SKILL.md" }))).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::NOT_FOUND, Some(-32601)), "{method}");
    }
    table.claim().await;
}

/// §15: lists and reads have a rate of their own, which leaves the calls of a match alone.
#[tokio::test(start_paused = true)]
async fn lists_and_reads_past_their_rate_are_refused() {
    let limits = Limits { reads_burst: 3, reads_per_second: 1.0, ..Limits::default() };
    let door = Arc::new(Script::acks());
    let at = claimed(Table::new(Arc::new(TicTacToe), "o", door, limits)).await;
    let uri = "skill://tic-tac-toe/playerthree-commander/SKILL.md";
    let read = || ask(&at, "resources/read", json!({ "uri": uri }));
    assert_eq!(read().await.status, StatusCode::OK);
    assert_eq!(ask(&at, "skills/list", json!({})).await.status, StatusCode::OK);
    let refused = read().await;
    assert_eq!((refused.status, refused.code()), (StatusCode::TOO_MANY_REQUESTS, Some(-32000)));
    assert_eq!(refused.headers["retry-after"], "1");
    let acts = at.0.call(&at.1, "game_act", json!({ "intents": [{ "kind": "resign" }] })).await;
    assert_eq!(acts.structured(), json!({ "acks": [] }));
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    assert_eq!(read().await.status, StatusCode::OK);
}

async fn status_uri(table: &Table, token: &str, session: &str) -> String {
    let list = Post::new(token, "resources/list", json!({})).with("mcp-session-id", session);
    let listed = table.send(list).await.result();
    listed["resources"][0]["uri"].as_str().unwrap().to_owned()
}

/// §17: a seat's status has an address for each credential, which is not found for any other one, of the same seat or not.
#[tokio::test]
async fn a_status_belongs_to_one_credential() {
    let surface = Arc::new(playerthree_session::Surface::new(Arc::new(TicTacToe)).unwrap());
    let door = Actor::start(&surface, ["x", "o"]);
    let at = claimed(Table::new(Arc::new(TicTacToe), "x", door.clone(), Limits::default())).await;
    let seat = playerthree_game::Seat::new("x", "player");
    let (agents, door) = (&at.0.agents, door as Arc<dyn playerthree_host::MatchDoor>);
    let second = agents.mint("room".into(), seat, Arc::clone(&at.0.surface), door, Ttl::default());
    let claim = at.0.send(Post::new(second.reveal(), "tools/list", json!({}))).await;
    let session = claim.session().unwrap();

    let own = status_uri(&at.0, &at.0.token, &at.1).await;
    assert_eq!(own, status_uri(&at.0, &at.0.token, &at.1).await);
    let others = status_uri(&at.0, second.reveal(), session).await;
    assert_ne!(own, others);
    assert_eq!(ask(&at, "resources/read", json!({ "uri": others })).await.code(), Some(-32602));
    let mut bent = own.clone();
    bent.pop();
    assert_eq!(ask(&at, "resources/read", json!({ "uri": bent })).await.code(), Some(-32602));

    let read = ask(&at, "resources/read", json!({ "uri": own })).await.result();
    assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(0), &json!("private")));
    let status: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    let running =
        json!({ "phase": "match", "team": "x", "tick": 0, "outcome": "running", "unreadOwnerMessages": 0 });
    assert_eq!(status, running);
}
