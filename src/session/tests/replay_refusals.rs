//! §10, §18, §22.4: a replay that no match could have recorded is refused, each fault with an error of its own and no
//! part of what was sent.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, PauseLimits, Seat, SignalRefusal};
use playerthree_session::{
    ENTRIES_MAX, Ending, EntryFault, Match, REPLAY_BYTES_MAX, Replay, ReplayError, Right, Surface,
    replay_match,
};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Reads a replay and plays all of it.
fn execute(surface: &Surface, text: &str) -> Result<(), ReplayError> {
    let replay = Replay::read(surface, text)?;
    replay_match(surface, &replay, replay.ticks(), None, &mut |_| ControlFlow::Continue(()))?;
    Ok(())
}

fn envelope(game: &Match) -> Value {
    serde_json::from_str(&game.replay().unwrap().to_text()).unwrap()
}

/// Four ticks of a duel in which red's owner acted and asked for something.
fn duel() -> Match {
    let mut game = agent_command(config());
    let ground = Seat::new("red", "ground");
    game.assign(&ground, human("ann")).unwrap();
    for now in 0..4 {
        act(&mut game, &ground, Right::Owner, json!({ "kind": "stop", "units": [] }));
        tick(&mut game, now);
    }
    game
}

/// A replay of the drill that ended after four ticks, by its host's word.
fn drilled(ending: &Ending) -> (Match, Value) {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), human("ann")).unwrap();
    for now in 0..4 {
        tick(&mut game, now);
    }
    game.end(ending, 4).unwrap();
    let recorded = envelope(&game);
    (game, recorded)
}

/// What comes of the duel with these entries after its own.
fn with(entries: &[Value]) -> Result<(), ReplayError> {
    let game = duel();
    let mut replay = envelope(&game);
    replay["entries"].as_array_mut().unwrap().extend_from_slice(entries);
    execute(game.surface(), &replay.to_string())
}

fn own_entries() -> u64 {
    duel().replay().unwrap().entries().len() as u64
}

/// §10, §18, §22.4: wrong shapes, sources, owner roles, pauses, forfeits, signals, names and orders.
#[test]
fn every_malformed_entry_is_refused_with_its_own_error() {
    let stop = json!({ "kind": "stop", "units": [] });
    let look = json!({ "kind": "signal", "signal": { "kind": "look", "x": 16, "y": 15, "to": "air" } });
    let cases = [
        (json!(7), EntryFault::Shape),
        (json!({}), EntryFault::Shape),
        (json!([]), EntryFault::Shape),
        (json!([4, "red", "ground"]), EntryFault::Shape),
        (json!([-1, "red", "ground", "forfeit"]), EntryFault::Shape),
        (json!([4.5, "red", "ground", "forfeit"]), EntryFault::Shape),
        (json!([4, "red", "ground", "forfeit", 1]), EntryFault::Shape),
        (json!([4, "red", "ground", "intent"]), EntryFault::Shape),
        (json!([4, "red", "ground", "intent", stop]), EntryFault::Shape),
        (json!([4, "red", "ground", "intent", stop, "owner", ["ground"], 1]), EntryFault::Shape),
        (json!([4, "red", "ground", "signal", look, "owner"]), EntryFault::Shape),
        (json!([4, "red", "ground", "seat"]), EntryFault::Shape),
        (json!([4, "red", "ground", "pause"]), EntryFault::Shape),
        (json!([4, "red", "ground", "resume"]), EntryFault::Shape),
        (json!([4, "red", "ground", "chat", "hello"]), EntryFault::Kind),
        (json!([2, "red", "ground", "intent", stop, "agent"]), EntryFault::Order),
        (json!([5, "red", "ground", "intent", stop, "agent"]), EntryFault::BeyondTheEnd),
        (json!([4, "green", "ground", "intent", stop, "agent"]), EntryFault::Team),
        (json!([4, "red", "sea", "intent", stop, "agent"]), EntryFault::Role),
        (json!([4, "red", "ground", "intent", { "kind": "fly" }, "agent"]), EntryFault::Intent),
        (
            json!([4, "red", "ground", "intent", { "kind": "stop", "units": [], "x": 1 }, "agent"]),
            EntryFault::Intent,
        ),
        (json!([4, "red", "ground", "intent", stop, "god"]), EntryFault::Source),
        (json!([4, "red", "ground", "intent", stop, null]), EntryFault::Source),
        (json!([4, "red", "ground", "intent", stop, "agent", ["ground"]]), EntryFault::Source),
        (json!([4, "red", "ground", "intent", stop, "owner"]), EntryFault::OwnerRoles),
        (json!([4, "red", "ground", "intent", stop, "owner", "ground"]), EntryFault::OwnerRoles),
        (json!([4, "red", "ground", "intent", stop, "owner", []]), EntryFault::OwnerRoles),
        (json!([4, "red", "ground", "intent", stop, "owner", ["air"]]), EntryFault::OwnerRoles),
        (json!([4, "red", "ground", "intent", stop, "owner", ["ground", "ground"]]), EntryFault::OwnerRoles),
        (json!([4, "red", "ground", "intent", stop, "owner", ["ground", "sea"]]), EntryFault::OwnerRoles),
        (json!([4, "red", "ground", "intent", look, "agent"]), EntryFault::SignalKind),
        (json!([4, "red", "ground", "signal", stop]), EntryFault::SignalKind),
        (json!([4, "red", "air", "signal", look]), EntryFault::Intent),
        (json!([4, "red", "ground", "seat", {}]), EntryFault::Seat),
        (json!([4, "red", "ground", "seat", ["bot", {}]]), EntryFault::Seat),
        (json!([4, "red", "ground", "seat", { "controller": "god", "mandate": {} }]), EntryFault::Seat),
        (json!([4, "red", "ground", "seat", { "controller": "bot", "mandate": {} }]), EntryFault::Seat),
        (json!([4, "red", "ground", "pause", "agent_bored"]), EntryFault::PauseReason),
        (json!([4, "red", "ground", "resume", "agent_absent"]), EntryFault::ResumeReason),
        (json!([4, "red", "ground", "pause", "agent_absent"]), EntryFault::NotPausable),
        (json!([4, "red", "ground", "resume", "present"]), EntryFault::NotPausable),
        (json!([4, "red", "air", "forfeit"]), EntryFault::ForfeitRole),
        (
            json!([4, "red", "ground", "signal", { "kind": "signal_update", "id": "sg_1", "update": "ack" }]),
            EntryFault::Signal(SignalRefusal::UnknownSignal),
        ),
    ];
    let index = own_entries();
    assert_eq!(with(&[]), Ok(()));
    for (entry, fault) in cases {
        let refused = with(std::slice::from_ref(&entry)).unwrap_err();
        assert_eq!(refused, ReplayError::Entry { index, fault }, "{entry}");
    }
    let forfeit = json!([4, "red", "economy", "forfeit"]);
    let second = ReplayError::Entry { index: index + 1, fault: EntryFault::SecondForfeit };
    assert_eq!(with(&[forfeit.clone(), forfeit]), Err(second));
}

/// A drill that can be paused, at tick 4, with these entries after its own.
fn pausing(entries: &[Value]) -> (Match, Value) {
    let mut drilled = Drill::new(Clock::Realtime);
    drilled.control.pausable = Some(PauseLimits { max_pause_seconds: Some(60) });
    let (mut game, _) = drill(drilled, config());
    for now in 0..4 {
        tick(&mut game, now);
    }
    let mut replay = envelope(&game);
    replay["entries"].as_array_mut().unwrap().extend_from_slice(entries);
    (game, replay)
}

/// §10, §18: pauses and resumes of a seat follow each other.
#[test]
fn pauses_and_resumes_pair() {
    let with = |entries: &[Value]| {
        let (game, replay) = pausing(entries);
        (game.seat_count() as u64, execute(game.surface(), &replay.to_string()))
    };
    let pause = json!([4, "a", "lead", "pause", "agent_absent"]);
    let resume = json!([4, "a", "lead", "resume", "timeout"]);
    let (index, refused) = with(std::slice::from_ref(&resume));
    assert_eq!(refused, Err(ReplayError::Entry { index, fault: EntryFault::UnpairedResume }));
    let (index, refused) = with(&[pause.clone(), pause.clone()]);
    assert_eq!(refused, Err(ReplayError::Entry { index: index + 1, fault: EntryFault::UnpairedPause }));
    assert_eq!(with(&[pause.clone(), resume, pause]).1, Ok(()));
}

/// §18: time stands still while a seat holds the session, and a position names the seats that do.
#[test]
fn a_step_inside_a_pause_is_refused_and_open_pauses_are_reported() {
    let pause = json!([3, "b", "wing", "pause", "agent_absent"]);
    let (game, mut replay) = pausing(&[pause]);
    let read = Replay::read(game.surface(), &replay.to_string()).unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let paused = replay_match(game.surface(), &read, 3, None, go_on).unwrap();
    assert_eq!(paused.paused().iter().collect::<Vec<_>>(), [&wing("b")]);
    assert_eq!(execute(game.surface(), &replay.to_string()), Err(ReplayError::SteppedWhilePaused(3)));
    let resume = json!([3, "b", "wing", "resume", "owner"]);
    replay["entries"].as_array_mut().unwrap().push(resume);
    assert_eq!(execute(game.surface(), &replay.to_string()), Ok(()));
}

/// §10: a match that its game ended records nothing more, a change of a seat neither.
#[test]
fn nothing_is_recorded_after_the_end() {
    let mut game = duel();
    game.forfeit("red", 4).unwrap();
    tick(&mut game, 4);
    assert!(game.is_over());
    let mut replay = envelope(&game);
    let entries = replay["entries"].as_array_mut().unwrap();
    let mut late = entries.iter().find(|entry| entry[3] == "seat").unwrap().clone();
    late[0] = json!(game.tick());
    let index = entries.len() as u64;
    entries.push(late);
    let out = ReplayError::Entry { index, fault: EntryFault::Out };
    assert_eq!(execute(game.surface(), &replay.to_string()), Err(out));
}

/// §10: a game without the hook has no forfeit to replay, and a side that is out neither acts nor concedes.
#[test]
fn forfeits_need_the_games_hook_and_a_side_that_plays() {
    let without = surface(Drill { forfeits: false, ..Drill::new(Clock::Realtime) });
    let game = Match::new(without, config(), 0).unwrap();
    let mut replay = envelope(&game);
    let index = game.seat_count() as u64;
    replay["entries"].as_array_mut().unwrap().push(json!([0, "a", "lead", "forfeit"]));
    let no_hook = ReplayError::Entry { index, fault: EntryFault::NoForfeit };
    assert_eq!(execute(game.surface(), &replay.to_string()), Err(no_hook));

    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    game.forfeit("b", 0).unwrap();
    tick(&mut game, 0);
    for late in [json!([1, "b", "lead", "intent", mark(1), "agent"]), json!([1, "b", "lead", "forfeit"])] {
        let mut replay = envelope(&game);
        let entries = replay["entries"].as_array_mut().unwrap();
        let index = entries.len() as u64;
        entries.push(late);
        let out = ReplayError::Entry { index, fault: EntryFault::Out };
        assert_eq!(execute(game.surface(), &replay.to_string()), Err(out));
    }
}

/// §10: another game version is refused in the reference's words, and so is another game.
#[test]
fn another_game_or_version_is_refused() {
    let game = duel();
    let mut replay = envelope(&game);
    replay["gameVersion"] = json!("0.0.0");
    let refused = execute(game.surface(), &replay.to_string()).unwrap_err();
    assert_eq!(refused.to_string(), "playerthree/replay: game version mismatch");
    replay["game"] = json!("tic-tac-toe");
    assert_eq!(execute(game.surface(), &replay.to_string()), Err(ReplayError::Game));
    // A replay that was read for one game is not played by another.
    let read = Replay::read(game.surface(), &envelope(&game).to_string()).unwrap();
    let other = surface(Drill::new(Clock::Realtime));
    let refused = replay_match(&other, &read, 0, None, &mut |_| ControlFlow::Continue(()));
    assert_eq!(refused.unwrap_err(), ReplayError::Game);
}

/// Every member of the envelope is read strictly.
#[test]
fn every_malformed_envelope_is_refused_with_its_own_error() {
    let game = duel();
    let whole = envelope(&game);
    let changed = |member: &str, value: Value| {
        let mut replay = whole.clone();
        replay[member] = value;
        execute(game.surface(), &replay.to_string()).unwrap_err()
    };
    let invalid = [
        ("seed", vec![json!(null), json!(-1), json!(4_294_967_296_u64), json!(1.5), json!("7")]),
        ("options", vec![json!(null), json!({ "no_such": 1 }), json!([])]),
        (
            "teams",
            vec![
                json!([]),
                json!(["blue", "red"]),
                json!(["red", "red"]),
                json!(["red", "sea"]),
                json!("red"),
            ],
        ),
        ("alliances", vec![json!(null), json!({ "one": ["red"] }), json!({ "one": ["blue", "red"] })]),
        ("ticks", vec![json!(-1), json!(0.5), json!(10_000_001), json!(null)]),
        ("entries", vec![json!(null), json!({}), json!("[]")]),
        (
            "outcomes",
            vec![json!({}), json!({ "red": "running" }), json!({ "red": "running", "blue": "lost" })],
        ),
        ("ranks", vec![json!(null), json!({ "red": 1, "blue": 2 }), json!([1, 2])]),
        (
            "window",
            vec![
                json!(null),
                json!({ "from": 5, "dropped": 1 }),
                json!({ "from": 0, "dropped": 0 }),
                json!({ "from": 0 }),
                json!([0, 1]),
            ],
        ),
    ];
    for (member, values) in invalid {
        for value in values {
            assert_eq!(changed(member, value.clone()), ReplayError::Member(member), "{member}: {value}");
        }
        let mut replay = whole.clone();
        if replay.as_object_mut().unwrap().remove(member).is_some() {
            let refused = execute(game.surface(), &replay.to_string()).unwrap_err();
            assert_eq!(refused, ReplayError::Member(member), "without {member}");
        }
    }
    assert_eq!(changed("format", json!("playerthree.session")), ReplayError::Format);
    assert_eq!(changed("version", json!(1)), ReplayError::Format);
    assert!(matches!(changed("chat", json!([])), ReplayError::NotAnEnvelope { .. }));
    let twice = whole.to_string().replacen("{\"entries\"", "{\"seed\":7,\"entries\"", 1);
    assert_ne!(twice, whole.to_string());
    assert!(matches!(execute(game.surface(), &twice), Err(ReplayError::NotAnEnvelope { .. })));
    let in_order = ["format", "version", "game", "gameVersion", "seed", "options", "teams"];
    let listed: Value =
        in_order.iter().map(|member| whole.get(member).cloned().unwrap_or_default()).collect();
    for text in [&*listed.to_string(), "", "[]", "null", "{", "{}x"] {
        let refused = execute(game.surface(), text).unwrap_err();
        assert!(matches!(refused, ReplayError::NotAnEnvelope { .. }), "{text}: {refused}");
    }
    assert_eq!(execute(game.surface(), "{}"), Err(ReplayError::Format));
}

/// §18: a persistent session that ran for months is read like any other: the bound on ticks counts from its window.
#[test]
fn a_window_is_read_however_late_it_begins() {
    let game = duel();
    let window = |from: u64, ticks: u64| {
        let mut replay = envelope(&game);
        replay["window"] = json!({ "from": from, "dropped": own_entries() });
        (replay["entries"], replay["ticks"]) = (json!([]), json!(ticks));
        Replay::read(game.surface(), &replay.to_string()).map(|replay| replay.ticks())
    };
    let months = 50_000_000;
    assert_eq!(window(months, months + 10_000_000), Ok(months + 10_000_000));
    assert_eq!(window(months, months + 10_000_001), Err(ReplayError::Member("ticks")));
    assert_eq!(window(1 << 53, 1 << 53), Err(ReplayError::Member("ticks")));
}

/// §18: a persistent session ends no side.
#[test]
fn a_window_is_of_a_session_that_still_runs() {
    let (game, mut recorded) = drilled(&Ending::Draw);
    recorded["window"] = json!({ "from": 0, "dropped": 1 });
    assert_eq!(execute(game.surface(), &recorded.to_string()), Err(ReplayError::Member("outcomes")));
}

/// A reader's memory is bounded whatever it is sent.
#[test]
fn a_replay_is_bounded_in_bytes_entries_and_depth() {
    let game = duel();
    let whole = envelope(&game).to_string();
    let padded = format!("{whole}{}", " ".repeat(REPLAY_BYTES_MAX - whole.len()));
    assert_eq!(execute(game.surface(), &padded), Ok(()), "the largest one");
    assert_eq!(execute(game.surface(), &format!("{padded} ")), Err(ReplayError::TooLarge));
    let own = serde_json::to_string(&envelope(&game)["entries"]).unwrap();
    let with = |entries: &str| whole.replacen(&own, entries, 1);
    let many = format!("[{}1]", "1,".repeat(ENTRIES_MAX));
    assert_eq!(execute(game.surface(), &with(&many)), Err(ReplayError::Member("entries")));
    let most = format!("[{}1]", "1,".repeat(ENTRIES_MAX - 1));
    let first = ReplayError::Entry { index: 0, fault: EntryFault::Shape };
    assert_eq!(execute(game.surface(), &with(&most)), Err(first.clone()));
    let deep = format!("[{}{}]", "[".repeat(100_000), "]".repeat(100_000));
    let refused = execute(game.surface(), &with(&deep)).unwrap_err();
    assert!(
        refused == first
            || refused == ReplayError::Member("entries")
            || matches!(refused, ReplayError::NotAnEnvelope { .. })
    );
}

/// §10: outcomes and ranks are those of the game, or ones that a host can have declared over it.
#[test]
fn outcomes_and_ranks_are_checked_against_what_was_played() {
    let (game, recorded) = drilled(&Ending::Draw);
    let execute = |replay: &Value| execute(game.surface(), &replay.to_string());
    assert_eq!(execute(&recorded), Ok(()));
    let mut ranks = recorded.clone();
    ranks["ranks"]["d"] = json!(4);
    assert_eq!(execute(&ranks), Err(ReplayError::Ranks));
    let mut outcome = recorded;
    outcome["outcomes"]["a"] = json!("win");
    assert_eq!(execute(&outcome), Err(ReplayError::Ranks), "no declaration leads to these");

    let mut duel = duel();
    duel.forfeit("red", 0).unwrap();
    tick(&mut duel, 0);
    assert!(duel.is_over());
    let recorded = envelope(&duel);
    let execute = |replay: &Value| self::execute(duel.surface(), &replay.to_string());
    assert_eq!(execute(&recorded), Ok(()));
    let mut swapped = recorded.clone();
    swapped["outcomes"] = json!({ "red": "win", "blue": "loss" });
    assert!(matches!(execute(&swapped), Err(ReplayError::Outcome(_))));
    let mut running = recorded.clone();
    running["outcomes"]["blue"] = json!("running");
    assert_eq!(execute(&running), Err(ReplayError::Member("ranks")), "ranks are of a match that is over");
    let mut ranks = recorded.clone();
    ranks["ranks"] = json!({ "red": 1, "blue": 2 });
    assert_eq!(execute(&ranks), Err(ReplayError::Ranks));
    let mut longer = recorded.clone();
    longer["ticks"] = json!(recorded["ticks"].as_u64().unwrap() + 1);
    assert!(matches!(execute(&longer), Err(ReplayError::AfterTheEnd(_))));
}

/// §10: a game that cannot be created as recorded is no panic.
#[test]
fn a_setup_that_the_game_refuses_is_refused() {
    let game = duel();
    let mut replay = envelope(&game);
    replay["teams"] = json!(["red"]);
    replay["outcomes"] = json!({ "red": "running" });
    replay["entries"] = json!([]);
    assert_eq!(execute(game.surface(), &replay.to_string()), Err(ReplayError::CannotCreate));
}

/// §15: whatever is wrong with a replay, the error repeats nothing of it.
#[test]
fn no_error_repeats_any_part_of_the_replay() {
    let game = duel();
    let secret = "Secret7Secret7";
    let whole = envelope(&game);
    for member in whole.as_object().unwrap().keys() {
        let mut replay = whole.clone();
        replay[member] = json!([secret]);
        let refused = execute(game.surface(), &replay.to_string()).unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains(secret), "{refused:?}");
    }
    let unknown = format!("{{\"{secret}\":1}}");
    assert!(!format!("{:?}", execute(game.surface(), &unknown).unwrap_err()).contains(secret));
    for entry in [json!([4, secret, "ground", "forfeit"]), json!([4, "red", "ground", secret])] {
        assert!(!format!("{:?}", with(&[entry]).unwrap_err()).contains(secret));
    }
}
