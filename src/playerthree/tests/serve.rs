//! `playerthree serve` as an operator starts it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

// A shell's usual limit of open files is far below the connections that the server admits.
#[test]
fn the_server_raises_its_limit_of_open_files_to_its_connections() {
    let data = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -Sn 256; exec \"$0\" serve --port 0 --data \"$1\""]);
    shell.arg(env!("CARGO_BIN_EXE_playerthree")).arg(data.path());
    let mut server = Started(shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("page"), "{line}");

    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.0.id())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard] = files.split_whitespace().take(2).collect::<Vec<_>>().try_into().unwrap();
    let count = |limit: &str| limit.parse().unwrap_or(u64::MAX);
    assert!(count(soft) >= count(hard).min(30_000), "{files}");
}
