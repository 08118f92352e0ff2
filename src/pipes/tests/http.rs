//! Pipes over HTTP: statuses, codes, capabilities and the exported log.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has nothing else to do")]

mod common;

use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode, header};
use common::{Script, Table};
use playerthree_pipes::{PairingCode, Rate, router, verify};
use serde_json::{Value, json};
use tower::ServiceExt;

struct Client {
    table: Table,
}

struct Answer {
    status: StatusCode,
    response: Response<()>,
    bytes: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    fn code(&self) -> (u16, String) {
        (self.status.as_u16(), self.json()["error"]["code"].as_str().unwrap().to_owned())
    }
}

impl Client {
    fn new() -> Self {
        Self { table: Table::new() }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = router(self.table.pipes.clone()).oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: parts.status, response: Response::from_parts(parts, ()), bytes }
    }

    async fn get(&self, path: &str, token: &str) -> Answer {
        let request = Request::get(path).header(header::AUTHORIZATION, format!("Bearer {token}"));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    async fn call(&self, method: &str, path: &str, token: &str, body: &Value) -> Answer {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    async fn open(&self, kind: &str) -> Value {
        let answer = self.call("POST", "/pipes/v1/inboxes", "", &json!({"kind": kind})).await;
        assert_eq!(answer.status, StatusCode::CREATED);
        assert_eq!(answer.response.headers()[header::CACHE_CONTROL], "no-store");
        answer.json()
    }

    async fn post(&self, url: &str, body: &str, key: Option<&str>) -> Answer {
        let mut request = Request::post(url);
        if let Some(key) = key {
            request = request.header("X-Pipes-Signature", signature(key, body));
        }
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }
}

fn signature(key: &str, text: &str) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = <Hmac<sha2::Sha256> as KeyInit>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_anonymous_inbox_is_opened_in_one_call_and_played_in_the_next() {
    let client = Client::new();
    let inbox = client.open("anonymous").await;
    let (id, url, read) = (text(&inbox, "inboxId"), text(&inbox, "captureUrl"), text(&inbox, "readToken"));
    let mut script = Script::new("g", 3, 3, 3);
    script.place(1, 1, Some("in_progress"));
    for (at, body) in script.bodies.iter().enumerate() {
        let answer = client.post(&url, body, None).await;
        assert_eq!(
            (answer.status, answer.json()["seq"].as_u64()),
            (StatusCode::CREATED, Some(at as u64 + 1))
        );
    }
    let list = client.get(&format!("/pipes/v1/inboxes/{id}/captures"), &read).await.json();
    assert_eq!(list["Requests"][0]["Body"], script.bodies[0]);
    assert_eq!(
        (&list["TotalCount"], &list["NextCursor"], &list["Scope"]),
        (&json!(2), &json!("2"), &json!("read"))
    );
    let rest = client.get(&format!("/pipes/v1/inboxes/{id}/captures?after=1&limit=1"), &read).await.json();
    assert_eq!(rest["Requests"][0]["Seq"], 2);
    let capture = text(&rest["Requests"][0], "Id");
    let one = client.get(&format!("/pipes/v1/inboxes/{id}/captures/{capture}"), &read).await.json();
    assert_eq!(one["Seq"], 2);
    let game = client.get(&format!("/pipes/v1/inboxes/{id}/games/g"), &read).await.json();
    assert_eq!((&game["games"][0]["turn"], &game["verdict"]["ok"]), (&json!("O"), &json!(true)));
    let empty = client
        .get(&format!("/pipes/v1/inboxes/{id}/captures/wait?after=2&timeoutSeconds=0"), &read)
        .await
        .json();
    assert_eq!((&empty["Requests"], &empty["NextCursor"]), (&json!([]), &json!("2")));
}

#[tokio::test]
async fn every_refusal_has_its_status_and_its_code() {
    let client = Client {
        table: Table::with(|limits| {
            limits.body_bytes = 64;
            limits.post_rate = Rate { per_second: 1, burst: 2 };
            limits.verify_bytes = 100;
        }),
    };
    let anonymous = client.open("anonymous").await;
    let (id, url, read) =
        (text(&anonymous, "inboxId"), text(&anonymous, "captureUrl"), text(&anonymous, "readToken"));
    let refused = |status: u16, code: &str| (status, code.to_owned());

    assert_eq!(client.post("/pipes/v1/in/nobody.x", "x", None).await.code(), refused(404, "not_found"));
    assert_eq!(client.post(&url, &"x".repeat(65), None).await.code(), refused(413, "too_large"));
    assert_eq!(client.post(&url, &"x".repeat(6500), None).await.code(), refused(413, "too_large"));
    client.post(&url, &"x".repeat(64), None).await;
    client.post(&url, "x", None).await;
    let limited = client.post(&url, "x", None).await;
    assert_eq!(limited.code(), refused(429, "rate_limited"));
    assert_eq!(limited.response.headers()[header::RETRY_AFTER], "1");
    assert_eq!(client.send(Request::put(&url).body(Body::empty()).unwrap()).await.status, 405);

    let rows = format!("/pipes/v1/inboxes/{id}/captures");
    let bare = client.send(Request::get(&rows).body(Body::empty()).unwrap()).await;
    assert_eq!(bare.code(), refused(404, "not_found"));
    assert_eq!(client.get(&rows, "x.y").await.code(), refused(404, "not_found"));
    assert_eq!(client.get("/pipes/v1/inboxes/other/captures", &read).await.code(), refused(404, "not_found"));
    assert_eq!(client.get(&format!("{rows}?after=x"), &read).await.code(), refused(400, "bad_request"));
    assert_eq!(client.get(&format!("{rows}/{id}-99"), &read).await.code(), refused(404, "not_found"));
    assert_eq!(
        client.get(&format!("/pipes/v1/inboxes/{id}/games/none"), &read).await.code(),
        refused(404, "not_found")
    );

    let seats = format!("/pipes/v1/inboxes/{id}/seats");
    assert_eq!(client.call("POST", &seats, &read, &json!({})).await.code(), refused(404, "not_found"));
    let host = text(&anonymous, "hostToken");
    assert_eq!(client.call("POST", &seats, &host, &json!({})).await.code(), refused(409, "not_signed"));
    assert_eq!(
        client.call("POST", &seats, &host, &json!({"x": 1})).await.code(),
        refused(400, "bad_request")
    );

    let signed = client.open("signed").await;
    assert_eq!(client.post(&text(&signed, "captureUrl"), "x", None).await.code(), refused(401, "unsigned"));
    let verify = |body: String| Request::post("/pipes/v1/verify").body(Body::from(body)).unwrap();
    assert_eq!(client.send(verify("x".repeat(101))).await.code(), refused(413, "too_large"));
    assert_eq!(client.send(verify("no log".to_owned())).await.code(), refused(400, "bad_request"));
    assert_eq!(client.get("/pipes/v1/recipes/flurryport:chess", "").await.code(), refused(404, "not_found"));
    let bad = client.call("POST", "/pipes/v1/inboxes", "", &json!({"kind": "public"})).await;
    assert_eq!(bad.code(), refused(400, "bad_request"));
}

#[tokio::test]
async fn a_guest_pairs_posts_with_its_own_key_and_is_told_apart() {
    let client = Client::new();
    let inbox = client.open("signed").await;
    let (id, host, read) = (text(&inbox, "inboxId"), text(&inbox, "hostToken"), text(&inbox, "readToken"));
    let host_key = text(&inbox["hostSeat"], "signingKey");
    let seats = format!("/pipes/v1/inboxes/{id}/seats");
    let minted = client.call("POST", &seats, &host, &json!({"label": "Ada"})).await;
    assert_eq!(minted.status, StatusCode::CREATED);
    let code = PairingCode::parse(&text(&minted.json(), "pairingCode")).unwrap();
    let proof = code.prove("n", "2026-01-05T10:00:00.000Z");
    let ask = json!({"handle": proof.handle, "nonce": proof.nonce, "timestamp": proof.timestamp, "proof": proof.proof});
    let guest = client.call("POST", "/pipes/v1/seats/redeem", "", &ask).await.json();
    let again = client.call("POST", "/pipes/v1/seats/redeem", "", &ask).await;
    assert_eq!(again.code(), (404, "not_found".to_owned()));

    let mut script = Script::new("g", 3, 3, 3);
    script.place(0, 0, None);
    script.place(1, 1, None);
    let guest_key = text(&guest["seat"], "signingKey");
    for (body, (url, key)) in script.bodies.iter().zip([
        (text(&inbox, "captureUrl"), &host_key),
        (text(&inbox, "captureUrl"), &host_key),
        (text(&guest, "captureUrl"), &guest_key),
    ]) {
        assert_eq!(client.post(&url, body, Some(key)).await.status, StatusCode::CREATED);
    }
    let export = client.get(&format!("/pipes/v1/inboxes/{id}/export"), &read).await;
    let report = verify::verify(export.bytes.as_slice(), verify::Request::default()).unwrap().to_json();
    assert_eq!(report["verdict"], json!({"ok": true}));
    assert_eq!(
        report["games"][0]["signers"],
        json!({"X": inbox["hostSeat"]["seatRef"], "O": guest["seat"]["seatRef"]})
    );

    // The guest's key cannot play X, and the inbox keeps serving.
    script.place(2, 2, None);
    client.post(&text(&guest, "captureUrl"), &script.bodies[3], Some(&guest_key)).await;
    let games = client.get(&format!("/pipes/v1/inboxes/{id}/games"), &read).await.json();
    assert_eq!(games["faults"][0]["reason"], "wrong_signer");
    let rotated = client
        .call(
            "POST",
            &format!("{seats}/{}/rotate", text(&guest["seat"], "seatRef")),
            &text(&guest, "seatToken"),
            &json!({}),
        )
        .await;
    assert_eq!(rotated.status, StatusCode::OK);
    assert_ne!(text(&rotated.json(), "signingKey"), guest_key);
    let revoke = client
        .call("DELETE", &format!("{seats}/{}", text(&guest["seat"], "seatRef")), &host, &json!({}))
        .await;
    assert_eq!(revoke.status, StatusCode::NO_CONTENT);
    let roster = client.get(&seats, &read).await.json();
    assert_eq!(roster["seats"][1]["active"], false);
    assert!(!roster.to_string().contains("Key"));
}

#[tokio::test]
async fn an_export_holds_every_page_and_can_be_narrowed_to_a_game() {
    let client = Client { table: Table::with(|limits| limits.page_rows = 2) };
    let inbox = client.open("anonymous").await;
    let (id, read) = (text(&inbox, "inboxId"), text(&inbox, "readToken"));
    let bodies: Vec<String> =
        ["a", "b", "a2", "b2", "c"].map(|game| Script::new(game, 3, 3, 3).bodies.remove(0)).into();
    for body in &bodies {
        client.post(&text(&inbox, "captureUrl"), body, None).await;
    }
    let whole = client.get(&format!("/pipes/v1/inboxes/{id}/export"), &read).await.json();
    let rows = whole["inboxes"][0]["captures"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["Body"].as_str().unwrap()).collect::<Vec<_>>(), bodies);
    let one = client.get(&format!("/pipes/v1/inboxes/{id}/export?game=b2"), &read).await.json();
    assert_eq!(one["inboxes"][0]["captures"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_page_asks_nobody_else_and_runs_no_inline_script() {
    let client = Client::new();
    for path in [
        "/pipes/",
        "/pipes/page.css",
        "/pipes/page.mjs",
        "/pipes/view.mjs",
        "/pipes/verify.mjs",
        "/pipes/json.mjs",
    ] {
        let answer = client.get(path, "").await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let policy = answer.response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let text = String::from_utf8(answer.bytes).unwrap();
        assert!(!text.contains("://"), "{path} names another server");
        assert!(!text.contains("style=") && !text.contains("innerHTML"), "{path}");
    }
    let recipe = client.get("/pipes/v1/recipes/flurryport:tic-tac-toe", "").await.json();
    assert_eq!(recipe["intentSchema"]["properties"]["player"]["enum"], json!(["X", "O"]));
}
