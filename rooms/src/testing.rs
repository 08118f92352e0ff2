//! For tests of rooms: a server in memory, whose clients speak the real protocol over pipes, and a server on a real
//! port for clients of any kind.
//!
//! In memory nothing but the room runs, so under tokio's paused clock a test is deterministic: time passes only while
//! everything waits, and [`settle`] returns once all that was under way is done.
//!
//! ```
//! use playerthree_rooms::testing::{TestServer, settle};
//! use playerthree_rooms::{Config, Method, Server};
//! use playerthree_rooms::builtin::Relay;
//! use serde_json::json;
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?.block_on(async {
//! // In a test of your own: #[tokio::test(start_paused = true)]
//! let server = TestServer::new(Server::builder(Config::default()).define("relay", Relay::default()).build()?);
//! let mut ada = server.join(Method::JoinOrCreate, "relay", json!({})).await?;
//! let mut bob = server.join(Method::JoinOrCreate, "relay", json!({})).await?;
//!
//! ada.send("hello", &"from Ada").await;
//! assert_eq!(bob.message("hello").await, json!([ada.session_id(), "from Ada"]));
//!
//! tokio::time::sleep(Duration::from_secs(3600)).await; // An hour passes at once, and both are still there.
//! assert_eq!(bob.leave().await, 4000);
//! drop(ada); // Its connection is lost.
//! settle().await;
//! assert!(server.server().listing().is_empty());
//! # Ok(()) })
//! # }
//! ```
//!
//! Like assertions, the methods here panic where a test expects what does not happen.

#![expect(clippy::panic, clippy::expect_used, reason = "a test ends where its expectation does")]

use crate::generation::Generation;
use crate::id::{RoomId, SessionId, TokenDigest};
use crate::matchmaker::{Method, SeatReservation};
use crate::message::MessageType;
use crate::room::AuthRequest;
use crate::serve::serve;
use crate::server::Server;
use crate::state::Knowledge;
use crate::stream::Incoming;
use crate::upgrade::{Wanted, serve_seat};
use crate::wire::{self, Inbound};
use crate::{DecodeLimits, Refusal, pack};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

/// How long a client waits for what a test expects before the test fails. Under a paused clock it passes at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes in a pipe between a client and the server.
const PIPE: usize = 64 * 1024;

/// Lets everything that is under way come to rest. Under a paused clock nothing else can run when this returns, and a
/// millisecond has passed.
pub async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// A request of a guest with these options: no token, no headers, no address.
#[must_use]
pub fn guest(options: Value) -> AuthRequest {
    AuthRequest { token: None, options, headers: http::HeaderMap::new(), remote: None }
}

/// The client's end of a pipe to the server, after the upgrade.
pub(crate) fn pipe(
    server: &Server,
    seat: (RoomId, SessionId),
    token: Option<&str>,
    bytes: usize,
) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(bytes);
    let wanted = Wanted {
        room: Some(seat.0),
        session: Some(seat.1),
        token: token.map(|token| TokenDigest::of(token.as_bytes())),
        generation: Generation::V18,
        knows: Knowledge::Nothing,
    };
    let shared = server.shared().clone();
    server.shared().tasks.spawn(async move { serve_seat(&shared, Incoming::other(theirs), wanted).await });
    ours
}

/// A server in memory.
pub struct TestServer {
    server: Server,
}

impl TestServer {
    /// Clients for `server`.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self { server }
    }

    /// The server itself, for its listing and counters.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Finds or makes a seat for a guest and takes it.
    ///
    /// # Errors
    /// The refusal of the matchmaking or of the room.
    pub async fn join(&self, method: Method, target: &str, options: Value) -> Result<TestClient, Refusal> {
        self.join_as(method, target, guest(options)).await
    }

    /// As [`TestServer::join`], for a request of any kind.
    ///
    /// # Errors
    /// The refusal of the matchmaking or of the room.
    pub async fn join_as(
        &self,
        method: Method,
        target: &str,
        request: AuthRequest,
    ) -> Result<TestClient, Refusal> {
        let seat = self.server.matchmake(method, target, request).await?;
        self.take(&seat).await
    }

    /// Takes a seat that is reserved.
    ///
    /// # Errors
    /// The room's refusal.
    pub async fn take(&self, seat: &SeatReservation) -> Result<TestClient, Refusal> {
        TestClient::connect(&self.server, (seat.room.room_id, seat.session_id), None).await
    }

    /// Takes the seat back that a client held, with its [reconnection token](TestClient::reconnection_token).
    ///
    /// # Errors
    /// The room's refusal.
    pub async fn reconnect(
        &self,
        room: RoomId,
        session: SessionId,
        token: &str,
    ) -> Result<TestClient, Refusal> {
        TestClient::connect(&self.server, (room, session), Some(token)).await
    }
}

/// What a client receives.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// A message; `null` where it carries nothing. A numbered type is its number in decimal.
    Message(String, Value),
    /// A message of raw bytes.
    Bytes(String, Vec<u8>),
    /// An error that the room reported.
    Error(Refusal),
    /// The answer to a request.
    Response(Response),
    /// The end of the connection, with its code.
    Closed(u16),
}

/// How a request was answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// With a value, or `null` where there is none.
    Value(Value),
    /// With a reason not to.
    Rejected(Value),
    /// It failed.
    Fault(Value),
}

/// A client that acknowledged its join. It reads all the time, so it answers pings; dropping it loses its connection.
pub struct TestClient {
    room: RoomId,
    session: SessionId,
    token: String,
    sink: SplitSink<WebSocketStream<DuplexStream>, Message>,
    incoming: mpsc::UnboundedReceiver<Received>,
    reader: JoinHandle<()>,
    requests: u32,
}

impl Drop for TestClient {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl TestClient {
    async fn connect(
        server: &Server,
        seat: (RoomId, SessionId),
        token: Option<&str>,
    ) -> Result<Self, Refusal> {
        let ours = pipe(server, seat, token, PIPE);
        let (mut sink, mut stream) = WebSocketStream::from_raw_socket(ours, Role::Client, None).await.split();
        let Some(Ok(Message::Binary(first))) = stream.next().await else {
            panic!("a socket opens with an answer")
        };
        let token = match first.split_first() {
            Some((&wire::JOIN_ROOM, answer)) => token_of(answer),
            _ => match received(&first) {
                Some(Received::Error(refusal)) => return Err(refusal),
                other => panic!("a join is answered or refused, not {other:?}"),
            },
        };
        sink.send(Message::Binary(vec![wire::JOIN_ROOM].into())).await.expect("the pipe is open");
        let (queue, incoming) = mpsc::unbounded_channel();
        let reader = tokio::spawn(read(stream, queue));
        Ok(Self { room: seat.0, session: seat.1, token, sink, incoming, reader, requests: 0 })
    }

    /// The room it is in.
    #[must_use]
    pub fn room_id(&self) -> RoomId {
        self.room
    }

    /// Its seat.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        self.session
    }

    /// What takes its seat back after its connection is lost.
    #[must_use]
    pub fn reconnection_token(&self) -> &str {
        &self.token
    }

    async fn write(&mut self, bytes: Vec<u8>) {
        // A closed socket takes nothing; what it was closed with is what the test will see.
        let _ = self.sink.send(Message::Binary(bytes.into())).await;
    }

    /// Sends a message.
    pub async fn send<'k>(&mut self, kind: impl Into<MessageType<'k>>, payload: &(impl Serialize + ?Sized)) {
        let mut bytes = vec![wire::ROOM_DATA];
        wire::write_type(kind.into(), &mut bytes);
        pack::write(payload, &mut bytes).expect("the payload encodes");
        self.write(bytes).await;
    }

    /// Sends a message of raw bytes.
    pub async fn send_bytes<'k>(&mut self, kind: impl Into<MessageType<'k>>, payload: &[u8]) {
        let mut bytes = vec![wire::ROOM_DATA_BYTES];
        wire::write_type(kind.into(), &mut bytes);
        bytes.extend_from_slice(payload);
        self.write(bytes).await;
    }

    /// Asks and waits for the answer, which must be what comes next.
    pub async fn request<'k>(
        &mut self,
        kind: impl Into<MessageType<'k>>,
        payload: &(impl Serialize + ?Sized),
    ) -> Response {
        let mut bytes = vec![wire::ROOM_REQUEST];
        wire::write_number(self.requests, &mut bytes);
        self.requests += 1;
        wire::write_type(kind.into(), &mut bytes);
        pack::write(payload, &mut bytes).expect("the payload encodes");
        self.write(bytes).await;
        match self.next().await {
            Received::Response(response) => response,
            other => panic!("a response was expected, not {other:?}"),
        }
    }

    /// What comes next. Waits for it.
    pub async fn next(&mut self) -> Received {
        let next = tokio::time::timeout(PATIENCE, self.incoming.recv()).await;
        next.expect("nothing came").expect("nothing comes after the close")
    }

    /// The payload of the message that comes next, which must be of this type.
    pub async fn message(&mut self, kind: &str) -> Value {
        match self.next().await {
            Received::Message(came, payload) if came == kind => payload,
            other => panic!("the message {kind} was expected, not {other:?}"),
        }
    }

    /// All that has come by now and was not looked at.
    pub async fn rest(&mut self) -> Vec<Received> {
        settle().await;
        std::iter::from_fn(|| self.incoming.try_recv().ok()).collect()
    }

    /// Leaves for good. Returns the code of the close.
    pub async fn leave(mut self) -> u16 {
        self.write(vec![wire::LEAVE_ROOM]).await;
        self.closed().await
    }

    /// Waits for the close, whatever comes before it. Returns its code.
    pub async fn closed(&mut self) -> u16 {
        loop {
            if let Received::Closed(code) = self.next().await {
                return code;
            }
        }
    }
}

fn token_of(answer: &[u8]) -> String {
    let (length, rest) = answer.split_first().expect("a join answer has a token");
    let token = rest.get(..usize::from(*length)).expect("a join answer has a whole token");
    String::from_utf8(token.to_vec()).expect("a token is text")
}

async fn read(
    mut stream: SplitStream<WebSocketStream<DuplexStream>>,
    queue: mpsc::UnboundedSender<Received>,
) {
    let code = loop {
        match stream.next().await {
            Some(Ok(Message::Binary(bytes))) => {
                if let Some(received) = received(&bytes)
                    && queue.send(received).is_err()
                {
                    return;
                }
            }
            Some(Ok(Message::Close(frame))) => break frame.map_or(1005, |frame| frame.code.into()),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => break 1006,
        }
    };
    // A client that is gone has no use for it.
    let _ = queue.send(Received::Closed(code));
}

/// One message of the server; `None` for those that say nothing to an application.
fn received(bytes: &[u8]) -> Option<Received> {
    let decode =
        |payload| pack::from_slice(payload, DecodeLimits::default()).expect("the server sends MessagePack");
    let name = |kind: MessageType<'_>| match kind {
        MessageType::Name(name) => name.to_owned(),
        MessageType::Number(number) => number.to_string(),
    };
    match wire::read_inbound(bytes).expect("the server keeps to the protocol") {
        Inbound::Data { kind, payload } => Some(Received::Message(name(kind), decode(payload))),
        Inbound::Bytes { kind, payload } => Some(Received::Bytes(name(kind), payload.to_vec())),
        _ => match bytes.split_first() {
            Some((&wire::ERROR, error)) => Some(Received::Error(wire::read_error(error)?)),
            Some((&wire::ROOM_RESPONSE, response)) => {
                let (status, payload) = wire::read_response(response)?;
                let payload = decode(payload);
                Some(Received::Response(match status {
                    0 => Response::Value(payload),
                    1 => Response::Rejected(payload),
                    _ => Response::Fault(payload),
                }))
            }
            _ => None,
        },
    }
}

/// A server on a free port of this machine, for clients of any kind.
pub struct LiveServer {
    server: Server,
    url: String,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl LiveServer {
    /// Serves `server`'s routes.
    ///
    /// # Errors
    /// Where no port can be bound.
    pub async fn start(server: Server) -> std::io::Result<Self> {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let stop = CancellationToken::new();
        let app = server.router();
        let serving =
            tokio::spawn(serve(listener, app, server.config().serve, stop.clone().cancelled_owned()));
        Ok(Self { server, url, stop, serving })
    }

    /// The endpoint for clients, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The server itself.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Ends it as a program would: no new requests, then every room and socket.
    pub async fn stop(self) {
        self.stop.cancel();
        let stragglers = self.server.shutdown(PATIENCE).await;
        assert!(stragglers.is_empty(), "all of a server ends: {stragglers:?}");
        self.serving.await.expect("serving does not panic");
    }
}
