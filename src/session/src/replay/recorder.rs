//! What a match keeps of its inputs while it runs. Recording never fails a match: one that outgrows its bound plays on
//! without a replay.

use super::entry::{Entry, Input, JsonText};
use super::envelope::{Replay, Window};
use crate::game_match::Match;
use playerthree_game::{Context, Seat, SeatInfo, Setup};
use serde_json::Value;

/// Bytes of JSON that the entries of one match may take, about 150,000 of them. A match that records more keeps none.
pub const RECORDED_BYTES_MAX: usize = 15 * 1024 * 1024;

/// The match recorded more than [`RECORDED_BYTES_MAX`] and keeps no replay, or was told to keep none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no replay of the match is kept")]
pub struct NotKept;

/// The inputs of one match.
#[derive(Debug)]
pub(crate) struct Recorder {
    seed: u32,
    /// Nothing once the match outgrew its bound, or is to keep none.
    entries: Option<Vec<Entry>>,
    /// Bytes of JSON that the entries take, about.
    bytes: usize,
    /// Entries that were recorded so far, kept or not.
    next: u64,
}

impl Recorder {
    pub(crate) fn seed(&self) -> u32 {
        self.seed
    }

    pub(crate) fn new(seed: u32) -> Self {
        Self { seed, entries: Some(Vec::new()), bytes: 0, next: 0 }
    }

    fn record(&mut self, entry: Entry) {
        self.next += 1;
        let Some(entries) = &mut self.entries else { return };
        self.bytes += entry.weight();
        if self.bytes > RECORDED_BYTES_MAX {
            tracing::warn!(entries = entries.len(), "a match outgrew its replay, and keeps none");
            self.entries = None;
        } else {
            entries.push(entry);
        }
    }

    /// The index of the entry that comes next, counted from the first that was ever recorded.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Whether the entries stayed within their bound.
    pub(super) fn is_keeping(&self) -> bool {
        self.entries.is_some()
    }

    /// Keeps entries again, from the next one on.
    pub(super) fn begin_anew(&mut self) {
        self.entries = Some(Vec::new());
        self.bytes = 0;
    }

    /// Drops every entry before the one of this index.
    pub(super) fn forget_before(&mut self, index: u64) {
        let dropped = self.dropped();
        let Some(entries) = &mut self.entries else { return };
        let gone = usize::try_from(index.saturating_sub(dropped)).unwrap_or(usize::MAX).min(entries.len());
        self.bytes -= entries.drain(..gone).map(|entry| entry.weight()).sum::<usize>();
        // What an eventful time took is not kept for a quiet one.
        entries.shrink_to(2 * entries.len());
    }

    /// Entries that were recorded before the first one that is kept.
    fn dropped(&self) -> u64 {
        self.next - self.entries.as_ref().map_or(0, Vec::len) as u64
    }
}

impl Match {
    /// Records an input of the present tick. Nothing that comes after the end can change the match, and nothing of it is
    /// recorded.
    pub(crate) fn record(&mut self, seat: &Seat, input: Input) {
        if !self.is_over() {
            self.recorder.record(Entry { tick: self.tick(), seat: seat.clone(), input });
        }
    }

    pub(crate) fn record_intent(&mut self, seat: &Seat, intent: &Value, context: &Context) {
        self.record(seat, Input::Intent { intent: JsonText::of(intent), context: context.clone() });
    }

    pub(crate) fn record_seat(&mut self, seat: &Seat, info: &SeatInfo) {
        let mandate = JsonText::of(&info.mandate);
        self.record(seat, Input::Seat { controller: info.controller, mandate });
    }

    /// Records nothing, of a match whose replay nobody will ask for. What was recorded is gone.
    pub fn keep_no_replay(&mut self) {
        self.recorder.entries = None;
    }

    /// The replay of the match up to now (§10). It shows what every side did and is told of every seat's mandate, so it
    /// is for the game's developers and operators; players and agents get none (§17). Of a persistent session it has what is
    /// kept of its past, and says so once anything was dropped (§18).
    ///
    /// # Errors
    /// The match recorded more than [`RECORDED_BYTES_MAX`], or keeps no replay.
    pub fn replay(&self) -> Result<Replay, NotKept> {
        let manifest = &self.surface.manifest;
        Ok(Replay {
            game: manifest.id.clone(),
            game_version: manifest.version.clone(),
            setup: Setup {
                seed: self.recorder.seed,
                options: self.options.clone(),
                teams: self.parties.teams.clone(),
                alliances: self.parties.alliances.clone(),
            },
            ticks: self.tick(),
            entries: self.recorder.entries.clone().ok_or(NotKept)?,
            outcomes: self.outcomes.clone(),
            ranks: self.ranks.clone(),
            window: self.window(),
        })
    }

    fn window(&self) -> Option<Window> {
        let from = self.past.as_ref()?.from()?;
        let dropped = self.recorder.dropped();
        (dropped > 0).then_some(Window { from, dropped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // A match is bounded whoever plays it: past the bound its replay is gone, and with it its memory.
    #[test]
    fn a_match_that_outgrows_its_bound_keeps_nothing_and_records_nothing_more() {
        let signal = JsonText::of(&json!("s".repeat(1024 * 1024)));
        let entry = Entry { tick: 0, seat: Seat::new("a", "lead"), input: Input::Signal(signal) };
        let mut recorder = Recorder::new(1);
        for _ in 0..14 {
            recorder.record(entry.clone());
        }
        assert_eq!(recorder.entries.as_ref().map(Vec::len), Some(14));
        for _ in 0..2 {
            recorder.record(entry.clone());
            assert!(recorder.entries.is_none());
        }
    }

    // §18: a persistent session's window ends with what outgrew the bound, and goes on with the next checkpoint.
    #[test]
    fn a_recorder_that_outgrew_its_bound_can_begin_anew_and_still_counts_every_entry() {
        let entry = |bytes: usize| {
            let signal = JsonText::of(&json!("s".repeat(bytes)));
            Entry { tick: 0, seat: Seat::new("a", "lead"), input: Input::Signal(signal) }
        };
        let mut recorder = Recorder::new(1);
        for _ in 0..16 {
            recorder.record(entry(1024 * 1024));
        }
        assert!(!recorder.is_keeping());
        recorder.begin_anew();
        for _ in 0..5 {
            recorder.record(entry(100));
        }
        assert_eq!((recorder.next(), recorder.dropped()), (21, 16));
        recorder.forget_before(19);
        assert_eq!((recorder.dropped(), recorder.entries.as_ref().map(Vec::len)), (19, Some(2)));
        recorder.forget_before(3);
        assert_eq!((recorder.dropped(), recorder.bytes), (19, 2 * entry(100).weight()));
    }
}
