//! Agents' credentials: minted by anybody, bounded in number, rate and life, kept as digests over a restart.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has nothing else to do")]

mod common;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use common::Table;
use playerthree_pipes::tools::call;
use playerthree_pipes::{PipesError, Rate, router};
use serde_json::{Value, json};
use tower::ServiceExt;

#[tokio::test]
async fn a_token_is_good_for_its_life_over_restarts_and_only_its_digest_is_kept() {
    let table = Table::new();
    let agent = table.pipes.mint_agent().await.unwrap();
    let token = agent.token.reveal().to_owned();
    assert_eq!(token.len(), 32);
    assert!(!format!("{agent:?}").contains(&token));
    let holder = table.pipes.agent(&token).unwrap();
    let stored = std::fs::read_to_string(table.dir.path().join("agents")).unwrap();
    assert!(!stored.contains(&token));

    let table = table.restart();
    assert_eq!(table.pipes.agent(&token), Some(holder));
    assert_eq!(table.pipes.agent(&token[1..]), None);
    assert_eq!(table.pipes.agent(""), None);
    table.pass_ms(agent.expires_ms - table.now_ms());
    assert_eq!(table.pipes.agent(&token), None);
    table.pipes.sweep().unwrap();
    assert_eq!(table.pipes.revoke_agent(&token).await, Err(PipesError::NotFound));
}

#[tokio::test]
async fn a_revoked_token_is_good_for_nothing_even_after_a_restart() {
    let table = Table::new();
    let token = table.pipes.mint_agent().await.unwrap().token;
    table.pipes.revoke_agent(token.reveal()).await.unwrap();
    assert_eq!(table.pipes.agent(token.reveal()), None);
    assert_eq!(table.restart().pipes.agent(token.reveal()), None);
}

#[tokio::test]
async fn there_are_never_more_agents_than_the_bound_and_seated_ones_stay() {
    let table = Table::with(|limits| limits.agents = 2);
    let seated = table.pipes.mint_agent().await.unwrap().token;
    let holder = table.pipes.agent(seated.reveal()).unwrap();
    call(&table.pipes, &holder, "pipes_create_game", json!({})).await.unwrap();
    table.pass_ms(1000);
    let idle = table.pipes.mint_agent().await.unwrap().token;
    table.pass_ms(1000);
    let third = table.pipes.mint_agent().await.unwrap().token;
    let good = [&seated, &idle, &third].map(|token| table.pipes.agent(token.reveal()).is_some());
    assert_eq!(good, [true, false, true]);
    let holder = table.pipes.agent(third.reveal()).unwrap();
    call(&table.pipes, &holder, "pipes_create_game", json!({})).await.unwrap();
    assert_eq!(table.pipes.mint_agent().await.unwrap_err(), PipesError::Full);
}

#[tokio::test]
async fn minting_is_limited_in_rate() {
    let table = Table::with(|limits| limits.agent_rate = Rate { per_second: 1, burst: 2 });
    table.pipes.mint_agent().await.unwrap();
    table.pipes.mint_agent().await.unwrap();
    assert!(matches!(table.pipes.mint_agent().await, Err(PipesError::RateLimited { retry_after_s: 1 })));
    table.pass_ms(1000);
    table.pipes.mint_agent().await.unwrap();
}

#[tokio::test]
async fn over_http_an_agent_is_minted_in_one_anonymous_call_and_ends_itself() {
    let table = Table::with(|limits| limits.agent_rate = Rate { per_second: 1, burst: 1 });
    let send = |method: &str, token: &str| {
        let request = Request::builder().method(method).uri("/pipes/v1/agents");
        let request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        router(table.pipes.clone()).oneshot(request.body(Body::empty()).unwrap())
    };
    let minted = send("POST", "").await.unwrap();
    assert_eq!(minted.status(), StatusCode::CREATED);
    assert_eq!(minted.headers()[header::CACHE_CONTROL], "no-store");
    let body: Value = serde_json::from_slice(&to_bytes(minted.into_body(), 4096).await.unwrap()).unwrap();
    let token = body["token"].as_str().unwrap();
    assert_eq!(body["mcpUrl"], format!("/pipes/mcp/{token}"));
    assert_eq!(body["expiresAt"], "2026-02-04T10:00:00.000Z");
    let late = send("POST", "").await.unwrap();
    assert_eq!(
        (late.status(), &late.headers()[header::RETRY_AFTER]),
        (StatusCode::TOO_MANY_REQUESTS, &"1".parse().unwrap())
    );
    assert_eq!(send("DELETE", &token[1..]).await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(send("DELETE", token).await.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(send("DELETE", token).await.unwrap().status(), StatusCode::NOT_FOUND);
}
