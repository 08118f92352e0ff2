//! What operators and their machines ask: whether the server is alive and ready, and its counts as Prometheus text.
//!
//! Numbers and fixed labels alone: no id, no option, no address and no text of a client ever stands here.

use crate::server::Server;
use crate::sync::lock;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::get;
use http::StatusCode;
use http::header::{self, HeaderName};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// What a scrape answers with, [`text::encode`]'s format.
const CONTENT_TYPE: (HeaderName, &str) =
    (header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8");

/// How long an answer to a scrape is given again.
const FRESH: Duration = Duration::from_secs(1);

/// `/health`, `/health/live` and `/metrics`.
pub(crate) fn router(server: &Server) -> Router {
    let scrapes = Arc::new(scrapes(server));
    Router::new()
        .route("/health", get(ready))
        .route("/health/live", get(|| std::future::ready("ok")))
        .route("/metrics", get(move || std::future::ready(scrapes.answer(Instant::now()))))
        .with_state(server.clone())
}

fn scrapes(server: &Server) -> Scrapes {
    let mut registry = Registry::with_prefix("rooms");
    registry.register_with_unit(
        "tick_lateness",
        "How long after it was due a room's timer fired",
        Unit::Seconds,
        server.shared().counters.lateness.clone(),
    );
    registry.register_collector(Box::new(Counts(server.clone())));
    Scrapes { registry, last: Mutex::new(None) }
}

async fn ready(State(server): State<Server>) -> (StatusCode, &'static str) {
    if server.shared().is_closing() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping")
    } else {
        (StatusCode::OK, "ok")
    }
}

type Scrape = Result<([(HeaderName, &'static str); 1], Bytes), StatusCode>;

/// The answers to scrapes, of which there is a new one every [`FRESH`] at most: each looks at every room and socket,
/// and anybody may be allowed to ask.
struct Scrapes {
    registry: Registry,
    last: Mutex<Option<(Instant, Bytes)>>,
}

impl Scrapes {
    fn answer(&self, now: Instant) -> Scrape {
        let mut last = lock(&self.last);
        let text = match &*last {
            Some((taken, text)) if now.saturating_duration_since(*taken) < FRESH => text.clone(),
            _ => {
                let mut text = String::new();
                // Writing into a string does not fail.
                text::encode(&mut text, &self.registry).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
                let text = Bytes::from(text);
                *last = Some((now, text.clone()));
                text
            }
        };
        Ok(([CONTENT_TYPE], text))
    }
}

/// Takes the server's counts at the moment of a scrape.
struct Counts(Server);

impl fmt::Debug for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Counts")
    }
}

impl Collector for Counts {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let counts = self.0.counters();
        for (name, help, value) in [
            ("rooms", "Rooms alive", counts.rooms),
            ("clients", "Clients in rooms", counts.clients),
            ("seats", "Seats taken: connected, reserved, or held for a reconnection", counts.seats),
            ("connections", "Sockets open, those in handshake counted", counts.connections),
            ("outbound_queue_bytes", "Bytes that wait for clients to read them", counts.queued_bytes),
            ("mailbox_messages", "Messages and events that wait for rooms", counts.queued_mail),
        ] {
            let gauge = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX)).encode(gauge)?;
        }
        for (name, help, value) in [
            ("created", "Rooms created", counts.rooms_created),
            (
                "failed",
                "Rooms that ended by a panic of theirs or a state beyond its limits",
                counts.rooms_failed,
            ),
            ("matchmaking_requests", "Matchmaking requests over HTTP", counts.matchmaking_requests),
            ("reconnections", "Seats taken back after a drop", counts.reconnections),
            ("messages_in", "WebSocket messages received, pings counted", counts.messages_in),
            ("bytes_in", "Bytes read from sockets", counts.bytes_in),
            ("frames_out", "Frames handed to sockets", counts.frames_out),
            ("bytes_out", "Bytes handed to sockets", counts.bytes_out),
            ("bad_messages", "Messages that no room could take", counts.bad_messages),
        ] {
            let counter = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(value).encode(counter)?;
        }
        family(&mut encoder, "joins", "Clients that joined", "generation", &counts.joins)?;
        family(
            &mut encoder,
            "refusals",
            "Requests and sockets that were refused",
            "reason",
            &counts.refusals,
        )?;
        family(&mut encoder, "closes", "Sockets closed", "reason", &counts.closes)
    }
}

fn family(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    label: &str,
    counts: &[(&'static str, u64)],
) -> Result<(), fmt::Error> {
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (value, count) in counts {
        ConstCounter::new(*count).encode(family.encode_family(&[(label, *value)])?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::builtin::Relay;
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn scrapes_within_a_second_are_one() {
        let server = Server::builder(Config::default()).define("room", Relay::default()).build().unwrap();
        let scrapes = scrapes(&server);
        let rooms = |now| {
            let (_, text) = scrapes.answer(now).unwrap();
            let text = String::from_utf8(text.to_vec()).unwrap();
            text.lines().find_map(|line| line.strip_prefix("rooms_rooms ")).unwrap().to_owned()
        };
        let start = Instant::now();
        assert_eq!(rooms(start), "0");
        server.create("room", &json!({})).unwrap();
        assert_eq!(rooms(start + FRESH - Duration::from_millis(1)), "0");
        assert_eq!(rooms(start + FRESH), "1");
    }
}
