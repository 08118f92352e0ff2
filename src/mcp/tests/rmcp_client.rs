//! The protocol library's own client at the endpoint that ships, over HTTP on a socket: what an agent written in Rust has.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, and json!(..) as an argument reads best by value"
)]

mod support;

use playerthree_game::Seat;
use playerthree_host::{MatchDoor, Ttl};
use playerthree_session::{CommanderId, CommanderKind, Draft, Isolation, Metadata, OwnerId};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, Implementation, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams, ServerNotification, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RequestContext, RunningService, SubscriptionEnd,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleClient};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::doors::{Actor, Script};
use support::{HOST, Post, Table};
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::sync::mpsc;

/// Far longer than anything here takes: reached only where something is lost.
const LOST: Duration = Duration::from_secs(60);

/// A person at a client who allows everything, and what the client was told meanwhile.
struct Person {
    asked: Arc<AtomicUsize>,
    told: mpsc::UnboundedSender<ProgressNotificationParam>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("rust agent", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "allow": true })))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        _ = self.told.send(progress);
    }
}

/// A commander's client, and the match that may seat it.
struct Played {
    table: Table,
    id: CommanderId,
    client: RunningService<RoleClient, Person>,
    asked: Arc<AtomicUsize>,
    told: mpsc::UnboundedReceiver<ProgressNotificationParam>,
    _socket: TempDir,
}

fn ann() -> OwnerId {
    OwnerId("ann".into())
}

impl Played {
    async fn new() -> Self {
        let table = Table::scripted(Script::acks());
        let draft = Draft {
            name: "Falcon".into(),
            roles: vec!["player".into()],
            isolation: Isolation::Independent,
            kind: CommanderKind::Agent,
            metadata: Metadata::default(),
        };
        let (id, token) = table.agents.commanders().add(&table.surface, &ann(), draft).unwrap();
        let socket = TempDir::new().unwrap();
        let path = socket.path().join("mcp");
        let listener = UnixListener::bind(&path).unwrap();
        tokio::spawn(axum::serve(listener, table.router.clone()).into_future());
        let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{HOST}/mcp"));
        let config = config.auth_header(token.reveal());
        let path = path.to_str().unwrap();
        let transport = StreamableHttpClientTransport::from_unix_socket_with_config(path, config);
        let (asked, (tell, told)) = (Arc::default(), mpsc::unbounded_channel());
        let person = Person { asked: Arc::clone(&asked), told: tell };
        let lifecycle =
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let client = person.serve_with_lifecycle(transport, lifecycle).await.unwrap();
        Self { table, id, client, asked, told, _socket: socket }
    }

    /// Seats the commander as x.
    fn seat(&self, door: Arc<dyn MatchDoor>) {
        let (commanders, surface) = (self.table.agents.commanders(), &self.table.surface);
        let seat = Seat::new("x", "player");
        commanders.seat(surface, (&ann(), "Ann"), &self.id, &seat, &"one".into(), door).unwrap();
        commanders.seated(surface, &self.id, &seat);
    }

    async fn tool(&self, name: &'static str, arguments: Value) -> CallToolResult {
        self.client.call_tool(call(name, arguments)).await.unwrap()
    }

    /// The next progress of a wait of a minute.
    async fn next_progress(&mut self) -> f64 {
        loop {
            let told = tokio::time::timeout(LOST, self.told.recv()).await.expect("progress").unwrap();
            // On a busy machine any other call may take a second, too.
            if told.total == Some(60.0) {
                return told.progress;
            }
        }
    }
}

fn call(name: &'static str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone())
}

fn structured(result: &CallToolResult) -> &Value {
    assert_eq!(result.is_error, Some(false), "{result:?}");
    result.structured_content.as_ref().unwrap()
}

/// §4, §5: it lists, its person is asked once, it plays, and a wait of minutes tells its progress until something happens.
#[tokio::test]
async fn it_lists_asks_its_person_once_plays_and_waits() {
    let mut played = Played::new().await;
    let listed = played.client.list_all_tools().await.unwrap();
    let names: Vec<&str> = listed.iter().map(|tool| &*tool.name).collect();
    assert!(["game_briefing", "game_observe", "game_act", "game_wait"].iter().all(|it| names.contains(it)));

    let briefing = played.tool("game_briefing", json!({})).await;
    assert_eq!(structured(&briefing)["phase"], "lobby");
    assert_eq!(briefing.meta.unwrap()["dev.playerthree/surfaceHash"], json!(played.table.surface.hash));
    let door = Actor::start(&played.table.surface, ["x", "o"]);
    played.seat(door.clone());
    let acted = played.tool("game_act", json!({ "intents": [{ "kind": "move", "row": 0, "col": 0 }] })).await;
    assert_eq!(structured(&acted)["acks"], json!([{ "ok": true }]));
    let refused = played.tool("game_act", json!({ "intents": [] })).await;
    assert_eq!(refused.is_error, Some(true));

    let client = played.client.peer().clone();
    // The entry into the match is told first.
    played.tool("game_wait", json!({ "seconds": 0 })).await;
    let wait = call("game_wait", json!({ "seconds": 60, "until": ["move"] }));
    let waiting = tokio::spawn(async move { client.call_tool(wait).await });
    assert!(played.next_progress().await >= 1.0);
    let seat = Seat::new("o", "player");
    let surface = Arc::clone(&played.table.surface);
    let opponent = played.table.agents.mint("one".into(), seat, surface, door, Ttl::default());
    let answer = json!({ "intents": [{ "kind": "move", "row": 1, "col": 1 }] });
    let post = Post::new(opponent.reveal(), "tools/call", json!({ "name": "game_act", "arguments": answer }));
    assert_eq!(played.table.send(post).await.structured()["acks"], json!([{ "ok": true }]));
    let woken = waiting.await.unwrap().unwrap();
    assert_eq!(structured(&woken)["wake"], "event");
    assert_eq!(played.asked.load(Ordering::SeqCst), 1);
}

/// §15: a call that it takes back is taken out of the match, and gives its place back.
#[tokio::test]
async fn it_cancels_a_wait() {
    let mut played = Played::new().await;
    let (door, mut kept) = Script::new(|method, _| (method == "briefing").then(|| Ok(json!({}))));
    played.tool("game_briefing", json!({})).await;
    played.seat(Arc::new(door));
    for _ in 0..3 {
        let wait = CallToolRequest::new(call("game_wait", json!({ "seconds": 60 })));
        let request = ClientRequest::CallToolRequest(wait);
        let options = PeerRequestOptions::no_options();
        let handle = played.client.send_cancellable_request(request, options).await.unwrap();
        let mut in_match = tokio::time::timeout(LOST, kept.recv()).await.expect("the wait arrives").unwrap();
        played.next_progress().await;
        handle.cancel(None).await.unwrap();
        tokio::time::timeout(LOST, in_match.reply.closed()).await.expect("nobody waits any more");
    }
}

/// §17: it hears of its own seat by address alone, reads it, and its stream ends with its token.
#[tokio::test]
async fn it_listens_until_its_token_ends() {
    let played = Played::new().await;
    let resources = played.client.list_all_resources().await.unwrap();
    let status = resources.iter().find(|it| it.uri.starts_with("playerthree://seat/")).unwrap().uri.clone();
    let filter = |uris: &[&str]| SubscriptionFilter::builder().resource_subscriptions(uris.to_vec()).build();
    let foreign = "playerthree://seat/of-somebody-else";
    let mut stream = played.client.listen(filter(&[&status, foreign])).await.unwrap();
    assert_eq!(*stream.acknowledged(), filter(&[&status]));

    played.seat(Actor::start(&played.table.surface, ["x", "o"]));
    let told = tokio::time::timeout(LOST, stream.next()).await.expect("word of the seat").unwrap();
    let Some(ServerNotification::ResourceUpdatedNotification(updated)) = told else { panic!("{told:?}") };
    assert_eq!(updated.params.uri, status);
    let read = played.client.read_resource(ReadResourceRequestParams::new(status)).await.unwrap();
    let read = serde_json::to_value(read).unwrap();
    let text: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text["phase"], &text["team"]), (&json!("match"), &json!("x")));

    played.table.agents.commanders().rotate(&played.table.surface, &ann(), &played.id).unwrap();
    // What changed before the end may be told first.
    while tokio::time::timeout(LOST, stream.next()).await.expect("the end").unwrap().is_some() {}
    assert!(matches!(stream.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", stream.end());
    assert!(played.client.call_tool(call("game_briefing", json!({}))).await.is_err());
}
