//! The rooms that the load harness drives: `lobby` (does nothing), `broadcast` (a message to everybody on a beat) and
//! `echo`.
//!
//! `cargo run --release -p playerthree-rooms --example bench-rooms -- [port]`. Its limits are far apart, for what is
//! measured is what a message costs.

use playerthree_rooms::{
    AuthRequest, BadMessage, Config, Cx, Definition, Frame, Join, Message, MessageType, Refusal, Room,
    ServeLimits, Server, SessionId, TimerId, serve,
};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// The longest stall, in seconds, for which beats are made up.
const CATCH_UP_SECONDS: u32 = 1;

/// Bytes of a beat's message beside its filler.
const MESSAGE_OVERHEAD: usize = 27;

#[derive(Clone, Copy)]
enum Kind {
    Lobby,
    Broadcast,
    Echo,
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
        let mut room = BenchRoom { kind: *self, beat: None, sent: 0 };
        if let Kind::Broadcast = self {
            room.set_beat(cx, options).map_err(|_| Refusal::bad_options())?;
        }
        Ok(room)
    }
}

struct BenchRoom {
    kind: Kind,
    beat: Option<Beat>,
    sent: u64,
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

#[derive(Serialize)]
struct Measured<'a> {
    t: f64,
    n: u64,
    d: &'a str,
}

impl BenchRoom {
    fn set_beat(&mut self, cx: &mut Cx<'_, Self>, options: &Value) -> Result<(), BadMessage> {
        let options = BeatOptions::deserialize(options).map_err(|_| BadMessage::Undecodable)?;
        if let Some(beat) = self.beat.take() {
            cx.cancel(beat.timer);
        }
        let period = Duration::try_from_secs_f64(1.0 / options.hz).map_err(|_| BadMessage::Undecodable)?;
        let catch_up =
            Duration::from_secs(u64::from(CATCH_UP_SECONDS)).as_millis() / period.as_millis().max(1);
        let timer = cx.set_fixed_step(period, u32::try_from(catch_up).unwrap_or(u32::MAX));
        let filler = "x".repeat(options.bytes.saturating_sub(MESSAGE_OVERHEAD));
        self.beat = Some(Beat { timer, burst: options.burst, filler });
        Ok(())
    }
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
                let value: Value = message.payload.decode()?;
                cx.send(client, "echo", &value).map_err(|_| BadMessage::Undecodable)
            }
            (Kind::Broadcast, MessageType::Name("cfg")) => self.set_beat(cx, &message.payload.decode()?),
            _ => Err(BadMessage::UnknownType),
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, _: TimerId) {
        let Some(beat) = &self.beat else { return };
        for _ in 0..beat.burst {
            self.sent += 1;
            let message = Measured { t: microseconds(), n: self.sent, d: &beat.filler };
            if let Ok(frame) = Frame::message("b", &message) {
                cx.broadcast_frame(&frame, &[]);
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the address is this program's output")]
async fn main() -> anyhow::Result<()> {
    let port: u16 = std::env::args().nth(1).map_or(Ok(2567), |port| port.parse())?;
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
        .define("lobby", Kind::Lobby)
        .define("broadcast", Kind::Broadcast)
        .define("echo", Kind::Echo)
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
