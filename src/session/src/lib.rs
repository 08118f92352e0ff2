//! One match: seats, gates, views, waits, policies and observers, as rules without a runtime.
//!
//! This crate does no I/O, reads no clock and draws no randomness: time, seeds and the answers of policies are handed
//! in, and what must leave is handed out.

mod ack;
mod approval;
mod bucket;
mod calls;
mod cards;
mod chat;
mod commander;
mod cursor;
mod deploying;
mod error;
mod game_match;
mod gates;
mod guard;
mod lane_policies;
mod lanes;
mod library;
mod mandate;
mod observer;
mod observing;
mod outcomes;
mod pausing;
mod persistent;
mod policy;
mod policy_results;
mod policy_slot;
mod pool;
mod practice;
mod replay;
mod roster;
mod seat;
mod seated_policy;
mod seating;
mod sequencing;
mod showing;
mod signals;
mod start;
mod status;
mod streaming;
mod surface;
mod thinking;
mod tools;
mod views;
mod waiting;

pub use ack::Ack;
pub use bucket::Bucket;
pub use calls::{Call, INTENTS_MAX, Observe, Wait};
pub use cards::{LABEL_MAX, Label, Metadata};
pub use chat::{INBOX_MAX, Inbox, Message, Said, Tell, chat_text};
pub use commander::{CommanderId, CommanderKind, Isolation, Seated, Settings};
pub use deploying::trial_stats;
pub use error::{CallError, Code};
pub use game_match::{CannotStart, Changes, Config, Match};
pub use gates::Barred;
pub use guard::{Guarded, MATCH_DATA_MAX_BYTES, Refused};
pub use lanes::{
    COMMANDER_NAME_MAX, COMMANDERS_MAX, COMMANDERS_PER_OWNER, Commanders, Draft, Place, Reservation, Taken,
    TellCommanders, ToldLane,
};
pub use library::{LIBRARY_BYTES, Library, SHELF_BYTES, Shelf, VERSIONS_KEPT};
pub use mandate::{Autonomy, MANDATE_UNITS_MAX, Mandate, Scope, WhenAbsent};
pub use observer::{
    FrameContent, FrameKey, OBSERVER_BATCH, ObserverFrame, ObserverGrant, ObserverPerspective,
    ObserverPolicy, ObserverState, PUBLIC_DELAY_MIN,
};
pub use outcomes::Ending;
pub use persistent::Persistent;
pub use policy::{Artifact, POLICY_ERROR_CODES, PolicyError, Stats, Thought, runtime_name};
pub use policy_slot::{Activated, Activation, Approved, Deploy, Publication, Publish};
pub use pool::{
    Draftee, POOL_BYTES, POOL_BYTES_PER_OWNER, POOL_ENTRIES, POOL_PAGE, PolicyId, Pool, PoolQuery,
};
pub use practice::Practice;
pub use replay::{
    CHECKPOINT_BYTES_MAX, CHECKPOINT_TICKS, CHECKPOINTS_MAX, ENTRIES_MAX, Entry, EntryFault,
    FORMAT as REPLAY_FORMAT, INPUTS_SHOWN, Input, JsonText, NoPerspective, NotKept, Perspective, Position,
    RECORDED_BYTES_MAX, REPLAY_BYTES_MAX, Replay, ReplayError, ResumeReason, TICKS_MAX, Timeline,
    VERSION as REPLAY_VERSION, Watch, Window, replay_match,
};
pub use seat::{Handover, Occupant, OwnerControl, OwnerId, PRESENCE_MS, Right};
pub use seated_policy::{FromLibrary, PolicyCode, SeatedPolicy};
pub use seating::Assignment;
pub use sequencing::{Plan, PlanStep, Rejection, Sequenced};
pub use start::{READY_SECONDS_MAX, StartKind, StartsWhen};
pub use status::SeatStatus;
pub use streaming::{Pushed, StreamRequest};
pub use surface::Surface;
pub use thinking::Think;
pub use tools::{RESULT_TEXT_MAX, Tool};
pub use views::{BATCH, ViewMessage};
pub use waiting::{WAITS_MAX, WaitId, Waiting};

/// Milliseconds of a monotonic clock whose zero is the start of the match or of the process, as the caller chose.
pub type Millis = u64;
