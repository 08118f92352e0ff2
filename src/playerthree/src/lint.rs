//! `playerthree lint`: a manifest judged as the host would judge it (§17), for the shipped games and for manifest files
//! of games in any language.

use anyhow::Context as _;
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Game, LintReport, Manifest, lint};
use playerthree_tic_tac_toe::TicTacToe;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Largest manifest file that is read.
const FILE_BYTES: u64 = 8 * 1024 * 1024;

/// What to judge.
#[derive(clap::Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct What {
    /// A shipped game: tic-tac-toe or agent-command
    game: Option<String>,
    /// A manifest as a JSON file
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
}

/// What to judge and how to print it.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Prints the report. Fails when the manifest has faults; warnings alone do not.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let report = match (&args.what.game, &args.what.manifest) {
        (Some(name), _) => lint(&shipped(name)?.manifest()),
        (None, Some(file)) => judge_file(file)?,
        (None, None) => anyhow::bail!("name a game or a --manifest file"),
    };
    let text = if args.json { report.to_json().to_string() } else { report.to_string() };
    writeln!(std::io::stdout().lock(), "{}", text.trim_end())?;
    anyhow::ensure!(report.faults.is_empty(), "{} faults", report.faults.len());
    Ok(())
}

/// A game of this program, by its id.
pub(crate) fn shipped(name: &str) -> anyhow::Result<Box<dyn Game>> {
    let games: [Box<dyn Game>; 2] = [Box::new(TicTacToe), Box::new(AgentCommand)];
    let known: Vec<String> = games.iter().map(|game| game.manifest().id.to_string()).collect();
    games
        .into_iter()
        .find(|game| *game.manifest().id == *name)
        .with_context(|| format!("no such game is shipped; there are {}", known.join(" and ")))
}

fn judge_file(file: &Path) -> anyhow::Result<LintReport> {
    let text = read_bounded(file).with_context(|| format!("cannot read {}", file.display()))?;
    anyhow::ensure!(text.len() as u64 <= FILE_BYTES, "{} is larger than {FILE_BYTES} bytes", file.display());
    Ok(match Manifest::from_text(&text) {
        Ok(manifest) => lint(&manifest),
        Err(faults) => LintReport::unreadable(faults),
    })
}

/// Reads one byte past the bound at most, so that no file, device or pipe is read without end.
fn read_bounded(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(file)?.take(FILE_BYTES + 1).read_to_string(&mut text)?;
    Ok(text)
}
