//! What a client allows itself and its server: every bound in one place.

use std::time::Duration;

/// Bounds of a [`Client`](crate::Client). The defaults suit a game on a network; a relation that does not hold is
/// brought in line where it is used, never an error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Longest time of one HTTP exchange, and of one join from the seat's request to the room's handshake. Past it the
    /// operation fails with [`Error::Timeout`](crate::Error::Timeout). 15 seconds.
    pub timeout: Duration,
    /// Longest time that [`Room::leave`](crate::Room::leave) waits for the server's close. 5 seconds.
    pub leave_timeout: Duration,
    /// Largest received message in bytes; a larger one closes the room with 1009. 4 MiB, what our server
    /// queues for one client at most.
    pub max_message_bytes: usize,
    /// Largest HTTP answer in bytes; a larger one fails with [`Error::TooLarge`](crate::Error::TooLarge). 64 KiB.
    pub max_answer_bytes: usize,
    /// Most bytes that wait for a socket that does not take them. A message beyond it fails with
    /// [`Error::TooLarge`](crate::Error::TooLarge). 1 MiB.
    pub max_queued_bytes: usize,
    /// Whether a seat may lie at another address than the endpoint.
    pub elsewhere: Elsewhere,
}

/// What to do when the matchmaker sends the client to another address (`publicAddress`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// Go there, as the official SDKs do. The login token goes along.
    Follow,
    /// Fail with [`Error::Elsewhere`](crate::Error::Elsewhere).
    Refuse,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(15),
            leave_timeout: Duration::from_secs(5),
            max_message_bytes: 4 * 1024 * 1024,
            max_answer_bytes: 64 * 1024,
            max_queued_bytes: 1024 * 1024,
            elsewhere: Elsewhere::Follow,
        }
    }
}
