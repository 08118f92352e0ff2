//! Sockets at and past their bounds: silence, slowness, full mailboxes.

use super::*;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_pings_stays_and_a_silent_one_is_dropped() {
    let world = World::new(Config::default());
    let mut answering = world.create(nothing()).await;
    let silent = world.create(nothing()).await;
    let start = Instant::now();
    // Reading is what makes a client answer pings.
    let reading = tokio::spawn(async move { answering.closed().await });
    while !world.heard().contains(&Heard::Leave(silent.seat.session, 1006)) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(start.elapsed() < Duration::from_secs(60), "nobody is dropped");
    }
    let config = Config::default();
    let silence = config.ping_interval * (config.ping_misses + 1);
    assert!((silence..silence + Duration::from_secs(2)).contains(&start.elapsed()));
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(!reading.is_finished());
}

// Field report U35.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_closed_at_the_bound_and_no_other_notices() {
    let config = Config { outbound_queue_bytes: 100_000, ..Config::default() };
    let world = World::new(config);
    let mut slow = world.create(nothing()).await;
    let seat = world.seat(Method::JoinById, slow.seat.room.as_str(), nothing()).await.unwrap();
    let mut other = world.connect(seat, None).await.unwrap();
    // Below the bound nothing happens, however slow the reader.
    slow.send(FLOOD, 90).await;
    world.rest().await;
    assert_eq!(world.listed(seat).unwrap().connected, 2);
    slow.send(FLOOD, 90).await;
    world.rest().await;
    assert!(world.heard().contains(&Heard::Drop(slow.seat.session, 4100)));
    assert_eq!(slow.closed().await, 4100);
    other.send(SAY, 1).await;
    assert_eq!(other.next().await.unwrap(), b"\x0d\xa7welcome\x01");
    assert_eq!(other.next().await.unwrap(), b"\x0d\xa4said\x01");
}

#[tokio::test(start_paused = true)]
async fn a_queue_before_the_acknowledgement_is_bounded_too() {
    let world =
        World::new(Config { outbound_queue_bytes: 10_000, max_message_bytes: 10_000, ..Config::default() });
    let seat = world.seat(Method::Create, "room", nothing()).await.unwrap();
    let mut client = world.open(seat, None).await.unwrap();
    client.send(FLOOD, 20).await;
    assert_eq!(client.closed().await, 4100);
}

#[tokio::test(start_paused = true)]
async fn a_full_mailbox_hands_events_back_and_makes_sockets_wait() {
    let world = World::new(Config { mailbox: 4, ..Config::default() });
    let mut client = world.create(nothing()).await;
    world.rest().await;
    let handle = lock(&world.rooms.handles)[0].clone();
    // Nothing else runs until this test awaits, so the mailbox only fills.
    for event in 0..4 {
        handle.try_post(event).unwrap();
    }
    assert_eq!(handle.try_post(4), Err(crate::PostError::Full(4)));
    for number in 0..100 {
        client.send(SAY, number).await;
    }
    world.rest().await;
    let session = client.seat.session;
    let said: Vec<_> =
        world.heard().into_iter().filter(|heard| matches!(heard, Heard::Message(..))).collect();
    let expected: Vec<_> = (0..100).map(|number| Heard::Message(session, number)).collect();
    assert_eq!(said, expected, "nothing is lost or out of order");
}

// Field report U25: the socket goes away at each point of a join.
#[tokio::test(start_paused = true)]
async fn a_socket_that_goes_away_during_its_join_joins_and_leaves_or_neither() {
    for acknowledges in [false, true] {
        let world = World::new(Config::default());
        let seat = world.seat(Method::Create, "room", nothing()).await.unwrap();
        let mut client = world.open(seat, None).await.unwrap();
        if acknowledges {
            client.send_raw(vec![wire::JOIN_ROOM]).await;
        }
        drop(client);
        world.rest().await;
        let session = seat.session;
        let life =
            [Heard::Join(session), Heard::Drop(session, 1006), Heard::Leave(session, 1006), Heard::Dispose];
        assert_eq!(world.heard(), life);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_frame_is_no_message() {
    let world = World::new(Config::default());
    let mut client = world.create(nothing()).await;
    let masked = [0x82, 0x83, 0, 0, 0, 0, wire::ROOM_DATA, 0, 1];
    client.socket.get_mut().write_all(&masked[..8]).await.unwrap();
    world.rest().await;
    let session = client.seat.session;
    assert_eq!(world.heard(), [Heard::Join(session)]);
    client.socket.get_mut().write_all(&masked[8..]).await.unwrap();
    world.rest().await;
    assert_eq!(world.heard(), [Heard::Join(session), Heard::Message(session, 1)]);
}

#[tokio::test(start_paused = true)]
async fn the_broadcasts_of_one_turn_are_bounded_too() {
    let world = World::new(Config { outbound_queue_bytes: 200_000, ..without_pings() });
    let mut client = world.create(nothing()).await;
    // As many as the queue and the pipe hold, then more.
    client.send(PADS, 200).await;
    world.rest().await;
    assert_eq!(world.listed(client.seat).unwrap().connected, 1);
    client.send(PADS, 1000).await;
    assert_eq!(client.closed().await, 4100);
}

#[tokio::test(start_paused = true)]
async fn frames_of_ones_own_and_broadcasts_keep_their_order() {
    let world = World::new(without_pings());
    let mut first = world.create(nothing()).await;
    let seat = world.seat(Method::JoinById, first.seat.room.as_str(), nothing()).await.unwrap();
    let mut second = world.connect(seat, None).await.unwrap();
    first.send(MIX, 0).await;
    first.send(MIX, 0).await;
    for (client, numbers) in [(&mut first, [1, 2, 5, 6]), (&mut second, [1, 3, 4, 5])] {
        assert_eq!(client.next().await.unwrap(), b"\x0d\xa7welcome\x01");
        for number in numbers.into_iter().chain(numbers) {
            assert_eq!(client.next().await.unwrap(), [b"\x0d\xa3mix".as_slice(), &[number]].concat());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_room_has_no_more_seats_than_the_server_allows() {
    let world = World::new(Config { max_clients_per_room: 3, ..without_pings() });
    let host = world.create(json!({ "seats": 100 })).await;
    let ask = || world.seat(Method::JoinById, host.seat.room.as_str(), nothing());
    assert_eq!([code(ask().await), code(ask().await), code(ask().await)], [200, 200, 522]);
    let listed = world.listed(host.seat).unwrap();
    assert_eq!((listed.clients, listed.max_clients, listed.locked), (3, 3, true));
}

// Field report U14.
#[tokio::test(start_paused = true)]
async fn a_server_has_no_more_rooms_than_it_allows() {
    let world = World::new(Config { max_rooms: 3, ..without_pings() });
    for _ in 0..3 {
        assert!(world.server.create("room", &nothing()).is_ok());
    }
    assert_eq!(world.server.create("room", &nothing()), Err(Refusal::at_capacity()));
    assert_eq!(code(world.seat(Method::Create, "room", nothing()).await), 503);
    assert_eq!(code(world.seat(Method::JoinOrCreate, "room", nothing()).await), 200, "one of the three");
    tokio::time::sleep(Duration::from_secs(16)).await;
    assert!(world.server.create("room", &nothing()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_answer_a_close_is_dropped_after_a_moment() {
    let world = World::new(without_pings());
    let mut client = world.create(nothing()).await;
    client.send(KICK, 0).await;
    world.rest().await;
    let sockets = || world.server.shared().sockets.len();
    let linger = Config::default().close_linger;
    tokio::time::sleep(linger - Duration::from_millis(10)).await;
    assert_eq!(sockets(), 1, "it may still answer");
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(sockets(), 0);
}
