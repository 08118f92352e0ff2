//! §22.2 to §22.4: routing, answering, bounds and determinism of one team's board.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "this file uses a part of the sample game")]
mod common;

use common::{manifest, names, push, texts};
use playerthree_game::{
    BadSignalLimits, Checked, MatchSignals, Name, SIGNAL_STATES, SignalBoard, SignalLimits, SignalRefusal,
    signal_members,
};
use playerthree_schema::Kind;
use serde_json::{Value, json};

/// The sample game with a third role, whose card answers like the ground's, so that broadcasts reach two.
fn game() -> Checked {
    let mut game = manifest();
    let limits = game.control.signals.unwrap();
    game.roles = names(["ground", "air", "sea"]);
    let doc = "You lead the ships.";
    game.role_docs.extend(texts([("sea", doc)]));
    game.observation_scope.as_mut().unwrap().defaults.insert("sea".into(), vec![]);
    let signals = game.signals.as_mut().unwrap();
    let help = signals.cards[&Name::from("ground")].clone();
    signals.cards.insert("sea".into(), help);
    let members = signal_members(&game.roles, signals, &limits);
    game.intents.truncate(2);
    game.intents.extend(members.intents);
    for (schema, member) in [(&mut game.observation, members.observation), (&mut game.view, members.view)] {
        let Kind::Obj { fields, .. } = &mut schema.kind else { panic!("an object") };
        fields.retain(|(name, _)| &**name != "signals");
        push(schema, "signals", member);
    }
    game.check().unwrap()
}

fn limits() -> SignalLimits {
    game().control.signals.unwrap()
}

fn board() -> SignalBoard {
    SignalBoard::new(&game(), MatchSignals::Declared).unwrap()
}

fn help(need: &str, to: &str) -> Value {
    json!({ "kind": "signal", "signal": { "kind": "help", "need": need, "to": to } })
}

fn send(board: &mut SignalBoard, role: &str, intent: &Value, tick: u64) -> Result<(), SignalRefusal> {
    board.apply(&role.into(), intent, tick)
}

fn update(
    board: &mut SignalBoard,
    role: &str,
    id: u32,
    update: &str,
    tick: u64,
) -> Result<(), SignalRefusal> {
    let intent = json!({ "kind": "signal_update", "id": format!("sg_{id}"), "update": update });
    board.apply(&role.into(), &intent, tick)
}

fn states(board: &SignalBoard) -> Vec<String> {
    board.to_json().as_array().unwrap().iter().map(|entry| entry["state"].as_str().unwrap().into()).collect()
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect()
}

/// §22.2: a role gets what its card answers, a broadcast everybody's whose card does, and the sender never counts.
#[test]
fn a_signal_reaches_exactly_the_teammates_whose_card_answers_it() {
    let mut board = board();
    send(&mut board, "ground", &help("scan", "air"), 0).unwrap();
    send(&mut board, "air", &help("fire", "team"), 0).unwrap();
    send(&mut board, "ground", &help("scan", "team"), 0).unwrap();
    let inbox = |role: &str| board.slice(role)["inbox"].clone();
    assert_eq!(ids(&inbox("air")), ["sg_1", "sg_3"]);
    assert_eq!(ids(&inbox("ground")), ["sg_2"]);
    assert_eq!(ids(&inbox("sea")), ["sg_2", "sg_3"]);
    assert_eq!(ids(&board.slice("ground")["sent"]), ["sg_1", "sg_3"]);
    assert_eq!(ids(&board.to_json()), ["sg_1", "sg_2", "sg_3"]);
    // The air's card answers scans alone.
    assert_eq!(send(&mut board, "ground", &help("fire", "air"), 0), Err(SignalRefusal::Unsupported));
    assert_eq!(send(&mut board, "ground", &help("scan", "ground"), 0), Err(SignalRefusal::Unsupported));
    let carry = json!({ "kind": "signal", "signal": { "kind": "carry", "unit": "u_1", "to": "air" } });
    assert_eq!(send(&mut board, "sea", &carry, 0), Err(SignalRefusal::ForbiddenRole));
}

/// §22.1: an entry is the payload and what the host knows, as the generated schema has it.
#[test]
fn every_slice_and_board_conforms_to_the_generated_members() {
    let game = game();
    let mut board = board();
    let member = |schema: &playerthree_game::Schema| {
        let Kind::Obj { fields, .. } = &schema.kind else { panic!("an object") };
        fields.iter().find(|(name, _)| &**name == "signals").unwrap().1.clone()
    };
    let conforms = |board: &SignalBoard| {
        member(&game.view).validate(&board.to_json()).unwrap();
        for role in &game.roles {
            member(&game.observation).validate(&board.slice(role)).unwrap();
        }
    };
    let (mut state, mut seen) = (5_u64, std::collections::BTreeSet::new());
    let mut random = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    for tick in 0..3000 {
        board.turn_over(tick);
        for _ in 0..random(4) {
            let role = ["ground", "air", "sea"][usize::try_from(random(3)).unwrap()];
            let to = ["ground", "air", "sea", "team"][usize::try_from(random(4)).unwrap()];
            let need = ["scan", "fire"][usize::try_from(random(2)).unwrap()];
            let word = ["ack", "decline", "done", "fail", "cancel"][usize::try_from(random(5)).unwrap()];
            if random(3) == 0 {
                _ = send(&mut board, role, &help(need, to), tick);
            } else {
                let id = u32::try_from(random(60)).unwrap() + u32::try_from(tick / 40).unwrap();
                _ = update(&mut board, role, id, word, tick);
            }
        }
        conforms(&board);
        seen.extend(states(&board));
    }
    assert_eq!(seen.len(), SIGNAL_STATES.len(), "{seen:?}");
}

/// §22.2 "Lifecycle".
#[test]
fn a_signal_is_taken_and_closed_by_its_recipient() {
    let mut board = board();
    send(&mut board, "ground", &help("scan", "air"), 7).unwrap();
    let entry = |board: &SignalBoard| board.to_json()[0].clone();
    assert_eq!(
        entry(&board),
        json!({
            "kind": "help", "need": "scan", "to": "air", "id": "sg_1", "from": "ground", "tick": 7,
            "expires": 7 + limits().ttl_ticks, "state": "submitted",
        })
    );
    assert_eq!(update(&mut board, "ground", 1, "done", 7), Err(SignalRefusal::NotRecipient));
    assert_eq!(update(&mut board, "sea", 1, "ack", 7), Err(SignalRefusal::NotRecipient));
    assert_eq!(update(&mut board, "air", 1, "cancel", 7), Err(SignalRefusal::NotRecipient));
    assert_eq!(update(&mut board, "air", 2, "ack", 7), Err(SignalRefusal::UnknownSignal));
    update(&mut board, "air", 1, "ack", 8).unwrap();
    assert_eq!((&entry(&board)["state"], &entry(&board)["by"]), (&json!("working"), &json!("air")));
    let before = board.clone();
    update(&mut board, "air", 1, "ack", 9).unwrap();
    assert_eq!(board, before, "an ack of one's own working signal is a no-op");
    update(&mut board, "air", 1, "done", 9).unwrap();
    assert_eq!(states(&board), ["completed"]);
    for word in ["ack", "decline", "done", "fail", "cancel"] {
        for role in ["air", "ground", "sea"] {
            assert_eq!(update(&mut board, role, 1, word, 9), Err(SignalRefusal::Closed));
        }
    }
}

/// §22.2: the sender cancels, a recipient fails or declines.
#[test]
fn a_signal_ends_by_cancel_fail_or_decline() {
    for (role, word, state) in
        [("ground", "cancel", "canceled"), ("air", "fail", "failed"), ("air", "decline", "rejected")]
    {
        let mut board = board();
        send(&mut board, "ground", &help("scan", "air"), 0).unwrap();
        update(&mut board, role, 1, word, 0).unwrap();
        assert_eq!(states(&board), [state]);
        assert_eq!(ids(&board.slice("ground")["sent"]), ["sg_1"]);
        // A decliner's inbox drops it; everybody else still sees how it ended.
        assert_eq!(board.slice("air")["inbox"].as_array().unwrap().len(), usize::from(word != "decline"));
    }
}

/// §22.2: a broadcast belongs to the first who takes it, and is rejected once every recipient declined.
#[test]
fn a_broadcast_belongs_to_the_first_and_ends_with_the_last_decline() {
    let mut board = board();
    send(&mut board, "air", &help("fire", "team"), 0).unwrap();
    update(&mut board, "ground", 1, "ack", 0).unwrap();
    assert_eq!(update(&mut board, "sea", 1, "ack", 0), Err(SignalRefusal::NotRecipient));
    assert_eq!(update(&mut board, "sea", 1, "decline", 0), Err(SignalRefusal::NotRecipient));
    // Whoever took it gives it back to the others by declining.
    update(&mut board, "ground", 1, "decline", 1).unwrap();
    assert_eq!(states(&board), ["submitted"]);
    assert_eq!(board.to_json()[0].get("by"), None);
    assert_eq!(ids(&board.slice("ground")["inbox"]).len(), 0);
    assert_eq!(update(&mut board, "ground", 1, "ack", 1), Err(SignalRefusal::NotRecipient));
    update(&mut board, "sea", 1, "decline", 1).unwrap();
    assert_eq!(states(&board), ["rejected"]);
}

/// §22.2 to §22.4: an open signal expires at its tick, and a closed one stays for `keepTicks`.
#[test]
fn the_board_turns_over_with_the_ticks() {
    let mut board = board();
    send(&mut board, "ground", &help("scan", "air"), 10).unwrap();
    let SignalLimits { ttl_ticks, keep_ticks, .. } = limits();
    let expires = 10 + u64::from(ttl_ticks);
    board.turn_over(expires - 1);
    assert_eq!(states(&board), ["submitted"]);
    board.turn_over(expires);
    assert_eq!(states(&board), ["expired"]);
    board.turn_over(expires + u64::from(keep_ticks));
    assert_eq!(states(&board), ["expired"]);
    board.turn_over(expires + u64::from(keep_ticks) + 1);
    assert!(states(&board).is_empty());
}

/// §22.1: `maxOpen` bounds the open signals of a sender and its share of the board.
#[test]
fn a_sender_has_a_share_of_the_board_and_no_more() {
    let mut board = board();
    for _ in 0..limits().max_open {
        send(&mut board, "ground", &help("scan", "air"), 0).unwrap();
    }
    assert_eq!(send(&mut board, "ground", &help("scan", "air"), 0), Err(SignalRefusal::TooManyOpen));
    send(&mut board, "air", &help("fire", "sea"), 0).unwrap();
    update(&mut board, "air", 2, "done", 1).unwrap();
    update(&mut board, "air", 1, "done", 1).unwrap();
    send(&mut board, "ground", &help("scan", "air"), 1).unwrap();
    // The oldest closed one made room, and nobody else's.
    assert_eq!(ids(&board.to_json()), ["sg_2", "sg_3", "sg_4", "sg_5"]);
}

/// §22.1: new signals come from a bucket measured in ticks; refusals and answers cost nothing.
#[test]
fn new_signals_have_a_rate_in_ticks() {
    let mut board = board();
    let SignalLimits { burst, per_second, .. } = limits();
    for id in 1..=burst {
        send(&mut board, "ground", &help("scan", "air"), 0).unwrap();
        update(&mut board, "air", id, "done", 0).unwrap();
    }
    for _ in 0..50 {
        assert_eq!(send(&mut board, "ground", &help("fire", "air"), 0), Err(SignalRefusal::Unsupported));
        assert_eq!(send(&mut board, "ground", &help("scan", "air"), 19), Err(SignalRefusal::RateLimited));
    }
    send(&mut board, "air", &help("fire", "sea"), 0).unwrap();
    assert!((per_second - 0.5).abs() < 1e-9, "a token in 20 ticks of a tenth of a second");
    send(&mut board, "ground", &help("scan", "air"), 20).unwrap();
    assert_eq!(send(&mut board, "ground", &help("scan", "air"), 20), Err(SignalRefusal::RateLimited));
}

/// §22.4: a board is a function of accepted intents and ticks, so refused ones leave no trace at all.
#[test]
fn refused_signals_leave_no_trace() {
    let (mut noisy, mut quiet) = (board(), board());
    for tick in 0..500 {
        noisy.turn_over(tick);
        quiet.turn_over(tick);
        _ = send(&mut noisy, "ground", &help("fire", "air"), tick);
        _ = update(&mut noisy, "ground", 999, "ack", tick);
        if tick % 7 == 0 && send(&mut noisy, "ground", &help("scan", "air"), tick).is_ok() {
            send(&mut quiet, "ground", &help("scan", "air"), tick).unwrap();
        }
        assert_eq!(noisy, quiet);
    }
}

/// §22.3: what a wait wakes for.
#[test]
fn new_entries_and_new_states_count_as_changes() {
    let mut board = board();
    let count = |board: &SignalBoard| ["ground", "air", "sea"].map(|role| board.changes(role));
    send(&mut board, "ground", &help("scan", "air"), 0).unwrap();
    assert_eq!(count(&board), [0, 1, 0]);
    update(&mut board, "air", 1, "ack", 0).unwrap();
    assert_eq!(count(&board), [1, 2, 0]);
    update(&mut board, "air", 1, "ack", 0).unwrap();
    assert_eq!(count(&board), [1, 2, 0]);
    board.turn_over(u64::from(limits().ttl_ticks));
    assert_eq!(count(&board), [2, 3, 0]);
}

/// §10 `signalLimits`: a match may be stricter than its manifest, or without signals, and never wider.
#[test]
fn a_match_narrows_its_limits_and_never_widens_them() {
    let game = game();
    let most = limits();
    let narrowed = |limits: SignalLimits| SignalBoard::new(&game, MatchSignals::Narrowed(limits));
    let mut strict = narrowed(SignalLimits { max_open: 1, ..most }).unwrap();
    send(&mut strict, "ground", &help("scan", "air"), 0).unwrap();
    assert_eq!(send(&mut strict, "ground", &help("scan", "air"), 0), Err(SignalRefusal::TooManyOpen));
    let mut off = SignalBoard::new(&game, MatchSignals::Off).unwrap();
    assert_eq!(send(&mut off, "ground", &help("scan", "air"), 0), Err(SignalRefusal::Disabled));
    assert_eq!(update(&mut off, "ground", 1, "ack", 0), Err(SignalRefusal::Disabled));
    for out in [
        SignalLimits { max_open: most.max_open + 1, ..most },
        SignalLimits { max_open: 0, ..most },
        SignalLimits { burst: most.burst + 1, ..most },
        SignalLimits { burst: 0, ..most },
        SignalLimits { per_second: most.per_second * 1.01, ..most },
        SignalLimits { per_second: f64::NAN, ..most },
        SignalLimits { per_second: 0.0, ..most },
        SignalLimits { ttl_ticks: most.ttl_ticks + 1, ..most },
        SignalLimits { ttl_ticks: 0, ..most },
        SignalLimits { keep_ticks: most.keep_ticks + 1, ..most },
    ] {
        assert_eq!(narrowed(out).err(), Some(BadSignalLimits), "{out:?}");
    }
}
