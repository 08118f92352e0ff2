//! Every way in which the bridge itself fails a request: a closed list of codes and fixed texts. Nothing of a message, of
//! the token or of the endpoint's address is in them.

use bytes::Bytes;
use serde_json::{Value, json};

/// Why a request came to nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// A message that is longer than [`crate::MESSAGE_BYTES`].
    TooLong,
    /// No JSON.
    NotJson,
    /// JSON that is no request.
    NotRequest,
    /// A revision that local discovery does not speak.
    Revision,
    /// More requests in flight than [`crate::inflow::IN_FLIGHT`].
    Busy,
    /// No connection.
    Unreachable,
    /// The connection broke after the request had left.
    Lost,
    /// The answer to the acquisition of the session was lost: the token may be consumed and is not shown again (§20).
    Spent,
    /// An answer that is none.
    Answer,
    /// A refusal of the endpoint, its JSON-RPC error.
    Refused(Value),
    /// A refusal of something before the endpoint, its HTTP status.
    Status(u16),
}

impl Fault {
    /// The JSON-RPC error.
    fn error(&self) -> Value {
        let error = |code: i32, message: &str| json!({ "code": code, "message": message });
        match self {
            Self::TooLong => error(-32600, "The message is longer than 1048576 bytes"),
            Self::NotJson => error(-32700, "Parse error"),
            Self::NotRequest => error(-32600, "Invalid request"),
            Self::Revision => {
                let mut error = error(-32022, "Unsupported protocol version");
                error["data"] = json!({ "supported": [crate::envelope::REVISION], "requested": "unknown" });
                error
            }
            Self::Busy => error(-32000, "Too many requests are in flight"),
            Self::Unreachable => error(-32000, "The game server cannot be reached; try again"),
            Self::Lost => error(
                -32000,
                "The connection to the game server was lost; the call may have been carried out",
            ),
            Self::Spent => error(
                -32000,
                "The answer to the first request was lost, and a seat token works once; start again, with a new token if \
                 this one is refused",
            ),
            Self::Answer => error(-32603, "The game server's answer is no MCP answer"),
            Self::Refused(refusal) => refusal.clone(),
            Self::Status(status) => {
                let mut error = error(-32000, "The game server did not take the request");
                error["data"] = json!({ "status": status });
                error
            }
        }
    }

    /// The answer to the request with this id, or to a message that has none.
    pub(crate) fn answer(&self, id: Option<&Value>) -> Bytes {
        let mut answer = json!({ "jsonrpc": "2.0", "error": self.error() });
        if let Some(id) = id {
            answer["id"] = id.clone();
        }
        answer.to_string().into()
    }
}
