//! A socket whose other side is the test: it takes as many bytes as the test lets through, and breaks when told.

use crate::stream::Writer;
use crate::sync::lock;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;

#[derive(Clone, Default)]
pub(crate) struct Valve(Arc<Mutex<Flow>>);

#[derive(Default)]
struct Flow {
    space: usize,
    out: Vec<u8>,
    writes: usize,
    broken: bool,
}

impl Valve {
    /// A socket that takes `space` bytes, and its end for the test.
    pub(crate) fn open(space: usize) -> (Writer, Self) {
        let valve = Self::default();
        valve.let_through(space);
        (Writer::Other(Box::new(valve.clone())), valve)
    }

    pub(crate) fn let_through(&self, bytes: usize) {
        lock(&self.0).space += bytes;
    }

    pub(crate) fn break_off(&self) {
        lock(&self.0).broken = true;
    }

    /// What came out so far, and in how many writes.
    pub(crate) fn out(&self) -> (Vec<u8>, usize) {
        let flow = lock(&self.0);
        (flow.out.clone(), flow.writes)
    }
}

impl AsyncWrite for Valve {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut flow = lock(&self.0);
        if flow.broken {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if flow.space == 0 {
            return Poll::Pending;
        }
        let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).take(flow.space).collect();
        flow.space -= bytes.len();
        flow.writes += 1;
        flow.out.extend(&bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
