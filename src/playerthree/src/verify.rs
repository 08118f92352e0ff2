//! `playerthree verify` and `playerthree canonicalize`: the verifier of hash-chained games, from the shell.

use crate::download;
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use playerthree_pipes::canonical::{canonical_hash, canonicalize};
use playerthree_pipes::verify::{Options, Params, Report, Request, Seats, SigKeys, verify};
use std::fs::File;
use std::io::{Read, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// Longest JSON text that `canonicalize` reads.
const TEXT_BYTES: u64 = 64 * 1024 * 1024;

/// From so many bytes on a log is long, and a person at a terminal sees how far it is.
const LONG_BYTES: u64 = 16 * 1024 * 1024;

/// Exit status when there is no verdict.
const UNREADABLE: u8 = 2;

/// A log and what its reader knows beforehand.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct VerifyArgs {
    /// A log: an export, a pipes-log/1 document, or a file with one capture or event a line; - reads standard input.
    /// Or the http:// address of an inbox, of its export, or of the page, with #token=TOKEN behind it
    #[arg(value_name = "FILE|URL")]
    log: String,
    /// A file with the read token of the inbox at URL, so that it stands in no list of processes
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
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
    /// Who is seated, by MatchedSigningRef: X=REF or O=REF, may be repeated or joined by a comma
    #[arg(long, value_name = "PLAYER=REF", value_delimiter = ',', value_parser = of_player)]
    seats: Vec<OfPlayer>,
    /// A player's public key: X=ed25519:... or O=ed25519:...; may be repeated or joined by a comma
    #[arg(long, value_name = "PLAYER=KEY", value_delimiter = ',', value_parser = of_player)]
    keys: Vec<OfPlayer>,
}

/// What is known of one player.
#[derive(Clone, Debug)]
enum OfPlayer {
    X(String),
    O(String),
}

fn of_player(text: &str) -> Result<OfPlayer, String> {
    match text.split_once('=') {
        Some(("X", value)) if !value.is_empty() => Ok(OfPlayer::X(value.to_owned())),
        Some(("O", value)) if !value.is_empty() => Ok(OfPlayer::O(value.to_owned())),
        _ => Err("it is X=... or O=...".to_owned()),
    }
}

/// The last word on each player.
fn by_player(given: &[OfPlayer]) -> (Option<String>, Option<String>) {
    given.iter().fold((None, None), |(x, o), of| match of {
        OfPlayer::X(value) => (Some(value.clone()), o),
        OfPlayer::O(value) => (x, Some(value.clone())),
    })
}

/// What to print of a JSON text.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct CanonicalizeArgs {
    /// Print the SHA-256 of the canonical bytes instead
    #[arg(long)]
    hash: bool,
}

/// Verifies a log: 0 for a valid one, 1 for a faulty one, 2 without a verdict.
pub(crate) fn run(args: &VerifyArgs) -> ExitCode {
    let printed = judge(args).and_then(|report| {
        let text = if args.json { report.to_json().to_string() } else { report.to_text() };
        writeln!(std::io::stdout().lock(), "{}", text.trim_end())?;
        Ok(report.exit_status())
    });
    match printed {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(UNREADABLE)
        }
    }
}

fn judge(args: &VerifyArgs) -> anyhow::Result<Report> {
    anyhow::ensure!(
        args.token_file.is_none() || download::is_url(&args.log),
        "--token-file is for a log at an address"
    );
    let (log, length): (Box<dyn Read>, _) = match args.log.as_str() {
        "-" => (Box::new(std::io::stdin().lock()), None),
        address if download::is_url(address) => file(download::fetch(address, args.token_file.as_deref())?),
        path => file(File::open(path).with_context(|| format!("cannot read {path}"))?),
    };
    let bar = progress(length);
    let report = verify(bar.wrap_read(log), request(args));
    bar.finish_and_clear();
    Ok(report?)
}

fn file(file: File) -> (Box<dyn Read>, Option<u64>) {
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    (Box::new(file), length)
}

/// How far a long log is read, on standard error and only if that is a terminal.
fn progress(length: Option<u64>) -> ProgressBar {
    let Some(length) = length.filter(|length| *length >= LONG_BYTES) else { return ProgressBar::hidden() };
    let style = ProgressStyle::with_template("verifying {bytes} of {total_bytes} {wide_bar} {eta}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn request(args: &VerifyArgs) -> Request {
    let params = Params { rows: args.rows, cols: args.cols, win_length: args.win_length };
    let assume =
        args.assume_protocol.clone().map(|reference| Some(reference).filter(|reference| reference != "none"));
    let ((seat_x, seat_o), (key_x, key_o)) = (by_player(&args.seats), by_player(&args.keys));
    let options = Options {
        assume_protocol: assume,
        params: (params != Params::default()).then_some(params),
        seats: (!args.seats.is_empty()).then_some(Seats { x: seat_x, o: seat_o }),
        keys: (!args.keys.is_empty()).then_some(SigKeys { x: key_x, o: key_o }),
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
