//! Where the replays of matches go once their rooms are gone (§17 "Recent sessions"). They show what every side did, so
//! whatever keeps them is the operator's alone: no client of a room ever reads one.

use playerthree_session::Replay;
use std::fmt::Debug;

/// Keeps replays for the operator.
pub trait Archive: Debug + Send + Sync + 'static {
    /// Takes the replay of a match that nobody can play or watch any more. Called on the thread of its room, which must not
    /// wait.
    fn keep(&self, match_id: &str, replay: Replay);
}
