//! The lease of a seat token (§20): one server-issued session for each claimed token, claimed by the first request that is
//! carried out, ended by DELETE and by revocation.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use http::{Method, StatusCode};
use playerthree_host::AgentCall;
use playerthree_mcp::Limits;
use playerthree_session::Code;
use serde_json::{Value, json};
use std::sync::Arc;
use support::doors::Script;
use support::{Answer, Table};
use tokio::sync::mpsc::UnboundedReceiver;
use tower::ServiceExt as _;

fn act() -> Value {
    json!({ "intents": [{ "kind": "resign" }] })
}

/// A table whose match keeps every call until the test answers it.
fn slow() -> (Table, UnboundedReceiver<AgentCall>) {
    let (script, kept) = Script::new(|_, _| None);
    (Table::scripted(script), kept)
}

// §20: discovery is side-effect free, before and after the claim, with and without a session.
#[tokio::test]
async fn discovery_claims_nothing() {
    let table = Table::scripted(Script::acks());
    for _ in 0..30 {
        let answer = table.send(table.post("server/discover", json!({}))).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.session(), None);
        let result = answer.result();
        assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(3_600_000), &json!("private")));
        let offered = json!({
            "extensions": { "io.modelcontextprotocol/skills": {} },
            "resources": { "subscribe": true },
            "tools": {},
        });
        assert_eq!(result["capabilities"], offered);
        assert!(result["instructions"].as_str().unwrap().contains("game_briefing"));
    }
    let session = table.claim().await;
    assert_eq!(table.send(table.post("server/discover", json!({}))).await.status, StatusCode::OK);
    assert_eq!(table.call(&session, "game_act", act()).await.structured(), json!({ "acks": [] }));
}

// §20: whoever claims is told the session, though their request is refused for another reason: nobody else ever is told.
#[tokio::test]
async fn a_refusal_after_the_claim_names_the_session() {
    let limits = Limits { reads_burst: 0, reads_per_second: 0.0, ..Limits::default() };
    let door = Arc::new(Script::acks());
    let table = Table::new(Arc::new(playerthree_tic_tac_toe::TicTacToe), "o", door, limits);
    let refused = table.send(table.post("tools/list", json!({}))).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    let session = refused.session().unwrap();
    assert_eq!(table.call(session, "game_act", act()).await.structured(), json!({ "acks": [] }));
}

// §20: the first POST that is carried out claims; its session is 192 random bits and comes once.
#[tokio::test]
async fn the_first_call_claims_and_later_ones_must_name_its_session() {
    let table = Table::scripted(Script::acks());
    let first = table.send(table.tool("game_act", act())).await;
    let session = first.session().unwrap().to_owned();
    assert_eq!(session.len(), 32);
    assert_ne!(session, table.token);
    let later = table.call(&session, "game_act", act()).await;
    assert_eq!((later.status, later.session()), (StatusCode::OK, None));

    let mut other = session.clone();
    other.replace_range(0..1, if session.starts_with('A') { "B" } else { "A" });
    for wrong in [other.as_str(), "", "x", &table.token, &session[..31]] {
        let answer = table.send(table.tool("game_act", act()).with("mcp-session-id", wrong)).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (404, Some(-32001)), "{wrong}");
    }
    let none = table.send(table.tool("game_act", act())).await;
    assert_eq!((none.status.as_u16(), none.code()), (404, Some(-32001)));
    let twice =
        table.tool("game_act", act()).with("mcp-session-id", &session).also("mcp-session-id", &session);
    assert_eq!(table.send(twice).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_session_that_the_server_never_issued_opens_nothing() {
    let table = Table::scripted(Script::acks());
    let made_up = table.tool("game_act", act()).with("mcp-session-id", "A123456789012345678901234567890B");
    assert_eq!(table.send(made_up).await.status, StatusCode::NOT_FOUND);
    table.claim().await;
}

// §20: the claim is atomic: of many first calls at once, one wins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_first_calls_one_wins() {
    let table = Arc::new(Table::scripted(Script::acks()));
    let calls = (0..16).map(|_| {
        let table = Arc::clone(&table);
        tokio::spawn(async move { table.send(table.tool("game_act", act())).await })
    });
    let answers = futures_util::future::join_all(calls).await;
    let answers: Vec<Answer> = answers.into_iter().map(Result::unwrap).collect();
    let won: Vec<&Answer> = answers.iter().filter(|answer| answer.session().is_some()).collect();
    assert_eq!(won.len(), 1);
    assert_eq!(won[0].status, StatusCode::OK);
    let lost = answers.iter().filter(|answer| answer.status == StatusCode::NOT_FOUND);
    assert_eq!(lost.count(), 15);
}

// §20: DELETE ends the exact lease, and the token with it; nothing else may end it.
#[tokio::test]
async fn delete_ends_the_lease_and_the_token() {
    let table = Table::scripted(Script::acks());
    let session = table.claim().await;
    let delete = table.post("tools/list", json!({})).verb(Method::DELETE);
    let bare = table.send(delete.clone()).await;
    assert_eq!(bare.status, StatusCode::METHOD_NOT_ALLOWED);
    let foreign = table.send(delete.clone().with("mcp-session-id", "other")).await;
    assert_eq!(foreign.status, StatusCode::NOT_FOUND);
    let no_token = delete.clone().without("authorization").with("mcp-session-id", &session);
    assert_eq!(table.send(no_token).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(table.call(&session, "game_act", act()).await.status, StatusCode::OK);

    let ended = table.send(delete.clone().with("mcp-session-id", &session)).await;
    assert_eq!((ended.status, ended.text.as_str()), (StatusCode::NO_CONTENT, ""));
    assert_eq!(table.call(&session, "game_act", act()).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(table.send(delete.with("mcp-session-id", &session)).await.status, StatusCode::UNAUTHORIZED);
}

// §5, §15: revocation ends everything at once; a call in flight answers `bad_token`.
#[tokio::test]
async fn revocation_answers_calls_in_flight_and_refuses_the_next() {
    let (table, mut kept) = slow();
    let session = table.claim().await;
    let waiting = table.call(&session, "game_wait", json!({ "seconds": 60 }));
    let revoking = async {
        let call = kept.recv().await.unwrap();
        table.agents.revoke(&table.token);
        call
    };
    let (answer, call) = tokio::join!(waiting, revoking);
    assert_eq!(answer.tool_error(), Some(json!({ "error": "bad_token" })));
    assert!(call.reply.is_closed());
    assert_eq!(table.call(&session, "game_act", act()).await.status, StatusCode::UNAUTHORIZED);
}

// The same for a stream: the result comes, then the stream ends.
#[tokio::test(start_paused = true)]
async fn revocation_ends_a_stream_with_its_result() {
    let (table, mut kept) = slow();
    let session = table.claim().await;
    let mut meta = support::meta();
    meta["progressToken"] = json!("p");
    let params = json!({ "name": "game_wait", "arguments": { "seconds": 60 }, "_meta": meta });
    let waiting = table.send(table.post("tools/call", params).with("mcp-session-id", &session));
    let revoking = async {
        let call = kept.recv().await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
        table.agents.revoke(&table.token);
        call
    };
    let (answer, _call) = tokio::join!(waiting, revoking);
    assert!(answer.text.contains("notifications/progress"));
    assert_eq!(answer.tool_error(), Some(json!({ "error": "bad_token" })));
}

// A match that is gone takes its tokens with it.
#[tokio::test]
async fn a_call_whose_match_ends_answers_bad_token() {
    let (table, mut kept) = slow();
    let session = table.claim().await;
    let calling = table.call(&session, "game_act", act());
    let (answer, ()) = tokio::join!(calling, async { drop(kept.recv().await.unwrap()) });
    assert_eq!(answer.tool_error(), Some(json!({ "error": "bad_token" })));
}

// A server that stops answers what is in flight.
#[tokio::test]
async fn a_stop_answers_calls_in_flight() {
    let (table, mut kept) = slow();
    let session = table.claim().await;
    let calling = table.call(&session, "game_wait", json!({ "seconds": 60 }));
    let stopping = async {
        let call = kept.recv().await.unwrap();
        table.shutdown.cancel();
        call
    };
    let (answer, _call) = tokio::join!(calling, stopping);
    assert_eq!(answer.tool_error(), Some(json!({ "error": "bad_token" })));
}

// A client that goes away takes its call along, and gives its place back.
#[tokio::test]
async fn a_dropped_request_drops_its_call() {
    let (table, mut kept) = slow();
    let session = table.claim().await;
    for _ in 0..3 {
        let request = table.tool("game_wait", json!({ "seconds": 60 })).with("mcp-session-id", &session);
        let sent = tokio::spawn(table.router.clone().oneshot(request.into_request()));
        let mut call = kept.recv().await.unwrap();
        sent.abort();
        call.reply.closed().await;
    }
}

// §15: two waits and four other calls in flight; the next is busy, and a place that is given back is free again.
#[tokio::test]
async fn calls_in_flight_are_bounded() {
    let (table, mut kept) = slow();
    let table = Arc::new(table);
    let session = table.claim().await;
    let start = |name: &'static str, arguments: Value| {
        let (table, session) = (Arc::clone(&table), session.clone());
        tokio::spawn(async move { table.call(&session, name, arguments).await })
    };
    let mut running = Vec::new();
    for _ in 0..2 {
        running.push((start("game_wait", json!({ "seconds": 60 })), kept.recv().await.unwrap()));
    }
    for _ in 0..4 {
        running.push((start("game_act", act()), kept.recv().await.unwrap()));
    }
    let busy = Some(json!({ "error": "busy" }));
    assert_eq!(table.call(&session, "game_wait", json!({ "seconds": 1 })).await.tool_error(), busy);
    assert_eq!(table.call(&session, "game_observe", json!({})).await.tool_error(), busy);
    for (answer, call) in running {
        call.reply.send(Err(Code::Paused.into())).unwrap();
        assert_eq!(answer.await.unwrap().tool_error(), Some(json!({ "error": "paused" })));
    }
    let again = start("game_wait", json!({ "seconds": 1 }));
    kept.recv().await.unwrap().reply.send(Err(Code::Paused.into())).unwrap();
    assert_eq!(again.await.unwrap().tool_error(), Some(json!({ "error": "paused" })));
}

// §15: only waits have the places of waits: practices are calls, of which four may be in flight.
#[tokio::test]
async fn a_practice_takes_no_place_of_a_wait() {
    let (script, mut kept) = Script::new(|_, _| None);
    let game = Arc::new(playerthree_agent_command::AgentCommand);
    let table = Arc::new(Table::new(game, "red", Arc::new(script), Limits::default()));
    let session = table.claim().await;
    let start = |name: &'static str, arguments: Value| {
        let (table, session) = (Arc::clone(&table), session.clone());
        tokio::spawn(async move { table.call(&session, name, arguments).await })
    };
    let practice = || json!({ "opponent": "easy", "ticks": 10 });
    let mut running = Vec::new();
    for _ in 0..4 {
        running.push((start("practice_run", practice()), kept.recv().await.unwrap()));
    }
    for _ in 0..2 {
        running.push((start("game_wait", json!({ "seconds": 60 })), kept.recv().await.unwrap()));
    }
    let busy = Some(json!({ "error": "busy" }));
    assert_eq!(table.call(&session, "practice_run", practice()).await.tool_error(), busy);
    for (answer, call) in running {
        call.reply.send(Err(Code::Paused.into())).unwrap();
        assert_eq!(answer.await.unwrap().tool_error(), Some(json!({ "error": "paused" })));
    }
}

// §15: 10 calls a second, burst 20; each credential has its own bucket. The clock is the test's own.
#[tokio::test(start_paused = true)]
async fn the_rate_of_a_credential_is_bounded() {
    let table = Table::scripted(Script::acks());
    let session = table.claim().await;
    let limited = Some(json!({ "error": "rate_limited" }));
    for call in 0..25 {
        let error = table.call(&session, "game_act", act()).await.tool_error();
        assert_eq!(error, if call < 20 { None } else { limited.clone() }, "call {call}");
    }
    tokio::time::advance(std::time::Duration::from_millis(100)).await;
    assert_eq!(table.call(&session, "game_act", act()).await.tool_error(), None);
    assert_eq!(table.call(&session, "game_act", act()).await.tool_error(), limited);
}

// Nothing of an ended lease stays behind: a process serves more tokens in its life than it may hold at once.
#[tokio::test(start_paused = true)]
async fn ended_leases_are_forgotten() {
    let table = Table::scripted(Script::acks());
    let grant = Arc::downgrade(&table.agents.find(&table.token).unwrap());
    table.claim().await;
    table.agents.revoke(&table.token);
    tokio::time::sleep(Limits::default().cut_after * 2).await;
    assert_eq!(grant.strong_count(), 0);
}
