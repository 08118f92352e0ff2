//! Why a connection ended: the one list from which close codes, retry policy, metric labels and documentation come.

use strum::EnumCount;

/// What a client should do after a close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Do not come back by yourself.
    Never,
    /// The seat may be held: come back with the reconnection token.
    Reconnect,
    /// Ask for a new seat, at once or after a pause.
    Rejoin,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumCount)]
#[non_exhaustive]
pub enum CloseReason {
    /// The purpose of the socket is fulfilled, as after a latency probe.
    Normal,
    /// The client left on purpose, or the room let it go.
    Consented,
    /// The server shuts down.
    ServerShutdown,
    /// A message had no known type or could not be decoded.
    BadMessage,
    /// The client sent more messages or bytes in a second than allowed.
    RateLimited,
    /// The seat was unknown, used or expired, or the room refused the client.
    JoinRefused,
    /// The room failed by a fault of its own.
    RoomFailed,
    /// The client did not acknowledge its join in time.
    HandshakeTimeout,
    /// A newer connection took the seat over.
    Replaced,
    /// The reconnection token was refused.
    ReconnectRefused,
    /// The client is asked to come back at once.
    MayReconnect,
    /// A message or frame was larger than allowed.
    TooBig,
    /// The client broke the WebSocket protocol.
    ProtocolError,
    /// The client read too slowly: its outbound queue was full.
    SlowReader,
    /// Several pings stayed unanswered. No close frame is sent.
    PingTimeout,
    /// The connection broke without a close frame.
    ConnectionLost,
    /// The client closed with this code; 1005 when it named none.
    ByClient(u16),
    /// The room closed the client with a code of its own, 1000 or 3000 to 4999.
    Application(u16),
}

impl CloseReason {
    /// Every reason, for tables and metrics; the two that carry a code stand with an example.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Normal,
        Self::Consented,
        Self::ServerShutdown,
        Self::BadMessage,
        Self::RateLimited,
        Self::JoinRefused,
        Self::RoomFailed,
        Self::HandshakeTimeout,
        Self::Replaced,
        Self::ReconnectRefused,
        Self::MayReconnect,
        Self::TooBig,
        Self::ProtocolError,
        Self::SlowReader,
        Self::PingTimeout,
        Self::ConnectionLost,
        Self::ByClient(1005),
        Self::Application(4321),
    ];

    /// The WebSocket close code.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Self::Normal => 1000,
            Self::Consented => 4000,
            Self::ServerShutdown => 4001,
            Self::BadMessage
            | Self::RateLimited
            | Self::JoinRefused
            | Self::RoomFailed
            | Self::HandshakeTimeout
            | Self::Replaced => 4002,
            Self::ReconnectRefused => 4003,
            Self::MayReconnect => 4010,
            Self::TooBig => 1009,
            Self::ProtocolError => 1002,
            Self::SlowReader => 4100,
            Self::PingTimeout | Self::ConnectionLost => 1006,
            Self::ByClient(code) | Self::Application(code) => code,
        }
    }

    /// What the client should do next.
    #[must_use]
    pub fn retry(self) -> Retry {
        match self {
            Self::Normal
            | Self::Consented
            | Self::BadMessage
            | Self::JoinRefused
            | Self::Replaced
            | Self::TooBig
            | Self::ProtocolError
            | Self::ByClient(1000 | 4000)
            | Self::Application(_) => Retry::Never,
            Self::MayReconnect
            | Self::SlowReader
            | Self::PingTimeout
            | Self::ConnectionLost
            | Self::ByClient(_) => Retry::Reconnect,
            Self::ServerShutdown
            | Self::RateLimited
            | Self::RoomFailed
            | Self::HandshakeTimeout
            | Self::ReconnectRefused => Retry::Rejoin,
        }
    }

    /// The metric label and log field; also the reason text of the close frame.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Consented => "consented",
            Self::ServerShutdown => "server_shutdown",
            Self::BadMessage => "bad_message",
            Self::RateLimited => "rate_limited",
            Self::JoinRefused => "join_refused",
            Self::RoomFailed => "room_failed",
            Self::HandshakeTimeout => "handshake_timeout",
            Self::Replaced => "replaced",
            Self::ReconnectRefused => "reconnect_refused",
            Self::MayReconnect => "may_reconnect",
            Self::TooBig => "too_big",
            Self::ProtocolError => "protocol_error",
            Self::SlowReader => "slow_reader",
            Self::PingTimeout => "ping_timeout",
            Self::ConnectionLost => "connection_lost",
            Self::ByClient(_) => "by_client",
            Self::Application(_) => "application",
        }
    }

    /// Whether the connection was lost rather than the seat given up: the room may then hold the seat.
    #[must_use]
    pub fn is_drop(self) -> bool {
        self == Self::Replaced || self.retry() == Retry::Reconnect
    }

    /// The place of this reason in [`CloseReason::ALL`].
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Normal => 0,
            Self::Consented => 1,
            Self::ServerShutdown => 2,
            Self::BadMessage => 3,
            Self::RateLimited => 4,
            Self::JoinRefused => 5,
            Self::RoomFailed => 6,
            Self::HandshakeTimeout => 7,
            Self::Replaced => 8,
            Self::ReconnectRefused => 9,
            Self::MayReconnect => 10,
            Self::TooBig => 11,
            Self::ProtocolError => 12,
            Self::SlowReader => 13,
            Self::PingTimeout => 14,
            Self::ConnectionLost => 15,
            Self::ByClient(_) => 16,
            Self::Application(_) => 17,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_its_own_and_every_code_is_a_close_code() {
        for (place, reason) in CloseReason::ALL.into_iter().enumerate() {
            assert_eq!(reason.index(), place, "{reason:?}: counted as itself, and no reason is missing");
            assert!(CloseReason::ALL[..place].iter().all(|other| other.label() != reason.label()));
            assert!(matches!(reason.code(), 1000..=1015 | 3000..=4999), "{reason:?}");
            assert!(reason.label().len() <= 123, "a close frame has room for 123 bytes of reason");
        }
    }

    #[test]
    fn only_lost_connections_count_as_drops() {
        assert!(CloseReason::ByClient(1005).is_drop());
        assert!(CloseReason::ConnectionLost.is_drop());
        assert!(!CloseReason::ByClient(1000).is_drop());
        assert!(!CloseReason::Consented.is_drop());
        assert!(!CloseReason::Application(4321).is_drop());
    }
}
