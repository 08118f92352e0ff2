//! A mount for tools that are no game's: the same for every caller, without a lease. The guard, the rates and the bounds
//! are those of `/mcp`; the credentials are the toolbox's own, as a bearer or, for clients that can only be given an
//! address, as the last part of the path.

use crate::config::{Legacy, Limits, McpConfig};
use crate::guard::{self, Method};
use crate::hello;
use crate::progress::{Measure, Progress, told};
use crate::quota::{Place, Quota};
use crate::refusal::Refusal;
use crate::render::Answer;
use crate::reply::Reply;
use crate::surface::{Offer, Offered};
use crate::tool_call::ToolCall;
use crate::transport::{self, Mount, Visit};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dashmap::DashMap;
use http::HeaderMap;
use playerthree_session::Tool;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, DiscoverResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Above so many callers, those whose quota is as good as new are forgotten.
const KEPT_QUOTAS: usize = 1024;

/// A toolbox has no roles, so that its waits are all of this one.
const ROLE: &str = "";

/// Tools for agents with a credential of their own.
pub trait Toolbox: Send + Sync + 'static {
    /// Whom a credential stands for. Callers that are equal share a quota.
    type Caller: Clone + Eq + Hash + Send + Sync + 'static;

    /// What a client is told before anything else.
    fn instructions(&self) -> &'static str;

    /// Every tool, with closed schemas. It is asked once.
    fn tools(&self) -> Vec<Tool>;

    /// Whom a token of 32 base64url characters stands for, if it is good.
    fn find(&self, token: &str) -> Option<Self::Caller>;

    /// Whether a call may be held open until something happens; such calls have places of their own.
    fn is_wait(&self, name: &str, arguments: &Map<String, Value>) -> bool;

    /// Calls a tool. The answer has to be of the tool's output schema.
    ///
    /// # Errors
    /// A closed code and text, which the caller gets as the result of a failed call.
    fn call(
        &self,
        caller: &Self::Caller,
        name: &str,
        arguments: Map<String, Value>,
    ) -> impl Future<Output = Result<Value, Failed>> + Send;
}

/// Why a tool did nothing. Neither part may hold anything that the caller sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// A code of a closed list.
    pub code: &'static str,
    /// A fixed text for the agent.
    pub message: String,
}

/// A tool's output schema is no valid JSON Schema, so that nothing could be checked against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadToolSchema;

/// What every request to one toolbox shares.
pub(crate) struct ToolMount<T: Toolbox> {
    config: McpConfig,
    shared: Arc<Shared<T>>,
    quotas: DashMap<T::Caller, Arc<Quota>>,
}

struct Shared<T> {
    toolbox: T,
    offer: Offer,
}

impl<T: Toolbox> ToolMount<T> {
    pub(crate) fn new(config: McpConfig, toolbox: T) -> Result<Self, BadToolSchema> {
        let offer = Offer::of_tools(&toolbox.tools()).map_err(|_| BadToolSchema)?;
        Ok(Self { config, shared: Arc::new(Shared { toolbox, offer }), quotas: DashMap::new() })
    }

    /// The quota of a caller. There are never more than callers that were busy lately, or [`KEPT_QUOTAS`].
    fn quota(&self, caller: &T::Caller, limits: &Limits) -> Arc<Quota> {
        if let Some(quota) = self.quotas.get(caller) {
            return Arc::clone(&quota);
        }
        if self.quotas.len() >= KEPT_QUOTAS {
            self.quotas.retain(|_, quota| Arc::strong_count(quota) > 1 || !quota.is_rested());
        }
        Arc::clone(
            &self.quotas.entry(caller.clone()).or_insert_with(|| Arc::new(Quota::new(limits, [ROLE.into()]))),
        )
    }
}

/// Answers a request that shows its token as a bearer.
pub(crate) async fn serve_bearer<T: Toolbox>(
    State(mount): State<Arc<ToolMount<T>>>,
    request: axum::extract::Request,
) -> Response {
    let (head, body) = request.into_parts();
    serve(&mount, &head.method, guard::bearer(&head.headers), &head.headers, body).await
}

/// Answers a request that shows its token in the path.
pub(crate) async fn serve_path<T: Toolbox>(
    State(mount): State<Arc<ToolMount<T>>>,
    Path(token): Path<String>,
    request: axum::extract::Request,
) -> Response {
    let (head, body) = request.into_parts();
    serve(&mount, &head.method, guard::formed(&token), &head.headers, body).await
}

async fn serve<T: Toolbox>(
    mount: &ToolMount<T>,
    method: &http::Method,
    token: Result<&str, Refusal>,
    headers: &HeaderMap,
    body: axum::body::Body,
) -> Response {
    let answer = match *method {
        http::Method::POST => transport::post(mount, token, headers, body).await,
        _ => Err(Refusal::Method.without_id()),
    };
    answer.unwrap_or_else(IntoResponse::into_response)
}

impl<T: Toolbox> Mount for ToolMount<T> {
    type Caller = T::Caller;
    type Visit = ToolVisit<T>;

    fn config(&self) -> &McpConfig {
        &self.config
    }

    fn find(&self, token: &str) -> Option<T::Caller> {
        self.shared.toolbox.find(token)
    }

    fn may_speak_older(&self, _caller: &T::Caller) -> bool {
        self.config.legacy == Legacy::Stateless
    }

    fn has(&self, _: &T::Caller, method: Method) -> bool {
        use Method::{CallTool, Discover, Initialize, ListTools, Ping};
        matches!(method, Discover | Initialize | Ping | ListTools | CallTool)
    }

    fn has_tool(&self, _: &T::Caller, name: &str) -> bool {
        self.shared.offer.tool(name).is_some()
    }

    fn admit(
        &self,
        caller: &T::Caller,
        _headers: &HeaderMap,
        method: Method,
    ) -> Result<ToolVisit<T>, Refusal> {
        Ok(ToolVisit {
            shared: Arc::clone(&self.shared),
            quota: self.quota(caller, &self.config.limits),
            caller: caller.clone(),
            method,
            shutdown: self.config.shutdown.clone(),
        })
    }
}

/// The server of one request to a toolbox.
pub(crate) struct ToolVisit<T: Toolbox> {
    shared: Arc<Shared<T>>,
    caller: T::Caller,
    quota: Arc<Quota>,
    method: Method,
    shutdown: CancellationToken,
}

impl<T: Toolbox> Clone for ToolVisit<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            caller: self.caller.clone(),
            quota: Arc::clone(&self.quota),
            method: self.method,
            shutdown: self.shutdown.clone(),
        }
    }
}

impl<T: Toolbox> Visit for ToolVisit<T> {
    type Handler = Self;

    fn handler(&self) -> Self {
        self.clone()
    }

    async fn message(&self, id: &Value, call: ToolCall) -> Option<Result<Bytes, Refusal>> {
        let reply = self.called(&call.name, call.arguments).await;
        Some(reply.into_message(id, &self.shared.offer).map_err(|_| Refusal::Internal))
    }

    /// Never: a call in flight answers by itself when the server stops.
    fn cut(&self) -> CancellationToken {
        CancellationToken::new()
    }
}

impl<T: Toolbox> ToolVisit<T> {
    /// What a call comes to, or the end of the server if that is first.
    async fn called(&self, name: &str, arguments: Map<String, Value>) -> Reply {
        let answer = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => Err(failed("unavailable", "the server stops")),
            answer = self.carry_out(name, arguments) => answer,
        };
        match answer {
            Ok(structured) => Reply::Answer(Answer::plain(structured)),
            Err(Failed { code, message }) => Reply::Failed(json!({ "error": code, "message": message })),
        }
    }

    async fn carry_out(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, Failed> {
        let Shared { toolbox, offer } = &*self.shared;
        if !self.quota.within_rate() {
            return Err(failed("rate_limited", "too many calls; slow down"));
        }
        let tool = offer.tool(name).ok_or_else(|| failed("unknown_tool", "unknown tool"))?;
        let place = if toolbox.is_wait(name, &arguments) { Place::Wait(ROLE) } else { Place::Call };
        let _place = self.quota.place(place).ok_or_else(|| failed("busy", "too many calls are in flight"))?;
        let answer = toolbox.call(&self.caller, name, arguments).await?;
        checked(tool, answer)
    }
}

/// Lets an answer out only if it is of its tool's output schema.
fn checked(tool: &Offered, answer: Value) -> Result<Value, Failed> {
    if tool.allows(&answer) {
        return Ok(answer);
    }
    tracing::error!(tool = tool.method, "a tool result is not of its output schema");
    Err(failed("internal", "the server could not answer"))
}

fn failed(code: &'static str, message: &str) -> Failed {
    Failed { code, message: message.to_owned() }
}

impl<T: Toolbox> ServerHandler for ToolVisit<T> {
    fn get_info(&self) -> ServerConfig {
        hello::info(hello::toolbox(), self.shared.toolbox.instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        hello::versions(self.method)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        Ok(hello::discovered(self.get_info()))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(self.shared.offer.list())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let progress = Progress::asked_for(&context, || Measure::seconds(None));
        let call = self.called(&request.name, request.arguments.unwrap_or_default());
        tokio::select! {
            biased;
            // The client went away, so this error reaches nobody.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("Cancelled", None)),
            reply = told(call, progress) => reply.into_response(&self.shared.offer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    struct Empty;

    impl Toolbox for Empty {
        type Caller = usize;

        fn instructions(&self) -> &'static str {
            ""
        }

        fn tools(&self) -> Vec<Tool> {
            Vec::new()
        }

        fn find(&self, _: &str) -> Option<usize> {
            None
        }

        fn is_wait(&self, _: &str, _: &Map<String, Value>) -> bool {
            false
        }

        async fn call(&self, _: &usize, _: &str, _: Map<String, Value>) -> Result<Value, Failed> {
            Ok(Value::Null)
        }
    }

    // A quota that is used up must outlive the crowd; one that is as good as new need not.
    #[tokio::test(start_paused = true)]
    async fn quotas_are_forgotten_only_when_nobody_gains_by_it() {
        let limits = Limits::default();
        let shutdown = CancellationToken::new();
        let config = McpConfig {
            origins: Vec::new(),
            hosts: Vec::new(),
            sign_in: Vec::new(),
            legacy: Legacy::Off,
            limits,
            shutdown,
        };
        let mount = ToolMount::new(config, Empty).unwrap();
        let in_flight = mount.quota(&0, &limits);
        for caller in 1..KEPT_QUOTAS {
            mount.quota(&caller, &limits);
        }
        tokio::time::advance(Duration::from_secs(2)).await;
        let spent = mount.quota(&1, &limits);
        while spent.within_rate() {}
        drop(spent);
        mount.quota(&KEPT_QUOTAS, &limits);
        assert_eq!(mount.quotas.len(), 3);
        assert!(!mount.quota(&1, &limits).within_rate());
        assert!(Arc::ptr_eq(&in_flight, &mount.quota(&0, &limits)));
    }
}
