//! The members that a game with team signals composes into its manifest (§22.1 `signalSchemas`).
//!
//! Generated from the vocabulary, the cards and the limits alone, so that the check can compare them.

mod board;

pub use board::{BadSignalLimits, SignalBoard, SignalRefusal, is_signal};

use crate::{IntentKind, SignalKind, SignalLimits, Signals};
use playerthree_schema::{Fields, Schema, t};
use std::sync::Arc;

/// Names that the host puts beside a kind's parameters.
pub(crate) const HOST_NAMES: [&str; 8] = ["kind", "id", "from", "to", "tick", "expires", "state", "by"];
/// The states of a signal, in the order of its life (§22.2).
pub const SIGNAL_STATES: [&str; 7] =
    ["submitted", "working", "completed", "rejected", "failed", "canceled", "expired"];
/// What a recipient or the sender may do to a signal.
pub const SIGNAL_UPDATES: [&str; 5] = ["ack", "decline", "done", "fail", "cancel"];
/// The prefix of signal ids.
pub const SIGNAL_ID: &str = "sg";

const MAX_TICK: i64 = 2_147_483_647;

/// The generated members, to be composed into a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalMembers {
    /// `signal` and `signal_update`.
    pub intents: [IntentKind; 2],
    /// The member `signals` of the observation.
    pub observation: Schema,
    /// The member `signals` of the view.
    pub view: Schema,
}

/// Generates the members for these roles, this vocabulary and these limits (§22.1).
pub fn signal_members(roles: &[Arc<str>], signals: &Signals, limits: &SignalLimits) -> SignalMembers {
    let max_open = u64::from(limits.max_open);
    let entry = entry(roles, signals);
    let teammates = (roles.len() as u64).saturating_sub(1);
    let inbox = t::list(entry.clone(), teammates.saturating_mul(max_open));
    let board = t::list(entry.clone(), (roles.len() as u64).saturating_mul(max_open));
    SignalMembers {
        intents: [send(roles, signals), update(roles)],
        observation: t::obj([
            ("inbox", inbox.doc("Signals addressed to you, oldest first.")),
            ("sent", t::list(entry, max_open).doc("Signals you sent.")),
        ]),
        view: board.doc("The team's whole signal board."),
    }
}

/// Roles whose card answers the kind, in manifest order.
pub fn answering_roles(roles: &[Arc<str>], signals: &Signals, kind: &str) -> Vec<Arc<str>> {
    let answers = |role: &&Arc<str>| {
        signals.cards.get(*role).is_some_and(|card| card.iter().any(|skill| &*skill.kind == kind))
    };
    roles.iter().filter(answers).cloned().collect()
}

fn send(roles: &[Arc<str>], signals: &Signals) -> IntentKind {
    let senders =
        roles.iter().filter(|role| signals.kinds.iter().any(|kind| kind.roles.contains(role))).cloned();
    let variants = signals.kinds.iter().map(|kind| {
        let mut fields = kind.params.clone();
        fields.push(("to".into(), addresses(roles, signals, kind)));
        (kind.name.clone(), fields)
    });
    IntentKind {
        name: "signal".into(),
        roles: senders.collect(),
        params: vec![("signal".into(), union(variants.collect()))],
        doc: "Sends a typed request to a teammate, or to the whole team.".into(),
    }
}

fn update(roles: &[Arc<str>]) -> IntentKind {
    IntentKind {
        name: "signal_update".into(),
        roles: roles.to_vec(),
        params: vec![("id".into(), t::id(SIGNAL_ID)), ("update".into(), t::literals(SIGNAL_UPDATES))],
        doc: "Answers a signal sent to you, or cancels one you sent.".into(),
    }
}

fn addresses(roles: &[Arc<str>], signals: &Signals, kind: &SignalKind) -> Schema {
    let answering = answering_roles(roles, signals, &kind.name);
    t::literals(answering.iter().map(|role| &**role).chain(["team"]))
}

/// One signal on the board: a union by kind of its parameters and what the host knows of it.
fn entry(roles: &[Arc<str>], signals: &Signals) -> Schema {
    let variants = signals.kinds.iter().map(|kind| {
        let mut fields = kind.params.clone();
        let answering = answering_roles(roles, signals, &kind.name);
        let mut by = t::literals(answering.iter().map(|role| &**role));
        by = by.doc("The role that took or closed it.");
        fields.extend([
            ("id".into(), t::id(SIGNAL_ID)),
            ("from".into(), t::literals(kind.roles.iter().map(|role| &**role))),
            ("to".into(), addresses(roles, signals, kind)),
            ("tick".into(), t::int(0, MAX_TICK).doc("The tick it was sent.")),
            ("expires".into(), t::int(0, 2 * MAX_TICK).doc("The tick at which it expires if still open.")),
            ("state".into(), t::literals(SIGNAL_STATES)),
            ("by".into(), t::opt(by)),
        ]);
        (kind.name.clone(), fields)
    });
    union(variants.collect())
}

fn union(variants: Vec<(Arc<str>, Fields)>) -> Schema {
    Schema { kind: playerthree_schema::Kind::Union { tag: "kind".into(), variants }, doc: None }
}
