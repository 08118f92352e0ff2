//! One client's socket after the upgrade: reads messages for the room, and writes what the room could not.
//!
//! It reads into a buffer that lives for one read, so an idle connection keeps none. The answers of the WebSocket
//! protocol, pongs and closes, go through the same queue as the room's frames.

use crate::close::CloseReason;
use crate::counters::{add, count};
use crate::id::SessionId;
use crate::inflow::Inflow;
use crate::mail::{Blocked, Control, RoomGone, SocketId};
use crate::outbox::Outbox;
use crate::rate::Rate;
use crate::registry::Entry;
use crate::shared::Shared;
use bytes::Bytes;
use futures_util::TryFutureExt;
use futures_util::future::BoxFuture;
use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message};

/// Bytes of one read.
const READ_BUFFER: usize = 4096;

/// Reads in one poll before the task yields.
const READ_BATCH: usize = 8;

/// Where a socket's messages go.
pub(crate) struct Seat {
    pub(crate) entry: Arc<Entry>,
    pub(crate) session: SessionId,
    pub(crate) socket: SocketId,
}

pub(crate) struct Connection<R> {
    reader: R,
    inflow: Inflow,
    /// What was read and not yet understood: the beginning of a frame, or what comes after a message that waits for the
    /// room.
    unread: Vec<u8>,
    outbox: Arc<Outbox>,
    /// `None` where the socket was refused before it reached a room.
    seat: Option<Seat>,
    shared: Arc<Shared>,
    /// What waits for the room: the socket itself for its answer, or a message for space in the mailbox. Nothing is
    /// read until then.
    forwarding: Option<BoxFuture<'static, Result<(), Ending>>>,
    rate: Rate,
    /// When what is being understood was read, or could go on: the clock is asked once for all messages of a read.
    now: Instant,
}

/// How the open phase of a connection ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    /// The room closed the client: it knows.
    ByRoom(CloseReason),
    /// The client broke a limit: a close frame tells it, the room must be told.
    ByUs(CloseReason),
    /// The room did not answer the socket in time: a close frame tells the client, the room knows nothing of it.
    Unanswered,
    /// The client closed, and the answer is queued.
    ByClient(CloseReason),
    /// There is nobody to talk to any more.
    Lost(CloseReason),
}

impl Ending {
    fn reason(self) -> CloseReason {
        match self {
            Self::ByRoom(reason) | Self::ByUs(reason) | Self::ByClient(reason) | Self::Lost(reason) => reason,
            Self::Unanswered => CloseReason::HandshakeTimeout,
        }
    }
}

impl<R: AsyncRead + Unpin> Connection<R> {
    /// `early` is what was read from the client before.
    pub(crate) fn new(
        reader: R,
        early: Vec<u8>,
        outbox: Arc<Outbox>,
        seat: Option<Seat>,
        shared: Arc<Shared>,
    ) -> Self {
        let config = &shared.config;
        let now = Instant::now();
        let mut rate = Rate::new(config.messages_per_second, config.bytes_per_second, now);
        rate.count_bytes(early.len(), now);
        Self {
            reader,
            inflow: Inflow::new(config.max_message_bytes),
            unread: early,
            outbox,
            seat,
            forwarding: None,
            rate,
            now,
            shared,
        }
    }

    /// Nothing is read until `introduced` ends: the room has answered, or does not do so in time.
    pub(crate) fn introduced_by(
        mut self,
        introduced: impl Future<Output = Result<(), Elapsed>> + Send + 'static,
    ) -> Self {
        self.forwarding = Some(Box::pin(introduced.map_err(|_| Ending::Unanswered)));
        self
    }

    /// Terminates when the room or the server closed the client, the client closed or broke a limit, or the socket
    /// failed; then at most [`Config::close_linger`](crate::Config::close_linger) later. The room is told unless it
    /// closed the client itself or never heard of it.
    pub(crate) async fn run(mut self) {
        let ending = poll_fn(|cx| self.poll(cx)).await;
        self.forwarding = None;
        self.tell_room(ending);
        self.shared.counters.closed(ending.reason());
        let linger = self.shared.config.close_linger;
        // Whoever does not answer the close in time is dropped, which is all that can be done.
        let _ = timeout(linger, self.finish(ending)).await;
        self.outbox.release();
    }

    /// A room whose mailbox is full hears of it later: the socket does not wait for that. No more of these wait than the
    /// room has seats. A room that is gone needs no telling.
    fn tell_room(&self, ending: Ending) {
        let Some(Seat { session, socket, ref entry }) = self.seat else { return };
        if matches!(ending, Ending::ByRoom(_) | Ending::Unanswered) {
            return;
        }
        let closed = Control::Closed { session, socket, reason: ending.reason() };
        if let Err(Blocked::Full(control)) = entry.link.try_send(closed) {
            self.shared.tasks.spawn(entry.link.send(control));
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        if let Some(reason) = self.outbox.closed(cx.waker()) {
            return Poll::Ready(Ending::ByRoom(reason));
        }
        let mut ending = self.poll_forwarding(cx);
        if ending.is_pending() && self.forwarding.is_none() {
            ending = self.poll_read(cx);
        }
        // A room that is gone since the look above has said why before it went.
        if let Poll::Ready(Ending::ByUs(CloseReason::RoomFailed)) = ending
            && let Some(reason) = self.outbox.closed(cx.waker())
        {
            return Poll::Ready(Ending::ByRoom(reason));
        }
        match self.outbox.poll_write(cx) {
            Poll::Ready(Err(_)) if ending.is_pending() => {
                Poll::Ready(Ending::Lost(CloseReason::ConnectionLost))
            }
            Poll::Ready(_) | Poll::Pending => ending,
        }
    }

    /// Ready where the room is gone without having closed the client, or does not answer it.
    fn poll_forwarding(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        let Some(forwarding) = &mut self.forwarding else { return Poll::Pending };
        // What the client says meanwhile, pongs included, is not read, so its silence means nothing.
        self.outbox.set_deaf(true);
        let sent = ready!(forwarding.as_mut().poll(cx));
        self.outbox.set_deaf(false);
        self.forwarding = None;
        match sent {
            Ok(()) => Poll::Pending,
            Err(ending) => Poll::Ready(ending),
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        let ending = ready!(self.poll_fed(cx, Self::understand));
        Poll::Ready(ending.unwrap_or(Ending::Lost(CloseReason::ConnectionLost)))
    }

    /// Feeds `eat` with what was left over and what can be read, until it has a result, a message waits for the room,
    /// or nothing more is there. What it leaves is kept. `None` at the end of the stream.
    fn poll_fed<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut eat: impl FnMut(&mut Self, &mut &[u8], &mut Context<'_>) -> Option<T>,
    ) -> Poll<Option<T>> {
        if !self.unread.is_empty() {
            self.now = Instant::now();
            let result = self.eat_unread(cx, &mut eat);
            if result.is_some() {
                return Poll::Ready(result);
            }
        }
        let mut scratch = [MaybeUninit::uninit(); READ_BUFFER];
        for _ in 0..READ_BATCH {
            if self.forwarding.is_some() {
                return Poll::Pending;
            }
            let mut buffer = ReadBuf::uninit(&mut scratch);
            let read = ready!(Pin::new(&mut self.reader).poll_read(cx, &mut buffer));
            let mut bytes = buffer.filled();
            // A socket that failed is at its end too.
            if bytes.is_empty() || read.is_err() {
                return Poll::Ready(None);
            }
            self.count_read(bytes.len());
            let result = if self.unread.is_empty() {
                let result = eat(self, &mut bytes, cx);
                self.unread.extend_from_slice(bytes);
                result
            } else {
                self.unread.extend_from_slice(bytes);
                self.eat_unread(cx, &mut eat)
            };
            if result.is_some() {
                return Poll::Ready(result);
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn eat_unread<T>(
        &mut self,
        cx: &mut Context<'_>,
        eat: &mut impl FnMut(&mut Self, &mut &[u8], &mut Context<'_>) -> Option<T>,
    ) -> Option<T> {
        let unread = std::mem::take(&mut self.unread);
        let mut rest = &unread[..];
        let result = eat(self, &mut rest, cx);
        self.unread = if rest.len() == unread.len() { unread } else { rest.to_vec() };
        result
    }

    /// Any byte is a sign of life, and counts whether or not it will be part of a message.
    fn count_read(&mut self, bytes: usize) {
        self.outbox.hear();
        add(&self.shared.counters.bytes_in, bytes as u64);
        self.now = Instant::now();
        self.rate.count_bytes(bytes, self.now);
    }

    /// Takes the messages out of what was read.
    fn understand(&mut self, bytes: &mut &[u8], cx: &mut Context<'_>) -> Option<Ending> {
        if self.rate.is_spent() {
            return Some(Ending::ByUs(CloseReason::RateLimited));
        }
        loop {
            let message = match self.inflow.next(bytes, &self.outbox) {
                Ok(Some(message)) => message,
                Ok(None) => return None,
                Err(error) => return Some(broken(&error)),
            };
            let ending = self.received(message, cx);
            if ending.is_some() || self.forwarding.is_some() {
                return ending;
            }
        }
    }

    fn received(&mut self, message: Message, cx: &mut Context<'_>) -> Option<Ending> {
        count(&self.shared.counters.messages_in);
        self.rate.count_message(self.now);
        if self.rate.is_spent() {
            return Some(Ending::ByUs(CloseReason::RateLimited));
        }
        if self.outbox.waiting() > self.shared.config.outbound_queue_bytes {
            return Some(Ending::ByUs(CloseReason::SlowReader));
        }
        match message {
            Message::Binary(bytes) => self.forward(bytes, cx),
            Message::Close(frame) => {
                self.inflow.answer(&self.outbox);
                let code = frame.map_or(1005, |frame| u16::from(frame.code));
                Some(Ending::ByClient(CloseReason::ByClient(code)))
            }
            Message::Ping(_) => {
                self.inflow.answer(&self.outbox);
                None
            }
            // The protocol is binary; text is let pass without effect, as its servers do.
            Message::Text(_) | Message::Pong(_) | Message::Frame(_) => None,
        }
    }

    fn forward(&mut self, bytes: Bytes, cx: &mut Context<'_>) -> Option<Ending> {
        let Seat { session, socket, entry } = self.seat.as_ref()?;
        let (session, socket) = (*session, *socket);
        match entry.link.try_send(Control::Message { session, socket, bytes }) {
            Ok(()) => None,
            Err(Blocked::Full(control)) => {
                let sent = entry.link.send(control);
                self.forwarding =
                    Some(Box::pin(sent.map_err(|RoomGone| Ending::ByUs(CloseReason::RoomFailed))));
                match self.poll_forwarding(cx) {
                    Poll::Ready(ending) => Some(ending),
                    Poll::Pending => None,
                }
            }
            Err(Blocked::Gone) => Some(Ending::ByUs(CloseReason::RoomFailed)),
        }
    }

    /// Says goodbye, and reads until the client does too: a socket dropped with unread bytes loses what it wrote.
    /// Failures to shut the socket down are not looked at, for it is dropped next.
    async fn finish(&mut self, ending: Ending) {
        match ending {
            Ending::Lost(_) | Ending::ByRoom(CloseReason::PingTimeout) => return,
            Ending::ByRoom(_) | Ending::ByUs(_) | Ending::Unanswered => self.close(ending.reason()),
            Ending::ByClient(_) => {}
        }
        if poll_fn(|cx| self.outbox.poll_write(cx)).await.is_err() {
            return;
        }
        match ending.reason() {
            // What such a client sends cannot be read as messages any more.
            CloseReason::TooBig | CloseReason::ProtocolError => {
                let _ = self.outbox.shutdown().await;
                poll_fn(|cx| self.poll_discard(cx)).await;
            }
            CloseReason::ByClient(_) => {
                let _ = self.outbox.shutdown().await;
            }
            _ => {
                poll_fn(|cx| self.poll_goodbye(cx)).await;
                let _ = self.outbox.shutdown().await;
            }
        }
    }

    /// Queues the close frame, behind all that waits or, for a slow reader, behind the frame that is half out.
    fn close(&mut self, reason: CloseReason) {
        if reason == CloseReason::SlowReader {
            self.outbox.drop_whole_frames();
        }
        let code = CloseCode::from(reason.code());
        let code = if code.is_allowed() { code } else { CloseCode::Normal };
        self.inflow.close(CloseFrame { code, reason: reason.label().into() }, &self.outbox);
    }

    /// Reads until the client closes too, or ends the stream.
    fn poll_goodbye(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let closed = self.poll_fed(cx, |connection, bytes, _| {
            loop {
                match connection.inflow.next(bytes, &connection.outbox) {
                    Ok(Some(Message::Close(_))) | Err(_) => return Some(()),
                    Ok(Some(_)) => {}
                    Ok(None) => return None,
                }
            }
        });
        closed.map(|_| ())
    }

    /// Reads without understanding until the client ends the stream.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let ended = self.poll_fed(cx, |_, bytes, _| {
            *bytes = &[];
            None::<()>
        });
        ended.map(|_| ())
    }
}

fn broken(error: &Error) -> Ending {
    match error {
        Error::Capacity(_) => Ending::ByUs(CloseReason::TooBig),
        Error::Protocol(_) | Error::Utf8(_) => Ending::ByUs(CloseReason::ProtocolError),
        _ => Ending::Lost(CloseReason::ConnectionLost),
    }
}
