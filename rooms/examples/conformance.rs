//! The rooms that the tests with the official SDKs talk to: each shows one side of the server.
//!
//! `cargo run -p playerthree-rooms --example conformance -- [port]`. Ends on SIGINT and SIGTERM.

use axum::routing::get;
use playerthree_rooms::builtin::{Lobby, Queue, Relay};
use playerthree_rooms::{
    AuthRequest, BadMessage, CloseReason, Config, Cx, Definition, Frame, Generation, Join, Message,
    MessageType, Refusal, Reply, Request, Room, RoomSettings, Server, SessionId, SortBy, SortField, TimerId,
    Visibility, serve,
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// A room that does what its messages say. Options of the creating request set it up.
struct Probe;

impl Definition for Probe {
    type Room = ProbeRoom;

    async fn authorize(&self, request: &AuthRequest) -> Result<Value, Refusal> {
        if request.options["auth"] == "slow" {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        match request.token.as_deref() {
            Some("bad") => Err(Refusal::new(401, "bad token")),
            Some("none") => Err(Refusal::auth_failed()),
            Some(token) => Ok(json!({ "token": token })),
            None => Ok(Value::Null),
        }
    }

    fn create(&self, cx: &mut Cx<'_, ProbeRoom>, options: &Value) -> Result<ProbeRoom, Refusal> {
        if options["create"] == "refuse" {
            return Err(Refusal::failed());
        }
        assert!(options["create"] != "panic", "asked to panic");
        if let Some(seats) = options["maxClients"].as_u64() {
            cx.set_max_clients(usize::try_from(seats).unwrap_or(usize::MAX));
        }
        if options["private"] == true {
            cx.set_visibility(Visibility::Private);
        }
        cx.set_metadata(json!({ "mode": options["mode"], "level": options["level"] }))?;
        let hold = options["hold"].as_f64().map(Duration::from_secs_f64);
        Ok(ProbeRoom { hold, ticks: None, log: Vec::new() })
    }

    fn settings(&self) -> RoomSettings {
        RoomSettings {
            filter_by: vec!["mode".into()],
            sort_by: vec![SortBy::descending(SortField::Metadata("level".into()))],
            max_clients: None,
        }
    }
}

struct ProbeRoom {
    hold: Option<Duration>,
    ticks: Option<(TimerId, SessionId)>,
    /// What happened to seats, as `[event, session, code]`.
    log: Vec<Value>,
}

impl Room for ProbeRoom {
    type Event = ();
    type Auth = Value;

    fn on_join(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        join: Join<Value>,
    ) -> Result<(), Refusal> {
        match join.options["join"].as_str() {
            Some("refuse") => return Err(Refusal::join_refused("not you")),
            Some("own code") => return Err(Refusal::new(4217, "custom")),
            Some("kick") => cx.kick(client, CloseReason::Application(4321)),
            Some("panic") => panic!("asked to panic"),
            _ => {}
        }
        self.log.push(json!(["join", client]));
        send(cx, client, "hello", &json!({ "auth": join.auth, "options": join.options }));
        send(cx, client, "hello2", &json!(2));
        broadcast(cx, "joined", &json!(client), &[client]);
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        if let Some(bytes) = message.payload.bytes() {
            cx.send_bytes(client, message.kind, bytes);
            return Ok(());
        }
        match message.kind {
            MessageType::Name("echo") | MessageType::Number(_) => {
                let value: Value = message.payload.decode()?;
                send(cx, client, message.kind, &value);
            }
            MessageType::Name("signal") => cx.send_frame(client, &Frame::signal("signal")),
            MessageType::Name("all") => {
                broadcast(cx, "all", &message.payload.decode::<Value>()?, &[]);
            }
            MessageType::Name("others") => {
                broadcast(cx, "others", &message.payload.decode::<Value>()?, &[client]);
            }
            MessageType::Name("afterPatch") => {
                after_patch(cx, client, &message.payload.decode::<Value>()?);
                send(cx, client, "now", &Value::Null);
            }
            MessageType::Name("meta") => {
                if let Err(too_large) = cx.set_metadata(message.payload.decode()?) {
                    cx.send_error(client, &too_large.into());
                }
            }
            MessageType::Name("private") => {
                let hides = message.payload.decode()?;
                cx.set_visibility(if hides { Visibility::Private } else { Visibility::Public });
            }
            MessageType::Name("error") => cx.send_error(client, &Refusal::new(4217, "custom")),
            MessageType::Name("kick") => {
                send(cx, client, "last", &json!("words"));
                cx.kick(client, CloseReason::Application(message.payload.decode()?));
            }
            MessageType::Name("generation") => {
                let generation = cx.generation(client).map(Generation::label);
                send(cx, client, "generation", &json!(generation));
            }
            MessageType::Name("comeBack") => cx.kick(client, CloseReason::MayReconnect),
            MessageType::Name("lock") => cx.lock(),
            MessageType::Name("unlock") => cx.unlock(),
            MessageType::Name("disconnect") => cx.disconnect(CloseReason::Consented),
            MessageType::Name("panic") => panic!("asked to panic"),
            MessageType::Name("log") => send(cx, client, "log", &json!(self.log)),
            MessageType::Name("tick") => {
                let period = Duration::from_millis(message.payload.decode()?);
                self.ticks = Some((cx.set_interval(period), client));
            }
            MessageType::Name("flood") => flood(cx, client, message.payload.decode()?),
            MessageType::Name(_) => return Err(BadMessage::UnknownType),
        }
        Ok(())
    }

    fn on_request(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        request: Request<'_>,
    ) -> Result<Reply, BadMessage> {
        let value = |value: Value| Reply::value(&value).unwrap_or_else(|_| Reply::done());
        Ok(match request.kind {
            MessageType::Name("double") => value(json!(request.payload.decode::<f64>()? * 2.0)),
            MessageType::Name("void") => Reply::done(),
            MessageType::Name("reject") => {
                Reply::rejected(&json!({ "reason": "no" })).unwrap_or_else(|_| Reply::done())
            }
            MessageType::Name("fault") => Reply::fault("Broken", "it broke", Some(42)),
            MessageType::Name("later") => {
                cx.respond(client, request.id, value(json!("later")));
                Reply::later()
            }
            _ => Reply::no_handler(),
        })
    }

    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, reason: CloseReason) {
        self.log.push(json!(["drop", client, reason.code()]));
        if let Some(hold) = self.hold {
            cx.allow_reconnection(client, hold);
        }
        broadcast(cx, "dropped", &json!(client), &[]);
    }

    fn on_reconnect(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        self.log.push(json!(["reconnect", client]));
        send(cx, client, "back", &json!(1));
        send(cx, client, "back2", &json!(2));
    }

    fn on_leave(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, reason: CloseReason) {
        self.log.push(json!(["leave", client, reason.code()]));
        broadcast(cx, "left", &json!([client, reason.code()]), &[]);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, timer: TimerId) {
        if let Some((ticks, client)) = self.ticks
            && ticks == timer
        {
            cx.cancel(timer);
            send(cx, client, "ticked", &json!(1));
        }
    }
}

fn send<'k>(
    cx: &mut Cx<'_, ProbeRoom>,
    client: SessionId,
    kind: impl Into<MessageType<'k>>,
    payload: &Value,
) {
    if let Err(error) = cx.send(client, kind, payload) {
        tracing::error!(%error, "a message could not be sent");
    }
}

fn broadcast(cx: &mut Cx<'_, ProbeRoom>, kind: &str, payload: &Value, except: &[SessionId]) {
    if let Err(error) = cx.broadcast(kind, payload, except) {
        tracing::error!(%error, "a message could not be sent");
    }
}

/// Sends to one, to all and to all others, once the next state patch is out.
fn after_patch(cx: &mut Cx<'_, ProbeRoom>, client: SessionId, payload: &Value) {
    let mut later = cx.after_patch();
    let sent = [
        later.send(client, "later", payload),
        later.broadcast("laterAll", payload, &[]),
        later.broadcast("laterOthers", payload, &[client]),
    ];
    for error in sent.into_iter().filter_map(Result::err) {
        tracing::error!(%error, "a message could not be sent");
    }
}

/// Sends that many messages of 60,000 bytes in one turn.
fn flood(cx: &mut Cx<'_, ProbeRoom>, client: SessionId, messages: u32) {
    let frame = Frame::bytes("flood", &[7; 60_000]);
    for _ in 0..messages {
        cx.send_frame(client, &frame);
    }
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the address is this program's output")]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let port: u16 = std::env::args().nth(1).map_or(Ok(2567), |port| port.parse())?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);

    let config = Config {
        seat_expiry: Duration::from_secs(1),
        messages_per_second: 200,
        max_rooms: 50,
        // A test that stops reading looks at the close only later.
        close_linger: Duration::from_secs(30),
        ..Config::default()
    };
    let server = Server::builder(config)
        .define("probe", Probe)
        .define("lobby", Lobby::default())
        .define("relay", Relay::default())
        .define("queue", Queue::new("probe", 2).options(json!({ "mode": "ranked", "maxClients": 2 })))
        .build()?;
    let counting = server.clone();
    let listing = server.clone();
    let app = server
        .router()
        .route("/", server.root(get("the page")))
        .route("/listing", get(move || std::future::ready(axum::Json(listing.listing()))))
        .route("/counters", get(move || std::future::ready(format!("{:?}", counting.counters()))));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    serve(listener, app, server.config().serve, stop).await;
    let stragglers = server.shutdown(Duration::from_secs(5)).await;
    anyhow::ensure!(stragglers.is_empty(), "not everything ended: {stragglers:?}");
    println!("ended");
    Ok(())
}
