//! What the official conformance suite asks of a server and no game has: tools that ask back, fail or tell progress,
//! behind the guard of the agents' endpoint. For the tests alone; the program that ships has none of it.
//!
//! `cargo run -p playerthree-mcp --example fixture -- TOKEN` serves whoever shows that bearer token of 32 base64url
//! characters, and prints its address. Ends on SIGINT and SIGTERM.
#![expect(clippy::print_stdout, reason = "whoever starts it reads the address")]

use playerthree_mcp::{Legacy, Limits, McpConfig, guest_router};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, InputRequests,
    InputRequiredResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, RequestStateCodec, Resource, ResourceContents, SealOptions, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

const TEXT: &str = "test://static-text";

const TOOLS: [&str; 11] = [
    "test_simple_text",
    "test_error_handling",
    "test_tool_with_progress",
    "test_logging_tool",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_custom_header",
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multi_round",
];

#[derive(Clone)]
struct Fixture {
    states: Arc<RequestStateCodec>,
}

impl Fixture {
    /// The round that a state says was asked, if it is a state of this tool and nobody changed it.
    fn round(&self, request: &CallToolRequestParams) -> Result<Option<Vec<u8>>, ErrorData> {
        let sealed = request.request_state.as_deref();
        let opened = sealed.map(|sealed| self.states.open_with(sealed, request.name.as_bytes())).transpose();
        opened.map_err(|_| ErrorData::invalid_params("Invalid request state", None))
    }

    fn asked(
        &self,
        request: &CallToolRequestParams,
        round: u8,
        key: &str,
        field: &Value,
    ) -> CallToolResponse {
        let options = SealOptions::new().associated_data(request.name.as_bytes());
        let state = self.states.seal_with(&[round], &options);
        InputRequiredResult::new(question(key, field), Some(state)).into()
    }

    /// Two questions, one after the other.
    fn two_rounds(&self, request: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        Ok(match self.round(request)?.as_deref() {
            Some([2]) if answers(request, "step2") => text("Both steps are done."),
            Some([1]) if answers(request, "step1") => {
                self.asked(request, 2, "step2", &json!({ "color": { "type": "string" } }))
            }
            _ => self.asked(request, 1, "step1", &json!({ "name": { "type": "string" } })),
        })
    }

    /// One question, whose state has to come back as it was.
    fn one_round(&self, request: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let done = self.round(request)?.is_some() && answers(request, "confirm");
        let field = json!({ "ok": { "type": "boolean" } });
        Ok(if done { text("Confirmed.") } else { self.asked(request, 1, "confirm", &field) })
    }
}

/// A form with one required field.
fn question(key: &str, field: &Value) -> Option<InputRequests> {
    let name = field.as_object()?.keys().next()?;
    let schema = json!({ "type": "object", "properties": field, "required": [name] });
    let params =
        json!({ "mode": "form", "message": format!("What is your {name}?"), "requestedSchema": schema });
    let request = json!({ "method": "elicitation/create", "params": params });
    let request: InputRequest = serde_json::from_value(request).ok()?;
    Some([(key.to_owned(), request)].into())
}

fn answers(request: &CallToolRequestParams, key: &str) -> bool {
    let answer = request.input_responses.as_ref().and_then(|responses| responses.get(key));
    answer.is_some_and(|answer| answer["action"] == "accept")
}

fn text(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn tool(name: &'static str) -> Tool {
    let region = json!({ "region": { "type": "string", "x-mcp-header": "Region" } });
    let properties = if name == "test_custom_header" { region } else { json!({}) };
    let schema = json!({ "type": "object", "properties": properties });
    Tool::new(name, "A tool of the conformance suite.", schema.as_object().cloned().unwrap_or_default())
}

/// Tells progress to whoever gave a token.
async fn progressing(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let Some(token) = context.meta.get_progress_token() else { return Ok(text("Done.")) };
    for done in [0.0, 50.0, 100.0] {
        let mut progress = ProgressNotificationParam::new(token.clone(), done);
        progress.total = Some(100.0);
        let told = context.peer.notify_progress(progress).await;
        told.map_err(|_| ErrorData::internal_error("The client is gone", None))?;
    }
    Ok(text("Done."))
}

fn needs_sampling(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let declared = context.meta.get("io.modelcontextprotocol/clientCapabilities");
    if declared.is_some_and(|declared| declared.get("sampling").is_some()) {
        return Ok(text("Done."));
    }
    let required = serde_json::from_value(json!({ "sampling": {} })).unwrap_or_default();
    Err(ErrorData::missing_required_client_capability(required))
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.into_iter().find(|known| *known == name).map(tool)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.map(tool).into()))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new(TEXT, "static-text")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != TEXT {
            let data = json!({ "uri": request.uri });
            return Err(ErrorData::invalid_params("Resource not found", Some(data)));
        }
        let content = "This is the content of the static text resource.";
        Ok(ReadResourceResult::new(vec![ResourceContents::text(content, TEXT)]).into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "test_error_handling" => {
                let content = ContentBlock::text("This tool intentionally returns an error for testing");
                Ok(CallToolResult::error(vec![content]).into())
            }
            "test_tool_with_progress" => progressing(&context).await,
            "test_missing_capability" => needs_sampling(&context),
            "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
                let name = json!({ "name": { "type": "string" } });
                let done = answers(&request, "user_name");
                let ask = || InputRequiredResult::new(question("user_name", &name), None).into();
                Ok(if done { text("Hello.") } else { ask() })
            }
            "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
                self.one_round(&request)
            }
            "test_input_required_result_multi_round" => self.two_rounds(&request),
            _ => Ok(text("This is a simple text response for testing.")),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = std::env::args().nth(1).ok_or("say which token is good")?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let host = listener.local_addr()?.to_string();
    let shutdown = CancellationToken::new();
    let config = McpConfig {
        origins: vec![format!("http://{host}")],
        hosts: vec![host.clone()],
        legacy: Legacy::Off,
        sign_in: Vec::new(),
        limits: Limits::default(),
        shutdown: shutdown.clone(),
    };
    let states = Arc::new(RequestStateCodec::try_new(token.as_bytes())?);
    let fixture = Fixture { states };
    let router = guest_router("/mcp", config, move |shown| (shown == token).then(|| fixture.clone()));
    println!("http://{host}");
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        ended = axum::serve(listener, router) => ended?,
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    shutdown.cancel();
    Ok(())
}
