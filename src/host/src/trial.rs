//! One headless match that a policy plays against built-in bots (§13): as fast as the machine allows, in game time alone.
//!
//! It must never touch a live match: everything it needs is handed in, and everything it made is dropped.

use crate::sandboxed::{self, Crashes, Ready};
use playerthree_game::{Name, Outcome, Seat};
use playerthree_sandbox as sandbox;
use playerthree_schema::utf16_len;
use playerthree_session::{
    Artifact, CallError, CannotStart, Code, Config, Match, Millis, Occupant, OwnerId, PolicyError, Stats,
    Surface, Thought,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// UTF-16 units of JSON that a practice's report may take: with the statistics and their logs it has to fit into one
/// result (§4 `RESULT_TEXT_MAX`).
const REPORT_UNITS: usize = 10_000;

/// How often a crashed policy is started again in one trial. Each time costs a worker process, and tells its author nothing
/// new.
const RESTARTS_MAX: u32 = 3;

/// What is played.
#[derive(Clone)]
pub struct Trial {
    /// The game.
    pub surface: Arc<Surface>,
    /// The sides that play; none: all that the manifest declares.
    pub teams: Option<Vec<Name>>,
    /// Which of them are allied.
    pub alliances: Option<BTreeMap<String, Vec<Name>>>,
    /// The tested seat.
    pub seat: Seat,
    /// The tested code.
    pub artifact: Artifact,
    /// The version that its statistics name; 0 for one that was never deployed.
    pub version: u32,
    /// The tier of every hostile seat.
    pub opponent: Name,
    /// The tier of the other seats of the tested side and its allies.
    pub allies: Name,
    /// Ticks to play at most.
    pub ticks: u64,
    /// The seed of the match.
    pub seed: u32,
    /// Match options, complete.
    pub options: Option<Value>,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// It was played to its end or to the last tick that was asked for.
    Played {
        /// How the tested side stands.
        outcome: Outcome,
        /// Ticks played.
        ticks: u64,
        /// The game's guarded report for the tested side.
        report: Value,
    },
    /// The artifact did not load.
    Policy,
    /// The game showed something that its own schemas refuse, or a report that fits into no result.
    Guard,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    /// How it ended.
    pub ended: Ended,
    /// `Stats` of the tested artifact (§4), its own logs included.
    pub policy: Value,
    /// Wall time from first to last tick.
    pub wall: Duration,
    /// A call ran out of time or broke its engine.
    pub cost_a_worker: bool,
}

/// Why a trial came to no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct NotPlayed {
    /// What whoever asked for it is told.
    pub error: CallError,
    /// A call had run out of time or broken its engine before.
    pub cost_a_worker: bool,
}

impl From<CallError> for NotPlayed {
    fn from(error: CallError) -> Self {
        Self { error, cost_a_worker: false }
    }
}

impl From<Code> for NotPlayed {
    fn from(code: Code) -> Self {
        CallError::from(code).into()
    }
}

impl TrialResult {
    /// `PracticeResult` (§4).
    pub fn to_json(&self) -> Value {
        let wall = u64::try_from(self.wall.as_millis()).unwrap_or(u64::MAX);
        match &self.ended {
            Ended::Played { outcome, ticks, report } => json!({
                "ok": true, "outcome": outcome, "ticks": ticks, "report": report,
                "policy": self.policy, "wallMs": wall,
            }),
            Ended::Policy => json!({ "ok": false, "code": "policy", "policy": self.policy, "wallMs": wall }),
            Ended::Guard => json!({ "ok": false, "code": "guard", "policy": self.policy, "wallMs": wall }),
        }
    }
}

impl Trial {
    /// Plays on the calling thread. `goes_on` hears of every tick and may end the trial early.
    ///
    /// # Errors
    ///
    /// `invalid` for options, sides or tiers that the manifest does not know, `not_in_match` for a seat of no side, `busy`
    /// where the host has no process, thread or core for the policy.
    pub fn play(
        &self,
        workers: &sandbox::Workers,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<TrialResult, NotPlayed> {
        let started = Instant::now();
        let mut game = match self.seated() {
            Ok(game) => game,
            Err(CannotStart::Refused(error)) => return Err(error.into()),
            Err(CannotStart::Output(_)) => return Ok(self.failed(Ended::Guard, started)),
        };
        let (Ok(match_data), Ok(_)) = (game.match_data(&self.seat), game.probe_observation(&self.seat, &[]))
        else {
            return Ok(self.failed(Ended::Guard, started));
        };
        let mut player = match Player::load(self, workers, &match_data) {
            Ok(player) => player,
            Err(NotLoaded::NoRoom) => return Err(Code::Busy.into()),
            Err(NotLoaded::Policy { error, cost_a_worker }) => {
                return Ok(self.not_loaded(error, cost_a_worker, started));
            }
        };
        game.run_policy(&self.seat, self.version, self.artifact.runtime)?;
        self.rounds(&mut game, &mut player, goes_on)
            .map_err(|error| NotPlayed { error, cost_a_worker: player.cost_a_worker })?;
        let policy = game.policy_status(&self.seat)?;
        let seen = game.probe_observation(&self.seat, &[]).is_ok();
        let ended = match game.report(&self.seat.team) {
            Ok(report) if seen && utf16_len(&report.to_string()) <= REPORT_UNITS => {
                Ended::Played { outcome: game.outcome(&self.seat.team), ticks: game.tick(), report }
            }
            _ => Ended::Guard,
        };
        let cost_a_worker = player.cost_a_worker;
        Ok(TrialResult { ended, policy, wall: started.elapsed(), cost_a_worker })
    }

    /// The match with bots on every seat but the tested one.
    fn seated(&self) -> Result<Match, CannotStart> {
        let config = Config {
            options: self.options.clone(),
            teams: self.teams.clone(),
            alliances: self.alliances.clone(),
            bots: Some(self.opponent.clone()),
            ..Config::of(self.seed)
        };
        let mut game = Match::new(Arc::clone(&self.surface), config, 0)?;
        game.keep_no_replay();
        let own = vec![self.seat.team.clone()];
        let alliance = self
            .alliances
            .iter()
            .flatten()
            .map(|(_, teams)| teams)
            .find(|teams| teams.contains(&self.seat.team));
        for team in alliance.unwrap_or(&own) {
            for role in &self.surface.manifest.roles {
                game.assign(&Seat::new(team, role), Occupant::Bot(self.allies.clone()))?;
            }
        }
        let owner = OwnerId("trial".into());
        game.assign(&self.seat, Occupant::Agent { owner, display: String::new() })?;
        Ok(game)
    }

    /// Ends when the match is over, its ticks are played, or nothing in it moves any more. Fails `busy` where the policy finds
    /// no core: without its thoughts the match would be another one.
    fn rounds(
        &self,
        game: &mut Match,
        player: &mut Player<'_>,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), CallError> {
        let rate = u64::from(self.surface.manifest.tick_rate);
        while game.tick() < self.ticks && game.wants_round() {
            let now: Millis = game.tick() * 1000 / rate;
            player.restart_due(game, now)?;
            for think in game.begin_round(now, &|_| player.idle_detail()) {
                let thought = player.think(&think.observation, now).ok_or(Code::Busy)?;
                game.thought(&think.seat, thought);
            }
            game.end_round(now);
            // Nobody watches: what would have to be delivered is dropped.
            game.take_changes();
            if !goes_on(game.tick()) {
                break;
            }
        }
        Ok(())
    }

    fn failed(&self, ended: Ended, started: Instant) -> TrialResult {
        let policy = Stats::new(self.version, self.artifact.runtime).to_json();
        TrialResult { ended, policy, wall: started.elapsed(), cost_a_worker: false }
    }

    fn not_loaded(&self, error: PolicyError, cost_a_worker: bool, started: Instant) -> TrialResult {
        let mut stats = Stats::new(self.version, self.artifact.runtime);
        stats.count(&Err(error));
        TrialResult { policy: stats.to_json(), cost_a_worker, ..self.failed(Ended::Policy, started) }
    }
}

/// Why there is no instance to play.
enum NotLoaded {
    /// The policy's own failure, and whether it ran out of time or broke its engine.
    Policy { error: PolicyError, cost_a_worker: bool },
    /// The host had no process, thread or core for it.
    NoRoom,
}

impl From<PolicyError> for NotLoaded {
    fn from(error: PolicyError) -> Self {
        Self::Policy { error, cost_a_worker: false }
    }
}

/// The tested policy across its crashes.
struct Player<'a> {
    surface: &'a Surface,
    seat: &'a Seat,
    workers: &'a sandbox::Workers,
    setup: sandbox::Setup,
    /// The instance, and what it has for its first think; nothing while it is down.
    running: Option<(sandbox::Instance, Ready)>,
    crashes: Crashes,
    cost_a_worker: bool,
    restarts_left: u32,
    restart_at: Millis,
}

impl<'a> Player<'a> {
    fn load(trial: &'a Trial, workers: &'a sandbox::Workers, match_data: &Value) -> Result<Self, NotLoaded> {
        let limits = trial.surface.manifest.control.policy.as_ref().map(sandboxed::limits);
        let limits = limits.ok_or_else(sandboxed::no_runtime)?;
        let artifact = sandboxed::artifact(&limits, &trial.artifact)?;
        // The same everywhere, so that a trial can be repeated; other seeds are other throws of the policy's own dice too.
        let seed = u64::from(trial.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let setup = sandbox::Setup { artifact, limits, match_data: sandboxed::text(match_data), seed };
        let surface = &trial.surface;
        let mut player = Self {
            surface,
            seat: &trial.seat,
            workers,
            setup,
            running: None,
            crashes: Crashes::default(),
            cost_a_worker: false,
            restarts_left: RESTARTS_MAX,
            restart_at: 0,
        };
        player.start()?;
        Ok(player)
    }

    fn start(&mut self) -> Result<(), NotLoaded> {
        let (instance, loaded) = sandbox::Instance::load_blocking(self.workers, self.setup.clone());
        if sandboxed::is_without_room(&loaded) {
            return Err(NotLoaded::NoRoom);
        }
        let cost_a_worker = sandboxed::cost_a_worker(&loaded);
        self.cost_a_worker |= cost_a_worker;
        let ready = sandboxed::ready(self.surface, loaded)
            .map_err(|error| NotLoaded::Policy { error, cost_a_worker })?;
        self.running = Some((instance, ready));
        Ok(())
    }

    fn idle_detail(&self) -> Option<Vec<Name>> {
        self.running.as_ref().map(|(_, ready)| ready.detail.clone())
    }

    /// What the policy answers; nothing where the host has no core for it.
    fn think(&mut self, observation: &Value, now: Millis) -> Option<Result<Thought, PolicyError>> {
        // It is asked one thing at a time, and only while it runs.
        let (instance, ready) = self.running.as_mut()?;
        let answer = instance.think_blocking(sandboxed::text(observation)).ok()?;
        if sandboxed::is_without_room(&answer) {
            return None;
        }
        self.cost_a_worker |= sandboxed::cost_a_worker(&answer);
        let thought = sandboxed::thought(answer, std::mem::take(&mut ready.logs));
        match instance.is_dead() {
            true => self.crashed(now),
            false => self.crashes.answered(),
        }
        Some(thought)
    }

    fn crashed(&mut self, now: Millis) {
        self.running = None;
        self.restart_at = now + self.crashes.one_more();
    }

    /// Starts a crashed policy again whose time has come, as a live match would (§10: every instance is initialized). Fails
    /// `busy` where the host has no room for it: without it the match would be another one.
    fn restart_due(&mut self, game: &mut Match, now: Millis) -> Result<(), CallError> {
        if self.running.is_some() || self.restarts_left == 0 || now < self.restart_at {
            return Ok(());
        }
        self.restarts_left -= 1;
        match self.start() {
            Ok(()) => {}
            Err(NotLoaded::NoRoom) => return Err(Code::Busy.into()),
            Err(NotLoaded::Policy { error, .. }) => {
                self.crashed(now);
                game.policy_failed(self.seat, error);
            }
        }
        Ok(())
    }
}
