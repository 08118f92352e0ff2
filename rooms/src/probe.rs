//! The latency probe: a socket without a room, which clients use to choose the nearest server.

use crate::close::CloseReason;
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig};

use crate::wire;

/// How long a probe may last.
const LIFETIME: Duration = Duration::from_secs(1);

/// Messages in that time, pings and the like counted. After the last the probe is over.
const MAX_MESSAGES: usize = 100;

/// The largest message of a probe, in bytes.
const MAX_MESSAGE: usize = 125;

/// Terminates a second after the start, after [`MAX_MESSAGES`], when the client closes, or when the socket fails.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(io: S) {
    let config = WebSocketConfig::default()
        .read_buffer_size(512)
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
    let end = Instant::now() + LIFETIME;
    for _ in 0..MAX_MESSAGES {
        let Ok(next) = timeout_at(end, socket.next()).await else { break };
        let Some(Ok(message)) = next else { return };
        let asks = matches!(message, Message::Binary(_) | Message::Text(_));
        if asks && !matches!(timeout_at(end, socket.send(answer())).await, Ok(Ok(()))) {
            return;
        }
    }
    let code = CloseCode::from(CloseReason::Normal.code());
    let frame = CloseFrame { code, reason: CloseReason::Normal.label().into() };
    // The client is gone or hears it; there is nothing more to do either way.
    let _ = timeout(LIFETIME, socket.close(Some(frame))).await;
}

fn answer() -> Message {
    Message::Binary(vec![wire::PING].into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::DuplexStream;

    async fn probing() -> WebSocketStream<DuplexStream> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(serve(theirs));
        WebSocketStream::from_raw_socket(ours, Role::Client, None).await
    }

    /// What a client gets up to the close, whose code comes with it.
    async fn rest(client: &mut WebSocketStream<DuplexStream>) -> (usize, u16) {
        let mut answers = 0;
        loop {
            match client.next().await {
                Some(Ok(Message::Binary(answer))) if *answer == [wire::PING] => answers += 1,
                Some(Ok(Message::Close(Some(close)))) => return (answers, close.code.into()),
                other => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_ends_the_probe_after_so_many_messages() {
        let mut client = probing().await;
        let start = Instant::now();
        for _ in 0..MAX_MESSAGES + 50 {
            client.feed(Message::Binary(vec![1].into())).await.unwrap();
        }
        client.flush().await.unwrap();
        assert_eq!(rest(&mut client).await, (MAX_MESSAGES, 1000));
        assert!(start.elapsed() < LIFETIME);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_little_is_let_go_in_time() {
        let mut client = probing().await;
        let start = Instant::now();
        client.send(Message::Text("now".into())).await.unwrap();
        assert_eq!(rest(&mut client).await, (1, 1000));
        assert_eq!(start.elapsed().as_secs(), LIFETIME.as_secs());
    }
}
