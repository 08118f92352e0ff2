//! Why a replay is refused. Every reason is closed, and none carries any part of the replay but places in it.

use playerthree_game::{Name, SignalRefusal};

/// Why a replay cannot be read or played again (§10 "Replay execution").
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// More than [`super::REPLAY_BYTES_MAX`] bytes.
    #[error("playerthree/replay: the replay is too large")]
    TooLarge,
    /// The text is no JSON object with the members of an envelope, each once and no others.
    #[error("playerthree/replay: not an envelope: line {line}, column {column}")]
    NotAnEnvelope {
        /// Line of the fault, from 1.
        line: usize,
        /// Column of the fault.
        column: usize,
    },
    /// Another format, or another version of it.
    #[error("playerthree/replay: unknown format or version")]
    Format,
    /// A replay of another game.
    #[error("playerthree/replay: game mismatch")]
    Game,
    /// A replay of another version of the game.
    #[error("playerthree/replay: game version mismatch")]
    GameVersion,
    /// A member of the envelope is absent, malformed, or does not fit the game.
    #[error("playerthree/replay: invalid {0}")]
    Member(&'static str),
    /// An entry that no match records.
    #[error("playerthree/replay: entry {index}: {fault}")]
    Entry {
        /// Its place among all recorded entries, from 0.
        index: u64,
        /// What is wrong with it.
        fault: EntryFault,
    },
    /// The game refuses to be set up like this, or its signal limits are out of range.
    #[error("playerthree/replay: the game cannot be created as recorded")]
    CannotCreate,
    /// A replay of a window was to be played from its beginning (§18).
    #[error("playerthree/replay: this replay starts at a checkpoint")]
    StartsAtCheckpoint,
    /// The position lies outside of the replay, or past the target.
    #[error("playerthree/replay: the position does not fit the replay and its target")]
    Position,
    /// The target lies before the window (§18).
    #[error("playerthree/replay: the target is before the window")]
    BeforeWindow,
    /// The target lies past the last recorded tick.
    #[error("playerthree/replay: the target is past the end")]
    PastTheEnd,
    /// The match was over before the tick that is to be stepped to.
    #[error("playerthree/replay: ticks after the end of the match, from tick {0}")]
    AfterTheEnd(u64),
    /// A seat paused the session at this tick and time went on nevertheless (§18).
    #[error("playerthree/replay: a step at tick {0} while the session is paused")]
    SteppedWhilePaused(u64),
    /// A side fares otherwise than recorded.
    #[error("playerthree/replay: the outcome of {0} differs from the recorded one")]
    Outcome(Name),
    /// The ranks are not those of the recorded match.
    #[error("playerthree/replay: the ranks differ from the recorded ones")]
    Ranks,
    /// The game has no such view, or broke its own schema.
    #[error("playerthree/replay: the game has nothing valid to show there")]
    NothingToShow,
    /// The caller gave the reading up.
    #[error("playerthree/replay: cancelled")]
    Cancelled,
}

/// What is wrong with one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryFault {
    /// Not an array that begins with a tick, a side, a role and a kind and has the length of its kind.
    #[error("invalid shape")]
    Shape,
    /// A kind that no entry has.
    #[error("unknown kind")]
    Kind,
    /// Earlier than the entry before it, or than the window.
    #[error("ticks out of order")]
    Order,
    /// Later than the last recorded tick.
    #[error("beyond the end")]
    BeyondTheEnd,
    /// A side that does not play.
    #[error("unknown team")]
    Team,
    /// A role that the game does not have.
    #[error("unknown role")]
    Role,
    /// An intent that its schema or its role's rights refuse.
    #[error("invalid intent")]
    Intent,
    /// A source that no intent of this length has.
    #[error("invalid intent source")]
    Source,
    /// Owner roles that are absent, repeated, foreign, or without the entry's own role.
    #[error("invalid owner roles")]
    OwnerRoles,
    /// A signal recorded as an intent, or the reverse.
    #[error("signals and intents confused")]
    SignalKind,
    /// Not `{controller, mandate}` of the game.
    #[error("invalid seat change")]
    Seat,
    /// Another reason than `agent_absent`.
    #[error("invalid pause reason")]
    PauseReason,
    /// Another reason than `present`, `owner` or `timeout`.
    #[error("invalid resume reason")]
    ResumeReason,
    /// A pause or its end in a game whose sessions are never paused.
    #[error("the game is not pausable")]
    NotPausable,
    /// A second pause of a seat that holds the session already.
    #[error("unpaired pause")]
    UnpairedPause,
    /// A resume of a seat that does not hold the session.
    #[error("unpaired resume")]
    UnpairedResume,
    /// A forfeit in another role than the manifest's first one.
    #[error("invalid forfeit role")]
    ForfeitRole,
    /// A second forfeit of the side.
    #[error("second forfeit")]
    SecondForfeit,
    /// The game does not know how to concede.
    #[error("the game has no forfeit")]
    NoForfeit,
    /// The board refuses the signal.
    #[error("refused signal: {0}")]
    Signal(SignalRefusal),
    /// An input of a side that is out of play.
    #[error("the side is out of play")]
    Out,
}
