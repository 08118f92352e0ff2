//! §8, §10, §11: deploys into a live match while the game or the agent behind them fails, with real sandboxes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../../session/tests/common/mod.rs"]
mod common;

use common::drill::{Broken, Drill, LEAK};
use common::{agent, config, lead};
use playerthree_game::{Clock, Seat};
use playerthree_host::{Answer, Live, PolicyPlaces};
use playerthree_sandbox::Workers;
use playerthree_session::{Millis, Right};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Far longer than any budget of the sandbox: reached only when an answer is lost.
const LOST: Duration = Duration::from_secs(30);

/// The workers of these tests are this test program, started with this test's name as its filter.
#[test]
fn sandbox_worker() {
    playerthree_sandbox::serve_if_worker();
}

/// A match of the drill with an agent in one seat, and its game.
struct Table {
    live: Live<()>,
    woken: Receiver<()>,
    game: Drill,
    seat: Seat,
}

impl Table {
    fn new() -> Self {
        let (game, drill) = common::drill(Drill::new(Clock::Realtime), config());
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        let places = PolicyPlaces::new(4, Workers::of_this_program());
        let live = Live::new(game, places, Arc::new(move || _ = wake.lock().unwrap().send(())));
        let mut table = Self { live, woken, game: drill, seat: lead("a") };
        table.live.assign(&table.seat, agent("ann"), 0).unwrap();
        table
    }

    fn deploy(&mut self) {
        let code = json!({ "runtime": "js", "code": "function think() { return [] }" });
        self.live.call(&self.seat, Right::Agent, "policyDeploy", &code, (), 0);
    }

    fn answer(&mut self, now: Millis) -> Answer {
        loop {
            if let Some(((), answer)) = self.live.take_answers().pop() {
                return answer;
            }
            self.woken.recv_timeout(LOST).expect("the sandbox answers");
            self.live.take_in(now);
        }
    }

    fn is_present(&self, now: Millis) -> bool {
        let seats = self.live.game().seats_json(now);
        let info = seats.iter().find(|info| info["team"] == "a" && info["role"] == "lead").unwrap();
        info["agentActive"] == true
    }
}

/// §10 "An oversized or invalid bootstrap MUST fail closed": nothing is tried and nothing started without it, whether it
/// breaks before the trial or during it, and no byte of it is in the answer.
#[test]
fn without_sound_match_data_no_policy_is_started() {
    let mut table = Table::new();
    for broken in [Broken::MatchData, Broken::NoMatchData, Broken::LongMatchData] {
        table.game.breaks(Some(broken));
        table.deploy();
        let before = table.answer(0).unwrap_err();
        table.game.breaks(None);
        table.deploy();
        table.game.breaks(Some(broken));
        let during = table.answer(0).unwrap_err();
        for error in [before, during] {
            assert_eq!(error.code.as_str(), "internal", "{broken:?}");
            assert!(!error.to_json("code").to_string().contains(LEAK));
        }
        assert_eq!(table.live.game().policy_status(&table.seat).unwrap(), Value::Null);
        table.game.breaks(None);
    }
    table.deploy();
    assert_eq!(table.answer(0).unwrap()["version"], 1);
}

/// §8: an agent whose deploy is under way has a call in flight, however long that takes; then it has thirty seconds.
#[test]
fn an_agent_is_present_while_its_deploy_is_under_way() {
    let mut table = Table::new();
    table.deploy();
    assert!(table.is_present(100_000));
    assert_eq!(table.answer(100_000).unwrap()["ok"], true);
    assert!(table.is_present(129_999));
    assert!(!table.is_present(130_000));
}
