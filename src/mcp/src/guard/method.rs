//! The methods of the revision that a mount may have, and the shape of their params. What is not listed here is not
//! found, whatever the library underneath could answer.

use super::envelope::Request;
use super::era::Era;
use crate::listen::ADDRESSES_MAX;
use crate::refusal::Refusal;
use serde_json::{Map, Value};

/// Longest address of a resource, in bytes: the longest file of a skill has a shorter one.
const URI_MAX: usize = 512;

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
    /// `resources/list`.
    ListResources,
    /// `resources/templates/list`.
    ListTemplates,
    /// `resources/read`.
    ReadResource,
    /// `skills/list`.
    ListSkills,
    /// `skills/get`.
    GetSkill,
    /// `subscriptions/listen`.
    Listen,
}

impl Method {
    /// The method of a request of this era, if the mount has it.
    pub(crate) fn of(
        request: &Request,
        era: Era,
        has: impl FnOnce(Self) -> bool,
        has_tool: impl FnOnce(&str) -> bool,
    ) -> Result<Self, Refusal> {
        let method = Self::named(&request.method, era).filter(|method| has(*method));
        let method = method.ok_or(Refusal::UnknownMethod)?;
        let none = Map::new();
        let params = request.params.as_ref().unwrap_or(&none);
        if !method.is_shape_of(params) {
            return Err(Refusal::Params);
        }
        let named = params.get("name").and_then(Value::as_str).unwrap_or_default();
        if method == Self::CallTool && !has_tool(named) {
            return Err(Refusal::UnknownTool);
        }
        Ok(method)
    }

    fn named(name: &str, era: Era) -> Option<Self> {
        Some(match (name, era) {
            ("server/discover", Era::Current) => Self::Discover,
            ("initialize", Era::Older) => Self::Initialize,
            ("ping", Era::Older) => Self::Ping,
            ("tools/list", _) => Self::ListTools,
            ("tools/call", _) => Self::CallTool,
            ("resources/list", _) => Self::ListResources,
            ("resources/templates/list", _) => Self::ListTemplates,
            ("resources/read", _) => Self::ReadResource,
            ("skills/list", Era::Current) => Self::ListSkills,
            ("skills/get", Era::Current) => Self::GetSkill,
            ("subscriptions/listen", Era::Current) => Self::Listen,
            _ => return None,
        })
    }

    fn is_shape_of(self, params: &Map<String, Value>) -> bool {
        match self {
            // Its params hold `_meta` and nothing else.
            Self::Discover => params.len() == 1,
            Self::Initialize => is_handshake(params),
            Self::Ping => true,
            // Every list is one page, so no cursor was ever handed out.
            Self::ListTools | Self::ListResources | Self::ListTemplates | Self::ListSkills => {
                !params.contains_key("cursor")
            }
            Self::CallTool => is_tool_call(params),
            Self::ReadResource => params.get("uri").is_some_and(is_uri),
            Self::GetSkill => params.get("uri").is_some_and(|uri| is_uri(uri) && is_skill(uri)),
            Self::Listen => params.get("notifications").is_some_and(is_filter),
        }
    }
}

fn is_handshake(params: &Map<String, Value>) -> bool {
    params.get("protocolVersion").is_some_and(Value::is_string)
        && params.get("capabilities").is_some_and(Value::is_object)
        && params.get("clientInfo").is_some_and(Value::is_object)
}

fn is_tool_call(params: &Map<String, Value>) -> bool {
    let is_object = |name: &str| params.get(name).is_none_or(Value::is_object);
    params.get("name").is_some_and(Value::is_string) && is_object("arguments") && is_object("inputResponses")
}

/// Whether a value may be an address: printable, and no longer than any that exists.
fn is_uri(value: &Value) -> bool {
    let printable = |byte: u8| byte.is_ascii_graphic();
    value.as_str().is_some_and(|uri| !uri.is_empty() && uri.len() <= URI_MAX && uri.bytes().all(printable))
}

/// Skills are named by their `SKILL.md`.
fn is_skill(uri: &Value) -> bool {
    uri.as_str().is_some_and(|uri| uri.ends_with("/SKILL.md") && !uri.contains(['?', '#']))
}

/// What a stream may ask for: a bounded list of addresses, and kinds of notification by name.
fn is_filter(value: &Value) -> bool {
    let Some(filter) = value.as_object() else { return false };
    filter.iter().all(|(member, wanted)| match (member.as_str(), wanted) {
        ("resourceSubscriptions", Value::Array(uris)) => {
            uris.len() <= ADDRESSES_MAX && uris.iter().all(is_uri)
        }
        ("resourceSubscriptions", _) => false,
        ("toolsListChanged" | "promptsListChanged" | "resourcesListChanged", wanted) => wanted.is_boolean(),
        // A kind of a later revision or an extension.
        _ => true,
    })
}
