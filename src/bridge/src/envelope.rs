//! What the bridge reads of a message: its id, its method, and what the HTTP headers repeat of it. The message itself is
//! carried as it came.

use crate::fault::Fault;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::HeaderValue;
use serde_json::Value;

/// The revision of the endpoint.
pub(crate) const REVISION: &str = "2026-07-28";

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of the client.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It takes a request back.
    Cancelled(Value),
    /// It says something that a stateless endpoint has no use for.
    Other,
}

/// A request of the client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// Its id.
    pub(crate) id: Value,
    /// Its method.
    pub(crate) method: String,
    /// What `Mcp-Name` repeats.
    name: Option<String>,
    /// The revision that it names.
    pub(crate) revision: Option<String>,
    /// The message.
    pub(crate) body: Bytes,
}

impl Incoming {
    /// Reads a line. A fault comes with the id of the request, where there is one.
    pub(crate) fn parse(line: String) -> Result<Self, (Fault, Option<Value>)> {
        let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
            return Err((Fault::NotJson, None));
        };
        let id = match message.get_mut("id").map(Value::take) {
            Some(id @ (Value::String(_) | Value::Number(_))) => Some(id),
            None => None,
            Some(_) => return Err((Fault::NotRequest, None)),
        };
        let params = &message["params"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match (message["method"].as_str(), id) {
            (Some("notifications/cancelled"), None) => Ok(Self::Cancelled(params["requestId"].clone())),
            (Some(_), None) => Ok(Self::Other),
            (Some(method), Some(id)) => {
                let name = match method {
                    "tools/call" => text(&params["name"]),
                    "resources/read" => text(&params["uri"]),
                    _ => None,
                };
                let (method, revision) = (method.to_owned(), text(&params["_meta"][VERSION]));
                Ok(Self::Request(Request { id, method, name, revision, body: line.into() }))
            }
            // The answer to a request that nobody sent: the bridge lets none through.
            (None, Some(_)) if message.get("result").is_some() || message.get("error").is_some() => {
                Ok(Self::Other)
            }
            (None, id) => Err((Fault::NotRequest, id)),
        }
    }
}

impl Request {
    /// A request of the bridge's own.
    pub(crate) fn own(id: &str, method: &str, mut params: Value) -> Self {
        let name =
            params.get("uri").or_else(|| params.get("name")).and_then(Value::as_str).map(str::to_owned);
        params["_meta"] = serde_json::json!({
            VERSION: REVISION,
            "io.modelcontextprotocol/clientInfo":
                { "name": "playerthree-mcp", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        Self {
            id: id.into(),
            method: method.to_owned(),
            name,
            revision: Some(REVISION.to_owned()),
            body: body.to_string().into(),
        }
    }

    /// Key of the request among those in flight.
    pub(crate) fn key(&self) -> String {
        self.id.to_string()
    }

    /// The value of `Mcp-Method`. Nothing for a method that no endpoint has.
    pub(crate) fn method_header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.method).ok()
    }

    /// The value of `Mcp-Name`, in the revision's Base64 form where a header cannot carry the text.
    pub(crate) fn name_header(&self) -> Option<HeaderValue> {
        let name = self.name.as_ref()?;
        let is_plain =
            name.bytes().all(|byte| (b'!'..=b'~').contains(&byte)) && !name.starts_with("=?base64?");
        let encoded = || format!("=?base64?{}?=", BASE64.encode(name));
        HeaderValue::from_str(&if is_plain { name.clone() } else { encoded() }).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(line: &str) -> Result<Incoming, (Fault, Option<Value>)> {
        Incoming::parse(line.to_owned())
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_id_it_has() {
        assert_eq!(parse("{"), Err((Fault::NotJson, None)));
        assert_eq!(parse("[]"), Err((Fault::NotRequest, None)));
        assert_eq!(parse(r#"{"id":7}"#), Err((Fault::NotRequest, Some(json!(7)))));
        assert_eq!(parse(r#"{"id":null,"method":"x"}"#), Err((Fault::NotRequest, None)));
        assert_eq!(parse(r#"{"method":"notifications/initialized"}"#), Ok(Incoming::Other));
        assert_eq!(parse(r#"{"id":7,"result":{}}"#), Ok(Incoming::Other));
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(parse(&deep), Err((Fault::NotJson, None)));
    }

    #[test]
    fn headers_repeat_the_method_and_the_name() {
        let header = |name: &str| {
            let line = json!({ "id": 1, "method": "tools/call", "params": { "name": name } }).to_string();
            let Ok(Incoming::Request(request)) = parse(&line) else { panic!("no request") };
            request.name_header().unwrap()
        };
        assert_eq!(header("game_act"), "game_act");
        assert_eq!(header("zwölf"), "=?base64?enfDtmxm?=");
        assert_eq!(header("a\nb"), "=?base64?YQpi?=");
        assert_eq!(header("=?base64?YQ==?="), "=?base64?PT9iYXNlNjQ/WVE9PT89?=");
    }
}
