//! The recorded talks of `transcripts/talks.txt`, held again with this server: what a client sent is sent, and what it
//! was answered must be answered. Bytes are compared as they are, but for what the protocol leaves open: ids and
//! tokens, the form of a map, the texts of errors, and the bytes of a state, of which the kind of frame is compared.

use crate::support::{self, Running, Seat, Socket};
use futures_util::SinkExt;
use playerthree_rooms::{
    AuthRequest, BadMessage, CloseReason, Config, Cx, Definition, Frame, Generation, Join, Message,
    MessageType, Refusal, Reply, Request, Room, RoomSettings, Server, SessionId, Visibility,
};
use playerthree_rooms_state::{List, Map, Number, State, Synced, Synchronized};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message as Sent;

/// The rooms of the recorded servers.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Chat,
    Filtered,
    Listed,
    Auth,
    /// Its rooms decide themselves who may join.
    InstanceAuth,
    FailCreate,
    FailJoin,
}

struct Recorded(Kind, HashMap<SessionId, Value>);

impl Definition for Kind {
    type Room = Recorded;

    async fn authorize(&self, request: &AuthRequest) -> Result<Value, Refusal> {
        match (self, request.options["mode"].as_str(), request.token.as_deref()) {
            (Self::Auth, Some("false"), _) => Err(Refusal::auth_failed()),
            (Self::Auth, Some("code"), _) => Err(Refusal::new(499, "bad token")),
            (Self::Auth, _, Some("good-token")) => Ok(json!({ "user": "alice", "via": "header" })),
            (Self::Auth, _, _) => Err(Refusal::new(401, "bad token")),
            (_, _, token) => Ok(json!({ "user": "carol", "token": token })),
        }
    }

    fn create(&self, cx: &mut Cx<'_, Recorded>, options: &Value) -> Result<Recorded, Refusal> {
        if *self == Self::FailCreate {
            return Err(Refusal::failed());
        }
        if let Some(seats) = options["maxClients"].as_u64() {
            cx.set_max_clients(usize::try_from(seats).unwrap());
        }
        if options["private"] == true {
            cx.set_visibility(Visibility::Private);
        }
        Ok(Recorded(*self, HashMap::new()))
    }

    fn settings(&self) -> RoomSettings {
        let filter_by = if *self == Self::Filtered { vec!["mode".into()] } else { vec![] };
        RoomSettings { filter_by, ..RoomSettings::default() }
    }
}

impl Room for Recorded {
    type Event = ();
    type Auth = Value;

    fn on_join(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        join: Join<Value>,
    ) -> Result<(), Refusal> {
        match self.0 {
            Kind::FailJoin => match join.options["code"].as_u64() {
                Some(code) => return Err(Refusal::new(u16::try_from(code).unwrap(), "join failed")),
                None => return Err(Refusal::join_refused("join failed plainly")),
            },
            Kind::InstanceAuth if join.options["code"] == "bad" => return Err(Refusal::auth_failed()),
            Kind::Chat | Kind::Filtered => cx.send(client, "welcome", &json!({ "id": "joined" })).unwrap(),
            _ => {}
        }
        self.1.insert(client, join.auth);
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let payload = &message.payload;
        if let Some(bytes) = payload.bytes() {
            cx.send_bytes(client, message.kind, bytes);
            return Ok(());
        }
        match message.kind {
            MessageType::Name("echo") | MessageType::Number(_) => {
                cx.send(client, message.kind, &payload.decode::<Value>()?).unwrap();
            }
            MessageType::Name("nothing") => cx.send_frame(client, &Frame::signal("nothing")),
            MessageType::Name("numbig") => cx.send(client, 300, "three-hundred").unwrap(),
            MessageType::Name("numhuge") => cx.send(client, 70_000, &json!({ "n": 1 })).unwrap(),
            MessageType::Name("bytesout") => cx.send_bytes(client, "raw", &[1, 2, 3, 255]),
            MessageType::Name("bytesnum") => cx.send_bytes(client, 9, &[4, 5]),
            MessageType::Name("err") => cx.send_error(client, &Refusal::new(4217, "custom")),
            MessageType::Name("bcast") => {
                cx.broadcast("bcast", &payload.decode::<Value>()?, &[client]).unwrap();
            }
            MessageType::Name("all") => cx.broadcast("all", &payload.decode::<Value>()?, &[]).unwrap(),
            MessageType::Name("kick") => cx.kick(client, CloseReason::Application(payload.decode()?)),
            MessageType::Name("close-room") => cx.disconnect(CloseReason::Consented),
            MessageType::Name("lock") => cx.lock(),
            MessageType::Name("unlock") => cx.unlock(),
            MessageType::Name("private") => {
                let private = payload.decode()?;
                cx.set_visibility(if private { Visibility::Private } else { Visibility::Public });
            }
            MessageType::Name("who") => cx.send(client, "who", &self.1[&client]).unwrap(),
            MessageType::Name(_) => return Err(BadMessage::UnknownType),
        }
        Ok(())
    }

    fn on_request(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        request: Request<'_>,
    ) -> Result<Reply, BadMessage> {
        Ok(match request.kind {
            MessageType::Name("ask") => {
                let asked: Value = request.payload.decode()?;
                Reply::value(&json!({ "answer": asked["n"].as_u64().unwrap() + 1 })).unwrap()
            }
            MessageType::Name("ask-void") => Reply::done(),
            MessageType::Name("ask-throw") => Reply::fault("TypeError", "nope", Some(77)),
            MessageType::Name("ask-reject") => Reply::rejected(&json!({ "why": "because" })).unwrap(),
            MessageType::Name("echo") => {
                cx.send(client, "echo", &request.payload.decode::<Value>()?).unwrap();
                Reply::done()
            }
            _ => Reply::no_handler(),
        })
    }
}

#[derive(State, Default)]
struct Item {
    name: String,
    qty: u8,
}

#[derive(State, Default)]
struct Player {
    x: Number,
    y: Number,
    name: String,
    items: List<Item>,
}

#[derive(State, Default)]
struct Game {
    round: i32,
    title: String,
    open: bool,
    players: Map<Player>,
    scores: List<Number>,
    boss: Player,
}

/// The recorded rooms that have a state.
#[derive(Clone, Copy, PartialEq)]
enum Stateful {
    Game,
    /// It holds the seats of clients that were lost, counts them, and remembers what happened to it.
    Recon,
}

struct Stage {
    kind: Stateful,
    game: Synced<Game>,
    log: Vec<&'static str>,
}

impl Definition for Stateful {
    type Room = Stage;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, _: &mut Cx<'_, Stage>, _: &Value) -> Result<Stage, Refusal> {
        let boss = Player { x: 7.0.into(), y: 8.0.into(), ..Player::default() };
        let game = Game { round: 1, title: "hello".to_owned(), open: true, boss, ..Game::default() };
        Ok(Stage { kind: *self, game: Synced::new(game), log: Vec::new() })
    }
}

impl Room for Stage {
    type Event = ();
    type Auth = ();

    fn state(&mut self) -> Option<&mut dyn Synchronized> {
        Some(&mut self.game)
    }

    fn on_join(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: Join<()>) -> Result<(), Refusal> {
        self.log.push("join");
        if self.kind == Stateful::Game {
            cx.send(client, "welcome", &1).unwrap();
        }
        Ok(())
    }

    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        self.log.push("drop:1006");
        self.game.round += 1;
        cx.allow_reconnection(client, Duration::from_secs(20));
    }

    fn on_reconnect(&mut self, _: &mut Cx<'_, Self>, _: SessionId) {
        self.log.push("reconnect");
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let MessageType::Name(name) = message.kind else { return Err(BadMessage::UnknownType) };
        let told: Value =
            if ["log", "clear", "shift"].contains(&name) { Value::Null } else { message.payload.decode()? };
        let number = |name: &str| Number(told[name].as_f64().unwrap());
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        match name {
            "echo" => cx.send(client, "echo", &told).unwrap(),
            "log" => cx.send(client, "log", &self.log).unwrap(),
            "kick" => cx.kick(client, CloseReason::MayReconnect),
            "spawn" => {
                let player =
                    Player { x: number("x"), y: number("y"), name: text("name"), items: List::new() };
                drop(self.game.players.insert(text("key"), player));
            }
            "move" => {
                let alice = self.game.players.get_mut("alice").unwrap();
                (alice.x, alice.y) = (number("x"), number("y"));
            }
            "give" => {
                let qty = u8::try_from(told["qty"].as_u64().unwrap()).unwrap();
                let player = self.game.players.get_mut(&text("key")).unwrap();
                player.items.push(Item { name: text("name"), qty });
            }
            "take" => drop(self.game.players.get_mut(&text("key")).unwrap().items.remove(0)),
            "despawn" => drop(self.game.players.remove(&text("key"))),
            "clear" => self.game.players.clear(),
            "push" => {
                for score in told.as_array().unwrap() {
                    self.game.scores.push(Number(score.as_f64().unwrap()));
                }
            }
            "shift" => drop(self.game.scores.remove(0)),
            "title" => self.game.title = told.as_str().unwrap().to_owned(),
            "after" => {
                self.game.round += 1;
                cx.after_patch().send(client, "after", &told).unwrap();
            }
            _ => return Err(BadMessage::UnknownType),
        }
        Ok(())
    }
}

/// One talk, in the middle of it.
struct Talk {
    server: Running,
    generation: Generation,
    seats: HashMap<u32, Seat>,
    sockets: HashMap<u32, Socket>,
    tokens: HashMap<u32, String>,
}

impl Talk {
    async fn event(&mut self, line: &str) {
        if line == "stop" {
            let server = self.server.server.clone();
            return drop(tokio::spawn(async move { server.shutdown(Duration::from_secs(5)).await }));
        }
        let (first, rest) = line.split_once(' ').unwrap();
        match first {
            "post" => self.post(rest).await,
            "open" => self.open(rest).await,
            _ => {
                let number = first.trim_end_matches(['<', '>']).parse().unwrap();
                if first.ends_with('>') {
                    self.say(number, rest).await;
                } else {
                    self.hear(number, rest).await;
                }
            }
        }
    }

    async fn post(&mut self, line: &str) {
        let (request, outcome) = line.split_once(" -> ").unwrap();
        let (request, token) = request.split_once(" as ").unwrap_or((request, ""));
        let [method, target, options] = request.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
        let options = match options.parse::<u32>() {
            Ok(seat) => json!({ "reconnectionToken": self.tokens[&seat] }).to_string(),
            Err(_) => options.to_owned(),
        };
        let target = match target.strip_prefix('$') {
            Some(seat) => self.seats[&seat.parse().unwrap()].room(),
            None => target.to_owned(),
        };
        let authorization =
            if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let answer = self
            .server
            .ask(&format!(
                "POST {}/matchmake/{method}/{target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{authorization}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{options}",
                self.generation.prefix(),
                options.len()
            ))
            .await;
        match outcome.strip_prefix("seat ") {
            Some(number) => {
                assert_eq!(answer.status, 200, "{line}: {answer:?}");
                self.seats.insert(number.parse().unwrap(), Seat::read(&answer.body));
            }
            None => {
                let code: u16 = outcome.parse().unwrap();
                let body: Value = serde_json::from_str(&answer.body).unwrap();
                assert_eq!((answer.status, &body["code"]), (code, &json!(code)), "{line}");
                assert!(body["error"].is_string(), "{line}");
            }
        }
    }

    async fn open(&mut self, line: &str) {
        let mut words = line.split(' ');
        let number = words.next().unwrap().parse().unwrap();
        let path = match (words.next(), words.next()) {
            (Some("/"), _) => "/".to_owned(),
            (Some("again"), Some(seat)) => {
                let seat = seat.parse().unwrap();
                // Each join of a seat has a token of its own.
                let joined = words.nth(1).map_or(seat, |joined| joined.parse().unwrap());
                let (path, token) = (self.seats[&seat].path(), &self.tokens[&joined]);
                format!("{path}&reconnectionToken={token}&skipHandshake=true")
            }
            (Some("after"), Some(joined)) => {
                let token = &self.tokens[&joined.parse().unwrap()];
                format!("{}&reconnectionToken={token}", self.seats[&number].path())
            }
            (Some("skip"), _) => format!("{}&skipHandshake=1", self.seats[&number].path()),
            _ => self.seats[&number].path(),
        };
        let socket = self.server.upgrade(&format!("{}{path}", self.generation.prefix()), &[]).await.unwrap();
        self.sockets.insert(number, socket);
    }

    async fn say(&mut self, number: u32, what: &str) {
        let socket = self.sockets.get_mut(&number).unwrap();
        match what {
            "close" => socket.close(None).await.unwrap(),
            "drop" => drop(self.sockets.remove(&number)),
            hex => socket.send(Sent::Binary(bytes(hex).into())).await.unwrap(),
        }
    }

    async fn hear(&mut self, number: u32, what: &str) {
        let heard = self.next(number).await;
        match (what.split_once(' '), heard) {
            (Some(("close", code)), Heard::Close(heard)) => assert_eq!(heard.to_string(), code),
            (Some(("join", serializer)), Heard::Message(heard)) => {
                assert_eq!(heard[0], 10, "{heard:x?}");
                let (token, rest) = heard[2..].split_at(heard[1].into());
                let (serializer, reflects) = serializer
                    .strip_suffix(" @")
                    .map_or((serializer, false), |serializer| (serializer, true));
                assert_eq!(rest[1..=serializer.len()], *serializer.as_bytes());
                // Without a reflection a join ends at once or with a length of zero.
                let reflected = &rest[1 + serializer.len()..];
                assert_eq!(reflects, !matches!(reflected, [] | [0]), "{reflected:x?}");
                self.tokens.insert(number, String::from_utf8(token.to_vec()).unwrap());
            }
            (None, Heard::Message(heard)) if what == "patch" => assert_eq!(heard[0], 15, "{heard:x?}"),
            (None, Heard::Message(heard)) => compare(&heard, &bytes(what)),
            (_, heard) => panic!("{number}< {what}: {heard:x?}"),
        }
    }

    async fn next(&mut self, number: u32) -> Heard {
        let socket = self.sockets.get_mut(&number).unwrap();
        loop {
            match support::next(socket).await {
                Some(Sent::Binary(bytes)) => return Heard::Message(bytes.to_vec()),
                Some(Sent::Close(frame)) => {
                    return Heard::Close(frame.map_or(1005, |frame| frame.code.into()));
                }
                Some(_) => {}
                None => return Heard::Close(1006),
            }
        }
    }
}

#[derive(Debug)]
enum Heard {
    Message(Vec<u8>),
    Close(u16),
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Compares a message with the recorded one: all bytes up to the payload, and the payload as a value where its form is
/// free. Of an error only what programs read counts.
fn compare(heard: &[u8], recorded: &[u8]) {
    let begin = match recorded[0] {
        // The schema's bytes depend on an order that is each encoder's own.
        14 | 15 => return assert_eq!(heard[0], recorded[0], "{heard:x?}"),
        // The code of an error; the text is each server's own.
        11 => return assert_eq!(heard[..4], recorded[..4], "{recorded:x?}"),
        13 => 1 + name_length(&recorded[1..]),
        22 => 3.min(recorded.len()),
        _ => recorded.len(),
    };
    assert_eq!(heard[..begin], recorded[..begin], "{recorded:x?}");
    if heard == recorded {
        return;
    }
    // A server may write a map in any form.
    let value = |bytes: &[u8]| rmp_serde::from_slice::<Value>(bytes).unwrap();
    let (mut heard, mut recorded) = (value(&heard[begin..]), value(&recorded[begin..]));
    assert!(recorded.is_object(), "{recorded}");
    if recorded["name"] == "no_handler" {
        heard["message"].take();
        recorded["message"].take();
    }
    assert_eq!(heard, recorded);
}

fn name_length(bytes: &[u8]) -> usize {
    match bytes[0] {
        short @ 0xa1..=0xbf => 1 + usize::from(short - 0xa0),
        0xd9 => 2 + usize::from(bytes[1]),
        0xcd => 3,
        0xce => 5,
        _ => 1,
    }
}

const TALKS: &str = include_str!("../../transcripts/talks.txt");

async fn replay(name: &str, generation: Generation, events: &[&str]) {
    let server = Server::builder(Config::default())
        .define("chat", Kind::Chat)
        .define("filtered", Kind::Filtered)
        .define("listed", Kind::Listed)
        .define("auth", Kind::Auth)
        .define("instauth", Kind::InstanceAuth)
        .define("failcreate", Kind::FailCreate)
        .define("failjoin", Kind::FailJoin)
        .define("game", Stateful::Game)
        .define("recon", Stateful::Recon)
        .build()
        .unwrap();
    let mut talk = Talk {
        server: Running::serve(server).await,
        generation,
        seats: HashMap::new(),
        sockets: HashMap::new(),
        tokens: HashMap::new(),
    };
    for event in events {
        // The test runner shows where a talk broke off.
        eprintln!("{name} {}: {event}", generation.label());
        talk.event(event).await;
    }
}

#[tokio::test]
async fn recorded_talks_go_the_same_with_this_server() {
    let mut replayed = 0;
    for talk in TALKS.split("scenario ").skip(1) {
        let mut lines = talk.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut head = lines.next().unwrap().split(' ');
        let name = head.next().unwrap();
        let events: Vec<_> = lines.collect();
        for label in head {
            let generation = Generation::ALL.into_iter().find(|listed| listed.label() == label).unwrap();
            replay(name, generation, &events).await;
            replayed += 1;
        }
    }
    assert_eq!(replayed, 53);
}
