//! A toolbox that is no game's, behind the guard of `/mcp`: both places of a credential, the bounds that it shares with
//! seat tokens, and answers that are checked before they leave (§15 and the rules of revision 2026-07-28).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "json!(..) as an argument reads best by value")]

mod support;

use axum::Router;
use axum::body::Body;
use http::{Method, StatusCode};
use playerthree_mcp::{BadToolSchema, Failed, Legacy, Limits, McpConfig, Tool, Toolbox, toolbox_router};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use support::{Answer, HOST, ORIGIN, Post};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

const ADA: &str = "AdaAdaAdaAdaAdaAdaAdaAdaAdaAda01";
const BOB: &str = "BobBobBobBobBobBobBobBobBobBob02";

/// `echo` answers its caller, `hold` waits to be let go, `lie` breaks its schema, `fail` fails.
struct Box4 {
    held: Arc<Notify>,
    go: Arc<Notify>,
}

impl Toolbox for Box4 {
    type Caller = &'static str;

    fn instructions(&self) -> &'static str {
        "read me first"
    }

    fn tools(&self) -> Vec<Tool> {
        ["echo", "hold", "lie", "fail"].map(tool).into()
    }

    fn find(&self, token: &str) -> Option<&'static str> {
        match token {
            ADA => Some("ada"),
            BOB => Some("bob"),
            _ => None,
        }
    }

    fn is_wait(&self, _: &str, arguments: &Map<String, Value>) -> bool {
        arguments.contains_key("wait")
    }

    async fn call(&self, who: &&'static str, name: &str, _: Map<String, Value>) -> Result<Value, Failed> {
        match name {
            "hold" => {
                self.held.notify_one();
                self.go.notified().await;
            }
            "lie" => return Ok(json!({ "who": 7 })),
            "fail" => return Err(Failed { code: "not_found", message: "not found".to_owned() }),
            _ => {}
        }
        Ok(json!({ "who": who }))
    }
}

fn tool(name: &'static str) -> Tool {
    let output_schema = json!({ "type": "object", "properties": { "who": { "type": "string" } } });
    let input_schema = json!({ "type": "object" });
    let (title, description) = ("title", "description");
    Tool { name, method: name, title, description, input_schema, output_schema, read_only: true }
}

struct Mounted {
    router: Router,
    held: Arc<Notify>,
    go: Arc<Notify>,
    shutdown: CancellationToken,
}

impl Mounted {
    fn new() -> Self {
        let (held, go, shutdown) = (Arc::default(), Arc::default(), CancellationToken::new());
        let toolbox = Box4 { held: Arc::clone(&held), go: Arc::clone(&go) };
        let config = McpConfig {
            origins: vec![ORIGIN.into()],
            hosts: vec![HOST.into()],
            sign_in: Vec::new(),
            legacy: Legacy::Stateless,
            limits: Limits::default(),
            shutdown: shutdown.clone(),
        };
        Self { router: toolbox_router("/box/mcp", config, toolbox).unwrap(), held, go, shutdown }
    }

    async fn send(&self, path: &str, post: Post) -> Answer {
        let mut request: http::Request<Body> = post.into_request();
        *request.uri_mut() = path.parse().unwrap();
        Answer::read(self.router.clone().oneshot(request).await.unwrap()).await
    }

    async fn call(&self, token: &str, name: &str, arguments: Value) -> Answer {
        self.send("/box/mcp", call(token, name, arguments)).await
    }

    /// Begins a call that is held until `go`.
    async fn hold(&self, arguments: Value) -> tokio::task::JoinHandle<Answer> {
        let mut request = call(ADA, "hold", arguments).into_request();
        *request.uri_mut() = "/box/mcp".parse().unwrap();
        let answer = self.router.clone().oneshot(request);
        let holding = tokio::spawn(async { Answer::read(answer.await.unwrap()).await });
        self.held.notified().await;
        holding
    }
}

fn call(token: &str, name: &str, arguments: Value) -> Post {
    Post::new(token, "tools/call", json!({ "name": name, "arguments": arguments }))
}

fn error(answer: &Answer) -> Value {
    answer.tool_error().unwrap()["error"].clone()
}

#[tokio::test]
async fn a_credential_is_taken_as_a_bearer_or_in_the_path_and_no_session_is_made() {
    let mounted = Mounted::new();
    let bearer = mounted.call(ADA, "echo", json!({})).await;
    assert_eq!((bearer.structured(), bearer.session()), (json!({ "who": "ada" }), None));
    let bare = call("", "echo", json!({})).without("authorization");
    let path = mounted.send(&format!("/box/mcp/{BOB}"), bare).await;
    assert_eq!(path.structured(), json!({ "who": "bob" }));
    let listed = mounted.send("/box/mcp", Post::new(ADA, "tools/list", json!({}))).await.result();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 4);
    let hello = mounted.send("/box/mcp", Post::new(ADA, "server/discover", json!({}))).await.result();
    assert_eq!(hello["instructions"], "read me first");
}

// The guard is that of `/mcp`, whose own tests go through every refusal; here each of its steps is met once.
#[tokio::test]
async fn every_step_of_the_guard_stands_before_a_toolbox_too() {
    let mounted = Mounted::new();
    let good = || call(ADA, "echo", json!({}));
    let bare = || good().without("authorization");
    let path = format!("/box/mcp/{ADA}");
    let stranger = "Canary7Canary7Canary7Canary7Cana";
    let long = good().raw(vec![b' '; 1_048_577]);
    let cases = [
        ("no credential", "/box/mcp", bare(), 401, -32000),
        ("an unknown bearer", "/box/mcp", call(stranger, "echo", json!({})), 401, -32000),
        ("an unknown path", &format!("/box/mcp/{stranger}"), bare(), 401, -32000),
        ("a short path", "/box/mcp/abc", bare(), 401, -32000),
        ("a token in the query", &format!("/box/mcp?token={ADA}"), bare(), 401, -32000),
        ("a foreign origin", &path, bare().with("origin", "http://evil.example"), 403, -32000),
        ("a foreign host", &path, bare().with("host", "evil.example"), 403, -32000),
        ("another verb", &path, good().verb(Method::GET), 405, -32000),
        ("a session to end", "/box/mcp", good().verb(Method::DELETE), 405, -32000),
        ("a long body", "/box/mcp", long, 413, -32000),
        ("no JSON type", "/box/mcp", good().with("content-type", "text/plain"), 415, -32000),
        ("no JSON", "/box/mcp", good().raw("{"), 400, -32700),
        ("another revision", "/box/mcp", good().with("mcp-protocol-version", "2025-06-18"), 400, -32020),
        ("another method", "/box/mcp", Post::new(ADA, "resources/list", json!({})), 404, -32601),
        ("skills", "/box/mcp", Post::new(ADA, "skills/list", json!({})), 404, -32601),
        ("a stream", "/box/mcp", Post::new(ADA, "subscriptions/listen", json!({})), 404, -32601),
        ("another tool", "/box/mcp", call(ADA, "game_act", json!({})), 200, -32602),
    ];
    for (what, path, post, status, code) in cases {
        let answer = mounted.send(path, post).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (status, Some(code)), "{what}");
        assert!(!answer.text.contains(ADA) && !answer.text.contains(stranger), "{what} is echoed");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_its_schema_does_not_leave_and_a_failure_has_its_closed_code() {
    let mounted = Mounted::new();
    assert_eq!(error(&mounted.call(ADA, "lie", json!({})).await), "internal");
    assert_eq!(error(&mounted.call(ADA, "fail", json!({})).await), "not_found");
    let bad = || Tool { output_schema: json!({ "type": 7 }), ..tool("bad") };
    struct Bad(fn() -> Tool);
    impl Toolbox for Bad {
        type Caller = ();
        fn instructions(&self) -> &'static str {
            ""
        }
        fn tools(&self) -> Vec<Tool> {
            vec![(self.0)()]
        }
        fn find(&self, _: &str) -> Option<()> {
            None
        }
        fn is_wait(&self, _: &str, _: &Map<String, Value>) -> bool {
            false
        }
        async fn call(&self, (): &(), _: &str, _: Map<String, Value>) -> Result<Value, Failed> {
            Ok(Value::Null)
        }
    }
    let config = McpConfig {
        origins: Vec::new(),
        hosts: Vec::new(),
        sign_in: Vec::new(),
        legacy: Legacy::Stateless,
        limits: Limits::default(),
        shutdown: CancellationToken::new(),
    };
    assert_eq!(toolbox_router("/bad", config, Bad(bad)).unwrap_err(), BadToolSchema);
}

// §15: 20 calls at once and 10 a second, for each credential, wherever it is shown.
#[tokio::test(start_paused = true)]
async fn the_rate_is_each_credentials_own() {
    let mounted = Mounted::new();
    for at in 0..20 {
        let path = if at % 2 == 0 { "/box/mcp".to_owned() } else { format!("/box/mcp/{ADA}") };
        mounted.send(&path, call(ADA, "echo", json!({}))).await.structured();
    }
    assert_eq!(error(&mounted.call(ADA, "echo", json!({})).await), "rate_limited");
    mounted.call(BOB, "echo", json!({})).await.structured();
    tokio::time::advance(std::time::Duration::from_millis(100)).await;
    mounted.call(ADA, "echo", json!({})).await.structured();
}

// §15: 4 calls and 2 waits in flight, counted apart.
#[tokio::test]
async fn calls_and_waits_in_flight_are_bounded_apart() {
    let mounted = Mounted::new();
    let mut open = Vec::new();
    for _ in 0..2 {
        open.push(mounted.hold(json!({ "wait": 1 })).await);
    }
    assert_eq!(error(&mounted.call(ADA, "hold", json!({ "wait": 1 })).await), "busy");
    for _ in 0..4 {
        open.push(mounted.hold(json!({})).await);
    }
    assert_eq!(error(&mounted.call(ADA, "echo", json!({})).await), "busy");
    mounted.call(BOB, "echo", json!({})).await.structured();
    mounted.go.notify_waiters();
    for holding in open {
        holding.await.unwrap().structured();
    }
    mounted.call(ADA, "echo", json!({})).await.structured();
}

// §4: a call that is held tells its progress like a game's.
#[tokio::test(start_paused = true)]
async fn a_long_call_with_a_token_tells_its_progress() {
    let mounted = Mounted::new();
    let mut meta = support::meta();
    meta["progressToken"] = json!("p");
    let params = json!({ "name": "hold", "arguments": {}, "_meta": meta });
    let letting_go = async {
        tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
        mounted.go.notify_waiters();
    };
    let (answer, ()) =
        tokio::join!(mounted.send("/box/mcp", Post::new(ADA, "tools/call", params)), letting_go);
    assert_eq!(answer.structured()["who"], "ada");
    assert_eq!(answer.text.matches("notifications/progress").count(), 2, "{}", answer.text);
}

#[tokio::test]
async fn a_stop_ends_calls_in_flight_and_lets_no_new_one_in() {
    let mounted = Mounted::new();
    let holding = mounted.hold(json!({})).await;
    mounted.shutdown.cancel();
    assert_eq!(error(&holding.await.unwrap()), "unavailable");
    let late = mounted.call(ADA, "echo", json!({})).await;
    assert_eq!(late.status, StatusCode::SERVICE_UNAVAILABLE);
}
