//! §13: a headless match of a policy against bots is independent, bounded and the same every time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use playerthree_agent_command::AgentCommand;
use playerthree_game::{
    Bot, CannotCreate, Clock, Context, Game, GameMatch, Manifest, Name, Outcome, Runtime, Seat, SeatInfo,
    Setup, ViewKind, t,
};
use playerthree_host::{Ended, Trial, TrialResult};
use playerthree_sandbox::{Cores, Workers};
use playerthree_session::{Artifact, Code, Surface};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The workers of these tests are this test program, started with this test's name as its filter.
#[test]
fn sandbox_worker() {
    playerthree_sandbox::serve_if_worker();
}

fn trial(team: &str, role: &str, source: &str) -> Trial {
    let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
    let opponent = surface.manifest.opponents.first().unwrap().clone();
    Trial {
        teams: Some(surface.manifest.teams.iter().take(2).cloned().collect()),
        alliances: None,
        seat: Seat::new(team, role),
        artifact: Artifact { runtime: Runtime::Js, code: source.as_bytes().into() },
        version: 0,
        allies: opponent.clone(),
        opponent,
        ticks: 100,
        seed: 5,
        options: None,
        surface,
    }
}

fn play(trial: &Trial) -> TrialResult {
    trial.play(&Workers::of_this_program(), &mut |_| true).unwrap()
}

// §4, §13: a played trial has an outcome, its ticks, a guarded report, and version 0 for code never deployed.
#[test]
fn a_trial_is_played_to_its_last_tick() {
    let result = play(&trial("red", "ground", "function think(o) { log(o.tick); return []; }"));
    let json = result.to_json();
    assert_eq!((&json["ok"], &json["ticks"]), (&json!(true), &json!(100)));
    assert!(json["report"].is_object() && json["wallMs"].is_u64());
    // Five thinks a second of ten ticks each.
    assert_eq!((&result.policy["version"], &result.policy["calls"]), (&json!(0), &json!(50)));
    assert_eq!(result.policy["logs"][0], "0");
}

// §13: the same artifact, seed and options lead to the same end.
#[test]
fn a_trial_is_the_same_every_time() {
    let source =
        "function think(o) { log(Math.random(), JSON.stringify(o).length); return [{ kind: 'nonsense' }]; }";
    let once = trial("blue", "air", source);
    let (first, again) = (play(&once), play(&once));
    assert_eq!(first.ended, again.ended);
    assert_eq!(first.policy["logs"], again.policy["logs"]);
    let other = play(&Trial { seed: 6, ..once });
    assert_ne!(first.policy["logs"][0], other.policy["logs"][0], "another seed is another throw of the dice");
    assert_eq!(first.policy["intentsRejected"], json!([{ "code": "invalid", "count": 50 }]));
}

// §13: an artifact that does not load is a failure without an outcome or a report.
#[test]
fn an_artifact_that_does_not_load_fabricates_nothing() {
    let result = play(&trial("red", "ground", "function think("));
    assert_eq!(result.ended, Ended::Policy);
    let json = result.to_json();
    assert_eq!((&json["ok"], &json["code"]), (&json!(false), &json!("policy")));
    assert_eq!(json["policy"]["lastError"]["code"], "compile");
    assert!(json.get("outcome").is_none() && json.get("report").is_none() && json.get("ticks").is_none());
}

/// The reference game as if it declared less than it shows: at its start, or only in its report.
struct Understated {
    match_data: bool,
}

impl Game for Understated {
    fn manifest(&self) -> Manifest {
        let mut manifest = AgentCommand.manifest();
        if self.match_data {
            manifest.match_data = Some(t::obj([]));
        } else {
            manifest.report = t::obj([]);
        }
        manifest
    }

    fn clock(&self) -> Clock {
        AgentCommand.clock()
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        AgentCommand.create(setup)
    }

    fn create_bot(&self, seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
        AgentCommand.create_bot(seat, opponent)
    }
}

// §4, §13: what a game shows in a practice passes the guard, or the practice fails and tells neither outcome nor report.
#[test]
fn a_practice_whose_game_breaks_its_schemas_fails_closed() {
    for match_data in [true, false] {
        let surface = Arc::new(Surface::new(Arc::new(Understated { match_data })).unwrap());
        let trial = Trial { surface, ticks: 5, ..trial("red", "ground", "function think() { return []; }") };
        let result = play(&trial);
        assert_eq!(result.ended, Ended::Guard);
        let json = result.to_json();
        assert_eq!((&json["ok"], &json["code"]), (&json!(false), &json!("guard")));
        assert!(json.get("outcome").is_none() && json.get("report").is_none() && json.get("ticks").is_none());
    }
}

/// The game, telling which tier it made a bot of for which seat.
struct Telling(Mutex<Vec<(String, String)>>);

impl Game for Telling {
    fn manifest(&self) -> Manifest {
        AgentCommand.manifest()
    }

    fn clock(&self) -> Clock {
        AgentCommand.clock()
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        AgentCommand.create(setup)
    }

    fn create_bot(&self, seat: &Seat, level: &str) -> Option<Box<dyn Bot>> {
        self.0.lock().unwrap().push((seat.to_string(), level.to_owned()));
        AgentCommand.create_bot(seat, level)
    }
}

// §13: enemy bots play at `opponent`, the bots of the own side and its allies at `allies`.
#[test]
fn allies_and_enemies_have_their_own_tiers() {
    let game = Arc::new(Telling(Mutex::default()));
    let mut tiers = trial("red", "ground", "function think() { return []; }");
    tiers.surface = Arc::new(Surface::new(Arc::clone(&game) as Arc<dyn Game>).unwrap());
    (tiers.ticks, tiers.allies) = (2, "commander".into());
    let teams = ["red", "blue", "green"].map(Name::from);
    tiers.alliances = Some(BTreeMap::from([
        ("ours".to_owned(), vec![teams[0].clone(), teams[1].clone()]),
        ("theirs".to_owned(), vec![teams[2].clone()]),
    ]));
    tiers.teams = Some(teams.to_vec());
    play(&tiers);
    let made = game.0.lock().unwrap().clone();
    assert_eq!(made.len(), 8, "a bot for every seat but the tested one: {made:?}");
    for (seat, level) in &made {
        let expected = if seat.contains("green") { "recruit" } else { "commander" };
        assert_eq!(level, expected, "{seat}");
    }
}

// §11, §13: a policy that hangs again and again costs a bounded number of workers, and then plays no more.
#[test]
fn a_policy_that_hangs_again_and_again_is_given_up() {
    let mut hanging = trial("red", "ground", "let n = 0; function think() { if (n++) for (;;); return []; }");
    hanging.ticks = 1_000;
    let result = play(&hanging);
    assert!(matches!(result.ended, Ended::Played { .. }));
    // The first instance and three more.
    assert_eq!((&result.policy["timeouts"], result.cost_a_worker), (&json!(4), true));
}

// §13: where the host has no room the trial ends `busy`, not as another match without some thoughts, and what ran out of time
// before is told all the same.
#[test]
fn a_trial_without_room_is_busy_and_no_failure_of_the_policy() {
    let idle = trial("red", "ground", "function think() { return []; }");
    let nowhere = Workers::of("/nonexistent");
    let unloaded = idle.play(&nowhere, &mut |_| true).unwrap_err();
    assert_eq!((unloaded.error.code, unloaded.cost_a_worker), (Code::Busy, false));

    let cores = Cores::of(1);
    let workers = Workers::of_this_program().on_cores(&cores);
    let mut held = None;
    let mut takes_the_core_at = |trial: &Trial, at: u64| {
        held = None;
        trial.play(&workers, &mut |tick| {
            if tick == at {
                held = cores.try_take();
            }
            true
        })
    };
    let unthought = takes_the_core_at(&idle, 11).unwrap_err();
    assert_eq!((unthought.error.code, unthought.cost_a_worker), (Code::Busy, false));
    // It runs out of time with its second think and is due again a second of game time later.
    let hanging = trial("red", "ground", "let n = 0; function think() { if (n++) for (;;); return []; }");
    let not_restarted = takes_the_core_at(&hanging, 6).unwrap_err();
    assert_eq!((not_restarted.error.code, not_restarted.cost_a_worker), (Code::Busy, true));
}

// §4 `Stats`: what a call logged before it failed is its author's to read, and so is what a load did.
#[test]
fn failed_calls_keep_their_logs() {
    let throwing = "function think(o) { log('before', o.tick); throw new Error('no'); }";
    let mut short = trial("red", "ground", throwing);
    short.ticks = 4;
    let policy = play(&short).policy;
    assert_eq!((&policy["errors"], &policy["logs"]), (&json!(2), &json!(["before 0", "before 2"])));
    let broken = play(&trial("red", "ground", "log('loading'); null.x;"));
    assert_eq!((broken.ended, &broken.policy["logs"]), (Ended::Policy, &json!(["loading"])));
}

/// The reference game with a report of so many units of text.
struct Verbose(usize);

struct VerboseMatch(Box<dyn GameMatch>, usize);

impl Game for Verbose {
    fn manifest(&self) -> Manifest {
        let mut manifest = AgentCommand.manifest();
        manifest.report = t::obj([("text", t::str(100_000))]);
        manifest
    }

    fn clock(&self) -> Clock {
        AgentCommand.clock()
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Ok(Box::new(VerboseMatch(AgentCommand.create(setup)?, self.0)))
    }

    fn create_bot(&self, seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
        AgentCommand.create_bot(seat, opponent)
    }
}

impl GameMatch for VerboseMatch {
    fn tick(&self) -> u64 {
        self.0.tick()
    }
    fn step(&mut self) {
        self.0.step();
    }
    fn outcome(&self, team: &str) -> Outcome {
        self.0.outcome(team)
    }
    fn view(&self, team: &str, kind: ViewKind) -> Value {
        self.0.view(team, kind)
    }
    fn observe(&self, seat: &Seat, since: i64, detail: &[Name]) -> Value {
        self.0.observe(seat, since, detail)
    }
    fn apply(&mut self, seat: &Seat, intent: &Value, context: &Context) -> Result<(), &'static str> {
        self.0.apply(seat, intent, context)
    }
    fn report(&self, _: &str) -> Value {
        json!({ "text": "r".repeat(self.1) })
    }
    fn events(&self, seat: &Seat, since: i64) -> Vec<Value> {
        self.0.events(seat, since)
    }
    fn set_seat_info(&mut self, seat: &Seat, info: &SeatInfo) {
        self.0.set_seat_info(seat, info);
    }
    fn match_data(&self, seat: &Seat) -> Option<Value> {
        self.0.match_data(seat)
    }
}

// §4, §13: a report that fits into no result fails the practice, so that its agent is told something.
#[test]
fn a_report_that_fits_into_no_result_fails_the_practice() {
    let ended = |units: usize| {
        let surface = Arc::new(Surface::new(Arc::new(Verbose(units))).unwrap());
        play(&Trial { surface, ticks: 5, ..trial("red", "ground", "function think() { return []; }") }).ended
    };
    assert!(matches!(ended(9_900), Ended::Played { .. }));
    assert_eq!(ended(10_001), Ended::Guard);
}

// §11: a policy that runs out of time is started anew after a second of game time, as in a live match.
#[test]
fn a_policy_that_hangs_is_started_again_in_game_time() {
    let source = "let n = 0; function think() { if (n++ == 2) for (;;); log(n); return []; }";
    let result = play(&trial("red", "ground", source));
    let Ended::Played { ticks: 100, .. } = result.ended else { panic!("{result:?}") };
    assert!(result.policy["timeouts"].as_u64().unwrap() > 1);
    assert_eq!(result.policy["timeouts"], result.policy["errors"]);
}

// §13: options must match the manifest, and so must the seat.
#[test]
fn a_trial_that_the_manifest_does_not_know_is_refused() {
    let mut wrong = trial("red", "ground", "function think() { return []; }");
    wrong.options = Some(json!({ "nonsense": 1 }));
    let refused =
        |trial: &Trial| trial.play(&Workers::of_this_program(), &mut |_| true).unwrap_err().error.code;
    assert_eq!(refused(&wrong), Code::Invalid);
    let stranger = trial("green", "ground", "function think() { return []; }");
    assert_eq!(refused(&stranger), Code::Invalid);
}
