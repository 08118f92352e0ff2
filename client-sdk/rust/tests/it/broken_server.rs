//! The client against servers that break the protocol: each ends with a closed code, none with a hang or a panic.

use playerthree_client::{Client, Config, Event};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;

const SEAT: &str = r#"{"sessionId":"s","roomId":"r","processId":"p"}"#;

/// A server that answers the first connection with `http`, and greets the second with `frames`.
async fn serve(http: String, frames: Vec<Vec<u8>>) -> anyhow::Result<Client> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let mut config = Config::default();
    config.timeout = Duration::from_millis(300);
    config.max_answer_bytes = 1000;
    let client = Client::with_config(&format!("http://{}", listener.local_addr()?), config)?;
    tokio::spawn(async move {
        let (mut matchmaker, _) = listener.accept().await?;
        read_head(&mut matchmaker).await?;
        matchmaker.write_all(http.as_bytes()).await?;
        let (socket, _) = listener.accept().await?;
        let mut socket = tokio_tungstenite::accept_async(socket).await?;
        for frame in frames {
            futures_util::SinkExt::send(&mut socket, Message::binary(frame)).await?;
        }
        // Both connections stay open and say nothing more.
        std::future::pending::<()>().await;
        drop(matchmaker);
        anyhow::Ok(())
    });
    Ok(client)
}

async fn read_head(stream: &mut TcpStream) -> anyhow::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        anyhow::ensure!(stream.read_buf(&mut head).await? > 0, "closed in the head");
    }
    Ok(())
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

async fn code_of(http: String, frames: Vec<Vec<u8>>) -> anyhow::Result<&'static str> {
    Ok(serve(http, frames).await?.create("room", &json!({})).await.unwrap_err().code())
}

#[tokio::test]
async fn answers_that_are_no_matchmaking_end_with_a_code() -> anyhow::Result<()> {
    for (http, code) in [
        ("SMTP ready\r\n\r\n".to_owned(), "http"),
        (ok("hello"), "answer"),
        (ok(""), "answer"),
        (ok(&"x".repeat(1001)), "too_large"),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(), "refused"),
        // Never finished.
        ("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_owned(), "timeout"),
        (String::new(), "timeout"),
    ] {
        assert_eq!(code_of(http.clone(), vec![]).await?, code, "{http}");
    }
    Ok(())
}

#[tokio::test]
async fn handshakes_that_break_the_protocol_end_with_a_code() -> anyhow::Result<()> {
    assert_eq!(code_of(ok(SEAT), vec![]).await?, "timeout", "no handshake");
    assert_eq!(code_of(ok(SEAT), vec![vec![0x0a, 0x09, 0x78]]).await?, "closed", "cut off");
    Ok(())
}

#[tokio::test]
async fn a_malformed_frame_closes_1002_and_an_unknown_one_is_skipped() -> anyhow::Result<()> {
    let handshake = b"\x0a\x01t\x04none".to_vec();
    let frames = vec![handshake, vec![0x1e, 1, 2], vec![], vec![0x0d, 0x07, 0x2a], vec![0x0d, 0xa0]];
    let mut room = serve(ok(SEAT), frames).await?.create("room", &json!({})).await?;
    let Event::Message { kind, payload } = room.next().await else { anyhow::bail!("no message") };
    assert_eq!((kind.number(), payload.decode::<u8>()?), (Some(7), 42));
    assert_eq!(room.next().await, Event::Closed { code: 1002 });
    assert_eq!(room.next().await, Event::Closed { code: 1002 });
    Ok(())
}
