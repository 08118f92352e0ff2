//! §18: a seat whose owner chose `pause` holds the session while its agent is absent, and nothing else does.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::drill::{Drill, Told};
use common::*;
use playerthree_game::{Clock, Controller, PauseLimits, Seat, Source};
use playerthree_session::{
    Code, Config, Ending, Match, Occupant, PRESENCE_MS, Plan, PlanStep, Position, Right, Settings, Waiting,
    replay_match,
};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// What `config()` starts the match clock at, in milliseconds since 1970.
const EPOCH: u64 = 1_000_000;

fn pausable(clock: Clock, longest: Option<u32>) -> Drill {
    let mut game = Drill::new(clock);
    game.control.pausable = Some(PauseLimits { max_pause_seconds: longest });
    game
}

/// The mandate of a seat with another `whenAbsent`.
fn when_absent(game: &Match, seat: &Seat, absent: &str) -> Value {
    let (_, mut mandate) = game.terms(seat).unwrap();
    mandate["whenAbsent"] = json!(absent);
    mandate
}

/// A match in which Ann's agent leads side a and pauses the session while it is absent; Bob plays for side b in person.
fn waiting_for_ann(game: Drill) -> (Match, Drill) {
    let (mut game, told) = drill(game, config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.assign(&lead("b"), human("bob")).unwrap();
    let mandate = when_absent(&game, &lead("a"), "pause");
    game.set_mandate(&lead("a"), &mandate).unwrap();
    (game, told)
}

/// A call of the seat's agent that is over at once.
fn calls(game: &mut Match, seat: &Seat, now: u64) {
    game.agent_call_started(seat, now);
    game.agent_call_ended(seat, now);
}

fn shown(game: &Match, seat: &Seat, now: u64) -> Value {
    let is_it = |info: &Value| info["team"] == *seat.team && info["role"] == *seat.role;
    game.seats_json(now).into_iter().find(is_it).unwrap()
}

/// §18, §7: only games that declare `pausable` know `pause`, wherever a mandate is set.
#[test]
fn a_mandate_pauses_only_in_a_game_that_is_pausable() {
    let (mut plain, _) = drill(Drill::new(Clock::Realtime), config());
    plain.assign(&lead("a"), agent("ann")).unwrap();
    let before = plain.terms(&lead("a")).unwrap();
    let mandate = when_absent(&plain, &lead("a"), "pause");
    assert_eq!(plain.set_mandate(&lead("a"), &mandate).unwrap_err().code, Code::Invalid);
    assert_eq!(plain.terms(&lead("a")).unwrap(), before);
    let patch = json!({ "mandate": { "whenAbsent": "pause" } });
    let settings = Settings::usual(plain.surface());
    assert_eq!(settings.patched(plain.surface(), &patch).unwrap_err().code, Code::Invalid);

    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    assert_eq!(game.terms(&lead("a")).unwrap().1["whenAbsent"], "pause");
    let patched = Settings::usual(game.surface()).patched(game.surface(), &patch).unwrap();
    assert_eq!(patched.to_json()["mandate"]["whenAbsent"], "pause");
    let mandate = when_absent(&game, &lead("a"), "stop");
    assert_eq!(game.set_mandate(&lead("a"), &mandate).unwrap_err().code, Code::Invalid);
}

/// §18, §8: the session stands still from the first tick that finds the agent absent until it calls.
#[test]
fn the_session_stands_still_until_the_agent_calls() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    assert!(!game.is_paused(), "nothing is decided before a tick is due");
    tick(&mut game, 100);
    tick(&mut game, 200);
    assert_eq!((game.tick(), game.is_paused(), game.wants_round()), (0, true, false));
    assert_eq!(shown(&game, &lead("a"), 200)["mode"], "held");
    calls(&mut game, &lead("a"), 500);
    assert_eq!((game.is_paused(), game.wants_round()), (false, true));
    tick(&mut game, 600);
    assert_eq!((game.tick(), shown(&game, &lead("a"), 600)["mode"].clone()), (1, json!("live")));
    tick(&mut game, 500 + PRESENCE_MS - 1);
    assert_eq!((game.tick(), game.is_paused()), (2, false), "present for 30 seconds");
    tick(&mut game, 500 + PRESENCE_MS);
    assert_eq!((game.tick(), game.is_paused()), (2, true));
}

/// §8, §18: a call in flight and a running sequence are presence, so neither pauses.
#[test]
fn a_wait_in_flight_and_a_plan_hold_nothing() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    game.agent_call_started(&lead("a"), 0);
    tick(&mut game, 10 * PRESENCE_MS);
    assert_eq!(game.tick(), 1);
    game.agent_call_ended(&lead("a"), 0);
    let steps = vec![PlanStep { after: 2, intents: vec![mark(1)] }];
    game.sequence(&lead("a"), Right::Agent, Plan { steps, cancel_on: Vec::new() }, 0).unwrap();
    for _ in 0..4 {
        tick(&mut game, 10 * PRESENCE_MS);
    }
    assert_eq!((game.tick(), game.is_paused()), (4, true), "until the plan's last step");
}

/// §18: what is paused, since when, for how long and by whom, on the wire; clocks in milliseconds since 1970.
#[test]
fn whoever_sees_the_match_live_sees_what_holds_it() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, Some(60)));
    calls(&mut game, &lead("a"), 0);
    tick(&mut game, 100);
    game.take_changes();
    tick(&mut game, PRESENCE_MS + 7);
    let since = EPOCH + PRESENCE_MS + 7;
    let pause = json!({ "reason": "agent_absent", "tick": 1, "since": since, "until": since + 60_000 });
    let mut held = pause.clone();
    held["team"] = json!("a");
    held["role"] = json!("lead");
    let paused = json!({ "tick": 1, "since": since, "seats": [held] });
    assert_eq!((game.paused(), &game.status()["paused"]), (Some(paused.clone()), &paused));
    // §17: the status of each seat too, whoever holds the session.
    assert_eq!(game.seat_status(&lead("b")).unwrap().to_json(1)["paused"], paused);
    let now = PRESENCE_MS + 7;
    let lists = [
        game.seats_json(now),
        game.seats_json_for(&owner("bob"), now),
        game.seats_json_for(&owner("ann"), now),
    ];
    for seats in lists {
        let pauses: Vec<&Value> = seats.iter().filter_map(|seat| seat.get("pause")).collect();
        assert_eq!(pauses, [&pause]);
    }
    // §20.9: listings are for observers too, and tell nothing of the present tick.
    assert!(game.listed_seats_json(now).iter().all(|seat| seat.get("pause").is_none()));
    let changes = game.take_changes();
    assert!(changes.seats && changes.status);
    calls(&mut game, &lead("a"), now);
    let changes = game.take_changes();
    assert!(changes.seats && changes.status);
    assert_eq!((game.paused(), game.status().get("paused")), (None, None));
}

/// §18: a pause without a limit lasts, and two seats hold the session until both let go.
#[test]
fn a_session_is_paused_while_any_seat_holds_it() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    game.assign(&wing("a"), agent("ann")).unwrap();
    let mandate = when_absent(&game, &wing("a"), "pause");
    game.set_mandate(&wing("a"), &mandate).unwrap();
    calls(&mut game, &wing("a"), 0);
    tick(&mut game, 1_000);
    let held = |game: &Match| game.paused().unwrap()["seats"].as_array().unwrap().len();
    assert_eq!(held(&game), 1);
    // §18: while paused the host decides again with time alone.
    game.heartbeat(PRESENCE_MS);
    assert_eq!(
        (held(&game), game.paused().unwrap()["since"].clone()),
        (2, json!(EPOCH)),
        "since a call found it so"
    );
    game.heartbeat(1_000_000 * PRESENCE_MS);
    assert_eq!(held(&game), 2, "nothing but presence or an owner ends it");
    calls(&mut game, &lead("a"), 1_000_000 * PRESENCE_MS);
    assert_eq!((held(&game), game.is_paused()), (1, true));
    calls(&mut game, &wing("a"), 1_000_000 * PRESENCE_MS);
    assert!(!game.is_paused());
}

/// §18: nothing is decided while a tick executes; who turns absent in it acts like `hold` for the rest of it.
#[test]
fn a_tick_that_executes_is_not_paused() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    game.assign(&lead("c"), agent("cid")).unwrap();
    deploy(&mut game, &lead("c"), "a policy");
    calls(&mut game, &lead("a"), 0);
    let thinks = game.begin_round(100, &|_| Some(Vec::new()));
    assert_eq!(thinks.len(), 1);
    calls(&mut game, &lead("c"), PRESENCE_MS);
    game.heartbeat(PRESENCE_MS);
    game.settle_pause(PRESENCE_MS);
    assert_eq!(
        (game.is_paused(), shown(&game, &lead("a"), PRESENCE_MS)["mode"].clone()),
        (false, json!("held"))
    );
    game.thought(&lead("c"), thought(&[mark(3)]));
    game.end_round(PRESENCE_MS);
    assert_eq!((game.tick(), game.is_paused()), (1, false));
    tick(&mut game, PRESENCE_MS);
    assert_eq!((game.tick(), game.is_paused()), (1, true));
}

/// §18, §4: a paused session takes no intent and no plan, whoever sends it, and its game hears of none.
#[test]
fn nobody_acts_in_a_paused_session() {
    let (mut game, told) = waiting_for_ann(pausable(Clock::Realtime, None));
    game.assign(&lead("c"), agent("cid")).unwrap();
    game.assign(&lead("d"), Occupant::Bot("dummy".into())).unwrap();
    tick(&mut game, 0);
    calls(&mut game, &lead("c"), 0);
    for (seat, right) in [(lead("b"), Right::Owner), (lead("c"), Right::Agent)] {
        assert_eq!(game.act(&seat, right, &[mark(1)], 0).unwrap_err().code, Code::Paused);
    }
    let steps = vec![PlanStep { after: 0, intents: vec![mark(1)] }];
    let planned = game.sequence(&lead("c"), Right::Agent, Plan { steps, cancel_on: Vec::new() }, 0);
    assert_eq!(planned.unwrap_err().code, Code::Paused);
    tick(&mut game, 100);
    assert!(!told.told().iter().any(|told| matches!(told, Told::Applied { .. } | Told::Stepped(_))));
}

/// §18: a change of controller, mandate or occupant ends the seat's hold.
#[test]
fn the_owner_ends_a_pause_by_changing_the_seat() {
    type Change = fn(&mut Match);
    let changes: [Change; 4] = [
        |game| game.set_controller(&lead("a"), Controller::Bot).unwrap(),
        |game| {
            let mandate = when_absent(game, &lead("a"), "hold");
            game.set_mandate(&lead("a"), &mandate).unwrap();
        },
        |game| _ = game.assign(&lead("a"), Occupant::Nobody).unwrap(),
        |game| _ = game.assign(&lead("a"), agent("cid")).unwrap(),
    ];
    for change in changes {
        let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
        tick(&mut game, 0);
        assert!(game.is_paused());
        change(&mut game);
        game.settle_pause(10);
        assert_eq!((game.is_paused(), game.paused()), (false, None));
        tick(&mut game, 10);
        assert_eq!(game.tick(), 1);
    }
}

/// §18: an owner's word that still says `pause` keeps the pause, and begins no new one.
#[test]
fn a_pause_goes_on_through_settings_that_keep_it() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, Some(60)));
    tick(&mut game, 0);
    let before = game.paused();
    let mut mandate = when_absent(&game, &lead("a"), "pause");
    mandate["autonomy"] = json!("supervised");
    game.set_mandate(&lead("a"), &mandate).unwrap();
    game.settle_pause(30_000);
    assert_eq!(game.paused(), before);
}

/// §18: past the longest pause the seat acts as `policy` says, until its agent was there; a later absence pauses again.
#[test]
fn a_pause_that_ran_out_leaves_the_seat_to_its_policy_or_bot() {
    for (deployed, mode) in [(false, "bot"), (true, "policy")] {
        let (mut game, told) = waiting_for_ann(pausable(Clock::Realtime, Some(60)));
        if deployed {
            deploy(&mut game, &lead("a"), "a policy");
        }
        tick(&mut game, 0);
        game.heartbeat(59_999);
        assert!(game.is_paused());
        game.heartbeat(60_000);
        assert_eq!(
            (game.is_paused(), shown(&game, &lead("a"), 60_000)["mode"].clone()),
            (false, json!(mode))
        );
        for _ in 0..3 {
            game.begin_round(1_000_000, &|_| None);
            game.end_round(1_000_000);
        }
        assert_eq!((game.tick(), game.is_paused()), (3, false));
        let fell_back =
            |told: &Told| matches!(told, Told::Applied { context, .. } if context.source == Source::Fallback);
        assert_eq!(told.told().iter().any(fell_back), !deployed);
        calls(&mut game, &lead("a"), 2_000_000);
        assert_eq!(shown(&game, &lead("a"), 2_000_000)["mode"], "live");
        tick(&mut game, 2_000_000 + PRESENCE_MS);
        assert_eq!(game.paused().unwrap()["seats"][0]["until"], EPOCH + 2_000_000 + PRESENCE_MS + 60_000);
    }
}

/// §18: the owner's word begins a pause anew that ran out; the same word again does not.
#[test]
fn an_owner_renews_a_pause_that_ran_out_by_changing_the_seat() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, Some(60)));
    tick(&mut game, 0);
    game.heartbeat(60_000);
    let same = when_absent(&game, &lead("a"), "pause");
    game.set_mandate(&lead("a"), &same).unwrap();
    game.settle_pause(60_000);
    assert!(!game.is_paused());
    let mut changed = same;
    changed["autonomy"] = json!("supervised");
    game.set_mandate(&lead("a"), &changed).unwrap();
    game.settle_pause(61_000);
    assert_eq!(game.paused().unwrap()["seats"][0]["until"], EPOCH + 121_000);
}

/// §18: game time stands still, so a wait ends after its seconds by the clock.
#[test]
fn a_wait_in_a_paused_session_ends_by_the_clock() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    done(wait_for(&mut game, &lead("b"), Right::Owner, 0, &[], 0));
    tick(&mut game, 0);
    pending(wait_for(&mut game, &lead("b"), Right::Owner, 5_000, &["alarm"], 1_000));
    game.heartbeat(5_999);
    assert!(game.take_changes().waits.is_empty());
    game.heartbeat(6_000);
    let (_, answer) = game.take_changes().waits.pop().unwrap();
    assert_eq!((game.is_paused(), answer.unwrap()["tick"].clone()), (true, json!(0)));
}

/// §18: a game of turns notices an absence without a tick, plays no move meanwhile, and goes on with the agent's own call.
#[test]
fn a_game_of_turns_stands_still_for_its_absent_player() {
    let (mut game, told) = waiting_for_ann(pausable(Clock::Turns, None));
    game.assign(&lead("c"), Occupant::Bot("dummy".into())).unwrap();
    let refused = game.act(&lead("b"), Right::Owner, &[mark(1)], 0);
    assert_eq!((refused.unwrap_err().code, game.is_paused()), (Code::Paused, true), "before a heartbeat too");
    game.heartbeat(250);
    assert!(!game.wants_round());
    game.agent_call_started(&lead("a"), 500);
    assert!(game.wants_round());
    game.act(&lead("a"), Right::Agent, &[mark(2)], 500).unwrap();
    game.agent_call_ended(&lead("a"), 500);
    assert_eq!(told.marks(), [(0, "lead".into(), 2)]);
    game.heartbeat(500 + PRESENCE_MS);
    assert_eq!((game.tick(), game.is_paused()), (1, true));
}

/// §10, §18: a side concedes while its session is paused; a game of turns hears the next tick once it goes on.
#[test]
fn a_concession_in_a_paused_game_of_turns_is_its_next_tick() {
    let (mut game, told) = waiting_for_ann(pausable(Clock::Turns, None));
    game.heartbeat(0);
    game.forfeit("b", 0).unwrap();
    assert_eq!((game.tick(), game.is_paused()), (0, true));
    assert!(told.told().contains(&Told::Forfeited(0, "b".into())));
    calls(&mut game, &lead("a"), 100);
    assert_eq!((game.tick(), game.status()["outcomes"]["b"].clone()), (1, json!("loss")));
    calls(&mut game, &lead("a"), 200);
    assert_eq!(game.tick(), 1, "one concession, one tick");
}

/// §10, §18: a paused game of turns is asked what a concession came to when it goes on, and not before, also where it knows
/// at once; so its replay fares as it did, and nothing but the game ends it.
#[test]
fn a_concession_that_a_paused_game_reports_at_once_counts_with_its_next_tick() {
    for concedes in [&["b"][..], &["a", "b", "c", "d"]] {
        let ranks = [("a", 1), ("b", 2), ("c", 3), ("d", 4)].into();
        let drill = Drill { loses_at_once: true, ranks, ..pausable(Clock::Turns, None) };
        let (mut game, told) = waiting_for_ann(drill);
        game.heartbeat(0);
        for team in concedes {
            game.forfeit(team, 0).unwrap();
            assert_eq!(game.status()["outcomes"][team], "running");
            assert!(replayed(&game).paused().iter().eq([&lead("a")]));
        }
        calls(&mut game, &lead("a"), 100);
        assert_eq!((game.tick(), game.is_over()), (1, concedes.len() == 4));
        assert!(concedes.iter().all(|team| game.status()["outcomes"][team] == "loss"));
        assert_eq!(replayed(&game).ranks().is_some(), game.is_over());
        assert!(!told.told().iter().any(|told| matches!(told, Told::Ended(..))));
    }
}

/// §18: an ended session is never paused, and a side that is out holds nobody up.
#[test]
fn what_is_out_of_play_holds_nothing() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    tick(&mut game, 0);
    assert!(game.is_paused());
    game.end(&Ending::Draw, 0).unwrap();
    assert_eq!((game.is_paused(), game.paused(), game.is_over()), (false, None, true));
    game.heartbeat(PRESENCE_MS);
    assert!(!game.is_paused());
    assert!(game.seats_json(0).iter().all(|seat| seat.get("pause").is_none()));

    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    calls(&mut game, &lead("a"), 0);
    game.forfeit("a", 0).unwrap();
    tick(&mut game, 0);
    tick(&mut game, PRESENCE_MS);
    assert_eq!((game.tick(), game.is_paused(), game.is_over()), (2, false, false));
}

/// §18, §4: a match that is held before its start is held, not paused; its absent agents pause it from the first tick on.
#[test]
fn a_held_match_is_not_paused() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, None));
    game.hold_start().unwrap();
    game.heartbeat(0);
    calls(&mut game, &lead("b"), 0);
    assert_eq!((game.is_paused(), game.status()["phase"].clone()), (false, json!("lobby")));
    game.start(0);
    tick(&mut game, 0);
    assert_eq!((game.is_paused(), game.tick()), (true, 0));
}

/// The transitions that the match recorded.
fn transitions(game: &Match) -> Vec<Value> {
    let replay: Value = serde_json::from_str(&game.replay().unwrap().to_text()).unwrap();
    let entries = replay["entries"].as_array().unwrap().iter();
    entries.filter(|entry| entry[3] == "pause" || entry[3] == "resume").cloned().collect()
}

/// §18, §10: each transition is recorded once, at its tick, with its closed reason.
#[test]
fn a_replay_keeps_every_transition_with_its_reason() {
    let (mut game, _) = waiting_for_ann(pausable(Clock::Realtime, Some(60)));
    tick(&mut game, 0);
    tick(&mut game, 100);
    calls(&mut game, &lead("a"), 200);
    tick(&mut game, 300);
    tick(&mut game, 200 + PRESENCE_MS);
    game.heartbeat(200 + PRESENCE_MS + 60_000);
    tick(&mut game, 100_000);
    calls(&mut game, &lead("a"), 100_000);
    tick(&mut game, 200_000);
    game.set_controller(&lead("a"), Controller::Human).unwrap();
    game.settle_pause(200_000);
    game.set_controller(&lead("a"), Controller::Agent).unwrap();
    game.settle_pause(200_000);
    game.assign(&lead("a"), Occupant::Nobody).unwrap();
    game.settle_pause(200_000);
    let pause = |tick: u64| json!([tick, "a", "lead", "pause", "agent_absent"]);
    let resume = |tick: u64, reason: &str| json!([tick, "a", "lead", "resume", reason]);
    let expected = [
        pause(0),
        resume(0, "present"),
        pause(1),
        resume(1, "timeout"),
        pause(2),
        resume(2, "owner"),
        pause(2),
        resume(2, "owner"),
    ];
    assert_eq!(transitions(&game), expected);
}

/// The match's replay, played to its end, which is the match's state.
fn replayed(game: &Match) -> Position {
    let replay = game.replay().unwrap();
    let watch = &mut |_| ControlFlow::Continue(());
    let end = replay_match(game.surface(), &replay, replay.ticks(), None, watch).unwrap();
    assert_eq!(end.state_hash(game.surface()).unwrap(), game.state_hash().unwrap());
    end
}

/// §18, §10: a replay of a session that stood still plays on past it, and says who holds it at its last tick.
#[test]
fn a_replay_says_who_holds_the_session() {
    for clock in [Clock::Realtime, Clock::Turns] {
        let (mut game, _) = waiting_for_ann(pausable(clock, Some(60)));
        tick(&mut game, 0);
        assert!(replayed(&game).paused().iter().eq([&lead("a")]));
        game.forfeit("b", 0).unwrap();
        game.heartbeat(60_000);
        assert!(replayed(&game).paused().is_empty());
        tick(&mut game, 60_000);
        calls(&mut game, &lead("a"), 60_000);
        tick(&mut game, 60_100);
        game.heartbeat(200_000);
        tick(&mut game, 200_000);
        assert!(game.tick() > 0 && game.is_paused());
        assert!(replayed(&game).paused().iter().eq([&lead("a")]));
        game.end(&Ending::Draw, 200_000).unwrap();
        assert!(replayed(&game).paused().is_empty(), "an ended session is never paused");
    }
}

/// §8: `hold` is not `pause`, and a game that could pause does not for it.
#[test]
fn a_seat_that_holds_still_lets_the_session_run() {
    let config = Config { bots: Some("dummy".into()), ..config() };
    let (mut game, _) = drill(pausable(Clock::Realtime, None), config);
    game.assign(&lead("a"), agent("ann")).unwrap();
    let mandate = when_absent(&game, &lead("a"), "hold");
    game.set_mandate(&lead("a"), &mandate).unwrap();
    tick(&mut game, 0);
    assert_eq!((game.tick(), shown(&game, &lead("a"), 0)["mode"].clone()), (1, json!("held")));
    assert!(matches!(wait_for(&mut game, &lead("a"), Right::Agent, 0, &[], 0), Waiting::Done(_)));
}
