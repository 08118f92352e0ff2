//! A chat server: rooms of up to 50 people who see who is there and what is said.
//!
//! `cargo run -p playerthree-rooms --example chat -- [port]`, then from any Colyseus client
//! `client.joinOrCreate("chat", { name: "Ada" })`, messages `say` and `said`.

use axum::routing::get;
use playerthree_rooms::{
    AuthRequest, BadMessage, CloseReason, Config, Cx, Definition, Join, Message, MessageType, Refusal, Room,
    Server, SessionId, serve,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

/// The longest name and the longest text, in bytes.
const MAX_NAME: usize = 40;
const MAX_TEXT: usize = 1000;

struct Chat;

impl Definition for Chat {
    type Room = ChatRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, cx: &mut Cx<'_, ChatRoom>, _: &Value) -> Result<ChatRoom, Refusal> {
        cx.set_max_clients(50);
        Ok(ChatRoom { names: HashMap::new() })
    }
}

struct ChatRoom {
    names: HashMap<SessionId, String>,
}

impl ChatRoom {
    fn tell(cx: &mut Cx<'_, Self>, kind: &str, payload: &Value) {
        if let Err(error) = cx.broadcast(kind, payload, &[]) {
            tracing::error!(%error, "a message could not be sent");
        }
    }
}

impl Room for ChatRoom {
    type Event = ();
    type Auth = ();

    fn on_join(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, join: Join<()>) -> Result<(), Refusal> {
        let name = join.options["name"].as_str().filter(|name| !name.is_empty() && name.len() <= MAX_NAME);
        let name = name.ok_or_else(|| Refusal::join_refused("a name of 1 to 40 bytes is needed"))?;
        self.names.insert(client, name.to_owned());
        let present: Vec<_> = self.names.values().collect();
        Self::tell(cx, "present", &json!(present));
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let MessageType::Name("say") = message.kind else { return Err(BadMessage::UnknownType) };
        let text: &str = message.payload.decode()?;
        if text.len() <= MAX_TEXT {
            Self::tell(cx, "said", &json!({ "name": self.names.get(&client), "text": text }));
        }
        Ok(())
    }

    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        cx.allow_reconnection(client, Duration::from_secs(20));
    }

    fn on_leave(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        if let Some(name) = self.names.remove(&client) {
            Self::tell(cx, "left", &json!(name));
        }
    }
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the address is this program's output")]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let port: u16 = std::env::args().nth(1).map_or(Ok(2567), |port| port.parse())?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);

    let server = Server::builder(Config::default()).define("chat", Chat).build()?;
    let app = server.router().route("/", server.root(get("a chat server")));
    serve(listener, app, server.config().serve, stop_signal()).await;
    let stragglers = server.shutdown(Duration::from_secs(5)).await;
    anyhow::ensure!(stragglers.is_empty(), "not everything ended: {stragglers:?}");
    Ok(())
}

async fn stop_signal() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::error!(%error, "no signal can be received");
    }
}
