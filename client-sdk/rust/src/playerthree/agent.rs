//! An agent that plays a seat over MCP, revision 2026-07-28: one POST for a call, with the session that a seat token
//! needs. It is for load and bots; it lists no tools, checks no schema and never repeats a call.

use crate::{Client, Error, Result};
use http::header::{ACCEPT, HeaderName};
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;

const REVISION: &str = "2026-07-28";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// An agent of one seat or of one commander.
pub struct Agent {
    client: Client,
    /// What a seat token's first answer carried. It holds the lease of the seat.
    session: Option<HeaderValue>,
}

impl Agent {
    /// An agent with a seat token or a commander token of the server that `client` is for. Nothing is sent yet; the first
    /// call claims a seat token.
    ///
    /// # Errors
    /// [`Error::Token`].
    pub fn new(client: &Client, token: &str) -> Result<Self> {
        Ok(Self { client: client.with_token(token)?, session: None })
    }

    /// Calls a tool and returns its structured result. It fails after
    /// [`Config::timeout`](crate::Config::timeout), so waits have to be shorter.
    ///
    /// # Errors
    /// [`Error::Call`] with the closed code of a tool that failed; [`Error::Refused`] with an HTTP status but 200;
    /// [`Error::Answer`] for any other answer; else as [`Client::post`].
    pub async fn tool<A: Serialize + ?Sized>(&mut self, name: &str, args: &A) -> Result<Value> {
        let body = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": name,
                "arguments": serde_json::to_value(args).map_err(|_| Error::Encode)?,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": REVISION,
                    "io.modelcontextprotocol/clientInfo": { "name": "playerthree-client", "version": env!("CARGO_PKG_VERSION") },
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        });
        let answer = self.client.exchange("/mcp", self.headers(name)?, &body).await?;
        if let Some(session) = answer.headers().get(SESSION) {
            self.session = Some(session.clone());
        }
        if !answer.status().is_success() {
            return Err(Error::refused(answer.status().as_u16(), ""));
        }
        result(serde_json::from_slice(answer.body()).map_err(|_| Error::Answer)?)
    }

    fn headers(&self, tool: &str) -> Result<HeaderMap> {
        let mut headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
            (HeaderName::from_static("mcp-protocol-version"), HeaderValue::from_static(REVISION)),
            (HeaderName::from_static("mcp-method"), HeaderValue::from_static("tools/call")),
        ]);
        headers.insert("mcp-name", HeaderValue::from_str(tool).map_err(|_| Error::Encode)?);
        if let Some(session) = &self.session {
            headers.insert(SESSION, session.clone());
        }
        Ok(headers)
    }
}

/// What a tool gave, or why it failed.
fn result(mut answer: Value) -> Result<Value> {
    let result = answer.get_mut("result").ok_or(Error::Answer)?;
    if result["isError"] != true {
        return Ok(result["structuredContent"].take());
    }
    let told: Value = result["content"][0]["text"]
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or(Error::Answer)?;
    let code = told["error"].as_str().ok_or(Error::Answer)?.chars().take(64).collect();
    Err(Error::Call { code, answer: Box::new(told) })
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Token and session stay out.
        formatter.debug_struct("Agent").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_answers_with_its_result_or_its_code() {
        let done = json!({ "jsonrpc": "2.0", "id": 1, "result": { "structuredContent": { "tick": 3 } } });
        assert_eq!(result(done).unwrap(), json!({ "tick": 3 }));
        let text = r#"{"error": "rate_limited"}"#;
        let failed = json!({ "result": { "isError": true, "content": [{ "type": "text", "text": text }] } });
        assert!(matches!(result(failed), Err(Error::Call { code, .. }) if code == "rate_limited"));
        for other in
            [json!({}), json!({ "error": { "code": -32602 } }), json!({ "result": { "isError": true } })]
        {
            assert_eq!(result(other).unwrap_err().code(), "answer");
        }
    }
}
