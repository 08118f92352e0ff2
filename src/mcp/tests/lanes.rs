//! §4, §15: what each role of a credential has for itself: pages of its own observation, and places for its waits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use playerthree_game::{Bot, CannotCreate, Clock, Game, GameMatch, Manifest, Seat, Setup, t};
use playerthree_mcp::Limits;
use playerthree_session::{CommanderId, CommanderKind, Draft, Isolation, Metadata, OwnerId};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use support::doors::Script;
use support::{Answer, Post, Table};

/// Tic-tac-toe as far as a tool list goes, with two roles and an observation that no single result holds.
struct Wide;

impl Game for Wide {
    fn manifest(&self) -> Manifest {
        let mut manifest = TicTacToe.manifest();
        manifest.observation = t::obj([("tick", t::int(0, 9)), ("cells", t::list(t::int(0, 9), 40_000))]);
        let doc = manifest.role_docs["player"].clone();
        manifest.role_docs.insert("scout".into(), doc);
        manifest.roles.push("scout".into());
        manifest
    }

    fn clock(&self) -> Clock {
        TicTacToe.clock()
    }

    fn create(&self, _: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Err(CannotCreate("it only has a surface"))
    }

    fn create_bot(&self, _: &Seat, _: &str) -> Option<Box<dyn Bot>> {
        None
    }
}

fn ann() -> OwnerId {
    OwnerId("ann".into())
}

/// An endpoint with one commander of both roles.
fn commanded() -> (Table, CommanderId, String) {
    let table = Table::new(Arc::new(Wide), "x", Arc::new(Script::acks()), Limits::default());
    let draft = Draft {
        name: "Falcon".into(),
        roles: ["player", "scout"].map(Into::into).into(),
        isolation: Isolation::Independent,
        kind: CommanderKind::Agent,
        metadata: Metadata::default(),
    };
    let (id, token) = table.agents.commanders().add(&table.surface, &ann(), draft).unwrap();
    let token = token.reveal().to_owned();
    (table, id, token)
}

async fn call(table: &Table, token: &str, name: &str, arguments: Value) -> Answer {
    table.send(Post::new(token, "tools/call", json!({ "name": name, "arguments": arguments }))).await
}

/// §4 game_observe: later pages come from the snapshot of this credential and this role, and of no other.
#[tokio::test]
async fn pages_are_each_credentials_and_each_roles_own() {
    let (table, id, token) = commanded();
    let commanders = table.agents.commanders();
    for (role, tick) in [("player", 1), ("scout", 2)] {
        let long = json!({ "observation": { "tick": tick, "cells": vec![tick; 30_000] } });
        let (seat, door) = (Seat::new("x", role), Arc::new(Script::always(long)));
        commanders.seat(&table.surface, (&ann(), "Ann"), &id, &seat, &"one".into(), door).unwrap();
    }
    let both = ["player".into(), "scout".into()];
    let grant = commanders.connect(&table.surface, &ann(), &id, &both).unwrap();
    let (other, _) = commanders.issue(&grant, Duration::from_secs(3600));

    for (role, tick) in [("player", 1), ("scout", 2)] {
        let first = call(&table, &token, "game_observe", json!({ "role": role })).await.structured();
        assert_eq!((&first["tick"], &first["page"]), (&json!(tick), &json!(1)));
    }
    for (role, tick) in [("player", 1), ("scout", 2)] {
        let later = json!({ "role": role, "page": 2 });
        let second = call(&table, &token, "game_observe", later.clone()).await.structured();
        assert_eq!((&second["tick"], &second["observation"]["cells"][0]), (&json!(tick), &json!(tick)));
        let others = call(&table, other.reveal(), "game_observe", later).await;
        assert_eq!(others.tool_error(), Some(json!({ "error": "invalid" })));
    }
}

/// §15: at most 2 waits in flight for each commanded role; a role that is granted later has its own.
#[tokio::test(start_paused = true)]
async fn each_role_has_its_own_places_for_waits() {
    let (table, id, _) = commanded();
    let commanders = table.agents.commanders();
    let grant = commanders.connect(&table.surface, &ann(), &id, &["player".into()]).unwrap();
    let (token, _) = commanders.issue(&grant, Duration::from_secs(3600));
    let token = token.reveal();
    let wait = |role: &'static str| call(&table, token, "game_wait", json!({ "seconds": 30, "role": role }));
    assert_eq!(wait("scout").await.tool_error(), Some(json!({ "error": "forbidden" })));
    grant.set_roles(&["player".into(), "scout".into()]).unwrap();
    // All of them are in flight before time passes, which it does only once nothing else can happen.
    let (a, b, c, d, e, f) = tokio::join!(
        wait("player"),
        wait("player"),
        wait("player"),
        wait("scout"),
        wait("scout"),
        wait("scout")
    );
    let busy = |waits: [&Answer; 3]| waits.into_iter().filter(|wait| wait.tool_error().is_some()).count();
    assert_eq!((busy([&a, &b, &c]), busy([&d, &e, &f])), (1, 1));
    for answer in [a, b, c, d, e, f] {
        let error = answer.tool_error();
        assert!(error.is_none() || error == Some(json!({ "error": "busy" })), "{error:?}");
    }
}
