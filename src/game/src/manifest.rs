//! A game's static description (§3), plain data that serializes to the manifest's wire form.

use playerthree_schema::{Fields, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A game's static description (§3 "Game description").
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// `^[a-z][a-z0-9-]{0,47}$`; also the name of the game's rooms.
    pub id: Arc<str>,
    /// 1 to 64 UTF-16 units. A replay of another version is refused.
    pub version: Arc<str>,
    /// 1 to 200 UTF-16 units.
    pub title: Arc<str>,
    /// The core rules, 1 to 6000 UTF-16 units.
    pub doc: Arc<str>,
    /// Game ticks per second, 1 to 1000.
    pub tick_rate: u32,
    /// The sides the game declares, unique and nonempty.
    pub teams: Vec<Arc<str>>,
    /// The roles of each side, unique and nonempty.
    pub roles: Vec<Arc<str>>,
    /// One document per role, at most 3500 units.
    pub role_docs: BTreeMap<Arc<str>, Arc<str>>,
    /// On-demand briefing topics in index order.
    pub topics: Vec<Topic>,
    /// Intent kinds in declaration order.
    pub intents: Vec<IntentKind>,
    /// What a seat observes.
    pub observation: Schema,
    /// What a side's players and spectators render.
    pub view: Schema,
    /// Optional detail of an observation.
    pub observation_scope: Option<ObservationScope>,
    /// Immutable data a seat starts from.
    pub match_data: Option<Schema>,
    /// The summary shown in the lobby.
    pub lobby: Option<Schema>,
    /// What an omniscient observer sees.
    pub observer: Option<Schema>,
    /// The owner's objective, carried in the mandate.
    pub directive: Schema,
    /// Restrictions an owner may set; every field optional.
    pub limits: Option<Schema>,
    /// The game's own rejection codes.
    pub errors: Vec<Arc<str>>,
    /// One visible event: an object with `tick` and `kind`.
    pub event: Schema,
    /// Built-in opponent tiers, weakest first.
    pub opponents: Vec<Arc<str>>,
    /// One side's after-action report.
    pub report: Schema,
    /// Options of a match; every field optional.
    pub match_options: Option<Schema>,
    /// Developer skills.
    pub skills: Vec<Skill>,
    /// Input modes and their limits.
    pub control: Control,
    /// Typed requests between teammates (§22). Needs `control.signals` and the generated members.
    pub signals: Option<Signals>,
}

/// The team-signal vocabulary (§22.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Signals {
    /// Kinds of signal in declaration order.
    pub kinds: Vec<SignalKind>,
    /// What each role answers.
    pub cards: BTreeMap<Arc<str>, Vec<SignalSkill>>,
}

/// One kind of signal.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalKind {
    /// Its name.
    pub name: Arc<str>,
    /// Who may send it.
    pub roles: Vec<Arc<str>>,
    /// Its parameters, without text at any depth.
    pub params: Fields,
    /// 1 to 4000 units.
    pub doc: Arc<str>,
}

/// One thing a role answers: a kind, optionally only for some values of its enum parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalSkill {
    /// The kind answered.
    pub kind: Arc<str>,
    /// Enum parameter and the values answered; empty: all.
    pub only: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}

/// One briefing topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// Its name, such as `economy` or `map/terrain`.
    pub name: Arc<str>,
    /// One line, 1 to 160 units.
    pub summary: Arc<str>,
    /// 1 to 8000 units.
    pub text: Arc<str>,
}

impl Topic {
    /// Its line in the index: `name — summary` (§3).
    pub fn index_line(&self) -> String {
        format!("{} — {}", self.name, self.summary)
    }
}

/// One kind of intent: `{ "kind": <name>, ...params }`.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentKind {
    /// The value of `kind`.
    pub name: Arc<str>,
    /// Who may send it.
    pub roles: Vec<Arc<str>>,
    /// Its parameters.
    pub params: Fields,
    /// 1 to 4000 units.
    pub doc: Arc<str>,
}

/// Sections of an observation that a seat may ask for in full (§3 "Observation scope").
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationScope {
    /// Closed section names.
    pub sections: Vec<Arc<str>>,
    /// What each role gets in full without asking.
    pub defaults: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}

/// A static developer skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// `^[a-z0-9]+(-[a-z0-9]+)*$`, at most 64 units.
    pub name: Arc<str>,
    /// 1 to 1024 units.
    pub description: Arc<str>,
    /// Path to text; `SKILL.md` is required.
    pub files: BTreeMap<Arc<str>, Arc<str>>,
}

/// Input modes and their limits (§3 "Control modes and limits"). A mode that is absent is off.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Direct intents.
    pub intents: IntentLimits,
    /// Scheduled plans.
    pub sequence: Option<SequenceLimits>,
    /// Deployed code.
    pub policy: Option<PolicyLimits>,
    /// Pushed observations.
    pub stream: Option<StreamLimits>,
    /// Headless trial matches.
    pub practice: Option<PracticeLimits>,
    /// Published policies: most per principal, 1 to 1000.
    pub pool: Option<PoolLimits>,
    /// Owner chat.
    pub chat: Option<ChatLimits>,
    /// The session may stand still for an absent seat.
    pub pausable: Option<PauseLimits>,
    /// Team signals.
    pub signals: Option<SignalLimits>,
}

/// Limits of direct intents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntentLimits {
    /// Sustained rate, 0.01 to 1000.
    pub per_second: f64,
    /// Bucket size, 1 to 10000.
    pub burst: u32,
}

/// Limits of scheduled plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceLimits {
    /// Most steps, 1 to 10000.
    pub max_steps: u32,
    /// Furthest step, in ticks.
    pub max_ticks_ahead: u32,
    /// Least distance between steps, in ticks, at least 1.
    pub min_spacing_ticks: u32,
}

/// A policy language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// JavaScript.
    Js,
    /// WebAssembly.
    Wasm,
}

impl Runtime {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Js => "js",
            Self::Wasm => "wasm",
        }
    }

    /// The runtime of this wire name.
    pub fn from_wire(name: &str) -> Option<Self> {
        match name {
            "js" => Some(Self::Js),
            "wasm" => Some(Self::Wasm),
            _ => None,
        }
    }
}

/// Limits of deployed policies.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyLimits {
    /// Allowed languages, nonempty.
    pub runtimes: Vec<Runtime>,
    /// Thinks per second, 0.01 to the tick rate.
    pub hz: f64,
    /// CPU milliseconds of one think, 1 to 1000.
    pub ms_per_call: u32,
    /// Memory of one instance, 1 MiB to 1 GiB.
    pub memory_bytes: u32,
    /// Largest artifact, 1 to 700000 bytes.
    pub max_artifact_bytes: u32,
    /// Intents kept of one think, 1 to 1000.
    pub max_intents_per_call: u32,
    /// Log lines kept of one call, 0 to 1000.
    pub max_log_lines: u32,
    /// Bytes kept of one log line, 1 to 4096.
    pub max_log_line_bytes: u32,
}

/// Limits of stream mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamLimits {
    /// Observations per second, 0.01 to the tick rate.
    pub max_hz: f64,
    /// Intents per tick, 1 to 1000.
    pub intents_per_tick: u32,
}

/// Limits of practice matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PracticeLimits {
    /// Longest practice, 1 to 10000000 ticks.
    pub max_ticks: u32,
    /// At once per principal, 1 to 64.
    pub concurrent: u32,
}

/// Limits of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Most published policies per principal, 1 to 1000.
    pub max_published_per_principal: u32,
}

/// Limits of owner chat.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatLimits {
    /// Longest owner message, 1 to 500 UTF-16 units.
    pub max_tell_chars: u32,
    /// Longest agent reply, 1 to 280 UTF-16 units.
    pub max_say_chars: u32,
    /// A place or thing an owner may point at.
    pub ping: Option<Schema>,
}

/// Limits of pausing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseLimits {
    /// Longest pause, 1 to 604800 seconds of wall time; none: without end.
    pub max_pause_seconds: Option<u32>,
}

/// Limits of team signals (§22.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalLimits {
    /// New signals per second of game time, 0.01 to 100.
    pub per_second: f64,
    /// Bucket size, 1 to 100.
    pub burst: u32,
    /// Open signals per sender, 1 to 32.
    pub max_open: u32,
    /// Ticks until an open signal expires, at least 1.
    pub ttl_ticks: u32,
    /// Ticks that a closed signal stays visible.
    pub keep_ticks: u32,
}
