//! §8, §10, §11: deploys into a live match while the game or the agent behind them fails, with real sandboxes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../../session/tests/common/mod.rs"]
mod common;

use common::drill::{Broken, Drill, LEAK};
use common::{agent, config, lead};
use playerthree_game::{Clock, Seat};
use playerthree_host::{Answer, BLAME_MAX, Live, PolicyPlaces};
use playerthree_sandbox::{Cores, Workers};
use playerthree_session::{Millis, Right};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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
        Self::with(Workers::of_this_program())
    }

    /// With policies that run in these workers and think every other tick.
    fn with(workers: Workers) -> Self {
        let mut rules = Drill::new(Clock::Realtime);
        let policy = rules.control.policy.as_mut().unwrap();
        (policy.hz, policy.ms_per_call) = (5.0, 50);
        let (game, drill) = common::drill(rules, config());
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        let places = PolicyPlaces::new(4, workers);
        let live = Live::new(game, places, Arc::new(move || _ = wake.lock().unwrap().send(())));
        let mut table = Self { live, woken, game: drill, seat: lead("a") };
        table.live.assign(&table.seat, agent("ann"), 0).unwrap();
        table
    }

    fn deploy(&mut self) {
        self.deploy_code("function think() { return [] }");
    }

    fn deploy_code(&mut self, code: &str) {
        let code = json!({ "runtime": "js", "code": code });
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

    /// Plays a tick, with every policy's answer waited for.
    fn tick(&mut self, now: Millis) {
        let before = self.live.game().tick();
        self.live.heartbeat(now);
        self.live.tick(now);
        while self.live.game().tick() == before {
            self.woken.recv_timeout(LOST).expect("the sandbox answers");
            self.live.take_in(now);
        }
        self.live.take_changes(now);
    }

    /// Plays ticks until the count of the seat's policy is not 0 any more. A policy that is not up misses its turn.
    fn tick_until_it_counts(&mut self, what: &str, now: Millis) {
        self.tick_until(now, |table| table.count(what) > 0);
    }

    /// Ticks that do not wait for the policy, until something is so.
    fn tick_until(&mut self, now: Millis, is_so: impl Fn(&Self) -> bool) {
        let given_up = Instant::now() + LOST;
        while !is_so(self) {
            assert!(Instant::now() < given_up, "it never was so");
            self.tick(now);
            std::thread::yield_now();
        }
    }

    fn count(&self, what: &str) -> u64 {
        self.live.game().policy_status(&self.seat).unwrap()[what].as_u64().unwrap()
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

/// §11, §15.5: a trial that finds no worker or no core is `busy`, and is held against nobody.
#[test]
fn a_trial_without_room_is_busy_and_nobodys_fault() {
    let mut table = Table::with(Workers::of("/nonexistent"));
    for _ in 0..=BLAME_MAX {
        table.deploy();
        assert_eq!(table.answer(0).unwrap_err().code.as_str(), "busy");
    }
    let cores = Cores::of(1);
    let mut table = Table::with(Workers::of_this_program().on_cores(&cores));
    for _ in 0..=BLAME_MAX {
        table.deploy();
        table.woken.recv_timeout(LOST).expect("it is loaded");
        let held = cores.try_take().unwrap();
        table.live.take_in(0);
        assert_eq!(table.answer(0).unwrap_err().code.as_str(), "busy");
        drop(held);
    }
    table.deploy();
    assert_eq!(table.answer(0).unwrap()["version"], 1);
}

/// §10, §11: a tick goes on without a policy that finds no core. The policy pays for nothing, and is asked again with the next
/// tick.
#[test]
fn a_policy_without_a_core_is_asked_again_and_pays_for_nothing() {
    let cores = Cores::of(1);
    let mut table = Table::with(Workers::of_this_program().on_cores(&cores));
    table.deploy();
    table.answer(0).unwrap();
    table.tick_until_it_counts("calls", 100);
    table.tick(200);
    assert_eq!(table.count("calls"), 1, "it thinks every other tick");
    let held = cores.try_take().unwrap();
    table.tick(300);
    assert_eq!((table.count("calls"), table.count("errors")), (1, 0));
    drop(held);
    table.tick(400);
    assert_eq!((table.count("calls"), table.count("errors")), (2, 0));
}

/// §11: a restart that finds no room is tried again, and is no failure of the policy.
#[test]
fn a_restart_without_room_is_tried_again_and_is_no_crash() {
    let cores = Cores::of(1);
    let mut table = Table::with(Workers::of_this_program().on_cores(&cores));
    table.deploy_code("function think(o) { for (; 0 < o.tick && o.tick < 1000;); return [] }");
    table.answer(0).unwrap();
    // Ticks do not wait for a policy that is not up, so how many it takes depends on the machine.
    table.tick_until_it_counts("timeouts", 100);
    while table.live.game().tick() < 1000 {
        table.tick(100);
    }
    let (calls, held) = (table.count("calls"), cores.try_take().unwrap());
    table.woken.try_iter().for_each(drop);
    table.live.heartbeat(1_100);
    table.woken.recv_timeout(LOST).expect("the host says that it has no core");
    table.live.take_in(1_100);
    assert_eq!((table.count("calls"), table.count("errors")), (calls, 1));
    drop(held);
    table.tick_until(2_200, |table| table.count("calls") > calls);
    assert_eq!((table.count("timeouts"), table.count("errors")), (1, 1));
}

/// §4 `Stats`: a start that fails is a failed call of its policy, each time that it is tried, and its author reads why.
#[test]
fn a_start_that_fails_is_counted() {
    let mut table = Table::new();
    let code = "function init(data) { log('starts'); if (data.note) throw new Error(data.note); }
                function think() { return [] }";
    table.deploy_code(code);
    *table.game.note.lock().unwrap() = Some("not like this");
    assert_eq!(table.answer(0).unwrap()["ok"], true);
    for (failures, now) in [(1, 0), (2, 100_000), (3, 200_000)] {
        table.live.heartbeat(now);
        while table.count("errors") < failures {
            table.woken.recv_timeout(LOST).expect("the sandbox answers");
            table.live.take_in(now);
        }
    }
    let status = table.live.game().policy_status(&table.seat).unwrap();
    assert_eq!((&status["errors"], &status["logs"]), (&json!(3), &json!(["starts", "starts", "starts"])));
    assert_eq!(status["lastError"]["code"], "threw");
    assert!(status["lastError"]["message"].as_str().unwrap().contains("not like this"));
}
