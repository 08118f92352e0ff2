//! §§4, 7, 8, 9: in which order the gates refuse, with what context intents reach the game, who acts for an absent agent,
//! and approvals that came too late.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::{Drill, Told};
use common::*;
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Clock, Context, Controller, Name, Runtime, Source};
use playerthree_session::{
    Artifact, Call, Code, Deploy, INTENTS_MAX, Match, Occupant, PRESENCE_MS, Right, Thought,
};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};

/// A drill whose buckets hold one intent and whose seats of side `a` are ann's agents'.
fn tight() -> (Match, Drill) {
    let mut game = Drill::new(Clock::Realtime);
    game.control.intents.burst = 1;
    game.control.intents.per_second = 0.01;
    let (mut game, told) = drill(game, config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.assign(&wing("a"), agent("ann")).unwrap();
    (game, told)
}

fn code(game: &mut Match, right: Right, intent: Value) -> String {
    act(game, &wing("a"), right, intent).code().to_owned()
}

/// §9: schema, role, scope, controller, the end, rate, game: whoever fails several gates hears of the first alone.
#[test]
fn an_intent_that_fails_several_gates_hears_of_the_first() {
    let (mut game, told) = tight();
    let wing = wing("a");
    let lead_only = json!({ "kind": "cry", "to": "a", "what": "calm" });
    let refused = json!({ "kind": "refuse" });
    // Everything is wrong at once; then one fault after the other goes away.
    assert_eq!(
        act(&mut game, &lead("a"), Right::Agent, json!({ "kind": "settle", "side": "a", "as": "loss" }))
            .code(),
        "ok"
    );
    tick(&mut game, 0);
    game.set_scopes(&wing, &json!([])).unwrap();
    game.set_controller(&wing, Controller::Bot).unwrap();
    assert_eq!(code(&mut game, Right::Agent, json!({ "kind": "cry", "to": 7 })), "invalid");
    assert_eq!(code(&mut game, Right::Agent, lead_only), "forbidden_role");
    assert_eq!(code(&mut game, Right::Agent, refused.clone()), "out_of_scope");
    game.set_scopes(&wing, &json!(["act"])).unwrap();
    assert_eq!(code(&mut game, Right::Agent, refused.clone()), "not_controller");
    game.set_controller(&wing, Controller::Agent).unwrap();
    assert_eq!(code(&mut game, Right::Agent, refused.clone()), "game_over");

    let (mut game, _) = tight();
    assert_eq!(code(&mut game, Right::Agent, refused.clone()), "no");
    assert_eq!(code(&mut game, Right::Agent, refused), "rate_limited");
    let reached = |told: &Told| matches!(told, Told::Applied { seat, context, .. } if *seat == wing && context.source == Source::Agent);
    assert!(!told.told().iter().any(reached), "no refused intent reached the game");
}

/// §9: a gate before the rate takes no token; the rate comes back with time, and each side of a seat has its own.
#[test]
fn a_refusal_before_the_rate_gate_costs_nothing() {
    let (mut game, _) = tight();
    for _ in 0..3 {
        assert_eq!(code(&mut game, Right::Agent, json!({ "kind": "mark" })), "invalid");
    }
    assert_eq!(code(&mut game, Right::Agent, mark(1)), "ok");
    let later = |game: &mut Match, now| {
        game.act(&wing("a"), Right::Agent, &[mark(1)], now).unwrap()[0].code().to_owned()
    };
    assert_eq!(later(&mut game, 99_000), "rate_limited");
    assert_eq!(later(&mut game, 100_100), "ok", "a hundredth of an intent a second");
    game.assign(&wing("a"), human("ann")).unwrap();
    assert_eq!(code(&mut game, Right::Owner, mark(1)), "ok", "the owner's bucket is another one");
}

/// §4 `act`: none to 64 intents in process, and a game that breaks its own contract is `internal`.
#[test]
fn a_call_takes_none_to_64_intents() {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&wing("a"), agent("ann")).unwrap();
    let acks = |game: &mut Match, many| game.act(&wing("a"), Right::Agent, &vec![mark(1); many], 0);
    assert_eq!(acks(&mut game, 0).unwrap().len(), 0);
    assert_eq!(acks(&mut game, INTENTS_MAX).unwrap().len(), 64);
    assert_eq!(acks(&mut game, INTENTS_MAX + 1).unwrap_err().code, Code::Invalid);
    let broken = game.act(&wing("a"), Right::Agent, &[json!({ "kind": "break" })], 0);
    assert_eq!(broken.unwrap_err().code, Code::Internal);
}

fn contexts(told: &Drill, n: i64) -> Vec<Context> {
    let context = |told: &Told| match told {
        Told::Applied { intent, context, .. } if *intent == mark(n) => Some(context.clone()),
        _ => None,
    };
    told.told().iter().filter_map(context).collect()
}

/// §4 "Owner control": an owner's intent carries the roles of the side that they hold in person, nobody else's any.
#[test]
fn an_owners_intent_carries_the_roles_that_they_hold_in_person() {
    let (mut game, told) = drill(Drill::new(Clock::Realtime), config());
    let roles =
        |list: &[&str]| -> Option<Vec<Name>> { Some(list.iter().map(|role| (*role).into()).collect()) };
    game.assign(&lead("a"), human("ann")).unwrap();
    game.assign(&wing("a"), human("bob")).unwrap();
    act(&mut game, &lead("a"), Right::Owner, mark(1));
    game.assign(&wing("a"), human("ann")).unwrap();
    act(&mut game, &wing("a"), Right::Owner, mark(2));
    // Handing the controller on does not end the hold.
    game.set_controller(&lead("a"), Controller::Agent).unwrap();
    act(&mut game, &wing("a"), Right::Owner, mark(3));
    act(&mut game, &lead("a"), Right::Agent, mark(4));
    let expected = [
        (1, Source::Owner, roles(&["lead"])),
        (2, Source::Owner, roles(&["lead", "wing"])),
        (3, Source::Owner, roles(&["lead", "wing"])),
        (4, Source::Agent, None),
    ];
    for (n, source, owner_roles) in expected {
        assert_eq!(contexts(&told, n), [Context { source, owner_roles }], "{n}");
    }
}

fn activate(game: &mut Match, seat: &playerthree_game::Seat) {
    let artifact = Artifact { runtime: Runtime::Js, code: b"function think() {}".as_slice().into() };
    let Deploy::Probe(activation) = game.deploy(seat, artifact).unwrap() else { panic!("an approval") };
    game.activated(seat, &activation, &Ok(Thought::default()));
}

fn mandate(autonomy: &str, when_absent: &str) -> Value {
    json!({ "autonomy": autonomy, "directive": {}, "whenAbsent": when_absent })
}

/// One tick in which the policy of `lead` of side `a`, if it is asked, marks 5; who marked what in it, by source.
fn sources(game: &mut Match, told: &Drill, now: u64) -> Vec<Source> {
    let before = told.told().len();
    for think in game.begin_round(now, &|_| Some(Vec::new())) {
        let thought = Thought { intents: vec![mark(5)], ..Thought::default() };
        game.thought(&think.seat, Ok(thought));
    }
    game.end_round(now);
    let source = |told: &Told| match told {
        Told::Applied { seat, context, .. } if *seat == lead("a") => Some(context.source),
        _ => None,
    };
    told.told()[before..].iter().filter_map(source).collect()
}

/// §8, row by row: what reaches the game for a seat whose agent is present or absent, and from which source.
#[test]
fn what_acts_for_an_agents_seat_reaches_the_game_with_its_source() {
    let rows = [
        // whenAbsent, deployed, present: then absent
        ("policy", false, vec![], vec![Source::Fallback]),
        ("policy", true, vec![Source::Policy], vec![Source::Policy]),
        ("bot", true, vec![Source::Policy], vec![Source::Fallback]),
        ("hold", true, vec![Source::Policy], vec![]),
    ];
    for (when_absent, deployed, present, absent) in rows {
        let (mut game, told) = drill(Drill::new(Clock::Realtime), config());
        game.assign(&lead("a"), agent("ann")).unwrap();
        game.set_mandate(&lead("a"), &mandate("autonomous", when_absent)).unwrap();
        if deployed {
            activate(&mut game, &lead("a"));
        }
        game.agent_call_started(&lead("a"), 0);
        game.agent_call_ended(&lead("a"), 0);
        assert_eq!(sources(&mut game, &told, 1), present, "present, {when_absent}, {deployed}");
        assert_eq!(sources(&mut game, &told, PRESENCE_MS), absent, "absent, {when_absent}, {deployed}");
        let seat = &game.seats_json(PRESENCE_MS)[0];
        assert_eq!((&seat["controller"], &seat["agentActive"]), (&json!("agent"), &json!(false)));
    }
}

/// §8: a bot that holds the seat is no fallback, and a held or empty seat has none.
#[test]
fn a_bot_that_holds_the_seat_acts_as_a_bot() {
    let (mut game, told) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), human("ann")).unwrap();
    assert_eq!(sources(&mut game, &told, 0), []);
    game.set_controller(&lead("a"), Controller::Bot).unwrap();
    assert_eq!(sources(&mut game, &told, 0), [Source::Bot]);
    game.set_controller(&lead("a"), Controller::None).unwrap();
    assert_eq!(sources(&mut game, &told, 0), []);
}

/// §8: what acts is decided once, at the beginning of the thinking phase, and holds for the tick.
#[test]
fn one_decision_holds_for_the_whole_tick() {
    let (mut game, told) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    activate(&mut game, &lead("a"));
    let think = |game: &mut Match| {
        let asked = game.begin_round(PRESENCE_MS, &|_| Some(Vec::new()));
        asked.into_iter().map(|think| think.seat).collect::<Vec<_>>()
    };
    assert_eq!(think(&mut game), [lead("a")], "absent: the policy acts");
    game.set_mandate(&lead("a"), &mandate("autonomous", "hold")).unwrap();
    game.heartbeat(PRESENCE_MS);
    game.thought(&lead("a"), Ok(Thought { intents: vec![mark(5)], ..Thought::default() }));
    game.end_round(PRESENCE_MS);
    assert_eq!(contexts(&told, 5).len(), 1, "the decision of this tick");
    assert_eq!(think(&mut game), [], "the next tick is decided anew");
    game.end_round(PRESENCE_MS);
}

/// §7: a deploy request pins the next version; once that is taken, agreeing fails, replaces nothing and wakes the agent.
#[test]
fn a_request_whose_version_was_taken_fails() {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    let seat = lead("a");
    game.assign(&seat, agent("ann")).unwrap();
    game.set_mandate(&seat, &mandate("supervised", "policy")).unwrap();
    let artifact = Artifact { runtime: Runtime::Js, code: b"function think() {}".as_slice().into() };
    let Deploy::Approval(request) = game.deploy(&seat, artifact).unwrap() else { panic!("a probe") };
    assert_eq!(request["approval"]["version"], 1);
    game.set_mandate(&seat, &mandate("autonomous", "policy")).unwrap();
    activate(&mut game, &seat);
    let id = request["approval"]["id"].as_str().unwrap();
    assert_eq!(game.resolve_approval(&seat, id, true).unwrap_err().code, Code::ApprovalFailed);
    let status = game.policy_status(&seat).unwrap();
    assert_eq!((&status["version"], &status["approval"]["status"]), (&json!(1), &json!("failed")));
    assert_eq!(game.resolve_approval(&seat, id, true).unwrap_err().code, Code::ApprovalNotFound);
}

/// The numbers that the policy of `lead` of side `a` marked since `before`.
fn marked(told: &Drill, before: usize) -> Vec<Value> {
    let mark = |told: &Told| match told {
        Told::Applied { intent, context, .. } if context.source == Source::Policy => {
            Some(intent["n"].clone())
        }
        _ => None,
    };
    told.told()[before..].iter().filter_map(mark).collect()
}

fn thinks(game: &mut Match) -> usize {
    game.begin_round(0, &|_| Some(Vec::new())).len()
}

fn marking(n: i64) -> Thought {
    Thought { intents: vec![mark(n)], ..Thought::default() }
}

/// §8, §9: what a policy answered ends with its hold and with its version, although the round waits for another's answer.
#[test]
fn an_answer_acts_neither_for_the_next_holder_nor_for_the_next_version() {
    let replaced: [fn(&mut Match); 2] = [
        |game| activate(game, &lead("a")),
        |game| {
            game.assign(&lead("a"), agent("eve")).unwrap();
            activate(game, &lead("a"));
        },
    ];
    for replace in replaced {
        let (mut game, told) = drill(Drill::new(Clock::Realtime), config());
        for (side, name) in [("a", "ann"), ("b", "bob")] {
            game.assign(&lead(side), agent(name)).unwrap();
            activate(&mut game, &lead(side));
        }
        assert_eq!(thinks(&mut game), 2);
        game.thought(&lead("a"), Ok(marking(5)));
        replace(&mut game);
        game.thought(&lead("b"), Ok(marking(6)));
        assert!(game.round_is_complete());
        game.end_round(0);
        assert_eq!(marked(&told, 0), [json!(6)]);
        assert_eq!(game.policy_status(&lead("a")).unwrap()["calls"], 0);
    }
}

/// §10: a policy's answer to a position of a game of turns that somebody has moved on from is not played; the policy is
/// asked about the present one.
#[test]
fn an_answer_to_an_earlier_position_is_not_played() {
    let (mut game, told) = drill(Drill::new(Clock::Turns), config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.assign(&lead("b"), human("bob")).unwrap();
    game.set_mandate(&lead("a"), &mandate("autonomous", "policy")).unwrap();
    activate(&mut game, &lead("a"));
    assert_eq!(thinks(&mut game), 1);
    act(&mut game, &lead("b"), Right::Owner, mark(1));
    game.thought(&lead("a"), Ok(marking(5)));
    game.end_round(0);
    assert_eq!((game.tick(), marked(&told, 0)), (1, Vec::new()));
    assert!(game.wants_round());
    assert_eq!(thinks(&mut game), 1);
    game.thought(&lead("a"), Ok(marking(7)));
    game.end_round(0);
    assert_eq!((game.tick(), marked(&told, 0)), (2, vec![json!(7)]));
}

/// §3, §4: an integer of a call's arguments is one however it is spelled; it is never dropped.
#[test]
fn integers_of_a_calls_arguments_are_integers_however_they_are_spelled() {
    let surface = surface(AgentCommand);
    let read = |method: &str, args: Value| Call::parse(&surface, method, &args).unwrap();
    let cases = [
        ("observe", json!({ "since": 3 }), json!({ "since": 3.0 })),
        ("observe", json!({ "page": 2 }), json!({ "page": 2.0 })),
        ("briefing", json!({ "topic": "intents", "page": 2 }), json!({ "topic": "intents", "page": 2.0 })),
        (
            "skill",
            json!({ "name": "a", "path": "b", "offset": 20_000 }),
            json!({ "name": "a", "path": "b", "offset": 2e4 }),
        ),
        ("policyRollback", json!({ "version": 1 }), json!({ "version": 1.0 })),
        (
            "practice",
            json!({ "opponent": "recruit", "ticks": 9, "seed": 5 }),
            json!({ "opponent": "recruit", "ticks": 9.0, "seed": 5.0 }),
        ),
    ];
    for (method, plain, spelled) in cases {
        assert_eq!(read(method, spelled), read(method, plain), "{method}");
    }
}

/// §4, §3: `until` names at most 16 declared kinds, each once; a call takes no more intents than the bucket holds.
#[test]
fn lists_of_a_calls_arguments_are_bounded() {
    let surface = surface(TicTacToe);
    let refused = |method: &str, args: Value| Call::parse(&surface, method, &args).unwrap_err().code;
    let kind = &*surface.manifest.event_kinds()[0];
    assert!(Call::parse(&surface, "wait", &json!({ "seconds": 1, "until": [kind] })).is_ok());
    for until in [json!([kind, kind]), json!(vec![kind; 17]), json!(["never"]), json!(kind)] {
        assert_eq!(refused("wait", json!({ "seconds": 1, "until": until })), Code::Invalid);
    }
    let burst = surface.manifest.control.intents.burst as usize;
    assert!(burst < INTENTS_MAX);
    let act = |count: usize| json!({ "intents": vec![json!({}); count] });
    assert!(Call::parse(&surface, "act", &act(burst)).is_ok());
    assert_eq!(refused("act", act(burst + 1)), Code::Invalid);
    assert_eq!(refused("act", act(0)), Code::Invalid);
}

/// §20.1: trusted operations on a side outside the match are invalid.
#[test]
fn settings_of_a_seat_outside_the_match_are_invalid() {
    let mut game = agent_command(config());
    let outside = playerthree_game::Seat::new("gold", "ground");
    let (_, mandate) = game.terms(&playerthree_game::Seat::new("red", "ground")).unwrap();
    for refused in [
        game.set_controller(&outside, Controller::Bot),
        game.set_mandate(&outside, &mandate),
        game.set_scopes(&outside, &json!([])),
    ] {
        assert_eq!(refused.unwrap_err().code, Code::Invalid);
    }
}

/// §8, §10: in a game of turns a policy answers the move that a bot made in the same round, and the game goes on.
#[test]
fn a_policy_of_a_game_of_turns_answers_a_bot() {
    let mut game = tic_tac_toe(config());
    game.assign(&x(), Occupant::Bot("random".into())).unwrap();
    game.assign(&o(), agent("bob")).unwrap();
    game.agent_call_started(&o(), 0);
    activate(&mut game, &o());
    let free = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)];
    for _ in 0..9 {
        if !game.wants_round() {
            break;
        }
        for think in game.begin_round(0, &|_| Some(Vec::new())) {
            // It tries every field; the first one that is free is its move.
            let intents = free.into_iter().map(|(row, col)| place(row, col)).collect();
            game.thought(&think.seat, Ok(Thought { intents, ..Thought::default() }));
        }
        game.end_round(0);
    }
    assert!(game.is_over(), "it stands still at tick {}", game.tick());
}
