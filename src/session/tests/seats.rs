//! §§4, 6, 7, 8: presence and absence, waits, mandates and approvals.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, Controller, Runtime, Seat};
use playerthree_session::{
    Activated, Approved, Artifact, Code, Deploy, Match, Occupant, PRESENCE_MS, PolicyError, Right, Settings,
    Thought, VERSIONS_KEPT, Wait,
};
use serde_json::{Value, json};

fn js() -> Artifact {
    Artifact { runtime: Runtime::Js, code: b"function think() { return [] }".as_slice().into() }
}

/// The place of that seat in the list of seats, which the manifest orders.
const RED: usize = 1;

fn red() -> Seat {
    Seat::new("red", "ground")
}

fn mode(game: &Match, seat: &Seat, now: u64) -> String {
    let seats = game.seats_json(now);
    let found = seats.iter().find(|info| info["team"] == *seat.team && info["role"] == *seat.role).unwrap();
    found["mode"].as_str().unwrap().to_owned()
}

fn activate(game: &mut Match, seat: &Seat) {
    let Deploy::Probe(activation) = game.deploy(seat, js()).unwrap() else { panic!("an approval") };
    game.activated(seat, &activation, &Ok(Thought::default()));
}

fn mandate(game: &Match, autonomy: &str, when_absent: &str) -> Value {
    let (_, mut mandate) = game.terms(&red()).unwrap();
    mandate["autonomy"] = json!(autonomy);
    mandate["whenAbsent"] = json!(when_absent);
    mandate
}

/// §8: what acts, row by row.
#[test]
fn the_table_of_presence_and_absence_holds() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    let rows =
        [("policy", false, "bot"), ("policy", true, "policy"), ("bot", true, "bot"), ("hold", true, "held")];
    for (when_absent, deployed, expected) in rows {
        game.assign(&red(), Occupant::Nobody).unwrap();
        game.assign(&red(), agent("ann")).unwrap();
        game.set_mandate(&red(), &mandate(&game, "autonomous", when_absent)).unwrap();
        if deployed {
            activate(&mut game, &red());
        }
        assert_eq!(mode(&game, &red(), 0), expected, "absent, {when_absent}, deployed {deployed}");
        game.agent_call_started(&red(), 0);
        assert_eq!(mode(&game, &red(), 10 * PRESENCE_MS), "live", "a call in flight is presence");
        game.agent_call_ended(&red(), 0);
        assert_eq!(mode(&game, &red(), PRESENCE_MS - 1), "live");
        assert_eq!(mode(&game, &red(), PRESENCE_MS), expected);
        let seats = game.seats_json(PRESENCE_MS);
        let info = &seats[RED];
        assert_eq!(
            (&info["controller"], &info["aiPlayer"]),
            (&json!("agent"), &json!(true)),
            "never relabelled"
        );
    }
}

/// §5, §20.2: a public seat names no owner id, scope, mandate or policy.
#[test]
fn other_people_see_no_private_part_of_a_seat() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann-secret-id")).unwrap();
    activate(&mut game, &red());
    let public = json!([game.seats_json(0), game.seats_json_for(&owner("bob"), 0)]).to_string();
    for private in ["\"ann-secret-id\"", "scopes", "mandate", "botLevel", "policy\":{"] {
        assert!(!public.contains(private), "{private} in {public}");
    }
    let own = &game.seats_json_for(&owner("ann-secret-id"), 0)[RED];
    assert!(own["mandate"].is_object() && own["policy"]["version"] == 1);
}

/// §7: under supervision nothing changes until the owner agrees, and the newest request replaces the one before.
#[test]
fn a_supervised_deploy_waits_for_its_owner() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    activate(&mut game, &red());
    game.set_mandate(&red(), &mandate(&game, "supervised", "policy")).unwrap();
    let ask = |game: &mut Match| match game.deploy(&red(), js()).unwrap() {
        Deploy::Approval(request) => request["approval"]["id"].as_str().unwrap().to_owned(),
        Deploy::Probe(_) => panic!("activated without approval"),
    };
    let first = ask(&mut game);
    let second = ask(&mut game);
    assert_ne!(first, second);
    let status = game.policy_status(&red()).unwrap();
    assert_eq!((&status["version"], &status["approval"]["status"]), (&json!(1), &json!("pending")));
    assert_eq!(game.resolve_approval(&red(), &first, true).unwrap_err().code, Code::ApprovalNotFound);
    assert_eq!(game.resolve_approval(&red(), "ap_99", true).unwrap_err().code, Code::ApprovalNotFound);
    let approved = game.resolve_approval(&red(), &second, true).unwrap().unwrap();
    let Approved::Probe(activation) = approved else { panic!("a publication") };
    assert_eq!(game.resolve_approval(&red(), &second, true).unwrap_err().code, Code::ApprovalPending);
    game.activated(&red(), &activation, &Ok(Thought::default()));
    let status = game.policy_status(&red()).unwrap();
    assert_eq!((&status["version"], &status["approval"]["status"]), (&json!(2), &json!("approved")));
    assert_eq!(game.resolve_approval(&red(), &second, true).unwrap_err().code, Code::ApprovalNotFound);
}

/// §7: a rejected or failed request leaves the active policy alone.
#[test]
fn a_refused_artifact_replaces_nothing() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    activate(&mut game, &red());
    game.set_mandate(&red(), &mandate(&game, "supervised", "policy")).unwrap();
    for approve in [false, true] {
        let Deploy::Approval(request) = game.deploy(&red(), js()).unwrap() else { panic!() };
        let id = request["approval"]["id"].as_str().unwrap();
        if let Some(Approved::Probe(activation)) = game.resolve_approval(&red(), id, approve).unwrap() {
            game.activated(&red(), &activation, &Err(PolicyError::of("threw")));
        }
        let status = game.policy_status(&red()).unwrap();
        let expected = if approve { "failed" } else { "rejected" };
        assert_eq!((&status["version"], &status["approval"]["status"]), (&json!(1), &json!(expected)));
    }
}

/// Retained versions can come back; unknown ones cannot.
#[test]
fn a_rollback_takes_a_retained_version() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    activate(&mut game, &red());
    activate(&mut game, &red());
    let Deploy::Probe(activation) = game.rollback(&red(), 1).unwrap() else { panic!() };
    assert_eq!(game.deploy(&red(), js()).unwrap_err().code, Code::Busy, "one trial at a time");
    game.activated(&red(), &activation, &Ok(Thought::default()));
    assert_eq!(game.policy_status(&red()).unwrap()["version"], 1);
    assert_eq!(game.rollback(&red(), 3).unwrap_err().code, Code::Invalid);
    activate(&mut game, &red());
    assert_eq!(game.policy_status(&red()).unwrap()["version"], 3, "numbers are never used twice");
}

/// §7, §6: settings out of the manifest are refused and change nothing.
#[test]
fn settings_out_of_their_schema_are_refused() {
    let mut game = agent_command(config());
    let before = game.terms(&red()).unwrap();
    let (_, good) = before.clone();
    for (member, value) in
        [("autonomy", json!("free")), ("whenAbsent", json!("pause")), ("limits", json!({ "x": 1 }))]
    {
        let mut mandate = good.clone();
        mandate[member] = value;
        assert_eq!(game.set_mandate(&red(), &mandate).unwrap_err().code, Code::Invalid);
    }
    for scopes in [json!(["act", "act"]), json!(["fly"]), json!({}), json!([1])] {
        assert_eq!(game.set_scopes(&red(), &scopes).unwrap_err().code, Code::Invalid, "{scopes}");
    }
    let modeless = tic_tac_toe(config()).set_scopes(&x(), &json!(["publish"])).unwrap_err();
    assert_eq!(modeless.code, Code::Invalid, "the game has no mode for it");
    assert_eq!(game.set_controller(&red(), Controller::Policy).unwrap_err().code, Code::Invalid);
    assert_eq!(game.terms(&red()).unwrap(), before);
}

// --- waits -------------------------------------------------------------------------------------------------------

fn seated() -> Match {
    let mut game = tic_tac_toe(config());
    game.assign(&x(), human("ann")).unwrap();
    game.assign(&o(), agent("ann")).unwrap();
    game
}

/// §4 `wait`: a new agent's first wait is its entry; the next one ends with a visible event, once.
#[test]
fn a_wait_ends_with_the_entry_and_then_with_a_named_event() {
    let mut game = seated();
    let entry = done(wait_for(&mut game, &o(), Right::Agent, 1_000, &[], 0));
    assert_eq!(entry["observation"]["you"], "o");
    assert!(entry["instruction"].is_string());
    let id = pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &["move"], 0));
    act(&mut game, &x(), Right::Owner, place(0, 0));
    let waits = game.take_changes().waits;
    assert_eq!(waits.len(), 1);
    let (woken, answer) = waits.into_iter().next().unwrap();
    let answer = answer.unwrap();
    assert_eq!((woken, &answer["wake"]), (id, &json!("event")));
    assert_eq!(answer["events"][0]["kind"], "move");
    pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &["move"], 0));
    assert!(game.take_changes().waits.is_empty(), "an event wakes once");
}

/// §4: a wait runs out at its own time, and the owner's lane takes nothing from the agent's.
#[test]
fn a_wait_runs_out_and_lanes_are_apart() {
    let mut game = seated();
    done(wait_for(&mut game, &o(), Right::Agent, 0, &[], 0));
    done(wait_for(&mut game, &x(), Right::Owner, 0, &[], 0));
    act(&mut game, &x(), Right::Owner, place(0, 0));
    let told = done(wait_for(&mut game, &x(), Right::Owner, 0, &[], 0));
    assert_eq!(told["events"].as_array().unwrap().len(), 1);
    let id = pending(wait_for(&mut game, &o(), Right::Agent, 1_500, &["win"], 10));
    game.heartbeat(1_509);
    assert!(game.take_changes().waits.is_empty());
    game.heartbeat(1_510);
    let (ended, answer) = game.take_changes().waits.remove(0);
    let answer = answer.unwrap();
    assert_eq!(ended, id);
    assert_eq!((answer.get("wake"), answer["events"].as_array().unwrap().len()), (None, 1));
}

/// §10: the waits of a side that is out return, all of them; §4: the end is told once.
#[test]
fn the_end_of_the_match_ends_every_wait_and_is_told_once() {
    let mut game = seated();
    done(wait_for(&mut game, &o(), Right::Agent, 0, &[], 0));
    pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 0));
    pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &["move"], 0));
    act(&mut game, &x(), Right::Owner, json!({ "kind": "resign" }));
    let waits = game.take_changes().waits;
    assert_eq!(waits.len(), 2);
    for (_, answer) in waits {
        let answer = answer.unwrap();
        assert_eq!((&answer["wake"], &answer["outcome"]), (&json!("ended"), &json!("win")));
    }
    let again = game.wait(&o(), Right::Agent, Wait { millis: 60_000, until: Vec::new() }, 0);
    assert_eq!(again.unwrap_err().code, Code::NotInMatch);
}

/// §4: an end that came while nobody waited is kept for the next wait, once; the other lane has its own.
#[test]
fn an_end_between_two_waits_is_kept_for_the_next_one() {
    let mut game = seated();
    act(&mut game, &x(), Right::Owner, json!({ "kind": "resign" }));
    let entry = done(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 0));
    assert!(entry["observation"].is_object(), "the entry was not told before: {entry}");
    for (seat, right, outcome) in [(o(), Right::Agent, "win"), (x(), Right::Owner, "loss")] {
        let told = done(wait_for(&mut game, &seat, right, 60_000, &[], 0));
        assert_eq!((&told["wake"], &told["outcome"]), (&json!("ended"), &json!(outcome)));
        let again = game.wait(&seat, right, Wait { millis: 1, until: Vec::new() }, 0);
        assert_eq!(again.unwrap_err().code, Code::NotInMatch);
    }
}

/// §4: a wait in a match lasts its seconds of game time, and no longer than that of wall time.
#[test]
fn a_wait_lasts_its_seconds_of_game_time() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    done(wait_for(&mut game, &red(), Right::Agent, 0, &[], 0));
    pending(wait_for(&mut game, &red(), Right::Agent, 1_000, &[], 0));
    // Ten ticks are a second of this game, however fast they are stepped.
    for now in 1..=9 {
        tick(&mut game, now);
    }
    assert!(game.take_changes().waits.is_empty());
    tick(&mut game, 10);
    assert_eq!(game.take_changes().waits.len(), 1);
    // A match that stands still does not hold its callers.
    pending(wait_for(&mut game, &red(), Right::Agent, 1_000, &[], 10));
    game.heartbeat(1_009);
    assert!(game.take_changes().waits.is_empty());
    game.heartbeat(1_010);
    assert_eq!(game.take_changes().waits.len(), 1);
}

/// §15.5: at most two waits in a lane, and a cancelled one gives its place back.
#[test]
fn a_third_wait_is_busy_until_one_is_cancelled() {
    let mut game = seated();
    done(wait_for(&mut game, &o(), Right::Agent, 0, &[], 0));
    let first = pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 0));
    pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 0));
    let third = game.wait(&o(), Right::Agent, Wait { millis: 1, until: Vec::new() }, 0);
    assert_eq!(third.unwrap_err().code, Code::Busy);
    game.cancel_wait(first);
    pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 0));
}

/// §7: an approval's outcome wakes the agent that waits for it.
#[test]
fn a_resolved_approval_wakes_its_agent() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    game.set_mandate(&red(), &mandate(&game, "supervised", "policy")).unwrap();
    done(wait_for(&mut game, &red(), Right::Agent, 0, &[], 0));
    let Deploy::Approval(request) = game.deploy(&red(), js()).unwrap() else { panic!() };
    pending(wait_for(&mut game, &red(), Right::Agent, 60_000, &[], 0));
    let id = request["approval"]["id"].as_str().unwrap();
    game.resolve_approval(&red(), id, false).unwrap();
    game.heartbeat(1);
    let (_, answer) = game.take_changes().waits.remove(0);
    assert_eq!(answer.unwrap()["wake"], "approval");
}

/// §20: whoever shares a side sees what it sees, so nobody plays against a side that they share.
#[test]
fn nobody_opposes_a_side_from_within() {
    let seat = |team: &str, role: &str| Seat::new(team, role);
    let mut game = agent_command(config());
    game.assign(&seat("red", "ground"), human("ann")).unwrap();
    // A practice opponent of one's own is allowed while the side is one's own alone.
    game.assign(&seat("blue", "ground"), agent("ann")).unwrap();
    let refused = game.assign(&seat("blue", "air"), human("bob")).unwrap_err();
    assert_eq!(refused.code, Code::Forbidden);
    let refused = game.assign(&seat("red", "air"), human("bob")).unwrap_err();
    assert_eq!(refused.code, Code::Forbidden);

    let mut game = agent_command(config());
    game.assign(&seat("red", "ground"), human("ann")).unwrap();
    game.assign(&seat("red", "air"), human("cleo")).unwrap();
    assert_eq!(game.assign(&seat("blue", "ground"), agent("ann")).unwrap_err().code, Code::Forbidden);
    game.assign(&seat("blue", "ground"), human("bob")).unwrap();
    assert_eq!(game.assign(&seat("blue", "air"), agent("ann")).unwrap_err().code, Code::Forbidden);
    game.assign(&seat("blue", "air"), human("dora")).unwrap();
}

/// §4 "Mid-match seat assignment": a new occupant starts from the defaults, whatever the one before had set.
#[test]
fn settings_end_with_their_assignment() {
    let mut game = agent_command(config());
    let fresh = game.terms(&red()).unwrap();
    game.assign(&red(), human("ann")).unwrap();
    game.set_mandate(&red(), &mandate(&game, "supervised", "hold")).unwrap();
    game.set_scopes(&red(), &json!([])).unwrap();
    game.assign(&red(), human("ann")).unwrap();
    assert_ne!(game.terms(&red()).unwrap(), fresh, "the same occupant keeps their settings");
    game.assign(&red(), agent("ann")).unwrap();
    assert_eq!(game.terms(&red()).unwrap(), fresh);
    game.set_scopes(&red(), &json!([])).unwrap();
    game.assign(&red(), Occupant::Nobody).unwrap();
    assert_eq!(game.terms(&red()).unwrap(), fresh);
    game.assign(&red(), human("bob")).unwrap();
    assert_eq!(game.terms(&red()).unwrap(), fresh);
}

/// §8 in a game of turns: the fallback bot of an agent that went silent moves without anybody's doing.
#[test]
fn an_absent_agents_bot_moves_in_a_game_of_turns() {
    let mut game = tic_tac_toe(config());
    game.assign(&x(), human("ann")).unwrap();
    game.assign(&o(), agent("ann")).unwrap();
    let (_, mut mandate) = game.terms(&o()).unwrap();
    mandate["whenAbsent"] = json!("bot");
    game.set_mandate(&o(), &mandate).unwrap();
    game.agent_call_started(&o(), 0);
    game.agent_call_ended(&o(), 0);
    act(&mut game, &x(), Right::Owner, place(0, 0));
    let play = |game: &mut Match, now| {
        game.heartbeat(now);
        while game.wants_round() {
            tick(game, now);
        }
    };
    play(&mut game, PRESENCE_MS - 1);
    assert_eq!(game.tick(), 1, "the agent is still present");
    play(&mut game, PRESENCE_MS);
    assert_eq!(game.tick(), 2, "its bot moved");
}

/// §7: an owner's mistake wakes nobody.
#[test]
fn an_approval_that_does_not_exist_wakes_no_agent() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    done(wait_for(&mut game, &red(), Right::Agent, 0, &[], 0));
    pending(wait_for(&mut game, &red(), Right::Agent, 60_000, &[], 0));
    assert_eq!(game.resolve_approval(&red(), "ap_9", true).unwrap_err().code, Code::ApprovalNotFound);
    game.heartbeat(1);
    assert!(game.take_changes().waits.is_empty());
}

/// §4: a changed seat is seen at once in a game of turns, where no tick may come for long.
#[test]
fn a_changed_seat_is_a_new_version_in_a_game_of_turns() {
    let mut game = tic_tac_toe(config());
    game.subscribe("x").unwrap();
    game.take_changes();
    game.assign(&o(), agent("ann")).unwrap();
    assert_eq!(game.take_changes().views.len(), 1);
    let keyframe = game.view_messages("x", None);
    assert_eq!(keyframe[0].version(), game.view_version("x"));
}

/// §7: limits and directives are read like intents: whole floats are integers, so that a game reads them as it declared.
#[test]
fn a_mandates_integers_are_integers_however_they_are_spelled() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    let mut spelled = mandate(&game, "autonomous", "policy");
    spelled["limits"] = json!({ "maxAttackers": 3.0 });
    game.set_mandate(&red(), &spelled).unwrap();
    assert_eq!(game.terms(&red()).unwrap().1["limits"]["maxAttackers"].as_u64(), Some(3));
    let patch = json!({ "mandate": { "limits": { "maxAttackers": 2.0 } } });
    let settings = Settings::usual(game.surface()).patched(game.surface(), &patch).unwrap();
    assert_eq!(settings.mandate()["limits"]["maxAttackers"].as_u64(), Some(2));
}

/// §7: a supervised rollback activates nothing either: it asks, and names the version that it goes back to. `policyStatus`
/// without a policy tells of the request alone.
#[test]
fn a_supervised_rollback_waits_for_its_owner() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    game.set_mandate(&red(), &mandate(&game, "supervised", "policy")).unwrap();
    assert!(game.policy_status(&red()).unwrap().is_null(), "neither policy nor request");
    let Deploy::Approval(request) = game.deploy(&red(), js()).unwrap() else { panic!() };
    let approval = &request["approval"];
    assert_eq!(
        (&request["ok"], &approval["kind"], &approval["version"]),
        (&json!(false), &json!("policyDeploy"), &json!(1))
    );
    let pending = json!({ "version": null, "approval": { "id": approval["id"], "kind": "policyDeploy", "version": 1, "status": "pending" } });
    assert_eq!(game.policy_status(&red()).unwrap(), pending);
    game.set_mandate(&red(), &mandate(&game, "autonomous", "policy")).unwrap();
    activate(&mut game, &red());
    activate(&mut game, &red());
    game.set_mandate(&red(), &mandate(&game, "supervised", "policy")).unwrap();
    let Deploy::Approval(request) = game.rollback(&red(), 1).unwrap() else { panic!("activated at once") };
    let approval = &request["approval"];
    assert_eq!(
        (&request["ok"], &approval["kind"], &approval["version"]),
        (&json!(false), &json!("policyRollback"), &json!(1))
    );
    assert_eq!(game.policy_status(&red()).unwrap()["version"], 2);
    let approved = game.resolve_approval(&red(), approval["id"].as_str().unwrap(), true).unwrap();
    let Some(Approved::Probe(activation)) = approved else { panic!("nothing to try") };
    game.activated(&red(), &activation, &Ok(Thought::default()));
    assert_eq!(game.policy_status(&red()).unwrap()["version"], 1);
}

/// §15.3: a wait for a kind of event ends with one that its seat may see, and never with a hidden one.
#[test]
fn a_wait_does_not_tell_of_a_hidden_event() {
    let mut game = drill(Drill::new(Clock::Realtime), config()).0;
    for side in ["a", "b"] {
        game.assign(&lead(side), agent(side)).unwrap();
        done(wait_for(&mut game, &lead(side), Right::Agent, 0, &[], 0));
    }
    pending(wait_for(&mut game, &lead("a"), Right::Agent, 60_000, &["alarm"], 0));
    let cry = |to: &str| json!({ "kind": "cry", "to": to, "what": "alarm" });
    act(&mut game, &lead("b"), Right::Agent, cry("b"));
    tick(&mut game, 0);
    assert!(game.take_changes().waits.is_empty());
    act(&mut game, &lead("b"), Right::Agent, cry("a"));
    tick(&mut game, 1);
    let (_, answer) = game.take_changes().waits.remove(0);
    let answer = answer.unwrap();
    assert_eq!((&answer["wake"], answer["events"].as_array().unwrap().len()), (&json!("event"), 1));
}

/// §7: an owner's late answer to a request of the agent before answers none of the agent that has the seat now.
#[test]
fn an_answer_to_a_request_of_an_earlier_hold_answers_no_later_one() {
    let mut game = agent_command(config());
    let ask = |game: &mut Match, id: &str| {
        let next = commander(game, "ann", id);
        game.assign(&red(), next).unwrap();
        game.set_mandate(&red(), &mandate(game, "supervised", "policy")).unwrap();
        let Deploy::Approval(request) = game.deploy(&red(), js()).unwrap() else { panic!() };
        request["approval"]["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (ask(&mut game, "falcon"), ask(&mut game, "heron"));
    assert_eq!(game.resolve_approval(&red(), &first, true).unwrap_err().code, Code::ApprovalNotFound);
    assert!(game.resolve_approval(&red(), &second, true).unwrap().is_some());
}

/// §7: nothing that was asked for before its owner supervised is activated afterwards without their word.
#[test]
fn what_is_tried_while_its_owner_begins_to_supervise_asks_them() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    activate(&mut game, &red());
    activate(&mut game, &red());
    for kind in ["policyDeploy", "policyRollback"] {
        game.set_mandate(&red(), &mandate(&game, "autonomous", "policy")).unwrap();
        let deploy =
            if kind == "policyDeploy" { game.deploy(&red(), js()) } else { game.rollback(&red(), 1) };
        let Deploy::Probe(activation) = deploy.unwrap() else { panic!("an approval") };
        game.set_mandate(&red(), &mandate(&game, "supervised", "policy")).unwrap();
        let failed = game.activated(&red(), &activation, &Err(PolicyError::of("threw")));
        assert!(matches!(failed, Activated::Failed(_)), "nobody is asked about what does not work");
        let asked = game.activated(&red(), &activation, &Ok(Thought::default()));
        let Activated::Asked(request) = asked else { panic!("{asked:?}") };
        assert_eq!((&request["ok"], &request["approval"]["kind"]), (&json!(false), &json!(kind)));
        let status = game.policy_status(&red()).unwrap();
        assert_eq!((&status["version"], &status["approval"]["status"]), (&json!(2), &json!("pending")));
    }
    let id = game.policy_status(&red()).unwrap()["approval"]["id"].as_str().unwrap().to_owned();
    let Some(Approved::Probe(activation)) = game.resolve_approval(&red(), &id, true).unwrap() else {
        panic!()
    };
    assert!(matches!(game.activated(&red(), &activation, &Ok(Thought::default())), Activated::Active(1)));
}

/// §7: a request for a version that is kept no more when its owner agrees has failed, and what is active stays so.
#[test]
fn a_rollback_to_a_version_that_is_gone_by_then_fails() {
    let mut game = agent_command(config());
    game.assign(&red(), agent("ann")).unwrap();
    activate(&mut game, &red());
    activate(&mut game, &red());
    game.set_mandate(&red(), &mandate(&game, "supervised", "policy")).unwrap();
    let Deploy::Approval(request) = game.rollback(&red(), 1).unwrap() else { panic!("activated at once") };
    game.set_mandate(&red(), &mandate(&game, "autonomous", "policy")).unwrap();
    (0..VERSIONS_KEPT).for_each(|_| activate(&mut game, &red()));
    let id = request["approval"]["id"].as_str().unwrap();
    assert_eq!(game.resolve_approval(&red(), id, true).unwrap_err().code, Code::ApprovalFailed);
    let status = game.policy_status(&red()).unwrap();
    assert_eq!((&status["version"], &status["approval"]["status"]), (&json!(10), &json!("failed")));
    assert!(game.practice_artifact(&red(), None).is_ok());
}
