//! The `playerthree` command: parsing and one call.

mod demo;
mod load;
mod page;
mod relay;
mod serve;

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
    /// Puts simulated clients on a running server and measures it
    Load(load::LoadArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let command = cli.command.unwrap_or(Command::Serve(cli.serve));
    let result = match command {
        Command::Serve(args) => serve::run(&args),
        Command::Load(args) => run_load(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

fn run_load(args: load::LoadArgs) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(load::run(args))
}

#[expect(clippy::print_stderr, reason = "the last word of a failed command belongs on standard error")]
fn report(error: &anyhow::Error) {
    eprintln!("playerthree: {error:#}");
}
