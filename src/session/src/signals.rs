//! Team signals of a match (§22): one board a side. Signal intents pass every gate and end here; the game never sees them.

use crate::Millis;
use crate::ack::Ack;
use crate::game_match::Match;
use crate::gates::Barred;
use crate::guard::Refused;
use crate::replay::{Input, JsonText};
use playerthree_game::{GameMatch, Name, Seat, SignalBoard};
use playerthree_schema::utf16_len;
use serde_json::Value;
use std::collections::BTreeMap;

/// Longest slice that the answer of a wait carries, in UTF-16 units of JSON. Of a longer one it carries the newest
/// entries; all of it is read by observing, which has pages.
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
        let changes = board.all_changes();
        self.record(seat, Input::Signal(JsonText::of(intent)));
        if changes != before {
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
        let mut slice = self.boards.get(&seat.team)?.slice(&seat.role);
        while utf16_len(&slice.to_string()) > SLICE_MAX {
            drop_oldest(&mut slice)?;
        }
        Some(slice)
    }
}

/// Takes the oldest entry out of the longer one of the slice's lists. Nothing when there is none.
fn drop_oldest(slice: &mut Value) -> Option<()> {
    let lists = slice.as_object_mut()?.values_mut().filter_map(Value::as_array_mut);
    let longest = lists.max_by_key(|list| list.len()).filter(|list| !list.is_empty())?;
    longest.remove(0);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // §22.3: a wait that a signal woke carries signals, the newest of those that do not fit.
    #[test]
    fn the_oldest_entries_of_the_longer_list_go_first() {
        let mut slice = json!({ "inbox": [1, 2, 3], "sent": [8, 9] });
        drop_oldest(&mut slice).unwrap();
        drop_oldest(&mut slice).unwrap();
        drop_oldest(&mut slice).unwrap();
        assert_eq!(slice["inbox"].as_array().unwrap().len() + slice["sent"].as_array().unwrap().len(), 2);
        assert_eq!(
            (slice["inbox"].as_array().unwrap().last(), &slice["sent"][0]),
            (Some(&json!(3)), &json!(9))
        );
        drop_oldest(&mut slice).unwrap();
        drop_oldest(&mut slice).unwrap();
        assert_eq!(drop_oldest(&mut slice), None);
    }
}
