//! The accept loop: plain HTTP/1.1 connections that may become sockets, with bounds on what comes before that.

use crate::address::{Occupancy, Source};
use crate::config::ServeLimits;
use crate::pace::Pace;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

/// The lines of a header that hyper takes without being told.
const HYPER_HEADERS: usize = 100;

/// How long to wait after the system could not accept a connection, as when file handles run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves `app` until `stop` resolves, then waits for the requests in progress; sockets live on and end with
/// [`Server::shutdown`](crate::Server::shutdown).
///
/// Handlers find the peer's address as `ConnectInfo<SocketAddr>`. Terminates when `stop` resolved and no request is
/// left: a response that streams without end must itself end on the same signal.
/// Limits that no validated [`Config`](crate::Config) has are taken as the nearest that can work.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    limits: ServeLimits,
    stop: impl Future<Output = ()> + Send,
) {
    let limits = limits.workable();
    let permits = Arc::new(Semaphore::new(limits.connections));
    let peers = Arc::new(Occupancy::default());
    let connections = TaskTracker::new();
    let stopping = CancellationToken::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let (stream, peer, permit) = accepted;
        // One that is over the bound is closed by being dropped.
        let Some(place) = peers.enter(Source::of(Some(peer.ip())), limits.connections_per_peer) else {
            continue;
        };
        let app = app.clone();
        let stopping = stopping.clone();
        connections.spawn(async move {
            connection(stream, peer, app, limits, stopping).await;
            drop((permit, place));
        });
    }
    drop(listener);
    stopping.cancel();
    connections.close();
    connections.wait().await;
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed, so there is always a permit in the end.
    let permit = permits.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, permit),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Terminates when the peer closes, breaks HTTP or a limit, or upgraded; after `stopping`, once its request is done.
async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    limits: ServeLimits,
    stopping: CancellationToken,
) {
    // Small frames must not wait for one another; where it cannot be set they do.
    let _ = stream.set_nodelay(true);
    let pace = Pace::new(limits.header_timeout, limits.keep_alive);
    let (begins, answers) = (pace.answers(), pace.answers());
    let service = app
        .map_request(move |mut request: http::Request<hyper::body::Incoming>| {
            begins.begin();
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        })
        .map_response(move |response: http::Response<Body>| response.map(|body| answers.until_end_of(body)));
    let service = TowerToHyperService::new(service.map_err(|never: Infallible| never));
    let mut http = http1::Builder::new();
    http.max_buf_size(limits.header_bytes);
    // Whatever it is told, hyper takes memory for as many headers with each request, so its own bound is left alone.
    if limits.headers != HYPER_HEADERS {
        http.max_headers(limits.headers);
    }
    let stream = TokioIo::new(pace.watch(stream));
    let mut connection = std::pin::pin!(http.serve_connection(stream, service).with_upgrades());
    let mut too_slow = std::pin::pin!(pace.too_slow());
    tokio::select! {
        biased;
        // A peer that breaks off is its own affair.
        _ = connection.as_mut() => return,
        () = &mut too_slow => return,
        () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        biased;
        _ = connection => {}
        () = too_slow => {}
    }
}
