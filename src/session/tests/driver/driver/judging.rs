//! What must hold after every operation: outcomes and ranks, boards, and what acts for each seat.

use super::{Driver, MAX_OPEN};
use playerthree_game::Controller;
use serde_json::Value;
use std::collections::BTreeSet;

impl Driver {
    pub(super) fn judge(&mut self) {
        for side in self.game.teams().to_vec() {
            let outcome = self.game.outcome(&side);
            self.finals.saw(&side, outcome);
            assert_eq!(outcome.is_final(), self.finals.is_out(&side));
        }
        let ranks = self.game.status().get("ranks").cloned();
        assert_eq!(ranks.is_some(), self.game.is_over());
        assert!(self.ranks.is_none() || self.ranks == ranks, "ranks are fixed");
        self.ranks = ranks;
        assert!(self.game.alliances().is_none() || self.game.rank("red") == self.game.rank("green"));
        for (team, board) in ["red", "blue"].into_iter().zip(self.boards()) {
            self.judge_board(team, &board);
        }
        self.judge_modes();
    }

    /// What acts for each seat, row by row of §8: presence is a call within 30 seconds, one in flight, or a plan.
    fn judge_modes(&mut self) {
        let infos = self.game.seats_json(self.now);
        for (name, model) in &self.seats {
            let info =
                infos.iter().find(|info| info["team"] == *name.team && info["role"] == *name.role).unwrap();
            let active = self.game.policy_status(name).unwrap()["version"].is_u64();
            let mode = info["mode"].as_str().unwrap();
            // A plan is over with its last step, which the model does not follow.
            let by_plan = model.planned && model.controller == Controller::Agent && mode == "live";
            assert!(by_plan || mode == model.mode(active, self.now), "{name} is {mode}: {model:?}");
            if model.controller == Controller::Agent && mode != "live" {
                self.seen.0.entry(format!("absent {mode}")).or_default();
            }
        }
    }

    /// Bounded by sender, unique ids, and nothing of another team: red asks at even places, blue at odd ones.
    fn judge_board(&mut self, team: &str, board: &Value) {
        let entries = board.as_array().unwrap();
        let ids: BTreeSet<&str> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), entries.len());
        for role in ["ground", "air"] {
            let sent = entries.iter().filter(|entry| entry["from"] == role).count();
            assert!(sent <= MAX_OPEN, "{team}/{role} has {sent} signals");
        }
        for entry in entries {
            if let Some(x) = entry["x"].as_u64() {
                assert_eq!(x % 2, u64::from(team == "blue"), "a signal of another team");
            }
            if entry["state"] == "expired" {
                self.seen.saw("expired");
            }
        }
    }
}
