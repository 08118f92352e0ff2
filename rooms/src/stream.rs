//! A client's byte stream, cut into the half that its connection reads and the half that its room writes.
//!
//! Writing never waits here: it is tried, or polled by the connection's task.

use bytes::Bytes;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadHalf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// Frames in one write.
pub(crate) const WRITE_BATCH: usize = 64;

/// A stream that has become a WebSocket.
pub(crate) struct Incoming<R> {
    pub(crate) reader: R,
    pub(crate) writer: Writer,
    /// What was read together with the request for the socket.
    pub(crate) early: Vec<u8>,
}

/// Where a client's frames go.
pub(crate) enum Writer {
    Tcp(OwnedWriteHalf),
    /// Any other transport, as a host or a test brings it.
    Other(Box<dyn AsyncWrite + Send + Unpin>),
}

impl Incoming<OwnedReadHalf> {
    pub(crate) fn tcp(stream: TcpStream, early: Bytes) -> Self {
        let (reader, writer) = stream.into_split();
        // The memory of hyper's whole buffer comes with it.
        let mut early = Vec::from(early);
        early.shrink_to_fit();
        Self { reader, writer: Writer::Tcp(writer), early }
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Incoming<ReadHalf<S>> {
    pub(crate) fn other(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader, writer: Writer::Other(Box::new(writer)), early: Vec::new() }
    }
}

impl Writer {
    /// Writes what the socket takes at once, in one call. A TCP socket is asked itself, for a room's turn may write to
    /// more sockets than the runtime lets one task poll.
    pub(crate) fn try_write(&mut self, frames: &[Bytes]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => match frames {
                [frame] => half.try_write(frame),
                _ => gathered(frames.iter(), |slices| half.try_write_vectored(slices)),
            },
            Self::Other(_) => match self.poll_write(&mut Context::from_waker(Waker::noop()), frames.iter()) {
                Poll::Ready(written) => written,
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
            },
        }
    }

    pub(crate) fn poll_write<'a>(
        &mut self,
        cx: &mut Context<'_>,
        frames: impl Iterator<Item = &'a Bytes>,
    ) -> Poll<io::Result<usize>> {
        gathered(frames, |slices| match self {
            Self::Tcp(half) => Pin::new(half).poll_write_vectored(cx, slices),
            Self::Other(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        })
    }

    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(half) => Pin::new(half).poll_shutdown(cx),
            Self::Other(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// Gives the first frames to `write`, as many as one call may take.
fn gathered<'a, T>(frames: impl Iterator<Item = &'a Bytes>, write: impl FnOnce(&[IoSlice<'a>]) -> T) -> T {
    let mut slices = [IoSlice::new(&[]); WRITE_BATCH];
    let mut count = 0;
    for (slice, frame) in slices.iter_mut().zip(frames) {
        *slice = IoSlice::new(frame);
        count += 1;
    }
    write(&slices[..count])
}
