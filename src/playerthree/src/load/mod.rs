//! `playerthree load`: simulated clients against a room server, and what they measured. It knows only the client
//! protocol; nothing here reaches into a server, and a server on another machine is left alone unless allowed.

mod args;
mod conductor;
mod context;
mod measured;
mod process;
mod progress;
mod report;
mod scenario;
mod script;
mod table;
mod tally;
mod target;
mod window;

pub(crate) use args::LoadArgs;

use crate::open_files;
use anyhow::{Context as _, ensure};
use args::Plan;
use process::Process;
use progress::Progress;
use report::Report;
use std::io::Write;

/// Runs the load and prints what was measured. Fails when nothing worked, after printing.
pub(crate) async fn run(args: LoadArgs) -> anyhow::Result<()> {
    let plan = Plan::new(&args)?;
    let client = target::client(&args.url, args.allow_remote).await?;
    let server = args.pid.map(Process::find).transpose()?;
    open_files::allow(plan.connections())?;
    let progress = Progress::on_stderr();
    let report = conductor::conduct(plan, client, server, &progress, interrupted()).await;
    progress.finish();
    print(&report, args.json).context("the report cannot be written")?;
    ensure!(report.worked(), "nothing worked");
    Ok(())
}

/// Resolves when the user wants it to stop; never where no signal can be received.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn print(report: &Report, json: bool) -> anyhow::Result<()> {
    let text = if json { serde_json::to_string(report)? + "\n" } else { table::render(report) };
    Ok(std::io::stdout().lock().write_all(text.as_bytes())?)
}

#[cfg(test)]
mod tests;
