//! A server of pipes and nothing else: `pipes_server DIR` prints one line of JSON with its address and the tokens of a
//! new anonymous inbox, then serves until it is stopped. The crash test floods and kills it.

use std::io::Write;

use playerthree_pipes::{Config, InboxKind, Pipes, Rate, router};
use serde_json::json;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let dir = std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("usage: pipes_server DIR"))?;
    let mut config = Config::new(std::path::PathBuf::from(dir));
    config.limits.post_rate = Rate { per_second: 1_000_000, burst: 1_000_000 };
    config.limits.anonymous_captures = 1_000_000;
    let pipes = Pipes::open(config)?;
    let opened = pipes.open_inbox(InboxKind::Anonymous).await.map_err(std::io::Error::other)?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let hello = json!({
        "address": listener.local_addr()?.to_string(),
        "capture": opened.capture_token.reveal(),
        "read": opened.read_token.reveal(),
    });
    let mut out = std::io::stdout();
    writeln!(out, "{hello}")?;
    out.flush()?;
    axum::serve(listener, router(pipes)).await
}
