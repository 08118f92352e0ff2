//! §20.9 over a real room, with the clock paused and stepped: nothing about a tick leaves in any channel before its
//! release, and who may see what is judged at each step.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

use playerthree_agent_command::AgentCommand;
use playerthree_binding::{GameRooms, Matches};
use playerthree_game::Game;
use playerthree_host::{Accounts, Agents, POLICY_PLACES, PolicyPlaces};
use playerthree_rooms::testing::{Received, TestClient, TestServer, guest, settle};
use playerthree_rooms::{AuthRequest, Config, Method, Refusal, Server};
use playerthree_sandbox::Workers;
use playerthree_session::{PUBLIC_DELAY_MIN, Surface};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A server of both games, and the accounts of those who come.
struct House {
    server: TestServer,
    accounts: Arc<Accounts>,
}

impl House {
    fn open() -> Self {
        let accounts = Arc::new(Accounts::default());
        let places = PolicyPlaces::new(POLICY_PLACES, Workers::of_this_program());
        let agents = Arc::new(Agents::new(places.clone()));
        let matches = Matches::default();
        let mut server = Server::builder(Config::default());
        let games: [Arc<dyn Game>; 2] = [Arc::new(AgentCommand), Arc::new(TicTacToe)];
        for game in games {
            let surface = Arc::new(Surface::new(game).unwrap());
            let id = surface.manifest.id.clone();
            let (accounts, agents) = (Arc::clone(&accounts), Arc::clone(&agents));
            let rooms = GameRooms::new(surface, accounts, agents, matches.clone(), places.clone());
            server = server.define(&id, rooms);
        }
        Self { server: TestServer::new(server.build().unwrap()), accounts }
    }

    fn person(&self, name: &str) -> Person<'_> {
        let (token, _) = self.accounts.login(name).unwrap();
        Person { house: self, token: token.reveal().to_owned() }
    }

    /// What everybody may read about the one room, as text.
    fn listed(&self) -> Option<Value> {
        self.server.server().listing().first().map(|listing| (*listing.metadata).clone())
    }
}

/// Somebody with an account.
struct Person<'a> {
    house: &'a House,
    token: String,
}

impl Person<'_> {
    async fn join(&self, method: Method, target: &str, options: Value) -> Result<InRoom, Refusal> {
        let request = AuthRequest { token: Some(self.token.clone()), ..guest(options) };
        let client = self.house.server.join_as(method, target, request).await?;
        Ok(InRoom { client, seq: 0, came: Vec::new() })
    }

    async fn create(&self, game: &str, options: Value) -> InRoom {
        self.join(Method::Create, game, options).await.unwrap()
    }

    async fn enter(&self, other: &InRoom, options: Value) -> Result<InRoom, Refusal> {
        self.join(Method::JoinById, &other.client.room_id().to_string(), options).await
    }

    async fn refused(&self, other: &InRoom, options: Value) -> String {
        self.enter(other, options).await.err().expect("the join is refused").to_string()
    }
}

/// A client, and all that has come to it and when.
struct InRoom {
    client: TestClient,
    seq: u32,
    came: Vec<(Instant, Received)>,
}

impl InRoom {
    async fn read(&mut self) -> &[(Instant, Received)] {
        let (from, rest) = (self.came.len(), self.client.rest().await);
        let now = Instant::now();
        self.came.extend(rest.into_iter().map(|received| (now, received)));
        &self.came[from..]
    }

    /// The answer to a numbered operation.
    async fn ask(&mut self, op: &str, mut fields: Value) -> Value {
        self.seq += 1;
        (fields["op"], fields["seq"]) = (json!(op), json!(self.seq));
        self.client.send(format!("playerthree:{op}").as_str(), &fields).await;
        let seq = json!(self.seq);
        let answers = |received: &(Instant, Received)| match &received.1 {
            Received::Message(kind, body) if kind == "playerthree:result" && body["seq"] == seq => {
                Some(body.clone())
            }
            _ => None,
        };
        self.read().await.iter().find_map(answers).expect("an operation is answered")
    }

    /// What an observer's request leads to at once: frames, or the answer that refuses it.
    async fn observe(&mut self, perspective: &str, after: Option<u64>) -> Result<Vec<Value>, Value> {
        self.read().await;
        let request = match after {
            Some(after) => json!({ "perspective": perspective, "after": after }),
            None => json!({ "perspective": perspective }),
        };
        self.client.send("playerthree:observer", &request).await;
        let came = self.read().await;
        let refused = came.iter().find_map(|(_, received)| match received {
            Received::Message(kind, body) if kind == "playerthree:result" => Some(body["code"].clone()),
            _ => None,
        });
        match refused {
            Some(code) => Err(code),
            None => Ok(frames(came).into_iter().map(|(_, frame)| frame).collect()),
        }
    }

    async fn ticket(&mut self, wish: Value) -> Value {
        let answer = self.ask("inviteObserver", wish).await;
        json!({ "as": "observer", "ticket": answer["data"]["ticket"] })
    }
}

fn frames(came: &[(Instant, Received)]) -> Vec<(Instant, Value)> {
    let frame = |(at, received): &(Instant, Received)| match received {
        Received::Message(kind, body) if kind == "playerthree:observer" => {
            Some((*at, body.get("frame")?.clone()))
        }
        _ => None,
    };
    came.iter().filter_map(frame).collect()
}

async fn pass(millis: u64) {
    sleep(Duration::from_millis(millis)).await;
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap()
}

/// A duel in which both sides' seats are the players' own.
fn duel(more: Value) -> Value {
    let mut options = json!({ "teams": ["red", "blue"], "bots": "nobody", "seed": 11, "role": "ground" });
    options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    options
}

/// Nothing about any tick reaches an observer before that tick's release, whatever they read or ask for.
#[tokio::test(start_paused = true)]
async fn nothing_about_a_tick_reaches_an_observer_before_its_release() {
    let house = House::open();
    let began = Instant::now();
    let delay = 3_000;
    let options = duel(json!({ "private": true, "observerDelayMs": delay, "team": "red" }));
    let mut ann = house.person("Ann").create("agent-command", options).await;
    let (everything, side) = (ann.ticket(json!({})).await, ann.ticket(json!({ "team": "red" })).await);
    let mut eve = house.person("Eve").enter(&ann, everything).await.unwrap();
    let mut bob = house.person("Bob").enter(&ann, side).await.unwrap();
    assert_eq!(eve.observe("all", None).await, Ok(vec![]));
    assert_eq!(bob.observe("red", None).await, Ok(vec![]));
    for _ in 0..10 {
        pass(250).await;
        for (observer, seen) in [(&mut eve, "all"), (&mut bob, "red")] {
            for guess in [0, 1, 9, 10_000] {
                assert_eq!(observer.observe(seen, Some(guess)).await, Err(json!("invalid")));
            }
            for op in ["view", "report", "cards", "readiness"] {
                assert_eq!(observer.ask(op, json!({})).await["code"], "forbidden");
            }
        }
    }
    assert!(began.elapsed() < Duration::from_millis(delay));
    for observer in [&eve, &bob] {
        let told = format!("{:?}", observer.came);
        for word in ["tick", "outcome", "frame", "sequence", "recordedAt", "units"] {
            assert!(!told.contains(word), "{word} in {told}");
        }
    }
    for _ in 0..100 {
        pass(100).await;
        eve.read().await;
        bob.read().await;
    }
    for (observer, perspective) in [(&eve, "all"), (&bob, "red")] {
        let frames = frames(&observer.came);
        assert!(frames.len() > 80, "{} frames", frames.len());
        for (at, frame) in &frames {
            assert_eq!(frame["releaseAt"].as_u64().unwrap() - frame["recordedAt"].as_u64().unwrap(), delay);
            assert_eq!(frame["perspective"], perspective);
            let tick = frame["tick"].as_u64().unwrap();
            let live = millis(at.duration_since(began));
            assert!(tick * 100 + delay <= live, "tick {tick} came {live} ms after the start");
        }
        let kinds: Vec<bool> = frames.iter().map(|(_, frame)| frame.get("world").is_some()).collect();
        assert!(kinds[0] && !kinds[1..].contains(&true), "one keyframe, then deltas");
    }
}

/// The end of a public match: no channel tells an observer, and the listing stands still, until its own release; then
/// both do. The room outlives its players for it.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_match_is_told_when_its_frame_is_released() {
    let house = House::open();
    let mut ann = house.person("Ann").create("tic-tac-toe", json!({ "team": "x" })).await;
    let bob = house.person("Bob").enter(&ann, json!({ "team": "o" })).await.unwrap();
    let mut eve = house.person("Eve").enter(&ann, json!({ "as": "observer" })).await.unwrap();
    eve.observe("all", None).await.unwrap();
    pass(5_000).await;
    let before = house.listed().unwrap();
    assert_eq!(before["over"], false);
    let resign = json!({ "role": "player", "method": "act", "args": { "intents": [{ "kind": "resign" }] } });
    assert_eq!(ann.ask("call", resign).await["ok"], true);
    let ended = Instant::now();
    assert_eq!(ann.ask("report", json!({})).await["ok"], true, "the match is over");
    let zoe = house.person("Zoe");
    ann.client.leave().await;
    bob.client.leave().await;
    let mut late = None;
    while ended.elapsed() < Duration::from_millis(PUBLIC_DELAY_MIN - 400) {
        pass(1_000.min(PUBLIC_DELAY_MIN - 300 - millis(ended.elapsed()))).await;
        let came = eve.read().await;
        assert!(!format!("{came:?}").contains("outcomes"), "{came:?}");
        assert_eq!(house.listed().unwrap(), before);
        if late.is_none() && ended.elapsed() > Duration::from_secs(100) {
            let mut zoes = zoe.enter(&eve, json!({ "as": "observer" })).await.unwrap();
            assert_eq!(zoes.observe("all", None).await, Ok(vec![]));
            late = Some(zoes);
        }
    }
    pass(1_000).await;
    for observer in [&mut eve, late.as_mut().unwrap()] {
        observer.read().await;
        let (_, last) = frames(&observer.came).pop().unwrap();
        assert_eq!(last["outcomes"], json!({ "x": "loss", "o": "win" }));
    }
    assert_eq!(house.listed().unwrap()["over"], true);
    eve.client.leave().await;
    late.unwrap().client.leave().await;
    pass(1_000).await;
    assert_eq!(house.listed(), None, "nobody waits for anything here any more");
}

/// A match whose end observers wait for is kept for them, though all of them are away.
#[tokio::test(start_paused = true)]
async fn an_ended_match_waits_for_observers_who_dropped_out() {
    let house = House::open();
    let mut ann = house.person("Ann").create("tic-tac-toe", json!({ "team": "x" })).await;
    let bob = house.person("Bob").enter(&ann, json!({ "team": "o" })).await.unwrap();
    let person = house.person("Eve");
    let eve = person.enter(&ann, json!({ "as": "observer" })).await.unwrap();
    let resign = json!({ "role": "player", "method": "act", "args": { "intents": [{ "kind": "resign" }] } });
    assert_eq!(ann.ask("call", resign).await["ok"], true);
    let id = ann.client.room_id().to_string();
    for client in [ann.client, bob.client, eve.client] {
        client.leave().await;
    }
    pass(PUBLIC_DELAY_MIN - 10_000).await;
    let mut again = person.join(Method::JoinById, &id, json!({ "as": "observer" })).await.unwrap();
    again.observe("all", None).await.unwrap();
    pass(11_000).await;
    again.read().await;
    assert_eq!(frames(&again.came).pop().unwrap().1["outcomes"]["x"], "loss");
    again.client.leave().await;
    pass(1_000).await;
    assert_eq!(house.listed(), None);
}

/// A player keeps their own side's grant alone while they can still influence play, whatever they do; then any, and
/// coaches nobody.
#[tokio::test(start_paused = true)]
async fn players_observe_their_own_side_alone_until_they_are_out_of_play() {
    let house = House::open();
    let person = house.person("Ann");
    let options = json!({ "teams": ["red", "blue", "green"], "alliances": [["red", "green"], ["blue"]],
        "bots": "nobody", "seed": 11, "team": "red", "role": "ground" });
    let ann = person.create("agent-command", options).await;
    let ally = house.person("Gil").enter(&ann, json!({ "team": "green", "role": "ground" })).await.unwrap();
    let bob = house.person("Bob");
    let mut foe = bob.enter(&ann, json!({ "team": "blue", "role": "ground" })).await.unwrap();
    let everything = json!({ "as": "observer" });
    let side = |team: &str| json!({ "as": "observer", "team": team });
    for wish in [everything.clone(), side("blue"), side("green")] {
        assert!(person.refused(&ann, wish).await.contains("players do not observe"));
    }
    let mut own = person.enter(&ann, side("red")).await.unwrap();
    assert_eq!(own.observe("red", None).await, Ok(vec![]));
    for other in ["all", "blue"] {
        assert_eq!(own.observe(other, None).await, Err(json!("forbidden")));
    }
    assert_eq!(own.observe("purple", None).await, Err(json!("invalid")));
    // Leaving the seat changes nothing: the ally plays on.
    ann.client.leave().await;
    pass(61_000).await;
    assert!(person.refused(&foe, everything.clone()).await.contains("players do not observe"));
    let mut mine = person.enter(&foe, side("red")).await.unwrap();
    assert_eq!(mine.observe("all", None).await, Err(json!("forbidden")));
    // The ally leaves too, and the last side has won: now nothing that she knows can matter.
    ally.client.leave().await;
    pass(61_000).await;
    assert_eq!(foe.ask("report", json!({})).await["ok"], true, "the match is over");
    let mut all = person.enter(&foe, everything).await.unwrap();
    all.observe("all", None).await.unwrap();
    all.read().await;
    let told = format!("{:?}", all.came);
    assert!(told.contains("omniscient") && !told.contains("outcomes"), "late like everybody");
    // Bob is out of play too, and coaches nobody any more once he has seen more than his side.
    let tell = json!({ "roles": "all", "text": "well played" });
    assert_eq!(foe.ask("tell", tell.clone()).await["ok"], true);
    let bob = bob.enter(&foe, json!({ "as": "observer" })).await.unwrap();
    assert_eq!(foe.ask("tell", tell).await["code"], "forbidden");
    // Nor does he put anything into a seat of another side.
    for seat in [json!({ "team": "red", "role": "air" }), json!({ "role": "air" })] {
        assert_eq!(foe.ask("mint", seat).await["code"], "forbidden");
    }
    bob.client.leave().await;
}

/// An omniscient observer chooses everything or one side; a cursor gets what follows it; each change of perspective and
/// each cursor too old gets a keyframe.
#[tokio::test(start_paused = true)]
async fn a_perspective_begins_with_a_keyframe_and_a_cursor_goes_on() {
    let house = House::open();
    let options = duel(json!({ "private": true, "observerDelayMs": 0, "team": "red" }));
    let mut ann = house.person("Ann").create("agent-command", options).await;
    let tickets = [ann.ticket(json!({})).await, ann.ticket(json!({})).await];
    let person = house.person("Eve");
    let mut eve = person.enter(&ann, tickets[0].clone()).await.unwrap();
    let whole = |frames: &[Value]| frames.len() == 1 && frames[0].get("world").is_some();
    pass(2_000).await;
    let first = eve.observe("all", None).await.unwrap();
    assert!(whole(&first));
    pass(2_000).await;
    eve.read().await;
    let (_, newest) = frames(&eve.came).pop().unwrap();
    let at = newest["sequence"].as_u64().unwrap();
    assert!(at > first[0]["sequence"].as_u64().unwrap() + 10);
    let red = eve.observe("red", None).await.unwrap();
    assert!(whole(&red) && red[0]["perspective"] == "red" && red[0]["world"]["sides"] != newest["world"]);
    eve.client.leave().await;
    pass(1_000).await;
    // The connection was lost; the next one goes on where this one was cut.
    let mut again = person.enter(&ann, tickets[1].clone()).await.unwrap();
    let missed = again.observe("all", Some(at)).await.unwrap();
    let sequences: Vec<u64> = missed.iter().map(|frame| frame["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (at + 1..=at + sequences.len() as u64).collect::<Vec<_>>());
    assert!(sequences.len() > 5 && missed.iter().all(|frame| frame.get("delta").is_some()));
    pass(10_000).await;
    assert!(whole(&again.observe("all", Some(at)).await.unwrap()), "more than a batch behind");
    pass(120_000).await;
    assert_eq!(again.observe("all", Some(at)).await, Err(json!("invalid")), "retained no more");
    let answer = again.observe("all", None).await.unwrap();
    assert!(whole(&answer));
}

/// §20.9: without delay every tick is recorded while somebody reads, and once a second before and after, so that a match
/// nobody watches costs little.
#[tokio::test(start_paused = true)]
async fn an_unread_stream_without_delay_is_recorded_once_a_second() {
    let house = House::open();
    let options = duel(json!({ "private": true, "observerDelayMs": 0, "team": "red" }));
    let mut ann = house.person("Ann").create("agent-command", options).await;
    let tickets = [ann.ticket(json!({})).await, ann.ticket(json!({})).await];
    let newest = |frames: &[Value]| frames.last().unwrap()["sequence"].as_u64().unwrap();
    pass(30_000).await;
    let person = house.person("Eve");
    let mut eve = person.enter(&ann, tickets[0].clone()).await.unwrap();
    let unread = newest(&eve.observe("all", None).await.unwrap());
    assert!((25..45).contains(&unread), "{unread} frames in 30 s without a reader");
    pass(10_000).await;
    let read = newest(&eve.observe("all", None).await.unwrap()) - unread;
    assert!(read > 80, "{read} frames in 10 s with one");
    eve.client.leave().await;
    pass(30_000).await;
    let mut again = person.enter(&ann, tickets[1].clone()).await.unwrap();
    let after = newest(&again.observe("all", None).await.unwrap()) - unread - read;
    assert!(after < 110, "{after} frames in the 30 s after the last reader left");
}

/// A ticket is for what it says: a side's is no way to everything, nor for a player to another side.
#[tokio::test(start_paused = true)]
async fn a_ticket_grants_what_it_says() {
    let house = House::open();
    let options = duel(json!({ "private": true, "observerDelayMs": 0, "team": "red" }));
    let mut ann = house.person("Ann").create("agent-command", options).await;
    assert_eq!(ann.ask("inviteObserver", json!({ "team": "blue" })).await["code"], "forbidden");
    let side = ann.ask("inviteObserver", json!({ "team": "red" })).await["data"].clone();
    assert_eq!(side["grant"], json!({ "kind": "team", "team": "red", "delayMs": 0 }));
    let ticket = json!({ "as": "observer", "ticket": side["ticket"] });
    let (eve, bob) = (house.person("Eve"), house.person("Bob"));
    let mut with_team = ticket.clone();
    with_team["team"] = json!("blue");
    assert!(eve.enter(&ann, with_team).await.is_err(), "a ticket alone says what it is for");
    let foe = bob.enter(&ann, json!({ "team": "blue", "role": "ground" })).await.unwrap();
    assert!(bob.refused(&ann, ticket.clone()).await.contains("players do not observe"));
    let mut sees_red = eve.enter(&ann, ticket.clone()).await.expect("a refused claim leaves a ticket good");
    assert!(bob.refused(&ann, ticket).await.contains("ticket"));
    assert_eq!(sees_red.observe("all", None).await, Err(json!("forbidden")));
    assert!(sees_red.observe("red", None).await.is_ok());
    // Whoever saw red plays it or nothing.
    assert!(eve.enter(&ann, json!({ "team": "blue" })).await.is_err());
    assert!(eve.enter(&ann, json!({ "team": "red", "role": "air" })).await.is_ok());
    foe.client.leave().await;
}

/// Keyframes cost what fresh views cost, so that asking for them is bounded; a cursor costs no more than an operation.
#[tokio::test(start_paused = true)]
async fn keyframes_are_asked_for_within_a_rate() {
    let house = House::open();
    let options = duel(json!({ "private": true, "observerDelayMs": 0, "team": "red" }));
    let mut ann = house.person("Ann").create("agent-command", options).await;
    let ticket = ann.ticket(json!({})).await;
    let mut eve = house.person("Eve").enter(&ann, ticket).await.unwrap();
    settle().await;
    let mut given = 0;
    let refused = loop {
        match eve.observe("all", None).await {
            Ok(_) => given += 1,
            Err(code) => break code,
        }
    };
    assert_eq!(refused, "rate_limited");
    assert!((40..60).contains(&given), "{given} keyframes at once");
}
