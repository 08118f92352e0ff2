//! Tool calls (§4): the list with its hash, roles, results and their texts, pages, closed errors, checked output. The match
//! answers by script, so that each case is exactly what it says.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use playerthree_game::{Bot, CannotCreate, Clock, Game, GameMatch, Manifest, Seat, Setup, t};
use playerthree_mcp::Limits;
use playerthree_schema::{Invalid, PathPart, SchemaCode};
use playerthree_session::{CallError, Code};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use support::Table;
use support::doors::Script;

const CANARY: &str = "Canary7Canary7";

// §4: every tool that the modes enable, static, with schemas, annotations, the pinned hash and the caching hints.
#[tokio::test]
async fn the_tool_list_is_pinned_and_complete() {
    let table = Table::scripted(Script::acks());
    let answer = table.send(table.post("tools/list", json!({}))).await;
    let result = answer.result();
    assert_eq!(result["_meta"]["dev.playerthree/surfaceHash"], json!(table.surface.hash));
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(3_600_000), &json!("private")));
    let names: Vec<&str> = table.surface.tools.iter().map(|tool| tool.name).collect();
    let listed = result["tools"].as_array().unwrap();
    assert_eq!(listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
    for (tool, ours) in listed.iter().zip(&table.surface.tools) {
        assert_eq!(tool["inputSchema"], ours.input_schema);
        assert_eq!(tool["outputSchema"], ours.output_schema);
        assert_eq!(tool["annotations"], json!({ "readOnlyHint": ours.read_only, "openWorldHint": false }));
        assert_eq!((&tool["title"], &tool["description"]), (&json!(ours.title), &json!(ours.description)));
    }
}

// §4: one tool for each method whose mode the game has, under its contract's name, and which of them only read.
#[tokio::test]
async fn each_enabled_mode_has_its_tool_and_says_whether_it_only_reads() {
    let agent_command = Arc::new(playerthree_agent_command::AgentCommand);
    let table = Table::new(agent_command, "red", Arc::new(Script::acks()), Limits::default());
    let result = table.send(table.post("tools/list", json!({}))).await.result();
    let listed: Vec<(&str, bool)> = result["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            assert_eq!(tool["annotations"]["openWorldHint"], false);
            (tool["name"].as_str().unwrap(), tool["annotations"]["readOnlyHint"].as_bool().unwrap())
        })
        .collect();
    let expected = [
        ("game_briefing", true),
        ("game_observe", true),
        ("game_act", false),
        ("game_sequence", false),
        ("game_wait", true),
        ("game_ready", false),
        ("game_skill", true),
        ("policy_deploy", false),
        ("policy_status", true),
        ("policy_rollback", false),
        ("practice_run", false),
        ("pool_publish", false),
        ("game_say", false),
    ];
    assert_eq!(listed, expected);
}

// §4: a tool of a mode that the game lacks is `mode_unavailable`, and it is not listed.
#[tokio::test]
async fn a_tool_of_a_missing_mode_is_unavailable() {
    let table = Table::scripted(Script::acks());
    let session = table.claim().await;
    for name in ["practice_run", "pool_publish", "game_sequence", "game_say"] {
        assert!(table.surface.tools.iter().all(|tool| tool.name != name));
        let answer = table.call(&session, name, json!({})).await;
        assert_eq!(answer.tool_error(), Some(json!({ "error": "mode_unavailable" })), "{name}");
    }
}

// §4: the own role may be named; another role of the game is forbidden, anything else is invalid with its path.
#[tokio::test]
async fn a_seat_token_holds_one_role() {
    let (script, mut kept) = Script::new(|_, _| None);
    let limits = Limits::default();
    let table =
        Table::new(Arc::new(playerthree_agent_command::AgentCommand), "red", Arc::new(script), limits);
    let session = table.claim().await;
    let role = |role: Value| table.call(&session, "policy_status", json!({ "role": role }));
    assert_eq!(role(json!("air")).await.tool_error(), Some(json!({ "error": "forbidden" })));
    let invalid = |code: &str| Some(json!({ "error": "invalid", "schemaCode": code, "path": ["role"] }));
    assert_eq!(role(json!(CANARY)).await.tool_error(), invalid("enum"));
    assert_eq!(role(json!([CANARY])).await.tool_error(), invalid("type"));
    let own = role(json!("economy"));
    let answering = async {
        let call = kept.recv().await.unwrap();
        assert_eq!(call.args, json!({}));
        call.reply.send(Ok(json!({ "policy": null }))).unwrap();
    };
    assert_eq!(tokio::join!(own, answering).0.structured(), json!({ "policy": null }));
}

// §4: structured content and its JSON as text, with the pinned hash; a failed call says its code and nothing more.
#[tokio::test]
async fn results_carry_text_structure_and_hash() {
    let table = Table::scripted(Script::always(json!({ "acks": [{ "ok": true }] })));
    let session = table.claim().await;
    let good = table.call(&session, "game_act", json!({ "intents": [{ "kind": "resign" }] })).await.result();
    assert_eq!(good["structuredContent"], json!({ "acks": [{ "ok": true }] }));
    assert_eq!(good["content"], json!([{ "type": "text", "text": r#"{"acks":[{"ok":true}]}"# }]));
    assert_eq!(good["isError"], false);
    assert_eq!(good["_meta"]["dev.playerthree/surfaceHash"], json!(table.surface.hash));
    let bad = table.call(&session, "game_act", json!({ "role": CANARY })).await.result();
    assert_eq!(bad["isError"], true);
    assert!(bad.get("structuredContent").is_none());
    assert_eq!(bad["_meta"]["dev.playerthree/surfaceHash"], json!(table.surface.hash));
}

// §4: every closed code of the match arrives as it is, with schema code and path where it has them.
#[tokio::test]
async fn errors_of_the_match_arrive_in_closed_codes() {
    let detail =
        Invalid::at(SchemaCode::UnknownField, [PathPart::Field("intents".into()), PathPart::Unknown]);
    for (error, expected) in [
        (CallError::from(Code::OutOfScope), json!({ "error": "out_of_scope" })),
        (CallError::from(Code::NotInMatch), json!({ "error": "not_in_match" })),
        (
            CallError::from(detail),
            json!({ "error": "invalid", "schemaCode": "unknown_field", "path": ["intents", "?"] }),
        ),
    ] {
        let table = Table::scripted(Script::new(move |_, _| Some(Err(error.clone()))).0);
        let session = table.claim().await;
        assert_eq!(table.call(&session, "game_act", json!({})).await.tool_error(), Some(expected));
    }
}

// §4: a result that is not of its output schema is `internal`, and nothing of it leaves.
#[tokio::test]
async fn a_result_out_of_its_schema_does_not_leave() {
    for bad in [
        json!({ "acks": [{ "ok": CANARY }] }),
        json!({ "acks": [{ "ok": true, "secret": CANARY }] }),
        json!({ "secret": CANARY }),
        json!([CANARY]),
        json!(CANARY),
        json!({ "acks": [], "text": "x".repeat(30_000) }),
    ] {
        let table = Table::scripted(Script::always(bad));
        let session = table.claim().await;
        let answer = table.call(&session, "game_act", json!({})).await;
        assert_eq!(answer.tool_error(), Some(json!({ "error": "internal" })));
        assert!(!answer.text.contains(CANARY));
    }
}

/// Tic-tac-toe as far as a tool list goes, with an observation that no single result holds.
struct Wide;

impl Game for Wide {
    fn manifest(&self) -> Manifest {
        let unit = t::obj([("id", t::int(0, 9999)), ("hp", t::int(0, 100))]);
        let observation = t::obj([("tick", t::int(0, 1000)), ("units", t::list(unit, 2000))]);
        Manifest { observation, ..TicTacToe.manifest() }
    }

    fn clock(&self) -> Clock {
        TicTacToe.clock()
    }

    fn create(&self, _: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Err(CannotCreate("it only has a surface"))
    }

    fn create_bot(&self, _: &Seat, _: &str) -> Option<Box<dyn Bot>> {
        None
    }
}

fn units(tick: u32, count: u32) -> Value {
    let units: Vec<Value> = (0..count).map(|id| json!({ "id": id, "hp": 100 })).collect();
    json!({ "observation": { "tick": tick, "units": units } })
}

// §4 game_observe: pages of one snapshot, later pages by number, replaced by the next unpaged call.
#[tokio::test]
async fn a_long_observation_is_read_in_pages() {
    let calls = AtomicU32::new(0);
    let script = Script::new(move |_, _| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        Some(Ok(if call < 2 { units(call, 2000) } else { units(call, 3) }))
    });
    let table = Table::new(Arc::new(Wide), "o", Arc::new(script.0), Limits::default());
    let session = table.claim().await;
    let observe = |arguments: Value| table.call(&session, "game_observe", arguments);
    let invalid = Some(json!({ "error": "invalid" }));
    assert_eq!(observe(json!({ "page": 2 })).await.tool_error(), invalid);

    let first = observe(json!({})).await;
    let pages = first.structured()["pages"].as_u64().unwrap();
    assert!(pages > 1);
    assert_eq!(first.structured()["next"], json!({ "page": 2 }));
    let result = first.result();
    let text = result["content"][0]["text"].as_str().unwrap();
    let line = format!("[page 1/{pages} — next: game_observe {{\"page\":2}}]");
    assert_eq!(text, format!("{}\n{line}", result["structuredContent"]));

    let mut ids = Vec::new();
    for page in 1..=pages {
        let answer =
            if page == 1 { first.structured() } else { observe(json!({ "page": page })).await.structured() };
        assert_eq!(
            (&answer["page"], &answer["pages"], &answer["tick"]),
            (&json!(page), &json!(pages), &json!(0))
        );
        ids.extend(answer["observation"]["units"].as_array().unwrap().iter().map(|unit| unit["id"].clone()));
    }
    assert_eq!(ids, (0..2000).map(|id| json!(id)).collect::<Vec<_>>());
    assert_eq!(observe(json!({ "page": pages + 1 })).await.tool_error(), invalid);

    assert_eq!(observe(json!({ "page": 1 })).await.structured()["tick"], 1);
    assert_eq!(observe(json!({ "page": 2 })).await.structured()["tick"], 1);
    observe(json!({})).await.structured();
    assert_eq!(observe(json!({ "page": 2 })).await.tool_error(), invalid);
}

// §4: long calls with a progress token tell progress every second; without one no byte comes before the result.
#[tokio::test(start_paused = true)]
async fn a_wait_with_a_token_tells_its_progress() {
    let (script, mut kept) = Script::new(|_, _| None);
    let table = Table::scripted(script);
    let session = table.claim().await;
    let entry = json!({ "phase": "match", "tick": 3, "outcome": "running", "events": [] });
    for (token, times) in [(json!("p1"), 2), (json!(9), 2), (Value::Null, 0)] {
        let mut meta = support::meta();
        if !token.is_null() {
            meta["progressToken"] = token.clone();
        }
        let params = json!({ "name": "game_wait", "arguments": { "seconds": 2.5 }, "_meta": meta });
        let waiting = table.send(table.post("tools/call", params).with("mcp-session-id", &session));
        let answering = async {
            let call = kept.recv().await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(4500)).await;
            call.reply.send(Ok(entry.clone())).unwrap();
        };
        let answer = tokio::join!(waiting, answering).0;
        assert_eq!(answer.structured(), entry);
        let told = told_of(&answer);
        assert_eq!(told.len(), times, "{}", answer.text);
        for (index, params) in told.iter().enumerate() {
            let elapsed = f64::from(u32::try_from(index).unwrap() + 1);
            assert_eq!(params, &json!({ "progressToken": token, "progress": elapsed, "total": 2.5 }));
        }
    }
}

// §4: a practice tells how many of its ticks are played; any other long call, how many seconds it has taken.
#[tokio::test(start_paused = true)]
async fn a_practice_with_a_token_tells_its_progress() {
    let (script, mut kept) = Script::new(|_, _| None);
    let table = Table::new(
        Arc::new(playerthree_agent_command::AgentCommand),
        "red",
        Arc::new(script),
        Limits::default(),
    );
    let session = table.claim().await;
    let deploy = json!({ "runtime": "js", "code": "" });
    for (tool, arguments, told) in [
        ("practice_run", json!({ "opponent": "recruit", "ticks": 100 }), [Some(40), Some(70)]),
        ("policy_deploy", deploy, [Some(1), Some(2)]),
    ] {
        let mut meta = support::meta();
        meta["progressToken"] = json!("p");
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let calling = table.send(table.post("tools/call", params).with("mcp-session-id", &session));
        let answering = async {
            let call = kept.recv().await.unwrap();
            call.ticks.reach(40);
            tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
            call.ticks.reach(70);
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            call.reply.send(Err(Code::Busy.into())).unwrap();
        };
        let answer = tokio::join!(calling, answering).0;
        assert_eq!(answer.tool_error(), Some(json!({ "error": "busy" })));
        let progress = told_of(&answer);
        let total = (tool == "practice_run").then_some(100.0);
        assert_eq!(progress.len(), told.len(), "{}", answer.text);
        for (params, told) in progress.iter().zip(told) {
            let told = told.map(f64::from);
            assert_eq!((params["progress"].as_f64(), params["total"].as_f64()), (told, total), "{tool}");
        }
    }
}

/// The progress that came before an answer.
fn told_of(answer: &support::Answer) -> Vec<Value> {
    let messages =
        answer.text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok());
    let progress = messages.filter(|message: &Value| message["method"] == "notifications/progress");
    progress.map(|message| message["params"].clone()).collect()
}
