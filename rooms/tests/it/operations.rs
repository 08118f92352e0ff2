//! What operators see: health, metrics and logs, and that none of them tells anything about a client.

use crate::support::{self, Running};
use futures_util::SinkExt;
use playerthree_rooms::{AuthRequest, Config, Cx, Definition, Join, Refusal, Room, Server, SessionId};
use serde_json::Value;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message as Frame;
use tracing_subscriber::fmt::MakeWriter;

/// What a client brings along that nobody but its room may see, each another value, so that none hides another.
const OPTION: &str = "option-5f3a";
const QUERY: &str = "query-81c0";
const HEADER_TOKEN: &str = "bearer-2b77";
const SOCKET_TOKEN: &str = "token-9d14";
const FORWARDED: &str = "forwarded-e6b2";
const MESSAGE: &str = "messge-03f";

/// A client, and all that no operator is to see of it.
struct Marked {
    socket: support::Socket,
    secrets: Vec<String>,
}

async fn get(server: &Running, path: &str) -> support::Answer {
    server.ask(&format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await
}

async fn scrape(server: &Running) -> String {
    let answer = get(server, "/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    answer.body
}

/// A client that leaves its marks everywhere: header, options, query, address, message.
async fn marked_client(server: &Running) -> Marked {
    let options = format!(r#"{{"secret":"{OPTION}"}}"#);
    let request = format!(
        "POST /matchmake/create/room?q={QUERY} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {HEADER_TOKEN}\r\nX-Forwarded-For: {FORWARDED}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{options}",
        options.len()
    );
    let answer = server.ask(&request).await;
    let seat = support::Seat::read(&answer.body);
    let path = format!("{}&_authToken={SOCKET_TOKEN}", seat.path());
    let mut socket = server.upgrade(&path, &[("Authorization", HEADER_TOKEN)]).await.unwrap();
    let join = support::next(&mut socket).await.unwrap().into_data();
    let reconnection = String::from_utf8(join[2..26].to_vec()).unwrap();
    socket.send(Frame::Binary(vec![10].into())).await.unwrap();
    let mut message = b"\x0d\xa4echo\xaa".to_vec();
    message.extend_from_slice(MESSAGE.as_bytes());
    socket.send(Frame::Binary(message.into())).await.unwrap();
    let echo = support::next(&mut socket).await.unwrap().into_data();
    assert!(echo.ends_with(MESSAGE.as_bytes()));
    let marks = [OPTION, QUERY, HEADER_TOKEN, SOCKET_TOKEN, FORWARDED, MESSAGE].map(str::to_owned);
    let secrets = marks.into_iter().chain([seat.session(), reconnection]).collect();
    Marked { socket, secrets }
}

fn assert_untold(text: &str, secrets: &[String]) {
    for secret in secrets {
        assert!(!secret.is_empty() && !text.contains(secret), "{secret} is in\n{text}");
    }
}

#[tokio::test]
async fn metrics_count_what_happens_and_tell_nothing_of_a_client() {
    let server = Running::start(Config::default()).await;
    let Marked { mut socket, mut secrets } = marked_client(&server).await;
    secrets.push(server.seat("{}").await.session());
    assert_eq!(get(&server, "/matchmake/create/room").await.status, 404);
    let refused =
        server.ask("POST /matchmake/join/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert_eq!(refused.status, 520);
    let mut unknown = server.upgrade("/a/b?sessionId=c", &[]).await.unwrap();
    support::drain(&mut unknown).await;
    socket.send(Frame::Binary(b"\x0d\xa4tick".to_vec().into())).await.unwrap();
    assert!(support::next(&mut socket).await.unwrap().into_data().starts_with(b"\x0d\xa6ticked"));

    let text = scrape(&server).await;
    for line in [
        "rooms_rooms 2",
        "rooms_clients 1",
        "rooms_seats 2",
        "rooms_connections 1",
        "rooms_outbound_queue_bytes 0",
        "rooms_created_total 2",
        "rooms_matchmaking_requests_total 3",
        "rooms_joins_total{generation=\"0.18\"} 1",
        "rooms_joins_total{generation=\"0.16\"} 0",
        "rooms_refusals_total{reason=\"unknown_room_name\"} 1",
        "rooms_refusals_total{reason=\"seat_expired\"} 1",
        "rooms_closes_total{reason=\"join_refused\"} 1",
        "rooms_closes_total{reason=\"slow_reader\"} 0",
        "rooms_tick_lateness_seconds_count 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(text.contains("rooms_tick_lateness_seconds_bucket{le=\"0.001\"}"));
    let rooms = server.server.listing();
    secrets.extend(rooms.iter().map(|room| room.room_id.to_string()));
    secrets.push("127.0.0.1".to_owned());
    assert_untold(&text, &secrets);

    support::leave(socket).await;
    support::eventually("the end is counted", async || {
        scrape(&server).await.contains("rooms_closes_total{reason=\"consented\"} 1\n")
    })
    .await;
}

#[tokio::test]
async fn a_server_that_stops_is_live_and_not_ready() {
    let server = Running::start(Config::default()).await;
    for path in ["/health", "/health/live"] {
        let answer = get(&server, path).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "ok"), "{path}");
    }
    let seat = server.seat_in("stubborn").await;
    let mut socket = server.open(&seat, &[]).await.unwrap();
    let stopping = tokio::spawn({
        let server = server.server.clone();
        async move { server.shutdown(Duration::from_secs(5)).await }
    });
    support::eventually("it stops", async || get(&server, "/health").await.status != 200).await;
    let answer = get(&server, "/health").await;
    assert_eq!((answer.status, answer.body.as_str()), (503, "stopping"));
    assert_eq!(get(&server, "/health/live").await.status, 200);
    let refused =
        server.ask("POST /matchmake/create/room HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    // The room ends with its client, before the deadline.
    socket.send(Frame::Binary(vec![12].into())).await.unwrap();
    assert!(stopping.await.unwrap().is_empty());
}

/// Everything that is logged while it stands.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn logs_name_rooms_and_reasons_and_no_secret_of_a_client() {
    let log = Log::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    // This test's runtime has one thread, so all that it starts logs here.
    let logging = tracing::subscriber::set_default(subscriber);
    let server = Running::start(Config::default()).await;
    let Marked { mut socket, secrets } = marked_client(&server).await;
    let room = server.server.listing()[0].room_id.to_string();
    // A bad message, a bad body and a panic are what is worth a line.
    let bad = format!("\r\n\r\n{{\"{OPTION}");
    let head = "POST /matchmake/create/room HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 13";
    assert_eq!(server.ask(&format!("{head}{bad}")).await.status, 400);
    socket.send(Frame::Binary(b"\x0d\xa5panic".to_vec().into())).await.unwrap();
    support::drain(&mut socket).await;
    drop(logging);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("a room panicked and is closed") && text.contains(&room), "{text}");
    assert_untold(&text, &secrets);
}

/// A room whose handler does not return until it is let go.
struct Blocking(Arc<Mutex<std::sync::mpsc::Receiver<()>>>);

struct BlockingRoom(Arc<Mutex<std::sync::mpsc::Receiver<()>>>);

impl Definition for Blocking {
    type Room = BlockingRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, _: &mut Cx<'_, BlockingRoom>, _: &Value) -> Result<BlockingRoom, Refusal> {
        Ok(BlockingRoom(self.0.clone()))
    }
}

impl Room for BlockingRoom {
    type Event = ();
    type Auth = ();

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_shutdown(&mut self, _: &mut Cx<'_, Self>) {
        // The end of the test lets it go.
        let _ = self.0.lock().unwrap().recv();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_shutdown_names_the_rooms_that_do_not_end_and_closes_the_others() {
    let (release, blocked) = std::sync::mpsc::channel();
    let config = Config { close_linger: Duration::from_millis(100), ..Config::default() };
    let builder = Server::builder(config).define("room", support::Echoes);
    let builder = builder.define("blocking", Blocking(Arc::new(Mutex::new(blocked))));
    let server = Running::serve(builder.build().unwrap()).await;
    let mut socket = server.open(&server.seat("{}").await, &[]).await.unwrap();
    let stuck = server.seat_in("blocking").await;
    let stragglers = server.server.shutdown(Duration::from_millis(100)).await;
    assert_eq!(stragglers.rooms.iter().map(ToString::to_string).collect::<Vec<_>>(), [stuck.room()]);
    let close = support::next(&mut socket).await.unwrap();
    assert!(matches!(close, Frame::Close(Some(close)) if u16::from(close.code) == 4001));
    drop(release);
}
