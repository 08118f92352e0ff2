//! The client against a real room server over real sockets.

use crate::support::{Host, TOKEN, expect_close, expect_message};
use playerthree_client::{Client, Config, Elsewhere, Error, Event, Method};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_joined_client_is_greeted_and_leaves_with_consent() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut room = host.client()?.create("open", &json!({ "name": "ada" })).await?;
    assert_eq!(expect_message(&mut room, "welcome").await?.decode::<String>()?, "ada");
    assert!(
        !room.room_id().is_empty() && !room.session_id().is_empty() && !room.reconnection_token().is_empty()
    );
    assert_eq!(room.leave().await?, 4000);
    Ok(())
}

#[tokio::test]
async fn messages_reach_everybody_with_their_types_and_payloads() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let client = host.client()?;
    let mut one = client.create("open", &json!({})).await?;
    let mut two = client.join_by_id(one.room_id(), &json!({})).await?;
    for room in [&mut one, &mut two] {
        expect_message(room, "welcome").await?;
    }
    let said = json!({ "text": "hé", "list": [1, -1, 1.5, true, null], "wide": 9_007_199_254_740_991_u64 });
    one.send("say", &said).await?;
    for room in [&mut one, &mut two] {
        assert_eq!(expect_message(room, "say").await?.json()?, said);
    }
    two.signal("nothing").await?;
    expect_message(&mut two, "nothing").await?.decode::<()>()?;
    two.send_bytes("raw", &[0, 255]).await?;
    assert_eq!(
        two.next().await,
        Event::Bytes { kind: crate::support::kind("raw"), bytes: vec![0, 255].into() }
    );
    two.send_numbered(300, &()).await?;
    let Event::Message { kind, payload } = two.next().await else { anyhow::bail!("no message") };
    assert_eq!((kind.number(), payload.decode::<u32>()?), (Some(300), 300));
    let traffic = two.traffic();
    // The acknowledgement and three messages out; handshake, welcome, say, nothing, raw and 300 in.
    assert_eq!((traffic.sent, traffic.received), (4, 6));
    Ok(())
}

#[tokio::test]
async fn every_way_of_matchmaking_ends_in_the_right_room() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let client = host.client()?;
    assert_eq!(client.join("open", &json!({})).await.unwrap_err().number(), Some(521), "nothing to join");
    let first = client.join_or_create("open", &json!({})).await?;
    let joined = client.join("open", &json!({})).await?;
    let again = client.join_or_create("open", &json!({})).await?;
    let by_id = client.join_by_id(first.room_id(), &json!({})).await?;
    let other = client.create("open", &json!({})).await?;
    for room in [&joined, &again, &by_id] {
        assert_eq!(room.room_id(), first.room_id());
    }
    assert_ne!(other.room_id(), first.room_id());
    Ok(())
}

#[tokio::test]
async fn a_refused_join_says_which_code() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let client = host.client()?;
    let full = client.create("open", &json!({ "seats": 1 })).await?;
    let number = |result: playerthree_client::Result<_>| result.map(|_| ()).unwrap_err().number();
    assert_eq!(number(client.join_by_id(full.room_id(), &json!({})).await), Some(522), "a full room");
    assert_eq!(number(client.join_by_id("nowhere00", &json!({})).await), Some(522), "no such room");
    assert_eq!(number(client.create("no such kind/..", &json!({})).await), Some(520), "no such kind");
    // The room itself refuses, after the upgrade, with an ERROR frame.
    assert_eq!(number(client.create("open", &json!({ "unwelcome": true })).await), Some(4999));
    Ok(())
}

#[tokio::test]
async fn only_the_right_token_opens_a_guarded_room() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let client = host.client()?;
    for client in [client.clone(), client.with_token("wrong")?] {
        assert_eq!(client.create("guarded", &json!({})).await.unwrap_err().number(), Some(525));
    }
    client.with_token(TOKEN)?.create("guarded", &json!({})).await?;
    Ok(())
}

#[tokio::test]
async fn a_seat_serves_once() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let client = host.client()?;
    let seat = client.reserve(Method::Create, "open", &json!({})).await?;
    let _room = client.consume(&seat).await?;
    let Err(Error::Refused { code: 524, .. }) = client.consume(&seat).await else {
        anyhow::bail!("served twice")
    };
    Ok(())
}

#[tokio::test]
async fn a_kick_closes_with_its_code_and_stays_closed() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut room = host.client()?.create("open", &json!({})).await?;
    room.signal("kick").await?;
    assert_eq!(expect_close(&mut room).await?, 4321);
    assert_eq!(room.next().await, Event::Closed { code: 4321 });
    assert_eq!(room.signal("nothing").await.unwrap_err().number(), Some(4321));
    assert_eq!(room.leave().await.unwrap_err().number(), Some(4321));
    Ok(())
}

#[tokio::test]
async fn an_unknown_message_closes_4002_and_an_oversized_one_1009() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut room = host.client()?.create("open", &json!({})).await?;
    room.signal("unheard of").await?;
    assert_eq!(expect_close(&mut room).await?, 4002);
    let mut room = host.client()?.create("open", &json!({})).await?;
    room.send_bytes("raw", &[0; 5000]).await?;
    assert_eq!(expect_close(&mut room).await?, 1009);
    Ok(())
}

#[tokio::test]
async fn the_end_of_the_room_and_of_the_server_are_told_apart() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut ended = host.client()?.create("open", &json!({})).await?;
    ended.signal("end").await?;
    assert_eq!(expect_close(&mut ended).await?, 4000);
    let mut room = host.client()?.create("open", &json!({})).await?;
    // The close is answered while the room is read, so reading goes on beside the shutdown.
    let (stragglers, code) =
        tokio::join!(host.server.shutdown(Duration::from_secs(10)), expect_close(&mut room));
    assert_eq!(code?, 4001);
    assert!(stragglers.is_empty());
    assert_eq!(host.client()?.create("open", &json!({})).await.unwrap_err().number(), Some(503));
    Ok(())
}

fn small() -> Config {
    let mut config = Config::default();
    config.max_message_bytes = 1000;
    config
}

#[tokio::test]
async fn a_message_beyond_the_clients_own_bound_closes_1009() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut room = Client::with_config(&host.url, small())?.create("open", &json!({})).await?;
    expect_message(&mut room, "welcome").await?;
    room.send("big", &900).await?;
    expect_message(&mut room, "big").await?;
    room.send("big", &1001).await?;
    assert_eq!(room.next().await, Event::Closed { code: 1009 });
    Ok(())
}

#[tokio::test]
async fn a_message_beyond_what_may_queue_is_refused() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut config = Config::default();
    config.max_queued_bytes = 10_000;
    let mut room = Client::with_config(&host.url, config)?.create("open", &json!({})).await?;
    assert_eq!(room.send_bytes("raw", &[0; 20_000]).await.unwrap_err().code(), "too_large");
    Ok(())
}

#[tokio::test]
async fn an_absent_server_is_an_error_of_the_connection() -> anyhow::Result<()> {
    // The port was free a moment ago, and nothing listens there now.
    let port = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?.local_addr()?.port();
    let client = Client::new(&format!("ws://127.0.0.1:{port}"))?;
    assert_eq!(client.create("open", &json!({})).await.unwrap_err().code(), "connect");
    Ok(())
}

#[tokio::test]
async fn a_seat_elsewhere_is_refused_where_that_is_asked() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut config = Config::default();
    config.elsewhere = Elsewhere::Refuse;
    let client = Client::with_config(&host.url, config)?;
    let mut seat = client.reserve(Method::Create, "open", &json!({})).await?;
    seat.public_address = Some(host.url.trim_start_matches("http://").to_owned());
    assert_eq!(client.consume(&seat).await.unwrap_err().code(), "elsewhere");
    host.client()?.consume(&seat).await?;
    Ok(())
}
