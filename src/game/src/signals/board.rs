//! One team's signal board (§22.2 to §22.4): what its seats asked of each other, and how each request stands.
//!
//! A deterministic function of accepted signal intents and ticks: no clock, no randomness, and a refused intent changes
//! nothing, not even how buckets refill. A board knows one team and can show nothing of another.

use super::SIGNAL_ID;
use crate::{Checked, MatchSignals, Name, SignalKind, SignalLimits, SignalSkill};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Ids count from 1 and have at most nine digits; the one after the last is the first again.
const LAST_ID: u32 = 999_999_999;

/// The kinds of intent that reach the board instead of the game.
const SEND: &str = "signal";
const UPDATE: &str = "signal_update";

/// The address of every teammate whose card answers.
const EVERYBODY: &str = "team";

/// Why the board refuses a signal intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignalRefusal {
    /// The kind does not list the sender's role.
    #[error("forbidden_role")]
    ForbiddenRole,
    /// The sender's bucket is empty.
    #[error("rate_limited")]
    RateLimited,
    /// This match has no signals.
    #[error("disabled")]
    Disabled,
    /// No teammate's card answers this kind and payload at this address.
    #[error("unsupported")]
    Unsupported,
    /// No signal of this id is on the board.
    #[error("unknown_signal")]
    UnknownSignal,
    /// The signal is not the sender's to answer or to cancel.
    #[error("not_recipient")]
    NotRecipient,
    /// The signal is closed.
    #[error("closed")]
    Closed,
    /// The sender has as many open signals as it may.
    #[error("too_many_open")]
    TooManyOpen,
}

impl SignalRefusal {
    /// The refusals that an ack carries as `signalCode` (§22.2), in the order of the contract.
    pub const CODES: [Self; 6] = [
        Self::Disabled,
        Self::Unsupported,
        Self::UnknownSignal,
        Self::NotRecipient,
        Self::Closed,
        Self::TooManyOpen,
    ];

    /// The closed code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ForbiddenRole => "forbidden_role",
            Self::RateLimited => "rate_limited",
            Self::Disabled => "disabled",
            Self::Unsupported => "unsupported",
            Self::UnknownSignal => "unknown_signal",
            Self::NotRecipient => "not_recipient",
            Self::Closed => "closed",
            Self::TooManyOpen => "too_many_open",
        }
    }
}

/// A match's own limits are wider than the manifest's, or out of range (§10 `signalLimits`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the match's signal limits are out of the manifest's")]
pub struct BadSignalLimits;

/// How a signal stands (§22.2 "Lifecycle").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Submitted,
    Working,
    Closed(Closed),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closed {
    Completed,
    Rejected,
    Failed,
    Canceled,
    Expired,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::Closed(Closed::Completed) => "completed",
            Self::Closed(Closed::Rejected) => "rejected",
            Self::Closed(Closed::Failed) => "failed",
            Self::Closed(Closed::Canceled) => "canceled",
            Self::Closed(Closed::Expired) => "expired",
        }
    }

    fn is_open(self) -> bool {
        !matches!(self, Self::Closed(_))
    }
}

/// What an update asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    Ack,
    Decline,
    Close(Closed),
    Cancel,
}

impl Update {
    fn read(name: &str) -> Option<Self> {
        match name {
            "ack" => Some(Self::Ack),
            "decline" => Some(Self::Decline),
            "done" => Some(Self::Close(Closed::Completed)),
            "fail" => Some(Self::Close(Closed::Failed)),
            "cancel" => Some(Self::Cancel),
            _ => None,
        }
    }
}

/// One signal.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    id: u32,
    /// The kind, its parameters and `to`, as they were sent.
    payload: Map<String, Value>,
    from: Name,
    /// Whom it was delivered to and who did not decline.
    recipients: Vec<Name>,
    tick: u64,
    expires: u64,
    state: State,
    by: Option<Name>,
    /// The tick at which it closed.
    closed_at: Option<u64>,
}

impl Entry {
    fn id(&self) -> String {
        format!("{SIGNAL_ID}_{}", self.id)
    }

    fn is_for(&self, role: &str) -> bool {
        self.recipients.iter().any(|recipient| &**recipient == role)
    }

    fn close(&mut self, how: Closed, tick: u64) {
        self.state = State::Closed(how);
        self.closed_at = Some(tick);
    }

    fn to_json(&self) -> Value {
        let mut entry = self.payload.clone();
        entry.insert("id".into(), json!(self.id()));
        entry.insert("from".into(), json!(self.from));
        entry.insert("tick".into(), json!(self.tick));
        entry.insert("expires".into(), json!(self.expires));
        entry.insert("state".into(), json!(self.state.as_str()));
        if let Some(by) = &self.by {
            entry.insert("by".into(), json!(by));
        }
        Value::Object(entry)
    }
}

/// A bucket over ticks. Only what it gives changes it, so that refused signals leave no trace (§22.4).
#[derive(Clone, Debug, PartialEq)]
struct Bucket {
    tokens: f64,
    filled_at: u64,
}

/// The signals of one team in one match.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalBoard {
    manifest: Checked,
    /// Nothing: signals are off.
    limits: Option<SignalLimits>,
    /// In the order sent. At most `maxOpen` of each sender.
    entries: Vec<Entry>,
    last_id: u32,
    /// Of every role that has sent.
    buckets: BTreeMap<Name, Bucket>,
    /// How often each role's slice got a new entry or one of its entries a new state.
    changes: BTreeMap<Name, u64>,
}

/// Whether an accepted intent is one for the board (§22.2).
pub fn is_signal(manifest: &Checked, intent: &Value) -> bool {
    manifest.signals.is_some() && [SEND, UPDATE].iter().any(|kind| intent["kind"] == **kind)
}

impl SignalBoard {
    /// An empty board with the limits of this match ([`crate::GameMatch::signal_limits`]). In a game that declares no
    /// signals it refuses everything.
    pub fn new(manifest: &Checked, limits: MatchSignals) -> Result<Self, BadSignalLimits> {
        let limits = match (manifest.control.signals, limits) {
            (declared, MatchSignals::Declared) => declared,
            (_, MatchSignals::Off) => None,
            (Some(most), MatchSignals::Narrowed(wanted)) if narrows(&wanted, &most) => Some(wanted),
            (_, MatchSignals::Narrowed(_)) => return Err(BadSignalLimits),
        };
        Ok(Self {
            manifest: manifest.clone(),
            limits,
            entries: Vec::new(),
            last_id: 0,
            buckets: BTreeMap::new(),
            changes: BTreeMap::new(),
        })
    }

    /// Whether the sender's role may send the signal of this intent at all (§22.2): an update is everybody's.
    pub fn allows(manifest: &Checked, role: &str, intent: &Value) -> bool {
        intent["kind"] != SEND
            || kind_of(manifest, intent).is_some_and(|kind| kind.roles.iter().any(|sender| &**sender == role))
    }

    /// Applies one signal intent that the manifest accepts, sent by a role of this team at this tick.
    pub fn apply(&mut self, role: &Name, intent: &Value, tick: u64) -> Result<(), SignalRefusal> {
        let limits = self.limits.ok_or(SignalRefusal::Disabled)?;
        if intent["kind"] == SEND {
            self.send(&limits, role, intent, tick)
        } else {
            self.update(role, intent, tick)
        }
    }

    fn send(
        &mut self,
        limits: &SignalLimits,
        role: &Name,
        intent: &Value,
        tick: u64,
    ) -> Result<(), SignalRefusal> {
        if !Self::allows(&self.manifest, role, intent) {
            return Err(SignalRefusal::ForbiddenRole);
        }
        let payload = intent["signal"].as_object().ok_or(SignalRefusal::Unsupported)?;
        let recipients = self.recipients(role, payload);
        if recipients.is_empty() {
            return Err(SignalRefusal::Unsupported);
        }
        let of_sender = |entry: &&Entry| entry.from == *role;
        if at_least(self.entries.iter().filter(of_sender).filter(|entry| entry.state.is_open()), limits) {
            return Err(SignalRefusal::TooManyOpen);
        }
        self.take_token(limits, role, tick)?;
        if at_least(self.entries.iter().filter(of_sender), limits)
            && let Some(oldest) =
                self.entries.iter().position(|entry| entry.from == *role && !entry.state.is_open())
        {
            self.entries.remove(oldest);
        }
        self.last_id = self.next_id();
        for recipient in &recipients {
            changed(&mut self.changes, recipient);
        }
        self.entries.push(Entry {
            id: self.last_id,
            payload: payload.clone(),
            from: role.clone(),
            recipients,
            tick,
            expires: tick.saturating_add(u64::from(limits.ttl_ticks)),
            state: State::Submitted,
            by: None,
            closed_at: None,
        });
        Ok(())
    }

    /// Teammates whose card answers the signal at its address, in manifest order. The sender never counts.
    fn recipients(&self, sender: &str, payload: &Map<String, Value>) -> Vec<Name> {
        let Some(signals) = &self.manifest.signals else { return Vec::new() };
        let to = payload.get("to").and_then(Value::as_str).unwrap_or_default();
        let is_addressed = |role: &&Name| &***role != sender && (to == EVERYBODY || to == &***role);
        let answers = |role: &&Name| {
            let card = signals.cards.get(*role).map_or(&[][..], Vec::as_slice);
            card.iter().any(|skill| answers(skill, payload))
        };
        self.manifest.roles.iter().filter(is_addressed).filter(answers).cloned().collect()
    }

    fn take_token(&mut self, limits: &SignalLimits, role: &Name, tick: u64) -> Result<(), SignalRefusal> {
        let burst = f64::from(limits.burst);
        let full = Bucket { tokens: burst, filled_at: tick };
        let bucket = self.buckets.entry(role.clone()).or_insert(full);
        // Ticks stay far below 2^52, so the conversion is exact.
        #[expect(clippy::cast_precision_loss, reason = "ticks are bounded by the manifest's schema")]
        let elapsed = tick.saturating_sub(bucket.filled_at) as f64;
        let per_tick = limits.per_second / f64::from(self.manifest.tick_rate);
        let tokens = (bucket.tokens + elapsed * per_tick).min(burst);
        if tokens < 1.0 {
            return Err(SignalRefusal::RateLimited);
        }
        *bucket = Bucket { tokens: tokens - 1.0, filled_at: tick };
        Ok(())
    }

    fn next_id(&self) -> u32 {
        let after = |id: u32| if id >= LAST_ID { 1 } else { id + 1 };
        let mut id = after(self.last_id);
        while self.entries.iter().any(|entry| entry.id == id) {
            id = after(id);
        }
        id
    }

    fn update(&mut self, role: &Name, intent: &Value, tick: u64) -> Result<(), SignalRefusal> {
        let wanted = intent["id"].as_str().unwrap_or_default();
        let update = intent["update"].as_str().and_then(Update::read).ok_or(SignalRefusal::UnknownSignal)?;
        let entry = self.entries.iter_mut().find(|entry| entry.id() == wanted);
        let entry = entry.ok_or(SignalRefusal::UnknownSignal)?;
        if !entry.state.is_open() {
            return Err(SignalRefusal::Closed);
        }
        let before = entry.state;
        match update {
            Update::Cancel if entry.from == *role => entry.close(Closed::Canceled, tick),
            Update::Cancel => return Err(SignalRefusal::NotRecipient),
            _ if !entry.is_for(role) || entry.by.as_ref().is_some_and(|by| by != role) => {
                return Err(SignalRefusal::NotRecipient);
            }
            Update::Ack => {
                entry.state = State::Working;
                entry.by = Some(role.clone());
            }
            Update::Decline => decline(entry, role, tick),
            Update::Close(how) => {
                entry.by = Some(role.clone());
                entry.close(how, tick);
            }
        }
        if entry.state != before {
            tell(&mut self.changes, entry);
        }
        Ok(())
    }

    /// Turns the board over to a new tick, before any input of it (§22.4): expiry, then removal of what has been closed
    /// for longer than `keepTicks`.
    pub fn turn_over(&mut self, tick: u64) {
        let Some(limits) = &self.limits else { return };
        for entry in &mut self.entries {
            if entry.state.is_open() && entry.expires <= tick {
                entry.close(Closed::Expired, tick);
                tell(&mut self.changes, entry);
            }
        }
        let keep = u64::from(limits.keep_ticks);
        self.entries.retain(|entry| entry.closed_at.is_none_or(|at| tick.saturating_sub(at) <= keep));
    }

    /// A role's slice, the member `signals` of its observation (§22.3).
    pub fn slice(&self, role: &str) -> Value {
        let list = |of: &dyn Fn(&Entry) -> bool| -> Value {
            self.entries.iter().filter(|entry| of(entry)).map(Entry::to_json).collect()
        };
        json!({
            "inbox": list(&|entry| entry.is_for(role)),
            "sent": list(&|entry| &*entry.from == role),
        })
    }

    /// The whole board, the member `signals` of the team's view.
    pub fn to_json(&self) -> Value {
        self.entries.iter().map(Entry::to_json).collect()
    }

    /// Counts what a wait of this role wakes for: new inbox entries, and new states of signals it sent or received.
    pub fn changes(&self, role: &str) -> u64 {
        self.changes.get(role).copied().unwrap_or(0)
    }

    /// Counts what waits of any role wake for.
    pub fn all_changes(&self) -> u64 {
        self.changes.values().sum()
    }
}

/// A recipient steps back. The last one closes the signal; the one who had taken it gives it back to the others.
fn decline(entry: &mut Entry, role: &Name, tick: u64) {
    entry.recipients.retain(|recipient| recipient != role);
    if entry.recipients.is_empty() {
        entry.by = Some(role.clone());
        entry.close(Closed::Rejected, tick);
    } else {
        entry.by = None;
        entry.state = State::Submitted;
    }
}

/// A signal's state changed: its sender and its recipients are told.
fn tell(changes: &mut BTreeMap<Name, u64>, entry: &Entry) {
    for role in entry.recipients.iter().chain([&entry.from]) {
        changed(changes, role);
    }
}

fn changed(changes: &mut BTreeMap<Name, u64>, role: &Name) {
    *changes.entry(role.clone()).or_default() += 1;
}

fn kind_of<'a>(manifest: &'a Checked, intent: &Value) -> Option<&'a SignalKind> {
    let name = intent["signal"]["kind"].as_str()?;
    manifest.signals.as_ref()?.kinds.iter().find(|kind| &*kind.name == name)
}

/// Whether a card's skill answers this payload: its kind, and for every condition one of the listed values.
fn answers(skill: &SignalSkill, payload: &Map<String, Value>) -> bool {
    let holds = |(param, values): (&Name, &Vec<Name>)| {
        let value = payload.get(&**param).and_then(Value::as_str);
        value.is_some_and(|value| values.iter().any(|listed| &**listed == value))
    };
    payload.get("kind").is_some_and(|kind| *kind == *skill.kind) && skill.only.iter().all(holds)
}

fn at_least<'a>(entries: impl Iterator<Item = &'a Entry>, limits: &SignalLimits) -> bool {
    u32::try_from(entries.count()).is_ok_and(|count| count >= limits.max_open)
}

/// Whether limits lie within the schema's least values and the declared most (§10 `signalLimits`).
fn narrows(wanted: &SignalLimits, most: &SignalLimits) -> bool {
    (0.01..=most.per_second).contains(&wanted.per_second)
        && (1..=most.burst).contains(&wanted.burst)
        && (1..=most.max_open).contains(&wanted.max_open)
        && (1..=most.ttl_ticks).contains(&wanted.ttl_ticks)
        && wanted.keep_ticks <= most.keep_ticks
}
