//! How long an HTTP connection may keep the server waiting: for the rest of a header, and for a next request. The time
//! of an answer is its handler's affair.
//!
//! Nothing of what is read or written is looked at here. A connection's phases change while its own task polls it, so
//! nobody need be woken by that, and one timer, which is put off when it fires, serves them all.

use crate::schedule::FAR;
use crate::sync::lock;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

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

/// A connection's phase, and since when it is in that.
#[derive(Clone)]
struct Phases(Arc<Mutex<(Phase, Instant)>>);

impl Phases {
    fn enter(&self, phase: Phase) {
        *lock(&self.0) = (phase, Instant::now());
    }

    fn leave(&self, before: Phase, next: Phase) {
        let mut now = lock(&self.0);
        if now.0 == before {
            *now = (next, Instant::now());
        }
    }
}

/// The phases of one connection, and how long each may last.
pub(crate) struct Pace {
    phases: Phases,
    header_timeout: Duration,
    keep_alive: Duration,
}

impl Pace {
    /// A connection whose first header is awaited.
    pub(crate) fn new(header_timeout: Duration, keep_alive: Duration) -> Self {
        let phases = Phases(Arc::new(Mutex::new((Phase::Header, Instant::now()))));
        Self { phases, header_timeout: header_timeout.min(FAR), keep_alive: keep_alive.min(FAR) }
    }

    /// The connection's stream, which tells when a request begins.
    pub(crate) fn watch<S>(&self, stream: S) -> Watched<S> {
        Watched { stream, phases: self.phases.clone() }
    }

    /// What is told of each request and its answer.
    pub(crate) fn answers(&self) -> Answers {
        Answers(self.phases.clone())
    }

    /// Resolves once the connection has kept the server waiting for too long. It must be polled after the connection
    /// whenever that is.
    ///
    /// Cancel safety: nothing is lost.
    pub(crate) async fn too_slow(&self) {
        let mut timer = pin!(sleep_until(self.next_look()));
        poll_fn(|context| {
            loop {
                let look = self.next_look();
                if look < timer.deadline() {
                    timer.as_mut().reset(look);
                }
                ready!(timer.as_mut().poll(context));
                if self.is_too_slow() {
                    return Poll::Ready(());
                }
                timer.as_mut().reset(self.next_look());
            }
        })
        .await;
    }

    /// How long the present phase may last, and when it began. An answer takes any time.
    fn limit(&self) -> (Option<Duration>, Instant) {
        let (phase, since) = *lock(&self.phases.0);
        let limit = match phase {
            Phase::Idle => Some(self.keep_alive),
            Phase::Header => Some(self.header_timeout),
            Phase::Answer => None,
        };
        (limit, since)
    }

    fn is_too_slow(&self) -> bool {
        let (limit, since) = self.limit();
        limit.is_some_and(|limit| since.elapsed() >= limit)
    }

    /// When the present phase is too long, or, of an answer, some time from now.
    fn next_look(&self) -> Instant {
        match self.limit() {
            (Some(limit), since) => since + limit,
            (None, _) => Instant::now() + self.keep_alive,
        }
    }
}

/// A stream whose first bytes after an answer are the begin of a request.
pub(crate) struct Watched<S> {
    stream: S,
    phases: Phases,
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
            self.phases.leave(Phase::Idle, Phase::Header);
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
pub(crate) struct Answers(Phases);

impl Answers {
    /// A whole header is there.
    pub(crate) fn begin(&self) {
        self.0.enter(Phase::Answer);
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
        self.0.0.enter(Phase::Idle);
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
