//! 64 policies in one process at their rates, beside the same matches without any: how late a live match's ticks are, and
//! how much CPU time the policies use themselves.
//!
//! `cargo run --release -p playerthree-host --example policies -- [SECONDS]`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that cannot run has to stop")]

#[path = "../tests/common/crowd.rs"]
mod crowd;

use crowd::{MATCHES, Policy, surface};
use playerthree_agent_command::AgentCommand;
use playerthree_host::{Live, POLICY_PLACES, PolicyPlaces};
use playerthree_sandbox::Workers;
use playerthree_session::{Millis, Right, Surface};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval_at};

/// The game's own rate.
const TICK: Duration = Duration::from_millis(100);

/// Which policies of the crowd are deployed.
#[derive(Clone, Copy)]
enum Deployed {
    Nobody,
    Honest,
    Everybody,
    /// The honest ones, and two practices of each match under way all the time.
    Practising,
}

impl Deployed {
    fn includes(self, policy: &Policy) -> bool {
        match self {
            Self::Nobody => false,
            Self::Honest | Self::Practising => policy.is_honest(),
            Self::Everybody => true,
        }
    }
}

/// What was counted for the policies of one kind.
#[derive(Default)]
struct Counted {
    policies: u64,
    calls: u64,
    failed: u64,
    cpu: Duration,
}

#[derive(Default)]
struct Measured {
    lateness: Vec<Duration>,
    /// Ticks of finished practices.
    practised: u64,
    kinds: BTreeMap<&'static str, Counted>,
}

/// A match with its clock, as a room's actor runs it.
struct Actor {
    live: Live<()>,
    policies: Vec<Policy>,
    wake: Arc<Notify>,
    started: Instant,
}

impl Actor {
    fn new(surface: &Arc<Surface>, places: &PolicyPlaces, number: usize, deployed: Deployed) -> Self {
        let mut policies = crowd::policies(surface, number);
        let game = crowd::game(surface, number, &policies);
        policies.retain(|policy| deployed.includes(policy));
        let wake = Arc::new(Notify::new());
        let notify = Arc::clone(&wake);
        let live = Live::new(game, places.clone(), Arc::new(move || notify.notify_one()));
        Self { live, policies, wake, started: Instant::now() }
    }

    fn now(&self) -> Millis {
        u64::try_from(self.started.elapsed().as_millis()).unwrap()
    }

    async fn deploy(&mut self) {
        for policy in &self.policies {
            self.live.call(&policy.seat, Right::Agent, "policyDeploy", &policy.artifact, (), 0);
        }
        let mut answers = 0;
        while answers < self.policies.len() {
            self.wake.notified().await;
            self.live.take_in(self.now());
            for (_, answer) in self.live.take_answers() {
                assert_eq!(answer.unwrap()["ok"], true);
                answers += 1;
            }
        }
    }

    /// Starts a practice of the first policy.
    fn practise(&mut self, now: Millis) {
        let policy = &self.policies[0];
        let args = json!({ "opponent": "veteran", "ticks": 600, "artifact": policy.artifact });
        self.live.call(&policy.seat, Right::Agent, "practice", &args, (), now);
    }

    async fn play(mut self, ticks: u64, practices: usize) -> Measured {
        self.deploy().await;
        (0..practices).for_each(|_| self.practise(0));
        let mut practised = 0;
        let from = Instant::now() + TICK;
        let first = self.live.game().tick();
        let mut clock = interval_at(from, TICK);
        let mut lateness = Vec::new();
        while self.live.game().tick() < first + ticks {
            let before = self.live.game().tick();
            tokio::select! {
                _ = clock.tick() => {
                    let now = self.now();
                    self.live.heartbeat(now);
                    self.live.tick(now);
                }
                () = self.wake.notified() => self.live.take_in(self.now()),
            }
            let now = self.now();
            self.live.take_changes(now);
            for (_, answer) in self.live.take_answers() {
                practised += answer.unwrap()["ticks"].as_u64().unwrap();
                self.practise(now);
            }
            lateness.extend(
                (before..self.live.game().tick())
                    .map(|tick| from.elapsed().saturating_sub(TICK * u32::try_from(tick - first).unwrap())),
            );
        }
        Measured { lateness, practised, kinds: self.counted() }
    }

    fn counted(&self) -> BTreeMap<&'static str, Counted> {
        let mut kinds = BTreeMap::<_, Counted>::new();
        for policy in &self.policies {
            let status = self.live.game().policy_status(&policy.seat).unwrap();
            let number = |name: &str| status[name].as_u64().unwrap();
            let answered = number("calls") - number("errors");
            let mean = Duration::from_secs_f64(status["meanMs"].as_f64().unwrap() / 1000.0);
            let counted = kinds.entry(policy.kind).or_default();
            counted.policies += 1;
            counted.calls += number("calls");
            counted.failed += number("errors");
            counted.cpu += mean * u32::try_from(answered).unwrap();
        }
        kinds
    }
}

async fn measure(deployed: Deployed, ticks: u64) -> Measured {
    let surface = surface(AgentCommand);
    let places = PolicyPlaces::new(POLICY_PLACES, Workers::of_this_program());
    let mut matches = JoinSet::new();
    let practices = if matches!(deployed, Deployed::Practising) { 2 } else { 0 };
    for number in 0..MATCHES {
        matches.spawn(Actor::new(&surface, &places, number, deployed).play(ticks, practices));
    }
    let mut all = Measured::default();
    for Measured { lateness, practised, kinds } in matches.join_all().await {
        all.lateness.extend(lateness);
        all.practised += practised;
        for (kind, counted) in kinds {
            let sum = all.kinds.entry(kind).or_default();
            sum.policies += counted.policies;
            sum.calls += counted.calls;
            sum.failed += counted.failed;
            sum.cpu += counted.cpu;
        }
    }
    all.lateness.sort_unstable();
    all
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn print(title: &str, measured: &Measured, seconds: u64) {
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the length")]
        let index = ((measured.lateness.len() - 1) as f64 * share) as usize;
        ms(measured.lateness[index])
    };
    println!(
        "\n{title}: ticks late by {:.2} ms (p50), {:.2} ms (p99), {:.2} ms at most",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    if measured.practised > 0 {
        println!("{} ticks of practice a second", measured.practised / seconds);
    }
    if measured.kinds.is_empty() {
        return;
    }
    println!("| kind | policies | calls | failed | CPU a second, all together | CPU a call |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (kind, counted) in &measured.kinds {
        let answered = u32::try_from((counted.calls - counted.failed).max(1)).unwrap();
        println!(
            "| {kind} | {} | {} | {} | {:.2} ms | {:.3} ms |",
            counted.policies,
            counted.calls,
            counted.failed,
            ms(counted.cpu) / seconds as f64,
            ms(counted.cpu / answered)
        );
    }
}

fn main() {
    // Before anything else, and before there is any other thread.
    playerthree_sandbox::serve_if_worker();
    tokio::runtime::Runtime::new().unwrap().block_on(run());
}

async fn run() {
    let seconds = std::env::args().nth(1).map_or(20, |seconds| seconds.parse().unwrap());
    for (title, deployed) in [
        ("64 seats without policies", Deployed::Nobody),
        ("48 honest policies", Deployed::Honest),
        ("48 honest and 16 hostile policies", Deployed::Everybody),
        ("48 honest policies and 16 practices", Deployed::Practising),
    ] {
        print(title, &measure(deployed, seconds * 10).await, seconds);
    }
}
