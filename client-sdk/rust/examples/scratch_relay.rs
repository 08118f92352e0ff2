//! Scratch.
#[path = "../../../src/playerthree/src/relay.rs"]
mod relay;
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 2999)).await?;
    let server = playerthree_rooms::Server::builder(playerthree_rooms::Config::default()).define("relay", relay::Relay).build()?;
    playerthree_rooms::serve(listener, server.router(), playerthree_rooms::ServeLimits::default(), async { let _ = tokio::signal::ctrl_c().await; }).await;
    server.shutdown(std::time::Duration::from_secs(5)).await;
    Ok(())
}
