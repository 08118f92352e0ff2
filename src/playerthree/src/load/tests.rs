//! The load tool end to end: its scenarios against the shipped server in this process, over real sockets. What it counts
//! and what it prints is tested, never how fast anything was.

use super::args::{LoadArgs, Plan};
use super::conductor::conduct;
use super::process::Process;
use super::progress::Progress;
use super::report::Report;
use super::{table, target};
use crate::serve;
use clap::Parser;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::future::pending;
use tokio::net::TcpListener;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    load: LoadArgs,
}

#[derive(Parser)]
struct ServeCli {
    #[command(flatten)]
    serve: serve::Args,
}

async fn url_of_a_server() -> anyhow::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    // A data directory serves one server at a time, and these run side by side.
    let data = tempfile::tempdir()?;
    // All clients of a load come from one address.
    let line = [
        OsStr::new("serve"),
        OsStr::new("--joins-per-address=1000000"),
        OsStr::new("--data"),
        data.path().as_os_str(),
    ];
    let args = ServeCli::try_parse_from(line)?.serve;
    tokio::spawn(async move {
        let served = serve::serve(listener, &args, pending()).await;
        drop(data);
        served
    });
    Ok(url)
}

async fn load(line: &str, stop: impl Future<Output = ()>) -> anyhow::Result<Report> {
    let url = url_of_a_server().await?;
    let line = format!("load --url {url} --seconds 1 --warm-up 0 {line}");
    let args = Cli::try_parse_from(line.split_whitespace())?.load;
    let client = target::client(&args.url, args.allow_remote).await?;
    let server = Some(Process::own());
    Ok(conduct(Plan::new(&args)?, client, server, &Progress::on_stderr(), stop).await)
}

async fn whole(line: &str) -> anyhow::Result<Report> {
    load(line, pending()).await
}

#[tokio::test]
async fn echo_counts_every_message_and_its_return() -> anyhow::Result<()> {
    let report = whole("--scenario echo --clients 6 --rooms 2 --rate 20 --filler 100").await?;
    assert!(report.worked());
    assert_eq!((report.joins.completed, report.joins.failed), (6, 0));
    assert_eq!(report.errors.len(), 0, "{:?}", report.errors);
    let measure = report.latency.as_ref().expect("a latency");
    assert!(measure.expected > 0);
    assert_eq!(measure.arrived, measure.expected);
    assert!(report.messages.sent_bytes > 100 * report.messages.sent);
    Ok(())
}

#[tokio::test]
async fn a_script_is_gone_through_again_and_again() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("script.json");
    let script = json!({
        "options": { "seen": 1 },
        "steps": [
            { "send": { "type": "echo", "payload": { "n": 1 } } },
            { "send": { "type": "echo", "payload": { "n": 2 } } },
            { "expect": "echo" },
            { "expect": "echo" },
            { "pauseMs": 20 },
        ],
    });
    std::fs::write(&path, script.to_string())?;
    let report =
        whole(&format!("--scenario scripted --clients 4 --rooms 2 --script {}", path.display())).await?;
    assert!(report.worked());
    assert_eq!(report.errors.len(), 0, "{:?}", report.errors);
    let measure = report.latency.as_ref().expect("a latency");
    assert!(measure.expected > 0);
    assert_eq!(measure.arrived, measure.expected);
    assert!(report.rounds.as_ref().expect("rounds").completed > 0);
    Ok(())
}

#[tokio::test]
async fn a_script_that_waits_in_vain_says_so() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("script.json");
    std::fs::write(&path, r#"{"steps": [{"send": {"type": "echo"}}, {"expect": "never"}]}"#)?;
    let report = whole(&format!("--scenario scripted --clients 1 --script {}", path.display())).await?;
    assert_eq!(report.latency.as_ref().expect("a latency").arrived, 0);
    Ok(())
}

#[tokio::test]
async fn broadcast_reaches_all_others_of_the_room_and_nobody_else() -> anyhow::Result<()> {
    let report = whole("--scenario broadcast --clients 6 --rooms 2 --rate 20").await?;
    let measure = report.latency.as_ref().expect("a latency");
    // Two rooms of three: each message has two readers.
    assert!(measure.arrived > 0 && measure.arrived.is_multiple_of(2));
    assert_eq!(measure.arrived, measure.expected);
    Ok(())
}

#[tokio::test]
async fn idle_clients_join_and_send_nothing() -> anyhow::Result<()> {
    let report = whole("--scenario idle --clients 5").await?;
    assert!(report.worked() && report.latency.is_none() && report.errors.is_empty());
    assert_eq!((report.joins.completed, report.messages.sent), (5, 0));
    assert_eq!(report.server.as_ref().map(|server| server.connections), Some(5));
    Ok(())
}

#[tokio::test]
async fn every_arrival_of_join_is_counted_once() -> anyhow::Result<()> {
    let report = whole("--scenario join --clients 20 --rooms 2").await?;
    assert!(report.worked());
    // The two connections that hold the rooms open are not among them.
    assert_eq!((report.joins.completed, report.joins.failed), (20, 0));
    Ok(())
}

#[tokio::test]
async fn churn_joins_and_leaves_over_and_over() -> anyhow::Result<()> {
    let report = whole("--scenario churn --clients 2").await?;
    let rounds = report.rounds.as_ref().expect("rounds");
    assert!(report.worked() && rounds.completed > 2);
    assert_eq!(report.errors.len(), 0, "{:?}", report.errors);
    Ok(())
}

#[tokio::test]
async fn pairs_play_whole_games_with_legal_moves() -> anyhow::Result<()> {
    let report = whole("--scenario play --clients 4").await?;
    let (rounds, measure) =
        (report.rounds.as_ref().expect("rounds"), report.latency.as_ref().expect("a latency"));
    assert!(report.worked() && rounds.completed > 0 && measure.arrived > 0);
    // A refused move would be an error with the ack's code.
    assert_eq!(report.errors.len(), 0, "{:?}", report.errors);
    Ok(())
}

#[tokio::test]
async fn an_audience_watches_one_match_from_both_places() -> anyhow::Result<()> {
    let report = whole("--scenario watch --clients 6 --observers 2").await?;
    assert_eq!((report.joins.completed, report.joins.failed), (6, 0));
    assert_eq!(report.errors.len(), 0, "{:?}", report.errors);
    assert_eq!(report.parts.keys().collect::<Vec<_>>(), [&"frame_interval", &"view_interval"]);
    Ok(())
}

#[tokio::test]
async fn a_server_without_the_room_is_told_by_its_code() -> anyhow::Result<()> {
    let report = whole("--room nothing --clients 3").await?;
    assert!(!report.worked());
    // The first client is refused, the others have no room to join.
    assert_eq!(serde_json::to_value(&report.errors)?, json!({ "refused:520": 1, "no_room": 2 }));
    assert_eq!(report.joins.failed, 3);
    Ok(())
}

#[tokio::test]
async fn a_run_that_is_stopped_reports_what_it_has() -> anyhow::Result<()> {
    let report = load("--scenario idle --clients 2", std::future::ready(())).await?;
    assert!(report.interrupted);
    assert_eq!(report.measured_seconds, 0.0);
    assert!(table::render(&report).contains("stopped early"));
    Ok(())
}

#[tokio::test]
async fn the_json_report_has_its_members() -> anyhow::Result<()> {
    let report = serde_json::to_value(whole("--clients 2 --rate 20").await?)?;
    for pointer in [
        "/joins/completed",
        "/joins/per_second",
        "/joins/latency_us/p99",
        "/messages/sent_per_second",
        "/messages/received_per_second",
        "/messages/received_bytes",
        "/latency/arrived",
        "/latency/us/min",
        "/latency/us/p50",
        "/latency/us/p95",
        "/latency/us/p99",
        "/latency/us/max",
        "/generator/late_us/p99",
        "/server/rss_bytes",
    ] {
        assert!(report.pointer(pointer).is_some_and(Value::is_number), "{pointer}");
    }
    assert!(report["generator"]["bottleneck"].is_boolean());
    assert_eq!((&report["scenario"], &report["interrupted"]), (&json!("echo"), &json!(false)));
    Ok(())
}

#[tokio::test]
async fn the_table_shows_every_latency() -> anyhow::Result<()> {
    let table = table::render(&whole("--clients 2 --rate 20").await?);
    for row in
        ["scenario", "joins", "sent", "received", "round trip", "p99", "generator CPU", "server memory"]
    {
        assert!(table.contains(row), "{row}");
    }
    Ok(())
}
