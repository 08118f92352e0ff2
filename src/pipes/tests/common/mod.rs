//! What several test files share: a directory of inboxes under a clock that tests move, and hand-written games.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has nothing else to do")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use playerthree_pipes::canonical::event_hash;
use playerthree_pipes::{Clock, Config, Limits, Pipes};
use serde_json::{Value, json};
use tempfile::TempDir;

/// 2026-01-05T10:00:00Z.
pub(crate) const NOON_MS: u64 = 1_767_607_200_000;

/// A server's inboxes with their directory and their clock.
pub(crate) struct Table {
    pub(crate) pipes: Arc<Pipes>,
    pub(crate) dir: TempDir,
    now: Arc<AtomicU64>,
    limits: Limits,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(limit: impl FnOnce(&mut Limits)) -> Self {
        let mut limits = Limits::default();
        limit(&mut limits);
        let dir = tempfile::tempdir().unwrap();
        let now = Arc::new(AtomicU64::new(NOON_MS));
        let pipes = open(&dir, &limits, &now);
        Self { pipes, dir, now, limits }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    pub(crate) fn pass_ms(&self, ms: u64) {
        self.now.fetch_add(ms, Ordering::SeqCst);
    }

    /// Closes everything and opens the directory again, as a restart does.
    pub(crate) fn restart(self) -> Self {
        let Self { pipes, dir, now, limits } = self;
        assert_eq!(Arc::strong_count(&pipes), 1, "somebody still uses the old server");
        drop(pipes);
        let pipes = open(&dir, &limits, &now);
        Self { pipes, dir, now, limits }
    }
}

fn open(dir: &TempDir, limits: &Limits, now: &Arc<AtomicU64>) -> Arc<Pipes> {
    let now = Arc::clone(now);
    let mut config = Config::new(dir.path());
    config.limits = limits.clone();
    config.clock = Clock::new(move || now.load(Ordering::SeqCst));
    Pipes::open(config).unwrap()
}

/// A game written by hand, event after event.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) game: String,
    pub(crate) bodies: Vec<String>,
    tip: String,
}

impl Script {
    pub(crate) fn new(game: &str, rows: u64, cols: u64, win_length: u64) -> Self {
        let start = json!({
            "game": game, "seq": 0, "prevHash": "", "player": "X", "action": "start",
            "protocol": "flurryport:tic-tac-toe",
            "rules": {"rows": rows, "cols": cols, "winLength": win_length},
        });
        let mut script = Self { game: game.to_owned(), bodies: Vec::new(), tip: String::new() };
        script.push(&start);
        script
    }

    pub(crate) fn next_player(&self) -> &'static str {
        if self.bodies.len() % 2 == 1 { "X" } else { "O" }
    }

    pub(crate) fn place(&mut self, row: u64, col: u64, status: Option<&str>) {
        let mut event = json!({
            "game": self.game, "seq": self.bodies.len(), "prevHash": self.tip, "player": self.next_player(),
            "action": "move", "move": {"row": row, "col": col},
        });
        if let Some(status) = status {
            event["status"] = json!(status);
        }
        self.push(&event);
    }

    pub(crate) fn resign(&mut self) {
        let event = json!({
            "game": self.game, "seq": self.bodies.len(), "prevHash": self.tip, "player": self.next_player(),
            "action": "resign",
        });
        self.push(&event);
    }

    fn push(&mut self, event: &Value) {
        let body = event.to_string();
        self.tip = event_hash(body.as_bytes()).unwrap();
        self.bodies.push(body);
    }
}

/// Bodies as captures, a line each.
pub(crate) fn lines(bodies: &[String]) -> String {
    let row = |(at, body): (usize, &String)| {
        format!("{}\n", json!({"Seq": at + 1, "Id": format!("c{}", at + 1), "Body": body}))
    };
    bodies.iter().enumerate().map(row).collect()
}
