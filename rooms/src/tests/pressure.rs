//! Rooms that are behind or stuck, clients that press on, and promises that nobody takes.

use super::*;
use crate::GroupRefused;
use crate::generation::Generation;
use crate::id::Token;
use crate::later::Patches;
use crate::mail::{Connect, Control, Mail, Ticket};
use crate::outbox::Outbox;
use crate::registry::Entry;
use crate::state::Knowledge;
use crate::tests::valve::Valve;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

/// Longer than anything here may take on the paused clock.
const LONG: Duration = Duration::from_secs(300);

/// A room that everybody finds and whose task never gets to its mail, which the test holds.
fn stuck(world: &World, mailbox: usize) -> (Arc<Entry>, mpsc::Receiver<Mail<u64>>) {
    let shared = world.server.shared();
    let (sender, mail) = mpsc::channel(mailbox);
    let kind = &shared.kinds["room"];
    let entry = shared.registry.entry(&kind.name, kind.filter(&nothing()), Box::new(sender), None);
    let listing = Listing { locked: false, max_clients: 10, ..Listing::clone(&entry.listing()) };
    entry.set_listing(Arc::new(listing));
    shared.registry.insert(&entry);
    shared.driver.put(entry.listing());
    (entry, mail)
}

fn seat_in(entry: &Entry) -> Seat {
    Seat { room: entry.id, session: SessionId::random() }
}

/// Answers the next socket as a room does.
async fn answer(mail: &mut mpsc::Receiver<Mail<u64>>) -> Arc<Outbox> {
    let Some(Mail::Control(Control::Connect(connect))) = mail.recv().await else { panic!("a socket") };
    connect.outbox.push(&[crate::Frame::join(&Token::random(), None).into_bytes()]);
    connect.answered.send(()).unwrap();
    connect.outbox
}

#[tokio::test(start_paused = true)]
async fn a_room_that_does_not_answer_is_passed_over_and_holds_up_nobody() {
    let world = World::new(without_pings());
    let (entry, mail) = stuck(&world, 8);
    let join = world.seat(Method::Join, "room", nothing());
    assert_eq!(code(timeout(LONG, join).await.expect("an answer")), 521);
    assert_eq!(mail.len(), 1);
    let start = Instant::now();
    for _ in 0..10 {
        assert_eq!(code(world.seat(Method::Join, "room", nothing()).await), 521);
    }
    assert_eq!((mail.len(), start.elapsed()), (1, Duration::ZERO), "nobody asks it again, or waits");
    let seat = world.seat(Method::JoinOrCreate, "room", nothing()).await.unwrap();
    assert_ne!(seat.room, entry.id);
    let by_id = world.seat(Method::JoinById, entry.id.as_str(), nothing());
    assert_eq!(timeout(LONG, by_id).await.expect("an answer").err(), Some(Refusal::room_busy()));
}

#[tokio::test(start_paused = true)]
async fn a_search_among_stuck_rooms_ends_in_time() {
    let limit = Duration::from_millis(3_500);
    let world = World::new(Config { search_timeout: limit, ..without_pings() });
    let rooms: Vec<_> = (0..10).map(|_| stuck(&world, 8)).collect();
    let asked = || rooms.iter().filter(|(_, mail)| !mail.is_empty()).count();
    let start = Instant::now();
    assert_eq!(world.seat(Method::Join, "room", nothing()).await.err(), Some(Refusal::search_ended()));
    assert_eq!((asked(), start.elapsed().as_secs()), (4, 3));
    let start = Instant::now();
    let made = world.seat(Method::JoinOrCreate, "room", nothing()).await.unwrap();
    assert!(rooms.iter().all(|(entry, _)| entry.id != made.room));
    assert_eq!((asked(), start.elapsed().as_secs()), (8, 3));
}

#[tokio::test(start_paused = true)]
async fn a_full_mailbox_does_not_hold_up_who_looks_for_a_room() {
    let world = World::new(without_pings());
    let (entry, _mail) = stuck(&world, 1);
    assert!(entry.link.try_send(Control::Shutdown).is_ok());
    let join = world.seat(Method::JoinOrCreate, "room", nothing());
    assert_ne!(timeout(LONG, join).await.expect("an answer").unwrap().room, entry.id);
}

#[tokio::test(start_paused = true)]
async fn a_room_that_answers_again_is_asked_again_and_keeps_no_seat_for_who_gave_up() {
    let world = World::new(without_pings());
    let host = world.create(nothing()).await;
    let entry = world.server.shared().registry.get(host.seat.room).unwrap();
    entry.set_silent(true);
    let (reply, _) = oneshot::channel();
    let space = world.server.shared().space_for(0).unwrap();
    let ticket = Ticket::new(nothing(), Box::new(()), space);
    assert!(entry.link.try_send(Control::Reserve { ticket, reply }).is_ok());
    world.rest().await;
    assert_eq!(world.listed(host.seat).unwrap().clients, 1);
    assert_eq!(world.seat(Method::Join, "room", nothing()).await.unwrap().room, entry.id);
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_its_room_does_not_answer_is_closed_in_time() {
    for full in [false, true] {
        let world = World::new(without_pings());
        let (entry, mut mail) = stuck(&world, 1);
        if full {
            assert!(entry.link.try_send(Control::Shutdown).is_ok());
        }
        let opened = timeout(LONG, world.open(seat_in(&entry), None)).await.expect("an end");
        assert_eq!(opened.err(), Some(4002));
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(world.server.counters().connections, 0);
        assert!(world.server.shared().sockets.is_empty());
        if let Some(Mail::Control(Control::Connect(connect))) = mail.recv().await {
            assert!(connect.answered.is_closed(), "the room sees that nobody waits");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_reaches_sockets_that_wait_for_a_stuck_room() {
    let world = World::new(without_pings());
    let (entry, _mail) = stuck(&world, 1);
    assert!(entry.link.try_send(Control::Shutdown).is_ok());
    let (opened, _) =
        tokio::join!(world.open(seat_in(&entry), None), world.server.shutdown(Duration::from_secs(1)));
    assert_eq!(opened.err(), Some(4001));
}

#[tokio::test(start_paused = true)]
async fn a_close_is_answered_while_the_mailbox_is_full() {
    let world = World::new(without_pings());
    let (entry, mut mail) = stuck(&world, 1);
    let (client, _) = tokio::join!(world.open(seat_in(&entry), None), answer(&mut mail));
    let mut client = client.unwrap();
    assert!(entry.link.try_send(Control::Shutdown).is_ok());
    client.socket.close(None).await.unwrap();
    assert_eq!(timeout(LONG, client.next()).await.expect("an answer"), Err(1005));
    mail.recv().await;
    let told = mail.recv().await;
    assert!(matches!(told, Some(Mail::Control(Control::Closed { reason: CloseReason::ByClient(1005), .. }))));
}

#[tokio::test(start_paused = true)]
async fn a_client_whose_message_waits_for_the_room_is_not_taken_for_silent() {
    let world = World::new(without_pings());
    let (entry, mut mail) = stuck(&world, 1);
    let (client, outbox) = tokio::join!(world.open(seat_in(&entry), None), answer(&mut mail));
    let mut client = client.unwrap();
    client.send(SAY, 1).await;
    client.send(SAY, 2).await;
    world.rest().await;
    assert!((0..10).all(|_| outbox.was_heard()), "the second waits, and what follows is not read");
    mail.recv().await;
    mail.recv().await;
    world.rest().await;
    // What was read before still counts, once.
    outbox.was_heard();
    assert!(!outbox.was_heard());
}

#[tokio::test(start_paused = true)]
async fn frames_without_content_count_against_the_limit_of_bytes() {
    let world = World::new(without_pings());
    let mut client = world.create(nothing()).await;
    let socket = client.socket.get_mut();
    socket.write_all(&[0x02, 0x80, 0, 0, 0, 0]).await.unwrap();
    let empty = [0x00, 0x80, 0, 0, 0, 0].repeat(1_000);
    for _ in 0..350 {
        // Once the server has closed the socket it may also be gone.
        let _ = socket.write_all(&empty).await;
    }
    assert_eq!(timeout(LONG, client.closed()).await.expect("an end"), 4002);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_slowly_is_a_sign_of_life() {
    let world = World::new(Config::default());
    let mut client = world.create(nothing()).await;
    for byte in [0x82, 0x83, 0, 0, 0, 0, wire::ROOM_DATA, 0, 1] {
        client.socket.get_mut().write_all(&[byte]).await.unwrap();
        tokio::time::sleep(Duration::from_secs(4)).await;
    }
    let session = client.seat.session;
    assert_eq!(world.heard(), [Heard::Join(session), Heard::Message(session, 1)]);
}

#[tokio::test(start_paused = true)]
async fn one_turn_may_send_a_fast_reader_more_than_a_queue_holds() {
    let world = World::new(Config { outbound_queue_bytes: 100_000, ..without_pings() });
    let seat = world.seat(Method::Create, "room", nothing()).await.unwrap();
    let ours = testing::pipe(&world.server, (seat.room, seat.session), None, 1 << 20);
    let socket = WebSocketStream::from_raw_socket(ours, Role::Client, None).await;
    let mut client = Client::greeted(socket, seat).await.unwrap();
    client.send_raw(vec![wire::JOIN_ROOM]).await;
    client.send(FLOOD, 500).await;
    assert_eq!(client.next().await.unwrap(), b"\x0d\xa7welcome\x01");
    for _ in 0..500 {
        assert!(client.next().await.unwrap().starts_with(b"\x11\xa5flood"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_came_in_time_is_not_late_because_its_room_is() {
    let world = World::new(without_pings());
    let seat = world.seat(Method::Create, "room", nothing()).await.unwrap();
    world.rest().await;
    let shared = world.server.shared();
    let entry = shared.registry.get(seat.room).unwrap();
    let (writer, _valve) = Valve::open(1000);
    let (answered, _answer) = oneshot::channel();
    let connect = Connect {
        session: seat.session,
        token: None,
        generation: Generation::V18,
        knows: Knowledge::Nothing,
        socket: shared.next_socket(),
        outbox: Arc::new(Outbox::new(writer)),
        answered,
    };
    let handle = lock(&world.rooms.handles)[0].clone();
    // More than one turn takes otherwise.
    for event in 0..200 {
        handle.try_post(event).unwrap();
    }
    assert!(entry.link.try_send(Control::Connect(Box::new(connect))).is_ok());
    // The room runs only after this.
    tokio::time::advance(world.server.config().seat_expiry * 2).await;
    world.rest().await;
    assert!(world.heard().contains(&Heard::Join(seat.session)));
}

#[tokio::test(start_paused = true)]
async fn every_promise_of_a_seat_ends_with_a_join_or_is_taken_back() {
    let world = World::new(without_pings());
    let room = json!({ "picky": true });
    let guests = [nothing(), nothing(), json!({ "unfit": true })].map(testing::guest);
    assert!(world.server.create_for("room", &room, guests.into()).await.is_err());
    world.rest().await;
    assert_eq!(*lock(&world.rooms.promised), 0, "a group that is refused");
    world.seat(Method::Create, "room", nothing()).await.unwrap();
    assert_eq!(*lock(&world.rooms.promised), 1);
    assert!(world.server.shutdown(Duration::from_secs(1)).await.is_empty());
    assert_eq!(*lock(&world.rooms.promised), 0, "a room that ends");
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_client_is_authorized_refuses_that_client() {
    let world = World::new(without_pings());
    let options = json!({ "auth": "panic" });
    assert_eq!(code(world.seat(Method::Create, "room", options.clone()).await), 523);
    let group = [nothing(), options].map(testing::guest).into();
    let refused = world.server.create_for("room", &nothing(), group).await.unwrap_err();
    assert_eq!(refused, GroupRefused { guest: Some(1), refusal: Refusal::failed() });
}

#[test]
fn a_patch_that_never_comes_is_no_fault() {
    let now = Instant::now();
    let mut patches = Patches::new(now);
    patches.set_interval(Duration::MAX);
    assert!(patches.schedule(now).is_some_and(|due| due > now));
}
