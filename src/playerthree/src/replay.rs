//! `playerthree replay`: replays of the shipped games, verified and looked into from the shell (§10, §17).

use crate::lint;
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use playerthree_session::{
    Perspective, Position, REPLAY_BYTES_MAX, Replay, ReplayError, Surface, replay_match,
};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;

/// From so many ticks on a replay is long, and a person at a terminal sees how far it is.
const LONG_TICKS: u64 = 20_000;

/// Exit status when there is no verdict.
const UNREADABLE: u8 = 2;

/// What to do with a replay.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum Command {
    /// Plays a replay again and compares what becomes of it with what was recorded
    ///
    /// Every entry is judged, every input reaches the game again at its tick and in its order, and outcomes and ranks must
    /// be those of the replay. It prints the SHA-256 of the replay's canonical JSON (digest) and of the state at its end
    /// (state); two replays with the same digest are the same replay.
    ///
    /// Exit status 0: valid. 1: refused, with the first fault. 2: no verdict, because the file cannot be read, is too large
    /// or holds only the last part of a persistent session.
    Verify(VerifyArgs),
    /// Shows a match of a replay as it was at a tick
    ///
    /// The inputs recorded at the tick are in, its step is not. It prints one JSON object with the tick, outcomes, ranks
    /// once the match is over, the seats that hold it paused, and what is seen from the perspective.
    ///
    /// A replay holds what every side did. Whoever may read the file may see all of it, whichever perspective it is shown
    /// from.
    ///
    /// Exit status 0: shown. 1: the replay is refused. 2: it cannot be read, or has no such tick or perspective.
    Show(ShowArgs),
}

/// Which replay.
#[derive(clap::Args, Clone, Debug)]
struct Input {
    /// A replay as JSON, at most 16 MiB; - reads standard input
    file: String,
    /// Say how far it is on standard error, also where that is no terminal
    #[arg(long)]
    progress: bool,
}

#[derive(clap::Args, Clone, Debug)]
struct VerifyArgs {
    #[command(flatten)]
    input: Input,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args, Clone, Debug)]
struct ShowArgs {
    #[command(flatten)]
    input: Input,
    /// The tick to show; without it the last one
    #[arg(long, value_name = "T")]
    tick: Option<u64>,
    /// Whose eyes look: god (the game's developer snapshot, unfogged), side:TEAM, or seat:TEAM/ROLE
    #[arg(long, value_name = "WHO", default_value = "god")]
    perspective: Perspective,
    /// Print the inputs recorded within one tick too, 200 at most
    #[arg(long)]
    inputs: bool,
}

/// Verifies or shows a replay.
pub(crate) fn run(args: &Args) -> ExitCode {
    let (printed, file) = match &args.command {
        Command::Verify(verify) => (run_verify(verify), &verify.input.file),
        Command::Show(show) => (run_show(show), &show.input.file),
    };
    let Err(error) = printed else { return ExitCode::SUCCESS };
    complain(&format!("{file}: {error:#}"));
    let is_verdict = error.downcast_ref::<ReplayError>().is_some_and(judges);
    ExitCode::from(if is_verdict { 1 } else { UNREADABLE })
}

/// Whether an error says that the replay is false, and not only that it cannot be played or shown here.
fn judges(error: &ReplayError) -> bool {
    !matches!(
        error,
        ReplayError::StartsAtCheckpoint
            | ReplayError::TooLarge
            | ReplayError::PastTheEnd
            | ReplayError::NothingToShow
    )
}

fn run_verify(args: &VerifyArgs) -> anyhow::Result<()> {
    let (surface, replay) = read(&args.input.file)?;
    let end = play(&surface, &replay, replay.ticks(), &args.input)?;
    let verdict = Verdict { replay: &replay, state: end.state_hash(&surface)? };
    print(&if args.json { verdict.to_json().to_string() } else { verdict.to_text() })
}

fn run_show(args: &ShowArgs) -> anyhow::Result<()> {
    let (surface, replay) = read(&args.input.file)?;
    let tick = args.tick.unwrap_or(replay.ticks());
    let at = play(&surface, &replay, tick, &args.input)?;
    let shown = at.show(&surface, &args.perspective)?;
    let mut object = json!({
        "tick": at.tick(),
        "outcomes": at.outcomes(),
        "paused": at.paused(),
        "shown": shown,
    });
    if let Some(ranks) = at.ranks() {
        object["ranks"] = json!(ranks);
    }
    if args.inputs {
        object["inputs"] = replay.inputs_around(tick).into();
    }
    print(&serde_json::to_string_pretty(&object)?)
}

/// The replay, and the game of this program that it is of.
fn read(file: &str) -> anyhow::Result<(Surface, Replay)> {
    let mut text = String::new();
    let most = REPLAY_BYTES_MAX as u64 + 1;
    match file {
        "-" => std::io::stdin().lock().take(most).read_to_string(&mut text).context("cannot read it")?,
        path => File::open(path)
            .and_then(|file| file.take(most).read_to_string(&mut text))
            .context("cannot read it")?,
    };
    let game = lint::shipped(&Replay::game_of(&text)?)?;
    let surface = Surface::new(Arc::from(game));
    let surface = surface.map_err(|faults| anyhow::anyhow!("the game has {} faults", faults.len()))?;
    let replay = Replay::read(&surface, &text)?;
    Ok((surface, replay))
}

fn play(surface: &Surface, replay: &Replay, target: u64, input: &Input) -> Result<Position, ReplayError> {
    let progress = Progress::over(target, input.progress);
    let mut watch = |tick| {
        progress.at(tick);
        ControlFlow::Continue(())
    };
    let position = replay_match(surface, replay, target, None, &mut watch);
    progress.bar.finish_and_clear();
    position
}

/// How far a reading is.
struct Progress {
    bar: ProgressBar,
    /// Ticks between two lines, where lines are wanted.
    every: Option<u64>,
    last: u64,
}

impl Progress {
    fn over(last: u64, wanted: bool) -> Self {
        let bar = if wanted || last < LONG_TICKS {
            ProgressBar::hidden()
        } else {
            let style = ProgressStyle::with_template("tick {pos} of {len} {wide_bar} {eta}");
            ProgressBar::new(last).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        };
        Self { bar, every: wanted.then_some((last / 20).max(1)), last }
    }

    fn at(&self, tick: u64) {
        if tick.is_multiple_of(1_000) {
            self.bar.set_position(tick);
        }
        if self.every.is_some_and(|every| tick.is_multiple_of(every)) {
            complain(&format!("tick {tick} of {}", self.last));
        }
    }
}

/// A replay that was played to its end.
struct Verdict<'a> {
    replay: &'a Replay,
    state: String,
}

impl Verdict<'_> {
    fn to_json(&self) -> Value {
        let replay = self.replay;
        json!({
            "valid": true,
            "game": replay.game(),
            "gameVersion": replay.game_version(),
            "ticks": replay.ticks(),
            "entries": replay.entries().len(),
            "outcomes": replay.outcomes(),
            "ranks": replay.ranks(),
            "digest": replay.digest(),
            "state": self.state,
        })
    }

    fn to_text(&self) -> String {
        let replay = self.replay;
        let place = |team| match replay.ranks().and_then(|ranks| ranks.get(team)) {
            Some(rank) => format!(" (rank {rank})"),
            None => String::new(),
        };
        let fared: Vec<String> = replay
            .outcomes()
            .iter()
            .map(|(team, outcome)| {
                format!("{team} {}{}", json!(outcome).as_str().unwrap_or_default(), place(team))
            })
            .collect();
        format!(
            "valid: {} {}, {} ticks, {} entries\noutcomes  {}\ndigest    {}\nstate     {}",
            replay.game(),
            replay.game_version(),
            replay.ticks(),
            replay.entries().len(),
            fared.join(", "),
            replay.digest(),
            self.state,
        )
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}

#[expect(clippy::print_stderr, reason = "progress, and why a command failed, belong on standard error")]
fn complain(text: &str) {
    eprintln!("playerthree: {text}");
}
