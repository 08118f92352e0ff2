//! The methods of this endpoint and the shape of their params. What is not listed here is not found, whatever the
//! library underneath could answer.

use super::envelope::Request;
use crate::refusal::Refusal;
use crate::surface::Offer;
use serde_json::{Map, Value};

/// A known method with params of its shape.
#[derive(Debug, PartialEq)]
pub(crate) enum Method {
    /// `server/discover`: static, and it claims nothing.
    Discover,
    /// `tools/list`.
    ListTools,
    /// `tools/call` of a tool that the contract knows.
    CallTool(ToolCall),
}

/// A call of a tool that the contract knows; whether the game offers it is for the call to say.
#[derive(Debug, PartialEq)]
pub(crate) struct ToolCall {
    /// The tool's name.
    pub(crate) name: String,
    /// The arguments, unchecked.
    pub(crate) arguments: Map<String, Value>,
}

impl Method {
    /// Reads a request. `offer` says which tool names exist.
    pub(crate) fn parse(request: Request, offer: &Offer) -> Result<Self, Refusal> {
        let mut params = request.params.unwrap_or_default();
        match request.method.as_str() {
            // Its params hold `_meta` and nothing else.
            "server/discover" if params.len() > 1 => Err(Refusal::Params),
            "server/discover" => Ok(Self::Discover),
            // The list is one page, so no cursor was ever handed out.
            "tools/list" if params.contains_key("cursor") => Err(Refusal::Params),
            "tools/list" => Ok(Self::ListTools),
            "tools/call" => tool_call(&mut params, offer).map(Self::CallTool),
            _ => Err(Refusal::UnknownMethod),
        }
    }
}

fn tool_call(params: &mut Map<String, Value>, offer: &Offer) -> Result<ToolCall, Refusal> {
    let Some(Value::String(name)) = params.remove("name") else { return Err(Refusal::Params) };
    let arguments = match params.remove("arguments") {
        None => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(Refusal::Params),
    };
    if offer.knows(&name) { Ok(ToolCall { name, arguments }) } else { Err(Refusal::UnknownTool) }
}
