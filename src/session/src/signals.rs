//! Team signals of a match (§22): one board a side. Signal intents pass every gate and end here; the game never sees them.

use crate::Millis;
use crate::ack::Ack;
use crate::game_match::Match;
use crate::gates::Barred;
use crate::guard::Refused;
use playerthree_game::{GameMatch, Name, Seat, SignalBoard};
use playerthree_schema::utf16_len;
use serde_json::Value;
use std::collections::BTreeMap;

/// Longest slice that the answer of a wait carries, in UTF-16 units of JSON. A longer one is read by observing, which
/// has pages.
const SLICE_MAX: usize = 8_000;

/// The board of every side, none in a game without signals.
pub(crate) type Boards = BTreeMap<Name, SignalBoard>;

/// Empty boards with the limits that this match gives its seats.
pub(crate) fn boards(
    manifest: &playerthree_game::Checked,
    game: &dyn GameMatch,
    teams: &[Name],
) -> Result<Boards, Refused> {
    if manifest.signals.is_none() {
        return Ok(Boards::new());
    }
    let limits = game.signal_limits();
    let board = SignalBoard::new(manifest, limits)
        .map_err(|_| Refused { what: "signalLimits", place: "out of range".into() })?;
    Ok(teams.iter().map(|team| (team.clone(), board.clone())).collect())
}

impl Match {
    /// A side's signal board, nothing in a game without signals.
    pub fn signal_board(&self, team: &str) -> Option<&SignalBoard> {
        self.boards.get(team)
    }

    /// Applies a signal intent that passed the gates. This is the one place that changes a board within a tick, so what
    /// it accepts, in order, is what a replay has to apply again (§22.4).
    pub(crate) fn signal(&mut self, seat: &Seat, intent: &Value, now: Millis) -> Ack {
        let tick = self.tick();
        let Some(board) = self.boards.get_mut(&seat.team) else { return Ack::Barred(Barred::NotController) };
        let before = board.all_changes();
        if let Err(refusal) = board.apply(&seat.role, intent, tick) {
            return refusal.into();
        }
        if board.all_changes() != before {
            self.views_stale = true;
            // A game of turns may have a bot or policy that now has something to answer.
            self.round.stepped();
            self.settle_waits(now);
        }
        Ack::Ok
    }

    /// Turns every board over to the tick that the game has just reached (§22.4).
    pub(crate) fn turn_boards_over(&mut self) {
        let tick = self.tick();
        for board in self.boards.values_mut() {
            board.turn_over(tick);
        }
    }

    /// What a wait of this seat wakes for, counted; 0 in a game without signals.
    pub(crate) fn signal_changes(&self, seat: &Seat) -> u64 {
        self.boards.get(&seat.team).map_or(0, |board| board.changes(&seat.role))
    }

    /// The seat's slice as a wait's answer carries it.
    pub(crate) fn signal_slice(&self, seat: &Seat) -> Option<Value> {
        let slice = self.boards.get(&seat.team)?.slice(&seat.role);
        (utf16_len(&slice.to_string()) <= SLICE_MAX).then_some(slice)
    }
}
