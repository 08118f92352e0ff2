//! Scrubbing replays (§17): who may move about in which replay at once, and for how long. What is played is the session's
//! [`Timeline`]; no live match is ever touched.
//!
//! Calls block while they play, so they belong on a thread that may.

use playerthree_session::{Position, Replay, ReplayError, Surface, Timeline};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Timelines that are kept, those of running simulations included.
pub const TIMELINES_MAX: usize = 4;

/// Simulations that run at once, one for each source.
pub const SIMULATIONS_MAX: usize = 2;

/// Last tick that can be scrubbed to, and where the game cannot be copied. They count from the checkpoint that a seek is
/// handed, else from the window's beginning.
pub const SCRUB_TICKS_MAX: u64 = 36_000;
/// See [`SCRUB_TICKS_MAX`].
pub const SCRUB_TICKS_UNCOPIED_MAX: u64 = 20_000;

/// Entries of the longest replay that can be scrubbed.
pub const SCRUB_ENTRIES_MAX: usize = 100_000;

/// How long one seek may take.
pub const SEEK_TIME_MAX: Duration = Duration::from_secs(120);

/// Why there is nothing to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScrubError {
    /// The source is being scrubbed already, or as many simulations run as may.
    #[error("busy")]
    Busy,
    /// The tick is past the last one that can be scrubbed to.
    #[error("the tick is past {0}, the last one that can be scrubbed to")]
    TooLate(u64),
    /// The replay has more than [`SCRUB_ENTRIES_MAX`] entries.
    #[error("the replay has more entries than can be scrubbed")]
    TooManyEntries,
    /// The seek took longer than [`SEEK_TIME_MAX`].
    #[error("the seek took too long")]
    Deadline,
    /// The replay itself is refused, or whoever asked gave up.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// What is to be scrubbed.
pub struct Scrub<'a> {
    /// Names one match, whose replay may grow, or one file.
    pub source: &'a str,
    /// The game of the replay.
    pub surface: &'a Surface,
    /// What was recorded up to now.
    pub replay: &'a Replay,
    /// For the replay of a persistent session: the kept checkpoint nearest to the target, from which it is played (§18).
    pub checkpoint: Option<Position>,
    /// The tick to go to.
    pub target: u64,
}

/// The timelines of one console.
#[derive(Default)]
pub struct Scrubber(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The least recently used first.
    resting: VecDeque<(String, Timeline)>,
    running: Vec<String>,
}

impl Scrubber {
    /// Goes to a tick and hands the place to `look`. It blocks until then, until `gone` is cancelled, or for
    /// [`SEEK_TIME_MAX`] at most; both ends are looked at between two ticks.
    ///
    /// # Errors
    /// Every bound of §17 has its own error; nothing is shown of a seek that did not arrive.
    pub fn seek<T>(
        &self,
        scrub: Scrub<'_>,
        gone: &CancellationToken,
        look: impl FnOnce(&Position) -> T,
    ) -> Result<T, ScrubError> {
        check_bounds(&scrub)?;
        let mut place = self.enter(scrub.source).ok_or(ScrubError::Busy)?;
        check_copies(&scrub)?;
        let until = Instant::now() + SEEK_TIME_MAX;
        let mut is_late = false;
        let mut watch = |_| {
            is_late = Instant::now() >= until;
            if is_late || gone.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // What was at hand of an earlier window may lie before the present one.
        if let Some(checkpoint) = scrub.checkpoint {
            place.timeline = Timeline::from_checkpoint(checkpoint);
        }
        match place.timeline.seek(scrub.surface, scrub.replay, scrub.target, &mut watch) {
            Ok(position) => Ok(look(position)),
            Err(ReplayError::Cancelled) if is_late => Err(ScrubError::Deadline),
            Err(error) => Err(error.into()),
        }
    }

    /// A place among the running simulations, with what is at hand of the source.
    fn enter(&self, source: &str) -> Option<Running<'_>> {
        let mut kept = self.kept();
        if kept.running.len() == SIMULATIONS_MAX || kept.running.iter().any(|other| other == source) {
            return None;
        }
        let resting = kept.resting.iter().position(|(other, _)| other == source);
        let timeline = resting.and_then(|place| kept.resting.remove(place)).map(|(_, timeline)| timeline);
        kept.running.push(source.to_owned());
        while kept.resting.len() + kept.running.len() > TIMELINES_MAX {
            kept.resting.pop_front();
        }
        Some(Running { scrubber: self, source: source.to_owned(), timeline: timeline.unwrap_or_default() })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tick from which a seek counts.
fn beginning(scrub: &Scrub<'_>) -> u64 {
    let window = scrub.replay.window().map_or(0, |window| window.from);
    scrub.checkpoint.as_ref().map_or(window, Position::tick)
}

/// The bounds that are known before there is a game.
fn check_bounds(scrub: &Scrub<'_>) -> Result<(), ScrubError> {
    if scrub.replay.entries().len() > SCRUB_ENTRIES_MAX {
        return Err(ScrubError::TooManyEntries);
    }
    let first = beginning(scrub);
    if scrub.target.saturating_sub(first) > SCRUB_TICKS_MAX {
        return Err(ScrubError::TooLate(first.saturating_add(SCRUB_TICKS_MAX)));
    }
    Ok(())
}

/// The bound of a game that cannot be copied. Persistent sessions are of games that can (§18).
fn check_copies(scrub: &Scrub<'_>) -> Result<(), ScrubError> {
    let is_far = scrub.target.saturating_sub(beginning(scrub)) > SCRUB_TICKS_UNCOPIED_MAX;
    if is_far && scrub.checkpoint.is_none() && Position::start(scrub.surface, scrub.replay)?.copy().is_none()
    {
        return Err(ScrubError::TooLate(SCRUB_TICKS_UNCOPIED_MAX));
    }
    Ok(())
}

/// One running simulation. Its timeline rests again when it ends, however it does.
struct Running<'a> {
    scrubber: &'a Scrubber,
    source: String,
    timeline: Timeline,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut kept = self.scrubber.kept();
        kept.running.retain(|other| *other != self.source);
        let timeline = std::mem::take(&mut self.timeline);
        kept.resting.push_back((std::mem::take(&mut self.source), timeline));
    }
}
