//! §4 "Lobby phase", §5, §20.3: named commanders, their reservations and their one match and side at a time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::*;
use playerthree_agent_command::AgentCommand;
use playerthree_game::Seat;
use playerthree_session::{
    COMMANDERS_PER_OWNER, Code, CommanderId, CommanderKind, Commanders, Draft, Isolation, Metadata, Place,
    Reservation, StartKind, StartsWhen, TellCommanders, ToldLane,
};
use serde_json::{Value, json};
use std::sync::Arc;

type Roster = Commanders<&'static str>;

fn id(text: &str) -> CommanderId {
    CommanderId(text.into())
}

fn first() -> Arc<str> {
    "match-1".into()
}

fn second() -> Arc<str> {
    "match-2".into()
}

fn draft(name: &str) -> Draft {
    let roles = vec!["ground".into(), "air".into()];
    let (isolation, kind) = (Isolation::Independent, CommanderKind::Agent);
    Draft { name: name.into(), roles, isolation, kind, metadata: Metadata::default() }
}

/// Ann's two commanders of the same roles, and one of Bob's.
fn roster() -> Roster {
    let mut roster = Roster::new(surface(AgentCommand));
    roster.add(owner("ann"), id("a1"), draft("Falcon")).unwrap();
    roster.add(owner("ann"), id("a2"), draft("Heron")).unwrap();
    roster.add(owner("bob"), id("b1"), draft("Falcon")).unwrap();
    roster
}

fn kept(team: &str) -> Option<Reservation> {
    Some(Reservation {
        team: team.into(),
        summary: None,
        start: StartsWhen { kind: StartKind::Host, at: None },
    })
}

/// Whether a wait that begins now returns at once.
fn has_news(roster: &Roster, who: &str) -> bool {
    roster.has_news(&id(who), "ground", roster.changes(&id(who), "ground"))
}

fn told(roster: &mut Roster, who: &str, role: &str) -> Value {
    roster.lobby_state(&id(who), &role.into(), 0).unwrap()
}

/// §4: what `commanders.reserve` keeps is what the agent is told; clearing it tells that there is no seat.
#[test]
fn a_reservation_is_told_and_given_up() {
    let mut roster = roster();
    let before = told(&mut roster, "a1", "ground");
    assert_eq!((&before["seat"], &before["startsWhen"]), (&Value::Null, &json!({ "kind": "seat" })));
    roster.reserve(&owner("ann"), &id("a1"), "ground", kept("red")).unwrap();
    assert!(has_news(&roster, "a1"), "a new seat ends a wait at once");
    let state = told(&mut roster, "a1", "ground");
    assert_eq!((&state["seat"]["team"], &state["startsWhen"]["kind"]), (&json!("red"), &json!("host")));
    assert!(!has_news(&roster, "a1"), "told once");
    assert_eq!(told(&mut roster, "a1", "air")["seat"], Value::Null, "lanes are apart");
    assert_eq!(told(&mut roster, "a2", "ground")["seat"], Value::Null, "commanders are apart");
    roster.reserve(&owner("ann"), &id("a1"), "ground", None).unwrap();
    assert!(has_news(&roster, "a1"));
    assert_eq!(roster.place(&id("a1"), "ground"), Some(Place::Lobby), "it never seats anybody");
}

/// §4: the ready mark survives an update of the start, and ends with the seat.
#[test]
fn a_ready_mark_belongs_to_the_reserved_seat() {
    let mut roster = roster();
    roster.ready(&id("a1"), "ground");
    assert_eq!(told(&mut roster, "a1", "ground")["you"]["ready"], false, "unseated, it changes nothing");
    roster.reserve(&owner("ann"), &id("a1"), "ground", kept("red")).unwrap();
    told(&mut roster, "a1", "ground");
    roster.ready(&id("a1"), "ground");
    let mut later = kept("red").unwrap();
    later.start = StartsWhen { kind: StartKind::Countdown, at: Some(5_000) };
    roster.reserve(&owner("ann"), &id("a1"), "ground", Some(later)).unwrap();
    assert!(!has_news(&roster, "a1"), "the same seat is no news");
    let state = told(&mut roster, "a1", "ground");
    assert_eq!((&state["you"]["ready"], &state["startsWhen"]["inSeconds"]), (&json!(true), &json!(5)));
    assert_eq!(
        roster.list(&owner("ann"))[0]["reservations"],
        json!([{ "team": "red", "role": "ground", "ready": true }])
    );
    roster.reserve(&owner("ann"), &id("a1"), "ground", kept("blue")).unwrap();
    assert_eq!(told(&mut roster, "a1", "ground")["you"]["ready"], false);
}

/// §4, §20.3: one side at a time, refused when the second is chosen.
#[test]
fn a_commander_is_never_on_two_sides() {
    let mut roster = roster();
    let ann = owner("ann");
    roster.reserve(&ann, &id("a1"), "ground", kept("red")).unwrap();
    assert_eq!(roster.reserve(&ann, &id("a1"), "air", kept("blue")).unwrap_err().code, Code::Busy);
    roster.reserve(&ann, &id("a1"), "air", kept("red")).unwrap();
    let blue = Seat::new("blue", "ground");
    assert_eq!(roster.seat(&ann, &id("a1"), &blue, &first(), "door").unwrap_err().code, Code::Busy);
    roster.reserve(&ann, &id("a2"), "ground", kept("blue")).unwrap();
    roster.seat(&ann, &id("a2"), &blue, &first(), "door").unwrap();
    assert_eq!(roster.reserve(&ann, &id("a2"), "air", kept("red")).unwrap_err().code, Code::Busy);
}

/// §4: several roles in one match, never two matches at once; a failure takes nothing.
#[test]
fn a_commander_plays_one_match_at_a_time() {
    let mut roster = roster();
    let ann = owner("ann");
    let (ground, air) = (Seat::new("red", "ground"), Seat::new("red", "air"));
    roster.seat(&ann, &id("a1"), &ground, &first(), "one").unwrap();
    roster.seat(&ann, &id("a1"), &air, &first(), "one").unwrap();
    roster.release(&id("a1"), &air, "match-1", None);
    assert_eq!(roster.seat(&ann, &id("a1"), &air, &second(), "two").unwrap_err().code, Code::Busy);
    assert_eq!(roster.place(&id("a1"), "air"), Some(Place::Lobby));
    assert_eq!(roster.place(&id("a1"), "ground"), Some(Place::Seated("one")));
    assert_eq!(roster.commands(&id("a1")), [("ground".into(), Some("red".into())), ("air".into(), None)]);
    roster.seat(&ann, &id("a2"), &air, &second(), "two").unwrap();
    assert_eq!(roster.remove(&ann, &id("a1")).unwrap_err().code, Code::Busy, "not while it plays");
}

/// §4: the mark carries into the match that seats the lane, and back when that match never starts.
#[test]
fn a_ready_mark_goes_into_the_match_and_back() {
    let mut roster = roster();
    let (ann, ground) = (owner("ann"), Seat::new("red", "ground"));
    roster.reserve(&ann, &id("a1"), "ground", kept("red")).unwrap();
    roster.ready(&id("a1"), "ground");
    assert!(roster.seat(&ann, &id("a1"), &ground, &first(), "one").unwrap().ready);
    roster.release(&id("a1"), &ground, "match-1", Some(true));
    assert_eq!(told(&mut roster, "a1", "ground")["you"]["ready"], true);
    roster.seat(&ann, &id("a1"), &ground, &second(), "two").unwrap();
    roster.release(&id("a1"), &ground, "match-1", None);
    assert_eq!(roster.place(&id("a1"), "ground"), Some(Place::Seated("two")), "that match no longer has it");
    roster.release(&id("a1"), &ground, "match-2", None);
    assert_eq!(
        told(&mut roster, "a1", "ground")["seat"],
        Value::Null,
        "a match that ran uses the reservation up"
    );
}

/// §4: a terminal result is kept for one wait, and the commander is free meanwhile.
#[test]
fn the_end_of_a_match_is_told_once_and_frees_the_commander() {
    let mut roster = roster();
    let (ann, ground) = (owner("ann"), Seat::new("red", "ground"));
    roster.seat(&ann, &id("a1"), &ground, &first(), "one").unwrap();
    roster.finished(&id("a1"), &ground, "match-1");
    assert_eq!(roster.place(&id("a1"), "ground"), Some(Place::Lobby));
    assert!(roster.ended(&id("a1"), "ground").eq(["one"]));
    roster.reserve(&ann, &id("a1"), "air", kept("blue")).unwrap();
    roster.told_the_end(&id("a1"), "ground", "match-1");
    assert_eq!(roster.ended(&id("a1"), "ground").count(), 0);
    assert_eq!(roster.place(&id("a1"), "ground"), Some(Place::Lobby));
}

/// §4 "once each": ends that come while nobody waits are kept in their order, so many of them, and told match by match.
#[test]
fn ends_of_several_matches_are_kept_apart() {
    let mut roster = roster();
    let (ann, ground) = (owner("ann"), Seat::new("red", "ground"));
    let doors = ["one", "two", "three", "four", "five"];
    for (match_id, door) in (1..).zip(doors) {
        let match_id: Arc<str> = format!("match-{match_id}").into();
        roster.seat(&ann, &id("a1"), &ground, &match_id, door).unwrap();
        roster.finished(&id("a1"), &ground, &match_id);
    }
    assert!(roster.ended(&id("a1"), "ground").eq(["one", "two", "three", "four"]), "the last seen first");
    roster.told_the_end(&id("a1"), "ground", "match-2");
    roster.release(&id("a1"), &ground, "match-3", None);
    assert!(roster.ended(&id("a1"), "ground").eq(["one", "four"]), "a room that is gone tells nothing");
}

/// §4 "Lobby phase": a seat that is reserved while the lane is in a held match is news when that match is given up, and not
/// once the match ran.
#[test]
fn a_reservation_made_in_a_match_is_told_after_it() {
    let mut roster = roster();
    let (ann, ground) = (owner("ann"), Seat::new("red", "ground"));
    roster.seat(&ann, &id("a1"), &ground, &first(), "one").unwrap();
    roster.reserve(&ann, &id("a1"), "ground", kept("red")).unwrap();
    roster.release(&id("a1"), &ground, "match-1", Some(false));
    assert!(has_news(&roster, "a1"));
    assert_eq!(told(&mut roster, "a1", "ground")["seat"]["team"], "red");
    assert!(!has_news(&roster, "a1"), "told once");
    roster.seat(&ann, &id("a1"), &ground, &second(), "two").unwrap();
    roster.release(&id("a1"), &ground, "match-2", Some(false));
    assert!(!has_news(&roster, "a1"), "nothing was changed meanwhile");
    roster.reserve(&ann, &id("a1"), "ground", None).unwrap();
    roster.reserve(&ann, &id("a1"), "ground", kept("red")).unwrap();
    roster.seat(&ann, &id("a1"), &ground, &second(), "two").unwrap();
    roster.finished(&id("a1"), &ground, "match-2");
    assert!(!has_news(&roster, "a1"), "the match tells of itself, and used the reservation up");
}

/// §5, §20.3: only the owner's own commander, and no way to tell somebody else's from none at all.
#[test]
fn somebody_elses_commander_is_as_unknown_as_none() {
    let mut roster = roster();
    let (bob, ground) = (owner("bob"), Seat::new("red", "ground"));
    let mut refusals = Vec::new();
    for who in ["a1", "nobody"] {
        refusals.push(roster.reserve(&bob, &id(who), "ground", kept("red")).unwrap_err());
        refusals.push(roster.seat(&bob, &id(who), &ground, &first(), "door").unwrap_err());
        refusals.push(roster.remove(&bob, &id(who)).unwrap_err());
        refusals.push(roster.patch(&bob, &id(who), &json!({}), |_, _| Ok(())).unwrap_err());
    }
    assert!(refusals.iter().all(|refusal| *refusal == Code::Forbidden.into()));
    assert_eq!(roster.list(&bob).len(), 1);
    assert!(!json!(roster.list(&bob)).to_string().contains("a1"));
}

/// §20.3: drafts and reservations out of the manifest are refused, and a roster is bounded.
#[test]
fn drafts_reservations_and_rosters_have_bounds() {
    let mut roster = roster();
    let (ann, surface) = (owner("ann"), surface(AgentCommand));
    for wrong in [
        json!({ "name": "", "roles": ["ground"] }),
        json!({ "name": "x".repeat(25), "roles": ["ground"] }),
        json!({ "name": "<b>", "roles": ["ground"] }),
        json!({ "name": "x", "roles": [] }),
        json!({ "name": "x", "roles": ["pope"] }),
        json!({ "name": "x", "roles": ["ground", "ground"] }),
        json!({ "name": "x", "roles": ["ground"], "kind": "human" }),
        json!({ "name": "x", "roles": ["ground"], "isolation": "none" }),
        json!(null),
    ] {
        assert_eq!(Draft::parse(&surface, &wrong).unwrap_err().code, Code::Invalid, "{wrong}");
    }
    let one_role = Draft::parse(&surface, &json!({ "name": " Owl ", "roles": ["air"] })).unwrap();
    assert_eq!(one_role.name, "Owl");
    roster.add(ann.clone(), id("a3"), one_role).unwrap();
    assert_eq!(roster.reserve(&ann, &id("a3"), "ground", kept("red")).unwrap_err().code, Code::Invalid);
    assert_eq!(roster.reserve(&ann, &id("a3"), "air", kept("pink")).unwrap_err().code, Code::Invalid);
    let mut summary = kept("red").unwrap();
    summary.summary = Some(json!({ "map": 1 }));
    assert_eq!(roster.reserve(&ann, &id("a3"), "air", Some(summary)).unwrap_err().code, Code::Invalid);
    let ground = Seat::new("red", "ground");
    assert_eq!(roster.seat(&ann, &id("a3"), &ground, &first(), "door").unwrap_err().code, Code::Invalid);
    for n in 3..COMMANDERS_PER_OWNER {
        roster.add(ann.clone(), id(&format!("more{n}")), draft("x")).unwrap();
    }
    assert_eq!(roster.add(ann.clone(), id("over"), draft("x")).unwrap_err().code, Code::Busy);
    roster.remove(&ann, &id("a3")).unwrap();
    roster.add(ann, id("over"), draft("x")).unwrap();
}

fn word(roster: &mut Roster, who: &str, to: Value, now: u64) -> Result<Vec<ToldLane<&'static str>>, Code> {
    let tell =
        TellCommanders::parse(&surface(AgentCommand), json!({ "commanders": to, "text": "look north" }));
    roster.tell(&owner(who), &tell.map_err(|error| error.code)?, now).map_err(|error| error.code)
}

fn read(roster: &mut Roster, who: &str, role: &str) -> usize {
    roster.take_inbox(&id(who), role).take().map_or(0, |messages| messages.as_array().unwrap().len())
}

/// §12 `commanders.tell`: named ids, never roles. Each lane of theirs has the message once and no other lane has it; in the
/// lobby its tick is zero. A lane that plays is its match's to tell.
#[test]
fn a_message_is_for_every_lane_of_the_named_commanders_alone() {
    let mut roster = roster();
    let air = Seat::new("red", "air");
    roster.seat(&owner("ann"), &id("a1"), &air, &first(), "door").unwrap();
    let told = word(&mut roster, "ann", json!(["a1"]), 0).unwrap();
    let seated: Vec<_> = told.iter().filter_map(|lane| Some((&*lane.role, lane.hold?))).collect();
    assert_eq!((told.len(), &seated[..]), (2, &[("air", "door")][..]));
    let message = json!([{ "from": "owner", "tick": 0, "text": "look north" }]);
    assert_eq!(roster.take_inbox(&id("a1"), "ground").take(), Some(message));
    for (who, role) in [("a1", "ground"), ("a1", "air"), ("a2", "ground"), ("a2", "air"), ("b1", "ground")] {
        assert_eq!(read(&mut roster, who, role), 0, "{who} {role}");
    }
    assert_eq!(word(&mut roster, "ann", json!("all"), 0).unwrap().len(), 4);
    assert_eq!(["a1", "a2", "b1"].map(|who| read(&mut roster, who, "ground")), [1, 1, 0]);
}

/// §12, §15: nobody tells somebody else's commander or one that does not exist, alike, and then nobody is told; an owner
/// has five messages and one a second.
#[test]
fn an_owner_tells_their_own_commanders_alone_and_not_too_fast() {
    let mut roster = roster();
    for to in [json!(["b1"]), json!(["nobody"]), json!(["a1", "b1"]), json!(["a1", "nobody"])] {
        assert_eq!(word(&mut roster, "ann", to, 0), Err(Code::Forbidden));
    }
    assert_eq!(word(&mut roster, "eve", json!("all"), 0), Err(Code::Forbidden));
    let many: Vec<String> = (0..=COMMANDERS_PER_OWNER).map(|number| number.to_string()).collect();
    for to in [json!([]), json!(["a1", "a1"]), json!([1]), json!(many), json!("some"), json!(null)] {
        assert_eq!(word(&mut roster, "ann", to, 0), Err(Code::Invalid));
    }
    assert_eq!(read(&mut roster, "a1", "ground"), 0);
    let sent = (0..8).filter(|_| word(&mut roster, "ann", json!(["a1"]), 0).is_ok()).count();
    assert_eq!((sent, word(&mut roster, "ann", json!(["a2"]), 999)), (5, Err(Code::RateLimited)));
    assert!(word(&mut roster, "ann", json!(["a2"]), 1_000).is_ok());
    assert!(word(&mut roster, "bob", json!(["b1"]), 0).is_ok(), "another owner's bucket is theirs");
}

/// §12, §6: between matches a commander answers its owner by scope, in bounds, three at once and one in two seconds.
#[test]
fn a_commander_answers_its_owner_between_matches() {
    let mut roster = roster();
    let mut say = |text: &str, now| roster.say(&id("a1"), "air", text, now).map_err(|error| error.code);
    assert_eq!(say("on my way", 0), Ok((owner("ann"), "on my way".to_owned())));
    assert_eq!(say(" ", 0), Err(Code::Invalid));
    let codes: Vec<_> = [0, 0, 0, 1_999, 2_001].map(|now| say("again", now).err()).into();
    assert_eq!(codes, [None, None, Some(Code::RateLimited), Some(Code::RateLimited), None]);
    roster.patch(&owner("ann"), &id("a1"), &json!({ "scopes": ["act"] }), |_, _| Ok(())).unwrap();
    assert_eq!(roster.say(&id("a1"), "ground", "hello", 0).unwrap_err().code, Code::OutOfScope);
}
