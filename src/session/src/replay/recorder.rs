//! What a match keeps of its inputs while it runs. Recording never fails a match: one that outgrows its bound plays on
//! without a replay.

use super::entry::{Entry, Input, JsonText};
use super::envelope::Replay;
use crate::game_match::Match;
use playerthree_game::{Context, Seat, SeatInfo, Setup};
use serde_json::Value;

/// Bytes of JSON that the entries of one match may take, about 150,000 of them. A match that records more keeps none.
pub const RECORDED_BYTES_MAX: usize = 15 * 1024 * 1024;

/// The match recorded more than [`RECORDED_BYTES_MAX`] and keeps no replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the match outgrew what is kept of one")]
pub struct NotKept;

/// The inputs of one match.
#[derive(Debug)]
pub(crate) struct Recorder {
    seed: u32,
    /// Nothing once the match outgrew its bound.
    entries: Option<Vec<Entry>>,
    /// Bytes of JSON that the entries take, about.
    bytes: usize,
}

impl Recorder {
    pub(crate) fn new(seed: u32) -> Self {
        Self { seed, entries: Some(Vec::new()), bytes: 0 }
    }

    fn record(&mut self, entry: Entry) {
        let Some(entries) = &mut self.entries else { return };
        self.bytes += entry.weight();
        if self.bytes > RECORDED_BYTES_MAX {
            tracing::warn!(entries = entries.len(), "a match outgrew its replay, and keeps none");
            self.entries = None;
        } else {
            entries.push(entry);
        }
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

    /// The replay of the match up to now (§10). It shows what every side did and is told of every seat's mandate, so it
    /// is for the game's developers and operators; players and agents get none (§17).
    ///
    /// # Errors
    /// The match recorded more than [`RECORDED_BYTES_MAX`].
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
            window: None,
        })
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
}
