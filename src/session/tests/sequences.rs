//! §9: sequences are judged whole, played through the agent gate before the step of their tick, and cancelled by what
//! their seat may see.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::{Drill, Told};
use common::*;
use playerthree_game::{Clock, Controller, Outcome, Source};
use playerthree_session::{
    Barred, Call, Code, Match, PRESENCE_MS, Plan, PlanStep, Rejection, Right, Sequenced,
};
use serde_json::{Value, json};

fn plan(steps: &[(u32, i64)]) -> Plan {
    let step = |(after, n): &(u32, i64)| PlanStep { after: *after, intents: vec![mark(*n)] };
    Plan { steps: steps.iter().map(step).collect(), cancel_on: Vec::new() }
}

/// A realtime drill whose side `a` is ann's agents'.
fn with_agents() -> (Match, Drill) {
    let (mut game, told) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.assign(&wing("a"), agent("ann")).unwrap();
    (game, told)
}

fn sequence(game: &mut Match, plan: Plan) -> Sequenced {
    game.sequence(&lead("a"), Right::Agent, plan, 0).unwrap()
}

fn accepted(sequenced: Sequenced) -> String {
    match sequenced {
        Sequenced::Accepted { id, .. } => id,
        Sequenced::Rejected { why, acks } => panic!("{why:?} {acks:?}"),
    }
}

fn rejected(sequenced: Sequenced) -> Rejection {
    match sequenced {
        Sequenced::Rejected { why, .. } => why,
        Sequenced::Accepted { .. } => panic!("accepted"),
    }
}

fn run(game: &mut Match, ticks: u64) {
    for now in 0..ticks {
        tick(game, now);
    }
}

/// §9: `in` counts ticks from the submission, and due intents reach the game before the step of their tick, from the agent.
#[test]
fn due_intents_reach_the_game_before_the_step_of_their_tick() {
    let (mut game, told) = with_agents();
    run(&mut game, 3);
    accepted(sequence(&mut game, plan(&[(0, 1), (2, 2), (5, 3)])));
    run(&mut game, 8);
    let ticks: Vec<(u64, i64)> = told.marks().into_iter().map(|(tick, _, n)| (tick, n)).collect();
    assert_eq!(ticks, [(3, 1), (5, 2), (8, 3)]);
    let heard = told.told();
    let planned = |told: &Told| matches!(told, Told::Applied { tick: 5, intent, .. } if *intent == mark(2));
    let at = heard.iter().position(planned).unwrap();
    assert!(heard[at..].contains(&Told::Stepped(5)));
    let Told::Applied { context, .. } = &heard[at] else { unreachable!() };
    assert_eq!((context.source, &context.owner_roles), (Source::Agent, &None));
}

/// §9: `{ok: true, id, acks}` with an ack for each intent of each step; the id is opaque and new each time.
#[test]
fn an_acceptance_names_the_sequence_and_acks_each_step() {
    let (mut game, _) = with_agents();
    let answer = sequence(&mut game, plan(&[(0, 1), (2, 2)])).to_json();
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["acks"], json!([[{ "ok": true }], [{ "ok": true }]]));
    let other = sequence(&mut game, plan(&[(0, 1)])).to_json();
    assert_ne!(answer["id"], other["id"]);
}

/// §9: the whole plan's shape and roles are judged first, each fault is in its ack, and nothing is scheduled.
#[test]
fn one_bad_intent_rejects_the_whole_plan_and_schedules_nothing() {
    let (mut game, told) = with_agents();
    let cry = json!({ "kind": "cry", "to": "a", "what": "calm" });
    let mut bad = plan(&[(0, 1), (2, 2)]);
    bad.steps[1].intents.push(json!({ "kind": "kanarienvogel" }));
    bad.steps[1].intents.push(cry);
    let answer = game.sequence(&wing("a"), Right::Agent, bad, 0).unwrap().to_json();
    assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("invalid")));
    let codes: Vec<&Value> = answer["acks"][1].as_array().unwrap().iter().map(|ack| &ack["code"]).collect();
    assert_eq!(codes, [&Value::Null, &json!("invalid"), &json!("forbidden_role")]);
    assert!(!answer.to_string().contains("kanarienvogel"));
    run(&mut game, 5);
    assert!(told.marks().is_empty());
}

/// §9: length, horizon, order, spacing, 64 intents a step, declared and unique `cancelOn`, each at its edge and past it.
#[test]
fn every_limit_of_a_plan_holds_at_its_edge_and_not_past_it() {
    let (mut game, _) = with_agents();
    let crowd = |many: usize| Plan {
        steps: vec![PlanStep { after: 0, intents: vec![mark(1); many] }],
        cancel_on: Vec::new(),
    };
    let on = |kinds: &[&str]| Plan {
        cancel_on: kinds.iter().map(|kind| (*kind).into()).collect(),
        ..plan(&[(0, 1)])
    };
    let good = [
        plan(&[(0, 1), (2, 2), (4, 3), (6, 4)]),
        plan(&[(20, 1)]),
        crowd(0),
        crowd(64),
        on(&["alarm", "calm"]),
    ];
    for plan in good {
        accepted(sequence(&mut game, plan));
    }
    let bad = [
        plan(&[(0, 1), (2, 2), (4, 3), (6, 4), (8, 5)]),
        plan(&[(21, 1)]),
        plan(&[(0, 1), (1, 2)]),
        plan(&[(2, 1), (2, 2)]),
        plan(&[(4, 1), (2, 2)]),
        crowd(65),
        on(&["alarm", "alarm"]),
        on(&["undeclared"]),
    ];
    for plan in bad {
        assert_eq!(rejected(sequence(&mut game, plan)), Rejection::Invalid);
    }
}

/// §4: a result has at most 24000 units, so a plan whose acks would not fit is rejected without them, and nothing of it is
/// scheduled.
#[test]
fn a_plan_whose_acks_fit_into_no_result_is_rejected_without_them() {
    let (mut game, told) = with_agents();
    let kept = accepted(sequence(&mut game, plan(&[(0, 7)])));
    let stray = json!({ "kind": "mark", "n": 1, "kanarienvogel": 1 });
    let steps = |many: usize| {
        (0..4).map(move |step| PlanStep { after: 2 * step, intents: vec![stray.clone(); many] })
    };
    let reported = |plan: Sequenced| match plan {
        Sequenced::Rejected { why: Rejection::Invalid, acks } => acks.iter().flatten().count(),
        other => panic!("{other:?}"),
    };
    let few = Plan { steps: steps.clone()(8).collect(), cancel_on: Vec::new() };
    let many = Plan { steps: steps(64).collect(), cancel_on: Vec::new() };
    assert_eq!((reported(sequence(&mut game, few)), reported(sequence(&mut game, many))), (32, 0));
    run(&mut game, 1);
    let marks: Vec<i64> = told.marks().into_iter().map(|(_, _, n)| n).collect();
    assert_eq!((marks, kept.as_str()), (vec![7], "sq_1"));
}

/// §9: the codes of a rejection beside `invalid`; an owner acts in person.
#[test]
fn a_plan_without_authority_is_rejected_with_its_code() {
    let (mut game, _) = with_agents();
    let barred = |game: &mut Match| rejected(sequence(game, plan(&[(0, 1)])));
    game.set_scopes(&lead("a"), &json!(["policy"])).unwrap();
    assert_eq!(barred(&mut game), Rejection::Barred(Barred::OutOfScope));
    game.set_scopes(&lead("a"), &json!(["act"])).unwrap();
    game.set_controller(&lead("a"), Controller::Bot).unwrap();
    assert_eq!(barred(&mut game), Rejection::Barred(Barred::NotController));
    let owner = game.sequence(&lead("a"), Right::Owner, plan(&[(0, 1)]), 0);
    assert_eq!(owner.unwrap_err().code, Code::Forbidden);
    game.set_controller(&lead("a"), Controller::Agent).unwrap();
    act(&mut game, &lead("a"), Right::Agent, json!({ "kind": "settle", "side": "a", "as": "loss" }));
    run(&mut game, 1);
    assert_eq!(game.outcome("a"), Outcome::Loss);
    assert_eq!(barred(&mut game), Rejection::Barred(Barred::GameOver));
}

/// §3: a mode that the game lacks is unavailable.
#[test]
fn a_game_without_sequences_has_none() {
    let mut game = Drill::new(Clock::Realtime);
    game.control.sequence = None;
    let (mut game, _) = drill(game, config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    let refused = game.sequence(&lead("a"), Right::Agent, plan(&[]), 0).unwrap_err();
    assert_eq!(refused.code, Code::ModeUnavailable);
    assert!(game.surface().tools.iter().all(|tool| tool.method != "sequence"));
    let refused = Call::parse(game.surface(), "sequence", &json!({ "steps": [] })).unwrap_err();
    assert_eq!(refused.code, Code::ModeUnavailable);
}

/// §9: at most one active sequence; a valid replacement supersedes it, a rejected one does not, and no steps cancel.
#[test]
fn a_valid_plan_supersedes_and_no_steps_cancel() {
    let (mut game, told) = with_agents();
    accepted(sequence(&mut game, plan(&[(2, 1)])));
    rejected(sequence(&mut game, plan(&[(99, 2)])));
    run(&mut game, 3);
    accepted(sequence(&mut game, plan(&[(2, 3)])));
    accepted(sequence(&mut game, plan(&[(2, 4)])));
    run(&mut game, 3);
    accepted(sequence(&mut game, plan(&[(2, 5)])));
    let cancelled = sequence(&mut game, plan(&[])).to_json();
    assert_eq!((&cancelled["ok"], &cancelled["acks"]), (&json!(true), &json!([])));
    run(&mut game, 3);
    let marks: Vec<i64> = told.marks().into_iter().map(|(_, _, n)| n).collect();
    assert_eq!(marks, [1, 4]);
}

/// §4, §9: steps are dropped once the controller is no longer an agent and once `act` is revoked, for good.
#[test]
fn a_sequence_ends_with_the_agents_right_to_act() {
    type Lose = fn(&mut Match);
    let losses: [Lose; 3] = [
        |game| {
            game.set_controller(&lead("a"), Controller::Human).unwrap();
            game.set_controller(&lead("a"), Controller::Agent).unwrap();
        },
        |game| {
            game.set_scopes(&lead("a"), &json!(["policy"])).unwrap();
            game.set_scopes(&lead("a"), &json!(["act"])).unwrap();
        },
        |game| {
            // The other seat of the side is not the last one of its owner, so the side stays ann's.
            game.assign(&lead("a"), agent("bob")).unwrap();
            game.assign(&lead("a"), agent("ann")).unwrap();
        },
    ];
    for lose in losses {
        let (mut game, told) = with_agents();
        accepted(sequence(&mut game, plan(&[(0, 1), (3, 2)])));
        run(&mut game, 1);
        lose(&mut game);
        run(&mut game, 6);
        assert_eq!(told.marks().len(), 1);
    }
}

/// §9, §15.3: the first visible event of a named kind cancels; a hidden one never does, nor one from before.
#[test]
fn only_an_event_that_the_seat_may_see_cancels() {
    let cry = |to: &str, what: &str| json!({ "kind": "cry", "to": to, "what": what });
    let (mut game, told) = with_agents();
    game.assign(&lead("b"), human("bob")).unwrap();
    act(&mut game, &lead("b"), Right::Owner, cry("a", "alarm"));
    let careful = || Plan { cancel_on: vec!["alarm".into()], ..plan(&[(1, 1), (4, 2)]) };
    accepted(sequence(&mut game, careful()));
    run(&mut game, 2);
    assert_eq!(told.marks().len(), 1, "an event from before the plan cancels nothing");
    act(&mut game, &lead("b"), Right::Owner, cry("b", "alarm"));
    act(&mut game, &lead("b"), Right::Owner, cry("a", "calm"));
    run(&mut game, 4);
    assert_eq!(told.marks().len(), 2, "neither a hidden event nor one of another kind cancels");
    accepted(sequence(&mut game, careful()));
    run(&mut game, 2);
    act(&mut game, &lead("b"), Right::Owner, cry("a", "alarm"));
    run(&mut game, 4);
    assert_eq!(told.marks().len(), 3, "the visible one does");
}

/// §9: acceptance promises nothing of the rules; a refused step leaves the rest, and each intent pays for itself when due.
#[test]
fn a_due_intent_passes_rate_and_rules_like_any_other() {
    let mut game = Drill::new(Clock::Realtime);
    game.control.intents.burst = 2;
    game.control.intents.per_second = 0.01;
    let (mut game, told) = drill(game, config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    let mut plan = plan(&[(0, 1), (2, 2), (4, 3)]);
    plan.steps[0].intents = vec![json!({ "kind": "refuse" })];
    accepted(sequence(&mut game, plan));
    run(&mut game, 6);
    assert_eq!(told.marks(), [(2, "lead".to_owned(), 2)], "the second token went to the second step");
}

/// §8: an active sequence is presence, and its end is the end of that.
#[test]
fn an_active_sequence_keeps_its_agent_present() {
    let (mut game, _) = with_agents();
    let active = |game: &Match| game.seats_json(10 * PRESENCE_MS)[0]["agentActive"].clone();
    assert_eq!(active(&game), false);
    accepted(sequence(&mut game, plan(&[(2, 1)])));
    assert_eq!(active(&game), true);
    run(&mut game, 3);
    assert_eq!(active(&game), false);
}

/// §9, §10: in a game of turns a tick is an accepted intent, so a plan goes on as others move.
#[test]
fn in_a_game_of_turns_a_plan_counts_moves() {
    let (mut game, told) = drill(Drill::new(Clock::Turns), config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.assign(&lead("b"), human("bob")).unwrap();
    let settle = |game: &mut Match| {
        while game.wants_round() {
            tick(game, 0);
        }
    };
    accepted(sequence(&mut game, plan(&[(0, 1), (2, 2)])));
    settle(&mut game);
    act(&mut game, &lead("b"), Right::Owner, mark(7));
    settle(&mut game);
    let marks: Vec<(u64, i64)> = told.marks().into_iter().map(|(tick, _, n)| (tick, n)).collect();
    assert_eq!(marks, [(0, 1), (1, 7), (2, 2)]);
}

/// §4: arguments out of shape are refused as a whole, without a word of them.
#[test]
fn malformed_arguments_of_a_sequence_are_invalid() {
    let (game, _) = with_agents();
    let step = json!({ "in": 1, "intents": [mark(1)] });
    let read = |args: Value| Call::parse(game.surface(), "sequence", &args);
    assert!(matches!(read(json!({ "steps": [step] })), Ok(Call::Sequence(_))));
    assert!(matches!(read(json!({ "steps": [{ "in": 2.0, "intents": [mark(1)] }] })), Ok(Call::Sequence(_))));
    let kinds = |kinds: Value| json!({ "steps": [], "cancelOn": kinds });
    for args in [
        json!(null),
        json!({}),
        json!({ "steps": {} }),
        json!({ "steps": [], "more": 1 }),
        json!({ "steps": [step, step, step, step, step] }),
        json!({ "steps": [{ "in": -1, "intents": [mark(1)] }] }),
        json!({ "steps": [{ "in": 0.5, "intents": [mark(1)] }] }),
        json!({ "steps": [{ "in": 21, "intents": [mark(1)] }] }),
        json!({ "steps": [{ "in": 1, "intents": [] }] }),
        json!({ "steps": [{ "in": 1, "intents": vec![mark(1); 65] }] }),
        json!({ "steps": [{ "in": 1 }] }),
        json!({ "steps": [{ "in": 1, "intents": [mark(1)], "if": true }] }),
        kinds(json!(["alarm", "alarm"])),
        kinds(json!(["undeclared"])),
        kinds(json!(null)),
    ] {
        assert_eq!(read(args.clone()).unwrap_err().code, Code::Invalid, "{args}");
    }
}

/// §9: a plan for this very tick that comes while policies think reaches the game before the step of this tick.
#[test]
fn a_plan_for_this_tick_is_in_time_while_policies_think() {
    let (mut game, told) = with_agents();
    assert!(game.begin_round(0, &|_| None).is_empty());
    accepted(sequence(&mut game, plan(&[(0, 1), (2, 2)])));
    game.end_round(0);
    run(&mut game, 4);
    let marks: Vec<(u64, i64)> = told.marks().into_iter().map(|(tick, _, n)| (tick, n)).collect();
    assert_eq!(marks, [(0, 1), (2, 2)]);
}
