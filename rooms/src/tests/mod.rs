//! Whole servers in memory: real rooms and real WebSocket bytes over pipes, under a paused clock.

mod api;
mod builtin;
mod life;
mod limits;
mod matchmaking;
mod plan;
mod pressure;
mod sockets;
mod state;
mod transcripts;
pub(crate) mod valve;

use crate::matchmaker::Method;
use crate::sync::lock;
use crate::testing;
use crate::{
    AuthRequest, BadMessage, CloseReason, Config, Cx, Definition, Join, Listing, Message, MessageType,
    Refusal, Room, RoomHandle, RoomSettings, Server, SessionId, SortBy, SortField, Visibility, wire,
};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::Role;

/// One thing that happened in a room.
#[derive(Clone, Debug, PartialEq)]
enum Heard {
    Join(SessionId),
    Message(SessionId, u64),
    Drop(SessionId, u16),
    Reconnect(SessionId),
    Leave(SessionId, u16),
    Event(u64),
    Shutdown,
    Dispose,
}

type Log = Arc<Mutex<Vec<Heard>>>;

/// A room that writes down what it hears and does what numbers tell it.
struct Recorder {
    log: Log,
    hold: Option<Duration>,
    stays: bool,
    /// Refuses the seats of clients that say `unfit`.
    picky: bool,
    /// Pads broadcast so far.
    pads: u64,
    promised: Arc<Mutex<i64>>,
}

const SAY: u32 = 0;
const KICK: u32 = 1;
const LOCK: u32 = 2;
const UNLOCK: u32 = 3;
const FLOOD: u32 = 4;
const HIDE: u32 = 5;
const PANIC: u32 = 6;
const PAD: u32 = 7;
const PADS: u32 = 8;
const MIX: u32 = 9;
const LEVEL: u32 = 10;

#[derive(Clone, Default)]
struct Recorders {
    log: Log,
    handles: Arc<Mutex<Vec<RoomHandle<u64>>>>,
    /// Seats that rooms were asked for and granted, less those whose client came or did not.
    promised: Arc<Mutex<i64>>,
}

impl Definition for Recorders {
    type Room = Recorder;

    async fn authorize(&self, request: &AuthRequest) -> Result<(), Refusal> {
        if let Some(delay) = request.options["delay"].as_u64() {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        assert_ne!(request.options["auth"], "panic", "asked to panic");
        if request.options["auth"] == "refuse" { Err(Refusal::auth_failed()) } else { Ok(()) }
    }

    fn create(&self, cx: &mut Cx<'_, Recorder>, options: &Value) -> Result<Recorder, Refusal> {
        if let Some(seats) = options["seats"].as_u64() {
            cx.set_max_clients(usize::try_from(seats).unwrap());
        }
        if let Some(level) = options.get("level") {
            cx.set_metadata(json!({ "level": level }))?;
        }
        lock(&self.handles).push(cx.handle());
        let hold = options["hold"].as_u64().map(Duration::from_millis);
        let picky = options["picky"] == true;
        let (log, promised) = (self.log.clone(), self.promised.clone());
        Ok(Recorder { log, hold, stays: options["stays"] == true, picky, pads: 0, promised })
    }

    fn settings(&self) -> RoomSettings {
        let sort_by = vec![SortBy::descending(SortField::Metadata("level".into()))];
        RoomSettings { filter_by: vec!["mode".into()], sort_by, max_clients: None }
    }
}

impl Recorder {
    fn hear(&self, heard: Heard) {
        lock(&self.log).push(heard);
    }

    /// Broadcasts a message of `size` bytes that carries its number.
    fn pad(&mut self, cx: &mut Cx<'_, Self>, size: usize) {
        let mut body = self.pads.to_be_bytes().to_vec();
        body.resize(size, 0);
        self.pads += 1;
        cx.broadcast_frame(&crate::Frame::bytes("pad", &body), &[]);
    }
}

impl Room for Recorder {
    type Event = u64;
    type Auth = ();

    fn on_reserve(
        &mut self,
        _: &mut Cx<'_, Self>,
        _: SessionId,
        options: &Value,
        (): &(),
    ) -> Result<(), Refusal> {
        if self.picky && options["unfit"] == true {
            return Err(Refusal::room_full());
        }
        *lock(&self.promised) += 1;
        Ok(())
    }

    fn on_unreserve(&mut self, _: &mut Cx<'_, Self>, _: SessionId) {
        *lock(&self.promised) -= 1;
    }

    fn on_join(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: Join<()>) -> Result<(), Refusal> {
        *lock(&self.promised) -= 1;
        self.hear(Heard::Join(client));
        cx.send(client, "welcome", &1).unwrap();
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let number: u64 = message.payload.decode()?;
        match message.kind {
            MessageType::Number(SAY) => {
                self.hear(Heard::Message(client, number));
                cx.broadcast("said", &number, &[]).unwrap();
            }
            MessageType::Number(KICK) => cx.kick(client, CloseReason::Application(4321)),
            MessageType::Number(LOCK) => cx.lock(),
            MessageType::Number(UNLOCK) => cx.unlock(),
            MessageType::Number(PANIC) => panic!("asked to panic"),
            MessageType::Number(HIDE) => cx.set_visibility(Visibility::Private),
            MessageType::Number(FLOOD) => {
                for _ in 0..number {
                    cx.send_bytes(client, "flood", &[0; 1000]);
                }
            }
            MessageType::Number(LEVEL) => {
                let level = vec![number; 10];
                assert_eq!(cx.set_metadata(json!({ "level": level })), Err(crate::MetadataTooLarge));
            }
            MessageType::Number(PAD) => self.pad(cx, usize::try_from(number).unwrap()),
            MessageType::Number(PADS) => (0..number).for_each(|_| self.pad(cx, 1000)),
            MessageType::Number(MIX) => {
                cx.broadcast("mix", &1, &[]).unwrap();
                cx.send(client, "mix", &2).unwrap();
                cx.broadcast("mix", &3, &[client]).unwrap();
                cx.broadcast("mix", &4, &[client, client]).unwrap();
                cx.broadcast("mix", &5, &[]).unwrap();
                cx.send(client, "mix", &6).unwrap();
            }
            _ => return Err(BadMessage::UnknownType),
        }
        Ok(())
    }

    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, reason: CloseReason) {
        self.hear(Heard::Drop(client, reason.code()));
        if let Some(hold) = self.hold {
            cx.allow_reconnection(client, hold);
        }
    }

    fn on_reconnect(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        self.hear(Heard::Reconnect(client));
        cx.send(client, "welcome", &2).unwrap();
    }

    fn on_leave(&mut self, _: &mut Cx<'_, Self>, client: SessionId, reason: CloseReason) {
        self.hear(Heard::Leave(client, reason.code()));
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, event: u64) {
        self.hear(Heard::Event(event));
        cx.broadcast("event", &event, &[]).unwrap();
    }

    fn on_shutdown(&mut self, cx: &mut Cx<'_, Self>) {
        self.hear(Heard::Shutdown);
        if !self.stays {
            cx.disconnect(CloseReason::ServerShutdown);
        }
    }

    fn on_dispose(&mut self, _: &mut Cx<'_, Self>) {
        self.hear(Heard::Dispose);
    }
}

/// A server with one kind of room, and what its rooms heard.
struct World {
    server: Server,
    rooms: Recorders,
}

/// A reserved seat.
#[derive(Clone, Copy)]
struct Seat {
    room: crate::RoomId,
    session: SessionId,
}

impl World {
    fn new(config: Config) -> Self {
        let rooms = Recorders::default();
        let server = Server::builder(config).define("room", rooms.clone()).build().unwrap();
        Self { server, rooms }
    }

    async fn seat(&self, method: Method, target: &str, options: Value) -> Result<Seat, Refusal> {
        let reservation = self.server.matchmake(method, target, testing::guest(options)).await?;
        Ok(Seat { room: reservation.room.room_id, session: reservation.session_id })
    }

    async fn create(&self, options: Value) -> Client {
        let seat = self.seat(Method::Create, "room", options).await.unwrap();
        self.connect(seat, None).await.unwrap()
    }

    /// Opens a seat's socket. Acknowledges the join, or returns the code of the close.
    async fn connect(&self, seat: Seat, token: Option<&str>) -> Result<Client, u16> {
        let mut client = self.open(seat, token).await?;
        client.send_raw(vec![wire::JOIN_ROOM]).await;
        Ok(client)
    }

    /// Opens a seat's socket and leaves the join unacknowledged.
    async fn open(&self, seat: Seat, token: Option<&str>) -> Result<Client, u16> {
        let ours = testing::pipe(&self.server, (seat.room, seat.session), token, 16 * 1024);
        Client::greeted(WebSocketStream::from_raw_socket(ours, Role::Client, None).await, seat).await
    }

    fn heard(&self) -> Vec<Heard> {
        lock(&self.rooms.log).clone()
    }

    fn listed(&self, seat: Seat) -> Option<Arc<Listing>> {
        self.server.listing().into_iter().find(|listing| listing.room_id == seat.room)
    }

    /// Lets every task come to rest. Under the paused clock a sleep ends only when nothing else can run.
    async fn rest(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

struct Client<S = DuplexStream> {
    socket: WebSocketStream<S>,
    seat: Seat,
    token: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    /// A client with the answer to its join, or the code of the close.
    async fn greeted(socket: WebSocketStream<S>, seat: Seat) -> Result<Self, u16> {
        let mut client = Self { socket, seat, token: String::new() };
        let first = client.next().await?;
        if first[0] != wire::JOIN_ROOM {
            assert_eq!(first[0], wire::ERROR);
            return Err(client.closed().await);
        }
        client.token = String::from_utf8(first[2..26].to_vec()).unwrap();
        assert_eq!(&first[26..], b"\x04none");
        Ok(client)
    }

    async fn send_raw(&mut self, bytes: Vec<u8>) {
        // A closed socket takes nothing; what it was closed with is what tests look at.
        let _ = self.socket.send(Frame::Binary(bytes.into())).await;
    }

    async fn send(&mut self, kind: u32, number: u64) {
        let mut bytes = vec![wire::ROOM_DATA];
        wire::write_number(kind, &mut bytes);
        bytes.extend(rmp_serde::to_vec(&number).unwrap());
        self.send_raw(bytes).await;
    }

    /// The next protocol message, or the code of the close.
    async fn next(&mut self) -> Result<Vec<u8>, u16> {
        loop {
            match self.socket.next().await {
                Some(Ok(Frame::Binary(bytes))) => return Ok(bytes.to_vec()),
                Some(Ok(Frame::Close(frame))) => return Err(frame.map_or(1005, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(1006),
            }
        }
    }

    /// Reads on to the end.
    async fn closed(&mut self) -> u16 {
        loop {
            if let Err(code) = self.next().await {
                return code;
            }
        }
    }
}

/// The defaults without pings, which clients that do not read would not answer.
fn without_pings() -> Config {
    Config { ping_interval: Duration::from_secs(365 * 24 * 3600), ..Config::default() }
}

fn code(refused: Result<impl Sized, Refusal>) -> u16 {
    match refused {
        Ok(_) => 200,
        Err(refusal) => refusal.code,
    }
}

fn nothing() -> Value {
    json!({})
}
