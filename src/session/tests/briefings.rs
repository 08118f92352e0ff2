//! §4: whatever an owner writes, the core briefing fits into one result.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use playerthree_game::{Bot, CannotCreate, Clock, Game, GameMatch, Manifest, Seat, Setup, t};
use playerthree_session::{Code, MANDATE_UNITS_MAX, Match, Surface};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::json;
use std::sync::Arc;

/// Tic-tac-toe whose owners may write a letter, with so many units of documents.
struct Wordy {
    doc: usize,
    role_doc: usize,
}

impl Game for Wordy {
    fn manifest(&self) -> Manifest {
        let mut manifest = TicTacToe.manifest();
        manifest.doc = "d".repeat(self.doc).into();
        for doc in manifest.role_docs.values_mut() {
            *doc = "r".repeat(self.role_doc).into();
        }
        manifest.directive = t::obj([("letter", t::opt(t::str(100_000)))]);
        for skill in &mut manifest.skills {
            skill.description = "s".repeat(1024).into();
        }
        let skill = manifest.skills[0].clone();
        manifest.skills.extend((1..8).map(|n| {
            let mut skill = skill.clone();
            let name = format!("skill-{n}");
            for text in skill.files.values_mut() {
                *text = text.replace(&*skill.name, &name).into();
            }
            skill.name = name.into();
            skill
        }));
        manifest
    }

    fn clock(&self) -> Clock {
        TicTacToe.clock()
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        TicTacToe.create(setup)
    }

    fn create_bot(&self, seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
        TicTacToe.create_bot(seat, opponent)
    }
}

/// §4: documents that would push the briefing of a role past a result are a fault of the manifest, named by role.
#[test]
fn a_briefing_that_fits_into_no_result_is_a_fault_at_start() {
    Surface::new(Arc::new(Wordy { doc: 100, role_doc: 100 })).unwrap();
    let faults = Surface::new(Arc::new(Wordy { doc: 6000, role_doc: 3500 })).unwrap_err();
    assert_eq!(faults[0].path, "roleDocs.player");
}

/// §4, §7: a mandate that its schema admits and no briefing could carry is `invalid`, and the one before stays.
#[test]
fn a_mandate_longer_than_a_briefing_can_carry_is_refused() {
    let mut game = Match::new(surface(Wordy { doc: 100, role_doc: 100 }), config(), 0).unwrap();
    game.assign(&x(), agent("ann")).unwrap();
    let mandate = |letter: usize| json!({ "autonomy": "autonomous", "directive": { "letter": "l".repeat(letter) }, "whenAbsent": "hold" });
    let around = mandate(0).to_string().len();
    let longest = MANDATE_UNITS_MAX - around;
    game.set_mandate(&x(), &mandate(longest)).unwrap();
    assert_eq!(game.set_mandate(&x(), &mandate(longest + 1)).unwrap_err().code, Code::Invalid);
    let kept = &game.seats_json_for(&owner("ann"), 0)[0]["mandate"]["directive"]["letter"];
    assert_eq!(kept.as_str().map(str::len), Some(longest));
}
