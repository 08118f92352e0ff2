//! §4 "Mid-match seat assignment", "Owner control", "Same-owner opposition": who gets a seat, and what ends with whom.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, Controller, Seat};
use playerthree_session::{
    Assignment, CannotStart, Code, Config, Draft, Handover, Isolation, Label, Match, Occupant, OwnerControl,
    Right, Settings, Thought,
};
use serde_json::{Value, json};

fn red() -> Seat {
    Seat::new("red", "ground")
}

fn air() -> Seat {
    Seat::new("red", "air")
}

fn blue() -> Seat {
    Seat::new("blue", "ground")
}

fn owned(name: &str, bot: Option<&str>) -> Occupant {
    Occupant::Owned { owner: owner(name), display: name.into(), bot: bot.map(Into::into) }
}

fn shared(game: &Match, name: &str, id: &str) -> Occupant {
    let Occupant::Commander(mut seated) = commander(game, name, id) else { panic!() };
    seated.isolation = Isolation::Shared;
    Occupant::Commander(seated)
}

/// §4: the same occupant again is a no-op, whatever was set meanwhile.
#[test]
fn assigning_the_same_occupant_again_changes_nothing() {
    let mut game = agent_command(config());
    let first = commander(&game, "ann", "cmd_1");
    assert_eq!(game.assign(&red(), first.clone()).unwrap(), Handover::NewOwner);
    done(wait_for(&mut game, &red(), Right::Agent, 0, &[], 0));
    game.set_scopes(&red(), &json!([])).unwrap();
    pending(wait_for(&mut game, &red(), Right::Agent, 9_000, &[], 0));
    let before = game.terms(&red()).unwrap();
    assert_eq!(game.assign(&red(), first).unwrap(), Handover::SameOccupant);
    assert_eq!(game.terms(&red()).unwrap(), before);
    assert!(game.take_changes().waits.is_empty(), "its wait goes on");
}

/// §4: another commander of the same owner detaches the one before: waits, policy, mark and settings end.
#[test]
fn another_commander_takes_the_seat_at_once() {
    let mut game = agent_command(config());
    game.assign(&red(), commander(&game, "ann", "cmd_1")).unwrap();
    done(wait_for(&mut game, &red(), Right::Agent, 0, &[], 0));
    game.agent_call_started(&red(), 0);
    pending(wait_for(&mut game, &red(), Right::Agent, 9_000, &[], 0));
    let js = playerthree_session::Artifact {
        runtime: playerthree_game::Runtime::Js,
        code: b"x".as_slice().into(),
    };
    let playerthree_session::Deploy::Probe(activation) = game.deploy(&red(), js).unwrap() else { panic!() };
    game.activated(&red(), &activation, &Ok(Thought::default()));
    let fresh = Settings::usual(game.surface());
    let settings = fresh.patched(game.surface(), &json!({ "scopes": ["policy"] })).unwrap();
    let Occupant::Commander(mut second) = commander(&game, "ann", "cmd_2") else { panic!() };
    second.settings = settings.clone();
    assert_eq!(game.assign(&red(), Occupant::Commander(second)).unwrap(), Handover::SameOwner);
    let waits = game.take_changes().waits;
    assert_eq!(waits.len(), 1);
    assert_eq!(waits[0].1.as_ref().unwrap_err().code, Code::BadToken);
    assert!(game.policy_status(&red()).unwrap().is_null());
    assert_eq!(game.terms(&red()).unwrap().0, settings.scopes());
    assert!(!game.has_present_agent(0), "the calls of the one before are no presence");
    let entry = done(wait_for(&mut game, &red(), Right::Agent, 9_000, &[], 0));
    assert!(entry["observation"].is_object() && entry["instruction"].is_string());
}

/// §4: everything that can fail is checked first; a refused assignment leaves the seat as it was.
#[test]
fn a_refused_assignment_changes_nothing() {
    let mut game = agent_command(config());
    game.assign(&red(), human("ann")).unwrap();
    game.assign(&air(), human("cleo")).unwrap();
    game.assign(&blue(), human("bob")).unwrap();
    game.set_scopes(&blue(), &json!([])).unwrap();
    game.take_changes();
    let before = game.seats_json_for(&owner("bob"), 0);
    assert_eq!(game.assign(&blue(), agent("ann")).unwrap_err().code, Code::Forbidden);
    assert_eq!(game.assign(&Seat::new("blue", "pope"), agent("dora")).unwrap_err().code, Code::Invalid);
    let nobody = game.assign_with(&blue(), Occupant::Nobody, OwnerControl::Granted);
    assert_eq!(nobody.unwrap_err().code, Code::Invalid, "nobody owns it, so nobody holds it");
    assert_eq!(game.seats_json_for(&owner("bob"), 0), before);
    assert!(!game.take_changes().seats);

    let mut over = tic_tac_toe(config());
    over.assign(&x(), human("ann")).unwrap();
    over.assign(&o(), human("bob")).unwrap();
    act(&mut over, &x(), Right::Owner, json!({ "kind": "resign" }));
    assert_eq!(over.assign(&o(), agent("cleo")).unwrap_err().code, Code::Invalid, "the match is over");
}

/// §4 "Owner control": the owner of an automated seat acts in person, and keeps that for as long as they own it.
#[test]
fn an_owner_in_control_acts_for_an_automated_seat() {
    let mut game = tic_tac_toe(config());
    game.assign(&x(), owned("ann", None)).unwrap();
    assert_eq!(act(&mut game, &x(), Right::Owner, place(0, 0)).code(), "not_controller");
    game.assign_with(&x(), owned("ann", None), OwnerControl::Granted).unwrap();
    assert!(game.is_held_in_person(&x()));
    assert_eq!(act(&mut game, &x(), Right::Owner, place(0, 0)).code(), "ok");
    game.assign(&x(), agent("ann")).unwrap();
    assert!(game.is_held_in_person(&x()), "the same owner keeps the hold");
    game.assign(&x(), agent("bob")).unwrap();
    assert!(!game.is_held_in_person(&x()), "a different owner drops it");
}

/// §20: nobody holds seats of two sides in person, by whichever way.
#[test]
fn nobody_holds_two_sides_in_person() {
    let mut game = agent_command(config());
    game.assign(&red(), human("ann")).unwrap();
    game.assign(&blue(), agent("ann")).unwrap();
    assert_eq!(game.assign(&blue(), human("ann")).unwrap_err().code, Code::Forbidden);
    let granted = game.assign_with(&blue(), agent("ann"), OwnerControl::Granted);
    assert_eq!(granted.unwrap_err().code, Code::Forbidden);
    game.assign_with(&air(), owned("ann", None), OwnerControl::Granted).unwrap();
}

/// §4: an owner's bot or held seat is not played; an agent's, a person's or a steered one is, and the mark stays.
#[test]
fn one_owner_on_two_sides_marks_the_match_for_good() {
    let mut game = agent_command(config());
    game.assign(&red(), human("ann")).unwrap();
    game.assign(&air(), agent("ann")).unwrap();
    game.assign(&blue(), owned("ann", None)).unwrap();
    assert!(!game.same_owner_opposed(), "a held seat plays no match");
    assert!(game.status().get("sameOwnerOpposed").is_none());
    game.assign(&blue(), commander(&game, "ann", "cmd_1")).unwrap();
    assert!(game.same_owner_opposed());
    assert_eq!(game.status()["sameOwnerOpposed"], true);
    game.assign(&blue(), Occupant::Nobody).unwrap();
    assert!(game.same_owner_opposed(), "it stays so");

    let mut game = agent_command(config());
    game.assign(&red(), human("ann")).unwrap();
    game.assign(&blue(), owned("ann", None)).unwrap();
    game.set_controller(&blue(), Controller::Agent).unwrap();
    assert!(game.same_owner_opposed(), "handing the seat to an agent plays it");
}

/// §4: agent commanders of one owner oppose each other only where both are independent.
#[test]
fn commanders_that_share_state_do_not_oppose_each_other() {
    let mut game = agent_command(config());
    game.assign(&red(), shared(&game, "ann", "cmd_1")).unwrap();
    game.assign(&air(), shared(&game, "ann", "cmd_2")).unwrap();
    let refused = game.assign(&blue(), commander(&game, "ann", "cmd_3"));
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);

    let mut game = agent_command(config());
    game.assign(&red(), commander(&game, "ann", "cmd_1")).unwrap();
    assert_eq!(game.assign(&blue(), shared(&game, "ann", "cmd_2")).unwrap_err().code, Code::Forbidden);
    game.assign(&blue(), commander(&game, "ann", "cmd_3")).unwrap();
}

/// Sides a and b together against c and d.
fn two_pairs() -> Match {
    let pair = |name: &str, sides: [&str; 2]| (name.to_owned(), sides.map(Into::into).to_vec());
    let alliances = Some([pair("north", ["a", "b"]), pair("south", ["c", "d"])].into());
    drill(Drill::new(Clock::Realtime), Config { alliances, ..config() }).0
}

/// §4: an owner on two sides that are allies plays no match against themselves; with a seat of the other party they do.
#[test]
fn one_owner_on_two_allied_sides_marks_no_match() {
    let mut game = two_pairs();
    game.assign(&lead("a"), commander(&game, "ann", "cmd_1")).unwrap();
    game.assign(&lead("b"), commander(&game, "ann", "cmd_2")).unwrap();
    assert!(!game.same_owner_opposed(), "allies");
    game.assign(&lead("c"), commander(&game, "ann", "cmd_3")).unwrap();
    assert!(game.same_owner_opposed());
}

/// §4: commanders that share state may play side by side as allies and not against each other.
#[test]
fn commanders_that_share_state_may_be_allies() {
    let mut game = two_pairs();
    game.assign(&lead("a"), shared(&game, "ann", "cmd_1")).unwrap();
    game.assign(&lead("b"), shared(&game, "ann", "cmd_2")).unwrap();
    let refused = game.assign(&lead("c"), commander(&game, "ann", "cmd_3"));
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);
}

/// §7: a patch of a commander's settings is checked whole; a bad member takes nothing.
#[test]
fn settings_are_patched_whole_or_not_at_all() {
    let game = agent_command(config());
    let surface = game.surface();
    let usual = Settings::usual(surface);
    let patched = usual.patched(surface, &json!({ "mandate": { "autonomy": "supervised" } })).unwrap();
    assert_eq!(patched.mandate()["autonomy"], "supervised");
    assert_eq!(patched.mandate()["whenAbsent"], usual.mandate()["whenAbsent"], "the rest stays");
    let tier = &surface.manifest.opponents[0];
    assert_eq!(usual.patched(surface, &json!({ "botLevel": tier })).unwrap().to_json()["botLevel"], **tier);
    for wrong in [
        json!([]),
        json!({ "botLevel": "god" }),
        json!({ "scopes": ["fly"] }),
        json!({ "mandate": { "x": 1 } }),
        json!({ "mandate": 1 }),
        json!({ "scopes": ["act"], "owner": "bob" }),
    ] {
        assert_eq!(usual.patched(surface, &wrong).unwrap_err().code, Code::Invalid, "{wrong}");
    }
}

/// §20.2: a card for every agent and policy seat and no other, with what acts now, and nothing private.
#[test]
fn cards_say_who_plays_and_nothing_private() {
    let mut game = agent_command(config());
    game.assign(&red(), commander(&game, "ann", "cmd_secret")).unwrap();
    game.assign(&blue(), human("bob")).unwrap();
    game.assign(&air(), Occupant::Bot("expert".into())).unwrap();
    let cards = game.cards(0);
    assert_eq!(
        cards,
        [json!({
            "seat": { "team": "red", "role": "ground" }, "kind": "agent", "aiPlayer": true,
            "owner": { "display": "ann in person" }, "harness": { "verified": false }, "mode": "bot",
        })]
    );
    game.agent_call_started(&red(), 0);
    assert_eq!(game.cards(0)[0]["mode"], "live");
    assert!(!json!(cards).to_string().contains("cmd_secret"));
}

/// §20.2: the harness is what the agent says, for its own hold, and a model is shown by its owner's choice alone; both are
/// marked as unverified.
#[test]
fn a_card_shows_what_is_said_of_harness_and_model_as_such() {
    let mut game = agent_command(config());
    let draft = |metadata: Value| {
        let draft = json!({ "name": "Falcon", "roles": ["ground"], "metadata": metadata });
        Draft::parse(game.surface(), &draft).map(|draft| draft.metadata)
    };
    let said = json!({ "provider": "Example", "model": "example-1" });
    let (hidden, mut shared) = (draft(said.clone()).unwrap(), said);
    shared["shared"] = json!(true);
    let shared = draft(shared).unwrap();
    for bad in [
        json!({ "model": "<b>" }),
        json!({ "model": "" }),
        json!({ "model": "x".repeat(65) }),
        json!({ "who": "x" }),
    ] {
        assert_eq!(draft(bad).unwrap_err().code, Code::Invalid);
    }
    for (metadata, is_shown) in [(hidden, false), (shared, true)] {
        let Occupant::Commander(mut seated) = commander(&game, "ann", &format!("{is_shown}")) else {
            panic!()
        };
        seated.metadata = metadata;
        game.assign(&red(), Occupant::Commander(seated)).unwrap();
        game.take_changes();
        game.note_harness(&red(), &Label::parse("Codex 1.0").unwrap());
        assert!(game.take_changes().seats, "everybody is told");
        let card = game.cards(0).remove(0);
        assert_eq!(card["harness"], json!({ "label": "Codex 1.0", "verified": false }));
        let model = is_shown.then(|| json!({ "name": "example-1", "selfReported": true }));
        assert_eq!((card.get("model"), card.get("provider").is_some()), (model.as_ref(), is_shown));
        game.note_harness(&red(), &Label::parse("Codex 1.0").unwrap());
        assert!(!game.take_changes().seats, "nothing changed");
    }
    game.assign(&red(), agent("bob")).unwrap();
    assert_eq!(game.cards(0)[0]["harness"], json!({ "verified": false }), "another agent says for itself");
}

/// §7: changed settings reach the commander's own live seat and no other.
#[test]
fn settings_reach_only_the_commanders_own_seat() {
    let mut game = agent_command(config());
    game.assign(&red(), commander(&game, "ann", "cmd_1")).unwrap();
    game.assign(&air(), commander(&game, "ann", "cmd_2")).unwrap();
    let other = game.terms(&air()).unwrap();
    let changed = Settings::usual(game.surface()).patched(game.surface(), &json!({ "scopes": [] })).unwrap();
    game.follow(&playerthree_session::CommanderId("cmd_1".into()), &changed);
    assert!(game.terms(&red()).unwrap().0.is_empty());
    assert_eq!(game.terms(&air()).unwrap(), other);
}

/// §4: a named commander keeps its seat whoever controls it meanwhile: assigned again it is in control again, and its
/// owner may hold the seat in person with it.
#[test]
fn a_commander_that_is_assigned_again_is_in_control_again() {
    let mut game = agent_command(config());
    // It passes every gate, and is the game's to refuse.
    let nothing = || json!({ "kind": "stop", "units": [] });
    let falcon = commander(&game, "ann", "falcon");
    game.assign(&red(), falcon.clone()).unwrap();
    game.set_scopes(&red(), &json!(["act"])).unwrap();
    game.set_controller(&red(), Controller::Bot).unwrap();
    assert_eq!(game.assign(&red(), falcon.clone()).unwrap(), Handover::SameOccupant);
    assert_eq!(act(&mut game, &red(), Right::Agent, nothing()).code(), "no_units");
    assert_eq!(game.terms(&red()).unwrap().0, ["act"], "nothing of its hold ended");
    assert!(!game.is_held_in_person(&red()));
    game.assign_with(&red(), falcon.clone(), OwnerControl::Granted).unwrap();
    assert!(game.is_held_in_person(&red()));
    game.set_controller(&red(), Controller::Human).unwrap();
    game.assign(&red(), falcon).unwrap();
    assert_eq!(act(&mut game, &red(), Right::Agent, nothing()).code(), "no_units");
    assert!(game.is_held_in_person(&red()), "the same owner keeps the hold");
}

/// §7: a commander's settings are whole from the start: a fallback tier, scopes and a mandate.
#[test]
fn settings_are_whole_before_anybody_changed_them() {
    let game = agent_command(config());
    let settings = Settings::usual(game.surface());
    let first = &game.surface().manifest.opponents[0];
    let members: Vec<String> = settings.to_json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(members.len(), 3, "{members:?}");
    assert_eq!(settings.to_json()["botLevel"], json!(first));
    let patched = settings.patched(game.surface(), &json!({ "botLevel": "veteran" })).unwrap();
    assert_eq!(patched.patched(game.surface(), &json!({ "botLevel": first })).unwrap(), settings);
}

/// §20: a match is made with all its assignments or not at all; no seat is assigned twice and no commander on two sides.
#[test]
fn a_match_is_made_with_all_its_assignments_or_not_at_all() {
    let surface = surface(playerthree_agent_command::AgentCommand);
    let template = agent_command(config());
    let made = |list: &[(Seat, Occupant)]| {
        let assignment = |(seat, occupant): &(Seat, Occupant)| Assignment {
            seat: seat.clone(),
            occupant: occupant.clone(),
            control: OwnerControl::Kept,
        };
        let config = Config { teams: Some(vec!["red".into(), "blue".into()]), ..config() };
        Match::with_assignments(surface.clone(), config, list.iter().map(assignment).collect(), 0)
    };
    let code = |made: Result<Match, CannotStart>| match made {
        Err(CannotStart::Refused(error)) => Some(error.code),
        Err(CannotStart::Output(_)) | Ok(_) => None,
    };
    let falcon = || commander(&template, "ann", "falcon");
    let game = made(&[(red(), human("ann")), (air(), falcon()), (blue(), agent("bob"))]).unwrap();
    assert_eq!(
        [red(), air(), blue()].map(|seat| game.owner(&seat).unwrap().clone()),
        ["ann", "ann", "bob"].map(owner)
    );
    assert_eq!(code(made(&[(red(), human("ann")), (red(), agent("bob"))])), Some(Code::Invalid));
    assert_eq!(code(made(&[(red(), falcon()), (blue(), falcon())])), Some(Code::Invalid));
    assert_eq!(code(made(&[(Seat::new("gold", "air"), human("ann"))])), Some(Code::Invalid));
    assert_eq!(code(made(&[(red(), human("ann")), (blue(), human("ann"))])), Some(Code::Forbidden));
}
