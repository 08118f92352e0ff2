//! One client's socket after the upgrade: reads messages for the room, writes what the room queued, keeps it alive.
//!
//! The WebSocket protocol itself (masks, fragments, control frames, limits) is tungstenite's. Its answers, pongs and
//! closes, go through the same queue as the room's frames, which are framed already and shared with other sockets.

use crate::close::CloseReason;
use crate::counters::{add, count};
use crate::id::SessionId;
use crate::mail::{Blocked, Control, RoomGone, SocketId};
use crate::outbox::Outbox;
use crate::rate::Rate;
use crate::registry::Entry;
use crate::shared::Shared;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{
    CloseFrame, Message, Role, WebSocketConfig, WebSocketContext,
};

/// Read buffer of a socket, in bytes. Small, for an idle connection keeps it.
const READ_BUFFER: usize = 2048;

/// Messages read in one poll before the task yields.
const READ_BATCH: usize = 32;

/// Frames in one write.
const WRITE_BATCH: usize = 64;

/// A WebSocket ping without payload.
const PING: &[u8] = &[0x89, 0];

/// Where a socket's messages go.
pub(crate) struct Seat {
    pub(crate) entry: Arc<Entry>,
    pub(crate) session: SessionId,
    pub(crate) socket: SocketId,
}

pub(crate) struct Connection<S> {
    stream: Stream<S>,
    websocket: WebSocketContext,
    /// `None` where the socket was refused before it reached a room.
    seat: Option<Seat>,
    shared: Arc<Shared>,
    /// A message that waits for space in the room's mailbox. Nothing is read until it is in.
    forwarding: Option<BoxFuture<'static, Result<(), RoomGone>>>,
    rate: Rate,
    ping: Pin<Box<Sleep>>,
    unanswered: u32,
}

/// The bytes of a socket, and what is queued for it.
struct Stream<S> {
    io: S,
    outbox: Arc<Outbox>,
    writing: VecDeque<Bytes>,
    /// How much of the first frame is written.
    written: usize,
}

/// How the open phase of a connection ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    /// The room closed the client: it knows.
    ByRoom(CloseReason),
    /// The client broke a limit: a close frame tells it, the room must be told.
    ByUs(CloseReason),
    /// The client closed, and the answer is queued.
    ByClient(CloseReason),
    /// There is nobody to talk to any more.
    Lost(CloseReason),
}

impl Ending {
    fn reason(self) -> CloseReason {
        match self {
            Self::ByRoom(reason) | Self::ByUs(reason) | Self::ByClient(reason) | Self::Lost(reason) => reason,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(crate) fn new(io: S, outbox: Arc<Outbox>, seat: Option<Seat>, shared: Arc<Shared>) -> Self {
        let config = &shared.config;
        let websocket = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(0)
            .max_message_size(Some(config.max_message_bytes))
            .max_frame_size(Some(config.max_message_bytes));
        Self {
            stream: Stream { io, outbox, writing: VecDeque::new(), written: 0 },
            websocket: WebSocketContext::new(Role::Server, Some(websocket)),
            seat,
            forwarding: None,
            rate: Rate::new(config.messages_per_second, config.bytes_per_second, Instant::now()),
            ping: Box::pin(sleep(config.ping_interval)),
            unanswered: 0,
            shared,
        }
    }

    /// Terminates when the room or the server closed the client, the client closed or broke a limit, or the socket
    /// failed; then at most [`Config::close_linger`](crate::Config::close_linger) later. The room is told unless it
    /// closed the client itself.
    pub(crate) async fn run(mut self) {
        let ending = poll_fn(|cx| self.poll(cx)).await;
        self.forwarding = None;
        if let Some(Seat { session, socket, ref entry }) = self.seat
            && !matches!(ending, Ending::ByRoom(_))
        {
            // A room that is gone needs no telling.
            let _ = entry.link.send(Control::Closed { session, socket, reason: ending.reason() }).await;
        }
        self.shared.counters.closed(ending.reason());
        let linger = self.shared.config.close_linger;
        // Whoever does not answer the close in time is dropped, which is all that can be done.
        let _ = timeout(linger, self.finish(ending)).await;
        self.stream.forget();
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        if let Some(reason) = self.stream.outbox.take(cx.waker(), &mut self.stream.writing) {
            return Poll::Ready(Ending::ByRoom(reason));
        }
        let mut ending = self.poll_forwarding(cx);
        if ending.is_pending() && self.forwarding.is_none() {
            ending = self.poll_read(cx);
        }
        if ending.is_pending() {
            ending = self.poll_ping(cx);
        }
        match self.stream.poll_write(cx, &self.shared) {
            Poll::Ready(Err(_)) => Poll::Ready(Ending::Lost(CloseReason::ConnectionLost)),
            Poll::Ready(Ok(())) | Poll::Pending => ending,
        }
    }

    /// Ready where the room is gone without having closed the client.
    fn poll_forwarding(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        let Some(forwarding) = &mut self.forwarding else { return Poll::Pending };
        let sent = ready!(forwarding.as_mut().poll(cx));
        self.forwarding = None;
        match sent {
            Ok(()) => Poll::Pending,
            Err(RoomGone) => Poll::Ready(Ending::ByUs(CloseReason::RoomFailed)),
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        for _ in 0..READ_BATCH {
            let read = self.websocket.read(&mut Adapter { stream: &mut self.stream, cx });
            let message = match read {
                Ok(message) => message,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(broken(&error)),
            };
            if let Some(ending) = self.received(message, cx) {
                return Poll::Ready(ending);
            }
            if self.forwarding.is_some() {
                break;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn received(&mut self, message: Message, cx: &mut Context<'_>) -> Option<Ending> {
        self.unanswered = 0;
        count(&self.shared.counters.messages_in);
        add(&self.shared.counters.bytes_in, message.len() as u64);
        if !self.rate.allows(message.len(), Instant::now()) {
            return Some(Ending::ByUs(CloseReason::RateLimited));
        }
        if self.stream.outbox.waiting() > self.shared.config.outbound_queue_bytes {
            return Some(Ending::ByUs(CloseReason::SlowReader));
        }
        match message {
            Message::Binary(bytes) => self.forward(bytes, cx),
            Message::Close(frame) => {
                let code = frame.map_or(1005, |frame| u16::from(frame.code));
                Some(Ending::ByClient(CloseReason::ByClient(code)))
            }
            // The protocol is binary; text is let pass without effect, as its servers do.
            Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => None,
        }
    }

    fn forward(&mut self, bytes: Bytes, cx: &mut Context<'_>) -> Option<Ending> {
        let Seat { session, socket, entry } = self.seat.as_ref()?;
        let (session, socket) = (*session, *socket);
        match entry.link.try_send(Control::Message { session, socket, bytes }) {
            Ok(()) => None,
            Err(Blocked::Full(control)) => {
                self.forwarding = Some(entry.link.send(control));
                match self.poll_forwarding(cx) {
                    Poll::Ready(ending) => Some(ending),
                    Poll::Pending => None,
                }
            }
            Err(Blocked::Gone) => Some(Ending::ByUs(CloseReason::RoomFailed)),
        }
    }

    /// Pings an idle client. While its room keeps it waiting nothing is read, so no answer can be missed.
    fn poll_ping(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        while self.ping.as_mut().poll(cx).is_ready() {
            if self.unanswered >= self.shared.config.ping_misses {
                return Poll::Ready(Ending::Lost(CloseReason::PingTimeout));
            }
            if self.forwarding.is_none() {
                self.unanswered += 1;
                self.stream.queue(Bytes::from_static(PING));
            }
            self.ping.as_mut().reset(Instant::now() + self.shared.config.ping_interval);
        }
        Poll::Pending
    }

    /// Says goodbye, and reads until the client does too: a socket dropped with unread bytes loses what it wrote.
    /// Failures to shut the socket down are not looked at, for it is dropped next.
    async fn finish(&mut self, ending: Ending) {
        match ending {
            Ending::ByRoom(reason) | Ending::ByUs(reason) => self.close(reason),
            Ending::ByClient(_) => {}
            Ending::Lost(_) => return,
        }
        let shared = self.shared.clone();
        if poll_fn(|cx| self.stream.poll_write(cx, &shared)).await.is_err() {
            return;
        }
        match ending.reason() {
            // What such a client sends cannot be read as messages any more.
            CloseReason::TooBig | CloseReason::ProtocolError => {
                let _ = self.stream.io.shutdown().await;
                poll_fn(|cx| self.poll_discard(cx)).await;
            }
            CloseReason::ByClient(_) => {
                let _ = self.stream.io.shutdown().await;
            }
            _ => {
                poll_fn(|cx| self.poll_goodbye(cx)).await;
                let _ = self.stream.io.shutdown().await;
            }
        }
    }

    /// Queues the close frame, behind all that waits or, for a slow reader, behind the frame that is half out.
    fn close(&mut self, reason: CloseReason) {
        if reason == CloseReason::SlowReader {
            self.stream.drop_whole_frames();
        }
        let code = CloseCode::from(reason.code());
        let code = if code.is_allowed() { code } else { CloseCode::Normal };
        let frame = CloseFrame { code, reason: reason.label().into() };
        let mut cx = Context::from_waker(std::task::Waker::noop());
        // Closing writes into the queue alone, which takes everything.
        let _ = self.websocket.close(&mut Adapter { stream: &mut self.stream, cx: &mut cx }, Some(frame));
    }

    fn poll_goodbye(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..READ_BATCH {
            match self.websocket.read(&mut Adapter { stream: &mut self.stream, cx }) {
                Ok(Message::Close(_)) => return Poll::Ready(()),
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(_) => return Poll::Ready(()),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads without understanding until the client ends the stream.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; READ_BUFFER];
        for _ in 0..READ_BATCH {
            let mut buffer = ReadBuf::new(&mut scratch);
            match ready!(Pin::new(&mut self.stream.io).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn broken(error: &Error) -> Ending {
    match error {
        Error::Capacity(_) => Ending::ByUs(CloseReason::TooBig),
        Error::Protocol(protocol) if *protocol == RESET => Ending::Lost(CloseReason::ConnectionLost),
        Error::Protocol(_) | Error::Utf8(_) => Ending::ByUs(CloseReason::ProtocolError),
        _ => Ending::Lost(CloseReason::ConnectionLost),
    }
}

const RESET: tokio_tungstenite::tungstenite::error::ProtocolError =
    tokio_tungstenite::tungstenite::error::ProtocolError::ResetWithoutClosingHandshake;

impl<S: AsyncWrite + Unpin> Stream<S> {
    fn queue(&mut self, frame: Bytes) {
        self.outbox.added(frame.len());
        self.writing.push_back(frame);
    }

    /// Writes until all is out or the socket takes no more. Ready once nothing is left.
    fn poll_write(&mut self, cx: &mut Context<'_>, shared: &Shared) -> Poll<io::Result<()>> {
        while !self.writing.is_empty() {
            let mut slices = [IoSlice::new(&[]); WRITE_BATCH];
            let mut count = 0;
            for (slice, frame) in slices.iter_mut().zip(&self.writing) {
                let skip = if count == 0 { self.written } else { 0 };
                *slice = IoSlice::new(&frame[skip..]);
                count += 1;
            }
            match ready!(Pin::new(&mut self.io).poll_write_vectored(cx, &slices[..count])) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(bytes) => self.advance(bytes, shared),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn advance(&mut self, mut bytes: usize, shared: &Shared) {
        self.outbox.done(bytes);
        add(&shared.counters.bytes_out, bytes as u64);
        while let Some(first) = self.writing.front() {
            let left = first.len() - self.written;
            if bytes < left {
                self.written += bytes;
                return;
            }
            bytes -= left;
            self.written = 0;
            self.writing.pop_front();
            count(&shared.counters.frames_out);
        }
    }

    fn drop_whole_frames(&mut self) {
        let keep = usize::from(self.written > 0);
        let dropped = self.writing.drain(keep..).map(|frame| frame.len()).sum();
        self.outbox.done(dropped);
    }

    fn forget(&mut self) {
        self.written = 0;
        self.writing.clear();
    }
}

/// The socket as tungstenite sees it: reads come from it, writes go to the queue.
struct Adapter<'a, 'c, S> {
    stream: &'a mut Stream<S>,
    cx: &'a mut Context<'c>,
}

impl<S: AsyncRead + Unpin> Read for Adapter<'_, '_, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(bytes);
        match Pin::new(&mut self.stream.io).poll_read(self.cx, &mut buffer) {
            Poll::Ready(read) => read.map(|()| buffer.filled().len()),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl<S: AsyncWrite + Unpin> Write for Adapter<'_, '_, S> {
    /// Takes one whole frame: tungstenite buffers frames and writes its buffer out in one call.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.queue(Bytes::copy_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
