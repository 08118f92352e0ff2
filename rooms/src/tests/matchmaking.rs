//! Which room a request gets, and that seats are counted across every await.

use super::*;
use crate::{Among, Driver, DriverError, GroupRefused, Query, RoomId};
use futures_util::future::BoxFuture;

async fn room_of(world: &World, method: Method, options: Value) -> Result<RoomId, Refusal> {
    world.seat(method, "room", options).await.map(|seat| seat.room)
}

#[tokio::test(start_paused = true)]
async fn the_order_of_the_definition_decides_which_room_fills_first() {
    let world = World::new(without_pings());
    let mut hosts = Vec::new();
    for level in [json!(null), json!(2), json!(9), json!(9)] {
        hosts.push(world.create(json!({ "level": level, "seats": 2 })).await);
    }
    let rooms: Vec<_> = hosts.iter().map(|host| host.seat.room).collect();
    let mut joined = Vec::new();
    for _ in 0..4 {
        joined.push(room_of(&world, Method::Join, nothing()).await.unwrap());
    }
    assert_eq!(
        joined,
        [rooms[2], rooms[3], rooms[1], rooms[0]],
        "the highest level, the oldest among equals"
    );
    assert_eq!(code(room_of(&world, Method::Join, nothing()).await), 521);
}

#[tokio::test(start_paused = true)]
async fn a_room_that_refuses_is_passed_over_for_one_that_does_not() {
    let world = World::new(without_pings());
    for _ in 0..20 {
        world.seat(Method::Create, "room", json!({ "picky": true })).await.unwrap();
    }
    let last = room_of(&world, Method::Create, nothing()).await.unwrap();
    assert_eq!(room_of(&world, Method::Join, json!({ "unfit": true })).await, Ok(last));
}

#[tokio::test(start_paused = true)]
async fn a_room_is_found_behind_more_that_refuse_than_any_page_holds() {
    let world = World::new(without_pings());
    for _ in 0..1_500 {
        room_of(&world, Method::Create, json!({ "picky": true })).await.unwrap();
    }
    let last = room_of(&world, Method::Create, nothing()).await.unwrap();
    for method in [Method::Join, Method::JoinOrCreate] {
        assert_eq!(room_of(&world, method, json!({ "unfit": true })).await, Ok(last));
    }
}

#[tokio::test(start_paused = true)]
async fn a_search_ends_at_its_number_of_rooms() {
    let world = World::new(Config { max_rooms_asked: 20, ..without_pings() });
    let mut rooms = Vec::new();
    for room in 0..21 {
        rooms.push(room_of(&world, Method::Create, json!({ "picky": room < 20 })).await.unwrap());
    }
    let unfit = json!({ "unfit": true });
    assert_eq!(room_of(&world, Method::Join, unfit.clone()).await, Err(Refusal::search_ended()));
    let made = room_of(&world, Method::JoinOrCreate, unfit.clone()).await.unwrap();
    assert!(!rooms.contains(&made), "a room of its own");
    tokio::time::sleep(Duration::from_secs(16)).await;
    assert!(world.server.listing().is_empty());
    // One room less that refuses, and the search reaches one that does not.
    for room in 0..20 {
        room_of(&world, Method::Create, json!({ "picky": room < 19 })).await.unwrap();
    }
    assert!(room_of(&world, Method::Join, unfit).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_options_of_promised_seats_have_a_bound_together() {
    let limit = 64 * 1024;
    let world = World::new(Config { max_reserved_bytes: limit, ..without_pings() });
    let large = || json!({ "text": "x".repeat(10_000) });
    let ask = || world.seat(Method::Create, "room", large());
    let mut seats = Vec::new();
    let refused = loop {
        match ask().await {
            Ok(seat) => seats.push(seat),
            Err(refusal) => break refusal,
        }
        assert!(seats.len() < 10, "more than the bound holds");
    };
    assert_eq!(refused, Refusal::at_capacity());
    assert!(seats.len() >= 5);
    let mut group = vec![testing::guest(nothing()); 2];
    group.push(testing::guest(large()));
    let refused = world.server.create_for("room", &nothing(), group).await.unwrap_err();
    assert_eq!(refused, GroupRefused { guest: Some(2), refusal: Refusal::at_capacity() });
    // A client that comes takes its options with it, and a seat that expires gives up its own.
    let client = world.connect(seats[0], None).await.unwrap();
    assert!(ask().await.is_ok());
    assert!(ask().await.is_err());
    tokio::time::sleep(Duration::from_secs(16)).await;
    assert!(world.server.shared().space_for(limit).is_ok(), "nothing is left of them");
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_refused_or_waits_in_vain_leaves_no_options_behind() {
    let limit = 64 * 1024;
    let world = World::new(Config { max_reserved_bytes: limit, ..without_pings() });
    for (options, refusal) in [
        (json!({ "auth": "refuse" }), 525),
        (json!({ "auth": "panic" }), 523),
        (json!({ "delay": 60_000 }), 525),
        (json!({ "seats": 0 }), 522),
    ] {
        assert_eq!(code(world.seat(Method::Create, "room", options).await), refusal);
    }
    world.rest().await;
    assert!(world.server.shared().space_for(limit).is_ok());
}

#[tokio::test(start_paused = true)]
async fn metadata_past_its_bound_changes_nothing() {
    let world = World::new(Config { max_metadata_bytes: 100, ..without_pings() });
    let level = |length: usize| json!({ "level": "x".repeat(length) });
    // The member around it takes twelve bytes.
    let mut client = world.create(level(88)).await;
    assert_eq!(code(world.seat(Method::Create, "room", level(89)).await), 413);
    let before = world.listed(client.seat).unwrap();
    client.send(LEVEL, 10_u64.pow(18)).await;
    client.send(SAY, 1).await;
    world.rest().await;
    let after = world.listed(client.seat).unwrap();
    assert_eq!(after.metadata, before.metadata, "the room was told and goes on");
    let filtered = |length: usize| json!({ "mode": "x".repeat(length) });
    assert_eq!(code(world.seat(Method::Create, "room", filtered(96)).await), 200);
    assert_eq!(code(world.seat(Method::Create, "room", filtered(97)).await), 400);
}

// A room is found by nobody before its creator has a seat in it.
#[tokio::test(start_paused = true)]
async fn a_creator_always_gets_a_seat_in_its_own_room() {
    let world = World::new(without_pings());
    let ask = |method| room_of(&world, method, json!({ "seats": 1 }));
    let mut requests = Vec::new();
    for _ in 0..100 {
        requests.extend([ask(Method::Create), ask(Method::JoinOrCreate), ask(Method::JoinOrCreate)]);
    }
    let rooms = futures_util::future::join_all(requests).await;
    let mut rooms: Vec<_> = rooms.into_iter().map(Result::unwrap).collect();
    rooms.sort();
    rooms.dedup();
    assert_eq!(rooms.len(), 300, "each in a room of its own");
}

#[tokio::test(start_paused = true)]
async fn a_creator_that_the_room_refuses_leaves_no_room() {
    let world = World::new(without_pings());
    for options in [json!({ "seats": 0 }), json!({ "picky": true, "unfit": true })] {
        assert_eq!(room_of(&world, Method::Create, options).await, Err(Refusal::room_full()));
    }
    world.rest().await;
    assert!(world.server.listing().is_empty());
    assert_eq!(world.heard(), [Heard::Dispose, Heard::Dispose]);
}

// Field report U2, with the sockets of the clients that got a seat.
#[tokio::test(start_paused = true)]
async fn concurrent_joins_fill_rooms_to_the_brim_and_no_further() {
    let world = World::new(without_pings());
    let join = |delay: u64| {
        let world = &world;
        async move {
            let options = json!({ "seats": 7, "delay": delay % 40 });
            let seat = world.seat(Method::JoinOrCreate, "room", options).await.unwrap();
            world.connect(seat, None).await.unwrap()
        }
    };
    let clients = futures_util::future::join_all((0..500).map(join)).await;
    let mut sizes: Vec<_> =
        world.server.listing().iter().map(|room| (room.clients, room.connected)).collect();
    sizes.sort_unstable();
    let mut expected = vec![(500 % 7, 500 % 7)];
    expected.extend(vec![(7, 7); 500 / 7]);
    assert_eq!(sizes, expected);
    assert_eq!(clients.len(), 500);
}

#[tokio::test(start_paused = true)]
async fn a_group_gets_its_seats_together_or_not_at_all() {
    let world = World::new(without_pings());
    let room = json!({ "seats": 3, "picky": true });
    let group = |options: [Value; 3]| {
        world.server.create_for("room", &room, options.into_iter().map(testing::guest).collect())
    };
    let seats = group([nothing(), json!({ "delay": 50 }), nothing()]).await.unwrap();
    let room = seats[0].room.room_id;
    assert!(seats.iter().all(|seat| seat.room.room_id == room && seat.room.locked), "the room is full");
    let mut clients = Vec::new();
    for seat in seats {
        clients.push(world.connect(Seat { room, session: seat.session_id }, None).await.unwrap());
    }
    let refused = group([nothing(), json!({ "auth": "refuse" }), nothing()]).await.unwrap_err();
    assert_eq!(refused, GroupRefused { guest: Some(1), refusal: Refusal::auth_failed() });
    let refused = group([nothing(), nothing(), json!({ "unfit": true })]).await.unwrap_err();
    assert_eq!(refused, GroupRefused { guest: Some(2), refusal: Refusal::room_full() });
    let refused = world.server.create_for("unknown", &nothing(), Vec::new()).await.unwrap_err();
    assert_eq!(refused, GroupRefused { guest: None, refusal: Refusal::no_handler() });
    world.rest().await;
    assert!(world.server.listing().iter().all(|listed| listed.room_id == room), "nothing else is left");
}

// Field report U11.
#[tokio::test(start_paused = true)]
async fn what_stands_between_a_client_and_a_seat_has_a_name_of_its_own() {
    let world = World::new(without_pings());
    let mut host = world.create(json!({ "seats": 2 })).await;
    let room = host.seat.room;
    let reason = |refused: Result<Seat, Refusal>| refused.err().map(|refusal| refusal.reason);
    let ask = |method, target: String, options| {
        let world = &world;
        async move { reason(world.seat(method, &target, options).await) }
    };
    let room = room.to_string();
    assert_eq!(ask(Method::JoinById, "nope".into(), nothing()).await, Some("room_not_found"));
    host.send(LOCK, 0).await;
    world.rest().await;
    assert_eq!(ask(Method::JoinById, room.clone(), nothing()).await, Some("room_locked"));
    host.send(UNLOCK, 0).await;
    world.rest().await;
    assert_eq!(ask(Method::JoinById, room.clone(), nothing()).await, None);
    assert_eq!(ask(Method::JoinById, room.clone(), nothing()).await, Some("room_full"));
    assert_eq!(ask(Method::Join, "room".into(), nothing()).await, Some("no_match"));
    assert_eq!(ask(Method::Join, "nothing".into(), nothing()).await, Some("unknown_room_name"));
    let wrong = json!({ "reconnectionToken": "wrong" });
    assert_eq!(ask(Method::Reconnect, room, wrong).await, Some("reconnect_expired"));
    assert_eq!(Refusal::seat_expired().reason, "seat_expired");
}

#[tokio::test(start_paused = true)]
async fn a_query_shows_what_is_public_and_a_room_that_ended_is_in_none() {
    let world = World::new(without_pings());
    let mut client = world.create(json!({ "mode": "a", "level": 3 })).await;
    let _other = world.create(json!({ "mode": "b" })).await;
    let all = Query { among: Among::Public, ..Query::default() };
    let listed = world.server.query(&all).await.unwrap();
    assert_eq!(listed.iter().map(|room| room.clients).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(*listed[0].metadata, json!({ "level": 3 }));
    client.send_raw(vec![wire::LEAVE_ROOM]).await;
    assert_eq!(client.closed().await, 4000);
    world.rest().await;
    assert!(world.server.query(&all).await.unwrap().iter().all(|room| room.room_id != client.seat.room));
}

/// A listing that lost its store.
struct Lost;

impl Driver for Lost {
    fn put(&self, _: Arc<Listing>) {}

    fn remove(&self, _: RoomId) {}

    fn get(&self, _: RoomId) -> BoxFuture<'_, Result<Option<Arc<Listing>>, DriverError>> {
        Box::pin(async { Err(DriverError) })
    }

    fn find<'a>(&'a self, _: &'a Query) -> BoxFuture<'a, Result<Vec<Arc<Listing>>, DriverError>> {
        Box::pin(async { Err(DriverError) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_fails_refuses_what_needs_it_and_nothing_else() {
    let server = Server::builder(without_pings()).define("room", Recorders::default()).driver(Lost).build();
    let world = testing::TestServer::new(server.unwrap());
    for method in [Method::Join, Method::JoinOrCreate] {
        assert_eq!(world.join(method, "room", nothing()).await.err(), Some(Refusal::unavailable()));
    }
    let host = world.join(Method::Create, "room", nothing()).await.unwrap();
    let room = host.room_id().to_string();
    assert!(world.join(Method::JoinById, &room, nothing()).await.is_ok());
    assert_eq!(world.server().listing().len(), 1);
}

#[test]
fn a_request_that_is_logged_shows_nothing_it_brought() {
    let mut request = testing::guest(json!({ "password": "canary" }));
    request.token = Some("canary".to_owned());
    request.headers.insert("authorization", http::HeaderValue::from_static("canary"));
    assert!(!format!("{request:?}").contains("canary"));
}

// Who knows a seat's session takes the seat, and what is logged is read by others.
#[tokio::test(start_paused = true)]
async fn a_reservation_that_is_logged_does_not_name_its_session() {
    let world = World::new(without_pings());
    let seat =
        world.server.matchmake(Method::Create, "room", crate::testing::guest(nothing())).await.unwrap();
    let logged = format!("{seat:?}");
    assert!(logged.contains(&seat.room.room_id.to_string()));
    assert!(!logged.contains(&seat.session_id.to_string()));
}
