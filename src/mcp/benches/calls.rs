//! What a tool call costs from the request's bytes to the answer's, sockets aside: the endpoint with its guard, its
//! checks and a real match, beside bare rmcp that answers the same constant and checks nothing (goals: `game_act` at most
//! 1.2 times bare rmcp, `game_observe` below it).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a benchmark fails by panicking")]

mod seated;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

const HOST: &str = "127.0.0.1:2567";

/// Bare rmcp: one shared service, the view held as a value.
#[derive(Clone)]
struct Bare(Arc<Value>);

impl ServerHandler for Bare {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let structured = match &*request.name {
            "game_observe" => json!({ "observation": *self.0 }),
            _ => json!({ "acks": [{ "ok": true }, { "ok": true }] }),
        };
        Ok(CallToolResult::structured(structured).into())
    }
}

fn request(token: &str, name: &str, arguments: &Value) -> Request<Bytes> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    Request::post("/mcp")
        .header("host", HOST)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", name)
        .body(Bytes::from(body.to_string()))
        .unwrap()
}

async fn ours(router: &Router, request: &Request<Bytes>) -> Bytes {
    let answer = router.clone().oneshot(request.clone().map(Body::from)).await.unwrap();
    answer.into_body().collect().await.unwrap().to_bytes()
}

async fn bare(service: &StreamableHttpService<Bare, NeverSessionManager>, request: &Request<Bytes>) -> Bytes {
    let answer = service.handle(request.clone().map(Full::new)).await;
    answer.into_body().collect().await.unwrap().to_bytes()
}

/// The structured content of an answer.
fn structured(answer: &Bytes) -> Value {
    let answer: Value = serde_json::from_slice(answer).unwrap();
    answer["result"]["structuredContent"].clone()
}

fn calls(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runtime: &Runtime = &runtime;
    let _entered = runtime.enter();
    let (router, token) = seated::start(HOST);
    let settings = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_stateless_protocol_metadata_required(true);
    let handler = Bare(Arc::new(seated::view()));
    let manager = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), manager, settings);
    let intents =
        json!([{ "kind": "move", "id": "e1", "x": 10.5, "y": 20.5 }, { "kind": "fire", "id": "e2" }]);
    for (name, arguments) in [("game_observe", json!({})), ("game_act", json!({ "intents": intents }))] {
        let request = request(&token, name, &arguments);
        let (own, other) = runtime.block_on(async {
            (structured(&ours(&router, &request).await), structured(&bare(&service, &request).await))
        });
        assert_eq!(own, other, "both do the same work");
        let mut group = criterion.benchmark_group(name);
        group.bench_function("the endpoint", |bencher| {
            bencher.iter(|| runtime.block_on(ours(&router, &request)));
        });
        group.bench_function("bare rmcp", |bencher| {
            bencher.iter(|| runtime.block_on(bare(&service, &request)));
        });
        group.finish();
    }
}

criterion_group!(benches, calls);
criterion_main!(benches);
