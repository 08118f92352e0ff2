//! Every limit of the server, with its unit, its default and what happens at the bound. None is infinite.

use crate::origin::Origins;
use crate::schedule::FAR;
use std::time::Duration;

/// How deep and how wide a received payload may be.
#[derive(Clone, Copy, Debug)]
pub struct DecodeLimits {
    /// Containers within containers. Default 64. Beyond: the message is undecodable.
    pub depth: usize,
    /// Values in one message, each key and each byte of a binary read as a list counted. Default 65,536.
    /// Beyond: the message is undecodable.
    pub elements: usize,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self { depth: 64, elements: 65_536 }
    }
}

/// Bounds on HTTP connections, for [`serve`](crate::serve). A connection that became a socket no longer counts here.
#[derive(Clone, Copy, Debug)]
pub struct ServeLimits {
    /// Time to send a request's header, from the connection on or, on one that was used before, from its first byte.
    /// Default 10 s. Beyond: the connection is closed.
    pub header_timeout: Duration,
    /// How long a connection may be idle after an answer. Default 75 s, longer than proxies usually keep theirs.
    /// Beyond: it is closed.
    pub keep_alive: Duration,
    /// Bytes of a request's header. Default 16 KiB, at least 8 KiB. Beyond: 431 and the connection is closed. What is
    /// read with the last of them is looked at too, so that a header of up to twice as many may still pass.
    pub header_bytes: usize,
    /// Lines of a request's header. Default 100. Beyond: 431 and the connection is closed.
    pub headers: usize,
    /// Open HTTP connections. Default 10,000. Beyond: no more are accepted until one ends.
    pub connections: usize,
    /// Of those, from one peer, which behind a proxy is the proxy. Default 1,000. Beyond: a new one is closed at once.
    pub connections_per_peer: usize,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(75),
            header_bytes: 16 * 1024,
            headers: 100,
            connections: 10_000,
            connections_per_peer: 1_000,
        }
    }
}

/// The least that [`ServeLimits::header_bytes`] may be.
const HEADER_BYTES_FLOOR: usize = 8 * 1024;

impl ServeLimits {
    /// The same, raised or lowered to what can work: the HTTP parser panics below its floor of bytes, and a limit of
    /// none would admit nobody.
    pub(crate) fn workable(self) -> Self {
        Self {
            header_timeout: self.header_timeout,
            keep_alive: self.keep_alive,
            header_bytes: self.header_bytes.max(HEADER_BYTES_FLOOR),
            headers: self.headers.max(1),
            connections: self.connections.clamp(1, tokio::sync::Semaphore::MAX_PERMITS),
            connections_per_peer: self.connections_per_peer.max(1),
        }
    }
}

/// The limits of a server. Build one from [`Config::default`] and change what you need. No time is longer than ten
/// years.
#[derive(Clone, Debug)]
pub struct Config {
    /// Largest WebSocket message from a client, in bytes. Default 64 KiB, at most 2 MiB.
    /// Beyond: close 1009, before the message is read.
    pub max_message_bytes: usize,
    /// Largest matchmaking body, in bytes. Default 64 KiB. Beyond: HTTP 413.
    pub max_options_bytes: usize,
    /// Values in a matchmaking body, those within others counted; a promised seat keeps them, and in memory the
    /// smallest takes thirty times its bytes. Default 1,000. Beyond: HTTP 400.
    pub max_options_values: usize,
    /// Time to send a matchmaking body. Default 10 s. Beyond: HTTP 408.
    pub options_timeout: Duration,
    /// Shape of received payloads. Beyond: [`BadMessage`](crate::BadMessage), close 4002 unless the room forgives.
    pub decode: DecodeLimits,
    /// Messages a client may send in a second, pings and acknowledgements counted; a burst of one second's worth is
    /// allowed. Default 500. Beyond: close 4002 `rate_limited`.
    pub messages_per_second: u32,
    /// Bytes a client may send in a second, WebSocket headers and unfinished messages counted; a burst of one second's
    /// worth and a header is allowed, so this must be at least `max_message_bytes`. Default 1 MiB. Beyond: close 4002 `rate_limited`.
    pub bytes_per_second: u32,
    /// From the upgrade to the client's acknowledgement of its join. Default 10 s. Beyond: close 4002.
    pub handshake_timeout: Duration,
    /// How long [`Definition::authorize`](crate::Definition::authorize) may take. Default 10 s. Beyond: refused, 525.
    pub authorize_timeout: Duration,
    /// How long a reserved seat waits for its socket, on the monotonic clock. Default 15 s. Beyond: the seat is free
    /// again and its session answers 524.
    pub seat_expiry: Duration,
    /// What the options of all promised seats may take in memory, and those of requests that wait for their
    /// authorization or in a [`Queue`](crate::builtin::Queue), about, in bytes. Default 256 MiB; at least
    /// `max_options_bytes`, so that one request always fits. Beyond: 503, until others have joined or expired.
    pub max_reserved_bytes: usize,
    /// Rooms that one `join` or `joinOrCreate` asks for a seat, where rooms refuse in
    /// [`Room::on_reserve`](crate::Room::on_reserve). Default 10,000. Beyond: `join` is refused with 503
    /// `search_ended`, `joinOrCreate` makes a new room.
    pub max_rooms_asked: usize,
    /// How long it may ask them. Default 5 s. Beyond: likewise.
    pub search_timeout: Duration,
    /// What a room says about itself in listings, and apart from that the options it is found by, as JSON, in bytes.
    /// Default 8 KiB. Beyond: [`Cx::set_metadata`](crate::Cx::set_metadata) fails and changes nothing; a room is not
    /// created, 400.
    pub max_metadata_bytes: usize,
    /// Rooms in this server. Default 10,000. Beyond: 503.
    pub max_rooms: usize,
    /// Seats a room may have at most, whatever it asks for. Default 10,000. Beyond: the room is full, 522.
    pub max_clients_per_room: usize,
    /// Sockets in this server, those in handshake counted. Default 20,000. Beyond: HTTP 503 in place of the upgrade.
    pub max_connections: usize,
    /// Of those, from one address; an IPv6 network of 64 bits counts as one. Default 1,000. Beyond: HTTP 429 in place
    /// of the upgrade.
    pub connections_per_address: usize,
    /// Matchmaking requests from one address in a second, counted like connections; a burst of ten seconds' worth is
    /// allowed. Default 100. Beyond: HTTP 429.
    pub joins_per_second_per_address: u32,
    /// Proxies in front of the server that each add the address they were called from to `X-Forwarded-For`. Default 0:
    /// the header is ignored and the peer is the client. At most 16. Where fewer addresses stand there than that, the
    /// peer is the client.
    pub trusted_proxies: usize,
    /// Web pages that may use the server. Default any. Others: HTTP 403.
    pub origins: Origins,
    /// Bounds on HTTP connections.
    pub serve: ServeLimits,
    /// Bytes that may wait for one client, frames of a join in progress counted. Default 4 MiB; a single message
    /// larger than this cannot be sent at all, so this must be at least `max_message_bytes`, which rooms may relay. Beyond: close 4100 `slow_reader`.
    pub outbound_queue_bytes: usize,
    /// Messages and events that may wait for one room. Default 1,024. Beyond: clients' sockets are read no further
    /// and [`RoomHandle::try_post`](crate::RoomHandle::try_post) fails, until the room catches up.
    pub mailbox: usize,
    /// Between two pings of an idle client. Default 3 s; zero is refused.
    pub ping_interval: Duration,
    /// Pings in a row that may stay unanswered. Default 2. Beyond: the socket is dropped without a close frame.
    pub ping_misses: u32,
    /// How long a socket that was sent a close frame may take to answer it. Default 1 s. Beyond: it is dropped.
    pub close_linger: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_message_bytes: 64 * 1024,
            max_options_bytes: 64 * 1024,
            max_options_values: 1_000,
            options_timeout: Duration::from_secs(10),
            decode: DecodeLimits::default(),
            messages_per_second: 500,
            bytes_per_second: 1024 * 1024,
            handshake_timeout: Duration::from_secs(10),
            authorize_timeout: Duration::from_secs(10),
            seat_expiry: Duration::from_secs(15),
            max_reserved_bytes: 256 * 1024 * 1024,
            max_rooms_asked: 10_000,
            search_timeout: Duration::from_secs(5),
            max_metadata_bytes: 8 * 1024,
            max_rooms: 10_000,
            max_clients_per_room: 10_000,
            max_connections: 20_000,
            connections_per_address: 1_000,
            joins_per_second_per_address: 100,
            trusted_proxies: 0,
            origins: Origins::Any,
            serve: ServeLimits::default(),
            outbound_queue_bytes: 4 * 1024 * 1024,
            mailbox: 1024,
            ping_interval: Duration::from_secs(3),
            ping_misses: 2,
            close_linger: Duration::from_secs(1),
        }
    }
}

/// A setting that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A count, size or time that must be at least one.
    #[error("{0} must not be zero")]
    Zero(&'static str),
    /// A size beyond what the server supports.
    #[error("{0} is too large")]
    TooLarge(&'static str),
    /// Two settings that contradict each other.
    #[error("{0} must be at least {1}")]
    AtLeast(&'static str, &'static str),
    /// An entry of `origins` that no browser sends.
    #[error(
        "an allowed origin is scheme://host or scheme://host:port, in lower case and without the usual port"
    )]
    BadOrigin,
}

/// The most that `max_message_bytes` may be.
const MESSAGE_BYTES_CEILING: usize = 2 * 1024 * 1024;

/// The least that `outbound_queue_bytes` may be: the join's answer and a refusal must always fit.
const MIN_QUEUE_BYTES: usize = 1024;

/// The most that `trusted_proxies` may be.
const PROXIES_CEILING: usize = 16;

impl Config {
    /// Checks each setting and the relations between them.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let counts = [
            ("max_message_bytes", self.max_message_bytes),
            ("max_options_bytes", self.max_options_bytes),
            ("max_options_values", self.max_options_values),
            ("decode.depth", self.decode.depth),
            ("decode.elements", self.decode.elements),
            ("messages_per_second", self.messages_per_second as usize),
            ("max_reserved_bytes", self.max_reserved_bytes),
            ("max_rooms_asked", self.max_rooms_asked),
            ("max_metadata_bytes", self.max_metadata_bytes),
            ("max_rooms", self.max_rooms),
            ("max_clients_per_room", self.max_clients_per_room),
            ("max_connections", self.max_connections),
            ("connections_per_address", self.connections_per_address),
            ("joins_per_second_per_address", self.joins_per_second_per_address as usize),
            ("serve.headers", self.serve.headers),
            ("serve.connections", self.serve.connections),
            ("serve.connections_per_peer", self.serve.connections_per_peer),
            ("ping_misses", self.ping_misses as usize),
            ("outbound_queue_bytes", self.outbound_queue_bytes),
            ("mailbox", self.mailbox),
        ];
        let times = [
            ("handshake_timeout", self.handshake_timeout),
            ("options_timeout", self.options_timeout),
            ("serve.header_timeout", self.serve.header_timeout),
            ("serve.keep_alive", self.serve.keep_alive),
            ("authorize_timeout", self.authorize_timeout),
            ("seat_expiry", self.seat_expiry),
            ("search_timeout", self.search_timeout),
            ("ping_interval", self.ping_interval),
        ];
        let zero = counts.iter().filter(|(_, count)| *count == 0).map(|(name, _)| *name);
        let instant = times.iter().filter(|(_, time)| time.is_zero()).map(|(name, _)| *name);
        if let Some(name) = zero.chain(instant).next() {
            return Err(ConfigError::Zero(name));
        }
        if let Some((name, _)) = times.iter().find(|(_, time)| *time > FAR) {
            return Err(ConfigError::TooLarge(name));
        }
        if self.max_message_bytes > MESSAGE_BYTES_CEILING {
            return Err(ConfigError::TooLarge("max_message_bytes"));
        }
        if self.trusted_proxies > PROXIES_CEILING {
            return Err(ConfigError::TooLarge("trusted_proxies"));
        }
        if self.serve.header_bytes < HEADER_BYTES_FLOOR {
            return Err(ConfigError::AtLeast("serve.header_bytes", "8 KiB"));
        }
        if !self.origins.are_well_formed() {
            return Err(ConfigError::BadOrigin);
        }
        // tokio's semaphores and channels have this ceiling, and no machine comes near it.
        let permits = tokio::sync::Semaphore::MAX_PERMITS;
        for (name, count) in [
            ("max_reserved_bytes", self.max_reserved_bytes),
            ("max_rooms", self.max_rooms),
            ("max_connections", self.max_connections),
            ("serve.connections", self.serve.connections),
            ("mailbox", self.mailbox),
        ] {
            if count > permits {
                return Err(ConfigError::TooLarge(name));
            }
        }
        if (self.bytes_per_second as usize) < self.max_message_bytes {
            return Err(ConfigError::AtLeast("bytes_per_second", "max_message_bytes"));
        }
        if self.max_reserved_bytes < self.max_options_bytes {
            return Err(ConfigError::AtLeast("max_reserved_bytes", "max_options_bytes"));
        }
        if self.outbound_queue_bytes < MIN_QUEUE_BYTES {
            return Err(ConfigError::AtLeast("outbound_queue_bytes", "1 KiB"));
        }
        if self.outbound_queue_bytes < self.max_message_bytes {
            return Err(ConfigError::AtLeast("outbound_queue_bytes", "max_message_bytes"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_work() {
        assert_eq!(Config::default().validate(), Ok(()));
    }

    #[test]
    fn a_contradiction_is_refused_by_name() {
        use ConfigError::{AtLeast, BadOrigin, TooLarge, Zero};
        type Case = (fn(&mut Config), ConfigError);
        let cases: [Case; 17] = [
            (|config| config.mailbox = 0, Zero("mailbox")),
            (|config| config.ping_interval = Duration::ZERO, Zero("ping_interval")),
            (|config| config.ping_misses = 0, Zero("ping_misses")),
            (|config| config.connections_per_address = 0, Zero("connections_per_address")),
            (|config| config.joins_per_second_per_address = 0, Zero("joins_per_second_per_address")),
            (|config| config.options_timeout = Duration::ZERO, Zero("options_timeout")),
            (|config| config.serve.headers = 0, Zero("serve.headers")),
            (|config| config.serve.header_bytes = 8191, AtLeast("serve.header_bytes", "8 KiB")),
            (|config| config.trusted_proxies = 17, TooLarge("trusted_proxies")),
            (|config| config.max_message_bytes = 3 << 20, TooLarge("max_message_bytes")),
            (|config| config.bytes_per_second = 1000, AtLeast("bytes_per_second", "max_message_bytes")),
            (|config| config.search_timeout = Duration::ZERO, Zero("search_timeout")),
            (
                |config| config.max_reserved_bytes = 64 * 1024 - 1,
                AtLeast("max_reserved_bytes", "max_options_bytes"),
            ),
            (|config| config.outbound_queue_bytes = 1000, AtLeast("outbound_queue_bytes", "1 KiB")),
            (
                |config| config.outbound_queue_bytes = 64 * 1024 - 1,
                AtLeast("outbound_queue_bytes", "max_message_bytes"),
            ),
            (|config| config.seat_expiry = Duration::MAX, TooLarge("seat_expiry")),
            (|config| config.origins = Origins::Only(vec!["*".into()]), BadOrigin),
        ];
        for (change, fault) in cases {
            let mut config = Config::default();
            change(&mut config);
            assert_eq!(config.validate(), Err(fault));
        }
    }
}
