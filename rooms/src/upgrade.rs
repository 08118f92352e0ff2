//! From an HTTP request to a socket: the WebSocket handshake, and the task that serves what comes of it.

use crate::actor::refuse;
use crate::address::{self, Occupied, Source};
use crate::connection::{Connection, Seat};
use crate::counters::Counters;
use crate::generation::Generation;
use crate::id::{RoomId, SessionId, TokenDigest};
use crate::mail::{Connect, Control, RoomGone};
use crate::outbox::Outbox;
use crate::pace::Watched;
use crate::refusal::Refusal;
use crate::server::Server;
use crate::shared::Shared;
use crate::state::Knowledge;
use crate::stream::Incoming;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{StatusCode, Version};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// What a socket's address names. Parts that no id can be are `None`, and refused like unknown ones.
pub(crate) struct Wanted {
    pub(crate) room: Option<RoomId>,
    pub(crate) session: Option<SessionId>,
    pub(crate) token: Option<TokenDigest>,
    pub(crate) generation: Generation,
    pub(crate) knows: Knowledge,
}

/// Whether a request asks for a WebSocket.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    has_word(headers, &header::UPGRADE, "websocket") && has_word(headers, &header::CONNECTION, "upgrade")
}

fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
}

/// Ways in which a request fails to become a socket.
enum NoSocket {
    NotAnUpgrade,
    BadHandshake,
    TooMany,
    TooManyFromAddress,
    ShuttingDown,
}

impl NoSocket {
    fn answer(self, counters: &Counters) -> Response {
        let refused = |refusal: Refusal| {
            counters.refused(&refusal);
            refusal.into_response()
        };
        match self {
            Self::NotAnUpgrade => StatusCode::NOT_FOUND.into_response(),
            Self::BadHandshake => {
                let version = [(header::SEC_WEBSOCKET_VERSION, "13")];
                (StatusCode::BAD_REQUEST, version, "a WebSocket handshake is needed").into_response()
            }
            Self::TooMany => refused(Refusal::at_capacity()),
            Self::TooManyFromAddress => refused(Refusal::too_many_requests()),
            Self::ShuttingDown => refused(Refusal::shutting_down()),
        }
    }
}

/// An accepted handshake: the answer to give, and the socket that it brings.
struct Handshake {
    response: Response,
    upgrade: OnUpgrade,
    /// What the socket counts as while it is open.
    places: (OwnedSemaphorePermit, Occupied),
}

fn accept(shared: &Shared, request: &mut Request<Body>) -> Result<Handshake, NoSocket> {
    let headers = request.headers();
    if !is_upgrade(headers) || request.version() != Version::HTTP_11 {
        return Err(NoSocket::NotAnUpgrade);
    }
    let version = headers.get(header::SEC_WEBSOCKET_VERSION);
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24);
    let (Some(key), Some(b"13")) = (key, version.map(HeaderValue::as_bytes)) else {
        return Err(NoSocket::BadHandshake);
    };
    let accept = derive_accept_key(key.as_bytes());
    if shared.is_closing() {
        return Err(NoSocket::ShuttingDown);
    }
    let from = Source::of(address::of_request(shared, request));
    let limit = shared.config.connections_per_address;
    let occupied = shared.sockets_from.enter(from, limit).ok_or(NoSocket::TooManyFromAddress)?;
    let permit = shared.socket_permits.clone().try_acquire_owned().map_err(|_| NoSocket::TooMany)?;
    let upgrade = request.extensions_mut().remove::<OnUpgrade>().ok_or(NoSocket::NotAnUpgrade)?;
    let headers = [
        (header::CONNECTION, "Upgrade".to_owned()),
        (header::UPGRADE, "websocket".to_owned()),
        (header::SEC_WEBSOCKET_ACCEPT, accept),
    ];
    let response = (StatusCode::SWITCHING_PROTOCOLS, headers).into_response();
    Ok(Handshake { response, upgrade, places: (permit, occupied) })
}

/// Upgrades a request for a seat.
pub(crate) fn room(server: &Server, mut request: Request<Body>, wanted: Wanted) -> Response {
    let shared = server.shared();
    let Handshake { response, upgrade, places } = match accept(shared, &mut request) {
        Ok(handshake) => handshake,
        Err(refused) => return refused.answer(&shared.counters),
    };
    let shared = shared.clone();
    let task = async move {
        let Ok(Ok(upgraded)) = timeout(shared.config.handshake_timeout, upgrade).await else { return };
        let home =
            wanted.room.and_then(|room| shared.registry.get(room)).and_then(|entry| entry.home.clone());
        match (upgraded.downcast::<TokioIo<Watched<TcpStream>>>(), home) {
            (Ok(parts), Some(home)) => {
                // A socket is woken by the runtime that it was made on, so it is made again at home.
                let Ok(stream) = parts.io.into_inner().into_inner().into_std() else { return };
                let there = shared.clone();
                let task = async move {
                    if let Ok(stream) = TcpStream::from_std(stream) {
                        serve_seat(&there, Incoming::tcp(stream, parts.read_buf), wanted).await;
                    }
                    drop(places);
                };
                shared.tasks.spawn_on(task, &home);
                return;
            }
            (Ok(parts), None) => {
                let incoming = Incoming::tcp(parts.io.into_inner().into_inner(), parts.read_buf);
                serve_seat(&shared, incoming, wanted).await;
            }
            // Another server than ours brought the connection.
            (Err(upgraded), _) => {
                serve_seat(&shared, Incoming::other(TokioIo::new(upgraded)), wanted).await;
            }
        }
        drop(places);
    };
    server.shared().tasks.spawn(task);
    response
}

/// Serves one socket until its end: see [`Connection::run`].
pub(crate) async fn serve_seat<R>(shared: &Arc<Shared>, incoming: Incoming<R>, wanted: Wanted)
where
    R: tokio::io::AsyncRead + Unpin,
{
    let Incoming { reader, writer, early } = incoming;
    let outbox = Arc::new(Outbox::new(writer));
    let socket = shared.next_socket();
    let reconnecting = wanted.token.is_some();
    let entry = wanted.room.and_then(|room| shared.registry.get(room));
    let Some((entry, session)) = entry.zip(wanted.session) else {
        let refusal = if reconnecting { Refusal::reconnect_expired() } else { Refusal::seat_expired() };
        shared.counters.refused(&refusal);
        refuse(&outbox, reconnecting, &refusal);
        return Connection::new(reader, early, outbox, None, shared.clone()).run().await;
    };
    shared.sockets.insert(socket.0, outbox.clone());
    let (answered, answer) = oneshot::channel();
    let connect = Connect {
        session,
        token: wanted.token,
        generation: wanted.generation,
        knows: wanted.knows,
        socket,
        outbox: outbox.clone(),
        answered,
    };
    let introduced =
        introduce(entry.link.send(Control::Connect(Box::new(connect))), answer, outbox.clone(), reconnecting);
    let seat = Some(Seat { entry, session, socket });
    let connection = Connection::new(reader, early, outbox, seat, shared.clone());
    connection.introduced_by(timeout(shared.config.handshake_timeout, introduced)).run().await;
    shared.sockets.remove(&socket.0);
}

/// Brings a socket to its room and waits until the room has answered it. A room that ends before gives no seat.
async fn introduce(
    connect: impl Future<Output = Result<(), RoomGone>>,
    answer: oneshot::Receiver<()>,
    outbox: Arc<Outbox>,
    reconnecting: bool,
) {
    if connect.await.is_err() || answer.await.is_err() {
        refuse(&outbox, reconnecting, &Refusal::seat_expired());
    }
}

/// Upgrades a request for a latency probe: every message is answered with one byte, for a second.
pub(crate) fn probe(server: &Server, mut request: Request<Body>) -> Response {
    let shared = server.shared();
    let Handshake { response, upgrade, places } = match accept(shared, &mut request) {
        Ok(handshake) => handshake,
        Err(refused) => return refused.answer(&shared.counters),
    };
    let handshake_timeout = shared.config.handshake_timeout;
    shared.tasks.spawn(async move {
        if let Ok(Ok(upgraded)) = timeout(handshake_timeout, upgrade).await {
            crate::probe::serve(TokioIo::new(upgraded)).await;
        }
        drop(places);
    });
    response
}
