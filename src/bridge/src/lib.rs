//! A client that speaks MCP over standard input and output plays at an endpoint that speaks it over HTTP (§2, §20): one
//! process, one client, one credential.
//!
//! The bridge decides nothing about a game: it carries messages whole, both ways. It answers for the endpoint only what
//! must not touch a seat (`server/discover`, §20), shows its token to the endpoint alone, and lets nothing through to the
//! client but the answer to a request and the notifications that belong to one. It keeps nothing after it ends.

mod channel;
mod discovery;
mod envelope;
mod fault;
mod forward;
mod inflow;
mod remote;
mod seat;
mod session;
mod waits;

pub use remote::BadEndpoint;

use crate::forward::Bridge;
use crate::remote::Remote;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// Longest message of a client, and of the endpoint's own bound (§15), in bytes.
pub const MESSAGE_BYTES: usize = 1_048_576;

/// Messages that may wait for a client that reads slowly. Past it requests wait at the endpoint.
const WAITING_MESSAGES: usize = 64;

/// Whether the client is woken by channel notifications (§17 "Wake channels").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// It asks by itself.
    Never,
    /// It is sent `notifications/claude/channel`.
    Channel,
}

/// Where to forward to, and as whom.
#[derive(Debug)]
pub struct Config {
    remote: Remote,
    wake: Wake,
}

impl Config {
    /// An endpoint, such as `https://game.example/mcp`, and a seat, commander or access token for it.
    ///
    /// # Errors
    /// [`BadEndpoint`] when the address is none over HTTPS, or HTTP to the own machine (§5), or the token is none.
    pub fn new(endpoint: &str, token: &str, wake: Wake) -> Result<Self, BadEndpoint> {
        Ok(Self { remote: Remote::new(endpoint, token)?, wake })
    }
}

/// Forwards between a client and the endpoint.
///
/// Terminates when the client closes its end, which gives up a seat token's session (§20), or no longer takes what it is
/// sent.
///
/// # Errors
/// When the client's input cannot be read.
pub async fn run<I, O>(config: Config, input: I, output: O) -> std::io::Result<()>
where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin + Send + 'static,
{
    let (out, messages) = mpsc::channel(WAITING_MESSAGES);
    let bridge = Bridge::new(config.remote, config.wake, out);
    let ended = tokio::select! {
        ended = inflow::serve(&bridge, input) => ended,
        () = write(messages, output) => Ok(()),
        () = channel::watch(&bridge) => Ok(()),
    };
    bridge.end().await;
    ended
}

/// Writes each message on a line of its own. Terminates when the client is gone.
async fn write<O: AsyncWrite + Unpin>(mut messages: mpsc::Receiver<Bytes>, mut output: O) {
    while let Some(message) = messages.recv().await {
        let written = async {
            output.write_all(&message).await?;
            output.write_all(b"\n").await?;
            output.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}
