//! `playerthree verify` and `playerthree canonicalize`: the verifier of hash-chained games, from the shell.

use anyhow::Context as _;
use playerthree_pipes::canonical::{canonical_hash, canonicalize};
use playerthree_pipes::verify::{Options, Params, Request, verify};
use std::fs::File;
use std::io::{Read, Write as _};
use std::process::ExitCode;

/// Longest JSON text that `canonicalize` reads.
const TEXT_BYTES: u64 = 64 * 1024 * 1024;

/// A log and what its reader knows beforehand.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct VerifyArgs {
    /// A log: an export, a pipes-log/1 document, or a file with one capture or event a line; - reads standard input
    file: String,
    /// Verify this game alone
    #[arg(long)]
    game: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// What a game without a protocol speaks: a catalog reference, or "none" to skip such games
    #[arg(long, value_name = "REF")]
    assume_protocol: Option<String>,
    /// Installed rows of the board
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    rows: Option<u64>,
    /// Installed columns of the board
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    cols: Option<u64>,
    /// Installed length of a winning line
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    win_length: Option<u64>,
}

/// What to print of a JSON text.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct CanonicalizeArgs {
    /// Print the SHA-256 of the canonical bytes instead
    #[arg(long)]
    hash: bool,
}

/// Verifies a log: 0 for a valid one, 1 for a faulty one, 2 for one that cannot be read.
pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let log: Box<dyn Read> = match args.file.as_str() {
        "-" => Box::new(std::io::stdin().lock()),
        file => Box::new(File::open(file).with_context(|| format!("cannot read {file}"))?),
    };
    let report = match verify(log, request(args)) {
        Ok(report) => report,
        Err(error) => {
            complain(&error.to_string());
            return Ok(ExitCode::from(error.exit_status()));
        }
    };
    let text = if args.json { report.to_json().to_string() } else { report.to_text() };
    writeln!(std::io::stdout().lock(), "{}", text.trim_end())?;
    Ok(ExitCode::from(report.exit_status()))
}

fn request(args: &VerifyArgs) -> Request {
    let params = Params { rows: args.rows, cols: args.cols, win_length: args.win_length };
    let assume =
        args.assume_protocol.clone().map(|reference| Some(reference).filter(|reference| reference != "none"));
    let options = Options {
        assume_protocol: assume,
        params: (params != Params::default()).then_some(params),
        ..Options::default()
    };
    Request { options, game: args.game.clone(), ..Request::default() }
}

/// Prints the canonical form (RFC 8785) of the JSON on standard input, or its hash.
pub(crate) fn run_canonicalize(args: CanonicalizeArgs) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    std::io::stdin().lock().take(TEXT_BYTES + 1).read_to_end(&mut text)?;
    anyhow::ensure!(text.len() as u64 <= TEXT_BYTES, "the text is longer than {TEXT_BYTES} bytes");
    let canonical = if args.hash {
        canonical_hash(&text).map(|hash| (hash + "\n").into_bytes())
    } else {
        canonicalize(&text)
    };
    match canonical {
        Ok(bytes) => {
            std::io::stdout().lock().write_all(&bytes)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            complain(&error.to_string());
            Ok(ExitCode::FAILURE)
        }
    }
}

#[expect(clippy::print_stderr, reason = "why a command failed belongs on standard error")]
fn complain(text: &str) {
    eprintln!("playerthree: {text}");
}
