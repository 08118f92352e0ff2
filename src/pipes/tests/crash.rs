//! Durability: a server is killed in the middle of a flood, and everything it acknowledged is there.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has nothing else to do")]

mod common;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use playerthree_pipes::verify::{Request, verify};
use playerthree_pipes::{Config, Limits, Listing, Pipes};
use serde_json::Value;

/// Acknowledged posts after which the server is killed.
const KILL_AFTER: usize = 400;
const FLOODERS: usize = 6;

struct Server {
    process: Child,
    address: String,
    capture: String,
    read: String,
}

impl Server {
    fn start(dir: &std::path::Path) -> Self {
        let tests = std::env::current_exe().unwrap();
        let program: PathBuf = tests.parent().unwrap().parent().unwrap().join("examples/pipes_server");
        let mut process = Command::new(program).arg(dir).stdout(Stdio::piped()).spawn().unwrap();
        let mut hello = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut hello).unwrap();
        let hello: Value = serde_json::from_str(&hello).unwrap();
        let text = |name: &str| hello[name].as_str().unwrap().to_owned();
        Self { process, address: text("address"), capture: text("capture"), read: text("read") }
    }

    /// The seq of an acknowledged post; `None` when the server did not answer.
    fn post(&self, body: &str) -> Option<u64> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let head = format!(
            "POST /pipes/v1/in/{} HTTP/1.1\r\nhost: pipes\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            self.capture,
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        assert!(head.starts_with("HTTP/1.1 201"), "{head}");
        serde_json::from_str::<Value>(body).ok()?["seq"].as_u64()
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed_during_a_flood() {
    let dir = tempfile::tempdir().unwrap();
    let server = Mutex::new(Server::start(dir.path()));
    let (address, capture, read) = {
        let server = server.lock().unwrap();
        (server.address.clone(), server.capture.clone(), server.read.clone())
    };
    let client = || Server {
        process: Command::new("true").spawn().unwrap(),
        address: address.clone(),
        capture: capture.clone(),
        read: read.clone(),
    };
    let acknowledged = Mutex::new(HashMap::new());
    let count = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        // One long game whose events wait for each other, amid writers that do not.
        let mut script = common::Script::new("g", 1, 1 << 40, 1 << 40);
        for col in 0..200 {
            script.place(0, col, None);
        }
        let bodies: Vec<Vec<String>> = std::iter::once(script.bodies.clone())
            .chain((0..FLOODERS).map(|writer| (0..1000).map(|n| format!("junk {writer} {n}")).collect()))
            .collect();
        for bodies in bodies {
            let (mut client, acknowledged, count, server) = (client(), &acknowledged, &count, &server);
            threads.spawn(move || {
                client.process.wait().unwrap();
                for body in bodies {
                    let Some(seq) = client.post(&body) else { return };
                    acknowledged.lock().unwrap().insert(seq, body);
                    if count.fetch_add(1, Ordering::SeqCst) + 1 == KILL_AFTER {
                        server.lock().unwrap().process.kill().unwrap();
                    }
                }
            });
        }
    });
    server.lock().unwrap().process.wait().unwrap();
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= KILL_AFTER);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rows = runtime.block_on(async {
        let mut config = Config::new(dir.path());
        config.limits = Limits { page_rows: 1_000_000, page_bytes: usize::MAX, ..Limits::default() };
        let pipes = Pipes::open(config).unwrap();
        let inbox = pipes.reader(&read).await.unwrap();
        inbox.list(Listing::default()).await.unwrap().rows
    });
    let rows: Vec<Value> = rows.iter().map(|row| serde_json::from_slice(row).unwrap()).collect();
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row["Seq"], at + 1);
    }
    for (seq, body) in acknowledged {
        assert_eq!(rows[usize::try_from(seq).unwrap() - 1]["Body"], body);
    }
    let log: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let report = verify(log.as_bytes(), Request::default()).unwrap();
    assert!(report.is_valid());
    assert!(report.games.iter().any(|game| game.game_id() == "g"));
}
