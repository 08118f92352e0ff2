//! A chat server, step by step: rooms of up to 50 people who see who is there and what is said.
//!
//! `cargo run -p playerthree-rooms --example chat -- [port]`, then from any Colyseus client:
//!
//! ```js
//! const room = await new Client("http://localhost:2567").joinOrCreate("chat", { name: "Ada" });
//! room.onMessage("said", ({ name, text }) => console.log(`${name}: ${text}`));
//! room.send("say", "hello");
//! console.log(await room.request("history"));
//! ```

use axum::routing::get;
use playerthree_rooms::builtin::Lobby;
use playerthree_rooms::{
    AuthRequest, CloseReason, Config, Cx, Definition, Join, Messages, Refusal, Reply, Room, RoomSettings,
    Server, SessionId, serve,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// Whatever clients send has a bound: the longest name and the longest text, in bytes, and what is kept of the talk.
const MAX_NAME: usize = 40;
const MAX_TEXT: usize = 1000;
const MAX_HISTORY: usize = 20;

// First, the definition: one value for all rooms of a kind. Clients ask for the kind by the name it is given below.

struct Chat;

impl Definition for Chat {
    type Room = ChatRoom;

    /// Runs for each request, before a seat is reserved. This is the place to check `request.token`; what it returns
    /// reaches the room as `join.auth`. Here everyone may come.
    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    /// Makes a room, with the options of the client that needs it.
    fn create(&self, cx: &mut Cx<'_, ChatRoom>, options: &Value) -> Result<ChatRoom, Refusal> {
        // Lobbies and listings show the metadata. Never put anything there that not everyone may see.
        cx.set_metadata(json!({ "topic": options["topic"].as_str() }))?;
        Ok(ChatRoom::default())
    }

    /// What clients may send, each type with the handler and the Rust type it is decoded into.
    fn messages(&self) -> Messages<ChatRoom> {
        Messages::new()
            .on("say", ChatRoom::say)
            .on_request("history", |room: &mut ChatRoom, _, _, (): ()| Reply::value(&room.history))
    }

    /// Rooms are kept apart by topic, and the seats are counted by the server.
    fn settings(&self) -> RoomSettings {
        RoomSettings { filter_by: vec!["topic".into()], max_clients: Some(50), ..RoomSettings::default() }
    }
}

// Then the room: plain state. One task owns it and calls its methods one at a time, so there is nothing to lock.

#[derive(Default)]
struct ChatRoom {
    names: HashMap<SessionId, String>,
    history: VecDeque<Said>,
}

#[derive(Clone, Serialize)]
struct Said {
    name: String,
    text: String,
}

impl ChatRoom {
    fn say(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, text: String) {
        let Some(name) = self.names.get(&client) else { return };
        if text.len() > MAX_TEXT {
            return cx.send_error(client, &Refusal::new(400, "the text is too long"));
        }
        let said = Said { name: name.clone(), text };
        Self::tell(cx, "said", &said);
        self.history.push_back(said);
        if self.history.len() > MAX_HISTORY {
            self.history.pop_front();
        }
    }

    /// Sends to everyone. The message is encoded once, however many they are.
    fn tell(cx: &mut Cx<'_, Self>, kind: &str, payload: &impl Serialize) {
        if let Err(error) = cx.broadcast(kind, payload, &[]) {
            tracing::error!(%error, "a message could not be sent");
        }
    }
}

impl Room for ChatRoom {
    /// What other tasks may post into the room, through `cx.handle()` or `cx.spawn()`. Nothing here.
    type Event = ();
    type Auth = ();

    /// A client comes in. What is sent to it from here on reaches it after its join, in order.
    fn on_join(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, join: Join<()>) -> Result<(), Refusal> {
        let name = join.options["name"].as_str().filter(|name| !name.is_empty() && name.len() <= MAX_NAME);
        let name = name.ok_or_else(|| Refusal::join_refused("a name of 1 to 40 bytes is needed"))?;
        self.names.insert(client, name.to_owned());
        let present: Vec<_> = self.names.values().collect();
        Self::tell(cx, "present", &present);
        Ok(())
    }

    /// A client's connection was lost. Its seat is held, and its SDK comes back to it by itself.
    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        cx.allow_reconnection(client, Duration::from_secs(20));
    }

    /// A client is gone for good: it left, or did not come back in time.
    fn on_leave(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        if let Some(name) = self.names.remove(&client) {
            Self::tell(cx, "left", &name);
        }
    }
}

// Last, the program: one server holds all kinds of rooms, and its routes stand beside the application's own.

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the address is this program's output")]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let port: u16 = std::env::args().nth(1).map_or(Ok(2567), |port| port.parse())?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);

    let server =
        Server::builder(Config::default()).define("chat", Chat).define("lobby", Lobby::default()).build()?;
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
