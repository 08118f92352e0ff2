//! A room server in this process on a free port, with one room kind that does what its clients ask of it.

use anyhow::Context as _;
use playerthree_client::{Client, Event, Kind, Payload, Room as Joined};
use playerthree_rooms::testing::LiveServer;
use playerthree_rooms::{
    AuthRequest, BadMessage, CloseReason, Config, Cx, Definition, Join, Message, MessageType, Refusal, Room,
    Server, SessionId,
};
use serde_json::{Value, json};
use std::time::Duration;

/// The token that the guarded rooms want. Its signs must survive a header and a URL.
pub(crate) const TOKEN: &str = "let/me+in?&=%20";

/// A running server.
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) url: String,
}

impl Host {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let config = Config { max_message_bytes: 4096, ..Config::default() };
        let server = Server::builder(config)
            .define("open", Puppets { token: None })
            .define("guarded", Puppets { token: Some(TOKEN) })
            .build()?;
        let live = LiveServer::start(server).await?;
        Ok(Self { server: live.server().clone(), url: live.url().to_owned() })
    }

    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Ok(Client::new(&self.url)?)
    }
}

/// The next message, which must be of that kind.
pub(crate) async fn expect_message(room: &mut Joined, name: &str) -> anyhow::Result<Payload> {
    let event = tokio::time::timeout(Duration::from_secs(10), room.next()).await.context("nothing came")?;
    match event {
        Event::Message { kind, payload } if kind == name => Ok(payload),
        other => anyhow::bail!("expected the message {name}, got {other:?}"),
    }
}

/// Waits for the close and returns its code.
pub(crate) async fn expect_close(room: &mut Joined) -> anyhow::Result<u16> {
    tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            if let Event::Closed { code } = room.next().await {
                return code;
            }
        }
    })
    .await
    .context("no close came")
}

pub(crate) fn kind(name: &str) -> Kind {
    name.into()
}

struct Puppets {
    token: Option<&'static str>,
}

impl Definition for Puppets {
    type Room = Puppet;

    async fn authorize(&self, request: &AuthRequest) -> Result<(), Refusal> {
        match self.token {
            Some(token) if request.token.as_deref() != Some(token) => Err(Refusal::auth_failed()),
            _ => Ok(()),
        }
    }

    fn create(&self, cx: &mut Cx<'_, Puppet>, options: &Value) -> Result<Puppet, Refusal> {
        if let Some(seats) = options["seats"].as_u64() {
            cx.set_max_clients(usize::try_from(seats).unwrap());
        }
        Ok(Puppet)
    }
}

/// Greets who joins, and obeys.
struct Puppet;

impl Room for Puppet {
    type Event = ();
    type Auth = ();

    fn on_join(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, join: Join<()>) -> Result<(), Refusal> {
        if join.options["unwelcome"] == true {
            return Err(Refusal::new(4999, "not you"));
        }
        cx.send(client, "welcome", &join.options["name"]).unwrap();
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        match message.kind {
            MessageType::Name("kick") => cx.kick(client, CloseReason::Application(4321)),
            MessageType::Name("end") => cx.disconnect(CloseReason::Consented),
            MessageType::Name("big") => {
                let bytes: usize = message.payload.decode()?;
                cx.send(client, "big", &"x".repeat(bytes)).unwrap();
            }
            MessageType::Name("raw") => cx.send_bytes(client, "raw", message.payload.bytes().unwrap()),
            MessageType::Name("playerthree:call") => self.answer(cx, client, &message.payload.decode()?),
            MessageType::Name("playerthree:view") => {
                let view: Value = message.payload.decode()?;
                cx.broadcast("playerthree:view", &view, &[]).unwrap();
            }
            MessageType::Name(name @ ("say" | "nothing")) => {
                let payload: Value = message.payload.decode()?;
                cx.broadcast(name, &payload, &[]).unwrap();
            }
            MessageType::Number(number @ 300) => cx.send(client, number, &json!(number)).unwrap(),
            MessageType::Name(_) | MessageType::Number(_) => return Err(BadMessage::UnknownType),
        }
        Ok(())
    }
}

impl Puppet {
    /// A host of calls: `echo` returns its arguments, `strange` is answered under another number, the rest refused.
    fn answer(&self, cx: &mut Cx<'_, Self>, client: SessionId, call: &Value) {
        let seq = &call["seq"];
        let answer = match call["method"].as_str() {
            Some("echo") => json!({ "op": "result", "seq": seq, "ok": true, "data": call["args"] }),
            Some("strange") => json!({ "op": "result", "seq": 12345, "ok": true, "data": null }),
            _ => json!({ "op": "result", "seq": seq, "ok": false, "code": "bad_message" }),
        };
        cx.send(client, "playerthree:result", &answer).unwrap();
    }
}
