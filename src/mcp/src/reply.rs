//! What a tool call comes to, and its two forms: the protocol library's, and the JSON-RPC message itself where the answer
//! is that one message. The message is written in one pass: a result that was made into text once is not made into text
//! again.

use crate::render::{Answer, Text};
use crate::surface::Offer;
use bytes::Bytes;
use playerthree_session::CallError;
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult};
use serde::Serialize;
use serde_json::Value;

/// Bytes around the parts of a message.
const FRAME_BYTES: usize = 512;

/// What a tool call comes to.
#[derive(Debug)]
pub(crate) enum Reply {
    /// It was carried out.
    Answer(Answer),
    /// It failed: a closed code and what may be said beside it.
    Failed(Value),
    /// The client has to ask its person first: the result of the kind `input_required`.
    Ask(Value),
}

impl From<Result<Answer, CallError>> for Reply {
    fn from(result: Result<Answer, CallError>) -> Self {
        result.map_or_else(Self::failed, Self::Answer)
    }
}

impl Reply {
    /// The failure of a game's tool (§4).
    pub(crate) fn failed(error: impl Into<CallError>) -> Self {
        Self::Failed(error.into().to_json("error"))
    }

    /// The library's form.
    pub(crate) fn into_response(self, offer: &Offer) -> Result<CallToolResponse, ErrorData> {
        let mut result = match self {
            Self::Failed(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
            Self::Answer(answer) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text.into_string())]);
                result.structured_content = Some(answer.structured);
                result
            }
            Self::Ask(question) => {
                let question = serde_json::from_value::<InputRequiredResult>(question);
                return question.map(Into::into).map_err(|_| ErrorData::internal_error("Internal", None));
            }
        };
        result.meta = offer.meta();
        Ok(result.into())
    }

    /// The message that answers the request with this id.
    pub(crate) fn into_message(self, id: &Value, offer: &Offer) -> serde_json::Result<Bytes> {
        let mut message = Message::answering(id)?;
        match self {
            Self::Failed(error) => message.text(&error.to_string())?.member(",\"isError\":true"),
            Self::Answer(Answer { structured, text }) => {
                message.text(text.as_str())?.member(",\"structuredContent\":");
                match text {
                    Text::Json(json) => message.member(&json),
                    Text::Worded(_) => message.json(&structured)?,
                }
                .member(",\"isError\":false")
            }
            Self::Ask(question) => return message.whole(&question),
        };
        Ok(message.end(offer.meta_json()))
    }
}

/// A message in the making.
struct Message(Vec<u8>);

impl Message {
    fn answering(id: &Value) -> serde_json::Result<Self> {
        let mut message = Self(Vec::with_capacity(FRAME_BYTES));
        message.member("{\"jsonrpc\":\"2.0\",\"id\":").json(id)?.member(",\"result\":");
        Ok(message)
    }

    /// A result that is not of a tool's kind.
    fn whole(mut self, result: &Value) -> serde_json::Result<Bytes> {
        self.json(result)?.member("}");
        Ok(self.0.into())
    }

    /// Opens a tool's result with its text.
    fn text(&mut self, text: &str) -> serde_json::Result<&mut Self> {
        // Twice the text and an escape here and there.
        self.0.reserve(2 * text.len() + text.len() / 4 + FRAME_BYTES);
        self.member("{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":").json(text)?;
        Ok(self.member("}]"))
    }

    fn end(mut self, meta: Option<&str>) -> Bytes {
        if let Some(meta) = meta {
            self.member(",\"_meta\":").member(meta);
        }
        self.member("}}");
        self.0.into()
    }

    fn member(&mut self, json: &str) -> &mut Self {
        self.0.extend_from_slice(json.as_bytes());
        self
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) -> serde_json::Result<&mut Self> {
        serde_json::to_writer(&mut self.0, value)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playerthree_session::Code;
    use serde_json::json;

    fn message(reply: Reply, offer: &Offer) -> Value {
        serde_json::from_slice(&reply.into_message(&json!("a\"b"), offer).unwrap()).unwrap()
    }

    // §4 "Results and errors": what leaves directly is what the library would have sent.
    #[test]
    fn both_forms_of_a_reply_say_the_same() {
        let offer = Offer::of_tools(&[]).unwrap();
        let structured = json!({ "acks": [{ "ok": true }], "text": "a\n\"ü\u{2028}" });
        let answers = || {
            let text = structured.to_string();
            [
                Reply::Answer(Answer { structured: structured.clone(), text: Text::Json(text) }),
                Reply::Answer(Answer {
                    structured: structured.clone(),
                    text: Text::Worded("a \"b\"\n".into()),
                }),
                Reply::failed(Code::Busy),
                Reply::Ask(crate::consent::question("Question?")),
            ]
        };
        for (direct, through) in answers().into_iter().zip(answers()) {
            let result = match through.into_response(&offer).unwrap() {
                CallToolResponse::Complete(result) => serde_json::to_value(result),
                CallToolResponse::InputRequired(result) => serde_json::to_value(result),
                _ => Ok(Value::Null),
            };
            assert_eq!(
                message(direct, &offer),
                json!({ "jsonrpc": "2.0", "id": "a\"b", "result": result.unwrap() })
            );
        }
    }
}
