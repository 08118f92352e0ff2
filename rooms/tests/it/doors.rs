//! The server's doors over real sockets: what is let in, what is refused, and what a browser is told about it.

use crate::support::{self, Answer, Running};
use playerthree_rooms::{Config, Origins, ServeLimits};
use std::time::Duration;

/// Starts a server with some limits changed.
async fn running(change: impl FnOnce(&mut Config)) -> Running {
    let mut config = Config::default();
    change(&mut config);
    Running::start(config).await
}

const ORIGIN: &str = "https://game.example";

/// A request by a page of `origin`.
fn from(origin: &str, request_line: &str) -> String {
    format!("{request_line} HTTP/1.1\r\nHost: x\r\nOrigin: {origin}\r\nConnection: close\r\n")
}

fn with_body(head: &str, body: &str) -> String {
    format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn grants(answer: &Answer) -> Option<&str> {
    answer.header("access-control-allow-origin")
}

#[tokio::test]
async fn a_page_can_read_every_answer_errors_included() {
    let server = running(|config| {
        config.max_options_bytes = 100;
        config.max_options_values = 10;
        config.joins_per_second_per_address = 1;
    })
    .await;
    let create = |body: &str| with_body(&from(ORIGIN, "POST /matchmake/create/room"), body);
    let bare = |line: &str| format!("{}\r\n", from(ORIGIN, line));
    let answers = [
        (create("{}"), 200),
        (create("{"), 400),
        (create(&" ".repeat(101)), 413),
        (create(r#"{"a":[0,0,0,0,0,0,0,0,0]}"#), 200),
        (create(r#"{"a":[0,0,0,0,0,0,0,0,0,0]}"#), 400),
        (create("{}").replace("application/json", "text/plain"), 415),
        (with_body(&from(ORIGIN, "POST /matchmake/create/nothing"), "{}"), 520),
        (with_body(&from(ORIGIN, "POST /v17/matchmake/create/nothing"), "{}"), 520),
        (bare("OPTIONS /matchmake/create/room"), 204),
        (bare("OPTIONS /v16/matchmake/create/room"), 204),
        (bare("GET /matchmake/create/room"), 404),
        (bare("GET /some/where"), 404),
        (bare("POST /some/where"), 405),
        (bare("GET /v17/"), 404),
    ];
    for (request, status) in answers {
        let answer = server.ask(&request).await;
        assert_eq!(answer.status, status, "{request}");
        assert_eq!(grants(&answer), Some(ORIGIN), "{request}");
        assert_eq!(answer.header("access-control-allow-credentials"), Some("true"), "{request}");
        assert_eq!(answer.header("vary"), Some("Origin"), "{request}");
    }
    // The bucket of ten seconds' worth is empty some time.
    let mut refused = server.ask(&create("{}")).await;
    for _ in 0..1_000 {
        if refused.status != 200 {
            break;
        }
        refused = server.ask(&create("{}")).await;
    }
    assert_eq!((refused.status, grants(&refused)), (429, Some(ORIGIN)));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.header("access-control-expose-headers"), Some("Retry-After"));
    assert_eq!(
        refused.body,
        r#"{"code":429,"error":"too many requests or connections from this address; try again later","reason":"too_many_requests"}"#
    );
}

#[tokio::test]
async fn a_preflight_allows_what_the_sdks_send() {
    let server = running(|_| {}).await;
    let answer = server.ask(&format!("{}\r\n", from(ORIGIN, "OPTIONS /matchmake/join/room"))).await;
    let allowed = answer.header("access-control-allow-headers").unwrap();
    for header in ["Authorization", "Content-Type", "Accept"] {
        assert!(allowed.contains(header), "{allowed}");
    }
    assert!(answer.header("access-control-allow-methods").unwrap().contains("POST"));
    assert!(answer.header("access-control-max-age").is_some());
    assert!(answer.body.is_empty());
}

#[tokio::test]
async fn a_list_of_origins_holds_for_requests_preflights_and_sockets() {
    let server = running(|config| config.origins = Origins::Only(vec![ORIGIN.into()])).await;
    let seat = server.seat("{}").await;
    for (origin, allowed) in [(ORIGIN, true), ("https://evil.test", false), ("null", false)] {
        for (line, status) in [
            ("POST /matchmake/create/room", 200),
            ("POST /matchmake/create/nothing", 520),
            ("OPTIONS /matchmake/create/room", 204),
            ("GET /some/where", 404),
        ] {
            let answer = server.ask(&format!("{}\r\n", from(origin, line))).await;
            assert_eq!(answer.status, if allowed { status } else { 403 }, "{line} from {origin}");
            assert_eq!(grants(&answer), allowed.then_some(origin), "{line} from {origin}");
            assert_eq!(answer.header("vary"), Some("Origin"));
        }
    }
    let from = |origin| vec![("Origin", origin)];
    assert_eq!(server.open(&seat, &from("https://evil.test")).await.err(), Some(403));
    assert_eq!(server.probe(&from("https://evil.test")).await.err(), Some(403));
    // The refusal left the seat alone.
    server.open(&seat, &from(ORIGIN)).await.unwrap();
    server.probe(&from(ORIGIN)).await.unwrap();
    // Programs outside browsers name no origin.
    server.open(&server.seat("{}").await, &[]).await.unwrap();
}

#[tokio::test]
async fn connections_of_one_address_are_bounded_and_others_still_come_in() {
    let server = running(|config| {
        config.connections_per_address = 2;
        config.trusted_proxies = 1;
    })
    .await;
    let from = |address| vec![("X-Forwarded-For", address)];
    let first = server.open(&server.seat("{}").await, &from("1.1.1.1")).await.unwrap();
    let _second = server.open(&server.seat("{}").await, &from("6.6.6.6, 1.1.1.1")).await.unwrap();
    let seat = server.seat("{}").await;
    assert_eq!(server.open(&seat, &from("1.1.1.1")).await.err(), Some(429));
    assert_eq!(server.probe(&from("1.1.1.1")).await.err(), Some(429));
    let _other = server.open(&server.seat("{}").await, &from("1.1.1.2")).await.unwrap();
    // A socket that ends gives its place back, and the refusal left the seat alone.
    support::leave(first).await;
    support::eventually("a place is free", async || server.open(&seat, &from("1.1.1.1")).await.is_ok()).await;
}

// Field report U85, over the wire.
#[tokio::test]
async fn joins_of_one_address_have_a_rate_that_a_forged_header_does_not_evade() {
    for (trusted, evades) in [(0, false), (1, true)] {
        let server = running(|config| {
            config.joins_per_second_per_address = 1;
            config.trusted_proxies = trusted;
        })
        .await;
        let mut refused = 0;
        for client in 0..40 {
            let head = format!(
                "POST /matchmake/join/room HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: 1.1.1.{client}\r\n"
            );
            match server.ask(&with_body(&head, "{}")).await.status {
                429 => refused += 1,
                status => assert_eq!(status, 521),
            }
        }
        assert_eq!(refused == 0, evades, "{refused} of 40 refused behind {trusted}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server = running(|config| config.options_timeout = Duration::from_millis(50)).await;
    let head = from(ORIGIN, "POST /matchmake/create/room");
    let answer = server.ask(&format!("{head}Content-Length: 100\r\n\r\n{{")).await;
    assert_eq!((answer.status, grants(&answer)), (408, Some(ORIGIN)));
}

// Field report U40: headers that never end, by size, by number and by time.
#[tokio::test]
async fn a_header_has_bounds_of_size_number_and_time() {
    let server = running(|config| {
        config.serve = ServeLimits {
            header_timeout: Duration::from_millis(200),
            header_bytes: 8 * 1024,
            headers: 20,
            ..ServeLimits::default()
        };
    })
    .await;
    let lines = |count: usize| (0..count).map(|line| format!("X-{line}: 1\r\n")).collect::<String>();
    let head = |more: &str| format!("GET /some/where HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{more}\r\n");
    assert_eq!(server.ask(&head(&lines(18))).await.status, 404);
    assert_eq!(server.ask(&head(&lines(19))).await.status, 431);
    assert_eq!(server.ask(&head(&format!("X: {}\r\n", "x".repeat(9 * 1024)))).await.status, 431);
    // Neither half a header nor none holds a connection.
    for begun in ["GET /some/where HTTP/1.1\r\nHost: x\r\n", "GET", ""] {
        assert!([0, 408].contains(&server.ask(begun).await.status), "{begun:?}");
    }
}

#[tokio::test]
async fn a_connection_may_be_idle_for_longer_than_a_header_takes_and_not_for_ever() {
    let limits = |header_timeout, keep_alive| {
        let (header_timeout, keep_alive) =
            (Duration::from_millis(header_timeout), Duration::from_millis(keep_alive));
        move |config: &mut Config| {
            config.serve = ServeLimits { header_timeout, keep_alive, ..ServeLimits::default() };
        }
    };
    let request = "GET /some/where HTTP/1.1\r\nHost: x\r\n\r\n";
    // Whatever ends a connection here, it is not the other limit, which is longer than the test waits.
    let server = running(limits(200, 3_600_000)).await;
    let mut stream = server.connect().await;
    for _ in 0..3 {
        assert!(support::exchange(&mut stream, request).await.starts_with("HTTP/1.1 404"));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    support::ends_after(&mut stream, "GET /some/where HTTP/1.1\r\n").await;

    let server = running(limits(3_600_000, 200)).await;
    let mut stream = server.connect().await;
    support::ends_after(&mut stream, request).await;
}

#[tokio::test]
async fn http_connections_of_one_peer_are_bounded() {
    let server = running(|config| config.serve.connections_per_peer = 2).await;
    let held = [server.connect().await, server.connect().await];
    // The two are in once they have been answered.
    let mut held = held;
    for stream in &mut held {
        let answer = support::exchange(stream, "GET /some/where HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    }
    assert_eq!(server.ask("GET /some/where HTTP/1.1\r\nHost: x\r\n\r\n").await.status, 0, "closed at once");
    drop(held);
    let again = "GET /some/where HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    support::eventually("a place is free", async || server.ask(again).await.status == 404).await;
}

#[tokio::test]
async fn handshakes_that_are_none_are_refused() {
    let server = running(|_| {}).await;
    let seat = server.seat("{}").await;
    let upgrade = |more: &str| {
        format!(
            "GET {} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n{more}\r\n",
            seat.path()
        )
    };
    let key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    for (more, status) in [
        (String::new(), 400),
        (key.to_owned(), 400),
        (format!("{key}Sec-WebSocket-Version: 8\r\n"), 400),
        ("Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n".to_owned(), 400),
    ] {
        assert_eq!(server.ask(&upgrade(&more)).await.status, status, "{more}");
    }
    assert_eq!(
        server
            .ask(&format!("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", seat.path()))
            .await
            .status,
        404
    );
    let old = upgrade(&format!("{key}Sec-WebSocket-Version: 13\r\n")).replace("HTTP/1.1", "HTTP/1.0");
    assert_eq!(server.ask(&old).await.status, 404);
    server.open(&seat, &[]).await.unwrap();
}

#[tokio::test]
async fn sockets_of_the_whole_server_are_bounded() {
    let server = running(|config| config.max_connections = 2).await;
    let first = server.open(&server.seat("{}").await, &[]).await.unwrap();
    let _second = server.open(&server.seat("{}").await, &[]).await.unwrap();
    let seat = server.seat("{}").await;
    assert_eq!(server.open(&seat, &[]).await.err(), Some(503));
    assert_eq!(server.probe(&[]).await.err(), Some(503));
    // A socket that ends gives its place back, and the refusal left the seat alone.
    support::leave(first).await;
    support::eventually("a place is free", async || server.open(&seat, &[]).await.is_ok()).await;
}

#[tokio::test]
async fn an_http_connection_beyond_the_bound_is_served_when_another_ends() {
    let server = running(|config| config.serve.connections = 2).await;
    let request = "GET /some/where HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut held = [server.connect().await, server.connect().await];
    for stream in &mut held {
        assert!(support::exchange(stream, request).await.starts_with("HTTP/1.1 404"));
    }
    let last = request.replace("Host: x", "Host: x\r\nConnection: close");
    let mut waiting = std::pin::pin!(server.ask(&last));
    // However long it waits.
    let waited = tokio::time::timeout(Duration::from_millis(50), &mut waiting).await;
    assert!(waited.is_err(), "served beyond the bound");
    drop(held);
    assert_eq!(waiting.await.status, 404);
}
