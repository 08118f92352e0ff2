//! Eight matches of eight policies each in one process: 24 honest scripts, 24 honest modules, 16 that mean harm (§11).
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a match that cannot be set up has to stop")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use playerthree_game::{Game, Seat};
use playerthree_session::{Config, Match, Occupant, OwnerId, Surface};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const MATCHES: usize = 8;
pub(crate) const SEATS: usize = 8;

const ECONOMY: &str = include_str!("../../../../examples/agent-command/src/knowledge/policies/economy.js");
const GROUND: &str = include_str!("../../../../examples/agent-command/src/knowledge/policies/ground.js");
const AIR: &str = include_str!("../../../../examples/agent-command/src/knowledge/policies/air.js");

/// Reads every byte of its observation and stops nobody.
const READER: &str = r#"(module
    (memory (export "memory") 8 8) (data (i32.const 0) "[]")
    (func (export "alloc") (param i32) (result i32) (i32.const 65536))
    (func (export "think") (param $at i32) (param $len i32) (result i64) (local $end i32) (local $sum i32)
        (local.set $end (i32.add (local.get $at) (local.get $len)))
        (loop $l
            (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load8_u (local.get $at))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $at) (local.get $end))))
        (i32.store (i32.const 1024) (local.get $sum))
        (i64.const 2)))"#;

/// Opens a module whose third think goes wrong.
const THIRD_THINK: &str = r#"(module
    (memory (export "memory") 8 65536) (data (i32.const 0) "[]") (global $n (mut i32) (i32.const 0))
    (func (export "alloc") (param i32) (result i32) (i32.const 65536))
    (func (export "think") (param i32 i32) (result i64)
        (global.set $n (i32.add (global.get $n) (i32.const 1)))
        (if (i32.gt_u (global.get $n) (i32.const 2)) (then "#;

/// Their third think goes wrong, so that each passes its probe.
const HOSTILE: [(&str, &str); 6] = [
    ("endless loop", "let n = 0; function think() { n += 1; for (; n > 2;); return []; }"),
    ("native loop", "let n = 0; function think() { n += 1; if (n > 2) Array(4e9).join(''); return []; }"),
    ("endless module", "(loop $l (br $l))"),
    (
        "backtracking",
        "let n = 0; function think() { n += 1; if (n > 2) /^(a+)+$/.test('a'.repeat(50) + 'b'); return []; }",
    ),
    ("hoarding", "let n = 0; function think() { n += 1; if (n > 2) 'x'.repeat(2 ** 29); return []; }"),
    ("trapping module", "unreachable"),
];

/// One policy of the crowd.
pub(crate) struct Policy {
    pub(crate) seat: Seat,
    pub(crate) owner: OwnerId,
    pub(crate) kind: &'static str,
    /// The arguments of `policyDeploy`.
    pub(crate) artifact: Value,
}

impl Policy {
    pub(crate) fn is_honest(&self) -> bool {
        self.kind.starts_with("honest")
    }
}

fn js(code: &str) -> Value {
    json!({ "runtime": "js", "code": code })
}

fn wasm(text: &str) -> Value {
    json!({ "runtime": "wasm", "code": BASE64.encode(wat::parse_str(text).unwrap()) })
}

/// The policies of one of the matches, each of an owner of its own.
pub(crate) fn policies(surface: &Surface, number: usize) -> Vec<Policy> {
    let manifest = &surface.manifest;
    let seats =
        manifest.teams.iter().flat_map(|team| manifest.roles.iter().map(move |role| Seat::new(team, role)));
    let policy = |(place, seat): (usize, Seat)| {
        let (kind, artifact) = match place {
            0..3 if &*seat.role == "economy" => ("honest script", js(ECONOMY)),
            0..3 if &*seat.role == "air" => ("honest script", js(AIR)),
            0..3 => ("honest script", js(GROUND)),
            3..6 => ("honest module", wasm(READER)),
            _ => hostile(2 * number + place - 6),
        };
        Policy { owner: OwnerId(format!("{number} {seat}").into()), seat, kind, artifact }
    };
    seats.take(SEATS).enumerate().map(policy).collect()
}

fn hostile(number: usize) -> (&'static str, Value) {
    let (kind, code) = HOSTILE[number % HOSTILE.len()];
    let is_module = kind.ends_with("module");
    (kind, if is_module { wasm(&format!("{THIRD_THINK} {code})) (i64.const 2)))")) } else { js(code) })
}

/// A match of four sides whose seats belong to these policies' owners.
pub(crate) fn game(surface: &Arc<Surface>, number: usize, policies: &[Policy]) -> Match {
    let config = Config::of(u32::try_from(number).unwrap());
    let mut game = Match::new(Arc::clone(surface), config, 0).unwrap();
    for policy in policies {
        let occupant = Occupant::Agent { owner: policy.owner.clone(), display: "Ann".into() };
        game.assign(&policy.seat, occupant).unwrap();
    }
    game
}

/// The surface of a game.
pub(crate) fn surface(game: impl Game + 'static) -> Arc<Surface> {
    Arc::new(Surface::new(Arc::new(game)).unwrap())
}
