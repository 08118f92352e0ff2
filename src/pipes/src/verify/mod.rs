//! The verifier: replays any log to a verdict per game (contract: tic-tac-toe over pipes).
//!
//! One pass, linear in the bytes of the log. Memory is bounded by [`Bounds`]: per game it holds 32 bytes for each
//! accepted event and the marks of an unfinished board, and nothing for junk. It never allocates a board by its
//! declared size and never sorts what it reads: a shuffled log has to fail.

mod capture;
mod event;
mod game;
mod input;
mod log;
mod loose;
mod report;
mod sig;

use std::io::Read;

pub(crate) use crate::canonical::Hash;
pub use capture::{Capture, LogError};
pub(crate) use event::Body;
pub use event::{Fault, Note};
pub(crate) use game::Started;
pub use game::{EndedBy, State};
pub use log::LogReader;
pub use playerthree_tic_tac_toe_rules::{Dimensions, Mark};
pub use report::{
    Accepted, FaultRow, GameSummary, NoteRow, Options, Params, Played, Report, Seats, SigKeys, Verdict,
};
pub(crate) use sig::{public_tag, sign, verify_tag};

/// The catalog ref of the recipe that this verifier knows.
pub const PROTOCOL: &str = "flurryport:tic-tac-toe";

/// How much of a log the report keeps besides the summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Games, faults and notes.
    #[default]
    Summaries,
    /// Also every accepted event with its hash and signer; memory grows by one row an event.
    Chains,
}

/// What one verification may hold in memory. Past a bound it stops with a [`LogError`]; it never answers by guess.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of one capture or one line.
    pub capture_bytes: usize,
    /// Games in one log.
    pub games: usize,
    /// Accepted events over all games: 32 bytes each, and a mark of about 80 bytes while their game goes on.
    pub accepted_events: usize,
    /// Bytes held back when a log must be reversed (a newest-first listing) or merged (several inboxes).
    pub held_bytes: usize,
    /// Rows kept of each list, `faults` and `ignored`; the rest is counted only.
    pub listed_rows: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            capture_bytes: 4 << 20,
            games: 1 << 20,
            accepted_events: 1 << 24,
            held_bytes: 256 << 20,
            listed_rows: 100_000,
        }
    }
}

/// What a verification is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Facts that the reader has of its own; each given one wins over the log's own `options`.
    pub options: Options,
    /// Read this game alone; notes that belong to no game are then left out.
    pub game: Option<String>,
    /// How much the report keeps.
    pub detail: Detail,
    /// Memory bounds.
    pub bounds: Bounds,
}

/// Verifies a log in any of the shapes that exist: a `pipes-log/1` or exported document (`inboxes`), a listing page
/// (`Requests`), a capture a line, or an event body a line.
///
/// # Errors
/// [`LogError`] when the input cannot be read as a log or passes a bound; its exit status is 2.
pub fn verify(reader: impl Read, request: Request) -> Result<Report, LogError> {
    input::read_log(reader, request)
}
