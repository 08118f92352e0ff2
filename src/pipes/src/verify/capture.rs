//! A row of an inbox as the verifier reads it, and why a log could not be read at all.

/// Why a log could not be read at all. It never carries any part of the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The input failed or ended early.
    #[error("the input could not be read")]
    Io(#[from] std::io::Error),
    /// Not a document, listing, capture lines or event lines.
    #[error("the input is not a log")]
    NotALog,
    /// A line is not what the first line promised.
    #[error("line {0} is not a capture")]
    BadLine(u64),
    /// A capture without its body, which a listing may leave out.
    #[error("a capture has no body")]
    MissingBody,
    /// An option has a wrong shape or a key is malformed.
    #[error("the options are malformed")]
    BadOptions,
    /// Options that come after rows that had to be read already.
    #[error("the options come after the captures in a log too large to hold")]
    LateOptions,
    /// A capture passes [`super::Bounds::capture_bytes`].
    #[error("a capture is too large")]
    CaptureTooLarge,
    /// More games than [`super::Bounds::games`].
    #[error("too many games")]
    TooManyGames,
    /// More accepted events than [`super::Bounds::accepted_events`].
    #[error("too many accepted events")]
    TooManyEvents,
    /// More than 64 inboxes in one log.
    #[error("too many inboxes")]
    TooManyInboxes,
    /// Reversing or merging would pass [`super::Bounds::held_bytes`].
    #[error("the log is too large to reverse or to merge")]
    TooLargeToHold,
}

impl LogError {
    /// The exit status of a program that got this error.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        2
    }
}

/// One row of an inbox.
#[derive(Debug, Clone, Default)]
pub struct Capture {
    /// The inbox's own counter, when it is an integer.
    pub seq: Option<i64>,
    /// The capture id.
    pub id: String,
    /// The key that the transport matched.
    pub signing_ref: Option<String>,
    /// Whether the inbox kept it as evidence only.
    pub rejected: bool,
    /// The posted bytes.
    pub body: Vec<u8>,
}

impl Capture {
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.body.len() + self.signing_ref.as_ref().map_or(0, String::len)
    }
}
