//! §20.10.1, §11: what an artifact is hashed as, and which version has which hash.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use playerthree_game::Seat;
use playerthree_schema::sha256_hex;
use playerthree_session::{Artifact, Call, Deploy, Match, Surface, Thought};
use serde_json::{Value, json};

/// SHA-256 of the three bytes `abc`, from the standard's own example.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn artifact(surface: &Surface, args: &Value) -> Artifact {
    match Call::parse(surface, "policyDeploy", args) {
        Ok(Call::PolicyDeploy(artifact)) => artifact,
        other => panic!("{other:?}"),
    }
}

// §20.10.1: the hash is that of the module's bytes, whatever way they came; of source as UTF-8, of a module decoded.
#[test]
fn an_artifact_is_hashed_as_its_bytes() {
    let game = agent_command(config());
    let surface = game.surface();
    assert_eq!(artifact(surface, &json!({ "runtime": "js", "code": "abc" })).hash(), ABC);
    assert_eq!(artifact(surface, &json!({ "runtime": "wasm", "code": "YWJj" })).hash(), ABC);
    let utf8 = artifact(surface, &json!({ "runtime": "js", "code": "é" }));
    assert_eq!(utf8.hash(), sha256_hex(&[0xc3, 0xa9]));
}

// §11: what is hashed is the composed source, never the list of what it includes.
#[test]
fn an_artifact_with_includes_is_hashed_as_its_composed_source() {
    let game = agent_command(config());
    let surface = game.surface();
    let skill = &surface
        .knowledge
        .skills()
        .iter()
        .find(|skill| skill.files.contains_key("policies/ground.js"))
        .unwrap();
    let files =
        ["ground", "air"].map(|name| skill.files.get(&*format!("policies/{name}.js")).unwrap().to_string());
    let include = ["ground", "air"].map(|file| format!("{}/policies/{file}.js", skill.name));
    let composed = artifact(surface, &json!({ "runtime": "js", "code": "abc", "include": include }));
    assert_eq!(composed.hash(), sha256_hex(format!("{}\n{}\nabc", files[0], files[1]).as_bytes()));
}

fn activate(game: &mut Match, seat: &Seat, deploy: Deploy) {
    let Deploy::Probe(activation) = deploy else { panic!("an approval") };
    game.activated(seat, &activation, &Ok(Thought::default()));
}

// §4, §20.10.1: a version keeps its artifact, and so its hash, through later versions and back.
#[test]
fn a_version_keeps_its_hash() {
    let mut game = agent_command(config());
    let seat = Seat::new("red", "ground");
    game.assign(&seat, agent("ann")).unwrap();
    let active = |game: &Match| {
        let (artifact, version) = game.practice_artifact(&seat, None).unwrap();
        (version, artifact.hash())
    };
    for code in ["abc", "abcd", "abcde"] {
        let artifact = artifact(game.surface(), &json!({ "runtime": "js", "code": code }));
        let deploy = game.deploy(&seat, artifact).unwrap();
        activate(&mut game, &seat, deploy);
    }
    assert_eq!(active(&game), (3, sha256_hex(b"abcde")));
    let back = game.rollback(&seat, 1).unwrap();
    activate(&mut game, &seat, back);
    assert_eq!(active(&game), (1, ABC.to_owned()));
}
