//! The way out to one client. The room writes to the socket itself; what the socket does not take at once waits here
//! for the connection's task.
//!
//! All of it passes one queue under one lock, so the order holds whoever writes. Nothing here waits, and the lock is
//! held for the writes of one turn at most. The queue counts bytes; whoever puts frames in looks at the count first, for nothing
//! here refuses one.

use crate::close::CloseReason;
use crate::stream::{WRITE_BATCH, Writer};
use crate::sync::lock;
use bytes::{Buf, Bytes};
use futures_util::task::AtomicWaker;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker, ready};

/// The first byte of a WebSocket close frame.
const CLOSE_FRAME: u8 = 0x88;

pub(crate) struct Outbox {
    /// Bytes in the queue.
    waiting: AtomicUsize,
    /// Whether the client said anything since [`Outbox::was_heard`] was asked.
    heard: AtomicBool,
    /// Whether what the client says waits unread, for the room is behind.
    deaf: AtomicBool,
    state: Mutex<State>,
    /// The connection's task.
    task: AtomicWaker,
}

struct State {
    /// `None` once the socket failed or its connection is over.
    writer: Option<Writer>,
    queue: VecDeque<Bytes>,
    /// Whether a part of the first frame is out.
    cut: bool,
    closing: Option<Closing>,
}

/// Why nothing more is taken from the room.
#[derive(Clone, Copy)]
enum Closing {
    /// The room or the server closes the client, after what is queued.
    Reason(CloseReason),
    /// A close frame is queued, and nothing may follow it.
    Framed,
}

impl Outbox {
    pub(crate) fn new(writer: Writer) -> Self {
        let state = State { writer: Some(writer), queue: VecDeque::new(), cut: false, closing: None };
        Self {
            waiting: AtomicUsize::new(0),
            heard: AtomicBool::new(false),
            deaf: AtomicBool::new(false),
            state: Mutex::new(state),
            task: AtomicWaker::new(),
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// The client said something.
    pub(crate) fn hear(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }

    /// From here on what the client says is read, or waits unread.
    pub(crate) fn set_deaf(&self, deaf: bool) {
        self.deaf.store(deaf, Ordering::Relaxed);
    }

    /// Whether the client said anything since this was last asked, or might have without anybody reading it.
    pub(crate) fn was_heard(&self) -> bool {
        self.heard.swap(false, Ordering::Relaxed) || self.deaf.load(Ordering::Relaxed)
    }

    // The room's side.

    /// Writes `frames` to the socket, or queues what it does not take. A socket that is to close gets nothing more.
    pub(crate) fn push(&self, frames: &[Bytes]) {
        let mut state = lock(&self.state);
        if state.closing.is_some() || frames.is_empty() {
            return;
        }
        // While a queue is there its task waits for the socket already.
        let direct = state.queue.is_empty();
        let mut taken = 0;
        if direct && let Some(writer) = &mut state.writer {
            match write_now(writer, frames) {
                Ok(bytes) => taken = bytes,
                Err(_) => state.writer = None,
            }
        }
        if state.writer.is_some() {
            self.enqueue(&mut state, frames, taken);
        }
        let wakes = direct && (state.writer.is_none() || !state.queue.is_empty());
        drop(state);
        if wakes {
            self.task.wake();
        }
    }

    /// Queues what is left of `frames` after `taken` bytes.
    fn enqueue(&self, state: &mut State, frames: &[Bytes], mut taken: usize) {
        for frame in frames {
            if taken >= frame.len() {
                taken -= frame.len();
                continue;
            }
            state.cut |= taken > 0;
            state.queue.push_back(frame.slice(taken..));
            self.waiting.fetch_add(frame.len() - taken, Ordering::Relaxed);
            taken = 0;
        }
    }

    /// Closes the socket once the queue is out. The first reason stands.
    pub(crate) fn close(&self, reason: CloseReason) {
        lock(&self.state).closing.get_or_insert(Closing::Reason(reason));
        self.task.wake();
    }

    // The connection's side.

    /// The reason for which the room or the server closes the client. `waker` hears of that, and of what is queued.
    pub(crate) fn closed(&self, waker: &Waker) -> Option<CloseReason> {
        self.task.register(waker);
        match lock(&self.state).closing? {
            Closing::Reason(reason) => Some(reason),
            Closing::Framed => None,
        }
    }

    /// Queues a control frame of the connection's own, whatever is to close. Nothing follows a close frame.
    pub(crate) fn control(&self, frame: &[u8]) {
        let mut state = lock(&self.state);
        if frame.first() == Some(&CLOSE_FRAME) {
            state.closing.get_or_insert(Closing::Framed);
        }
        self.enqueue(&mut state, &[Bytes::copy_from_slice(frame)], 0);
    }

    /// Writes until the queue is out or the socket takes no more. Ready once nothing is left.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = lock(&self.state);
        let State { writer, queue, cut, .. } = &mut *state;
        let Some(writer) = writer else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        while !queue.is_empty() {
            let mut written = match ready!(writer.poll_write(cx, queue.iter())) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(bytes) => bytes,
                Err(error) => return Poll::Ready(Err(error)),
            };
            self.waiting.fetch_sub(written, Ordering::Relaxed);
            while let Some(first) = queue.front_mut() {
                if written < first.len() {
                    *cut |= written > 0;
                    first.advance(written);
                    break;
                }
                written -= first.len();
                *cut = false;
                queue.pop_front();
            }
        }
        // An idle connection keeps no memory for a queue.
        *queue = VecDeque::new();
        Poll::Ready(Ok(()))
    }

    /// Ends what the client can read.
    pub(crate) async fn shutdown(&self) -> io::Result<()> {
        poll_fn(|cx| match &mut lock(&self.state).writer {
            Some(writer) => writer.poll_shutdown(cx),
            None => Poll::Ready(Ok(())),
        })
        .await
    }

    /// Drops the queue but for a frame that is partly out.
    pub(crate) fn drop_whole_frames(&self) {
        let mut state = lock(&self.state);
        let keep = usize::from(state.cut);
        let dropped = state.queue.drain(keep..).map(|frame| frame.len()).sum();
        self.waiting.fetch_sub(dropped, Ordering::Relaxed);
    }

    /// Lets go of the socket, whatever is queued.
    pub(crate) fn release(&self) {
        let mut state = lock(&self.state);
        state.writer = None;
        state.queue = VecDeque::new();
        self.waiting.store(0, Ordering::Relaxed);
    }
}

/// Writes of `frames` what the socket takes at once. Returns how many bytes that is.
fn write_now(writer: &mut Writer, frames: &[Bytes]) -> io::Result<usize> {
    let mut taken = 0;
    for batch in frames.chunks(WRITE_BATCH) {
        match writer.try_write(batch) {
            Ok(bytes) => {
                taken += bytes;
                if bytes < batch.iter().map(Bytes::len).sum() {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::valve::Valve;
    use std::sync::Arc;

    const A: Bytes = Bytes::from_static(&[0x82, 1, b'a']);
    const B: Bytes = Bytes::from_static(&[0x82, 2, b'b', b'b']);
    const C: Bytes = Bytes::from_static(&[0x82, 1, b'c']);
    const CLOSE: &[u8] = &[CLOSE_FRAME, 0];

    fn opened(space: usize) -> (Outbox, Valve) {
        let (writer, valve) = Valve::open(space);
        (Outbox::new(writer), valve)
    }

    fn write(outbox: &Outbox) -> Poll<io::Result<()>> {
        outbox.poll_write(&mut Context::from_waker(Waker::noop()))
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_one_turn_brings_leaves_in_one_write() {
        let (outbox, valve) = opened(100);
        outbox.push(&[A, B, C]);
        assert_eq!(valve.out(), ([A, B, C].concat(), 1));
        assert_eq!(outbox.waiting(), 0);
    }

    #[test]
    fn frames_beyond_one_write_leave_at_once_too() {
        let (outbox, valve) = opened(1000);
        outbox.push(&vec![A; WRITE_BATCH + 1]);
        assert_eq!(valve.out(), (A.repeat(WRITE_BATCH + 1), 2));
        assert_eq!(outbox.waiting(), 0);
    }

    #[test]
    fn what_the_socket_does_not_take_waits_for_the_connection_in_order() {
        for space in 0..=A.len() + B.len() {
            let (outbox, valve) = opened(space);
            let woken = Arc::new(Woken::default());
            assert_eq!(outbox.closed(&woken.clone().into()), None);
            outbox.push(&[A, B]);
            assert_eq!(woken.0.load(Ordering::Relaxed), space < 7, "{space}");
            outbox.push(&[C]);
            valve.let_through(1);
            outbox.push(&[A]);
            let all = [A, B, C, A].concat();
            assert_eq!(outbox.waiting(), all.len() - valve.out().0.len());
            for _ in 0..all.len() {
                valve.let_through(1);
                assert!(!matches!(write(&outbox), Poll::Ready(Err(_))));
            }
            assert_eq!(valve.out().0, all, "{space}");
            assert_eq!(outbox.waiting(), 0);
        }
    }

    #[test]
    fn a_socket_that_breaks_ends_its_connection() {
        let (outbox, valve) = opened(100);
        let woken = Arc::new(Woken::default());
        assert_eq!(outbox.closed(&woken.clone().into()), None);
        valve.break_off();
        outbox.push(&[A]);
        outbox.push(&[B]);
        assert!(woken.0.load(Ordering::Relaxed));
        assert!(matches!(write(&outbox), Poll::Ready(Err(_))));
        assert_eq!(outbox.waiting(), 0);
    }

    #[test]
    fn a_socket_that_is_to_close_takes_its_close_frame_and_nothing_more() {
        let (outbox, valve) = opened(100);
        outbox.push(&[A]);
        outbox.close(CloseReason::Replaced);
        outbox.close(CloseReason::Normal);
        outbox.push(&[B]);
        assert_eq!(outbox.closed(Waker::noop()), Some(CloseReason::Replaced));
        outbox.control(CLOSE);
        outbox.push(&[B]);
        assert!(write(&outbox).is_ready());
        assert_eq!(valve.out().0, [&A, CLOSE].concat());
    }

    #[test]
    fn nothing_follows_the_answer_to_a_close() {
        let (outbox, valve) = opened(100);
        outbox.control(CLOSE);
        outbox.push(&[A]);
        assert_eq!(outbox.closed(Waker::noop()), None, "the connection ends by itself");
        assert!(write(&outbox).is_ready());
        assert_eq!(valve.out().0, CLOSE);
    }

    #[test]
    fn a_slow_reader_gets_the_frame_that_is_partly_out_and_no_other() {
        let (outbox, valve) = opened(4);
        outbox.push(&[A, B, C]);
        outbox.drop_whole_frames();
        outbox.control(CLOSE);
        valve.let_through(100);
        assert!(write(&outbox).is_ready());
        assert_eq!(valve.out().0, [&A[..], &B, CLOSE].concat());
        assert_eq!(outbox.waiting(), 0);
    }
}
