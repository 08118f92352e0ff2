//! Why a client operation failed: one closed list. Texts describe the failure and repeat nothing that was received,
//! except the server's own refusal, cut to [`MAX_REFUSAL_CHARS`].

use std::io;

/// Characters of a server's refusal that are kept.
pub(crate) const MAX_REFUSAL_CHARS: usize = 256;

/// Why a client operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The endpoint is no `http://` or `ws://` address with a host.
    #[error("the endpoint is not an http or ws address")]
    Endpoint,
    /// The endpoint asks for TLS, which this client does not speak.
    #[error("the endpoint asks for TLS, which this client does not speak")]
    Tls,
    /// The login token is empty, longer than 4096 bytes, or not of visible ASCII characters.
    #[error("the token is not of 1 to 4096 visible ASCII characters")]
    Token,
    /// No connection to the server.
    #[error("no connection to the server")]
    Connect(#[source] io::Error),
    /// The HTTP exchange broke off.
    #[error("the HTTP exchange broke off")]
    Http(#[source] hyper::Error),
    /// The server refused: matchmaking, HTTP, or the room itself while joining.
    #[error("refused with code {code}: {message}")]
    Refused {
        /// The server's code: an HTTP status, or the code of an ERROR frame.
        code: u16,
        /// The server's text, at most 256 characters.
        message: String,
    },
    /// The matchmaker named another address and [`Elsewhere::Refuse`](crate::Elsewhere::Refuse) is set.
    #[error("the seat is at another address")]
    Elsewhere,
    /// The server did not complete the WebSocket handshake.
    #[error("the server did not open a WebSocket")]
    Upgrade,
    /// The server's answer is not what the protocol says.
    #[error("the server's answer does not follow the protocol")]
    Answer,
    /// An answer, or what waits to be sent, is beyond its bound in [`Config`](crate::Config).
    #[error("beyond a size bound")]
    TooLarge,
    /// The connection is closed, with the close code of the WebSocket.
    #[error("closed with code {code}")]
    Closed {
        /// The close code; 1005 without one, 1006 when the connection broke.
        code: u16,
    },
    /// The operation took longer than [`Config::timeout`](crate::Config::timeout).
    #[error("timed out")]
    Timeout,
    /// The value does not serialize, or a message's name is empty or longer than 255 bytes.
    #[error("the value cannot be encoded")]
    Encode,
    /// The payload does not decode into the wanted type.
    #[error("the payload does not decode")]
    Decode,
    /// The host refused a PlayerThree call.
    #[error("the call was refused: {code}")]
    Call {
        /// The closed code, such as `not_controller`.
        code: String,
        /// The whole answer, which may say more: `schemaCode`, `path`.
        answer: Box<serde_json::Value>,
    },
    /// A view message does not continue what this client has; the team's view is discarded.
    #[error("the view stream broke: {0}")]
    View(#[from] crate::playerthree::ViewError),
    /// As many calls or events wait already as may.
    #[error("too much is waiting")]
    Busy,
}

impl Error {
    /// The closed code of the failure, fit for a metric label.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Tls => "tls",
            Self::Token => "token",
            Self::Connect(_) => "connect",
            Self::Http(_) => "http",
            Self::Refused { .. } => "refused",
            Self::Elsewhere => "elsewhere",
            Self::Upgrade => "upgrade",
            Self::Answer => "answer",
            Self::TooLarge => "too_large",
            Self::Closed { .. } => "closed",
            Self::Timeout => "timeout",
            Self::Encode => "encode",
            Self::Decode => "decode",
            Self::Call { .. } => "call",
            Self::View(_) => "view",
            Self::Busy => "busy",
        }
    }

    /// The server's number for the failure: the code of a refusal or of a close.
    #[must_use]
    pub fn number(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } | Self::Closed { code } => Some(*code),
            _ => None,
        }
    }

    pub(crate) fn refused(code: u16, message: &str) -> Self {
        Self::Refused { code, message: message.chars().take(MAX_REFUSAL_CHARS).collect() }
    }
}
