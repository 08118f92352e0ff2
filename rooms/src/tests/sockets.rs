//! Real sockets: what happens when one takes less than the room writes, and when it is gone.

use super::*;
use crate::{ServeLimits, serve};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_tungstenite::client_async;

const MIB: usize = 1024 * 1024;

/// More pads of 50,000 bytes than any socket here holds.
const MANY: u64 = 2_000;

/// How long a test waits for what it expects before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// What `future` comes to, which must be soon.
async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let Ok(came) = timeout(PATIENCE, future).await else { panic!("{what}: not within {PATIENCE:?}") };
    came
}

/// A server on a port of its own.
struct Host {
    world: World,
    address: SocketAddr,
    pads: AtomicU64,
}

impl Host {
    /// Queues of `queue` bytes, and limits that no test comes near otherwise.
    async fn new(queue: usize) -> Self {
        Self::serving(World::new(Config {
            outbound_queue_bytes: queue,
            messages_per_second: 1_000_000,
            close_linger: Duration::from_secs(60),
            ..without_pings()
        }))
        .await
    }

    async fn serving(world: World) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = world.server.config().serve;
        tokio::spawn(serve(listener, world.server.router(), limits, std::future::pending()));
        Self { world, address, pads: AtomicU64::new(0) }
    }

    /// A client that holds little of what it does not read.
    async fn dial(&self, seat: Seat, token: Option<&str>) -> Client<TcpStream> {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(64 * 1024).unwrap();
        let stream = socket.connect(self.address).await.unwrap();
        let token = token.map(|token| format!("&reconnectionToken={token}")).unwrap_or_default();
        let Seat { room, session } = seat;
        let url = format!("ws://{}/{}/{room}?sessionId={session}{token}", self.address, "process");
        let (socket, _) = within("a handshake", client_async(url, stream)).await.unwrap();
        let mut client = within("an answer", Client::greeted(socket, seat)).await.unwrap();
        client.send_raw(vec![wire::JOIN_ROOM]).await;
        within("a welcome", client.next()).await.unwrap();
        client
    }

    /// Two clients in one room.
    async fn two(&self) -> (Client<TcpStream>, Client<TcpStream>) {
        let options = json!({ "hold": 60_000 });
        let seat = self.world.seat(Method::Create, "room", options).await.unwrap();
        let first = self.dial(seat, None).await;
        let seat = self.world.seat(Method::JoinById, seat.room.as_str(), nothing()).await.unwrap();
        (first, self.dial(seat, None).await)
    }

    /// Lets the room broadcast a pad, and waits until `client` has it.
    async fn pad(&self, client: &mut Client<TcpStream>, size: usize) {
        client.send(PAD, size as u64).await;
        let number = self.pads.fetch_add(1, Ordering::Relaxed);
        assert_eq!(client.pad().await, Ok((number, size)));
    }

    fn pads(&self) -> u64 {
        self.pads.load(Ordering::Relaxed)
    }

    fn waiting(&self) -> usize {
        self.world.server.shared().sockets.iter().map(|outbox| outbox.waiting()).sum()
    }

    /// Pads until one of the sockets takes no more; `reader` reads them.
    async fn fill(&self, reader: &mut Client<TcpStream>) {
        while self.waiting() == 0 {
            self.pad(reader, 50_000).await;
            assert!(self.pads() < MANY, "a socket that nobody reads takes everything");
        }
    }
}

impl Client<TcpStream> {
    /// The number and size of the next pad, or the code of the close.
    async fn pad(&mut self) -> Result<(u64, usize), u16> {
        let message = within("a pad", self.next()).await?;
        let body = message.strip_prefix(b"\x11\xa3pad").expect("a pad");
        let (number, _) = body.split_first_chunk::<8>().unwrap();
        Ok((u64::from_be_bytes(*number), body.len()))
    }

    /// Reads on to the end. Returns how many pads came, in order and without a gap, and the code of the close.
    async fn rest(&mut self) -> (u64, u16) {
        for expected in 0.. {
            match self.pad().await {
                Ok((number, _)) => assert_eq!(number, expected),
                Err(code) => return (expected, code),
            }
        }
        unreachable!("a socket ends")
    }
}

#[tokio::test]
async fn rooms_take_turns_over_their_homes_and_keep_their_sockets_there() {
    let (runtimes, ends): (Vec<_>, Vec<_>) = (0..2).map(|_| home()).unzip();
    let rooms = Recorders::default();
    let server = Server::builder(without_pings()).define("room", rooms.clone()).homes(runtimes.clone());
    let host = Host::serving(World { server: server.build().unwrap(), rooms }).await;
    let tasks = || runtimes.iter().map(|home| home.metrics().num_alive_tasks()).collect::<Vec<_>>();
    let (mut first, mut second) = host.two().await;
    assert_eq!(tasks(), [3, 0], "a room and its two sockets");
    host.pad(&mut first, 1000).await;
    assert_eq!(second.pad().await, Ok((0, 1000)));
    let _other = host.two().await;
    assert_eq!(tasks(), [3, 3]);
    let server = host.world.server.clone();
    let (first, stragglers) =
        tokio::join!(within("a close", first.closed()), server.shutdown(Duration::from_secs(60)));
    assert!(stragglers.is_empty());
    assert_eq!(first, 4001);
    for end in ends {
        end.send(()).unwrap();
    }
}

/// A runtime of one thread, and what ends it.
fn home() -> (Handle, oneshot::Sender<()>) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    let (end, ended) = oneshot::channel();
    std::thread::spawn(move || runtime.block_on(ended));
    (handle, end)
}

// Field report U35.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_that_stops_reading_is_closed_as_slow_and_its_room_goes_on() {
    let host = Host::new(MIB).await;
    let (mut slow, mut other) = host.two().await;
    let dropped = Heard::Drop(slow.seat.session, 4100);
    // Each pad is read by the other while the slow one reads nothing.
    while !host.world.heard().contains(&dropped) {
        host.pad(&mut other, 50_000).await;
        assert!(host.pads() < MANY);
    }
    let (got, code) = slow.rest().await;
    assert_eq!(code, 4100);
    assert!(got < host.pads(), "what waited for the slow reader is dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_keep_their_order_while_the_queue_comes_and_goes() {
    let host = Host::new(64 * MIB).await;
    let (mut slow, mut other) = host.two().await;
    let mut read = 0;
    for _ in 0..3 {
        host.fill(&mut other).await;
        // The queue runs empty under further frames, large and small.
        while read < host.pads() {
            if read % 4 == 0 {
                host.pad(&mut other, 1000).await;
            }
            assert_eq!(slow.pad().await.unwrap().0, read);
            read += 1;
        }
    }
    assert_eq!(host.waiting(), 0);
}

#[tokio::test]
async fn a_frame_larger_than_any_socket_buffer_arrives_whole() {
    let host = Host::new(64 * MIB).await;
    let (mut slow, mut other) = host.two().await;
    host.pad(&mut other, 12 * MIB).await;
    assert!(host.waiting() > MIB, "{}", host.waiting());
    host.pad(&mut other, 100).await;
    assert_eq!(slow.pad().await, Ok((0, 12 * MIB)));
    assert_eq!(slow.pad().await, Ok((1, 100)));
    assert_eq!(host.waiting(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_that_is_reset_leaves_and_its_room_goes_on() {
    let host = Host::new(64 * MIB).await;
    let (mut slow, mut other) = host.two().await;
    host.fill(&mut other).await;
    slow.socket.get_mut().set_zero_linger().unwrap();
    let session = slow.seat.session;
    drop(slow);
    within("the room hears of it", async {
        while !host.world.heard().contains(&Heard::Drop(session, 1006)) {
            host.pad(&mut other, 1000).await;
        }
    })
    .await;
    host.pad(&mut other, 1000).await;
    assert_eq!(host.waiting(), 0, "nothing waits for a socket that is gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replaced_socket_gets_what_was_sent_before_and_nothing_more() {
    let host = Host::new(64 * MIB).await;
    let (mut old, mut other) = host.two().await;
    host.fill(&mut other).await;
    let before = host.pads();
    let mut new = host.dial(old.seat, Some(&old.token)).await;
    for _ in 0..10 {
        host.pad(&mut other, 1000).await;
    }
    assert_eq!(old.rest().await, (before, 4002));
    for number in before..before + 10 {
        assert_eq!(new.pad().await, Ok((number, 1000)));
    }
}

#[tokio::test]
async fn a_close_is_answered_and_nothing_follows_the_answer() {
    let host = Host::new(MIB).await;
    let (mut leaving, mut other) = host.two().await;
    leaving.socket.close(None).await.unwrap();
    assert_eq!(within("an answer", leaving.next()).await, Err(1005));
    host.pad(&mut other, 1000).await;
    assert!(
        within("an end", leaving.socket.next()).await.is_none(),
        "the answer to a close is the last frame"
    );
}

// Limits that `serve` is given need not come from a validated configuration.
#[tokio::test]
async fn limits_that_cannot_work_are_served_as_the_nearest_that_can() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let world = World::new(Config::default());
    let limits = ServeLimits {
        header_bytes: 1,
        headers: 0,
        connections: 0,
        connections_per_peer: 0,
        ..ServeLimits::default()
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let mut socket = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    tokio::spawn(serve(listener, world.server.router(), limits, std::future::pending()));
    socket.write_all(b"GET /nowhere HTTP/1.1\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    within("an answer", socket.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
}
