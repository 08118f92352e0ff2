//! The `playerthree` command: parsing and one call.

mod bridge;
mod connect;
mod credential;
mod demo;
mod download;
mod homes;
mod lint;
mod load;
mod open_files;
mod owner;
mod page;
mod pipes_mcp;
mod pipes_room;
mod policy;
mod replay;
mod replays;
mod serve;
mod verify;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// A realtime room server that people and AI agents share.
///
/// Without a command it serves its games on http://127.0.0.1:2567.
#[derive(Parser)]
#[command(name = "playerthree", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::Args,
}

#[derive(Subcommand)]
enum Command {
    /// Serves the games: the page, the rooms and the MCP endpoint on one port (the default)
    Serve(serve::Args),
    // Its arguments describe it at length.
    Load(load::LoadArgs),
    /// Judges a game's manifest as the host would, and says how to mend it
    Lint(lint::Args),
    /// Tries out a policy from the shell
    Policy(policy::Args),
    // Its arguments describe it at length.
    Mcp(bridge::Args),
    // Its arguments describe it at length.
    Connect(connect::Args),
    /// Manages your commanders, connections and seats on a running server
    Owner(owner::Args),
    /// Verifies replays of matches and shows what they hold
    Replay(replay::Args),
    /// Verifies a log of hash-chained games, from a file or a server: exit status 0 valid, 1 faulty, 2 no verdict
    Verify(verify::VerifyArgs),
    /// Prints the canonical form (RFC 8785) of the JSON on standard input
    Canonicalize(verify::CanonicalizeArgs),
}

fn main() -> ExitCode {
    // A policy's worker process is this program once more.
    playerthree_sandbox::serve_if_worker();
    let cli = Cli::parse();
    let command = cli.command.unwrap_or(Command::Serve(cli.serve));
    let result = match command {
        Command::Serve(args) => serve::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Load(args) => run_load(args).map(|()| ExitCode::SUCCESS),
        Command::Lint(args) => lint::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Policy(args) => policy::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Mcp(args) => bridge::run(args).map(|()| ExitCode::SUCCESS),
        Command::Connect(args) => connect::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Owner(args) => owner::run(args).map(|()| ExitCode::SUCCESS),
        Command::Replay(args) => Ok(replay::run(&args)),
        Command::Verify(args) => Ok(verify::run(&args)),
        Command::Canonicalize(args) => verify::run_canonicalize(args),
    };
    result.unwrap_or_else(|error| {
        report(&error);
        ExitCode::FAILURE
    })
}

fn run_load(args: load::LoadArgs) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(load::run(args))
}

#[expect(clippy::print_stderr, reason = "the last word of a failed command belongs on standard error")]
fn report(error: &anyhow::Error) {
    eprintln!("playerthree: {error:#}");
}
