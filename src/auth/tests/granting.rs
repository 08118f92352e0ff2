//! §5: from the challenge to a token that plays, and how long each thing lives.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use http::StatusCode;
use playerthree_auth::{ACCESS_LIFETIME, CODE_LIFETIME, REFRESH_LIFETIME};
use serde_json::{Value, json};
use std::time::Duration;
use support::{Held, House, ISSUER, RESOURCE, address, decision, owner, parameter, query, redemption};

/// RFC 9728, RFC 8414: a client without a credential finds the way from the challenge alone.
#[tokio::test]
async fn the_challenge_leads_to_both_documents() {
    let house = House::new();
    let challenged = house.call("/mcp", &[], "game_briefing", json!({})).await;
    assert_eq!(challenged.status, StatusCode::UNAUTHORIZED);
    let metadata = "/.well-known/oauth-protected-resource/mcp";
    assert_eq!(
        challenged.header("www-authenticate"),
        format!("Bearer resource_metadata=\"{ISSUER}{metadata}\"")
    );
    let bad = house.tool(&"A".repeat(32), "game_briefing", json!({})).await;
    assert_eq!(
        bad.header("www-authenticate"),
        format!("Bearer error=\"invalid_token\", resource_metadata=\"{ISSUER}{metadata}\"")
    );
    let resource = house.get(metadata, &[]).await.json();
    assert_eq!(
        (&resource["resource"], &resource["authorization_servers"]),
        (&json!(RESOURCE), &json!([ISSUER]))
    );
    let server = house.get("/.well-known/oauth-authorization-server", &[]).await.json();
    assert_eq!(server["issuer"], ISSUER);
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(server["authorization_response_iss_parameter_supported"], true);
}

/// A client compares the metadata with the address that it was given; a name without TLS has no sign-in.
#[tokio::test]
async fn metadata_speaks_of_the_name_that_was_asked_for() {
    let house = House::new();
    let path = "/.well-known/oauth-protected-resource/mcp";
    let public = house.get(path, &[("host", "game.example")]).await.json();
    assert_eq!(public["resource"], "https://game.example/mcp");
    for host in ["evil.example", "unsigned.example"] {
        assert_eq!(house.get(path, &[("host", host)]).await.status, StatusCode::NOT_FOUND, "{host}");
    }
    let unsigned = house.call("/mcp", &[("host", "unsigned.example")], "game_briefing", json!({})).await;
    assert_eq!(unsigned.header("www-authenticate"), "Bearer");
}

/// §5: a connection is one named commander with the roles that its owner chose, and nothing else.
#[tokio::test]
async fn a_token_plays_the_chosen_commander_in_the_chosen_roles() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let held = house.connect("ann", &falcon, &["air"]).await;
    let briefing = house.tool(&held.access, "game_briefing", json!({})).await.json();
    let briefing = &briefing["result"]["structuredContent"];
    assert_eq!(briefing["commands"], json!([{ "role": "air", "phase": "lobby" }]));
    let ground = house.tool(&held.access, "game_observe", json!({ "role": "ground" })).await.json();
    assert_eq!(ground["result"]["content"][0]["text"], "{\"error\":\"forbidden\"}");
    let air = house.tool(&held.access, "game_observe", json!({ "role": "air" })).await.json();
    assert_eq!(air["result"]["isError"], false, "{air}");
}

/// §5: every consent makes a connection of its own, whatever else is the same.
#[tokio::test]
async fn connections_of_one_commander_are_independent() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let one = house.connect("ann", &falcon, &["air"]).await;
    let two = house.connect("ann", &falcon, &["air"]).await;
    let listed = house.auth.connections(&owner("ann"));
    assert_eq!(listed.len(), 2);
    assert!(house.auth.revoke(&owner("ann"), listed[0]["id"].as_str().unwrap()));
    assert_ne!(house.is_good(&one.access).await, house.is_good(&two.access).await);
}

/// RFC 6749 §4.1.2.1, RFC 9207: a refusal goes back with state and issuer, and nothing is granted.
#[tokio::test]
async fn an_owner_may_say_no() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let client = house.client().await;
    let page = house.ask("ann", &query(&client, &[])).await;
    let address = address(&house.answer("ann", decision(&page, "deny", &falcon, &["air"])).await);
    let of = |name| parameter(&address, name).unwrap_or_default();
    assert_eq!((&*of("error"), &*of("state"), &*of("iss")), ("access_denied", "s t", ISSUER));
    assert_eq!((parameter(&address, "code"), house.auth.connections(&owner("ann"))), (None, Vec::new()));
}

/// §5: an owner without a commander names one on the way.
#[tokio::test]
async fn a_new_commander_is_made_by_consent() {
    let house = House::new();
    let client = house.client().await;
    let page = house.ask("ann", &query(&client, &[])).await;
    let (request, proof) = (support::hidden(&page, "request"), support::hidden(&page, "proof"));
    let new = |name| {
        let pairs = [
            ("request", &*request),
            ("proof", &*proof),
            ("decision", "allow"),
            ("commander", "new:agent-command"),
            ("name.new:agent-command", name),
            ("role.new:agent-command.ground", "on"),
        ];
        support::form(&pairs, &[])
    };
    let unnamed = house.answer("ann", new("<b>")).await;
    assert_eq!(unnamed.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(house.agents.commanders().list(&house.surface, &owner("ann")).is_empty());
    // One click may send a form twice; the browser follows the last answer.
    let mut codes = Vec::new();
    for _ in 0..2 {
        codes.push(parameter(&address(&house.answer("ann", new("Hawk")).await), "code").unwrap());
    }
    assert_eq!(house.agents.commanders().list(&house.surface, &owner("ann")).len(), 1);
    let redeem = async |code| house.post("/oauth/token", &[], redemption(&client, code, &[])).await;
    assert_eq!(redeem(&codes[0]).await.error(), (400, "invalid_grant".into()));
    let held = Held::of(client.clone(), &redeem(&codes[1]).await);
    assert!(house.is_good(&held.access).await);
    let [connection] = &house.auth.connections(&owner("ann"))[..] else { panic!("one connection") };
    assert_eq!(
        (&connection["commander"]["name"], &connection["roles"]),
        (&json!("Hawk"), &json!(["ground"]))
    );
}

/// §5: the owner sees who asks as unverified, and when; `active` is about calls.
#[tokio::test(start_paused = true)]
async fn an_owner_sees_their_connections() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let held = house.connect("ann", &falcon, &["ground", "air"]).await;
    let info = || house.auth.connections(&owner("ann")).remove(0);
    let fresh = info();
    assert_eq!(fresh["client"], json!({ "name": "Tester", "verified": false }));
    assert_eq!((&fresh["commander"]["id"], &fresh["active"]), (&json!(falcon.0), &json!(false)));
    assert!(fresh["createdAt"].as_u64() >= fresh["authorizedAt"].as_u64());
    assert!(house.is_good(&held.access).await);
    house.tool(&held.access, "game_observe", json!({ "role": "air" })).await;
    assert_eq!(info()["active"], true);
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!(info()["active"], false);
    assert!(house.auth.connections(&owner("bob")).is_empty());
}

/// §5 "Role edits and revocation MUST apply on the next call".
#[tokio::test]
async fn edited_roles_hold_from_the_next_call_on() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let held = house.connect("ann", &falcon, &["ground", "air"]).await;
    let id = house.auth.connections(&owner("ann"))[0]["id"].as_str().unwrap().to_owned();
    let set = |of: &str, roles: &[&str]| {
        let roles: Vec<_> = roles.iter().map(|role| (*role).into()).collect();
        house.auth.set_roles(&owner(of), &id, &roles)
    };
    assert!(!set("bob", &["ground"]) && !set("ann", &[]) && !set("ann", &["sea"]));
    assert!(set("ann", &["ground"]));
    let call = house.tool(&held.access, "game_observe", json!({ "role": "air" })).await;
    assert_eq!(call.json()["result"]["content"][0]["text"], "{\"error\":\"forbidden\"}");
}

/// §5: codes live 60 seconds, access tokens an hour, refresh tokens 30 days from their own issue.
#[tokio::test(start_paused = true)]
async fn codes_and_tokens_live_as_long_as_they_should() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let client = house.client().await;
    let late = house.allow("ann", &query(&client, &[]), &falcon, &["air"]).await;
    tokio::time::advance(CODE_LIFETIME).await;
    let answer = house.post("/oauth/token", &[], redemption(&client, &late, &[])).await;
    assert_eq!(answer.error(), (400, "invalid_grant".into()));

    let held = house.connect("ann", &falcon, &["air"]).await;
    tokio::time::advance(ACCESS_LIFETIME - Duration::from_secs(1)).await;
    assert!(house.is_good(&held.access).await);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(!house.is_good(&held.access).await);

    tokio::time::advance(REFRESH_LIFETIME - ACCESS_LIFETIME - Duration::from_secs(1)).await;
    let answer = house.post("/oauth/token", &[], held.rotation(&[])).await;
    let held = Held::of(held.client, &answer);
    assert!(house.is_good(&held.access).await);
    assert_eq!((answer.header("cache-control"), &answer.json()["expires_in"]), ("no-store", &json!(3600)));
    tokio::time::advance(REFRESH_LIFETIME).await;
    assert_eq!(
        house.post("/oauth/token", &[], held.rotation(&[])).await.error(),
        (400, "invalid_grant".into())
    );
    assert_eq!(house.auth.connections(&owner("ann")), Vec::<Value>::new());
}

/// A connection that nobody refreshed takes its tokens along when it is forgotten.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_over_leaves_no_token_behind() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    house.connect("ann", &falcon, &["air"]).await;
    // What is printed of them is how many tokens there are.
    let held = || format!("{:?}", house.agents.commanders());
    let with_one = held();
    tokio::time::advance(REFRESH_LIFETIME).await;
    house.connect("ann", &falcon, &["air"]).await;
    assert_eq!(held(), with_one);
}

/// §5: the end of a connection answers its open waits at once, whoever ends it.
#[tokio::test]
async fn revocation_ends_open_waits_at_once() {
    for by_client in [false, true] {
        let house = House::new();
        let falcon = house.add_commander("ann", "Falcon");
        let held = house.connect("ann", &falcon, &["air"]).await;
        let id = house.auth.connections(&owner("ann"))[0]["id"].as_str().unwrap().to_owned();
        let wait = house.tool(&held.access, "game_wait", json!({ "seconds": 60 }));
        let revoke = async {
            while house.auth.connections(&owner("ann"))[0]["active"] != true {
                tokio::task::yield_now().await;
            }
            if by_client {
                let form = support::form(&[("token", &held.refresh), ("client_id", &held.client)], &[]);
                assert_eq!(house.post("/oauth/revoke", &[], form).await.status, StatusCode::OK);
            } else {
                assert!(house.auth.revoke(&owner("ann"), &id));
            }
        };
        let (waited, ()) = tokio::join!(wait, revoke);
        assert_eq!(waited.json()["result"]["content"][0]["text"], "{\"error\":\"bad_token\"}");
        assert!(!house.is_good(&held.access).await);
        assert_eq!(house.post("/oauth/token", &[], held.rotation(&[])).await.error().1, "invalid_grant");
    }
}

/// §20.3: a commander that its owner removed takes its connections with it.
#[tokio::test]
async fn connections_end_with_their_commander() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let held = house.connect("ann", &falcon, &["air"]).await;
    house.agents.commanders().remove(&house.surface, &owner("ann"), &falcon).unwrap();
    assert!(!house.is_good(&held.access).await);
    assert!(house.auth.connections(&owner("ann")).is_empty());
    assert_eq!(house.post("/oauth/token", &[], held.rotation(&[])).await.error().1, "invalid_grant");
}

/// §5: the commander token and a connection are separate credentials.
#[tokio::test]
async fn rotating_the_commander_token_leaves_connections_alone() {
    let house = House::new();
    let falcon = house.add_commander("ann", "Falcon");
    let held = house.connect("ann", &falcon, &["air"]).await;
    let token = house.agents.commanders().rotate(&house.surface, &owner("ann"), &falcon).unwrap();
    assert!(house.is_good(&held.access).await && house.is_good(token.reveal()).await);
}
