//! §8, §10, §11: live matches with real sandboxes. Time is handed in; only the policies' answers are waited for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

use playerthree_agent_command::AgentCommand;
use playerthree_game::{Bot, CannotCreate, Clock, Controller, Game, GameMatch, Manifest, Name, Seat, Setup};
use playerthree_host::{Answer, Asker, BLAME_MAX, Live, PolicyPlaces, STEP_MAX, TICKS_OWED_MAX, Ticks};
use playerthree_sandbox::Workers;
use playerthree_session::{Config, Match, Millis, ObserverPolicy, Occupant, OwnerId, Right, Surface};
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

struct Driver {
    live: Live<&'static str>,
    woken: Receiver<()>,
    now: Millis,
}

impl Driver {
    /// A duel without bots.
    fn new() -> Self {
        Self::with_places(8)
    }

    fn with_places(places: usize) -> Self {
        Self::with(places, None)
    }

    fn with(places: usize, options: Option<Value>) -> Self {
        Self::of(Arc::new(AgentCommand), places, options)
    }

    fn of(game: Arc<dyn Game>, places: usize, options: Option<Value>) -> Self {
        let surface = Arc::new(Surface::new(game).unwrap());
        let teams: Vec<Name> = vec!["red".into(), "blue".into()];
        let observers = ObserverPolicy::Closed;
        let config = Config { options, teams: Some(teams), observers, ..Config::of(7) };
        let game = Match::new(surface, config, 0).unwrap();
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        let live = Live::new(
            game,
            PolicyPlaces::new(places, Workers::of_this_program()),
            Arc::new(move || _ = wake.lock().unwrap().send(())),
        );
        Self { live, woken, now: 0 }
    }

    fn seat(&mut self, team: &str, role: &str) -> Seat {
        let seat = Seat::new(team, role);
        let owner = OwnerId("ann".into());
        self.live.game_mut().assign(&seat, Occupant::Agent { owner, display: "Ann".into() }).unwrap();
        seat
    }

    /// Makes a call and waits for its answer.
    fn call(&mut self, seat: &Seat, method: &str, args: Value) -> Answer {
        self.live.call(seat, Right::Agent, method, &args, "the call", self.now);
        loop {
            if let Some((_, answer)) = self.live.take_answers().pop() {
                return answer;
            }
            self.woken.recv_timeout(LOST).expect("the sandbox answers");
            self.live.take_in(self.now);
        }
    }

    fn deploy(&mut self, seat: &Seat, code: &str) -> Value {
        self.call(seat, "policyDeploy", json!({ "runtime": "js", "code": code })).unwrap()
    }

    /// Ticks until the deployed policy of the seat, the only one, is up and was asked.
    fn until_it_thinks(&mut self, seat: &Seat) {
        loop {
            // Policies think every other tick here, and one that is not up misses its turn.
            self.tick();
            self.tick();
            if self.status(seat)["calls"] != 0 {
                return;
            }
            self.woken.recv_timeout(LOST).expect("the sandbox loads it");
        }
    }

    /// One tick, with every policy's answer waited for.
    fn tick(&mut self) {
        self.now += 100;
        let before = self.live.game().tick();
        self.live.heartbeat(self.now);
        self.live.tick(self.now);
        while self.live.game().tick() == before {
            self.woken.recv_timeout(LOST).expect("the sandbox answers");
            self.live.take_in(self.now);
        }
        self.live.take_changes(self.now);
    }

    fn status(&self, seat: &Seat) -> Value {
        self.live.game().policy_status(seat).unwrap()
    }
}

/// §11: a call that runs away is a timeout of its own policy; the tick and the other policy go on, and it restarts.
#[test]
fn a_runaway_policy_is_stopped_and_started_again_while_the_match_goes_on() {
    let mut driver = Driver::new();
    let (mad, sane) = (driver.seat("red", "ground"), driver.seat("red", "air"));
    let counting = "let n = 0; function think() { n += 1; for (; n > 2;); return []; }";
    assert_eq!(driver.deploy(&mad, counting)["ok"], true);
    assert_eq!(driver.deploy(&sane, "function think() { return [] }")["ok"], true);
    // Ticks do not wait for a policy that is not up, so how many it takes depends on the machine.
    let mut ticks = 0;
    let count = |driver: &Driver, seat: &Seat, what: &str| driver.status(seat)[what].as_u64().unwrap();
    while count(&driver, &mad, "timeouts") < 2 || count(&driver, &sane, "calls") < 25 {
        driver.tick();
        ticks += 1;
        std::thread::yield_now();
    }
    let (mad, sane) = (driver.status(&mad), driver.status(&sane));
    assert_eq!(mad["lastError"]["code"], "timeout");
    assert!(
        ticks >= 10 * (mad["timeouts"].as_u64().unwrap() - 1),
        "a restart waits for a second at least: {ticks}"
    );
    assert_eq!((sane["errors"].as_u64(), sane["timeouts"].as_u64()), (Some(0), Some(0)));
}

/// §10: every fresh instance starts anew, so nothing of the trial is left when the match begins to use it.
#[test]
fn an_activated_policy_is_a_fresh_instance() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let code = "let n = 0; function think() { n += 1; log('call ' + n); return []; }";
    let deployed = driver.deploy(&seat, code);
    assert_eq!(deployed["probe"]["logs"], json!(["call 1"]));
    while driver.status(&seat)["calls"] == 0 {
        driver.tick();
    }
    assert_eq!(driver.status(&seat)["logs"], json!(["call 1"]));
}

/// §9: whatever a policy returns passes the gates, and refusals are counted by closed code.
#[test]
fn a_policys_intents_are_untrusted() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "air");
    let intents = json!([{ "kind": "fly" }, { "kind": "gather", "units": ["e_1"], "patch": "p_0" }, 7,
        { "kind": "stop", "units": ["e_999999"] }]);
    assert_eq!(driver.deploy(&seat, &format!("function think() {{ return {intents} }}"))["ok"], true);
    while driver.status(&seat)["calls"] == 0 {
        driver.tick();
    }
    let status = driver.status(&seat);
    let mut codes: Vec<&str> = status["intentsRejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["code"].as_str().unwrap())
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, ["forbidden_role", "invalid", "no_such_unit"]);
    assert_eq!(
        status["intentsRejected"].as_array().unwrap().iter().find(|row| row["code"] == "invalid").unwrap()["count"],
        2
    );
}

/// §8: a policy pauses while its seat is held by somebody else, and ends with its owner's hold.
#[test]
fn a_policy_acts_only_for_its_own_hold() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    driver.deploy(&seat, "function think() { return [] }");
    driver.live.game_mut().set_controller(&seat, Controller::Human).unwrap();
    driver.tick();
    driver.tick();
    let paused = driver.status(&seat)["calls"].clone();
    for _ in 0..6 {
        driver.tick();
    }
    assert_eq!(driver.status(&seat)["calls"], paused);
    let now = driver.now;
    driver.live.assign(&seat, Occupant::Nobody, now).unwrap();
    assert_eq!(driver.status(&seat), Value::Null);
    driver.tick();
}

/// §10: a tick waits for the policies it asked, and for no policy that was replaced while it thought.
#[test]
fn a_policy_that_is_replaced_while_it_thinks_does_not_hold_the_tick() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    driver.deploy(&seat, "function think() { return [] }");
    driver.deploy(&seat, "function think(obs) { for (; obs.tick > 0;); return [] }");
    // Ticks pass until the fresh instance is loaded and asked; then it thinks in circles and holds one.
    let held = loop {
        driver.now += 100;
        driver.live.take_in(driver.now);
        let before = driver.live.game().tick();
        driver.live.tick(driver.now);
        if before > 0 && driver.live.game().tick() == before {
            break before;
        }
    };
    driver.deploy(&seat, "function think() { return [] }");
    while driver.live.game().tick() == held {
        driver.woken.recv_timeout(LOST).expect("the tick goes on");
        driver.live.take_in(driver.now);
    }
    driver.tick();
    assert_eq!(driver.status(&seat)["errors"], 0, "the new version pays for nothing that the old one did");
}

/// §4 "Mid-match seat assignment": whatever an earlier owner's agent had under way ends, and none of it reaches the
/// new hold.
#[test]
fn nothing_of_an_earlier_owners_agent_survives_in_the_seat() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    driver.call(&seat, "wait", json!({ "seconds": 0 })).unwrap();
    driver.live.call(&seat, Right::Agent, "wait", &json!({ "seconds": 60 }), "the wait", driver.now);
    let code = json!({ "runtime": "js", "code": "function think() { return [] }" });
    driver.live.call(&seat, Right::Agent, "policyDeploy", &code, "the deploy", driver.now);
    let bob = Occupant::Human { owner: OwnerId("bob".into()), display: "Bob".into() };
    driver.live.assign(&seat, bob, driver.now).unwrap();
    driver.live.take_changes(driver.now);
    let mut ended = driver.live.take_answers();
    ended.sort_by_key(|(caller, _)| *caller);
    let codes: Vec<_> =
        ended.into_iter().map(|(who, answer)| (who, answer.unwrap_err().code.as_str())).collect();
    assert_eq!(codes, [("the deploy", "bad_token"), ("the wait", "bad_token")]);
    for _ in 0..5 {
        driver.tick();
    }
    assert_eq!(driver.status(&seat), Value::Null);
    let seats = driver.live.game().seats_json(driver.now);
    let seat = seats.iter().find(|info| info["team"] == "red" && info["role"] == "ground").unwrap();
    assert_eq!((&seat["agentActive"], &seat["controller"]), (&json!(false), &json!("human")));
}

/// §7: what the owner approved is tried first; a broken artifact fails its approval and replaces nothing.
#[test]
fn an_approved_artifact_that_fails_its_trial_is_not_activated() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    driver.deploy(&seat, "function think() { return [] }");
    let (_, mut mandate) = driver.live.game().terms(&seat).unwrap();
    mandate["autonomy"] = json!("supervised");
    driver.live.game_mut().set_mandate(&seat, &mandate).unwrap();
    let asked = driver.deploy(&seat, "function think() { throw 1 }");
    let id = asked["approval"]["id"].as_str().unwrap().to_owned();
    driver.live.resolve_approval(&seat, &id, true, "the owner", driver.now);
    let answer = loop {
        if let Some((_, answer)) = driver.live.take_answers().pop() {
            break answer;
        }
        driver.woken.recv_timeout(LOST).expect("the sandbox answers");
        driver.live.take_in(driver.now);
    };
    assert_eq!(answer.unwrap_err().code.as_str(), "approval_failed");
    let status = driver.status(&seat);
    assert_eq!((&status["version"], &status["approval"]["status"]), (&json!(1), &json!("failed")));
}

/// §15.5: past its bound of instances the process refuses another one, and a place that is given back is free.
#[test]
fn policies_take_places_and_give_them_back() {
    let mut driver = Driver::with_places(1);
    let (ground, air) = (driver.seat("red", "ground"), driver.seat("red", "air"));
    let code = json!({ "runtime": "js", "code": "function think() { return [] }" });
    assert_eq!(driver.call(&ground, "policyDeploy", code.clone()).unwrap()["version"], 1);
    assert_eq!(driver.call(&air, "policyDeploy", code.clone()).unwrap_err().code.as_str(), "busy");
    driver.live.assign(&ground, Occupant::Nobody, driver.now).unwrap();
    assert_eq!(driver.call(&air, "policyDeploy", code).unwrap()["version"], 1);
}

/// §11: the policies of a side that is out end with it, and a trial that was under way is answered.
#[test]
fn the_end_of_a_side_answers_its_trials() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let code = json!({ "runtime": "js", "code": "function think() { return [] }" });
    driver.live.call(&seat, Right::Agent, "policyDeploy", &code, "the deploy", driver.now);
    driver.live.game_mut().forfeit("red", driver.now).unwrap();
    driver.now += 100;
    driver.live.tick(driver.now);
    assert!(driver.live.game().outcome("red").is_final());
    driver.live.take_changes(driver.now);
    let (_, answer) = driver.live.take_answers().pop().expect("an answer");
    assert_eq!(answer.unwrap_err().code.as_str(), "not_in_match");
    assert_eq!(driver.call(&seat, "policyDeploy", code).unwrap_err().code.as_str(), "not_in_match");
}

/// §11, §15.5: an owner whose policies run out of time again and again is refused for a while, and nobody else is.
#[test]
fn an_owner_whose_policies_hang_is_refused_and_nobody_else() {
    let mut driver = Driver::new();
    let mad = driver.seat("red", "ground");
    for _ in 0..BLAME_MAX {
        assert_eq!(driver.deploy(&mad, "for (;;);")["error"]["code"], "timeout");
    }
    let code = json!({ "runtime": "js", "code": "function think() { return [] }" });
    assert_eq!(driver.call(&mad, "policyDeploy", code.clone()).unwrap_err().code.as_str(), "rate_limited");
    let sane = Seat::new("blue", "ground");
    let bob = Occupant::Agent { owner: OwnerId("bob".into()), display: "Bob".into() };
    driver.live.assign(&sane, bob, driver.now).unwrap();
    assert_eq!(driver.call(&sane, "policyDeploy", code).unwrap()["ok"], true);
}

/// §8, §20.2, §20.5: a policy that the host has stopped for good is none any more: the bot plays for the absent agent, and
/// the card and the owner's view say so. What the policy did last can still be read.
#[test]
fn a_bot_stands_in_for_a_policy_that_is_stopped_for_good() {
    let mut driver = Driver::new();
    let (seat, other) = (driver.seat("red", "ground"), driver.seat("red", "air"));
    let hangs = "function think(obs) { for (; obs.tick > 0;); return [] }";
    assert_eq!(driver.deploy(&seat, hangs)["ok"], true);
    for _ in 0..BLAME_MAX {
        assert_eq!(driver.deploy(&other, "for (;;);")["error"]["code"], "timeout");
    }
    // The agent has been away for long enough.
    driver.now += 60_000;
    let shown = |driver: &Driver| {
        let game = driver.live.game();
        let card = game.cards(driver.now).into_iter().find(|card| card["seat"]["role"] == "ground").unwrap();
        let seats = game.seats_json(driver.now);
        let info = seats.iter().find(|info| info["team"] == "red" && info["role"] == "ground").unwrap();
        (card["mode"].clone(), card["policy"]["version"].clone(), info["mode"].clone())
    };
    assert_eq!(shown(&driver), (json!("policy"), json!(1), json!("policy")));
    while driver.status(&seat)["timeouts"] == 0 {
        driver.tick();
        std::thread::yield_now();
    }
    driver.tick();
    assert_eq!(shown(&driver), (json!("bot"), Value::Null, json!("bot")));
    let status = driver.status(&seat);
    assert_eq!((&status["version"], &status["timeouts"]), (&Value::Null, &json!(1)));
    assert_eq!(status["lastError"]["code"], "timeout");
    let own = driver.live.game().seats_json_for_seat(&seat, driver.now);
    assert!(own.iter().any(|info| info["policyState"] == "policy_failed"));
}

/// §10: an engine that owns the clock steps so many ticks, and every one of them waits for its policies.
#[test]
fn an_engine_steps_so_many_ticks_with_the_answers_of_its_policies() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    assert_eq!(driver.deploy(&seat, "function think() { return [] }")["ok"], true);
    driver.until_it_thinks(&seat);
    let before = driver.live.game().tick();
    driver.live.step(20, "the engine", driver.now);
    driver.live.step(1, "a second engine", driver.now);
    let mut answers = Vec::new();
    while answers.len() < 2 {
        answers.extend(driver.live.take_answers());
        if answers.len() < 2 {
            driver.woken.recv_timeout(LOST).expect("the sandbox answers");
            driver.live.take_in(driver.now);
        }
    }
    let (busy, stepped) = (answers[0].1.as_ref().unwrap_err(), answers[1].1.as_ref().unwrap());
    assert_eq!((busy.code.as_str(), stepped), ("busy", &json!({ "tick": before + 20 })));
    assert_eq!(driver.live.game().tick(), before + 20);
    driver.live.step(STEP_MAX + 1, "the engine", driver.now);
    let refused = driver.live.take_answers().pop().unwrap().1.unwrap_err();
    assert_eq!((refused.code.as_str(), driver.live.game().tick()), ("invalid", before + 20));
}

/// §4: a step of several ticks adds one version to a side's views, with its last tick, however often it waited for policies.
#[test]
fn an_engines_step_is_one_version_of_the_views() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    assert_eq!(driver.deploy(&seat, "function think() { return [] }")["ok"], true);
    driver.until_it_thinks(&seat);
    driver.live.game_mut().subscribe("red").unwrap();
    driver.live.take_changes(driver.now);
    let before = driver.live.game().view_version("red");
    driver.live.step(20, "the engine", driver.now);
    while driver.live.take_answers().is_empty() {
        assert!(driver.live.take_changes(driver.now).views.is_empty(), "in the middle of a step");
        driver.woken.recv_timeout(LOST).expect("the sandbox answers");
        driver.live.take_in(driver.now);
    }
    assert_eq!(driver.live.take_changes(driver.now).views.len(), 1);
    assert_eq!(driver.live.game().view_version("red"), before + 1);
}

/// §20 "Start readiness": what holds a match before its first tick holds an engine's steps too, and changes nothing.
#[test]
fn an_engine_steps_no_held_match() {
    let mut driver = Driver::new();
    driver.live.game_mut().hold_start().unwrap();
    for ticks in [0, 1, STEP_MAX] {
        driver.live.step(ticks, "the engine", driver.now);
        let refused = driver.live.take_answers().pop().unwrap().1.unwrap_err();
        assert_eq!((refused.code.as_str(), driver.live.game().tick()), ("paused", 0));
    }
    driver.live.game_mut().start(driver.now);
    assert_eq!(driver.live.game().tick(), 0, "a refused step is not made up for");
    driver.live.step(3, "the engine", driver.now);
    assert_eq!(driver.live.take_answers().pop().unwrap().1.unwrap(), json!({ "tick": 3 }));
}

/// §10: a match whose policies hold it up makes up for so many ticks and drops the rest: it slows down, it never races.
#[test]
fn a_stalled_match_makes_up_for_a_bounded_number_of_ticks() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    assert_eq!(driver.deploy(&seat, "function think() { return [] }")["ok"], true);
    driver.until_it_thinks(&seat);
    while driver.live.game().wants_round() {
        driver.live.tick(driver.now);
    }
    let stalled_at = driver.live.game().tick();
    for _ in 0..50 {
        driver.live.tick(driver.now);
    }
    let expected = stalled_at + 1 + u64::from(TICKS_OWED_MAX);
    while driver.live.game().tick() < expected {
        driver.woken.recv_timeout(LOST).expect("the sandbox answers");
        driver.live.take_in(driver.now);
    }
    driver.live.take_in(driver.now);
    assert_eq!(driver.live.game().tick(), expected);
}

// §4, §13: a practice tests the given or the active artifact, and the live match does not notice.
#[test]
fn a_practice_leaves_the_live_match_alone() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let practice = json!({ "opponent": "recruit", "ticks": 30, "seed": 4 });
    let nothing_to_test = driver.call(&seat, "practice", practice.clone()).unwrap_err().code.as_str();
    assert_eq!(nothing_to_test, "invalid");
    let before = (driver.live.game().tick(), driver.live.game().policy_status(&seat));
    let mut inline = practice.clone();
    inline["artifact"] = json!({ "runtime": "js", "code": "function think(o) { log(o.tick); return []; }" });
    let result = driver.call(&seat, "practice", inline).unwrap();
    assert_eq!(
        (&result["ok"], &result["ticks"], &result["policy"]["version"]),
        (&json!(true), &json!(30), &json!(0))
    );
    assert_eq!(result["policy"]["logs"][0], "0");
    assert_eq!(before, (driver.live.game().tick(), driver.live.game().policy_status(&seat)));

    driver.deploy(&seat, "function think() { return []; }");
    let result = driver.call(&seat, "practice", practice).unwrap();
    assert_eq!((&result["policy"]["version"], &result["policy"]["calls"]), (&json!(1), &json!(15)));
}

// §4 `Stats`, §11: a deploy's probe says which of its intents the seat could never send, and applies none.
#[test]
fn a_probe_tells_which_of_its_intents_the_seat_could_never_send() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "air");
    let intents = "[{ kind: 'fly' }, { kind: 'stop', units: 7 }, { kind: 'gather', units: [], patch: 'p_0' }, \
                   { kind: 'stop', units: ['e_1'] }]";
    let deployed = driver.deploy(&seat, &format!("function think() {{ return {intents}; }}"));
    assert_eq!(deployed["ok"], true, "a policy that errs is its author's to mend");
    let rejected = json!([{ "code": "forbidden_role", "count": 1 }, { "code": "invalid", "count": 2 }]);
    assert_eq!(
        (&deployed["probe"]["intentsEmitted"], &deployed["probe"]["intentsRejected"]),
        (&json!(4), &rejected)
    );
    assert_eq!(driver.status(&seat)["intentsEmitted"], 0);
}

// §11: size limits apply to the composed source and to the decoded module, and the answer is the policy error.
#[test]
fn an_artifact_past_its_limit_is_too_large() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let surface = Arc::clone(driver.live.game().surface());
    let most = surface.manifest.control.policy.as_ref().unwrap().max_artifact_bytes as usize;
    let file = "policies/ground.js";
    let skill = surface.knowledge.skills().iter().find(|skill| skill.files.contains_key(file)).unwrap();
    let included = skill.files.get(file).unwrap().len();
    let source = |bytes: usize| format!("function think() {{ return []; }}{}", " ".repeat(bytes - 31));
    let include = json!([format!("{}/{file}", skill.name)]);
    for (artifact, fits) in [
        (json!({ "runtime": "js", "code": source(most) }), true),
        (json!({ "runtime": "js", "code": source(most + 1) }), false),
        (json!({ "runtime": "js", "code": source(2 * most) }), false),
        (json!({ "runtime": "js", "code": source(most - included - 1), "include": include }), true),
        (json!({ "runtime": "js", "code": source(most - included), "include": include }), false),
        (json!({ "runtime": "wasm", "code": "AAAA".repeat(most / 3 + 1) }), false),
    ] {
        let answer = driver.call(&seat, "policyDeploy", artifact).unwrap();
        let code = if fits { Value::Null } else { json!("too_large") };
        assert_eq!((&answer["ok"], &answer["error"]["code"]), (&json!(fits), &code), "{answer}");
    }
}

// §11: at most 16 distinct served `.js` files before a script, and none before a module.
#[test]
fn an_artifact_includes_served_scripts_alone() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let surface = Arc::clone(driver.live.game().surface());
    let file = "policies/ground.js";
    let skill = surface.knowledge.skills().iter().find(|skill| skill.files.contains_key(file)).unwrap();
    let many = vec![format!("{}/{file}", skill.name); 17];
    for (runtime, include) in [
        ("js", json!(many)),
        ("js", json!(many[..2])),
        ("js", json!(["no/such.js"])),
        ("js", json!([format!("{}/SKILL.md", skill.name)])),
        ("wasm", json!(many[..1])),
    ] {
        let artifact = json!({ "runtime": runtime, "code": "", "include": include });
        assert_eq!(driver.call(&seat, "policyDeploy", artifact).unwrap_err().code.as_str(), "invalid");
    }
}

// §11: every think of an instance sees the role's defaults and the sections that the artifact declares: in the probe, in
// the match, after a crash and in practice.
#[test]
fn a_policy_sees_the_sections_that_it_declares() {
    for (declared, sees_ground) in
        [("", false), ("var detail = ['ground'];", true), ("var detail = 'all';", true)]
    {
        let mut driver = Driver::new();
        let seat = driver.seat("red", "air");
        // Hidden units are a section's own; each think tells whether it got them.
        let source = format!(
            "{declared} let n = 0; function think(o) {{ log('units' in o.ground); if (++n == 3) for (;;); return []; }}"
        );
        let seen = json!(sees_ground.to_string());
        let deployed = driver.deploy(&seat, &source);
        assert_eq!(deployed["probe"]["logs"][0], seen, "{declared}: {deployed}");
        while driver.status(&seat)["calls"].as_u64() < Some(5) {
            driver.tick();
        }
        let logs = driver.status(&seat)["logs"].as_array().unwrap().clone();
        assert!(driver.status(&seat)["timeouts"] == 1 && logs.len() > 3, "{logs:?}");
        assert!(logs.iter().all(|line| *line == seen), "{declared}: {logs:?}");
        let practice = json!({ "opponent": "recruit", "ticks": 4 });
        let practised = driver.call(&seat, "practice", practice).unwrap();
        assert_eq!(practised["policy"]["logs"], json!([seen, seen]), "{declared}");
    }
}

// §13: a practice plays the options of its match, or those with its own over them.
#[test]
fn a_practice_plays_the_options_of_its_match() {
    let mut driver = Driver::with(8, Some(json!({ "maxTicks": 200, "size": 24 })));
    let seat = driver.seat("red", "ground");
    let mut practice = json!({ "opponent": "recruit", "ticks": 1000 });
    // Match data says how large the map is.
    let source = "let size; function init(m) { size = m.size; } function think(o) { log(size); return []; }";
    practice["artifact"] = json!({ "runtime": "js", "code": source });
    let live = driver.call(&seat, "practice", practice.clone()).unwrap();
    assert_eq!((&live["ticks"], &live["policy"]["logs"][0]), (&json!(200), &json!("24")));
    practice["options"] = json!({ "maxTicks": 120 });
    let patched = driver.call(&seat, "practice", practice).unwrap();
    assert_eq!((&patched["ticks"], &patched["policy"]["logs"][0]), (&json!(120), &json!("24")));
}

// §11: intents past the cap of one call are dropped, and counted as the rate that they are over.
#[test]
fn intents_past_the_cap_of_a_call_are_counted() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "air");
    let most = driver.live.game().surface().manifest.control.policy.as_ref().unwrap().max_intents_per_call;
    let source =
        format!("function think() {{ return Array({}).fill({{ kind: 'stop', units: [] }}); }}", most + 5);
    let probe = driver.deploy(&seat, &source)["probe"].clone();
    let rejected = json!([{ "code": "rate_limited", "count": 5 }]);
    assert_eq!((&probe["intentsEmitted"], &probe["intentsRejected"]), (&json!(most + 5), &rejected));
}

// §13: options must match the manifest, ticks obey maxTicks, and tiers are the game's.
#[test]
fn a_practice_out_of_bounds_is_invalid() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    for wrong in [
        json!({ "opponent": "recruit" }),
        json!({ "opponent": "nobody", "ticks": 1 }),
        json!({ "opponent": "recruit", "ticks": 0 }),
        json!({ "opponent": "recruit", "ticks": 18_001 }),
        json!({ "opponent": "recruit", "ticks": 1, "seed": -1 }),
        json!({ "opponent": "recruit", "ticks": 1, "options": { "nonsense": 1 } }),
        json!({ "opponent": "recruit", "ticks": 1, "artifact": { "runtime": "lua", "code": "" } }),
        json!({ "opponent": "recruit", "ticks": 1, "more": 1 }),
    ] {
        assert_eq!(
            driver.call(&seat, "practice", wrong.clone()).unwrap_err().code.as_str(),
            "invalid",
            "{wrong}"
        );
    }
}

/// The game with a bug in its bots.
struct Breaking;

impl Game for Breaking {
    fn manifest(&self) -> Manifest {
        AgentCommand.manifest()
    }

    fn clock(&self) -> Clock {
        AgentCommand.clock()
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        AgentCommand.create(setup)
    }

    fn create_bot(&self, _: &Seat, _: &str) -> Option<Box<dyn Bot>> {
        panic!("a bug of the game")
    }
}

/// §15.5: whoever gives a seat away while their policy hangs there answers for it all the same.
#[test]
fn a_policy_that_hangs_counts_against_its_owner_when_its_seat_is_gone() {
    let mut driver = Driver::new();
    let other = driver.seat("red", "air");
    let hangs = json!({ "runtime": "js", "code": "for (;;);" });
    for _ in 0..BLAME_MAX {
        let seat = driver.seat("red", "ground");
        driver.live.call(&seat, Right::Agent, "policyDeploy", &hangs, "gone", driver.now);
        driver.live.assign(&seat, Occupant::Nobody, driver.now).unwrap();
    }
    assert_eq!(driver.live.take_answers().len(), BLAME_MAX);
    let code = json!({ "runtime": "js", "code": "function think() { return [] }" });
    let barred = |driver: &mut Driver| {
        let answer = driver.call(&other, "policyDeploy", code.clone());
        answer.is_err_and(|error| error.code.as_str() == "rate_limited")
    };
    // Each of these waits behind the owner's own.
    assert!((0..1_000).any(|_| barred(&mut driver)));
}

/// §11: the dice of a policy are the same for each instance that plays a seat, and nobody knows them who did not throw them.
#[test]
fn the_dice_of_a_policy_are_no_others() {
    let thrown = || {
        let mut driver = Driver::new();
        let seat = driver.seat("red", "ground");
        let deployed = driver.deploy(&seat, "function think() { log(Math.random()); return [] }");
        driver.until_it_thinks(&seat);
        let (tried, played) = (&deployed["probe"]["logs"][0], &driver.status(&seat)["logs"][0]);
        assert_eq!(tried, played);
        played.clone()
    };
    assert_ne!(thrown(), thrown(), "the same seat of the same match in another process");
}

// §13: whoever practises is told of a game that breaks down, and may practise again.
#[test]
fn a_practice_that_breaks_down_is_answered() {
    let mut driver = Driver::of(Arc::new(Breaking), 8, None);
    let seat = driver.seat("red", "ground");
    let practice = json!({ "opponent": "recruit", "ticks": 4,
                           "artifact": { "runtime": "js", "code": "function think() { return []; }" } });
    for _ in 0..4 {
        let broken = driver.call(&seat, "practice", practice.clone()).unwrap_err();
        assert_eq!(broken.code.as_str(), "internal");
    }
}

// §4 "progress": whoever waits for a practice of a match sees its ticks pass, up to those that were asked for.
#[test]
fn a_practice_counts_its_ticks_for_whoever_asked() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let ticks = Ticks::default();
    let practice = json!({ "opponent": "recruit", "ticks": 30,
                           "artifact": { "runtime": "js", "code": "function think() { return []; }" } });
    let asker = Asker { who: "the practice", ticks: ticks.clone() };
    driver.live.call(&seat, Right::Agent, "practice", &practice, asker, 0);
    assert!(driver.live.take_answers().is_empty());
    driver.woken.recv_timeout(LOST).expect("the practice ends");
    driver.live.take_in(0);
    let (_, answer) = driver.live.take_answers().pop().unwrap();
    assert_eq!((answer.unwrap()["ticks"].as_u64(), ticks.played()), (Some(30), 30));
}

// §13: practices of one principal are bounded over all its seats, and a caller that goes away gives its own back.
#[test]
fn practices_of_one_owner_are_bounded() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let long = json!({ "opponent": "recruit", "ticks": 18_000,
                       "artifact": { "runtime": "js", "code": "function think() { return []; }" } });
    for _ in 0..2 {
        driver.live.call(&seat, Right::Agent, "practice", &long, "gone", 0);
    }
    assert!(driver.live.take_answers().is_empty());
    let refused = driver.call(&seat, "practice", long.clone()).unwrap_err().code.as_str();
    assert_eq!(refused, "busy");
    driver.live.cancel_waits(|caller| *caller == "gone", 0);
    let short = json!({ "opponent": "recruit", "ticks": 1, "artifact": long["artifact"] });
    while driver.call(&seat, "practice", short.clone()).is_err() {
        std::thread::yield_now();
    }
}

/// §6: an agent whose owner takes the scope away while its code is tried activates nothing.
#[test]
fn a_scope_that_is_taken_away_during_a_trial_activates_nothing() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let code = json!({ "runtime": "js", "code": "function think() { return [] }" });
    driver.live.call(&seat, Right::Agent, "policyDeploy", &code, "the call", driver.now);
    driver.live.game_mut().set_scopes(&seat, &json!(["act"])).unwrap();
    let answer = loop {
        if let Some((_, answer)) = driver.live.take_answers().pop() {
            break answer;
        }
        driver.woken.recv_timeout(LOST).expect("the sandbox answers");
        driver.live.take_in(driver.now);
    };
    assert_eq!(answer.unwrap_err().code.as_str(), "out_of_scope");
    assert_eq!(driver.status(&seat), Value::Null);
}

/// §4 `Stats`: what a policy logs while it is loaded is its author's to read, from its trial and from where it plays.
#[test]
fn what_a_load_logs_is_in_the_statistics() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let code = "log('top'); function init() { log('init') } function think() { log('think'); return [] }";
    assert_eq!(driver.deploy(&seat, code)["probe"]["logs"], json!(["top", "init", "think"]));
    driver.until_it_thinks(&seat);
    assert_eq!(driver.status(&seat)["logs"], json!(["top", "init", "think"]));
}

/// §13, §15.5: a draft that hangs counts once against its owner, however often its practice restarts it.
#[test]
fn a_practice_that_hangs_counts_once_against_its_owner() {
    let mut driver = Driver::new();
    let seat = driver.seat("red", "ground");
    let hangs = "let n = 0; function think() { if (n++) for (;;); return [] }";
    let practice =
        json!({ "opponent": "recruit", "ticks": 200, "artifact": { "runtime": "js", "code": hangs } });
    for _ in 0..2 {
        let result = driver.call(&seat, "practice", practice.clone()).unwrap();
        assert!(result["policy"]["timeouts"].as_u64().unwrap() > 2, "{result}");
    }
    for _ in 2..BLAME_MAX {
        assert_eq!(driver.deploy(&seat, "for (;;);")["error"]["code"], "timeout");
    }
    let code = json!({ "runtime": "js", "code": "function think() { return [] }" });
    assert_eq!(driver.call(&seat, "policyDeploy", code).unwrap_err().code.as_str(), "rate_limited");
}
