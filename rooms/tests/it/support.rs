//! A server with one kind of room on a free port, plain HTTP requests to it as text, and bare WebSockets.

use futures_util::{SinkExt, StreamExt};
use playerthree_rooms::{
    AuthRequest, BadMessage, Config, Cx, Definition, Join, Message, MessageType, Refusal, Room, Server,
    SessionId, TimerId, serve,
};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message as Frame};
use tokio_tungstenite::{WebSocketStream, client_async};

pub(crate) type Socket = WebSocketStream<TcpStream>;

/// How long a test waits for what it expects before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// What `future` comes to, which must be soon.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let Ok(came) = timeout(PATIENCE, future).await else { panic!("{what}: not within {PATIENCE:?}") };
    came
}

/// Asks again and again until it is so.
pub(crate) async fn eventually(what: &str, is_so: impl AsyncFn() -> bool) {
    within(what, async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// What a socket brings next, or `None` at its end.
pub(crate) async fn next(socket: &mut Socket) -> Option<Frame> {
    within("a frame", socket.next()).await?.ok()
}

/// Reads a socket to its end.
pub(crate) async fn drain(socket: &mut Socket) {
    while next(socket).await.is_some() {}
}

/// Rooms that send every message back to whoever sent it.
pub(crate) struct Echoes;

pub(crate) struct EchoRoom;

impl Definition for Echoes {
    type Room = EchoRoom;

    async fn authorize(&self, request: &AuthRequest) -> Result<(), Refusal> {
        if request.token.as_deref() == Some("bad") { Err(Refusal::auth_failed()) } else { Ok(()) }
    }

    fn create(&self, _: &mut Cx<'_, EchoRoom>, _: &Value) -> Result<EchoRoom, Refusal> {
        Ok(EchoRoom)
    }
}

impl Room for EchoRoom {
    type Event = ();
    type Auth = ();

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        if message.kind == MessageType::Name("panic") {
            panic!("asked to panic");
        }
        if message.kind == MessageType::Name("tick") {
            cx.set_timeout(Duration::from_millis(1));
            return Ok(());
        }
        let value: Value = message.payload.decode()?;
        // JSON values always serialize.
        let _ = cx.send(client, message.kind, &value);
        Ok(())
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, _: TimerId) {
        let _ = cx.broadcast("ticked", &1, &[]);
    }
}

/// Rooms that wait as long as they like at the end of a server.
pub(crate) struct Stubborn;

impl Definition for Stubborn {
    type Room = StubbornRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, _: &mut Cx<'_, StubbornRoom>, _: &Value) -> Result<StubbornRoom, Refusal> {
        Ok(StubbornRoom)
    }
}

pub(crate) struct StubbornRoom;

impl Room for StubbornRoom {
    type Event = ();
    type Auth = ();

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_shutdown(&mut self, _: &mut Cx<'_, Self>) {}
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) server: Server,
    pub(crate) address: SocketAddr,
    _stop: tokio::sync::oneshot::Sender<()>,
}

/// An HTTP answer. Status 0 where the connection ended without one.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }
}

/// A seat that waits for its socket.
pub(crate) struct Seat(Value);

impl Seat {
    /// A seat out of a matchmaking answer.
    pub(crate) fn read(body: &str) -> Self {
        Self(serde_json::from_str(body).unwrap())
    }

    pub(crate) fn path(&self) -> String {
        format!("/{}/{}?sessionId={}", self.part("processId"), self.room(), self.part("sessionId"))
    }

    pub(crate) fn room(&self) -> String {
        self.part("roomId")
    }

    pub(crate) fn session(&self) -> String {
        self.part("sessionId")
    }

    fn part(&self, name: &str) -> String {
        self.0[name].as_str().unwrap().to_owned()
    }
}

impl Running {
    pub(crate) async fn start(config: Config) -> Self {
        let builder = Server::builder(config).define("room", Echoes).define("stubborn", Stubborn);
        Self::serve(builder.build().unwrap()).await
    }

    pub(crate) async fn serve(server: Server) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let page = server.root(axum::routing::get(|| std::future::ready("the page")));
        let router = server.router().merge(server.operations()).route("/", page);
        tokio::spawn(serve(listener, router, server.config().serve, async move {
            let _ = stopped.await;
        }));
        Self { server, address, _stop: stop }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends a request as it stands and reads until the server ends the connection.
    pub(crate) async fn ask(&self, request: &str) -> Answer {
        let mut stream = self.connect().await;
        // A server that refuses early may not read all.
        let _ = within("a request is read", stream.write_all(request.as_bytes())).await;
        let mut bytes = Vec::new();
        let _ = within("an answer", stream.read_to_end(&mut bytes)).await;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A seat in a new room.
    pub(crate) async fn seat(&self, options: &str) -> Seat {
        self.create("room", options).await
    }

    /// A seat in a new room of another kind.
    pub(crate) async fn seat_in(&self, kind: &str) -> Seat {
        self.create(kind, "{}").await
    }

    async fn create(&self, kind: &str, options: &str) -> Seat {
        let request = format!(
            "POST /matchmake/create/{kind} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{options}",
            options.len()
        );
        let answer = self.ask(&request).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        Seat::read(&answer.body)
    }

    /// Opens a seat's socket and acknowledges the join, or returns the status of the refused upgrade.
    pub(crate) async fn open(&self, seat: &Seat, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
        let mut socket = self.upgrade(&seat.path(), headers).await?;
        let first = next(&mut socket).await.unwrap();
        assert_eq!(first.into_data()[0], 10, "a join");
        socket.send(Frame::Binary(vec![10].into())).await.unwrap();
        Ok(socket)
    }

    /// Opens a latency probe.
    pub(crate) async fn probe(&self, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
        self.upgrade("/", headers).await
    }

    pub(crate) async fn upgrade(&self, path: &str, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match within("a handshake", client_async(request, self.connect().await)).await {
            Ok((socket, _)) => Ok(socket),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Leaves by consent and waits for the end.
pub(crate) async fn leave(mut socket: Socket) {
    socket.send(Frame::Binary(vec![12].into())).await.unwrap();
    drain(&mut socket).await;
}

/// Sends a request on a connection and reads what comes at once.
pub(crate) async fn exchange(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = vec![0; 4096];
    let read = within("an answer", stream.read(&mut bytes)).await.unwrap();
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

/// Sends something and waits for the server to end the connection.
pub(crate) async fn ends_after(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
    // How it ends does not matter.
    let _ = within("an end", stream.read_to_end(&mut Vec::new())).await;
}
