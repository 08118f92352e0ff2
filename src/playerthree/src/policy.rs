//! `playerthree policy run`: a policy tried out from the shell in a headless match, with what it did in a table.

use crate::lint::shipped;
use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use indicatif::{ProgressBar, ProgressStyle};
use playerthree_game::{Game, Name, Seat};
use playerthree_host::{Trial, TrialResult};
use playerthree_sandbox::Workers;
use playerthree_session::{Artifact, Call, Surface};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What `--help` ends with.
const AFTER_HELP: &str = "\
While it plays, a bar on the terminal counts ticks. Then it prints the outcome, the policy's calls with their CPU times,
its intents and how many of them were refused and why, its last error, its log and the game's report. Words that the game
does not know are answered with those that it does. Exit status 0: the policy loaded and no call of it failed.

Example: playerthree policy run policy.js --game agent-command --team blue --role air --opponent veteran --ticks 3000";

/// Largest file that is read; the game's own limit is below.
const FILE_BYTES: u64 = 1 << 20;

#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum Command {
    /// Plays a headless match with a policy on one seat and built-in bots on all others
    #[command(after_help = AFTER_HELP)]
    Run(RunArgs),
}

#[derive(clap::Args, Clone, Debug)]
struct RunArgs {
    /// The policy: a script (.js) or a WebAssembly module (.wasm)
    file: PathBuf,
    /// A shipped game: tic-tac-toe or agent-command
    #[arg(long)]
    game: String,
    /// A skill file to put before the script, as <skill>/<path>.js; may be repeated
    #[arg(long, value_name = "SKILL/PATH")]
    include: Vec<String>,
    /// The side to play [default: the game's first]
    #[arg(long)]
    team: Option<String>,
    /// The role to play [default: the game's first]
    #[arg(long)]
    role: Option<String>,
    /// The tier of the bots on other sides [default: the weakest]
    #[arg(long)]
    opponent: Option<String>,
    /// The tier of the bots on the same side [default: as the opponent]
    #[arg(long)]
    allies: Option<String>,
    /// Ticks to play at most
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    ticks: u64,
    /// The seed of the match
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=2_147_483_647))]
    seed: u32,
    /// Match options as JSON
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    /// Print the result as one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Prints what came of it. Fails when the policy does not load or a call of it failed.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Command::Run(args) = &args.command;
    let game: Arc<dyn Game> = Arc::from(shipped(&args.game)?);
    let surface =
        Surface::new(game).map_err(|faults| anyhow::anyhow!("{} faults in the manifest", faults.len()))?;
    let trial = trial(args, Arc::new(surface))?;
    let bar = ProgressBar::new(trial.ticks).with_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len} ticks, {per_sec}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    // No tick of anybody's waits for it: what is slow is the machine's, not the policy's fault.
    let workers = Workers::of_this_program().in_background();
    let result = trial.play(&workers, &mut |tick| {
        bar.set_position(tick);
        true
    });
    bar.finish_and_clear();
    let result = result
        .map_err(|failed| anyhow::anyhow!("the match cannot be played: {}", failed.error.code.as_str()))?;
    let text = if args.json { result.to_json().to_string() } else { table(&result) };
    writeln!(std::io::stdout().lock(), "{}", text.trim_end())?;
    let failures = result.policy["errors"].as_u64().unwrap_or(0);
    anyhow::ensure!(failures == 0 && result.to_json()["ok"] == true, "{failures} calls of the policy failed");
    Ok(())
}

fn trial(args: &RunArgs, surface: Arc<Surface>) -> anyhow::Result<Trial> {
    let manifest = &surface.manifest;
    let opponent = one_of("opponent", args.opponent.as_deref(), &manifest.opponents)?;
    let allies = match &args.allies {
        Some(allies) => one_of("allies", Some(allies), &manifest.opponents)?,
        None => opponent.clone(),
    };
    let team = one_of("team", args.team.as_deref(), &manifest.teams)?;
    let role = one_of("role", args.role.as_deref(), &manifest.roles)?;
    let options = args.options.as_deref().map(serde_json::from_str).transpose();
    Ok(Trial {
        teams: None,
        alliances: None,
        seat: Seat::new(&team, &role),
        artifact: artifact(args, &surface)?,
        version: 0,
        opponent,
        allies,
        ticks: args.ticks,
        seed: args.seed,
        options: options.context("--options is not JSON")?,
        surface,
    })
}

/// The named one of the game's words, or its first.
fn one_of(what: &str, wanted: Option<&str>, known: &[Name]) -> anyhow::Result<Name> {
    let found = match wanted {
        Some(wanted) => known.iter().find(|name| ***name == *wanted),
        None => known.first(),
    };
    found.cloned().with_context(|| format!("--{what} is one of {}", known.join(", ")))
}

/// The artifact exactly as a deploy over the wire would read it.
fn artifact(args: &RunArgs, surface: &Surface) -> anyhow::Result<Artifact> {
    let file = &args.file;
    let bytes = read_bounded(file).with_context(|| format!("cannot read {}", file.display()))?;
    anyhow::ensure!(bytes.len() as u64 <= FILE_BYTES, "{} is larger than {FILE_BYTES} bytes", file.display());
    let mut deploy = match file.extension().and_then(|extension| extension.to_str()) {
        Some("js") => {
            json!({ "runtime": "js", "code": String::from_utf8(bytes).context("the script is not UTF-8")? })
        }
        Some("wasm") => json!({ "runtime": "wasm", "code": BASE64.encode(bytes) }),
        _ => anyhow::bail!("a policy is a .js or a .wasm file"),
    };
    if !args.include.is_empty() {
        deploy["include"] = json!(args.include);
    }
    match Call::parse(surface, "policyDeploy", &deploy) {
        Ok(Call::PolicyDeploy(artifact)) => Ok(artifact),
        Ok(_) => anyhow::bail!("the game takes no policies"),
        Err(error) => anyhow::bail!("the game refuses the policy: {}", error.code.as_str()),
    }
}

/// Reads one byte past the bound at most, so that no file, device or pipe is read without end.
fn read_bounded(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What a person wants to know of a policy, one fact a line.
fn table(result: &TrialResult) -> String {
    let json = result.to_json();
    let stats = &result.policy;
    let mut text = String::new();
    let mut row = |name: &str, value: String| _ = writeln!(text, "{name:<18}{value}");
    match json["code"].as_str() {
        Some(code) => row("failed", code.to_owned()),
        None => {
            row("outcome", word(&json["outcome"]));
            row("ticks", format!("{} in {} ms", json["ticks"], json["wallMs"]));
        }
    }
    row("calls", format!("{} ({} timed out, {} failed)", stats["calls"], stats["timeouts"], stats["errors"]));
    row("CPU per call", format!("{} ms mean, {} ms at most", stats["meanMs"], stats["maxMs"]));
    row("intents", stats["intentsEmitted"].to_string());
    for rejected in stats["intentsRejected"].as_array().into_iter().flatten() {
        row("  rejected", format!("{} {}", rejected["count"], word(&rejected["code"])));
    }
    if let Some(error) = stats.get("lastError") {
        row("last error", word(&error["code"]));
        error["message"].as_str().into_iter().flat_map(str::lines).for_each(|line| row("", plain(line)));
    }
    for line in stats["logs"].as_array().into_iter().flatten() {
        row("log", word(line));
    }
    if !json["report"].is_null() {
        row("report", json["report"].to_string());
    }
    text
}

fn word(value: &Value) -> String {
    plain(value.as_str().unwrap_or_default())
}

/// Text without control characters: a policy's words must not steer the terminal.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
