//! What a game is: its manifest, the adapter contract, and what an agent may know of it.
//!
//! This crate does no I/O and reads no clock.

mod adapter;
mod check;
mod checked;
mod fault;
mod frontmatter;
mod knowledge;
mod lint;
mod manifest;
mod signals;
mod surface;
mod wire;

pub use adapter::{
    Bot, CannotCreate, Clock, Context, Controller, Game, GameMatch, MatchSignals, Name, NoForfeit, Outcome,
    Seat, SeatInfo, Setup, Source, ViewKind,
};
pub use checked::{Checked, Detail};
pub use fault::Fault;
pub use knowledge::{Knowledge, Phase, SKILL_WINDOW_MAX, SeatFacts, SkillWindow, TOPIC_PAGE_MAX, TopicPage};
pub use lint::LintReport;
pub use lint::lint;
pub use manifest::{
    ChatLimits, Control, IntentKind, IntentLimits, Manifest, ObservationScope, PauseLimits, PolicyLimits,
    PoolLimits, PracticeLimits, Runtime, SequenceLimits, SignalKind, SignalLimits, SignalSkill, Signals,
    Skill, StreamLimits, Topic,
};
pub use playerthree_schema::{Fields, Schema, t};
pub use signals::{
    BadSignalLimits, SIGNAL_ID, SIGNAL_STATES, SIGNAL_UPDATES, SignalBoard, SignalMembers, SignalRefusal,
    answering_roles, is_signal, signal_members,
};
pub use surface::surface_hash;
