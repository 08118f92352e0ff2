//! Replays (§10, §18, §22.4): what a match was created from and every input that reached its game, in recording order,
//! so that it can be played again to the same states.
//!
//! A replay holds no text of people but the mandates that the game was told, no artifact, and no identity of an owner.

mod entry;
mod envelope;
mod error;
mod execution;
mod position;
mod read;
mod recorder;
mod showing;
mod timeline;
mod window;

pub(crate) use entry::PAUSE_REASON;
pub use entry::{Entry, Input, JsonText, ResumeReason};
pub use envelope::{FORMAT, INPUTS_SHOWN, Replay, VERSION, Window};
pub use error::{EntryFault, ReplayError};
pub use execution::{Watch, replay_match};
pub use position::Position;
pub use read::{ENTRIES_MAX, REPLAY_BYTES_MAX, TICKS_MAX};
pub(crate) use recorder::Recorder;
pub use recorder::{NotKept, RECORDED_BYTES_MAX};
pub use showing::{NoPerspective, Perspective};
pub use timeline::{CHECKPOINT_BYTES_MAX, CHECKPOINT_TICKS, CHECKPOINTS_MAX, Timeline};
pub(crate) use window::Past;
