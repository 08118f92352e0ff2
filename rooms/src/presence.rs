//! The seam through which processes of one game tell each other things: [`Presence`], with topics, and keys that may
//! expire, count, or hold sets and hashes. [`MemoryPresence`], the default, stays within this process.
//!
//! The crate itself publishes on one topic: the ids of rooms whose listing changed, for lobbies. The rest is for
//! applications. Nothing here is a secret store, and a topic is no log: who is not subscribed misses what is said.

mod memory;
mod store;

use bytes::Bytes;
use futures_util::future::BoxFuture;
pub use memory::MemoryPresence;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Why presence did not do what it was asked. Nothing changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PresenceError {
    /// The store holds as much as it may.
    #[error("the presence store is full")]
    Full,
    /// The key holds something of another kind.
    #[error("the key holds something of another kind")]
    WrongKind,
    /// The store cannot be asked right now.
    #[error("the presence store is not available")]
    Unavailable,
}

/// What an operation of presence comes to.
pub type Pending<'a, T> = BoxFuture<'a, Result<T, PresenceError>>;

/// Topics and shared keys.
///
/// Rooms publish from inside their turns, so `publish` must not wait; all else may. A set or hash that loses its last
/// member is gone, as a key is that expired or was removed.
pub trait Presence: Send + Sync + 'static {
    /// Tells a topic's present subscribers, each at most once and in the order of this publisher.
    fn publish(&self, topic: &str, message: Bytes);

    /// Hears what is published on a topic from now on.
    fn subscribe(&self, topic: &str) -> Pending<'_, Subscription>;

    /// Sets a key, for `expiry` if that is given. What the key held is gone.
    fn set(&self, key: &str, value: Bytes, expiry: Option<Duration>) -> Pending<'_, ()>;

    /// What a key holds.
    fn get(&self, key: &str) -> Pending<'_, Option<Bytes>>;

    /// Removes a key of any kind.
    fn remove(&self, key: &str) -> Pending<'_, ()>;

    /// Adds to a count, which starts at zero and is a decimal number to [`Presence::get`]. Returns the sum, which
    /// stays within the bounds of the type. An expiry that the key has stays.
    fn add(&self, key: &str, amount: i64) -> Pending<'_, i64>;

    /// Puts a member into a set. False where it was in already.
    fn set_insert(&self, key: &str, member: &str) -> Pending<'_, bool>;

    /// Takes a member out of a set. False where it was not in.
    fn set_remove(&self, key: &str, member: &str) -> Pending<'_, bool>;

    /// A set's members.
    fn set_members(&self, key: &str) -> Pending<'_, BTreeSet<String>>;

    /// Sets a field of a hash.
    fn hash_set(&self, key: &str, field: &str, value: Bytes) -> Pending<'_, ()>;

    /// A field of a hash.
    fn hash_get(&self, key: &str, field: &str) -> Pending<'_, Option<Bytes>>;

    /// Removes a field of a hash. False where there was none.
    fn hash_remove(&self, key: &str, field: &str) -> Pending<'_, bool>;

    /// All of a hash.
    fn hash_all(&self, key: &str) -> Pending<'_, BTreeMap<String, Bytes>>;
}

/// What a subscriber gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A message.
    Message(Bytes),
    /// The subscriber was so slow that this many messages are lost to it.
    Missed(u64),
}

/// A subscription. It ends when it is dropped.
pub struct Subscription {
    receiver: broadcast::Receiver<Bytes>,
    // Dropped after the receiver, so that a topic sees its last subscriber gone.
    _end: Option<End>,
}

struct End(Box<dyn Fn() + Send + Sync>);

impl Drop for End {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl Subscription {
    /// A subscription to what `receiver` receives, for a presence of another kind.
    #[must_use]
    pub fn new(receiver: broadcast::Receiver<Bytes>) -> Self {
        Self { receiver, _end: None }
    }

    /// The next message, or `None` once there can be none.
    ///
    /// Cancel safety: no message is lost.
    pub async fn next(&mut self) -> Option<Delivery> {
        match self.receiver.recv().await {
            Ok(message) => Some(Delivery::Message(message)),
            Err(RecvError::Lagged(missed)) => Some(Delivery::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }
}
