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

/// Messages answered in that time; more are read without an answer.
const MAX_ANSWERS: usize = 100;

/// The largest message of a probe, in bytes.
const MAX_MESSAGE: usize = 125;

/// Terminates a second after the start, when the client closes, or when the socket fails.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(io: S) {
    let config = WebSocketConfig::default()
        .read_buffer_size(512)
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
    let end = Instant::now() + LIFETIME;
    let mut answers = 0;
    while let Ok(Some(message)) = timeout_at(end, socket.next()).await {
        let Ok(Message::Binary(_) | Message::Text(_)) = message else {
            if message.is_err() {
                return;
            }
            continue;
        };
        answers += 1;
        if answers <= MAX_ANSWERS && socket.send(Message::Binary(vec![wire::PING].into())).await.is_err() {
            return;
        }
    }
    let code = CloseCode::from(CloseReason::Normal.code());
    let frame = CloseFrame { code, reason: CloseReason::Normal.label().into() };
    // The client is gone or hears it; there is nothing more to do either way.
    let _ = timeout(LIFETIME, socket.close(Some(frame))).await;
}
