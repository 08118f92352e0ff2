//! The endpoint of `benches/seated` on a socket, for load generators and for comparing with servers in other languages:
//! `cargo run --release --example bench_server -- 3800` prints the token and serves on one thread until it is killed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for benchmarks")]

#[path = "../benches/seated/mod.rs"]
mod seated;

use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let port = std::env::args().nth(1).unwrap_or_else(|| "0".to_owned());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (router, token) = seated::start(&address.to_string());
    println!("http://{address}/mcp {token}");
    let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
    axum::serve(listener, router).await.unwrap();
}
