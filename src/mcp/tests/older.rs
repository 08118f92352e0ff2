//! Clients of the revisions before 2026-07-28 (§4 "SDK fallback for older clients", §20): credentials that last answer
//! them, each request on its own, behind the same guard; seat tokens and a server with the switch off never do.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a test fails by panicking")]

mod support;

use axum::Router;
use http::{HeaderMap, Method, StatusCode};
use playerthree_agent_command::AgentCommand;
use playerthree_mcp::{Failed, Legacy, Limits, McpConfig, Tool, Toolbox, toolbox_router};
use playerthree_session::{CommanderKind, Draft, Isolation, Metadata, OwnerId};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use support::doors::Script;
use support::{Answer, HOST, Post, Table};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

const OLDER: [&str; 2] = ["2025-06-18", "2025-11-25"];

/// A request as such clients send it: no `_meta`, no headers of the later revision.
fn post(token: &str, revision: Option<&str>, method: &str, params: Value) -> Post {
    let post = Post { verb: Method::POST, headers: HeaderMap::new(), body: "".into() }
        .with("host", HOST)
        .with("authorization", &format!("Bearer {token}"))
        .with("content-type", "application/json")
        .with("accept", "application/json, text/event-stream")
        .json(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
    match revision {
        Some(revision) => post.with("mcp-protocol-version", revision),
        None => post,
    }
}

fn handshake(token: &str, revision: &str) -> Post {
    let client = json!({ "name": "old client", "version": "1" });
    let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
    post(token, None, "initialize", params)
}

/// A table and a commander's token at it.
fn commanded(legacy: Legacy) -> (Table, String) {
    let door = Arc::new(Script::acks());
    let table = Table::with(Arc::new(AgentCommand), "red", door, Limits::default(), legacy);
    let draft = Draft {
        name: "Falcon".into(),
        roles: vec!["ground".into()],
        isolation: Isolation::Independent,
        kind: CommanderKind::Agent,
        metadata: Metadata::default(),
    };
    let (_, token) = table.agents.commanders().add(&table.surface, &OwnerId("ann".into()), draft).unwrap();
    (table, token.reveal().to_owned())
}

fn wait(token: &str, revision: Option<&str>, seconds: f64, meta: Value) -> Post {
    let params = json!({ "name": "game_wait", "arguments": { "seconds": seconds }, "_meta": meta });
    post(token, revision, "tools/call", params)
}

#[tokio::test]
async fn a_lasting_credential_answers_the_handshake_and_what_follows_it_without_a_session() {
    let (table, token) = commanded(Legacy::Stateless);
    for revision in OLDER {
        let hello = table.send(handshake(&token, revision)).await;
        assert_eq!((hello.status, hello.session()), (StatusCode::OK, None));
        let result = hello.result();
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "playerthree");
        let initialized = post(&token, Some(revision), "notifications/initialized", json!({}));
        let initialized =
            initialized.json(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(table.send(initialized).await.status, StatusCode::ACCEPTED);

        let listed = table.send(post(&token, Some(revision), "tools/list", json!({}))).await;
        let resources = table.send(post(&token, Some(revision), "resources/list", json!({}))).await.result();
        let uri = &resources["resources"][0]["uri"];
        let read = table.send(post(&token, Some(revision), "resources/read", json!({ "uri": uri }))).await;
        assert_eq!(read.result()["contents"][0]["uri"], *uri);
        for absent in ["skills/list", "subscriptions/listen", "server/discover"] {
            let answer = table.send(post(&token, Some(revision), absent, json!({}))).await;
            assert_eq!((answer.status, answer.code()), (StatusCode::NOT_FOUND, Some(-32601)), "{absent}");
        }
        assert_eq!(listed.session(), None);
        assert!(listed.result()["tools"].as_array().unwrap().len() > 5);
        let waited = table.send(wait(&token, Some(revision), 0.0, json!({}))).await;
        assert_eq!(waited.structured()["phase"], "lobby");
        assert_eq!(table.send(post(&token, Some(revision), "ping", json!({}))).await.result(), json!({}));
    }
    // A revision that is not answered agrees on the newest that is, as every handshake does.
    let fallback = table.send(handshake(&token, "2024-11-05")).await;
    assert_eq!(fallback.result()["protocolVersion"], "2025-11-25");
}

#[tokio::test(start_paused = true)]
async fn an_older_client_is_told_the_progress_of_its_wait() {
    let (table, token) = commanded(Legacy::Stateless);
    let answer = table.send(wait(&token, Some("2025-06-18"), 1.5, json!({ "progressToken": "p" }))).await;
    assert!(answer.text.contains("notifications/progress"));
    assert_eq!(answer.structured()["phase"], "lobby");
}

/// §20: per-match seat tokens take the one revision alone, and what is refused claims nothing.
#[tokio::test]
async fn a_seat_token_never_speaks_an_older_revision() {
    let table = Table::scripted(Script::acks());
    for revision in OLDER {
        let hello = table.send(handshake(&table.token, revision)).await;
        assert_eq!((hello.status, hello.code()), (StatusCode::BAD_REQUEST, Some(-32022)));
        assert_eq!(hello.message()["error"]["data"]["supported"], json!(["2026-07-28"]));
        let listed = table.send(post(&table.token, Some(revision), "tools/list", json!({}))).await;
        assert_eq!((listed.status, listed.session()), (StatusCode::BAD_REQUEST, None));
    }
    table.claim().await;
}

#[tokio::test]
async fn the_switch_refuses_older_revisions_everywhere() {
    let (table, token) = commanded(Legacy::Off);
    let toolbox = toolbox(Legacy::Off);
    for revision in OLDER {
        let hello = table.send(handshake(&token, revision)).await;
        assert_eq!((hello.status, hello.code()), (StatusCode::BAD_REQUEST, Some(-32022)));
        let waited = table.send(wait(&token, Some(revision), 0.0, json!({}))).await;
        assert_eq!(waited.status, StatusCode::BAD_REQUEST);
        let hello = at(&toolbox, handshake(TOKEN, revision)).await;
        assert_eq!(hello.code(), Some(-32022));
    }
    let current = table.send(Post::new(&token, "tools/list", json!({}))).await;
    assert_eq!(current.status, StatusCode::OK);
    let answered = at(&self::toolbox(Legacy::Stateless), handshake(TOKEN, "2025-11-25")).await;
    assert_eq!(answered.result()["protocolVersion"], "2025-11-25");
}

/// The eras do not mix, the guard is the same, and nothing is repeated to the caller.
#[tokio::test]
async fn an_older_request_passes_the_same_guard() {
    let (table, token) = commanded(Legacy::Stateless);
    let canary = "Canary7Canary";
    let old = Some("2025-11-25");
    let call = |params: Value| post(&token, old, "tools/call", params);
    let shapeless = json!({ "protocolVersion": 7, "capabilities": {}, "clientInfo": {} });
    for (what, post, status, code) in [
        ("no version at all", post(&token, None, "tools/list", json!({})), 400, -32020),
        (
            "a revision that names itself nowhere",
            post(&token, Some("2025-03-26"), "tools/list", json!({})),
            400,
            -32602,
        ),
        ("an unknown revision", post(&token, Some(canary), "tools/list", json!({})), 400, -32602),
        (
            "two revisions",
            post(&token, old, "tools/list", json!({})).also("mcp-protocol-version", "2025-06-18"),
            400,
            -32020,
        ),
        ("discovery", post(&token, old, "server/discover", json!({})), 404, -32601),
        ("an unknown method", post(&token, old, canary, json!({})), 404, -32601),
        ("sampling", post(&token, old, "sampling/createMessage", json!({})), 404, -32601),
        ("a handshake without shape", post(&token, None, "initialize", shapeless), 200, -32602),
        ("a call without a name", call(json!({})), 200, -32602),
        ("an unknown tool", call(json!({ "name": canary })), 200, -32602),
        ("another origin", handshake(&token, OLDER[0]).with("origin", "http://evil.example"), 403, -32000),
        ("another host", handshake(&token, OLDER[0]).with("host", "evil.example"), 403, -32000),
        ("no token", handshake(&token, OLDER[0]).without("authorization"), 401, -32000),
        ("a handshake of the one revision", Post::new(&token, "initialize", json!({})), 404, -32601),
    ] {
        let answer = table.send(post).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (status, Some(code)), "{what}: {}", answer.text);
        assert!(!answer.text.contains(canary), "{what}: {}", answer.text);
    }
}

const TOKEN: &str = "TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT";

struct Empty;

impl Toolbox for Empty {
    type Caller = usize;

    fn instructions(&self) -> &'static str {
        ""
    }

    fn tools(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn find(&self, token: &str) -> Option<usize> {
        (token == TOKEN).then_some(0)
    }

    fn is_wait(&self, _: &str, _: &Map<String, Value>) -> bool {
        false
    }

    async fn call(&self, _: &usize, _: &str, _: Map<String, Value>) -> Result<Value, Failed> {
        Ok(Value::Null)
    }
}

fn toolbox(legacy: Legacy) -> Router {
    let config = McpConfig {
        origins: Vec::new(),
        hosts: vec![HOST.into()],
        sign_in: Vec::new(),
        legacy,
        limits: Limits::default(),
        shutdown: CancellationToken::new(),
    };
    toolbox_router("/box/mcp", config, Empty).unwrap()
}

async fn at(router: &Router, post: Post) -> Answer {
    let mut request = post.into_request();
    *request.uri_mut() = "/box/mcp".parse().unwrap();
    Answer::read(router.clone().oneshot(request).await.unwrap()).await
}
