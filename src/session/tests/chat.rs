//! §12: owner chat. An owner tells, an agent reads once and answers; nobody else is shown a word.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use playerthree_game::Seat;
use playerthree_session::{
    CallError, Changes, Code, CommanderId, INBOX_MAX, Inbox, Match, Occupant, Right, Tell, TellCommanders,
    Wait, Waiting, chat_text,
};
use serde_json::{Value, json};

const WAIT: Wait = Wait { millis: 10_000, until: Vec::new() };

fn ground() -> Seat {
    Seat::new("red", "ground")
}

fn air() -> Seat {
    Seat::new("red", "air")
}

/// Red belongs to Ann and blue to Bob, with agents in every seat.
fn duel() -> Match {
    let mut game = agent_command(config());
    for (team, name) in [("red", "ann"), ("blue", "bob")] {
        for role in ["ground", "air"] {
            game.assign(&Seat::new(team, role), agent(name)).unwrap();
        }
    }
    for team in ["red", "blue"] {
        for role in ["ground", "air"] {
            // The entry into the match has been told.
            assert!(matches!(game.wait(&Seat::new(team, role), Right::Agent, WAIT, 0), Ok(Waiting::Done(_))));
        }
    }
    game
}

fn tell(game: &mut Match, name: &str, team: &str, message: Value, now: u64) -> Result<(), CallError> {
    let surface = game.surface().clone();
    game.tell(&owner(name), team, &Tell::parse(&surface, message)?, now)
}

fn code(result: Result<impl std::fmt::Debug, CallError>) -> Code {
    result.unwrap_err().code
}

fn read(game: &mut Match, seat: &Seat) -> Option<Value> {
    game.take_messages(seat, Right::Agent).unwrap()
}

/// §12, §4 `wait`: a message wakes the seat it is for, is delivered there once, and to no other lane.
#[test]
fn a_message_reaches_the_addressed_agents_once_and_nobody_else() {
    let mut game = duel();
    let pending = |game: &mut Match, seat: &Seat| match game.wait(seat, Right::Agent, WAIT, 0).unwrap() {
        Waiting::Pending(id) => id,
        Waiting::Done(answer) => panic!("{answer}"),
    };
    let (mine, other) = (pending(&mut game, &air()), pending(&mut game, &ground()));
    let theirs = pending(&mut game, &Seat::new("blue", "air"));
    let message = json!({ "roles": ["air"], "text": "look north", "ping": { "x": 5, "y": 6.0 } });
    tell(&mut game, "ann", "red", message, 0).unwrap();
    let Changes { waits, .. } = game.take_changes();
    let [(id, Ok(answer))] = &waits[..] else { panic!("{waits:?}") };
    assert_eq!(*id, mine);
    assert!(*id != other && *id != theirs);
    assert_eq!(answer["wake"], "owner_message");
    let told = json!([{ "from": "owner", "tick": 0, "text": "look north", "ping": { "x": 5, "y": 6 } }]);
    assert_eq!(answer["messages"], told);
    assert_eq!(read(&mut game, &air()), None, "delivered once");
    game.cancel_wait(other);
    tell(&mut game, "ann", "red", json!({ "roles": "all", "text": "both" }), 0).unwrap();
    for seat in [ground(), air()] {
        assert_eq!(read(&mut game, &seat).unwrap()[0]["text"], "both");
    }
    for role in ["ground", "air"] {
        assert_eq!(read(&mut game, &Seat::new("blue", role)), None);
    }
    // The owner's own lane has no inbox.
    tell(&mut game, "ann", "red", json!({ "roles": ["air"], "text": "again" }), 0).unwrap();
    assert_eq!(game.take_messages(&air(), Right::Owner), Ok(None));
}

/// §4: a retained transition neither swallows a message nor is swallowed by it.
#[test]
fn a_message_comes_before_a_retained_entry_and_both_come_once() {
    let mut game = agent_command(config());
    game.assign(&air(), agent("ann")).unwrap();
    tell(&mut game, "ann", "red", json!({ "roles": ["air"], "text": "welcome" }), 0).unwrap();
    let mut answer = || match game.wait(&air(), Right::Agent, WAIT, 0).unwrap() {
        Waiting::Done(answer) => Some(answer),
        Waiting::Pending(_) => None,
    };
    let first = answer().unwrap();
    assert_eq!((&first["wake"], first.get("observation")), (&json!("owner_message"), None));
    assert_eq!(first["messages"][0]["text"], "welcome");
    let second = answer().unwrap();
    assert!(second.get("observation").is_some() && second.get("messages").is_none());
    assert!(answer().is_none());
}

/// §12: exact-seat owners alone. Seats of others, of nobody and of no match are refused alike.
#[test]
fn only_the_owner_of_every_addressed_seat_may_tell() {
    let mut game = duel();
    game.assign(&ground(), Occupant::Nobody).unwrap();
    let both = json!({ "roles": ["ground", "air"], "text": "hello" });
    let one = json!({ "roles": ["air"], "text": "hello" });
    let all = json!({ "roles": "all", "text": "hello" });
    assert_eq!(code(tell(&mut game, "ann", "red", both, 0)), Code::Forbidden);
    for (who, team) in [("bob", "red"), ("ann", "blue"), ("eve", "red"), ("ann", "gold"), ("ann", "nowhere")]
    {
        for message in [&one, &all] {
            assert_eq!(code(tell(&mut game, who, team, message.clone(), 0)), Code::Forbidden, "{who} {team}");
        }
    }
    assert_eq!(read(&mut game, &air()), None, "a refused message reaches nobody");
    tell(&mut game, "ann", "red", all, 0).unwrap();
    assert!(read(&mut game, &air()).is_some());
}

/// §12: normalization, bounds in UTF-16 units, refused characters.
#[test]
fn a_text_is_normalized_and_bounded_and_free_of_controls() {
    assert_eq!(chat_text("cafe\u{301}", 4).unwrap(), "café");
    assert_eq!(chat_text("\tgo\n", 4).unwrap(), "\tgo\n");
    assert_eq!(chat_text("𝄞𝄞", 4).unwrap(), "𝄞𝄞");
    for refused in ["", " ", "\n\t \u{3000}", "𝄞𝄞a", "abcde", "\u{958}\u{958}\u{958}"] {
        assert_eq!(code(chat_text(refused, 4)), Code::Invalid, "{refused:?}");
    }
    let controls = ('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}').filter(|c| !matches!(c, '\t' | '\n'));
    for refused in controls.chain('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
        assert_eq!(code(chat_text(&format!("a{refused}"), 4)), Code::Invalid, "{refused:?}");
    }
    // A text far past its bound is given up on, not normalized.
    assert_eq!(code(chat_text(&"a\u{301}".repeat(500_000), 500)), Code::Invalid);
}

/// §12, §15: malformed messages are `invalid`, change nothing and are not repeated.
#[test]
fn a_malformed_message_is_refused_without_an_echo() {
    let mut game = duel();
    let canary = "kanarienvogel";
    for message in [
        json!(null),
        json!([]),
        json!({ "text": canary }),
        json!({ "roles": ["air"] }),
        json!({ "roles": [], "text": canary }),
        json!({ "roles": ["air", "air"], "text": canary }),
        json!({ "roles": ["sea"], "text": canary }),
        json!({ "roles": canary, "text": "a" }),
        json!({ "roles": ["air"], "text": 5 }),
        json!({ "roles": ["air"], "text": canary.repeat(40) }),
        json!({ "roles": ["air"], "text": canary, canary: 1 }),
        json!({ "roles": ["air"], "text": canary, "ping": null }),
        json!({ "roles": ["air"], "text": canary, "ping": { "x": 1, "y": canary } }),
        json!({ "roles": ["air"], "text": canary, "ping": { "x": 1, "y": 1, canary: 1 } }),
    ] {
        let error = tell(&mut game, "ann", "red", message.clone(), 0).unwrap_err();
        assert_eq!(error.code, Code::Invalid, "{message}");
        assert!(!error.to_json("code").to_string().contains(canary), "{message}");
    }
    assert_eq!(read(&mut game, &air()), None);
}

/// §12: 5 at once and 1 a second for each owner, whatever seats they write to; refused ones cost nothing.
#[test]
fn an_owner_has_a_bucket_of_messages() {
    let mut game = duel();
    let message = |role: &str| json!({ "roles": [role], "text": "hello" });
    for round in 0..5 {
        let role = ["ground", "air"][round % 2];
        tell(&mut game, "ann", "red", message(role), 0).unwrap();
        assert_eq!(code(tell(&mut game, "ann", "blue", message(role), 0)), Code::Forbidden);
    }
    assert_eq!(code(tell(&mut game, "ann", "red", message("air"), 999)), Code::RateLimited);
    tell(&mut game, "bob", "blue", message("air"), 999).unwrap();
    tell(&mut game, "ann", "red", message("air"), 1000).unwrap();
}

/// §12: what nobody reads is bounded, and the newest words are kept.
#[test]
fn an_inbox_keeps_the_newest_messages() {
    let mut game = duel();
    for second in 0..30 {
        let text = format!("message {second}");
        tell(&mut game, "ann", "red", json!({ "roles": ["air"], "text": text }), second * 1000).unwrap();
    }
    let messages = read(&mut game, &air()).unwrap();
    let texts: Vec<&str> = messages.as_array().unwrap().iter().map(|m| m["text"].as_str().unwrap()).collect();
    assert_eq!(texts.len(), INBOX_MAX);
    assert_eq!((texts[0], texts[INBOX_MAX - 1]), ("message 20", "message 29"));
}

/// §12: a reply goes to the owner of the seat, needs the scope and has a rate of its own.
#[test]
fn an_agent_answers_its_owner_alone() {
    let mut game = duel();
    let said = |game: &mut Match| game.take_changes().said;
    let answer = game.say(&air(), Right::Agent, "on my way", 0).unwrap();
    assert_eq!(answer, json!({ "ok": true, "tick": 0 }));
    let [only] = &said(&mut game)[..] else { panic!("one reply") };
    assert_eq!((&only.owner, &only.seat, &*only.text), (&owner("ann"), &air(), "on my way"));
    assert_eq!(code(game.say(&air(), Right::Owner, "hello me", 0)), Code::Forbidden);
    assert_eq!(code(game.say(&Seat::new("red", "sea"), Right::Agent, "a", 0)), Code::NotInMatch);
    assert_eq!(code(game.say(&air(), Right::Agent, "\u{202e}", 0)), Code::Invalid);
    for _ in 0..2 {
        game.say(&air(), Right::Agent, "a", 0).unwrap();
    }
    assert_eq!(code(game.say(&air(), Right::Agent, "a", 1999)), Code::RateLimited);
    game.say(&ground(), Right::Agent, "a", 1999).unwrap();
    game.say(&air(), Right::Agent, "a", 2000).unwrap();
    game.set_scopes(&air(), &json!(["act"])).unwrap();
    assert_eq!(code(game.say(&air(), Right::Agent, "a", 60_000)), Code::OutOfScope);
    assert_eq!(said(&mut game).len(), 4, "refused ones are said to nobody");
}

/// §4 "Mid-match seat assignment": the inbox ends with the hold of the seat.
#[test]
fn a_new_owner_reads_nothing_of_the_one_before() {
    let mut game = duel();
    tell(&mut game, "ann", "red", json!({ "roles": ["air"], "text": "for my eyes" }), 0).unwrap();
    game.assign(&air(), Occupant::Nobody).unwrap();
    game.assign(&air(), agent("cat")).unwrap();
    assert_eq!(read(&mut game, &air()), None);
}

/// §4: a mode that the game does not declare is refused as such.
#[test]
fn a_game_without_chat_has_no_mode_for_it() {
    let mut game = tic_tac_toe(config());
    game.assign(&x(), agent("ann")).unwrap();
    let message = json!({ "roles": ["player"], "text": "a" });
    assert_eq!(code(tell(&mut game, "ann", "x", message, 0)), Code::ModeUnavailable);
    assert_eq!(code(game.say(&x(), Right::Agent, "a", 0)), Code::ModeUnavailable);
    let call = playerthree_session::Call::parse(game.surface(), "say", &json!({ "text": "a" }));
    assert_eq!(code(call), Code::ModeUnavailable);
}

/// §20: whoever owns seats of two sides tells no agent of either, neither by seat nor by commander, for as long as that
/// lasts.
#[test]
fn nobody_coaches_a_side_while_they_own_seats_of_another() {
    let mut game = agent_command(config());
    let enemy = Seat::new("blue", "air");
    let falcon = commander(&game, "ann", "falcon");
    game.assign(&air(), falcon).unwrap();
    game.assign(&enemy, agent("ann")).unwrap();
    let hello = json!({ "roles": ["air"], "text": "hello" });
    let message =
        TellCommanders::parse(game.surface(), json!({ "commanders": "all", "text": "hello" })).unwrap();
    let coach = |game: &mut Match, side: &str| {
        let by_id = game.tell_commander(&CommanderId("falcon".into()), &air(), message.message(), 0);
        [tell(game, "ann", side, hello.clone(), 0).err(), by_id.err()]
            .map(|error| error.map(|error| error.code))
    };
    for side in ["red", "blue"] {
        assert_eq!(coach(&mut game, side), [Some(Code::Forbidden); 2], "{side}");
    }
    assert_eq!(read(&mut game, &air()).or(read(&mut game, &enemy)), None);
    game.assign(&enemy, Occupant::Nobody).unwrap();
    assert_eq!(coach(&mut game, "red"), [None; 2]);
    assert_eq!(read(&mut game, &air()).unwrap().as_array().unwrap().len(), 2);
    // A seat that is another's by now hears nothing of a message to the commander that had it.
    game.assign(&air(), agent("ann")).unwrap();
    assert_eq!(coach(&mut game, "red"), [None, Some(Code::Forbidden)]);
}

/// §12: what a commander has not read between matches goes along into the match that seats it, and is read first.
#[test]
fn messages_of_the_lobby_go_along_into_the_match() {
    let mut game = agent_command(config());
    let falcon = commander(&game, "ann", "falcon");
    game.assign(&air(), falcon).unwrap();
    let mut unread = Inbox::default();
    unread.put(json!({ "from": "owner", "tick": 0, "text": "welcome" }));
    game.hand_messages_over(&air(), unread, 0).unwrap();
    tell(&mut game, "ann", "red", json!({ "roles": ["air"], "text": "look north" }), 0).unwrap();
    let texts: Vec<Value> = read(&mut game, &air()).unwrap().as_array().unwrap().clone();
    assert_eq!(texts.iter().map(|message| &message["text"]).collect::<Vec<_>>(), ["welcome", "look north"]);
}
