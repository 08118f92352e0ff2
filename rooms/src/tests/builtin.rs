//! The rooms that come with the crate, as their clients see them.

use super::*;
use crate::RoomId;
use crate::builtin::{Lobby, Queue, Relay, Window};
use crate::testing::{Received, TestClient, TestServer, guest, settle};

fn world() -> TestServer {
    let queue = Queue::new("room", 2).window(Window { start: 10.0, per_second: 10.0, most: 100.0 });
    let server = Server::builder(Config::default())
        .define("room", Recorders::default())
        .define("lobby", Lobby::default())
        .define("relay", Relay::default().max_clients(3).grace(Duration::from_secs(5)).echo("echo"))
        .define("queue", queue)
        .define("teams", Queue::new("room", 4).fewest(2, Duration::from_secs(20)))
        .build();
    TestServer::new(server.unwrap())
}

/// The changes that a lobby told since the last look, as marks and room ids.
async fn news(client: &mut TestClient) -> Vec<(String, String)> {
    tokio::time::sleep(Duration::from_millis(60)).await;
    let told = client.rest().await.into_iter().map(|received| match received {
        Received::Message(mark, Value::String(id)) => (mark, id),
        Received::Message(mark, payload) => (mark, payload[0].as_str().unwrap().to_owned()),
        other => panic!("{other:?}"),
    });
    told.collect()
}

fn told(mark: &str, room: RoomId) -> (String, String) {
    (mark.to_owned(), room.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_lobby_shows_the_public_rooms_and_each_change_once() {
    let world = world();
    let first = world.join(Method::Create, "room", json!({ "level": 1 })).await.unwrap();
    let mut lobby = world.join(Method::JoinOrCreate, "lobby", nothing()).await.unwrap();
    let rooms = lobby.message("rooms").await;
    assert_eq!(rooms.as_array().unwrap().len(), 1, "the lobby itself is not listed");
    assert_eq!(rooms[0]["roomId"], json!(first.room_id()));
    assert_eq!(rooms[0]["metadata"], json!({ "level": 1 }));

    let mut second = world.join(Method::Create, "room", nothing()).await.unwrap();
    for _ in 0..20 {
        second.send(LOCK, &0).await;
        second.send(UNLOCK, &0).await;
    }
    assert_eq!(news(&mut lobby).await, [told("+", second.room_id())], "changes are told together");
    second.send(HIDE, &0).await;
    assert_eq!(news(&mut lobby).await, [told("-", second.room_id())]);
    second.send(LOCK, &0).await;
    assert_eq!(news(&mut lobby).await, [], "what is hidden changes in silence");
    let id = first.room_id();
    first.leave().await;
    assert_eq!(news(&mut lobby).await, [told("-", id)]);
}

#[tokio::test(start_paused = true)]
async fn a_lobby_shows_each_client_what_passes_its_filter() {
    let world = world();
    let one = world.join(Method::Create, "room", json!({ "level": 1 })).await.unwrap();
    let other = world.join(Method::Create, "relay", nothing()).await.unwrap();
    let by_name = json!({ "filter": { "name": "relay" } });
    let mut relays = world.join(Method::JoinOrCreate, "lobby", by_name).await.unwrap();
    assert_eq!(relays.message("rooms").await[0]["roomId"], json!(other.room_id()));
    let mut levels = world.join(Method::JoinOrCreate, "lobby", nothing()).await.unwrap();
    assert_eq!(levels.message("rooms").await.as_array().unwrap().len(), 2);
    levels.send("filter", &json!({ "metadata": { "level": 1 } })).await;
    assert_eq!(levels.message("rooms").await[0]["roomId"], json!(one.room_id()));

    let id = one.room_id();
    let seat = world.server().matchmake(Method::JoinById, &id.to_string(), guest(nothing())).await.unwrap();
    assert_eq!(news(&mut levels).await, [told("+", id)]);
    drop((one, seat));
    // The reserved seat keeps the room for its time.
    tokio::time::sleep(Duration::from_secs(16)).await;
    assert_eq!(news(&mut levels).await.last(), Some(&told("-", id)));
    assert_eq!(news(&mut relays).await, []);
    let refused = world.join(Method::JoinOrCreate, "lobby", json!({ "filter": 7 })).await;
    assert_eq!(code(refused), 400);
}

// A filter is a few bytes and a listing may be large.
#[tokio::test(start_paused = true)]
async fn a_flood_of_filters_is_answered_with_few_listings_the_last_for_the_newest() {
    let world = world();
    let _one = world.join(Method::Create, "room", json!({ "level": 1 })).await.unwrap();
    let mut lobby = world.join(Method::JoinOrCreate, "lobby", nothing()).await.unwrap();
    lobby.message("rooms").await;
    for level in 0..400 {
        lobby.send("filter", &json!({ "metadata": { "level": level } })).await;
    }
    lobby.send("filter", &json!({ "metadata": { "level": 1 } })).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let told = lobby.rest().await;
    assert!((1..=5).contains(&told.len()), "{} listings in a second", told.len());
    let Some(Received::Message(kind, rooms)) = told.last() else { panic!("{told:?}") };
    assert_eq!((kind.as_str(), rooms.as_array().unwrap().len()), ("rooms", 1));
}

// What a room says about itself may be its clients' choice.
#[tokio::test(start_paused = true)]
async fn rooms_that_say_much_do_not_fill_the_queue_of_who_looks_at_the_lobby() {
    let config = Config { outbound_queue_bytes: 3 << 20, max_metadata_bytes: 64 * 1024, ..Config::default() };
    let builder =
        Server::builder(config).define("room", Recorders::default()).define("lobby", Lobby::default());
    let world = TestServer::new(builder.build().unwrap());
    let level = json!({ "level": "x".repeat(60_000) });
    let mut rooms = Vec::new();
    for _ in 0..100 {
        rooms.push(world.server().create("room", &level).unwrap());
    }
    let mut lobby = world.join(Method::JoinOrCreate, "lobby", nothing()).await.unwrap();
    assert_eq!(lobby.message("rooms").await.as_array().unwrap().len(), (1 << 20) / 60_524);
    // One that was left out is shown when it changes.
    let seat = world.server().matchmake(Method::JoinById, &rooms[99].to_string(), guest(nothing())).await;
    assert_eq!(news(&mut lobby).await, [told("+", rooms[99])]);
    drop(seat);
}

#[tokio::test(start_paused = true)]
async fn a_room_that_a_full_lobby_leaves_out_is_shown_when_a_place_is_free() {
    let server = Server::builder(Config::default())
        .define("room", Recorders::default())
        .define("lobby", Lobby { rooms: 1 })
        .build();
    let world = TestServer::new(server.unwrap());
    let first = world.join(Method::Create, "room", nothing()).await.unwrap();
    let mut lobby = world.join(Method::JoinOrCreate, "lobby", nothing()).await.unwrap();
    assert_eq!(lobby.message("rooms").await[0]["roomId"], json!(first.room_id()));
    let second = world.join(Method::Create, "room", nothing()).await.unwrap();
    assert_eq!(news(&mut lobby).await, []);
    let id = first.room_id();
    first.leave().await;
    let mut told_now = news(&mut lobby).await;
    told_now.extend(news(&mut lobby).await);
    assert_eq!(told_now, [told("-", id), told("+", second.room_id())]);
}

// More rooms change at once than a lobby looks up or its subscription holds.
#[tokio::test(start_paused = true)]
async fn a_lobby_that_missed_changes_catches_up() {
    let world = world();
    let mut lobby = world.join(Method::JoinOrCreate, "lobby", nothing()).await.unwrap();
    assert_eq!(lobby.message("rooms").await, json!([]));
    for _ in 0..1_100 {
        world.server().create("room", &nothing()).unwrap();
    }
    let new = news(&mut lobby).await;
    assert_eq!(new.iter().filter(|(mark, _)| mark == "+").count(), 1_000, "as many as a lobby shows");
    tokio::time::sleep(Duration::from_secs(16)).await;
    let gone = news(&mut lobby).await;
    assert_eq!(gone.iter().filter(|(mark, _)| mark == "-").count(), 1_000, "all of them ended unclaimed");
}

#[tokio::test(start_paused = true)]
async fn a_relay_hands_messages_to_all_others_or_back_and_holds_seats() {
    let world = world();
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(world.join(Method::JoinOrCreate, "relay", nothing()).await.unwrap());
    }
    let [mut one, mut two, mut three] = <[TestClient; 3]>::try_from(clients).ok().unwrap();
    assert_eq!(one.room_id(), three.room_id());
    one.send("move", &json!({ "x": 1 })).await;
    one.send_bytes(7, &[1, 2, 255]).await;
    for other in [&mut two, &mut three] {
        assert_eq!(other.message("move").await, json!([one.session_id(), { "x": 1 }]));
        assert_eq!(other.message("7").await, json!([one.session_id(), [1, 2, 255]]));
    }
    assert_eq!(one.rest().await, []);
    one.send("echo", &json!({ "x": 2 })).await;
    assert_eq!(one.message("echo").await, json!({ "x": 2 }));
    one.send_bytes("echo", &[3]).await;
    assert_eq!(one.next().await, Received::Bytes("echo".into(), vec![3]));
    assert_eq!((two.rest().await, three.rest().await), (vec![], vec![]), "an echo is its sender's alone");
    let (room, session, token) = (two.room_id(), two.session_id(), two.reconnection_token().to_owned());
    drop(two);
    settle().await;
    let mut two = world.reconnect(room, session, &token).await.unwrap();
    three.send("again", &1).await;
    assert_eq!(two.message("again").await, json!([three.session_id(), 1]));
}

async fn queue(world: &TestServer, name: &str, options: Value) -> TestClient {
    world.join(Method::JoinOrCreate, name, options).await.unwrap()
}

/// The seat that comes next, after any counts.
async fn seat(client: &mut TestClient) -> Value {
    loop {
        match client.next().await {
            Received::Message(kind, seat) if kind == "seat" => return seat,
            Received::Message(kind, _) if kind == "clients" => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_seats_players_of_about_one_rank_in_a_new_room() {
    let world = world();
    let mut low = queue(&world, "queue", json!({ "rank": 100, "name": "low" })).await;
    let mut high = queue(&world, "queue", json!({ "rank": 500 })).await;
    let mut near = queue(&world, "queue", json!({ "rank": 105 })).await;
    let seats = [seat(&mut low).await, seat(&mut near).await];
    assert_eq!(seats[0]["roomId"], seats[1]["roomId"]);
    assert_ne!(seats[0]["sessionId"], seats[1]["sessionId"]);
    assert_eq!((seats[0]["name"].as_str(), seats[0]["room"]["clients"].as_u64()), (Some("room"), Some(2)));
    low.send("confirm", &Value::Null).await;
    assert_eq!(low.closed().await, 4000);
    // One that never says so is let go all the same, when its seat would have expired.
    assert_eq!(near.closed().await, 4000);
    assert_eq!(high.rest().await, [Received::Message("clients".into(), json!(1))]);
}

#[tokio::test(start_paused = true)]
async fn a_window_widens_with_time_to_its_end() {
    let world = world();
    let mut one = queue(&world, "queue", json!({ "rank": 0 })).await;
    let mut other = queue(&world, "queue", json!({ "rank": 95 })).await;
    let _far = queue(&world, "queue", json!({ "rank": 200 })).await;
    tokio::time::sleep(Duration::from_millis(8_100)).await;
    assert_eq!(one.rest().await, [Received::Message("clients".into(), json!(1))]);
    assert_eq!(seat(&mut one).await["roomId"], seat(&mut other).await["roomId"]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let listed = world.server().listing();
    assert_eq!(
        listed.iter().find(|room| &*room.name == "queue").unwrap().clients,
        1,
        "nobody else is within reach"
    );
}

#[tokio::test(start_paused = true)]
async fn teams_wait_for_each_other_and_play_together() {
    let world = world();
    let team = |rank: u32| json!({ "rank": rank, "teamId": "a", "teamSize": 2 });
    let mut members = vec![queue(&world, "teams", team(100)).await];
    for rank in [100, 101] {
        members.push(queue(&world, "teams", json!({ "rank": rank })).await);
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(
        members[0]
            .rest()
            .await
            .iter()
            .all(|told| !matches!(told, Received::Message(kind, _) if kind == "seat"))
    );
    members.push(queue(&world, "teams", team(104)).await);
    let late = world.join(Method::JoinOrCreate, "teams", team(100)).await;
    assert_eq!(code(late), 526, "a team takes no more than its size");
    let mut rooms = Vec::new();
    for member in &mut members {
        rooms.push(seat(member).await["roomId"].clone());
    }
    rooms.dedup();
    assert_eq!(rooms.len(), 1);
    for unfit in [
        json!({}),
        json!({ "rank": "x" }),
        json!({ "rank": 1, "teamId": "a" }),
        json!({ "rank": 1, "teamId": "", "teamSize": 2 }),
        json!({ "rank": 1, "teamId": "a", "teamSize": 5 }),
    ] {
        assert_eq!(code(world.join(Method::JoinOrCreate, "teams", unfit).await), 400);
    }
}

#[tokio::test(start_paused = true)]
async fn after_its_patience_a_player_is_content_with_fewer_others() {
    let world = world();
    let mut one = queue(&world, "teams", json!({ "rank": 1 })).await;
    tokio::time::sleep(Duration::from_secs(15)).await;
    let mut other = queue(&world, "teams", json!({ "rank": 1 })).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(other.rest().await.len(), 2, "alone, then two");
    assert_eq!(seat(&mut one).await["roomId"], seat(&mut other).await["roomId"]);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_longer_than_allowed_alone_or_for_a_team() {
    let world = world();
    let mut alone = queue(&world, "queue", json!({ "rank": 1 })).await;
    let mut waiting = queue(&world, "teams", json!({ "rank": 1, "teamId": "a", "teamSize": 2 })).await;
    tokio::time::sleep(Duration::from_secs(599)).await;
    for client in [&mut alone, &mut waiting] {
        assert_eq!(client.rest().await, [Received::Message("clients".into(), json!(1))]);
    }
    for mut client in [alone, waiting] {
        assert!(matches!(client.next().await, Received::Error(refusal) if refusal.code == 521));
        assert_eq!(client.closed().await, 4002);
    }
}

// What a queue keeps of its clients has a bound with all that waits for a seat.
#[tokio::test(start_paused = true)]
async fn a_queue_takes_no_client_whose_request_has_no_room() {
    let config = Config { max_reserved_bytes: 64 * 1024, ..Config::default() };
    let builder = Server::builder(config).define("queue", Queue::new("room", 2));
    let world = TestServer::new(builder.build().unwrap());
    let large = json!({ "rank": 1, "text": "x".repeat(25_000) });
    let one = queue(&world, "queue", large.clone()).await;
    assert_eq!(
        world.join(Method::Join, "queue", large.clone()).await.err().map(|refusal| refusal.code),
        Some(503)
    );
    drop(one);
    settle().await;
    queue(&world, "queue", large).await;
}

// Field report U16: who left is in no match, and a player that the match room refuses holds nobody up.
#[tokio::test(start_paused = true)]
async fn a_queue_forgets_who_left_and_passes_over_who_is_refused() {
    let world = world();
    let gone = queue(&world, "queue", json!({ "rank": 100 })).await;
    drop(gone);
    let mut unfit = queue(&world, "queue", json!({ "rank": 100, "auth": "refuse" })).await;
    let mut one = queue(&world, "queue", json!({ "rank": 100 })).await;
    assert_eq!(unfit.message("clients").await, json!(1));
    assert!(matches!(unfit.next().await, Received::Error(refusal) if refusal.code == 525));
    assert_eq!(unfit.closed().await, 4002);
    let mut other = queue(&world, "queue", json!({ "rank": 100 })).await;
    assert_eq!(seat(&mut one).await["roomId"], seat(&mut other).await["roomId"]);
    settle().await;
    let listed = world.server().listing();
    assert_eq!(listed.iter().filter(|room| &*room.name == "room").count(), 1, "one match, and no other room");
}
