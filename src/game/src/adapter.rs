//! The adapter contract (§10): what a game implements so that the host can run it.
//!
//! Everything here is synchronous and deterministic: a match reads no clock, draws randomness only from the seed
//! it was created with, and iterates nothing in hash order. The host guards every value that leaves a match, so
//! a game need not validate its own output, only enforce fog and its rules.

use crate::{Manifest, SignalLimits};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A closed name out of the manifest: a team, a role, a section, an error code.
pub type Name = Arc<str>;

/// A controllable slot: a side and a role within it (§1), written `{team, role}` on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Seat {
    /// The side, one of the manifest's teams.
    pub team: Name,
    /// The role within the side, one of the manifest's roles.
    pub role: Name,
}

impl Seat {
    /// The seat of this team and role.
    pub fn new(team: &str, role: &str) -> Self {
        Self { team: team.into(), role: role.into() }
    }
}

impl std::fmt::Display for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.team, self.role)
    }
}

/// Who decides when the next tick comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The host steps `tickRate` times a second of wall time.
    Realtime,
    /// The host steps once after every accepted intent: a tick is a move.
    Turns,
}

/// How a side stands (§10). The host keeps the first final one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Still in play.
    Running,
    /// Final: this side won.
    Win,
    /// Final: this side lost.
    Loss,
    /// Final: nobody won.
    Draw,
}

impl Outcome {
    /// Whether the side is out of play.
    pub fn is_final(self) -> bool {
        self != Self::Running
    }
}

/// Who holds a seat (§8, §20.1). The game discloses it to players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Controller {
    /// A person through the game client.
    Human,
    /// The owner's live agent, present or not.
    Agent,
    /// A sandboxed artifact without a live model.
    Policy,
    /// One of the game's own bots.
    Bot,
    /// Nobody.
    None,
}

/// Where an intent came from. The host decides it, no client can (§4 "Owner control").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The person who owns the seat.
    Owner,
    /// A live agent.
    Agent,
    /// A deployed policy.
    Policy,
    /// A built-in bot that holds the seat.
    Bot,
    /// The bot that stands in for an absent agent.
    Fallback,
}

/// The trusted circumstances of an intent.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// Who sent it.
    pub source: Source,
    /// For an owner's intent: the roles of this team that the same owner holds, the acting one included.
    pub owner_roles: Option<Vec<Name>>,
}

/// What the game is told about a seat: disclosure and the owner's instructions (§10 `setSeatInfo`).
#[derive(Clone, Debug, PartialEq)]
pub struct SeatInfo {
    /// Who holds the seat.
    pub controller: Controller,
    /// The seat's mandate as JSON: `autonomy`, `directive`, `limits?`, `whenAbsent` (§7). The game enforces `limits`.
    pub mandate: Value,
}

/// What a match is created from (§10 `create`).
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The only source of randomness.
    pub seed: u32,
    /// Options that conform to the manifest's `matchOptions`, defaults not filled in.
    pub options: Option<Value>,
    /// The sides that play: a nonempty subset of the manifest's teams, in manifest order.
    pub teams: Vec<Name>,
    /// A partition of `teams` whose members share outcome and rank.
    pub alliances: Option<BTreeMap<String, Vec<Name>>>,
}

/// The game cannot play this side set or these options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the game cannot be set up like this: {0}")]
pub struct CannotCreate(pub &'static str);

/// A game: its description and how to start a match of it.
pub trait Game: Send + Sync + 'static {
    /// The static description. The host reads it once, at start.
    fn manifest(&self) -> Manifest;

    /// Who decides when the next tick comes.
    fn clock(&self) -> Clock;

    /// Starts a match (§10 `create`).
    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate>;

    /// A built-in bot of the tier `opponent` for a seat, or nothing for a tier this game does not have.
    fn create_bot(&self, seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>>;
}

/// A built-in bot: the game's own code, which sees what its seat sees.
pub trait Bot: Send {
    /// The guarded match data, or null. Called once, before the first think.
    fn init(&mut self, _match_data: &Value) {}

    /// The first tick at which the bot wants to think again. Before it, its host may spare the observation.
    fn next_think(&self) -> u64 {
        0
    }

    /// Intents for the observation of this tick.
    fn think(&mut self, observation: &Value) -> Vec<Value>;
}

/// Which shape of a view is asked for (§10 `view`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// The complete view.
    Snapshot,
    /// Optional top-level members that never change may be left out.
    Periodic,
}

/// One running match (§10). A `team` names a side of this match, a `seat` a side and role of it.
pub trait GameMatch: Send {
    /// Ticks stepped so far.
    fn tick(&self) -> u64;

    /// Advances one tick.
    fn step(&mut self);

    /// How the side stands. Final only once the side is out of play.
    fn outcome(&self, team: &str) -> Outcome;

    /// The side's fogged view, of `manifest.view`.
    fn view(&self, team: &str, kind: ViewKind) -> Value;

    /// The seat's fogged observation, of `manifest.observation`, with events newer than `since` (-1: all kept)
    /// and the sections of `detail` in full.
    fn observe(&self, seat: &Seat, since: i64, detail: &[Name]) -> Value;

    /// Applies one schema-valid intent, or names the manifest error that forbids it. A refused intent changes nothing.
    fn apply(&mut self, seat: &Seat, intent: &Value, context: &Context) -> Result<(), &'static str>;

    /// The side's after-action report, of `manifest.report`.
    fn report(&self, team: &str) -> Value;

    /// Events that the seat may see with `tick > since`, oldest first, each of `manifest.event`.
    fn events(&self, seat: &Seat, since: i64) -> Vec<Value>;

    /// Takes a seat's controller and mandate.
    fn set_seat_info(&mut self, seat: &Seat, info: &SeatInfo);

    /// Immutable data a seat starts from, of `manifest.matchData`. Required when the manifest declares it.
    fn match_data(&self, _seat: &Seat) -> Option<Value> {
        None
    }

    /// What everybody may know of the match before it starts, of `manifest.lobby` (§4 "Lobby phase"). Asked once, when the
    /// match is created; whoever creates it may say something else.
    fn lobby(&self) -> Option<Value> {
        None
    }

    /// An unfogged snapshot for the game's developers, never for a player.
    fn debug_view(&self) -> Option<Value> {
        None
    }

    /// Everything an omniscient observer may see, of `manifest.observer`. Required when the manifest declares it.
    fn observer_view(&self) -> Option<Value> {
        None
    }

    /// An independent copy, random state included.
    fn clone_match(&self) -> Option<Box<dyn GameMatch>> {
        None
    }

    /// The final placement of a side, read once all sides are final: 1, 2, 2, 4.
    fn rank(&self, _team: &str) -> Option<u32> {
        None
    }

    /// Adopts outcomes that the host declared.
    fn end(&mut self, _outcomes: &BTreeMap<Name, Outcome>, _ranks: &BTreeMap<Name, u32>) {}

    /// The signal limits of this match, for games that declare signals. Read once, when the match is created.
    fn signal_limits(&self) -> MatchSignals {
        MatchSignals::Declared
    }

    /// Takes a side out of play, or says that this game has no such thing.
    fn forfeit(&mut self, _team: &str) -> Result<(), NoForfeit> {
        Err(NoForfeit)
    }
}

/// How freely the seats of one match may signal (§10 `signalLimits`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MatchSignals {
    /// As the manifest's `control.signals` says.
    Declared,
    /// Stricter: each limit at most the manifest's. Anything wider fails the creation of the match.
    Narrowed(SignalLimits),
    /// Not at all.
    Off,
}

/// The game has no way to concede.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoForfeit;
