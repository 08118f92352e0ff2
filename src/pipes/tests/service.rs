//! Inboxes: order, durability, attribution, pairing, bounds and what survives a restart.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has nothing else to do")]

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::Table;
use playerthree_pipes::verify::{Request, verify};
use playerthree_pipes::{
    InboxKind, Incoming, Listing, PairingCode, PipesError, Proof, Rate, Redeemed, SeatOffer,
};
use serde_json::Value;

fn body(text: &str) -> Incoming {
    Incoming { body: Bytes::copy_from_slice(text.as_bytes()), ..Incoming::default() }
}

fn signed(text: &str, key: &str) -> Incoming {
    Incoming { signature: Some(signature(key, text)), ..body(text) }
}

/// HMAC-SHA256 in lowercase hex, as a client computes it.
fn signature(key: &str, text: &str) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = <Hmac<sha2::Sha256> as KeyInit>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn row(bytes: &Bytes) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn timestamp(ms: u64) -> String {
    let seconds = (ms - common::NOON_MS) / 1000;
    format!("2026-01-05T{:02}:{:02}:{:02}.000Z", 10 + seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn prove(table: &Table, code: &PairingCode) -> Proof {
    code.prove("nonce", &timestamp(table.now_ms()))
}

async fn seat(table: &Table, host_token: &str) -> Redeemed {
    let host = table.pipes.host(host_token).await.unwrap();
    let code = table.pipes.mint_seat(&host, SeatOffer::default()).await.unwrap();
    table.pipes.redeem(prove(table, &code), None).await.unwrap()
}

#[tokio::test]
async fn bodies_are_kept_byte_for_byte_and_numbered_without_gaps() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    let texts = ["", " {\"a\": 1.0}\n", "\u{202e}é😀", "not json"];
    for (at, text) in texts.iter().enumerate() {
        assert_eq!(table.pipes.post(&writer, body(text)).await.unwrap().seq, at as u64 + 1);
    }
    let binary = Incoming { body: Bytes::from_static(&[0xff, 0x00, 0xfe]), ..Incoming::default() };
    table.pipes.post(&writer, binary).await.unwrap();
    let page = opened.inbox.list(Listing::default()).await.unwrap();
    for (at, text) in texts.iter().enumerate() {
        assert_eq!(row(&page.rows[at])["Body"], *text);
    }
    assert_eq!(row(&page.rows[4])["BodyEncoding"], "base64");
    assert_eq!(row(&page.rows[4])["Body"], "/wD+");
    assert_eq!((page.total, page.next), (5, 5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_concurrent_posts_are_all_there_in_one_order() {
    let table = Table::with(|limits| {
        limits.post_rate = Rate { per_second: 1, burst: 10_000 };
        limits.page_rows = 2000;
        limits.mailbox = 2000;
    });
    let opened = table.pipes.open_inbox(InboxKind::Signed).await.unwrap();
    let key = opened.host_seat.as_ref().unwrap().signing_key.clone();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    let posts: Vec<_> = (0..1000)
        .map(|n| {
            let (pipes, writer, post) = (table.pipes.clone(), writer.clone(), signed(&n.to_string(), &key));
            tokio::spawn(async move { (n, pipes.post(&writer, post).await.unwrap()) })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for post in posts {
        acknowledged.push(post.await.unwrap());
    }
    let page = opened.inbox.list(Listing::default()).await.unwrap();
    assert_eq!(page.rows.len(), 1000);
    for (n, posted) in acknowledged {
        let row = row(&page.rows[usize::try_from(posted.seq).unwrap() - 1]);
        assert_eq!(
            (row["Seq"].as_u64(), row["Body"].as_str()),
            (Some(posted.seq), Some(n.to_string().as_str()))
        );
        assert_eq!(row["Id"], posted.capture_id);
    }
}

#[tokio::test]
async fn a_signed_inbox_stores_nothing_without_a_live_key() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Signed).await.unwrap();
    let host = opened.host_seat.clone().unwrap();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    let forged =
        [body("x"), signed("x", "pk_other"), Incoming { body: "y".into(), ..signed("x", &host.signing_key) }];
    for post in forged {
        assert_eq!(table.pipes.post(&writer, post).await, Err(PipesError::Unsigned));
    }
    assert_eq!(opened.inbox.head(), 0);
    table.pipes.post(&writer, signed("x", &host.signing_key)).await.unwrap();
    let page = opened.inbox.list(Listing::default()).await.unwrap();
    assert_eq!(row(&page.rows[0])["MatchedSigningRef"], host.seat_ref);
    assert_eq!(row(&page.rows[0])["MatchedSignerLabel"], "Host");
}

#[tokio::test]
async fn a_guest_has_a_key_of_its_own_until_it_is_rotated_or_revoked() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Signed).await.unwrap();
    let guest = seat(&table, opened.host_token.reveal()).await;
    assert_ne!(guest.seat.signing_key, opened.host_seat.as_ref().unwrap().signing_key);
    let writer = table.pipes.writer(guest.seat_token.reveal()).await.unwrap();
    table.pipes.post(&writer, signed("one", &guest.seat.signing_key)).await.unwrap();

    let owner = table.pipes.seat(guest.seat_token.reveal()).await.unwrap();
    let rotated = table.pipes.rotate(&owner).await.unwrap();
    assert_eq!(rotated.seat_ref, guest.seat.seat_ref);
    let old = table.pipes.post(&writer, signed("two", &guest.seat.signing_key)).await;
    assert_eq!(old, Err(PipesError::Unsigned));
    table.pipes.post(&writer, signed("two", &rotated.signing_key)).await.unwrap();

    let host = table.pipes.host(opened.host_token.reveal()).await.unwrap();
    table.pipes.revoke(&host, &guest.seat.seat_ref).await.unwrap();
    assert_eq!(
        table.pipes.post(&writer, signed("three", &rotated.signing_key)).await,
        Err(PipesError::Unsigned)
    );
    assert_eq!(table.pipes.writer(guest.seat_token.reveal()).await.unwrap_err(), PipesError::NotFound);
    assert_eq!(table.pipes.reader(guest.seat_token.reveal()).await.unwrap_err(), PipesError::NotFound);
    let own = opened.host_seat.as_ref().unwrap().seat_ref.clone();
    assert_eq!(table.pipes.revoke(&host, &own).await, Err(PipesError::NotFound));
    let page = opened.inbox.list(Listing::default()).await.unwrap();
    assert!(page.rows.iter().all(|bytes| row(bytes)["MatchedSigningRef"] == guest.seat.seat_ref));
}

#[tokio::test]
async fn a_seat_ends_with_its_time() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Signed).await.unwrap();
    let guest = seat(&table, opened.host_token.reveal()).await;
    let writer = table.pipes.writer(guest.seat_token.reveal()).await.unwrap();
    table.pass_ms(24 * 3_600_000 - 1);
    table.pipes.post(&writer, signed("x", &guest.seat.signing_key)).await.unwrap();
    table.pass_ms(1);
    assert_eq!(
        table.pipes.post(&writer, signed("y", &guest.seat.signing_key)).await,
        Err(PipesError::Unsigned)
    );
}

#[tokio::test]
async fn a_code_is_spent_by_success_alone_and_burned_by_five_failures() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Signed).await.unwrap();
    let host = table.pipes.host(opened.host_token.reveal()).await.unwrap();
    let code = table.pipes.mint_seat(&host, SeatOffer::default()).await.unwrap();
    let stale = code.prove("nonce", &timestamp(table.now_ms() + 3_600_000));
    assert_eq!(table.pipes.redeem(stale, None).await.unwrap_err(), PipesError::StaleProof);
    let wrong = Proof { proof: "0".repeat(64), ..prove(&table, &code) };
    for _ in 0..4 {
        assert_eq!(table.pipes.redeem(wrong.clone(), None).await.unwrap_err(), PipesError::NotFound);
    }
    table.pipes.redeem(prove(&table, &code), None).await.unwrap();
    assert_eq!(table.pipes.redeem(prove(&table, &code), None).await.unwrap_err(), PipesError::NotFound);

    let burned = table.pipes.mint_seat(&host, SeatOffer::default()).await.unwrap();
    for _ in 0..5 {
        let wrong = Proof { proof: "0".repeat(64), ..prove(&table, &burned) };
        assert_eq!(table.pipes.redeem(wrong, None).await.unwrap_err(), PipesError::NotFound);
    }
    assert_eq!(table.pipes.redeem(prove(&table, &burned), None).await.unwrap_err(), PipesError::NotFound);

    let late = table.pipes.mint_seat(&host, SeatOffer::default()).await.unwrap();
    table.pass_ms(10 * 60_000);
    assert_eq!(table.pipes.redeem(prove(&table, &late), None).await.unwrap_err(), PipesError::CodeExpired);
}

#[tokio::test]
async fn offers_outside_their_bounds_and_seats_past_the_table_are_refused() {
    let table = Table::with(|limits| limits.seats = 2);
    let opened = table.pipes.open_inbox(InboxKind::Signed).await.unwrap();
    let host = table.pipes.host(opened.host_token.reveal()).await.unwrap();
    let usual = SeatOffer::default;
    let bad = [
        SeatOffer { label: " ".to_owned(), ..usual() },
        SeatOffer { label: "x".repeat(65), ..usual() },
        SeatOffer { label: "a\nb".to_owned(), ..usual() },
        SeatOffer { seat_hours: 0, ..usual() },
        SeatOffer { seat_hours: 169, ..usual() },
        SeatOffer { code_minutes: 0, ..usual() },
        SeatOffer { code_minutes: 1441, ..usual() },
    ];
    for offer in bad {
        assert_eq!(table.pipes.mint_seat(&host, offer).await.unwrap_err(), PipesError::BadRequest);
    }
    let [one, two] = [usual(), usual()].map(|offer| table.pipes.mint_seat(&host, offer));
    let (one, two) = (one.await.unwrap(), two.await.unwrap());
    table.pipes.redeem(prove(&table, &one), None).await.unwrap();
    assert_eq!(table.pipes.redeem(prove(&table, &two), None).await.unwrap_err(), PipesError::Full);
    let anonymous = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let host = table.pipes.host(anonymous.host_token.reveal()).await.unwrap();
    assert_eq!(table.pipes.mint_seat(&host, usual()).await.unwrap_err(), PipesError::NotSigned);
}

#[tokio::test]
async fn capabilities_open_what_they_are_for_and_nothing_else() {
    let table = Table::new();
    let one = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let other = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let (capture, read) = (one.capture_token.reveal(), one.read_token.reveal());
    assert!(table.pipes.writer(capture).await.is_ok());
    assert!(table.pipes.reader(read).await.is_ok());
    assert_eq!(table.pipes.writer(read).await.unwrap_err(), PipesError::NotFound);
    assert_eq!(table.pipes.reader(capture).await.unwrap_err(), PipesError::NotFound);
    assert_eq!(table.pipes.host(read).await.unwrap_err(), PipesError::NotFound);
    let secret = capture.split_once('.').unwrap().1;
    for token in
        [format!("{}.{secret}", other.inbox.id()), String::new(), "..".to_owned(), "../x.y".to_owned()]
    {
        assert_eq!(table.pipes.writer(&token).await.unwrap_err(), PipesError::NotFound);
    }
}

#[tokio::test]
async fn bodies_rates_and_counts_are_bounded() {
    let table = Table::with(|limits| {
        limits.body_bytes = 10;
        limits.anonymous_captures = 4;
        limits.post_rate = Rate { per_second: 1, burst: 3 };
    });
    let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    assert_eq!(table.pipes.post(&writer, body("12345678901")).await, Err(PipesError::TooLarge));
    for _ in 0..3 {
        table.pipes.post(&writer, body("1234567890")).await.unwrap();
    }
    let refused = table.pipes.post(&writer, body("x")).await;
    assert_eq!(refused, Err(PipesError::RateLimited { retry_after_s: 1 }));
    table.pass_ms(2000);
    table.pipes.post(&writer, body("x")).await.unwrap();
    assert_eq!(table.pipes.post(&writer, body("x")).await, Err(PipesError::InboxFull));
    assert_eq!(opened.inbox.head(), 4);
}

#[tokio::test]
async fn an_expired_inbox_is_gone_with_its_files() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    table.pipes.post(&writer, body("x")).await.unwrap();
    let files = || {
        std::fs::read_dir(table.dir.path()).unwrap().filter(|file| {
            file.as_ref().unwrap().file_name().to_string_lossy().starts_with(opened.inbox.id())
        })
    };
    assert_eq!(files().count(), 2);
    table.pass_ms(24 * 3_600_000);
    assert_eq!(table.pipes.post(&writer, body("x")).await, Err(PipesError::NotFound));
    assert_eq!(table.pipes.reader(opened.read_token.reveal()).await.unwrap_err(), PipesError::NotFound);
    assert_eq!(opened.inbox.list(Listing::default()).await.unwrap_err(), PipesError::NotFound);
    table.pipes.sweep().unwrap();
    assert_eq!(files().count(), 0);
}

#[tokio::test]
async fn a_feed_ends_with_its_inbox() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let mut feed = opened.inbox.feed(0);
    let waiting = tokio::spawn(async move { feed.next().await });
    tokio::task::yield_now().await;
    table.pass_ms(24 * 3_600_000);
    table.pipes.sweep().unwrap();
    assert_eq!(waiting.await.unwrap().unwrap_err(), PipesError::NotFound);
}

#[tokio::test]
async fn inboxes_are_bounded_and_idle_ones_make_room() {
    let table = Table::with(|limits| {
        limits.inboxes = 3;
        limits.open_inboxes = 1;
    });
    let mut tokens = Vec::new();
    for n in 0..3 {
        let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
        let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
        table.pipes.post(&writer, body(&n.to_string())).await.unwrap();
        tokens.push(opened.read_token.reveal().to_owned());
    }
    assert_eq!(table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap_err(), PipesError::Full);
    for (n, token) in tokens.iter().enumerate() {
        let inbox = table.pipes.reader(token).await.unwrap();
        assert_eq!(row(&inbox.list(Listing::default()).await.unwrap().rows[0])["Body"], n.to_string());
    }
    let _kept = table.pipes.reader(&tokens[0]).await.unwrap();
    let busy = table.pipes.reader(&tokens[1]).await.unwrap_err();
    assert_eq!(busy, PipesError::RateLimited { retry_after_s: 1 });
}

#[tokio::test]
async fn a_restart_keeps_rows_seats_keys_codes_and_repeated_posts() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Signed).await.unwrap();
    let guest = seat(&table, opened.host_token.reveal()).await;
    let host = table.pipes.host(opened.host_token.reveal()).await.unwrap();
    let code = table.pipes.mint_seat(&host, SeatOffer::default()).await.unwrap();
    let writer = table.pipes.writer(guest.seat_token.reveal()).await.unwrap();
    let post = Incoming { idempotency_key: Some("k".to_owned()), ..signed("x", &guest.seat.signing_key) };
    let first = table.pipes.post(&writer, post.clone()).await.unwrap();
    assert_eq!(table.pipes.post(&writer, post.clone()).await.unwrap(), first);
    let (token, read) = (guest.seat_token.clone(), opened.read_token.clone());
    drop((host, writer, opened, guest));

    let table = table.restart();
    let inbox = table.pipes.reader(read.reveal()).await.unwrap();
    assert_eq!((inbox.head(), inbox.roster().len()), (1, 2));
    let writer = table.pipes.writer(token.reveal()).await.unwrap();
    assert_eq!(table.pipes.post(&writer, post.clone()).await.unwrap(), first);
    assert_eq!(table.pipes.post(&writer, Incoming { idempotency_key: None, ..post }).await.unwrap().seq, 2);
    table.pipes.redeem(prove(&table, &code), None).await.unwrap();
}

#[tokio::test]
async fn no_secret_is_written_to_the_disk() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Signed).await.unwrap();
    let guest = seat(&table, opened.host_token.reveal()).await;
    let host = table.pipes.host(opened.host_token.reveal()).await.unwrap();
    let code = table.pipes.mint_seat(&host, SeatOffer::default()).await.unwrap();
    let secrets = [
        opened.capture_token.reveal(),
        opened.read_token.reveal(),
        opened.host_token.reveal(),
        guest.seat_token.reveal(),
        &guest.seat.signing_key,
        &opened.host_seat.as_ref().unwrap().signing_key,
        code.reveal(),
    ];
    for file in std::fs::read_dir(table.dir.path()).unwrap() {
        let text = String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()).into_owned();
        assert!(secrets.iter().all(|secret| !text.contains(*secret)));
    }
    let shown = format!("{opened:?} {guest:?} {code:?} {:?}", table.pipes);
    assert!(secrets.iter().all(|secret| !shown.contains(*secret)));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_listing_answers_with_the_first_new_row_or_keeps_its_cursor() {
    let table = Table::with(|limits| limits.waiters = 1);
    let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    let empty = opened
        .inbox
        .wait(Listing { after: 7, ..Listing::default() }, Duration::from_secs(3600))
        .await
        .unwrap();
    assert_eq!((empty.rows.len(), empty.next), (0, 7));

    let inbox = opened.inbox.clone();
    let waiting = tokio::spawn(async move { inbox.wait(Listing::default(), Duration::from_secs(20)).await });
    tokio::task::yield_now().await;
    let second = opened.inbox.wait(Listing::default(), Duration::from_secs(20)).await;
    assert!(matches!(second, Err(PipesError::RateLimited { .. })) || waiting.is_finished());
    table.pipes.post(&writer, body("x")).await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().rows.len(), 1);
}

#[tokio::test]
async fn a_feed_hands_out_each_row_once_and_in_order_from_any_cursor() {
    let table = Table::with(|limits| limits.post_rate = Rate { per_second: 1, burst: 1000 });
    let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    let mut feed = opened.inbox.feed(0);
    let mut late = opened.inbox.feed(150);
    let posts = async {
        for n in 1..=200 {
            table.pipes.post(&writer, body(&n.to_string())).await.unwrap();
        }
    };
    let reads = async {
        let mut seen = Vec::new();
        while seen.len() < 200 {
            seen.extend(feed.next().await.unwrap().iter().map(|bytes| row(bytes)["Seq"].as_u64().unwrap()));
        }
        seen
    };
    let (seen, ()) = tokio::join!(reads, posts);
    assert_eq!(seen, (1..=200).collect::<Vec<_>>());
    assert_eq!(row(&late.next().await.unwrap()[0])["Seq"], 151);
}

#[tokio::test]
async fn listings_are_paged_by_count_and_bytes_and_filtered_by_game() {
    let table = Table::with(|limits| {
        limits.page_rows = 3;
        limits.page_bytes = 900;
    });
    let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    let large = format!("{{\"game\":\"b\",\"seq\":1,\"pad\":\"{}\"}}", "x".repeat(1000));
    for text in [
        "{\"game\":\"a\",\"seq\":0}",
        "chat",
        "{\"game\":\"a\",\"seq\":1}",
        &large,
        "{\"game\":\"a\",\"seq\":2}",
    ] {
        table.pipes.post(&writer, body(text)).await.unwrap();
    }
    let first = opened.inbox.list(Listing::default()).await.unwrap();
    assert_eq!((first.rows.len(), first.next), (3, 3));
    let second = opened.inbox.list(Listing { after: 3, ..Listing::default() }).await.unwrap();
    assert_eq!((second.rows.len(), second.next), (1, 4), "one row past the bound is listed alone");
    let game = opened.inbox.list(Listing { game: Some("a".to_owned()), ..Listing::default() }).await.unwrap();
    assert_eq!(
        game.rows.iter().map(|bytes| row(bytes)["Seq"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 3, 5]
    );
}

#[tokio::test]
async fn the_stores_own_file_verifies_offline() {
    let table = Table::new();
    let opened = table.pipes.open_inbox(InboxKind::Anonymous).await.unwrap();
    let writer = table.pipes.writer(opened.capture_token.reveal()).await.unwrap();
    let mut script = common::Script::new("g", 3, 3, 3);
    for (row, col) in [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)] {
        script.place(row, col, None);
    }
    for text in &script.bodies {
        table.pipes.post(&writer, body(text)).await.unwrap();
    }
    let file = std::fs::File::open(table.dir.path().join(format!("{}.jsonl", opened.inbox.id()))).unwrap();
    let report = verify(file, Request::default()).unwrap().to_json();
    assert_eq!((&report["verdict"]["ok"], &report["games"][0]["winner"]), (&true.into(), &"X".into()));
}
