//! The command line of `playerthree load`, and the plan that it describes once its relations are checked.

use super::scenario::CAST;
use super::script::Script;
use anyhow::{bail, ensure};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What is sent per second by each client when `--rate` is left out.
const DEFAULT_RATE: f64 = 1.0;
/// Most messages per second of one client.
const MAX_RATE: f64 = 10_000.0;

/// Simulates clients against a room server and measures it
///
/// Every client is a real connection: a seat by HTTP, a WebSocket, the join handshake. Clients first join (the ramp),
/// then a warm-up runs unmeasured, then the time is measured. Messages of `broadcast` and `echo` leave on a schedule
/// that does not wait for answers, and their latency counts from the moment they were due, so a server that stalls
/// cannot hide it. Works with any server of the Colyseus protocol whose rooms do what a scenario says of them; `play`,
/// `match` and `watch` alone need the games of this server.
///
/// Printed are rates, percentiles of every latency, what failed by its kind, and what the processes used.
///
/// Ends with code 1 when nothing worked. Ctrl-C ends it early with what was measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct LoadArgs {
    /// The server: http://host:port, with a path prefix if it has one
    #[arg(long, default_value = "http://127.0.0.1:2567")]
    pub(super) url: String,
    /// Simulated clients, 1 to 100000
    #[arg(long, default_value_t = 100, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub(super) clients: usize,
    /// Rooms that the clients are spread over; `play` and `match` make their own [default: 1]
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub(super) rooms: Option<usize>,
    /// Seconds that are measured, 1 to 86400
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(super) seconds: u64,
    /// Seconds before those that are not measured, 0 to 600; `join` has none
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=600))]
    pub(super) warm_up: u64,
    /// Of the clients of `watch`, those who observe the whole match; the others are spectators of a side [default: half]
    #[arg(long)]
    pub(super) observers: Option<usize>,
    /// Name of the rooms on the server [default: relay, for play: tic-tac-toe, for match and watch: agent-command]
    #[arg(long)]
    pub(super) room: Option<String>,
    /// What the clients do
    #[arg(long, value_enum, default_value_t = Scenario::Echo)]
    pub(super) scenario: Scenario,
    /// Messages that each client sends in a second, above 0 and at most 10000; only with broadcast and echo [default: 1]
    #[arg(long)]
    pub(super) rate: Option<f64>,
    /// Bytes of filler in each message, 0 to 60000; only with broadcast and echo
    #[arg(long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=60_000))]
    pub(super) filler: usize,
    /// A script for --scenario scripted, a JSON file: {"options": {...}, "steps": [{"send": {"type": "echo", "payload":
    /// 1}}, {"expect": "echo"}, {"pauseMs": 100}]}; each client repeats the steps, 1 to 1000 of them, pauses at most
    /// 60000 ms, the file at most 64 KiB. Clients join with the options
    #[arg(long, value_name = "FILE")]
    pub(super) script: Option<PathBuf>,
    /// Prints one JSON object instead of a table; times in it are microseconds
    #[arg(long)]
    pub(super) json: bool,
    /// Process id of the server on this machine: adds its CPU time and its memory per connection (Linux)
    #[arg(long)]
    pub(super) pid: Option<u32>,
    /// Allows a server that is not on this machine. Load a server only with its operator's consent
    #[arg(long)]
    pub(super) allow_remote: bool,
}

/// What the clients do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Scenario {
    /// Join one after another, evenly over the measured time, and stay
    Join,
    /// Join and do nothing
    Idle,
    /// Send `load` messages, which the room passes on to everybody else in it as [sender, payload]
    Broadcast,
    /// Send `echo` messages, which the room returns to their sender as they are
    Echo,
    /// Join, leave and begin again
    Churn,
    /// In pairs: log in, play a game with random moves to its end, leave and begin again
    Play,
    /// In eights, each a match: two people, two agents over MCP, two spectators and two observers; a policy plays the
    /// seat of the second person
    Match,
    /// One match of bots: spectators and observers join it and read what they are sent. Every one of them joins from
    /// this address, so past a thousand the server has to be started with --connections-per-address
    Watch,
    /// Go through the steps of --script again and again
    Scripted,
}

impl Scenario {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Idle => "idle",
            Self::Broadcast => "broadcast",
            Self::Echo => "echo",
            Self::Churn => "churn",
            Self::Play => "play",
            Self::Match => "match",
            Self::Watch => "watch",
            Self::Scripted => "scripted",
        }
    }

    /// What the latencies of this scenario are of, where it has any beside those of joining.
    pub(super) fn measures(self) -> Option<&'static str> {
        match self {
            Self::Join | Self::Idle | Self::Watch => None,
            Self::Broadcast => Some("delivery"),
            Self::Echo => Some("round_trip"),
            Self::Churn => Some("join_and_leave"),
            Self::Play | Self::Match => Some("act"),
            Self::Scripted => Some("answer"),
        }
    }

    /// What one round of the scenario is, where it has rounds.
    pub(super) fn round(self) -> Option<&'static str> {
        match self {
            Self::Join | Self::Idle | Self::Broadcast | Self::Echo | Self::Match | Self::Watch => None,
            Self::Churn => Some("cycles"),
            Self::Play => Some("games"),
            Self::Scripted => Some("rounds"),
        }
    }

    /// Whether joining is the work that is measured, and not what comes before it.
    pub(super) fn joins_in_window(self) -> bool {
        matches!(self, Self::Join | Self::Churn | Self::Play)
    }

    fn sends_at_a_rate(self) -> bool {
        matches!(self, Self::Broadcast | Self::Echo)
    }
}

/// What is going to be done; every relation between the arguments holds.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) scenario: Scenario,
    pub(super) clients: usize,
    /// Of them, those who observe; none in every scenario but `watch`.
    pub(super) observers: usize,
    pub(super) rooms: usize,
    pub(super) room: String,
    pub(super) measured: Duration,
    pub(super) warm_up: Duration,
    /// Messages per second of one client.
    pub(super) rate: f64,
    pub(super) filler: usize,
    /// What clients join with and do; without steps in every scenario but `scripted`.
    pub(super) script: Arc<Script>,
}

impl Plan {
    pub(super) fn new(args: &LoadArgs) -> anyhow::Result<Self> {
        let scenario = args.scenario;
        if !scenario.sends_at_a_rate() && (args.rate.is_some() || args.filler > 0) {
            bail!("--rate and --filler go with --scenario broadcast or echo");
        }
        let script = match (scenario, &args.script) {
            (Scenario::Scripted, Some(path)) => Script::read(path)?,
            (Scenario::Scripted, None) => bail!("scripted needs a --script"),
            (_, Some(_)) => bail!("--script goes with --scenario scripted"),
            (_, None) => Script::default(),
        };
        let rate = args.rate.unwrap_or(DEFAULT_RATE);
        ensure!(rate > 0.0 && rate <= MAX_RATE, "--rate must be above 0 and at most {MAX_RATE}");
        let observers = match (scenario, args.observers) {
            (Scenario::Watch, observers) => observers.unwrap_or(args.clients / 2),
            (_, Some(_)) => bail!("--observers goes with --scenario watch"),
            (_, None) => 0,
        };
        ensure!(observers <= args.clients, "--observers must be at most --clients");
        let pairs = args.clients / 2;
        let (rooms, room) = match (scenario, args.rooms) {
            (Scenario::Play, Some(_)) => bail!("play has a room for each pair of clients; leave --rooms out"),
            (Scenario::Match, Some(_)) => bail!("match has a room for each eight clients; leave --rooms out"),
            (Scenario::Watch, Some(_)) => bail!("watch has one room; leave --rooms out"),
            (Scenario::Watch, None) => (1, "agent-command"),
            (Scenario::Match, None) => {
                ensure!(args.clients.is_multiple_of(CAST), "match needs a multiple of {CAST} clients");
                (args.clients / CAST, "agent-command")
            }
            (Scenario::Play, None) => {
                ensure!(args.clients.is_multiple_of(2), "play needs an even number of clients");
                (pairs, "tic-tac-toe")
            }
            (_, rooms) => (rooms.unwrap_or(1), "relay"),
        };
        ensure!(rooms <= args.clients, "--rooms must be at most --clients");
        Ok(Self {
            scenario,
            clients: args.clients,
            observers,
            rooms,
            room: args.room.clone().unwrap_or_else(|| room.to_owned()),
            measured: Duration::from_secs(args.seconds),
            warm_up: if scenario == Scenario::Join {
                Duration::ZERO
            } else {
                Duration::from_secs(args.warm_up)
            },
            rate,
            filler: args.filler,
            script: Arc::new(script),
        })
    }

    /// Sockets that may be open at once: each client's, one for each room that is held open, and those of joins that
    /// pass from one socket to the next.
    pub(super) fn connections(&self) -> usize {
        self.clients * 2 + self.rooms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        load: LoadArgs,
    }

    fn plan(line: &str) -> anyhow::Result<Plan> {
        Plan::new(&Cli::try_parse_from(std::iter::once("load").chain(line.split_whitespace()))?.load)
    }

    #[test]
    fn the_defaults_make_a_plan() {
        let plan = plan("").unwrap();
        assert_eq!(
            (plan.scenario, plan.clients, plan.rooms, plan.room.as_str()),
            (Scenario::Echo, 100, 1, "relay")
        );
    }

    #[test]
    fn play_is_in_pairs_with_a_room_each() {
        let plan = plan("--scenario play --clients 10").unwrap();
        assert_eq!((plan.rooms, plan.room.as_str()), (5, "tic-tac-toe"));
    }

    #[test]
    fn match_is_in_eights_with_a_room_each() {
        let plan = plan("--scenario match --clients 24").unwrap();
        assert_eq!((plan.rooms, plan.room.as_str()), (3, "agent-command"));
    }

    #[test]
    fn half_of_an_audience_observes_unless_it_is_told_otherwise() {
        let watch =
            |more: &str| plan(&format!("--scenario watch --clients 10 {more}")).map(|plan| plan.observers);
        assert_eq!(watch("").unwrap(), 5);
        assert_eq!(watch("--observers 0").unwrap(), 0);
        assert_eq!(watch("--observers 10").unwrap(), 10);
        assert!(watch("--observers 11").is_err());
    }

    #[test]
    fn what_does_not_go_together_or_is_out_of_bounds_is_refused() {
        for line in [
            "--clients 0",
            "--clients 100001",
            "--seconds 0",
            "--rate 0",
            "--rate -1",
            "--rate NaN",
            "--rate 10001",
            "--filler 60001",
            "--scenario nothing",
            "--scenario idle --rate 1",
            "--scenario play --filler 1",
            "--scenario scripted",
            "--scenario scripted --script /nowhere/at/all",
            "--script x",
            "--scenario play --clients 3",
            "--scenario play --rooms 1",
            "--scenario match --clients 12",
            "--scenario match --clients 8 --rooms 1",
            "--clients 2 --rooms 3",
            "--scenario watch --rooms 1",
            "--scenario idle --observers 1",
        ] {
            assert!(plan(line).is_err(), "{line}");
        }
    }
}
