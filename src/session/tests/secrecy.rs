//! §§1, 12, 15, 22: what belongs to one party is in no payload of another, in both games. Every private thing carries a
//! mark, every payload of every principal is gathered, and a table says who may find which mark.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use playerthree_game::{Detail, Runtime, Seat};
use playerthree_session::{
    Ack, Artifact, Config, Deploy, Label, Match, Observe, ObserverPerspective, ObserverPolicy, PolicyError,
    Pushed, Right, StreamRequest, Tell, Thought, ViewMessage, Wait, Waiting,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Who a payload is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reader {
    /// An agent or a policy of a seat.
    Agent(Seat),
    /// The owner of a side, in person and through the page.
    Owner(&'static str),
    /// Whoever watches a side.
    Spectator(&'static str),
    Observer,
}

struct Gathered(BTreeMap<Reader, String>);

impl Gathered {
    fn new() -> Self {
        Self(BTreeMap::new())
    }

    fn add(&mut self, reader: Reader, payload: &Value) {
        self.0.entry(reader).or_default().push_str(&payload.to_string());
    }

    /// Exactly these readers find the mark.
    fn assert_found_by(&self, mark: &str, readers: &[Reader]) {
        for (reader, payloads) in &self.0 {
            assert_eq!(payloads.contains(mark), readers.contains(reader), "{mark} and {reader:?}");
        }
    }
}

/// Everything that leaves the match now.
fn gather(game: &mut Match, sides: &[(&'static str, &str)]) -> Gathered {
    let mut all = Gathered::new();
    let changes = game.take_changes();
    for said in changes.said {
        let (side, _) = sides.iter().find(|(_, name)| owner(name) == said.owner).unwrap();
        all.add(Reader::Owner(side), &json!(said.text));
    }
    for (team, message) in changes.views {
        let (side, _) = sides.iter().find(|(side, _)| **side == *team).unwrap();
        let pushed = match &message {
            ViewMessage::Keyframe { view, .. } => view.value(),
            ViewMessage::Delta { delta, .. } => delta.as_wire(),
        };
        all.add(Reader::Owner(side), pushed);
        all.add(Reader::Spectator(side), pushed);
    }
    for Pushed { seat, right, observation, .. } in changes.observations {
        let (side, _) = sides.iter().find(|(side, _)| **side == *seat.team).unwrap();
        all.add(if right == Right::Agent { Reader::Agent(seat) } else { Reader::Owner(side) }, &observation);
    }
    for key in game.observer_since(&ObserverPerspective::All, None).unwrap() {
        let frame = game.observer_frame(&ObserverPerspective::All, key).unwrap();
        all.add(Reader::Observer, &frame.into_json());
    }
    for (side, name) in sides {
        let view = game.view(side).unwrap().into_value();
        let (owner, spectator) = (Reader::Owner(side), Reader::Spectator(side));
        all.add(owner.clone(), &view);
        all.add(owner.clone(), &json!(game.seats_json_for(&common::owner(name), 0)));
        all.add(owner.clone(), &game.report(side).unwrap());
        all.add(spectator.clone(), &view);
        let everybodys = json!([game.seats_json(0), game.status(), game.cards(0), game.readiness(0)]);
        all.add(owner.clone(), &everybodys);
        all.add(spectator, &everybodys);
        for role in game.surface().manifest.roles.clone() {
            let seat = Seat::new(side, &role);
            for payload in of_agent(game, &seat) {
                all.add(Reader::Agent(seat.clone()), &payload);
            }
            let observation = game.observe(&seat, Right::Owner, &Observe::default()).unwrap();
            all.add(owner.clone(), &json!([observation, game.take_messages(&seat, Right::Owner).unwrap()]));
        }
    }
    all
}

fn of_agent(game: &mut Match, seat: &Seat) -> Vec<Value> {
    let mut payloads = vec![
        game.observe(seat, Right::Agent, &Observe::default()).unwrap(),
        game.probe_observation(seat, &[]).unwrap(),
        game.match_data(seat).unwrap(),
        json!(game.terms(seat).unwrap()),
        game.policy_status(seat).unwrap(),
    ];
    if let Ok(Waiting::Done(answer)) = game.wait(seat, Right::Agent, Wait { millis: 0, until: Vec::new() }, 0)
    {
        payloads.push(answer);
    }
    payloads
}

fn tell(game: &mut Match, name: &str, team: &str, message: Value) {
    let tell = Tell::parse(game.surface(), message).unwrap();
    game.tell(&owner(name), team, &tell, 0).unwrap();
}

/// A policy whose log and error carry a mark.
fn deploy(game: &mut Match, seat: &Seat, log: &str) {
    let code = format!("// code-{log}\nfunction think() {{ return [] }}").into_bytes();
    let artifact = Artifact { runtime: Runtime::Js, code: code.into() };
    let Deploy::Probe(activation) = game.deploy(seat, artifact).unwrap() else { panic!("an approval") };
    let thought = Thought { logs: vec![log.to_owned()], ..Thought::default() };
    game.activated(seat, &activation, &Ok(thought));
    let thinks = game.begin_round(0, &|_| Some(Vec::new()));
    for think in thinks {
        let answer = if think.seat == *seat {
            Err(PolicyError { message: Some(format!("error-{log}")), ..PolicyError::of("threw") })
        } else {
            Ok(Thought::default())
        };
        game.thought(&think.seat, answer);
    }
    game.end_round(0);
}

#[test]
fn private_things_of_agent_command_reach_their_own_party_alone() {
    let mut game = agent_command(Config { observers: ObserverPolicy::Private(0), ..config() });
    let seat = |team: &str, role: &str| Seat::new(team, role);
    for (team, name) in [("red", "ann-identity"), ("blue", "bob-identity")] {
        for role in ["ground", "air"] {
            game.assign(&seat(team, role), agent(name)).unwrap();
            game.agent_call_started(&seat(team, role), 0);
        }
        game.subscribe(team).unwrap();
        for right in [Right::Owner, Right::Agent] {
            let request = StreamRequest { every_ticks: 1, detail: Detail::All };
            game.stream(&seat(team, "air"), right, &request).unwrap();
        }
    }
    game.note_harness(&seat("red", "air"), &Label::parse("harness-of-red").unwrap());
    deploy(&mut game, &seat("blue", "air"), "policy-log-of-blue");
    tell(&mut game, "ann-identity", "red", json!({ "roles": ["ground"], "text": "told-to-red-ground" }));
    tell(&mut game, "bob-identity", "blue", json!({ "roles": "all", "text": "told-to-blue" }));
    game.say(&seat("red", "air"), Right::Agent, "said-by-red-air", 0).unwrap();
    let look = json!({ "kind": "signal", "signal": { "kind": "look", "x": 1357, "y": 2468, "to": "air" } });
    assert_eq!(act(&mut game, &seat("red", "ground"), Right::Agent, look), Ack::Ok);
    let supply =
        json!({ "kind": "signal", "signal": { "kind": "supply", "building": "reactor", "to": "team" } });
    assert_eq!(act(&mut game, &seat("blue", "air"), Right::Agent, supply), Ack::Ok);
    tick(&mut game, 0);

    let all = gather(&mut game, &[("red", "ann-identity"), ("blue", "bob-identity")]);
    let agent_of = |team: &str, role: &str| Reader::Agent(seat(team, role));
    all.assert_found_by("told-to-red-ground", &[agent_of("red", "ground")]);
    all.assert_found_by("told-to-blue", &[agent_of("blue", "ground"), agent_of("blue", "air")]);
    all.assert_found_by("said-by-red-air", &[Reader::Owner("red")]);
    // A signal is in the slices of its two seats and on the board that the side's view shows (§22.3).
    let red =
        [agent_of("red", "ground"), agent_of("red", "air"), Reader::Owner("red"), Reader::Spectator("red")];
    all.assert_found_by("\"x\":1357", &red);
    let blue = [
        agent_of("blue", "economy"),
        agent_of("blue", "air"),
        Reader::Owner("blue"),
        Reader::Spectator("blue"),
    ];
    all.assert_found_by("\"building\":\"reactor\"", &blue);
    // Logs and errors are the policy's own seat's, and its owner's.
    for mark in ["error-policy-log-of-blue", "policy-log-of-blue"] {
        all.assert_found_by(mark, &[agent_of("blue", "air"), Reader::Owner("blue")]);
    }
    all.assert_found_by("code-policy-log-of-blue", &[]);
    // What agents' programs call themselves is for people.
    let people = ["red", "blue"].map(|side| [Reader::Owner(side), Reader::Spectator(side)]).concat();
    all.assert_found_by("harness-of-red", &people);
    // Identities go nowhere; names that people chose go to people and never to an agent.
    for name in ["ann-identity", "bob-identity"] {
        all.assert_found_by(&format!("\"{name}\""), &[]);
        let people = ["red", "blue"].map(|side| [Reader::Owner(side), Reader::Spectator(side)]).concat();
        all.assert_found_by(&format!("{name} in person"), &people);
    }
}

#[test]
fn private_things_of_tic_tac_toe_reach_their_own_party_alone() {
    let mut game = tic_tac_toe(Config { observers: ObserverPolicy::Private(0), ..config() });
    game.assign(&x(), agent("ann-identity")).unwrap();
    game.assign(&o(), human("bob-identity")).unwrap();
    for side in ["x", "o"] {
        game.subscribe(side).unwrap();
    }
    let (_, mut mandate) = game.terms(&x()).unwrap();
    mandate["autonomy"] = json!("supervised");
    game.set_mandate(&x(), &mandate).unwrap();
    assert_eq!(act(&mut game, &x(), Right::Agent, place(1, 1)), Ack::Ok);
    let all = gather(&mut game, &[("x", "ann-identity"), ("o", "bob-identity")]);
    all.assert_found_by("supervised", &[Reader::Agent(x()), Reader::Owner("x")]);
    for name in ["ann-identity", "bob-identity"] {
        all.assert_found_by(&format!("\"{name}\""), &[]);
        let people = ["x", "o"].map(|side| [Reader::Owner(side), Reader::Spectator(side)]).concat();
        all.assert_found_by(&format!("{name} in person"), &people);
    }
}
