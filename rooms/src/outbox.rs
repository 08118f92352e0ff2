//! The queue between a room and one client's socket: the room puts frames in without waiting, the connection's task
//! writes them out.
//!
//! The queue counts bytes; whoever puts frames in looks at the count first, for nothing here refuses one.

use crate::close::CloseReason;
use crate::sync::lock;
use bytes::Bytes;
use futures_util::task::AtomicWaker;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

#[derive(Default)]
pub(crate) struct Outbox {
    /// Bytes that are queued here or taken by the connection and not yet in the socket.
    waiting: AtomicUsize,
    state: Mutex<State>,
    waker: AtomicWaker,
}

#[derive(Default)]
struct State {
    frames: Vec<Bytes>,
    close: Option<CloseReason>,
}

impl Outbox {
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Moves `frames` in and wakes the connection. A queue that is to close takes nothing more.
    pub(crate) fn push(&self, frames: &mut Vec<Bytes>) {
        let bytes = frames.iter().map(Bytes::len).sum();
        {
            let mut state = lock(&self.state);
            if state.close.is_some() {
                frames.clear();
                return;
            }
            self.waiting.fetch_add(bytes, Ordering::Relaxed);
            state.frames.append(frames);
        }
        self.waker.wake();
    }

    /// Closes the socket once the queued frames are out. The first reason stands.
    pub(crate) fn close(&self, reason: CloseReason) {
        {
            let mut state = lock(&self.state);
            if state.close.is_some() {
                return;
            }
            state.close = Some(reason);
        }
        self.waker.wake();
    }

    /// Moves all frames to `writing`. Returns the reason to close after them, once there is one.
    pub(crate) fn take(&self, waker: &Waker, writing: &mut VecDeque<Bytes>) -> Option<CloseReason> {
        self.waker.register(waker);
        let mut state = lock(&self.state);
        writing.extend(state.frames.drain(..));
        state.close
    }

    /// The connection queued `bytes` of its own.
    pub(crate) fn added(&self, bytes: usize) {
        self.waiting.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The connection wrote or dropped `bytes`.
    pub(crate) fn done(&self, bytes: usize) {
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
    }
}
