//! The methods of every mount and the shape of their params. What is not listed here is not found, whatever the
//! library underneath could answer.

use super::envelope::Request;
use super::era::Era;
use crate::refusal::Refusal;
use serde_json::{Map, Value};

/// A known method whose params are of its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// `server/discover`: static, and it claims nothing.
    Discover,
    /// `initialize`, the handshake of the older era: it claims nothing and leaves nothing behind.
    Initialize,
    /// `ping` of the older era.
    Ping,
    /// `tools/list`.
    ListTools,
    /// `tools/call` of a tool that the mount has.
    CallTool,
}

impl Method {
    /// The method of a request.
    pub(crate) fn of(
        request: &Request,
        era: Era,
        has_tool: impl FnOnce(&str) -> bool,
    ) -> Result<Self, Refusal> {
        let none = Map::new();
        let params = request.params.as_ref().unwrap_or(&none);
        let (method, shaped) = match (request.method.as_str(), era) {
            // Its params hold `_meta` and nothing else.
            ("server/discover", Era::Current) => (Self::Discover, params.len() == 1),
            ("initialize", Era::Older) => (Self::Initialize, is_handshake(params)),
            ("ping", Era::Older) => (Self::Ping, true),
            // The list is one page, so no cursor was ever handed out.
            ("tools/list", _) => (Self::ListTools, !params.contains_key("cursor")),
            ("tools/call", _) => (Self::CallTool, is_tool_call(params)),
            _ => return Err(Refusal::UnknownMethod),
        };
        if !shaped {
            return Err(Refusal::Params);
        }
        let named = params.get("name").and_then(Value::as_str).unwrap_or_default();
        if method == Self::CallTool && !has_tool(named) {
            return Err(Refusal::UnknownTool);
        }
        Ok(method)
    }
}

fn is_handshake(params: &Map<String, Value>) -> bool {
    params.get("protocolVersion").is_some_and(Value::is_string)
        && params.get("capabilities").is_some_and(Value::is_object)
        && params.get("clientInfo").is_some_and(Value::is_object)
}

fn is_tool_call(params: &Map<String, Value>) -> bool {
    params.get("name").is_some_and(Value::is_string) && params.get("arguments").is_none_or(Value::is_object)
}
