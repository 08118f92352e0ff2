//! What a room's handlers can do, beyond the lives of seats: typed messages, sends after the patch, work outside.

use super::*;
use crate::TimerId;
use crate::testing::{LiveServer, Received, Response, TestServer, settle};
use crate::{Messages, Reply};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Typed;

#[derive(Default)]
struct TypedRoom {
    moves: u32,
    steps: u32,
}

#[derive(Clone, Copy, Deserialize)]
struct Move {
    x: f64,
}

impl Definition for Typed {
    type Room = TypedRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, _: &mut Cx<'_, TypedRoom>, _: &Value) -> Result<TypedRoom, Refusal> {
        Ok(TypedRoom::default())
    }

    fn messages(&self) -> Messages<TypedRoom> {
        Messages::new()
            .on("move", TypedRoom::moved)
            .on(7, |_: &mut TypedRoom, cx, client, number: u64| cx.send(client, "seven", &number).unwrap())
            .on_bytes("move", |_, cx, client, bytes| cx.send_bytes(client, "bytes", bytes))
            .on("later", |_: &mut TypedRoom, cx, client, text: String| {
                cx.after_patch().send(client, "later", &text).unwrap();
                cx.after_patch().broadcast("all", &text, &[]).unwrap();
                cx.after_patch().broadcast("others", &text, &[client]).unwrap();
                cx.send(client, "now", &text).unwrap();
            })
            .on("much", |_: &mut TypedRoom, cx, _, count: usize| {
                for number in 0..count {
                    cx.after_patch().broadcast("much", &(number, "x".repeat(1_000)), &[]).unwrap();
                }
            })
            .on("fetch", |_: &mut TypedRoom, cx, client, seconds: u64| {
                cx.spawn(async move {
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                    client
                });
            })
            .on("simulate", |_: &mut TypedRoom, cx, _, catch_up: u32| {
                cx.set_fixed_step(Duration::from_millis(50), catch_up);
            })
            .on_request("steps", |room: &mut TypedRoom, _, _, (): ()| Reply::value(&room.steps))
            .on_request("moves", |room: &mut TypedRoom, _, _, (): ()| Reply::value(&room.moves))
            .on_request("done", |_: &mut TypedRoom, _, _, (): ()| Reply::done())
            .on_request("no", |_: &mut TypedRoom, _, _, reason: String| Reply::rejected(&reason))
            .on_request("unsendable", |_: &mut TypedRoom, _, _, (): ()| Reply::value(&u64::MAX))
    }
}

impl TypedRoom {
    fn moved(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, to: Move) {
        self.moves += 1;
        cx.send(client, "moved", &to.x).unwrap();
    }
}

impl Room for TypedRoom {
    type Event = SessionId;
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
        let MessageType::Name(name) = message.kind else { return Err(BadMessage::UnknownType) };
        cx.send(client, "wildcard", name).unwrap();
        Ok(())
    }

    fn on_timer(&mut self, _: &mut Cx<'_, Self>, _: TimerId) {
        self.steps += 1;
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        cx.send(client, "fetched", &1).unwrap();
    }
}

fn world(config: Config) -> TestServer {
    TestServer::new(Server::builder(config).define("typed", Typed).build().unwrap())
}

async fn join(world: &TestServer) -> crate::testing::TestClient {
    world.join(Method::JoinOrCreate, "typed", nothing()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn messages_reach_the_handler_of_their_type_and_all_others_the_wildcard() {
    let world = world(Config::default());
    let mut client = join(&world).await;
    client.send("move", &json!({ "x": 1.5, "more": true })).await;
    assert_eq!(client.message("moved").await, 1.5);
    client.send(7, &3).await;
    assert_eq!(client.message("seven").await, 3);
    client.send_bytes("move", &[1, 2]).await;
    assert_eq!(client.next().await, Received::Bytes("bytes".into(), vec![1, 2]));
    for other in ["other", "seven"] {
        client.send(other, &1).await;
        assert_eq!(client.message("wildcard").await, other);
    }
    client.send_bytes("later", &[]).await;
    assert_eq!(client.message("wildcard").await, "later", "a handler of values gets no raw bytes");
    client.send("move", &json!({ "x": "not a number" })).await;
    assert_eq!(client.closed().await, 4002);
    let mut client = join(&world).await;
    client.send(8, &1).await;
    assert_eq!(client.closed().await, 4002);
}

#[tokio::test(start_paused = true)]
async fn requests_reach_their_answerer() {
    let world = world(Config::default());
    let mut client = join(&world).await;
    assert_eq!(client.request("moves", &()).await, Response::Value(json!(0)));
    assert_eq!(client.request("done", &()).await, Response::Value(Value::Null));
    assert_eq!(client.request("no", "because").await, Response::Rejected(json!("because")));
    for (kind, fault) in [("unsendable", "unsendable"), ("nothing", "no_handler")] {
        let Response::Fault(came) = client.request(kind, &()).await else { panic!("{kind}") };
        assert_eq!(came["name"], fault);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_after_the_patch_leaves_at_its_tick_in_order() {
    let world = world(Config::default());
    let mut client = join(&world).await;
    let mut other = join(&world).await;
    client.send("later", "a").await;
    settle().await;
    client.send("later", "b").await;
    assert_eq!([client.message("now").await, client.message("now").await], ["a", "b"]);
    assert_eq!(other.rest().await, []);
    for text in ["a", "b"] {
        assert_eq!([client.message("later").await, client.message("all").await], [text, text]);
        assert_eq!([other.message("all").await, other.message("others").await], [text, text]);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(client.rest().await, [], "each leaves once");
}

#[tokio::test(start_paused = true)]
async fn more_than_a_queue_holds_does_not_wait_for_the_patch_and_is_not_lost() {
    let world =
        world(Config { outbound_queue_bytes: 10_500, max_message_bytes: 10_500, ..Config::default() });
    let mut client = join(&world).await;
    client.send("much", &15).await;
    let early = client.rest().await.len();
    assert_eq!(early, 10, "what fills a queue leaves at once");
    for number in early..15 {
        assert_eq!(client.message("much").await[0], number);
    }
}

#[tokio::test(start_paused = true)]
async fn work_outside_comes_back_as_an_event_and_ends_with_the_room() {
    let world = world(Config::default());
    let mut client = join(&world).await;
    client.send("fetch", &3).await;
    assert_eq!(client.message("fetched").await, 1);
    client.send("fetch", &1_000_000).await;
    settle().await;
    client.leave().await;
    assert!(world.server().shutdown(Duration::from_secs(1)).await.is_empty(), "nothing is left to wait for");
}

// Field reports U55 and U58: after a stall a simulation makes up for a bounded number of steps, and keeps its grid.
#[tokio::test(start_paused = true)]
async fn a_simulation_that_stalls_catches_up_with_so_many_steps_and_no_more() {
    let world = world(Config::default());
    let mut client = join(&world).await;
    client.send("simulate", &4).await;
    settle().await;
    for (stall, steps) in [(100, 2), (200, 6), (60_000, 11), (50, 12)] {
        // The clock jumps, as it seems to a process that was stopped.
        tokio::time::advance(Duration::from_millis(stall)).await;
        settle().await;
        assert_eq!(client.request("steps", &()).await, Response::Value(json!(steps)), "after {stall} ms");
    }
}

#[tokio::test]
async fn a_live_server_takes_real_sockets_and_ends() {
    let live = LiveServer::start(Server::builder(Config::default()).define("typed", Typed).build().unwrap());
    let live = live.await.unwrap();
    let address = live.url().strip_prefix("http://").unwrap();
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let request =
        "POST /matchmake/create/typed HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let seat: Value = serde_json::from_str(body).unwrap();
    assert_eq!(seat["roomId"], json!(live.server().listing()[0].room_id));
    live.stop().await;
}
