//! What a message costs on its way: encoded, delivered to readers of one room and of many, and read from a client.
//!
//! `cargo bench -p playerthree-rooms`. The sockets are real; what the clients read is not measured. Criterion's
//! elements are messages delivered or read, so that the time per element should stay the same down a group.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark ends where its expectation does")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures_util::SinkExt;
use playerthree_rooms::testing::{LiveServer, guest};
use playerthree_rooms::{
    BadMessage, Config, Cx, Definition, Frame, Join, Message, Method, Refusal, Room, RoomHandle, ServeLimits,
    Server, SessionId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::hint::black_box;
use std::io::{ErrorKind, Read, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio_tungstenite::client_async;

/// Sizes of a group.
const SIZES: [usize; 3] = [10, 100, 1000];

/// Messages that a client sends in one write.
const BURST: usize = 500;

#[derive(Serialize, Deserialize)]
struct Position<'a> {
    x: f64,
    y: f64,
    turn: u64,
    name: &'a str,
}

const POSITION: Position<'static> =
    Position { x: 12.5, y: -7.25, turn: 1_000_000, name: "a name of some length" };

enum Event {
    Beat,
    /// Answers once everything before it is done.
    Done(oneshot::Sender<()>),
    /// Answers once that many messages have come.
    Expect(usize, oneshot::Sender<()>),
}

/// Hands out the handles of its rooms.
struct Rooms(mpsc::Sender<RoomHandle<Event>>);

impl Definition for Rooms {
    type Room = Beating;

    async fn authorize(&self, _: &playerthree_rooms::AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, cx: &mut Cx<'_, Beating>, _: &Value) -> Result<Beating, Refusal> {
        self.0.send(cx.handle()).expect("the benchmark listens");
        Ok(Beating { expected: None })
    }
}

struct Beating {
    expected: Option<(usize, oneshot::Sender<()>)>,
}

impl Room for Beating {
    type Event = Event;
    type Auth = ();

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_message(
        &mut self,
        _: &mut Cx<'_, Self>,
        _: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        black_box(message.payload.decode::<Position<'_>>()?);
        if let Some((left, answer)) = self.expected.take() {
            match left {
                1 => answer.send(()).expect("the benchmark waits"),
                _ => self.expected = Some((left - 1, answer)),
            }
        }
        Ok(())
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, event: Event) {
        match event {
            Event::Beat => cx.broadcast("b", &POSITION, &[]).expect("a position encodes"),
            Event::Done(answer) => answer.send(()).expect("the benchmark waits"),
            Event::Expect(count, answer) => self.expected = Some((count, answer)),
        }
    }
}

/// A server with rooms, and the clients' ends of its sockets.
struct Stage {
    runtime: Runtime,
    rooms: Vec<RoomHandle<Event>>,
    clients: Vec<std::net::TcpStream>,
    live: LiveServer,
}

impl Stage {
    fn new(rooms: usize, readers: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (sender, handles) = mpsc::channel();
        let wide = 1_000_000;
        let config = Config {
            max_connections: wide,
            connections_per_address: wide,
            messages_per_second: u32::MAX,
            bytes_per_second: u32::MAX,
            max_rooms: wide,
            ping_interval: Duration::from_secs(3600),
            serve: ServeLimits { connections: wide, connections_per_peer: wide, ..ServeLimits::default() },
            ..Config::default()
        };
        let server = Server::builder(config).define("beating", Rooms(sender)).build().unwrap();
        let (live, clients) = runtime.block_on(async {
            let live = LiveServer::start(server).await.unwrap();
            let mut clients = Vec::new();
            for _ in 0..rooms {
                let room = live.server().create("beating", &json!({})).unwrap();
                for _ in 0..readers {
                    clients.push(join(&live, room.as_str()).await);
                }
            }
            (live, clients)
        });
        Self { runtime, rooms: handles.try_iter().collect(), clients, live }
    }

    /// Lets every room broadcast once. Returns how long that took, the clients' reading left out.
    fn beat(&mut self) -> Duration {
        let start = Instant::now();
        self.runtime.block_on(async {
            for room in &self.rooms {
                room.post(Event::Beat).await.unwrap();
            }
            // Every room has its turn before this goes on.
            tokio::task::yield_now().await;
            for room in &self.rooms {
                let (answer, done) = oneshot::channel();
                room.post(Event::Done(answer)).await.unwrap();
                done.await.unwrap();
            }
        });
        let took = start.elapsed();
        self.drain();
        took
    }

    fn drain(&mut self) {
        let mut bytes = [0; 4096];
        for client in &mut self.clients {
            while client.read(&mut bytes).is_ok_and(|count| count == bytes.len()) {}
        }
    }

    /// Lets the first client send messages. Returns how long the server took to read and decode them.
    fn receive(&mut self, messages: &[u8], count: usize) -> Duration {
        let (answer, done) = oneshot::channel();
        self.runtime.block_on(self.rooms[0].post(Event::Expect(count, answer))).unwrap();
        write_all(&mut self.clients[0], messages);
        let start = Instant::now();
        self.runtime.block_on(done).unwrap();
        start.elapsed()
    }

    fn end(self) {
        drop(self.clients);
        self.runtime.block_on(self.live.stop());
    }
}

/// A client of the room that has acknowledged its join, as the bare socket that it reads and writes.
async fn join(live: &LiveServer, room: &str) -> std::net::TcpStream {
    let seat = live.server().matchmake(Method::JoinById, room, guest(json!({}))).await.unwrap();
    let address = live.url().strip_prefix("http://").unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let url = format!("ws://{address}/process/{room}?sessionId={}", seat.session_id);
    let (mut socket, _) = client_async(url, stream).await.unwrap();
    socket.send(vec![10].into()).await.unwrap();
    let stream = socket.into_inner().into_std().unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

fn write_all(socket: &mut std::net::TcpStream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match socket.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "the server reads along"),
        }
    }
}

/// A message as a client frames it; its mask changes nothing.
fn from_client() -> Vec<u8> {
    let frame = rmp_serde::to_vec_named(&POSITION).unwrap();
    let body = [&[13, 0xa1, b'p'], &frame[..]].concat();
    [&[0x82, 0x80 | u8::try_from(body.len()).unwrap(), 0, 0, 0, 0], &body[..]].concat()
}

fn delivery(criterion: &mut Criterion) {
    for (name, rooms_of, readers_of) in [
        ("readers of one room", (|_| 1) as fn(usize) -> usize, (|size| size) as fn(usize) -> usize),
        ("rooms of five readers", |size| size, |_| 5),
    ] {
        let mut group = criterion.benchmark_group(name);
        for size in SIZES {
            let (rooms, readers) = (rooms_of(size), readers_of(size));
            let mut stage = Stage::new(rooms, readers);
            group.throughput(Throughput::Elements((rooms * readers) as u64));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter_custom(|rounds| (0..rounds).map(|_| stage.beat()).sum());
            });
            stage.end();
        }
        group.finish();
    }
}

fn turn(criterion: &mut Criterion) {
    let mut stage = Stage::new(1, 1);
    criterion.bench_function("turn of a room, one reader", |bencher| {
        bencher.iter_custom(|rounds| (0..rounds).map(|_| stage.beat()).sum());
    });
    stage.end();
}

fn inbound(criterion: &mut Criterion) {
    let mut stage = Stage::new(1, 1);
    let messages = from_client().repeat(BURST);
    let mut group = criterion.benchmark_group("inbound");
    group.throughput(Throughput::Elements(BURST as u64));
    group.bench_function("read, forward and decode", |bencher| {
        bencher.iter_custom(|rounds| (0..rounds).map(|_| stage.receive(&messages, BURST)).sum());
    });
    group.finish();
    stage.end();
}

fn encode(criterion: &mut Criterion) {
    criterion.bench_function("encode and frame", |bencher| {
        bencher.iter(|| Frame::message("b", black_box(&POSITION)).unwrap());
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));
    targets = encode, turn, inbound, delivery
}
criterion_main!(benches);
