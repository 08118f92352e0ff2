//! The lives of seats and rooms against the clock: reservations, holds, handshakes, disposal, shutdown.

use super::*;

const EXPIRY: Duration = Duration::from_secs(15);
const ALMOST: Duration = Duration::from_millis(14_990);

// Field report U1.
#[tokio::test(start_paused = true)]
async fn a_reserved_seat_waits_as_long_as_it_says_and_no_longer() {
    let world = World::new(without_pings());
    let host = world.create(nothing()).await;
    for (wait, joins) in [(Duration::ZERO, true), (ALMOST, true), (EXPIRY + Duration::from_millis(10), false)]
    {
        let seat = world.seat(Method::JoinById, host.seat.room.as_str(), nothing()).await.unwrap();
        tokio::time::sleep(wait).await;
        match world.connect(seat, None).await {
            Ok(_) => assert!(joins),
            Err(code) => assert_eq!((joins, code), (false, 4002)),
        }
    }
}

// Field report U5.
#[tokio::test(start_paused = true)]
async fn a_room_that_nobody_enters_ends_with_its_reservation() {
    let world = World::new(without_pings());
    let seat = world.seat(Method::Create, "room", nothing()).await.unwrap();
    let unclaimed = world.server.create("room", &nothing()).unwrap();
    tokio::time::sleep(ALMOST).await;
    assert_eq!(world.server.listing().len(), 2);
    tokio::time::sleep(EXPIRY - ALMOST + Duration::from_millis(10)).await;
    assert!(world.server.listing().is_empty(), "{unclaimed} and {}", seat.room);
    assert_eq!(world.heard(), [Heard::Dispose, Heard::Dispose]);
    assert_eq!(world.connect(seat, None).await.err(), Some(4002));
}

// Field report U2: fifty joins that are authorized at the same time, ten seats.
#[tokio::test(start_paused = true)]
async fn a_slow_authorization_never_overfills_a_room() {
    let world = World::new(without_pings());
    let host = world.create(json!({ "seats": 10 })).await;
    let ask = || world.seat(Method::JoinById, host.seat.room.as_str(), json!({ "delay": 200 }));
    let seats = futures_util::future::join_all((0..50).map(|_| ask())).await;
    assert_eq!(seats.iter().filter(|seat| seat.is_ok()).count(), 9);
    assert!(seats.into_iter().filter_map(Result::err).all(|refusal| refusal == Refusal::room_full()));
    assert_eq!(world.listed(host.seat).unwrap().clients, 10);
}

// Field report U4.
#[tokio::test(start_paused = true)]
async fn an_authorization_that_fails_or_takes_too_long_takes_no_seat() {
    let world = World::new(without_pings());
    let host = world.create(json!({ "seats": 2 })).await;
    let ask = |options| world.seat(Method::JoinById, host.seat.room.as_str(), options);
    assert_eq!(code(ask(json!({ "auth": "refuse" })).await), 525);
    assert_eq!(code(ask(json!({ "delay": 60_000 })).await), 525);
    let listed = world.listed(host.seat).unwrap();
    assert_eq!((listed.clients, listed.locked), (1, false));
    assert_eq!(code(ask(nothing()).await), 200);
}

// Field report U20.
#[tokio::test(start_paused = true)]
async fn a_held_seat_is_taken_back_within_its_time_and_not_after() {
    for (wait, back) in [(0, true), (2_500, true), (4_990, true), (5_010, false)] {
        let world = World::new(without_pings());
        let _host = world.create(nothing()).await;
        let client = world.create(json!({ "hold": 5_000 })).await;
        let (seat, token) = (client.seat, client.token.clone());
        drop(client);
        world.rest().await;
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let again = world.connect(seat, Some(&token)).await;
        assert_eq!(again.err(), (!back).then_some(4003), "after {wait} ms");
        let left = world.heard().contains(&Heard::Leave(seat.session, 1006));
        assert_eq!(left, !back);
    }
}

#[tokio::test(start_paused = true)]
async fn asking_to_reconnect_again_and_again_does_not_hold_a_seat_for_ever() {
    let world = World::new(without_pings());
    let client = world.create(json!({ "hold": 5_000 })).await;
    let seat = client.seat;
    let token = json!({ "reconnectionToken": client.token });
    drop(client);
    world.rest().await;
    let mut asked = 0;
    while world.seat(Method::Reconnect, seat.room.as_str(), token.clone()).await.is_ok() {
        asked += 1;
        assert!(asked < 100, "for ever");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(asked, 20, "5 s of the hold and 15 s to connect");
}

// Field report U19.
#[tokio::test(start_paused = true)]
async fn a_wrong_token_is_refused_and_the_right_one_still_works() {
    let world = World::new(without_pings());
    let first = world.create(json!({ "hold": 60_000 })).await;
    let (seat, previous) = (first.seat, first.token.clone());
    drop(first);
    world.rest().await;
    let second = world.connect(seat, Some(&previous)).await.unwrap();
    let token = second.token.clone();
    drop(second);
    world.rest().await;
    assert_eq!(world.connect(seat, None).await.err(), Some(4002));
    for wrong in ["", "wrong", &previous, &"x".repeat(1_000_000)] {
        assert_eq!(world.connect(seat, Some(wrong)).await.err(), Some(4003));
    }
    let third = world.connect(seat, Some(&token)).await.unwrap();
    assert_eq!(third.seat.session, seat.session);
}

// The old socket can do nothing once it is replaced.
#[tokio::test(start_paused = true)]
async fn a_replaced_socket_is_closed_and_not_heard() {
    let world = World::new(without_pings());
    let mut old = world.create(json!({ "hold": 5_000 })).await;
    let (seat, token) = (old.seat, old.token.clone());
    let mut new = world.connect(seat, Some(&token)).await.unwrap();
    old.send(SAY, 1).await;
    new.send(SAY, 2).await;
    assert_eq!(old.closed().await, 4002);
    world.rest().await;
    let session = seat.session;
    assert_eq!(
        world.heard(),
        [
            Heard::Join(session),
            Heard::Drop(session, 4002),
            Heard::Reconnect(session),
            Heard::Message(session, 2)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_join_that_is_not_acknowledged_is_closed_and_leaves() {
    let world = World::new(without_pings());
    let seat = world.seat(Method::Create, "room", nothing()).await.unwrap();
    let mut client = world.open(seat, None).await.unwrap();
    assert_eq!(client.closed().await, 4002);
    world.rest().await;
    assert_eq!(world.heard(), [Heard::Join(seat.session), Heard::Leave(seat.session, 4002), Heard::Dispose]);
}

// Field report U26.
#[tokio::test(start_paused = true)]
async fn nothing_but_the_join_answer_comes_before_the_acknowledgement() {
    let world = World::new(without_pings());
    let seat = world.seat(Method::Create, "room", nothing()).await.unwrap();
    let mut client = world.open(seat, None).await.unwrap();
    client.send(SAY, 7).await;
    assert!(tokio::time::timeout(Duration::from_secs(1), client.next()).await.is_err());
    client.send_raw(vec![wire::JOIN_ROOM]).await;
    assert_eq!(client.next().await.unwrap(), b"\x0d\xa7welcome\x01");
    assert_eq!(client.next().await.unwrap(), b"\x0d\xa4said\x07");
}

// The same for a client that comes back, whose old token is dead by then.
#[tokio::test(start_paused = true)]
async fn what_is_sent_to_a_client_that_comes_back_follows_its_acknowledgement_in_order() {
    let world = World::new(without_pings());
    let client = world.create(json!({ "hold": 5_000 })).await;
    let (seat, token) = (client.seat, client.token.clone());
    drop(client);
    world.rest().await;
    let mut client = world.open(seat, Some(&token)).await.unwrap();
    client.send(SAY, 7).await;
    assert!(tokio::time::timeout(Duration::from_secs(1), client.next()).await.is_err());
    client.send_raw(vec![wire::JOIN_ROOM]).await;
    assert_eq!(client.next().await.unwrap(), b"\x0d\xa7welcome\x02");
    assert_eq!(client.next().await.unwrap(), b"\x0d\xa4said\x07");
    assert_ne!(client.token, token);
    assert_eq!(world.connect(seat, Some(&token)).await.err(), Some(4003));
}

// Field report U22.
#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_a_hundred_times_leaves_once() {
    let world = World::new(without_pings());
    let mut client = world.create(json!({ "hold": 5_000 })).await;
    for _ in 0..100 {
        let (seat, token) = (client.seat, client.token.clone());
        drop(client);
        world.rest().await;
        client = world.connect(seat, Some(&token)).await.unwrap();
    }
    let left = |world: &World| world.heard().iter().filter(|heard| matches!(heard, Heard::Leave(..))).count();
    assert_eq!(left(&world), 0);
    client.send_raw(vec![wire::LEAVE_ROOM]).await;
    assert_eq!(client.closed().await, 4000);
    drop(client);
    world.rest().await;
    assert_eq!(left(&world), 1);
    assert!(world.server.shared().sockets.is_empty(), "none of 101 sockets is remembered");
}

// Field report U7: who leaves the last seat and comes back at once gets a seat or no room, never a dying one.
#[tokio::test(start_paused = true)]
async fn nobody_gets_a_seat_in_a_room_that_is_ending() {
    let world = World::new(without_pings());
    for method in [Method::JoinById, Method::JoinOrCreate] {
        let mut last = world.create(nothing()).await;
        let target = if method == Method::JoinById { last.seat.room.to_string() } else { "room".to_owned() };
        last.send_raw(vec![wire::LEAVE_ROOM]).await;
        match world.seat(method, &target, nothing()).await {
            Ok(seat) => assert!(world.connect(seat, None).await.is_ok()),
            Err(refusal) => assert_eq!(refusal, Refusal::room_not_found()),
        }
    }
}

// Field report U28.
#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_ten_thousand_rooms() {
    let world = World::new(without_pings());
    for _ in 0..10 {
        for _ in 0..1_000 {
            world.server.create("room", &nothing()).unwrap();
        }
        tokio::time::sleep(EXPIRY + Duration::from_secs(1)).await;
    }
    assert_eq!(world.heard().iter().filter(|heard| **heard == Heard::Dispose).count(), 10_000);
    let shared = world.server.shared();
    assert_eq!((shared.registry.all().len(), shared.tasks.len()), (0, 0));
    assert_eq!(shared.room_permits.available_permits(), shared.config.max_rooms);
    assert!(world.server.query(&crate::Query::default()).await.unwrap().is_empty());
    assert!(lock(&world.rooms.handles).iter().all(RoomHandle::is_closed));
}

#[tokio::test(start_paused = true)]
async fn a_room_that_panics_is_closed_and_no_other_notices() {
    let world = World::new(without_pings());
    let mut broken = world.create(nothing()).await;
    let mut other = world.create(nothing()).await;
    broken.send(PANIC, 0).await;
    assert_eq!(broken.closed().await, 4002);
    other.send(SAY, 1).await;
    assert_eq!(other.next().await.unwrap(), b"\x0d\xa7welcome\x01");
    assert_eq!(other.next().await.unwrap(), b"\x0d\xa4said\x01");
    assert_eq!(world.server.listing().len(), 1);
    assert_eq!(world.server.counters().rooms_failed, 1);
    assert_eq!(code(world.seat(Method::JoinById, broken.seat.room.as_str(), nothing()).await), 522);
}

#[tokio::test(start_paused = true)]
async fn events_reach_the_room_and_a_handle_outlives_it_harmlessly() {
    let world = World::new(without_pings());
    let mut client = world.create(nothing()).await;
    let handle = lock(&world.rooms.handles)[0].clone();
    assert_eq!(handle.room_id(), client.seat.room);
    handle.post(5).await.unwrap();
    handle.try_post(6).unwrap();
    client.next().await.unwrap();
    assert_eq!(client.next().await.unwrap(), b"\x0d\xa5event\x05");
    assert_eq!(client.next().await.unwrap(), b"\x0d\xa5event\x06");
    client.send_raw(vec![wire::LEAVE_ROOM]).await;
    assert_eq!(client.closed().await, 4000);
    handle.closed().await;
    assert!(handle.is_closed());
    assert_eq!(handle.try_post(7), Err(crate::PostError::Gone(7)));
    assert_eq!(handle.post(8).await, Err(crate::RoomGone));
}

// Field report U8: a seat issued before the room ended.
#[tokio::test(start_paused = true)]
async fn a_seat_in_a_room_that_ended_is_refused() {
    let world = World::new(without_pings());
    let mut host = world.create(nothing()).await;
    let seat = world.seat(Method::JoinById, host.seat.room.as_str(), nothing()).await.unwrap();
    tokio::time::sleep(EXPIRY).await;
    host.send_raw(vec![wire::LEAVE_ROOM]).await;
    assert_eq!(host.closed().await, 4000);
    world.rest().await;
    assert_eq!(world.connect(seat, None).await.err(), Some(4002));
    assert_eq!(code(world.seat(Method::JoinById, seat.room.as_str(), nothing()).await), 522);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_lets_rooms_end_and_closes_every_socket() {
    let world = World::new(without_pings());
    let mut clients = Vec::new();
    for _ in 0..10 {
        clients.push(world.create(json!({ "hold": 60_000 })).await);
    }
    let dropped = clients.pop().unwrap();
    let (session, rest) = (dropped.seat.session, clients.len());
    drop(dropped);
    world.rest().await;
    let ends = futures_util::future::join_all(clients.iter_mut().map(Client::closed));
    let (stragglers, codes) = tokio::join!(world.server.shutdown(Duration::from_secs(5)), ends);
    assert!(stragglers.is_empty());
    assert_eq!(codes, vec![4001; rest]);
    assert!(world.heard().contains(&Heard::Leave(session, 4001)), "a held seat leaves too");
    assert_eq!(world.heard().iter().filter(|heard| **heard == Heard::Dispose).count(), 10);
    assert_eq!(code(world.seat(Method::Create, "room", nothing()).await), 503);
    assert_eq!(code(world.server.create("room", &nothing())), 503);
}

#[tokio::test(start_paused = true)]
async fn a_room_that_stays_is_cut_off_at_the_deadline() {
    let world = World::new(without_pings());
    let mut client = world.create(json!({ "stays": true })).await;
    let (stragglers, code) = tokio::join!(world.server.shutdown(Duration::from_secs(5)), client.closed());
    assert!(stragglers.is_empty());
    assert_eq!(code, 4001);
    let session = client.seat.session;
    let end = [Heard::Join(session), Heard::Shutdown, Heard::Leave(session, 4001), Heard::Dispose];
    assert_eq!(world.heard(), end);
}
