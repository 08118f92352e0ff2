//! A request to call a tool, taken out of its envelope.

use playerthree_host::Ticks;
use rmcp::model::CallToolRequestParams;
use serde_json::{Map, Value};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// A call of a tool.
#[derive(Debug, Default)]
pub(crate) struct ToolCall {
    /// The tool.
    pub(crate) name: String,
    /// Its arguments.
    pub(crate) arguments: Map<String, Value>,
    /// Where a practice counts the ticks that it has played.
    pub(crate) ticks: Ticks,
    meta: Map<String, Value>,
    /// What the client's person answered to what an earlier result asked.
    answers: Map<String, Value>,
}

impl ToolCall {
    /// The call of params that the guard found to be one's.
    pub(crate) fn of(mut params: Map<String, Value>) -> Self {
        let mut object = |name: &str| match params.remove(name) {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        };
        let (arguments, meta, answers) = (object("arguments"), object("_meta"), object("inputResponses"));
        let name = match params.remove("name") {
            Some(Value::String(name)) => name,
            _ => String::new(),
        };
        Self { name, arguments, ticks: Ticks::default(), meta, answers }
    }

    /// The same call as the library read it. `meta` is the request's.
    pub(crate) fn read(request: CallToolRequestParams, meta: Map<String, Value>) -> Self {
        Self {
            name: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            ticks: Ticks::default(),
            meta,
            answers: request.input_responses.unwrap_or_default().into_iter().collect(),
        }
    }

    /// Whether the client wants to be told of progress, which takes more messages than the answer.
    pub(crate) fn wants_progress(&self) -> bool {
        self.meta.contains_key("progressToken")
    }

    /// The client's name for itself.
    pub(crate) fn harness(&self) -> Option<&str> {
        self.meta.get(CLIENT)?.get("name")?.as_str()
    }

    /// Whether the client can put a form to its person.
    pub(crate) fn can_ask(&self) -> bool {
        let elicitation =
            self.meta.get(CAPABILITIES).and_then(|capabilities| capabilities.get("elicitation"));
        // A client that names no kind of question knows forms.
        let knows_forms = |kinds: &Map<String, Value>| kinds.is_empty() || kinds.contains_key("form");
        elicitation.and_then(Value::as_object).is_some_and(knows_forms)
    }

    /// The person's answer to a question.
    pub(crate) fn answer(&self, question: &str) -> Option<&Value> {
        self.answers.get(question)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(params: Value) -> ToolCall {
        let Value::Object(params) = params else { panic!("no object") };
        ToolCall::of(params)
    }

    #[test]
    fn a_client_can_ask_where_it_declares_forms() {
        let can_ask = |elicitation: Value| {
            call(json!({ "_meta": { CAPABILITIES: { "elicitation": elicitation } } })).can_ask()
        };
        assert!(
            can_ask(json!({})) && can_ask(json!({ "form": {} })) && can_ask(json!({ "form": {}, "url": {} }))
        );
        assert!(!can_ask(json!({ "url": {} })) && !can_ask(json!(true)) && !can_ask(Value::Null));
        assert!(!call(json!({ "_meta": { CAPABILITIES: {} } })).can_ask() && !call(json!({})).can_ask());
    }
}
