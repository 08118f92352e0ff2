//! What the endpoint may be told, and every bound that it keeps.

use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Bounds of the endpoint. The defaults are the contract's (§15); lower ones are for tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Longest request body, in bytes; a longer one is answered 413.
    pub body_bytes: usize,
    /// Longest time that a request body may take to arrive; a slower one is answered 408.
    pub body_timeout: Duration,
    /// Tool calls a second that one credential keeps up.
    pub calls_per_second: f64,
    /// Tool calls that one credential makes at once after a pause.
    pub calls_burst: u32,
    /// Calls of one credential in flight, waits aside.
    pub calls_in_flight: usize,
    /// Waits of one credential in flight for each of its roles.
    pub waits_in_flight: usize,
    /// Lists, reads and new streams a second that one credential keeps up. They are cheap, and a client that opens a
    /// skill reads all of its files at once.
    pub reads_per_second: f64,
    /// Lists, reads and new streams that one credential makes at once after a pause: every file of the largest skill.
    pub reads_burst: u32,
    /// Streams of one credential that are open at a time.
    pub streams_in_flight: usize,
    /// How long after its credential's end a stream that is still open is cut. Calls in flight answer before.
    pub cut_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1_048_576,
            body_timeout: Duration::from_secs(30),
            calls_per_second: 10.0,
            calls_burst: 20,
            calls_in_flight: 4,
            waits_in_flight: 2,
            reads_per_second: 50.0,
            reads_burst: 600,
            streams_in_flight: 4,
            cut_after: Duration::from_secs(2),
        }
    }
}

/// Where a client learns how its owner signs in: the metadata of the endpoint (RFC 9728) under one of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// The `Host` that is asked.
    pub host: String,
    /// The address of the metadata.
    pub resource_metadata: String,
}

/// What becomes of clients that open with the handshake of a revision before 2026-07-28. A seat token never speaks one
/// (§20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legacy {
    /// Clients with a persistent credential (§5: a commander's token, a sign-in, a toolbox's token) are answered, each
    /// request on its own; no session is kept.
    Stateless,
    /// They are refused like every other revision, -32022.
    Off,
}

/// How the endpoint is served.
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// Exact `Origin` values of pages that may call, such as `https://play.example`. Any other origin is answered
    /// 403; a request without one, as agents send it, passes (§15).
    pub origins: Vec<String>,
    /// Exact `Host` values, port included where it is not the scheme's own, such as `127.0.0.1:2567`. Any other is
    /// answered 403, so that a page cannot reach a loopback server through a name of its own.
    pub hosts: Vec<String>,
    /// What a client without a good credential is pointed at (§5). Toolboxes have no sign-in.
    pub sign_in: Vec<SignIn>,
    /// Clients of older revisions.
    pub legacy: Legacy,
    /// The bounds.
    pub limits: Limits,
    /// Ends calls in flight and streams when it fires. The server's accept loop is not its business.
    pub shutdown: CancellationToken,
}
