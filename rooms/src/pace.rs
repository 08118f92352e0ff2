//! How long an HTTP connection may keep the server waiting: for the rest of a header, and for a next request. The time
//! of an answer is its handler's affair.
//!
//! Nothing of what is read or written is looked at here.

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::sleep;

/// What an HTTP connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing of a next request is there.
    Idle,
    /// A header is awaited, or some of it is there.
    Header,
    /// A request is answered.
    Answer,
}

/// The phases of one connection, and how long each may last.
pub(crate) struct Pace {
    phase: Arc<watch::Sender<Phase>>,
    header_timeout: Duration,
    keep_alive: Duration,
}

impl Pace {
    /// A connection whose first header is awaited.
    pub(crate) fn new(header_timeout: Duration, keep_alive: Duration) -> Self {
        Self { phase: Arc::new(watch::Sender::new(Phase::Header)), header_timeout, keep_alive }
    }

    /// The connection's stream, which tells when a request begins.
    pub(crate) fn watch<S>(&self, stream: S) -> Watched<S> {
        Watched { stream, phase: self.phase.clone() }
    }

    /// What is told of each request and its answer.
    pub(crate) fn answers(&self) -> Answers {
        Answers(self.phase.clone())
    }

    /// Resolves once the connection has kept the server waiting for too long.
    ///
    /// Cancel safety: a phase is timed from the call on.
    pub(crate) async fn too_slow(&self) {
        let mut phase = self.phase.subscribe();
        loop {
            let now = *phase.borrow_and_update();
            let limit = match now {
                Phase::Idle => self.keep_alive,
                Phase::Header => self.header_timeout,
                Phase::Answer => Duration::MAX,
            };
            tokio::select! {
                // The sender is in `self`.
                _ = phase.changed() => {}
                () = sleep(limit) => return,
            }
        }
    }
}

/// A stream whose first bytes after an answer are the begin of a request.
pub(crate) struct Watched<S> {
    stream: S,
    phase: Arc<watch::Sender<Phase>>,
}

impl<S> Watched<S> {
    pub(crate) fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.phase.send_if_modified(|phase| {
                let begins = *phase == Phase::Idle;
                if begins {
                    *phase = Phase::Header;
                }
                begins
            });
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Told when a request is there, and what its answer is.
#[derive(Clone)]
pub(crate) struct Answers(Arc<watch::Sender<Phase>>);

impl Answers {
    /// A whole header is there.
    pub(crate) fn begin(&self) {
        self.0.send_replace(Phase::Answer);
    }

    /// The body of the answer, with which the answer ends.
    pub(crate) fn until_end_of(&self, body: Body) -> Body {
        Body::new(Answer { body, _end: End(self.clone()) })
    }
}

/// The body of an answer. The connection is idle once it has been handed over, or given up.
struct Answer {
    body: Body,
    // Dropped with the body.
    _end: End,
}

struct End(Answers);

impl Drop for End {
    fn drop(&mut self) {
        self.0.0.send_replace(Phase::Idle);
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
