//! §4 "Agent sessions", §7, §11, §20.5: a commander's library, between matches and in them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, Name, PoolLimits, Seat};
use playerthree_session::{
    Activated, Approved, Code, CommanderId, CommanderKind, Commanders, Config, Deploy, Draft, Isolation,
    Match, Metadata, Occupant, PolicyCode, Publish, Seated, SeatedPolicy, Surface, VERSIONS_KEPT,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// A roster of one commander of ann's, and the game that it is for.
struct Roster {
    surface: Arc<Surface>,
    rules: Commanders<()>,
    id: CommanderId,
}

impl Roster {
    fn of(kind: CommanderKind) -> Self {
        let mut game = Drill::new(Clock::Realtime);
        game.control.pool = Some(PoolLimits { max_published_per_principal: 8 });
        let surface = surface(game);
        let mut rules = Commanders::new(Arc::clone(&surface));
        let id = CommanderId("cmd_1".into());
        let roles: Vec<Name> = vec!["lead".into(), "wing".into()];
        let draft = Draft {
            name: "Falcon".into(),
            roles,
            isolation: Isolation::Independent,
            kind,
            metadata: Metadata::default(),
        };
        rules.add(owner("ann"), id.clone(), draft).unwrap();
        Self { surface, rules, id }
    }

    fn settle(&mut self, patch: Value) {
        self.rules.patch(&owner("ann"), &self.id, &patch, |(), _| Ok(())).unwrap();
    }

    /// Deploys code between matches that works.
    fn deploy(&mut self, role: &str, code: &str) -> u32 {
        let activation = to_probe(self.rules.deploy(&self.id, role, js(code)).unwrap());
        match self.rules.activated(&self.id, &role.into(), &activation, &thought(&[])) {
            Activated::Active(version) => version,
            other => panic!("{other:?}"),
        }
    }

    fn status(&self, role: &str) -> Value {
        self.rules.policy_status(&self.id, role).unwrap()
    }

    fn a_match(&self) -> Match {
        let teams: Vec<Name> = vec!["a".into(), "b".into()];
        Match::new(Arc::clone(&self.surface), Config { teams: Some(teams), ..config() }, 0).unwrap()
    }

    /// Seats the commander as a host does.
    fn seat(&mut self, game: &mut Match, seat: &Seat, room: &str) {
        let taken = self.rules.seat(&owner("ann"), &self.id, seat, &room.into(), ()).unwrap();
        let seated = Seated {
            owner: owner("ann"),
            display: "Ann".into(),
            commander: self.id.clone(),
            isolation: taken.isolation,
            settings: taken.settings,
            library: taken.library,
            metadata: taken.metadata,
            ready: taken.ready,
        };
        game.assign(seat, Occupant::Commander(Box::new(seated))).unwrap();
    }
}

fn state_of(game: &Match, seat: &Seat) -> String {
    let readiness = game.readiness(0);
    let seats = readiness["seats"].as_array().unwrap();
    let found = seats.iter().find(|info| info["team"] == *seat.team && info["role"] == *seat.role).unwrap();
    found["state"].as_str().unwrap().to_owned()
}

/// §4: a deploy between matches plays in the next one, a deploy in a match is there after it, and a rollback in either.
#[test]
fn a_library_goes_with_its_commander_from_match_to_match() {
    let mut roster = Roster::of(CommanderKind::Agent);
    assert_eq!(roster.status("lead"), Value::Null);
    assert_eq!(roster.deploy("lead", "one"), 1);
    let mut game = roster.a_match();
    roster.seat(&mut game, &lead("a"), "room");
    assert_eq!(game.policy_status(&lead("a")).unwrap(), Value::Null, "it is tried first");
    let (seat, activation) = game.due_activations().pop().unwrap();
    assert_eq!((&seat, activation.version, &activation.artifact), (&lead("a"), 1, &js("one")));
    game.activated(&seat, &activation, &thought(&[]));
    assert_eq!(game.policy_status(&lead("a")).unwrap()["version"], 1);

    deploy(&mut game, &lead("a"), "two");
    roster.rules.release(&roster.id, &lead("a"), "room", None);
    assert_eq!(roster.status("lead")["version"], 2);
    let back = to_probe(roster.rules.rollback(&roster.id, "lead", 1).unwrap());
    roster.rules.activated(&roster.id, &"lead".into(), &back, &thought(&[]));
    let mut next = roster.a_match();
    roster.seat(&mut next, &lead("b"), "next");
    assert_eq!(next.due_activations().pop().unwrap().1.artifact, js("one"));
    assert_eq!(roster.rules.rollback(&roster.id, "lead", 9).unwrap_err().code, Code::Invalid);
}

/// §21: versions are one sequence of the commander, whatever role they are for; each role has its own active one.
#[test]
fn the_lanes_of_a_commander_share_one_sequence_of_versions() {
    let mut roster = Roster::of(CommanderKind::Agent);
    assert_eq!((roster.deploy("lead", "one"), roster.deploy("wing", "two")), (1, 2));
    assert_eq!(
        (&roster.status("lead")["version"], &roster.status("wing")["version"]),
        (&json!(1), &json!(2))
    );
    let mut game = roster.a_match();
    roster.seat(&mut game, &lead("a"), "room");
    deploy(&mut game, &lead("a"), "three");
    assert_eq!(game.policy_status(&lead("a")).unwrap()["version"], 3);
    assert_eq!(roster.deploy("wing", "four"), 4);
    assert_eq!(roster.status("wing")["version"], 4);
    let library = &roster.rules.list(&owner("ann"))[0]["library"];
    assert_eq!(library["active"], json!({ "lead": 3, "wing": 4 }));
    let hash = js("three").hash();
    let third = json!({ "version": 3, "runtime": "js", "bytes": 5, "artifactHash": hash });
    assert_eq!(library["versions"][2], third, "§20.10.1");
    assert_eq!(roster.rules.list(&owner("bob")), Vec::<Value>::new(), "and nobody else sees it");
}

/// §20.5: what was active before is tried at seating; a seat whose policy fails is not ready until its agent redeploys.
#[test]
fn a_version_that_fails_at_seating_is_policy_failed_until_a_redeploy() {
    let mut roster = Roster::of(CommanderKind::Agent);
    roster.deploy("lead", "one");
    for bad in [failure(), thought(&[json!({ "kind": "fly" })])] {
        let mut game = roster.a_match();
        game.check_ready(60, 0).unwrap();
        roster.seat(&mut game, &lead("a"), "room");
        game.agent_call_started(&lead("a"), 0);
        game.agent_ready(&lead("a"), playerthree_session::Right::Agent, 0).unwrap();
        let held = game.is_held();
        let (seat, activation) = game.due_activations().pop().unwrap();
        game.activated(&seat, &activation, &bad);
        assert_eq!((state_of(&game, &lead("a")).as_str(), held), ("policy_failed", false));
        assert_eq!(game.policy_status(&lead("a")).unwrap(), Value::Null);
        deploy(&mut game, &lead("a"), "better");
        assert_eq!(state_of(&game, &lead("a")), "ready");
        let back = to_probe(game.rollback(&lead("a"), 1).unwrap());
        roster.rules.release(&roster.id, &lead("a"), "room", None);
        game.activated(&lead("a"), &back, &thought(&[]));
    }
}

/// §20.5: a rollback is an activation of a retained version, so its trial must bring valid intents alone; a deploy is
/// probed as usual (§11).
#[test]
fn a_rollback_is_held_to_valid_intents() {
    let mut roster = Roster::of(CommanderKind::Agent);
    let bad = thought(&[json!({ "kind": "fly" })]);
    let first = to_probe(roster.rules.deploy(&roster.id, "lead", js("one")).unwrap());
    let deployed = roster.rules.activated(&roster.id, &"lead".into(), &first, &bad);
    assert!(matches!(deployed, Activated::Active(1)));
    roster.deploy("lead", "two");
    let back = to_probe(roster.rules.rollback(&roster.id, "lead", 1).unwrap());
    let Activated::Failed(error) = roster.rules.activated(&roster.id, &"lead".into(), &back, &bad) else {
        panic!("it was taken")
    };
    assert_eq!((error.code, error.message), ("bad_output", None));
    assert_eq!(roster.status("lead")["version"], 2);
}

/// §6, §7, §13: scopes and supervision hold between matches; one request a lane, and its outcome is told once.
#[test]
fn scopes_and_approvals_hold_between_matches() {
    let mut roster = Roster::of(CommanderKind::Agent);
    roster.settle(json!({ "scopes": [] }));
    let id = roster.id.clone();
    assert_eq!(roster.rules.deploy(&id, "lead", js("one")).unwrap_err().code, Code::OutOfScope);
    assert_eq!(roster.rules.rollback(&id, "lead", 1).unwrap_err().code, Code::OutOfScope);
    assert_eq!(roster.rules.publish(&id, "lead").unwrap_err().code, Code::OutOfScope);
    roster.settle(json!({ "scopes": ["policy", "publish"], "mandate": { "autonomy": "supervised" } }));
    assert_eq!(roster.rules.publish(&id, "lead").unwrap_err().code, Code::Invalid, "nothing is active");

    let ask = |rules: &mut Commanders<()>, code: &str| {
        let Deploy::Approval(request) = rules.deploy(&id, "lead", js(code)).unwrap() else { panic!() };
        assert_eq!(request["approval"]["kind"], "policyDeploy");
        request["approval"]["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (ask(&mut roster.rules, "one"), ask(&mut roster.rules, "two"));
    let ann = owner("ann");
    let resolve = |rules: &mut Commanders<()>, who: &str, approval: &str, approve: bool| {
        rules.resolve_approval(&owner(who), &CommanderId("cmd_1".into()), approval, approve)
    };
    assert_eq!(resolve(&mut roster.rules, "bob", &second, true).unwrap_err().code, Code::Forbidden);
    assert_eq!(resolve(&mut roster.rules, "ann", &first, true).unwrap_err().code, Code::ApprovalNotFound);
    let (role, approved) = roster.rules.resolve_approval(&ann, &roster.id, &second, true).unwrap();
    let Some(Approved::Probe(activation)) = approved else { panic!("a publication") };
    assert_eq!(resolve(&mut roster.rules, "ann", &second, true).unwrap_err().code, Code::ApprovalPending);
    assert!(!roster.rules.take_decided(&roster.id, "lead"));
    roster.rules.activated(&roster.id, &role, &activation, &thought(&[]));
    assert!(roster.rules.take_decided(&roster.id, "lead"));
    assert!(!roster.rules.take_decided(&roster.id, "lead"), "told once");
    let status = roster.status("lead");
    assert_eq!((&status["version"], &status["approval"]["status"]), (&json!(1), &json!("approved")));

    let Publish::Approval(request) = roster.rules.publish(&roster.id, "lead").unwrap() else { panic!() };
    let id = request["approval"]["id"].as_str().unwrap();
    let (role, approved) = roster.rules.resolve_approval(&ann, &roster.id, id, true).unwrap();
    let Some(Approved::Publish(publication)) = approved else { panic!("a probe") };
    assert_eq!(publication.artifact, js("two"));
    roster.rules.published(&roster.id, &role, &publication, true);
    assert_eq!(roster.status("lead")["approval"]["status"], "approved");
}

/// §7: what waited for its owner between matches is not there any more once the lane is seated.
#[test]
fn a_request_made_between_matches_ends_when_its_lane_is_seated() {
    let mut roster = Roster::of(CommanderKind::Agent);
    roster.settle(json!({ "mandate": { "autonomy": "supervised" } }));
    let Deploy::Approval(request) = roster.rules.deploy(&roster.id, "lead", js("one")).unwrap() else {
        panic!()
    };
    let id = request["approval"]["id"].as_str().unwrap().to_owned();
    let mut game = roster.a_match();
    roster.seat(&mut game, &lead("a"), "room");
    let late = roster.rules.resolve_approval(&owner("ann"), &roster.id, &id, true).unwrap_err();
    assert_eq!(late.code, Code::ApprovalNotFound);
    let Deploy::Approval(request) = game.deploy(&lead("a"), js("two")).unwrap() else { panic!() };
    assert_ne!(request["approval"]["id"], id, "no two requests of a commander share a name");
    assert_eq!(game.resolve_approval(&lead("a"), &id, true).unwrap_err().code, Code::ApprovalNotFound);
}

/// §7, §20.1: a commander of the kind `policy` takes seats by its versions, one of the kind `agent` in person.
#[test]
fn a_seat_of_the_kind_policy_is_given_a_version_of_the_owners_library() {
    let mut roster = Roster::of(CommanderKind::Policy);
    let ann = owner("ann");
    let version = |roster: &Roster, who: &str, role: &str, version: Option<u32>| {
        roster.rules.version(&owner(who), &roster.id, role, version)
    };
    assert_eq!(version(&roster, "ann", "lead", None).unwrap_err().code, Code::Invalid, "nothing is active");
    roster.deploy("lead", "one");
    roster.deploy("lead", "two");
    assert_eq!(version(&roster, "bob", "lead", None).unwrap_err().code, Code::Forbidden);
    assert_eq!(version(&roster, "ann", "cook", None).unwrap_err().code, Code::Invalid);
    assert_eq!(version(&roster, "ann", "lead", Some(9)).unwrap_err().code, Code::Invalid);
    assert_eq!(version(&roster, "ann", "lead", None).unwrap().version, 2);
    let code = PolicyCode::Library(version(&roster, "ann", "lead", Some(1)).unwrap());
    let seat = roster.rules.seat(&ann, &roster.id, &lead("a"), &"room".into(), ());
    assert_eq!(seat.unwrap_err().code, Code::Invalid, "no live agent takes a seat with it");

    let mut game = roster.a_match();
    let policy = SeatedPolicy { owner: ann, display: "Ann".into(), code, bot: None };
    game.assign(&lead("a"), Occupant::Policy(Box::new(policy))).unwrap();
    let (seat, activation) = game.due_activations().pop().unwrap();
    assert_eq!(activation.artifact, js("one"));
    game.activated(&seat, &activation, &thought(&[]));
    assert_eq!(game.cards(0)[0]["policy"], json!({ "source": "library", "version": 1 }));
    assert_eq!(roster.status("lead")["version"], 2, "the lane's own active version stays");

    let agent = Roster::of(CommanderKind::Agent);
    assert_eq!(version(&agent, "ann", "lead", None).unwrap_err().code, Code::Invalid);
}

/// §20.5: a version that was deployed on another surface is stale at seating and cannot be taken back.
#[test]
fn a_version_of_another_surface_is_stale() {
    let mut roster = Roster::of(CommanderKind::Agent);
    roster.deploy("lead", "one");
    let mut other = Drill::new(Clock::Realtime);
    other.control.pool = Some(PoolLimits { max_published_per_principal: 9 });
    let after = surface(other);
    assert_ne!(after.hash, roster.surface.hash);
    let mut game = Match::new(after, config(), 0).unwrap();
    game.check_ready(60, 0).unwrap();
    roster.seat(&mut game, &lead("a"), "room");
    assert!(game.due_activations().is_empty());
    assert_eq!(state_of(&game, &lead("a")), "stale_policy");
    assert_eq!(game.rollback(&lead("a"), 1).unwrap_err().code, Code::Invalid);
    deploy(&mut game, &lead("a"), "two");
    assert_eq!(game.policy_status(&lead("a")).unwrap()["version"], 2);
    assert_eq!(state_of(&game, &lead("a")), "absent", "its policy is in order");
}

/// §6, §7: what an owner decides while code is tried holds for its activation between matches too.
#[test]
fn what_an_owner_decides_during_a_trial_between_matches_holds() {
    let mut roster = Roster::of(CommanderKind::Agent);
    roster.deploy("lead", "one");
    let (id, role) = (roster.id.clone(), Name::from("lead"));
    let trying = to_probe(roster.rules.deploy(&id, "lead", js("two")).unwrap());
    roster.settle(json!({ "scopes": [] }));
    let Activated::Refused(error) = roster.rules.activated(&id, &role, &trying, &thought(&[])) else {
        panic!()
    };
    assert_eq!(error.code, Code::OutOfScope);
    roster.settle(json!({ "scopes": ["policy"] }));
    let trying = to_probe(roster.rules.deploy(&id, "lead", js("two")).unwrap());
    roster.settle(json!({ "mandate": { "autonomy": "supervised" } }));
    let asked = roster.rules.activated(&id, &role, &trying, &thought(&[]));
    assert!(matches!(asked, Activated::Asked(_)), "{asked:?}");
    assert_eq!(roster.status("lead")["version"], 1);
}

/// §4: a version that another lane's deploys push out while it is tried does not become active.
#[test]
fn a_version_that_is_gone_by_the_end_of_its_trial_does_not_play() {
    let mut roster = Roster::of(CommanderKind::Agent);
    roster.deploy("lead", "one");
    roster.deploy("lead", "two");
    let back = to_probe(roster.rules.rollback(&roster.id, "lead", 1).unwrap());
    (0..VERSIONS_KEPT).for_each(|_| _ = roster.deploy("wing", "more"));
    let taken = roster.rules.activated(&roster.id, &"lead".into(), &back, &thought(&[]));
    assert!(matches!(taken, Activated::Refused(_)), "{taken:?}");
    assert_eq!(roster.status("lead")["version"], 2);
}

/// §4: `lastPractice` records successful runs only.
#[test]
fn the_last_practice_of_a_commander_is_one_that_succeeded() {
    let mut roster = Roster::of(CommanderKind::Agent);
    let last = |roster: &Roster| roster.rules.list(&owner("ann"))[0]["lastPractice"].clone();
    assert_eq!(last(&roster), Value::Null);
    let won = json!({
        "ok": true, "outcome": "win", "ticks": 9, "report": { "long": "text" }, "wallMs": 2,
        "policy": { "version": 3, "logs": ["private"] },
    });
    let told = json!({ "role": "lead", "version": 3, "outcome": "win", "ticks": 9, "wallMs": 2 });
    let failed = json!({ "ok": false, "code": "policy", "policy": { "version": 0 }, "wallMs": 1 });
    for result in [won, failed] {
        roster.rules.practised(&roster.id, &"lead".into(), &result);
        assert_eq!(last(&roster), told);
    }
}
