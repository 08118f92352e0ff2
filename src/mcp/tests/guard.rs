//! Every way in which a request is refused before it is carried out (§15, §20 and the rules of revision 2026-07-28), as
//! data: the bent request, its status and its code. Nothing that the caller sent comes back, and nothing is claimed.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use support::doors::Script;
use support::{Answer, ORIGIN, Post, Table, meta};
use tower::ServiceExt as _;

const CANARY: &str = "Canary7Canary7Canary7Canary7Cana";

fn table() -> Table {
    Table::scripted(Script::acks())
}

async fn check(table: &Table, what: &str, post: Post, status: u16, code: i64) -> Answer {
    let answer = table.send(post).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (status, Some(code)), "{what}: {}", answer.text);
    assert!(
        !answer.text.to_lowercase().contains(&CANARY.to_lowercase()),
        "{what} is echoed: {}",
        answer.text
    );
    assert!(!format!("{:?}", answer.headers).contains(CANARY), "{what} is echoed in a header");
    assert_eq!(answer.session(), None, "{what} claimed the lease");
    answer
}

/// Field report: the endpoint has one address, so that what its metadata says of it is what a client uses.
#[tokio::test]
async fn the_endpoint_has_one_address() {
    let table = table();
    for path in ["/mcp/", "/a/mcp", "/mcp/mcp", "//mcp", "/MCP"] {
        let mut request = act(&table).into_request();
        *request.uri_mut() = path.parse().unwrap();
        let answer = Answer::read(table.router.clone().oneshot(request).await.unwrap()).await;
        assert_eq!((answer.status, &*answer.text), (StatusCode::NOT_FOUND, ""), "{path}");
        assert!(answer.headers.get("www-authenticate").is_none(), "{path}");
    }
    unclaimed(&table).await;
}

/// The refused request left the token as it was: the next good one claims it.
async fn unclaimed(table: &Table) {
    table.claim().await;
}

fn act(table: &Table) -> Post {
    table.tool("game_act", json!({ "intents": [{ "kind": "resign" }] }))
}

fn body(table: &Table, change: impl FnOnce(&mut Value)) -> Post {
    let post = act(table);
    let mut body: Value = serde_json::from_slice(&post.body).unwrap();
    change(&mut body);
    post.json(&body)
}

// §15: POST alone; everything else but the DELETE of a lease is 405.
#[tokio::test]
async fn other_verbs_are_not_allowed() {
    let table = table();
    for verb in [Method::GET, Method::PUT, Method::PATCH, Method::OPTIONS, Method::DELETE] {
        let answer = check(&table, "verb", act(&table).verb(verb), 405, -32000).await;
        assert_eq!(answer.headers["allow"], "POST");
    }
    let head = table.send(act(&table).verb(Method::HEAD)).await;
    assert_eq!(head.status, StatusCode::METHOD_NOT_ALLOWED);
    unclaimed(&table).await;
}

// §15: browsers with an unallowed Origin receive 403; the list holds exact origins. The own origin passes.
#[tokio::test]
async fn foreign_origins_and_hosts_are_forbidden() {
    let table = table();
    for origin in ["http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:2567", CANARY] {
        check(&table, origin, act(&table).with("origin", origin), 403, -32000).await;
    }
    check(
        &table,
        "two origins",
        act(&table).with("origin", ORIGIN).also("origin", "http://evil.example"),
        403,
        -32000,
    )
    .await;
    for host in ["evil.example:2567", "127.0.0.1", "127.0.0.1:2568", "127.0.0.1:2567.evil.example", CANARY] {
        check(&table, host, act(&table).with("host", host), 403, -32000).await;
    }
    check(&table, "no host", act(&table).without("host"), 403, -32000).await;
    check(&table, "two hosts", act(&table).also("host", "evil.example"), 403, -32000).await;
    let own = table.send(act(&table).with("origin", ORIGIN).with("host", "127.0.0.1:2567")).await;
    assert_eq!(own.status, StatusCode::OK);
}

// §5: anything but a good agent credential in the one right place is 401 with a challenge.
#[tokio::test]
async fn bad_credentials_are_unauthorized() {
    let table = table();
    let none = check(&table, "none", act(&table).without("authorization"), 401, -32000).await;
    assert_eq!(none.headers["www-authenticate"], "Bearer");
    let long = "x".repeat(8000);
    for value in [
        format!("Bearer {CANARY}"),
        format!("Bearer {}", &table.token[..31]),
        format!("Bearer {}=", table.token),
        format!("Bearer  {}", table.token),
        format!("Basic {}", table.token),
        table.token.clone(),
        "Bearer".to_owned(),
        format!("Bearer {long}"),
    ] {
        let answer = check(&table, &value, act(&table).with("authorization", &value), 401, -32000).await;
        assert_eq!(answer.headers["www-authenticate"], "Bearer error=\"invalid_token\"");
        assert!(!answer.text.contains(&table.token));
    }
    let twice = act(&table).also("authorization", &format!("Bearer {}", table.token));
    check(&table, "twice", twice, 401, -32000).await;
    let mut elsewhere = act(&table).without("authorization").into_request();
    *elsewhere.uri_mut() = format!("/mcp?access_token={}", table.token).parse().unwrap();
    let elsewhere = table.router.clone().oneshot(elsewhere).await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::UNAUTHORIZED);
    let lower = act(&table).with("authorization", &format!("bearer {}", table.token));
    assert_eq!(table.send(lower).await.status, StatusCode::OK);
}

// §15: a body of 1048576 bytes passes, one byte more is 413, declared or chunked. A broken one changes nothing.
#[tokio::test]
async fn oversized_and_broken_bodies_are_refused() {
    let table = table();
    let padded = |size: usize| {
        let text = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }).to_string();
        text.clone() + &" ".repeat(size - text.len())
    };
    let fits = table.send(act(&table).raw(padded(1_048_576))).await;
    assert_eq!(fits.status, StatusCode::ACCEPTED);
    check(&table, "long", act(&table).raw(padded(1_048_577)), 413, -32000).await;

    let chunks = (0..17).map(|_| Ok::<_, std::io::Error>(vec![b' '; 65_536]));
    let answer = stream(&table, futures_util::stream::iter(chunks)).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (413, Some(-32000)));

    let broken = [Err::<Vec<u8>, _>(std::io::Error::other("gone"))];
    let answer = stream(&table, futures_util::stream::iter(broken)).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (408, Some(-32000)));
    unclaimed(&table).await;
}

/// Sends a body in pieces, without a declared length.
async fn stream(
    table: &Table,
    pieces: impl futures_util::Stream<Item = Result<Vec<u8>, std::io::Error>> + Send + 'static,
) -> Answer {
    let (head, _) = act(table).into_request().into_parts();
    let request = http::Request::from_parts(head, Body::from_stream(pieces));
    Answer::read(table.router.clone().oneshot(request).await.unwrap()).await
}

// A body that trickles is given up; the clock is the test's own.
#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_times_out() {
    let table = table();
    let answer = stream(&table, futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>()).await;
    assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test]
async fn content_types_other_than_json_are_refused() {
    let table = table();
    for kind in ["text/plain", "application/jsonp", "application/x-www-form-urlencoded", CANARY] {
        check(&table, kind, act(&table).with("content-type", kind), 415, -32000).await;
    }
    check(&table, "none", act(&table).without("content-type"), 415, -32000).await;
    let charset = act(&table).with("content-type", "Application/JSON; charset=utf-8").with("accept", "*/*");
    assert_eq!(table.send(charset).await.status, StatusCode::OK);
}

// §20: one strict parse. What is no JSON is -32700, what is no request is -32600, both without a guess at an id.
#[tokio::test]
async fn messages_that_are_no_requests_are_refused() {
    let table = table();
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let twice = format!(r#"{{"jsonrpc":"2.0","id":1,"id":2,"method":"{CANARY}"}}"#);
    for text in ["", "{", CANARY, deep.as_str(), twice.as_str(), "{\"id\":1e999}", "{} {}"] {
        let answer = check(&table, text, act(&table).raw(text.to_owned()), 400, -32700).await;
        assert!(answer.message().get("id").is_none());
    }
    check(&table, "not UTF-8", act(&table).raw(vec![b'"', 0xff, b'"']), 400, -32700).await;
    for value in [
        json!(CANARY),
        json!(5),
        json!(null),
        json!([{ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }]),
        json!({}),
        json!({ "jsonrpc": "2.0", "id": null, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 1.5, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": true, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": { "a": CANARY }, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 9_007_199_254_740_992_u64, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": "i".repeat(257), "method": "tools/list" }),
        json!({ "jsonrpc": "1.0", "id": 1, "method": CANARY }),
        json!({ "id": 1, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": 5 }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "a": CANARY } }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": CANARY } }),
    ] {
        check(&table, &value.to_string(), act(&table).json(&value), 400, -32600).await;
    }
    unclaimed(&table).await;
}

// §20: header and _meta name the one revision; missing or different is -32020, another is -32022.
#[tokio::test]
async fn requests_of_other_revisions_are_refused() {
    let table = table();
    let version = "io.modelcontextprotocol/protocolVersion";
    let named = |name: &str| body(&table, |body| body["params"]["_meta"][version] = json!(name));
    let no_meta = body(&table, |body| _ = body["params"].as_object_mut().unwrap().remove("_meta"));
    let no_params = body(&table, |body| _ = body.as_object_mut().unwrap().remove("params"));
    for (what, post, code) in [
        ("no header", act(&table).without("mcp-protocol-version"), -32020),
        ("two headers", act(&table).also("mcp-protocol-version", "2026-07-28"), -32020),
        ("neither", no_meta.clone().without("mcp-protocol-version"), -32020),
        ("different", act(&table).with("mcp-protocol-version", "2025-11-25"), -32020),
        ("different in the body", named(CANARY), -32020),
        ("no _meta", no_meta, -32602),
        ("no params", no_params, -32602),
        ("list params", body(&table, |body| body["params"] = json!([CANARY])), -32602),
        ("another", named("2025-11-25").with("mcp-protocol-version", "2025-11-25"), -32022),
        ("unheard of", named(CANARY).with("mcp-protocol-version", CANARY), -32022),
    ] {
        check(&table, what, post, 400, code).await;
    }
    // The revision has its name said back; no more of it than a name may be.
    for (asked, said) in [
        ("2025-11-25", "2025-11-25"),
        ("v999.0.0", "v999.0.0"),
        ("sixteen-letters-", "sixteen-letters-"),
        ("seventeen-letters", "unknown"),
        ("<b>", "unknown"),
        ("", "unknown"),
    ] {
        let answer = table.send(named(asked).with("mcp-protocol-version", asked)).await;
        let data = &answer.message()["error"]["data"];
        assert_eq!(data, &json!({ "supported": ["2026-07-28"], "requested": said }));
    }
    unclaimed(&table).await;
}

// §20: the handshake of older revisions is no way in; its refusal says what is supported.
#[tokio::test]
async fn the_old_handshake_is_refused() {
    let table = table();
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": CANARY } });
    let old = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let old = act(&table).without("mcp-protocol-version").without("mcp-method").json(&old);
    let answer = check(&table, "initialize", old, 400, -32022).await;
    assert_eq!(answer.message()["error"]["data"]["supported"], json!(["2026-07-28"]));
    for method in ["initialize", "ping"] {
        check(&table, method, table.post(method, json!({})), 404, -32601).await;
    }
    unclaimed(&table).await;
}

#[tokio::test]
async fn an_incomplete_meta_is_refused() {
    let table = table();
    for (member, value) in [
        ("io.modelcontextprotocol/clientCapabilities", json!(null)),
        ("io.modelcontextprotocol/clientCapabilities", json!(CANARY)),
        ("io.modelcontextprotocol/clientCapabilities", json!({ "elicitation": CANARY })),
        ("io.modelcontextprotocol/clientInfo", json!(CANARY)),
        ("progressToken", json!({ "a": CANARY })),
        ("progressToken", json!(1.5)),
        ("progressToken", json!("t".repeat(257))),
    ] {
        let post = body(&table, |body| body["params"]["_meta"][member] = value.clone());
        check(&table, &format!("{member}: {value}"), post, 400, -32602).await;
    }
    unclaimed(&table).await;
}

// Headers that repeat the body may say nothing else: intermediaries route by them.
#[tokio::test]
async fn method_and_name_headers_must_agree_with_the_body() {
    let table = table();
    for (what, post) in [
        ("no method", act(&table).without("mcp-method")),
        ("other method", act(&table).with("mcp-method", CANARY)),
        ("other case", act(&table).with("mcp-method", "Tools/Call")),
        ("two methods", act(&table).also("mcp-method", "tools/call")),
        ("no name", act(&table).without("mcp-name")),
        ("other name", act(&table).with("mcp-name", CANARY)),
        ("two names", act(&table).also("mcp-name", "game_act")),
        ("bad Base64", act(&table).with("mcp-name", "=?base64?%%?=")),
        ("other in Base64", act(&table).with("mcp-name", "=?base64?Q2FuYXJ5?=")),
    ] {
        check(&table, what, post, 400, -32020).await;
    }
    let encoded = act(&table).with("mcp-name", "=?base64?Z2FtZV9hY3Q=?=");
    assert_eq!(table.send(encoded).await.status, StatusCode::OK);
}

#[tokio::test]
async fn methods_that_are_not_offered_are_not_found() {
    let table = table();
    for method in [
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "tasks/get",
        "roots/list",
        "sampling/createMessage",
        "resources/subscribe",
        "tools/Call",
        "",
        CANARY,
    ] {
        check(&table, method, table.post(method, json!({})), 404, -32601).await;
    }
    unclaimed(&table).await;
}

// Params of the wrong shape and unknown tools answer in band, and claim nothing either.
#[tokio::test]
async fn params_of_another_shape_are_refused_in_band() {
    let table = table();
    for (method, params) in [
        ("tools/call", json!({ "arguments": {} })),
        ("tools/call", json!({ "name": 5 })),
        ("tools/call", json!({ "name": "game_act", "arguments": [CANARY] })),
        ("tools/call", json!({ "name": "game_act", "arguments": CANARY })),
        ("tools/call", json!({ "name": "game_act", "arguments": null })),
        ("tools/call", json!({ "name": CANARY })),
        ("tools/call", json!({ "name": "Game_act" })),
        ("tools/list", json!({ "cursor": CANARY })),
        ("server/discover", json!({ "other": CANARY })),
    ] {
        check(&table, &format!("{method} {params}"), table.post(method, params.clone()), 200, -32602).await;
    }
    unclaimed(&table).await;
}

// A notification asks for nothing, needs no further headers and claims nothing (§20).
#[tokio::test]
async fn notifications_are_accepted_and_have_no_effect() {
    let table = table();
    for method in ["notifications/cancelled", "notifications/initialized", "anything"] {
        let body = json!({ "jsonrpc": "2.0", "method": method, "params": { "_meta": meta() } });
        let post =
            act(&table).without("mcp-method").without("mcp-name").without("mcp-protocol-version").json(&body);
        let answer = table.send(post).await;
        assert_eq!((answer.status, answer.text.as_str()), (StatusCode::ACCEPTED, ""));
        assert_eq!(answer.session(), None);
    }
    unclaimed(&table).await;
}

// Once the server is told to stop it starts nothing new.
#[tokio::test]
async fn a_stopping_server_refuses_requests() {
    let table = table();
    table.shutdown.cancel();
    check(&table, "stopping", act(&table), 503, -32000).await;
}
