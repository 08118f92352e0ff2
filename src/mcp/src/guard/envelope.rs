//! The JSON-RPC envelope: one object that is a request or a notification. The body is parsed here and nowhere else in
//! the guard; duplicate members are refused, so that no later reader can see another message in the same bytes.

use crate::refusal::{Refusal, Refused};
use playerthree_schema::{MAX_SAFE, strict_json, utf16_len};
use serde_json::{Map, Value};

/// Longest text of an `id` or a progress token, in UTF-16 units: it comes back in every answer.
pub(crate) const ID_MAX: usize = 256;

/// A message of a client.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It wants none, and none of them means anything here.
    Notification,
}

/// A JSON-RPC request.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    /// Its id, a bounded text or a safe integer.
    pub(crate) id: Value,
    /// Its method.
    pub(crate) method: String,
    /// Its params, none where they are absent or no object.
    pub(crate) params: Option<Map<String, Value>>,
}

impl Incoming {
    /// Reads a body.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Refused> {
        let text = std::str::from_utf8(body).map_err(|_| Refusal::NotJson.without_id())?;
        let Value::Object(mut message) = strict_json(text).map_err(|_| Refusal::NotJson.without_id())? else {
            return Err(Refusal::NotRequest.without_id());
        };
        let id = match message.remove("id") {
            None => None,
            Some(id) if is_id(&id) => Some(id),
            Some(_) => return Err(Refusal::NotRequest.without_id()),
        };
        let version = message.remove("jsonrpc").is_some_and(|version| version == "2.0");
        match (version, message.remove("method"), id) {
            (true, Some(Value::String(_)), None) => Ok(Self::Notification),
            (true, Some(Value::String(method)), Some(id)) => {
                let params = match message.remove("params") {
                    Some(Value::Object(params)) => Some(params),
                    _ => None,
                };
                Ok(Self::Request(Request { id, method, params }))
            }
            (_, _, Some(id)) => Err(Refusal::NotRequest.to_request(&id)),
            (_, _, None) => Err(Refusal::NotRequest.without_id()),
        }
    }
}

/// Whether a value may be the `id` of a request or a progress token: a short text or a safe integer.
pub(crate) fn is_id(value: &Value) -> bool {
    match value {
        Value::String(text) => utf16_len(text) <= ID_MAX,
        Value::Number(number) => {
            number.as_i64().is_some_and(|id| id.unsigned_abs() <= MAX_SAFE.unsigned_abs())
        }
        _ => false,
    }
}
