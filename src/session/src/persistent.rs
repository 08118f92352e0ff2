//! Persistent sessions (§18): sessions without an end, as of a world that goes on. Whatever their game reports, every side
//! is `running`, nobody ends them or concedes, and no outcome is recorded anywhere. Their past is kept for a while:
//! `replay/window.rs`.

use crate::game_match::Match;
use crate::{CallError, Code};

/// Most ticks between two checkpoints.
const CHECKPOINT_TICKS_MAX: u32 = 2_147_483_647;

/// Fewest and most checkpoints that are kept.
const CHECKPOINTS_MIN: u32 = 2;
const CHECKPOINTS_MAX: u32 = 100;

/// How much of a persistent session's past is kept: at least the last `(checkpoints - 1) * checkpoint_ticks` ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Persistent {
    pub(crate) checkpoint_ticks: u32,
    pub(crate) checkpoints: u32,
}

impl Persistent {
    /// Keeps a copy of the game each so many ticks (1 to 2147483647) and the newest so many copies (2 to 100). Fails
    /// `invalid` out of these bounds.
    pub fn new(checkpoint_ticks: u32, checkpoints: u32) -> Result<Self, CallError> {
        let within = (1..=CHECKPOINT_TICKS_MAX).contains(&checkpoint_ticks)
            && (CHECKPOINTS_MIN..=CHECKPOINTS_MAX).contains(&checkpoints);
        if within { Ok(Self { checkpoint_ticks, checkpoints }) } else { Err(Code::Invalid.into()) }
    }
}

impl Match {
    /// Whether this is a session without an end.
    pub fn is_persistent(&self) -> bool {
        self.past.is_some()
    }
}
