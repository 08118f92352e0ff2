//! §5 Client ID Metadata Documents: a client that never registered, from its first request to its end, and what no server
//! can make of a fetch.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use http::StatusCode;
use serde_json::{Value, json};
use support::internet::{Internet, Page};
use support::{Answer, Held, House, REDIRECT, form, owner, query, redemption};

const CLIENT: &str = "https://app.example/client.json";

/// Longest document, in bytes (§5).
const LONGEST: usize = 5 * 1024;

fn document() -> Value {
    json!({ "client_id": CLIENT, "client_name": "Codex", "redirect_uris": [REDIRECT] })
}

async fn revoke(house: &House, client: &str, token: &str) -> Answer {
    house.post("/oauth/revoke", &[], form(&[("token", token), ("client_id", client)], &[])).await
}

/// What is verified is the domain and nothing that the document says of itself; the client's id is its address at every
/// endpoint, and no other client may use what it was given.
#[tokio::test]
async fn a_client_with_a_document_goes_the_whole_way() {
    let internet = Internet::of(|path| match path {
        "/client.json" => Page::found(&document().to_string()),
        _ => Page::missing(),
    })
    .await;
    let house = House::fetching(internet.fetcher());
    let (falcon, other) = (house.add_commander("ann", "Falcon"), house.client().await);
    let request = query(CLIENT, &[]);
    let page = house.ask("ann", &request).await;
    assert!(page.text.contains("<strong>app.example</strong> (verified domain)"), "{}", page.text);
    assert!(page.text.contains("calls itself “Codex” — nobody verified that"), "{}", page.text);

    let code = house.allow("ann", &request, &falcon, &["air"]).await;
    let stolen = house.post("/oauth/token", &[], redemption(&other, &code, &[])).await;
    assert_eq!(stolen.error(), (400, "invalid_grant".into()));
    let redeemed = house.post("/oauth/token", &[], redemption(CLIENT, &code, &[])).await;
    assert_eq!(redeemed.status, StatusCode::OK, "{}", redeemed.text);
    let held = Held::of(CLIENT.into(), &redeemed);
    assert!(house.is_good(&held.access).await);
    let [connection] = &house.auth.connections(&owner("ann"))[..] else { panic!("one connection") };
    assert_eq!(connection["client"], json!({ "name": "Codex", "domain": "app.example", "verified": true }));

    let foreign = house.post("/oauth/token", &[], held.rotation(&[("client_id", &other)])).await;
    assert_eq!(foreign.error(), (400, "invalid_grant".into()));
    let rotated = house.post("/oauth/token", &[], held.rotation(&[])).await;
    assert_eq!(rotated.status, StatusCode::OK, "{}", rotated.text);
    let held = Held::of(CLIENT.into(), &rotated);
    assert_eq!(revoke(&house, &other, &held.refresh).await.error(), (400, "invalid_grant".into()));
    assert!(house.is_good(&held.access).await);
    assert_eq!(revoke(&house, CLIENT, &held.refresh).await.status, StatusCode::OK);
    assert!(!house.is_good(&held.access).await);
    assert_eq!(internet.connections(), 1, "a document is kept");
}

/// Five seconds, 5 KiB, no redirect, its own address in it, and a server that can prove its name: whoever breaks one of
/// these is a program that nobody knows.
#[tokio::test]
async fn a_document_that_breaks_a_rule_makes_no_client() {
    let internet = Internet::of(|path| {
        let mut document = document();
        let address = format!("https://app.example{path}");
        document["client_id"] = json!(address);
        let bare =
            json!({ "client_id": address, "redirect_uris": [REDIRECT], "padding": "" }).to_string().len();
        let padded = |length: usize| {
            let padding = "x".repeat(length - bare);
            json!({ "client_id": address, "redirect_uris": [REDIRECT], "padding": padding }).to_string()
        };
        match path {
            "/good.json" => Page::found(&document.to_string()),
            "/longest.json" => Page::found(&padded(LONGEST)),
            "/too-long.json" => Page::found(&padded(LONGEST + 1)),
            "/moved.json" => Page::moved("https://app.example/good.json"),
            "/other.json" => Page::found(&self::document().to_string()),
            "/slow.json" => Page::Dribbling(document.to_string()),
            _ => Page::missing(),
        }
    })
    .await;
    let house = House::fetching(internet.fetcher());
    for path in ["good", "longest"] {
        let page = house.ask("ann", &query(&format!("https://app.example/{path}.json"), &[])).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.text);
    }
    for address in ["too-long", "moved", "other", "slow", "missing"]
        .map(|path| format!("https://app.example/{path}.json"))
        .into_iter()
        .chain(["https://not-app.example/good.json".to_owned()])
    {
        let page = house.ask("ann", &query(&address, &[])).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{address}");
        assert!(page.text.contains("This server does not know the program that asks."), "{address}");
        assert_eq!(page.header("location"), "", "{address}");
    }
}

/// §5 "only from vetted public HTTPS addresses": whatever a public name stands for, nobody connects to a private address.
#[tokio::test]
async fn a_public_name_that_stands_for_a_private_address_is_not_reached() {
    let internet = Internet::of(|_| Page::found(&document().to_string())).await;
    let house = House::fetching(internet.judging_fetcher());
    let page = house.ask("ann", &query(CLIENT, &[])).await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    assert_eq!(internet.connections(), 0);
}
