//! What a match shows: observations, reports and view streams, all through the one guard. What observers get is in
//! `observing`.

use crate::calls::Observe;
use crate::game_match::Match;
use crate::guard::{Guarded, Outputs};
use crate::seat::Right;
use crate::views::{ViewMessage, ViewStream};
use crate::{CallError, Code, Millis};
use playerthree_game::Seat;
use serde_json::Value;

impl Match {
    /// What a seat sees, guarded, with the detail and fields that were asked for (§4 `observe`).
    pub fn observe(&mut self, seat: &Seat, right: Right, request: &Observe) -> Result<Value, CallError> {
        let lane_since = self.seat_mut(seat)?.lane(right).observed;
        let detail = self.surface.manifest.detail(&seat.role, &request.detail)?;
        let observation = self.outputs().observation(seat, request.since.unwrap_or(lane_since), &detail);
        let mut observation = observation.map_err(Code::from)?.into_value();
        let tick = i64::try_from(self.tick()).unwrap_or(i64::MAX);
        let signals = self.signal_changes(seat);
        let shows_signals =
            request.fields.as_ref().is_none_or(|fields| fields.iter().any(|field| &**field == "signals"));
        let lane = self.seat_mut(seat)?.lane(right);
        lane.observed = tick;
        if shows_signals {
            lane.signals = signals;
        }
        if let (Some(fields), Value::Object(members)) = (&request.fields, &mut observation) {
            members.retain(|name, _| fields.iter().any(|field| **field == **name));
        }
        Ok(observation)
    }

    /// The answer to `observe` (§4): an observation, or for an agent whose match is held the lobby state; and what its
    /// owner told it.
    pub fn observed(
        &mut self,
        seat: &Seat,
        right: Right,
        request: &Observe,
        now: Millis,
    ) -> Result<Value, CallError> {
        let mut answer = match right == Right::Agent && self.is_held() {
            true => self.lobby_state(seat, right, now)?,
            false => Value::from_iter([("observation", self.observe(seat, right, request)?)]),
        };
        if let Some(messages) = self.take_messages(seat, right)? {
            answer["messages"] = messages;
        }
        Ok(answer)
    }

    /// The seat's guarded match data, null where the game declares none.
    pub fn match_data(&self, seat: &Seat) -> Result<Value, CallError> {
        Ok(self.outputs().match_data(seat).map_err(Code::from)?)
    }

    /// A side's after-action report.
    pub fn report(&self, team: &str) -> Result<Value, CallError> {
        Ok(self.outputs().report(team).map_err(Code::from)?.into_value())
    }

    /// The seat's own scopes and mandate, as its briefing states them.
    pub fn terms(&self, seat: &Seat) -> Result<(Vec<&'static str>, Value), CallError> {
        let state = self.seat(seat)?;
        Ok((state.scopes.iter().map(|scope| scope.as_str()).collect(), state.mandate.to_json().clone()))
    }

    /// The game's unfogged developer snapshot. Never for a player; tests and operators look for hidden things in it.
    pub fn debug_view(&self) -> Option<Value> {
        self.game.debug_view()
    }

    pub(crate) fn outputs(&self) -> Outputs<'_> {
        Outputs { surface: &self.surface, game: &*self.game, boards: &self.boards }
    }

    /// A fresh guarded view of a side, outside its stream.
    pub fn view(&self, team: &str) -> Result<Guarded, CallError> {
        Ok(self.outputs().snapshot(team).map_err(Code::from)?)
    }

    /// Starts reading a side's stream. The first reader starts the stream.
    pub fn subscribe(&mut self, team: &str) -> Result<(), CallError> {
        let first = self.views.get(team).ok_or(Code::Invalid)?.latest().is_none();
        let snapshot = if first { Some(self.view(team)?) } else { None };
        let stream = self.views.get_mut(team).ok_or(Code::Invalid)?;
        stream.subscribe();
        if let Some(view) = snapshot {
            stream.push(view);
        }
        Ok(())
    }

    /// Stops reading a side's stream.
    pub fn unsubscribe(&mut self, team: &str) {
        if let Some(stream) = self.views.get_mut(team) {
            stream.unsubscribe();
        }
    }

    /// The messages that bring a reader at `after` (none: a fresh reader) to the latest version (§4 `viewMessages`).
    pub fn view_messages(&self, team: &str, after: Option<u64>) -> Vec<ViewMessage> {
        self.views.get(team).map(|stream| stream.since(after)).unwrap_or_default()
    }

    /// The latest version of a side's stream, 0 before the first.
    pub fn view_version(&self, team: &str) -> u64 {
        self.views.get(team).map_or(0, ViewStream::version)
    }

    pub(crate) fn push_views(&mut self) {
        (self.views_stale, self.views_due) = (false, false);
        for team in self.teams().to_vec() {
            let Some(before) =
                self.views.get(&team).filter(|stream| stream.is_watched()).and_then(ViewStream::latest)
            else {
                continue;
            };
            match self.outputs().periodic(&team, before) {
                Ok(view) => {
                    let message = self.views.get_mut(&team).and_then(|stream| stream.push(view));
                    self.changes.views.extend(message.map(|message| (team, message)));
                }
                Err(refused) => _ = Code::from(refused),
            }
        }
    }
}
