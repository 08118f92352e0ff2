//! §5, §15 and field reports: what must not work at the authorization server.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use http::StatusCode;
use playerthree_auth::CONNECTIONS_PER_OWNER;
use playerthree_session::CommanderId;
use serde_json::json;
use support::{
    Answer, CHALLENGE, Held, House, ISSUER, REDIRECT, VERIFIER, address, decision, form, hidden, owner,
    parameter, query, redemption,
};

async fn redeem(house: &House, client: &str, code: &str, changes: &[(&str, &str)]) -> Answer {
    house.post("/oauth/token", &[], redemption(client, code, changes)).await
}

/// §5 "replay revokes the credentials they produced".
#[tokio::test]
async fn a_replayed_code_ends_what_it_gave() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let client = house.client().await;
    let code = house.allow("ann", &query(&client, &[]), &falcon, &["air"]).await;
    let held = Held::of(client.clone(), &redeem(&house, &client, &code, &[]).await);
    assert!(house.is_good(&held.access).await);
    let thief = redeem(&house, &client, &code, &[("code_verifier", &"x".repeat(43))]).await;
    assert_eq!(thief.error(), (400, "invalid_grant".into()));
    assert!(!house.is_good(&held.access).await);
    assert_eq!(house.post("/oauth/token", &[], held.rotation(&[])).await.error().1, "invalid_grant");
}

/// §5: verifier, redirect, client and resource have to be those of the request; a failed attempt changes nothing.
#[tokio::test]
async fn a_stolen_code_is_worth_nothing() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let (client, other) = (house.client().await, house.client().await);
    let code = house.allow("ann", &query(&client, &[]), &falcon, &["air"]).await;
    for (name, value, error) in [
        ("code_verifier", "", "invalid_request"),
        ("code_verifier", &*"x".repeat(43), "invalid_grant"),
        ("code_verifier", CHALLENGE, "invalid_grant"),
        ("code_verifier", &VERIFIER[1..], "invalid_grant"),
        ("redirect_uri", "http://127.0.0.1:3001/callback", "invalid_grant"),
        ("client_id", &*other, "invalid_grant"),
        ("client_id", "", "invalid_request"),
        ("resource", "", "invalid_target"),
        ("resource", "http://127.0.0.1:2567/pipes/mcp", "invalid_target"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("client_secret", "x", "invalid_client"),
    ] {
        let answer = redeem(&house, &client, &code, &[(name, value)]).await;
        assert_eq!(answer.error().1, error, "{name}={value}");
    }
    assert_eq!(redeem(&house, &client, &code, &[]).await.status, StatusCode::OK);
}

/// §5 "Refresh tokens ... rotate on use, and reuse revokes the connection".
#[tokio::test]
async fn a_refresh_token_that_is_used_again_ends_the_connection() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let first = house.connect("ann", &falcon, &["air"]).await;
    let answer = house.post("/oauth/token", &[], first.rotation(&[])).await;
    let second = Held::of(first.client.clone(), &answer);
    assert!(house.is_good(&second.access).await);
    assert_eq!(house.post("/oauth/token", &[], first.rotation(&[])).await.error().1, "invalid_grant");
    assert!(!house.is_good(&second.access).await);
    assert_eq!(house.post("/oauth/token", &[], second.rotation(&[])).await.error().1, "invalid_grant");
    assert!(house.auth.connections(&owner("ann")).is_empty());
}

/// Another client, another resource or a malformed token leaves the connection as it is.
#[tokio::test]
async fn a_refresh_for_somebody_else_changes_nothing() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let held = house.connect("ann", &falcon, &["air"]).await;
    let other = house.client().await;
    for (name, value, error) in [
        ("client_id", &*other, "invalid_grant"),
        ("resource", "https://game.example/mcp", "invalid_target"),
        ("refresh_token", &*held.access, "invalid_grant"),
        ("refresh_token", "", "invalid_request"),
    ] {
        let answer = house.post("/oauth/token", &[], held.rotation(&[(name, value)])).await;
        assert_eq!(answer.error().1, error, "{name}");
    }
    assert!(house.is_good(&held.access).await);
    let foreign = form(&[("token", &held.access), ("client_id", &other)], &[]);
    assert_eq!(house.post("/oauth/revoke", &[], foreign).await.error().1, "invalid_grant");
    let unknown = form(&[("token", &*"A".repeat(32)), ("client_id", &other)], &[]);
    assert_eq!(house.post("/oauth/revoke", &[], unknown).await.status, StatusCode::OK);
    assert!(house.is_good(&held.access).await);
    assert_eq!(house.post("/oauth/token", &[], held.rotation(&[])).await.status, StatusCode::OK);
}

/// At most two access tokens of a connection are good, however often it is refreshed.
#[tokio::test]
async fn refreshing_leaves_no_trail_of_good_tokens() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let mut held = vec![house.connect("ann", &falcon, &["air"]).await];
    for _ in 0..3 {
        let last = held.last().unwrap();
        let answer = house.post("/oauth/token", &[], last.rotation(&[])).await;
        let next = Held::of(last.client.clone(), &answer);
        held.push(next);
    }
    let mut good = Vec::new();
    for each in &held {
        good.push(house.is_good(&each.access).await);
    }
    assert_eq!(good, [false, false, true, true]);
}

/// RFC 6750, MCP: a token is good in the `Authorization` header and nowhere else.
#[tokio::test]
async fn a_token_in_the_wrong_place_is_none() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let Held { access, refresh, .. } = house.connect("ann", &falcon, &["air"]).await;
    let in_query = house.call(&format!("/mcp?access_token={access}"), &[], "game_briefing", json!({})).await;
    assert_eq!(in_query.status, StatusCode::UNAUTHORIZED);
    for (name, value) in [
        ("cookie", format!("access_token={access}")),
        ("authorization", format!("Basic {access}")),
        ("authorization", access.clone()),
        ("authorization", format!("Bearer {refresh}")),
        ("authorization", format!("Bearer {access}, Bearer {access}")),
        ("x-access-token", access.clone()),
    ] {
        let answer = house.call("/mcp", &[(name, &value)], "game_briefing", json!({})).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{name}: {value}");
    }
    let (client, code) = (house.client().await, "A".repeat(32));
    let in_address = format!("/oauth/token?{}", redemption(&client, &code, &[]));
    assert_eq!(house.post(&in_address, &[], String::new()).await.error().1, "invalid_request");
    assert!(house.is_good(&access).await);
}

/// §5: a foreign redirect is told to the person and to nobody else; nothing of the request comes back.
#[tokio::test]
async fn a_foreign_redirect_gets_no_answer() {
    let house = House::new();
    let client = house.client().await;
    for uri in ["https://evil.example/callback", "http://127.0.0.1:3000/other", "javascript:alert(1)"] {
        let page = house.ask("ann", &query(&client, &[("redirect_uri", uri)])).await;
        assert_eq!((page.status, page.header("location")), (StatusCode::BAD_REQUEST, ""), "{uri}");
        assert!(!page.text.contains("evil") && !page.text.contains("alert"));
    }
    let unknown = house.ask("ann", &query("dcr_unknown", &[])).await;
    assert_eq!((unknown.status, unknown.header("location")), (StatusCode::BAD_REQUEST, ""));
    let private = house.ask("ann", &query("https://localhost/client.json", &[])).await;
    assert_eq!(private.status, StatusCode::BAD_REQUEST);
}

/// §5, RFC 8707: plain or missing proof keys and other resources go back as errors, with the issuer.
#[tokio::test]
async fn bad_requests_go_back_to_their_client() {
    let house = House::new();
    let client = house.client().await;
    for (name, value, error) in [
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("resource", "https://other.example/mcp", "invalid_target"),
        ("resource", "", "invalid_target"),
        ("response_type", "token", "unsupported_response_type"),
    ] {
        let answer = house.ask("ann", &query(&client, &[(name, value)])).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{name}={value}");
        let location = answer.header("location");
        assert!(location.starts_with(REDIRECT), "{location}");
        assert_eq!(parameter(location, "error").as_deref(), Some(error), "{name}={value}");
        assert_eq!(parameter(location, "iss").as_deref(), Some(ISSUER));
    }
    let twice = format!("{}&state=again", query(&client, &[]));
    assert_eq!(house.ask("ann", &twice).await.status, StatusCode::BAD_REQUEST);
    let long = query(&client, &[("state", &*"x".repeat(9_000))]);
    assert_eq!(house.ask("ann", &long).await.status, StatusCode::URI_TOO_LONG);
}

/// Nobody consents for an owner: not another page, not another owner, not for another request.
#[tokio::test]
async fn a_forged_consent_is_refused() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let client = house.client().await;
    let page = house.ask("ann", &query(&client, &[])).await;
    let good = decision(&page, "allow", &falcon, &["air"]);
    for headers in [
        vec![("cookie", "owner=ann"), ("origin", "https://evil.example")],
        vec![("cookie", "owner=ann"), ("origin", "null")],
        vec![("cookie", "owner=ann")],
        vec![("cookie", "owner=ann"), ("origin", ISSUER), ("origin", ISSUER)],
        vec![("cookie", "owner=bob"), ("origin", ISSUER)],
        vec![("origin", ISSUER)],
    ] {
        let answer = house.post("/oauth/authorize", &headers, good.clone()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    let request = hidden(&page, "request").replace("3000", "3001");
    let altered = form(
        &[("request", &*request), ("proof", &*hidden(&page, "proof")), ("decision", "allow")],
        &[("commander", &*falcon.0)],
    );
    assert_eq!(house.answer("ann", altered).await.status, StatusCode::FORBIDDEN);
    assert!(house.auth.connections(&owner("ann")).is_empty());
    assert!(address(&house.answer("ann", good).await).starts_with(REDIRECT));
}

/// §5: consent is for the owner's own commander and some of its roles.
#[tokio::test]
async fn consent_chooses_only_what_is_the_owners() {
    let house = House::new();
    let (falcon, foreign) = (house.add_commander("ann", "Falcon"), house.add_commander("bob", "Hawk"));
    let client = house.client().await;
    let page = house.ask("ann", &query(&client, &[])).await;
    assert!(page.text.contains("Falcon") && !page.text.contains("Hawk"));
    for form in [
        decision(&page, "allow", &foreign, &["air"]),
        decision(&page, "allow", &falcon, &[]),
        decision(&page, "allow", &falcon, &["sea"]),
    ] {
        assert_eq!(house.answer("ann", form).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
}

/// §5 "self-asserted names MUST NOT appear verified"; the page runs nothing and is framed by nobody.
#[tokio::test]
async fn the_page_says_who_asks_and_where_it_returns() {
    let house = House::new();
    house.add_commander("ann", "Falcon");
    let metadata = json!({
        "client_name": "<script>alert(1)</script> Codex (verified domain)",
        "redirect_uris": ["https://app.example/callback"],
    });
    let client = house.register(metadata).await.json()["client_id"].as_str().unwrap().to_owned();
    let page = house.ask("ann", &query(&client, &[("redirect_uri", "https://app.example/callback")])).await;
    assert!(
        page.text.contains("calls itself “&lt;script&gt;alert(1)&lt;/script&gt; Codex (verified domain)”")
    );
    assert!(page.text.contains("nobody verified that") && page.text.contains("<strong>app.example</strong>"));
    assert!(!page.text.contains("<script"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!((page.header("x-frame-options"), page.header("cache-control")), ("DENY", "no-store"));
}

/// Nothing is said or fetched for anybody who has not signed in.
#[tokio::test]
async fn a_stranger_signs_in_first() {
    let house = House::new();
    let query = query("https://app.example/client.json", &[]);
    let answer = house.get(&format!("/oauth/authorize?{query}"), &[]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let back = parameter(answer.header("location"), "return").unwrap();
    assert_eq!(
        (answer.header("location").split_once('?').unwrap().0, back),
        ("/sign-in", format!("/oauth/authorize?{query}"))
    );
}

/// Field report: registration is open, so it is bounded in size, and by rate without shutting a shared address out.
#[tokio::test(start_paused = true)]
async fn registrations_are_bounded() {
    let house = House::new();
    let long = json!({ "client_name": "x".repeat(1 << 20), "redirect_uris": [REDIRECT] });
    assert_eq!(house.register(long).await.error(), (400, "invalid_client_metadata".into()));
    let many = json!({ "redirect_uris": vec![REDIRECT; 1_000] });
    assert_eq!(house.register(many).await.status, StatusCode::BAD_REQUEST);
    let script = json!({ "redirect_uris": ["javascript:alert(1)"] });
    assert_eq!(house.register(script).await.error(), (400, "invalid_redirect_uri".into()));
    for body in [json!([]), json!("x"), json!({ "redirect_uris": [REDIRECT], "client_name": 7 })] {
        assert_eq!(house.register(body).await.error(), (400, "invalid_client_metadata".into()));
    }
    let shared = House::with_rate(playerthree_auth::REQUESTS_PER_SECOND);
    for _ in 0..500 {
        shared.client().await;
    }
    let mut refused = None;
    for _ in 0..1_000 {
        let answer = shared.register(json!({ "redirect_uris": [REDIRECT] })).await;
        if answer.status != StatusCode::CREATED {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("a flood is refused");
    assert_eq!(refused.error(), (429, "temporarily_unavailable".into()));
    assert_eq!(refused.header("retry-after"), "1");
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    shared.client().await;
}

/// An owner's connections are bounded, and they are told.
#[tokio::test]
async fn an_owner_has_a_bounded_number_of_connections() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    for _ in 0..CONNECTIONS_PER_OWNER {
        house.connect("ann", &falcon, &["air"]).await;
    }
    let client = house.client().await;
    let page = house.ask("ann", &query(&client, &[])).await;
    let new = CommanderId("new:agent-command".into());
    let named = format!("{}&name.new%3Aagent-command=Hawk", decision(&page, "allow", &new, &["air"]));
    for form in [decision(&page, "allow", &falcon, &["air"]), named] {
        let answer = house.answer("ann", form).await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(answer.text.contains("You have as many connections as you may."));
    }
    let commanders = house.agents.commanders().list(&house.surface, &owner("ann"));
    assert_eq!(commanders.len(), 1, "nothing was allowed, so nobody was added");
    let id = house.auth.connections(&owner("ann"))[0]["id"].as_str().unwrap().to_owned();
    assert!(!house.auth.revoke(&owner("bob"), &id));
    assert!(house.auth.revoke(&owner("ann"), &id));
    house.connect("ann", &falcon, &["air"]).await;
}
