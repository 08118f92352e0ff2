//! Playing a replay again (§10 "Replay execution", §22.4): every recorded input reaches a game of its own at its tick, in
//! its order and with its context, and whatever no match could have recorded is refused.

use super::entry::{Entry, Input};
use super::envelope::Replay;
use super::error::{EntryFault, ReplayError};
use super::position::Position;
use crate::Surface;
use playerthree_game::{Clock, Name, SeatInfo};
use std::ops::ControlFlow;

/// Asked before each step with the tick that is left; `Break` gives the reading up.
pub type Watch<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Plays a replay up to a tick: the inputs recorded at that tick are in (§17), and nothing of its step. It goes on from
/// `position` (none: from the beginning), which lies in this replay or in an earlier one of the same match.
///
/// # Errors
/// The first fault that the replay shows up to there. The position is lost then.
pub fn replay_match(
    surface: &Surface,
    replay: &Replay,
    target: u64,
    position: Option<Position>,
    watch: Watch<'_>,
) -> Result<Position, ReplayError> {
    replay.check_game(surface)?;
    replay.check_target(target)?;
    let at = match position {
        Some(position) => position,
        None => Position::start(surface, replay)?,
    };
    let last = replay.dropped() + replay.entries.len() as u64;
    if at.tick() > target || !(replay.dropped()..=last).contains(&at.next) {
        return Err(ReplayError::Position);
    }
    let mut playing = Playing { surface, replay, at };
    loop {
        playing.take_inputs()?;
        if playing.at.tick() == target {
            break;
        }
        if watch(playing.at.tick()).is_break() {
            return Err(ReplayError::Cancelled);
        }
        playing.step()?;
    }
    if target == replay.ticks {
        playing.conclude()?;
    }
    Ok(playing.at)
}

struct Playing<'a> {
    surface: &'a Surface,
    replay: &'a Replay,
    at: Position,
}

impl Playing<'_> {
    /// Everything that was recorded at the present tick.
    fn take_inputs(&mut self) -> Result<(), ReplayError> {
        while let Some(entry) = self.replay.entry(self.at.next)
            && entry.tick <= self.at.tick()
        {
            let index = self.at.next;
            let taken = if entry.tick == self.at.tick() { self.take(entry) } else { Err(EntryFault::Order) };
            taken.map_err(|fault| ReplayError::Entry { index, fault })?;
            self.at.next += 1;
            if entry.input == Input::Forfeit && self.surface.game.clock() == Clock::Realtime {
                self.keep_outcomes()?;
            }
        }
        Ok(())
    }

    fn take(&mut self, entry: &Entry) -> Result<(), EntryFault> {
        let Entry { tick, seat, input } = entry;
        let at = &mut self.at;
        let is_out = at.outcomes.get(&seat.team).is_none_or(|outcome| outcome.is_final());
        if is_out && matches!(input, Input::Intent { .. } | Input::Signal(_) | Input::Forfeit) {
            return Err(EntryFault::Out);
        }
        // A side that is out has seats that still change hands, and a match that is over records nothing (§10).
        if at.is_over() && matches!(input, Input::Seat { .. }) {
            return Err(EntryFault::Out);
        }
        match input {
            // What the game answers is its own affair: refused intents are recorded too.
            Input::Intent { intent, context } => _ = at.game.apply(seat, &intent.value(), context),
            Input::Signal(intent) => {
                let board = at.boards.get_mut(&seat.team).ok_or(EntryFault::SignalKind)?;
                board.apply(&seat.role, &intent.value(), *tick).map_err(EntryFault::Signal)?;
            }
            Input::Seat { controller, mandate } => {
                let info = SeatInfo { controller: *controller, mandate: mandate.value() };
                at.game.set_seat_info(seat, &info);
            }
            Input::Pause if !at.paused.insert(seat.clone()) => return Err(EntryFault::UnpairedPause),
            Input::Pause => {}
            Input::Resume(_) if !at.paused.remove(seat) => return Err(EntryFault::UnpairedResume),
            Input::Resume(_) => {}
            Input::Forfeit if !at.forfeited.insert(seat.team.clone()) => {
                return Err(EntryFault::SecondForfeit);
            }
            Input::Forfeit => at.game.forfeit(&seat.team).map_err(|_| EntryFault::NoForfeit)?,
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), ReplayError> {
        let tick = self.at.tick();
        if !self.at.paused.is_empty() {
            return Err(ReplayError::SteppedWhilePaused(tick));
        }
        if self.at.is_over() {
            return Err(ReplayError::AfterTheEnd(tick));
        }
        self.at.game.step();
        let now = self.at.tick();
        for board in self.at.boards.values_mut() {
            board.turn_over(now);
        }
        self.keep_outcomes()
    }

    /// Keeps the first final outcome of each side that was recorded with one (§10 "Per-team terminal rule"). Where none
    /// was, the match still runs or its session is persistent, and whatever its game reports ends nothing.
    fn keep_outcomes(&mut self) -> Result<(), ReplayError> {
        if self.replay.outcomes.values().all(|recorded| !recorded.is_final()) {
            return Ok(());
        }
        for (team, kept) in &mut self.at.outcomes {
            let reported = self.at.game.outcome(team);
            if !kept.is_final() && reported.is_final() {
                if self.replay.outcomes.get(team) != Some(&reported) {
                    return Err(ReplayError::Outcome(team.clone()));
                }
                *kept = reported;
            }
        }
        Ok(())
    }

    /// Compares what became of the match with what was recorded. What the game did not decide, the host declared.
    fn conclude(&mut self) -> Result<(), ReplayError> {
        let (at, replay) = (&mut self.at, self.replay);
        let Some(ranks) = &replay.ranks else { return self.sides_fare_as_recorded() };
        if at.ranks.is_some() {
            return Ok(());
        }
        let parties = replay.parties();
        if at.is_over() {
            if parties.final_ranks(&*at.game, &at.outcomes) != *ranks {
                return Err(ReplayError::Ranks);
            }
        } else {
            if !parties.could_be_declared(&replay.outcomes, ranks) {
                return Err(ReplayError::Ranks);
            }
            at.game.end(&replay.outcomes, ranks);
            at.outcomes.clone_from(&replay.outcomes);
        }
        at.ranks = Some(ranks.clone());
        // A session that is over is never paused (§18).
        at.paused.clear();
        Ok(())
    }

    /// A match that is not over has every outcome from its game.
    fn sides_fare_as_recorded(&self) -> Result<(), ReplayError> {
        let differs = |team: &&Name| self.at.outcomes.get(*team) != self.replay.outcomes.get(*team);
        match self.replay.setup.teams.iter().find(differs) {
            Some(team) => Err(ReplayError::Outcome(team.clone())),
            None => Ok(()),
        }
    }
}
