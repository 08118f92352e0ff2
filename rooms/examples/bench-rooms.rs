//! The rooms that the load harness drives: `lobby` (does nothing), `broadcast` (a message to everybody on a beat),
//! `echo`, and `state` (a world in which everything moves on every tick).
//!
//! `cargo run --release -p playerthree-rooms --example bench-rooms -- [port] [homes]`. With homes, the rooms are spread
//! over that many threads. Its limits are far apart, for what is measured is what a message costs.

use playerthree_rooms::{
    AuthRequest, BadMessage, Config, Cx, Definition, Frame, Join, Message, MessageType, Refusal, Room,
    ServeLimits, Server, SessionId, TimerId, serve,
};
use playerthree_rooms_state::{Map, State, Synced, Synchronized};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};

/// The longest stall, in seconds, for which beats are made up.
const CATCH_UP_SECONDS: u32 = 1;

/// Bytes of a beat's message beside its filler.
const MESSAGE_OVERHEAD: usize = 27;

#[derive(Clone, Copy)]
enum Kind {
    Lobby,
    Broadcast,
    Echo,
    State,
}

#[derive(State, Default)]
struct Entity {
    x: f32,
    y: f32,
}

#[derive(State, Default)]
struct World {
    entities: Map<Entity>,
}

impl Definition for Kind {
    type Room = BenchRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, cx: &mut Cx<'_, BenchRoom>, options: &Value) -> Result<BenchRoom, Refusal> {
        if let Some(seats) = options["maxClients"].as_u64().and_then(|seats| usize::try_from(seats).ok()) {
            cx.set_max_clients(seats);
        }
        let mut room = BenchRoom { kind: *self, beat: None, sent: 0, world: None };
        match self {
            Kind::Broadcast => room.set_beat(cx, options).map_err(|_| Refusal::bad_options())?,
            Kind::State => room.set_world(cx, options).map_err(|_| Refusal::bad_options())?,
            Kind::Lobby | Kind::Echo => {}
        }
        Ok(room)
    }
}

struct BenchRoom {
    kind: Kind,
    beat: Option<Beat>,
    /// Messages sent, or ticks of the world.
    sent: u64,
    world: Option<Synced<World>>,
}

struct Beat {
    timer: TimerId,
    burst: u32,
    filler: String,
}

#[derive(Deserialize)]
struct BeatOptions {
    hz: f64,
    burst: u32,
    bytes: usize,
}

#[derive(Deserialize)]
struct WorldOptions {
    entities: u16,
    hz: f64,
}

#[derive(Serialize)]
struct Measured<'a> {
    t: f64,
    n: u64,
    d: &'a str,
}

/// What an echo room's clients send, and get back.
#[derive(Serialize, Deserialize)]
struct Echoed<'a> {
    t: f64,
    d: &'a str,
}

impl BenchRoom {
    fn set_beat(&mut self, cx: &mut Cx<'_, Self>, options: &Value) -> Result<(), BadMessage> {
        let options = BeatOptions::deserialize(options).map_err(|_| BadMessage::Undecodable)?;
        if let Some(beat) = self.beat.take() {
            cx.cancel(beat.timer);
        }
        let (timer, _) = step(cx, options.hz)?;
        let filler = "x".repeat(options.bytes.saturating_sub(MESSAGE_OVERHEAD));
        self.beat = Some(Beat { timer, burst: options.burst, filler });
        Ok(())
    }

    fn set_world(&mut self, cx: &mut Cx<'_, Self>, options: &Value) -> Result<(), BadMessage> {
        let options = WorldOptions::deserialize(options).map_err(|_| BadMessage::Undecodable)?;
        let (_, period) = step(cx, options.hz)?;
        cx.set_patch_interval(period);
        let mut world = World::default();
        for number in 0..options.entities {
            let entity = Entity { x: number.into(), y: -f32::from(number) };
            world.entities.insert(number.to_string(), entity);
        }
        self.world = Some(Synced::new(world));
        Ok(())
    }

    fn tick(&mut self) {
        let Some(world) = &mut self.world else { return };
        self.sent += 1;
        // Every thousand ticks the world begins again.
        let tick = f32::from(u16::try_from(self.sent % 1000).unwrap_or_default());
        for (number, entity) in (0_u16..).zip(world.entities.values_mut()) {
            entity.x = f32::from(number) + tick * 0.125;
            entity.y = tick * 0.25 - f32::from(number);
        }
    }
}

/// Steps at `hz`, whose stalls are made up for.
fn step(cx: &mut Cx<'_, BenchRoom>, hz: f64) -> Result<(TimerId, Duration), BadMessage> {
    let period = Duration::try_from_secs_f64(1.0 / hz).map_err(|_| BadMessage::Undecodable)?;
    let catch_up = Duration::from_secs(u64::from(CATCH_UP_SECONDS)).as_millis() / period.as_millis().max(1);
    Ok((cx.set_fixed_step(period, u32::try_from(catch_up).unwrap_or(u32::MAX)), period))
}

fn microseconds() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    let nanoseconds = u32::try_from(now.tv_nsec).unwrap_or_default();
    let seconds = u32::try_from(now.tv_sec).unwrap_or_default();
    f64::from(seconds) * 1e6 + f64::from(nanoseconds) / 1e3
}

impl Room for BenchRoom {
    type Event = ();
    type Auth = ();

    fn state(&mut self) -> Option<&mut dyn Synchronized> {
        self.world.as_mut().map(|world| world as &mut dyn Synchronized)
    }

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        match (self.kind, message.kind) {
            (Kind::Echo, MessageType::Name("echo")) => {
                let value: Echoed<'_> = message.payload.decode()?;
                cx.send(client, "echo", &value).map_err(|_| BadMessage::Undecodable)
            }
            (Kind::Broadcast, MessageType::Name("cfg")) => self.set_beat(cx, &message.payload.decode()?),
            _ => Err(BadMessage::UnknownType),
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, _: TimerId) {
        let Some(beat) = &self.beat else { return self.tick() };
        for _ in 0..beat.burst {
            self.sent += 1;
            let message = Measured { t: microseconds(), n: self.sent, d: &beat.filler };
            if let Ok(frame) = Frame::message("b", &message) {
                cx.broadcast_frame(&frame, &[]);
            }
        }
    }
}

/// Runtimes of one thread each, which run until the process ends.
fn homes(count: usize) -> std::io::Result<Vec<Handle>> {
    let home = || {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        Ok(handle)
    };
    (0..count).map(|_| home()).collect()
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the address is this program's output")]
async fn main() -> anyhow::Result<()> {
    let port: u16 = std::env::args().nth(1).map_or(Ok(2567), |port| port.parse())?;
    let homes = homes(std::env::args().nth(2).map_or(Ok(0), |count| count.parse())?)?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let config = Config {
        messages_per_second: 1_000_000,
        bytes_per_second: u32::MAX,
        max_connections: 100_000,
        connections_per_address: 100_000,
        joins_per_second_per_address: 1_000_000,
        max_rooms: 100_000,
        outbound_queue_bytes: 64 * 1024 * 1024,
        seat_expiry: Duration::from_secs(60),
        serve: ServeLimits { connections: 100_000, connections_per_peer: 100_000, ..ServeLimits::default() },
        ..Config::default()
    };
    let server = Server::builder(config)
        .homes(homes)
        .define("lobby", Kind::Lobby)
        .define("broadcast", Kind::Broadcast)
        .define("echo", Kind::Echo)
        .define("state", Kind::State)
        .build()?;
    let health = axum::routing::get(|| std::future::ready(axum::Json(json!({ "live": true }))));
    let app = server.router().route("/health", health);
    serve(listener, app, server.config().serve, async {
        // Without a handler for the signal the system's own ends the program just as well.
        let _ = tokio::signal::ctrl_c().await;
    })
    .await;
    server.shutdown(Duration::from_secs(5)).await;
    Ok(())
}
