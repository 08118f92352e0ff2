//! What the tests of the endpoint share: requests as a client would send them, and matches behind a seat token.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "helpers of which every test file uses its own part"
)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "json!(..) as an argument reads best by value")]

pub mod doors;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use doors::Script;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::BodyExt as _;
use playerthree_game::{Game, Seat};
use playerthree_host::{Agents, MatchDoor, PolicyPlaces, Ttl};
use playerthree_mcp::{Legacy, Limits, McpConfig};
use playerthree_sandbox::Workers;
use playerthree_session::Surface;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// The policies' workers are this test program, started with this test's name as its filter.
#[test]
fn sandbox_worker() {
    playerthree_sandbox::serve_if_worker();
}

pub const REVISION: &str = "2026-07-28";
pub const HOST: &str = "127.0.0.1:2567";
pub const ORIGIN: &str = "http://127.0.0.1:2567";

/// An endpoint with one seat token.
pub struct Table {
    pub agents: Arc<Agents>,
    pub router: Router,
    pub shutdown: CancellationToken,
    pub surface: Arc<Surface>,
    pub token: String,
}

impl Table {
    /// A seat of tic-tac-toe whose match answers by a script.
    pub fn scripted(script: Script) -> Self {
        Self::new(Arc::new(playerthree_tic_tac_toe::TicTacToe), "o", Arc::new(script), Limits::default())
    }

    pub fn new(game: Arc<dyn Game>, team: &str, door: Arc<dyn MatchDoor>, limits: Limits) -> Self {
        Self::with(game, team, door, limits, Legacy::Stateless)
    }

    pub fn with(
        game: Arc<dyn Game>,
        team: &str,
        door: Arc<dyn MatchDoor>,
        limits: Limits,
        legacy: Legacy,
    ) -> Self {
        let surface = Arc::new(Surface::new(game).unwrap());
        let seat = Seat::new(team, &surface.manifest.roles[0]);
        let agents = Arc::new(Agents::new(PolicyPlaces::new(8, Workers::of_this_program())));
        let token = agents.mint("room".into(), seat, Arc::clone(&surface), door, Ttl::default());
        let token = token.reveal().to_owned();
        let shutdown = CancellationToken::new();
        let config = McpConfig {
            origins: vec![ORIGIN.into()],
            hosts: vec![HOST.into()],
            sign_in: Vec::new(),
            legacy,
            limits,
            shutdown: shutdown.clone(),
        };
        let router = playerthree_mcp::router(config, Arc::clone(&agents));
        Self { agents, router, shutdown, surface, token }
    }

    pub fn post(&self, method: &str, params: Value) -> Post {
        Post::new(&self.token, method, params)
    }

    pub fn tool(&self, name: &str, arguments: Value) -> Post {
        self.post("tools/call", json!({ "name": name, "arguments": arguments }))
    }

    /// Claims the token by listing the tools; returns the session.
    pub async fn claim(&self) -> String {
        let answer = self.send(self.post("tools/list", json!({}))).await;
        assert_eq!(answer.status, StatusCode::OK);
        answer.session().unwrap().to_owned()
    }

    pub async fn send(&self, post: Post) -> Answer {
        Answer::read(self.head(post).await).await
    }

    /// The answer to a request as soon as it begins.
    pub async fn head(&self, post: Post) -> http::Response<Body> {
        self.router.clone().oneshot(post.into_request()).await.unwrap()
    }

    /// The status of the answer to a request, whose rest nobody reads.
    pub async fn send_head(&self, post: Post) -> StatusCode {
        self.head(post).await.status()
    }

    /// Opens a stream and reads its acknowledgement.
    pub async fn listen(&self, post: Post) -> Listener {
        let response = self.head(post).await;
        assert_eq!(response.status(), StatusCode::OK);
        let mut listener = Listener { body: response.into_body(), accepted: Value::Null };
        let acknowledged = listener.next().await.unwrap();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        listener.accepted = acknowledged["params"]["notifications"].clone();
        listener
    }

    /// Calls a tool in a session.
    pub async fn call(&self, session: &str, name: &str, arguments: Value) -> Answer {
        self.send(self.tool(name, arguments).with("mcp-session-id", session)).await
    }
}

/// One request, right until it is bent.
#[derive(Clone)]
pub struct Post {
    pub verb: Method,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Post {
    pub fn new(token: &str, method: &str, mut params: Value) -> Self {
        if let Some(params) = params.as_object_mut() {
            params.entry("_meta").or_insert_with(meta);
        }
        let mut post = Self { verb: Method::POST, headers: HeaderMap::new(), body: Bytes::new() }
            .with("host", HOST)
            .with("authorization", &format!("Bearer {token}"))
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream")
            .with("mcp-protocol-version", REVISION)
            .with("mcp-method", method);
        if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
            post = post.with("mcp-name", name);
        }
        post.json(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }))
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        self
    }

    pub fn also(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        self
    }

    pub fn without(mut self, name: &'static str) -> Self {
        self.headers.remove(name);
        self
    }

    pub fn raw(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.raw(body.to_string())
    }

    pub fn verb(mut self, verb: Method) -> Self {
        self.verb = verb;
        self
    }

    pub fn into_request(self) -> http::Request<Body> {
        let mut request = http::Request::new(Body::from(self.body));
        *request.method_mut() = self.verb;
        *request.uri_mut() = "/mcp".parse().unwrap();
        *request.headers_mut() = self.headers;
        request
    }
}

/// The `_meta` of every request.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub async fn read(response: http::Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Self { status: head.status, headers: head.headers, text: String::from_utf8(body.to_vec()).unwrap() }
    }

    pub fn session(&self) -> Option<&str> {
        self.headers.get("mcp-session-id").map(|value| value.to_str().unwrap())
    }

    /// The body, or the last message of a stream.
    pub fn message(&self) -> Value {
        let text = self.text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&self.text);
        serde_json::from_str(text).unwrap_or(Value::Null)
    }

    pub fn result(&self) -> Value {
        let message = self.message();
        assert!(message["error"].is_null(), "{message}");
        message["result"].clone()
    }

    /// The JSON-RPC error code.
    pub fn code(&self) -> Option<i64> {
        self.message()["error"]["code"].as_i64()
    }

    /// The tool error, none for a successful result.
    pub fn tool_error(&self) -> Option<Value> {
        let result = self.result();
        let failed = result["isError"] == true;
        failed.then(|| serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap())
    }

    pub fn structured(&self) -> Value {
        assert_eq!(self.tool_error(), None);
        self.result()["structuredContent"].clone()
    }
}

/// An open stream.
pub struct Listener {
    body: Body,
    pub accepted: Value,
}

impl Listener {
    /// The next message, nothing at the end of the stream.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let frame = self.body.frame().await?.unwrap().into_data().unwrap();
            let text = String::from_utf8(frame.to_vec()).unwrap();
            if let Some(message) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
                return Some(serde_json::from_str(message).unwrap());
            }
        }
    }

    /// The address that changed next, nothing once the stream ends as it should.
    pub async fn updated(&mut self) -> Option<String> {
        let message = self.next().await.unwrap();
        if message["result"]["resultType"] == "complete" {
            assert_eq!(self.next().await, None);
            return None;
        }
        assert_eq!(message["method"], "notifications/resources/updated");
        let params = message["params"].as_object().unwrap();
        assert!(params.keys().all(|member| member == "uri" || member == "_meta"), "{params:?}");
        Some(params["uri"].as_str().unwrap().to_owned())
    }
}
