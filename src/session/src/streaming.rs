//! Stream mode (§9): observations pushed to a seat's holder every so many ticks, never faster than the manifest's
//! `maxHz`, and a cap on the intents that a holder who streams may send within one tick.

use crate::calls;
use crate::game_match::Match;
use crate::seat::Right;
use crate::waiting::Lane;
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::{Checked, Clock, Detail, Name, Seat, StreamLimits};
use playerthree_schema::t;
use serde_json::Value;

/// What a holder wants pushed.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamRequest {
    /// Ticks between two observations; 0 stops the stream.
    pub every_ticks: u32,
    /// Sections wanted in full beside the role's defaults.
    pub detail: Detail,
}

/// An observation to be pushed.
#[derive(Clone, Debug, PartialEq)]
pub struct Pushed {
    /// Whose.
    pub seat: Seat,
    /// To which side of it.
    pub right: Right,
    /// When it was made.
    pub tick: u64,
    /// What the seat sees, guarded.
    pub observation: Value,
}

/// A running stream.
#[derive(Debug)]
pub(crate) struct Stream {
    every: u64,
    detail: Vec<Name>,
    /// Intents that passed the rate gate, and the tick in which they did.
    spent: (u64, u32),
}

impl Stream {
    /// Whether one more intent fits into this tick.
    pub(crate) fn has_room(&self, tick: u64, limits: StreamLimits) -> bool {
        self.spent.0 != tick || self.spent.1 < limits.intents_per_tick
    }

    pub(crate) fn count_intent(&mut self, tick: u64) {
        let before = if self.spent.0 == tick { self.spent.1 } else { 0 };
        self.spent = (tick, before + 1);
    }
}

impl Lane {
    /// What the next observation is made from, if it is due: the tick of the last one, and the sections.
    fn take_due(
        &mut self,
        tick: u64,
        now: Millis,
        is_due: impl Fn(Option<(u64, Millis)>, u64) -> bool,
    ) -> Option<(i64, Vec<Name>)> {
        let stream = self.stream.as_ref().filter(|stream| is_due(self.pushed, stream.every))?;
        let last = self.pushed.replace((tick, now));
        let since = last.and_then(|(tick, _)| i64::try_from(tick).ok()).unwrap_or(-1);
        Some((since, stream.detail.clone()))
    }
}

impl StreamRequest {
    /// Reads `{everyTicks, detail?}`. Fails `mode_unavailable` where the game has no streams and `invalid` with a path.
    pub fn parse(surface: &Surface, args: &Value) -> Result<Self, CallError> {
        surface.manifest.control.stream.as_ref().ok_or(Code::ModeUnavailable)?;
        let mut fields = vec![("everyTicks", t::int(0, i64::from(i32::MAX)))];
        fields.extend(calls::detail_field(&surface.manifest, args));
        t::obj(fields).validate(args)?;
        let every = args["everyTicks"].as_f64().unwrap_or_default();
        // The schema has bounded it to a whole number of 0..=2147483647.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the schema")]
        let every_ticks = every as u32;
        Ok(Self { every_ticks, detail: calls::read_detail(args) })
    }
}

impl Match {
    /// Starts, changes or stops the stream of one side of a seat, and says how many ticks apart its observations will
    /// be: at least as many as `maxHz` asks for. The first one comes at once, unless one came just before.
    pub fn stream(&mut self, seat: &Seat, right: Right, request: &StreamRequest) -> Result<u64, CallError> {
        let manifest = &self.surface.manifest;
        let limits = manifest.control.stream.ok_or(Code::ModeUnavailable)?;
        let detail = manifest.detail(&seat.role, &request.detail)?;
        let every = match request.every_ticks {
            0 => 0,
            asked => u64::from(asked).max(least_ticks(manifest, limits)),
        };
        let lane = self.seat_mut(seat)?.lane(right);
        let spent = lane.stream.as_ref().map_or((0, 0), |stream| stream.spent);
        lane.stream = (every > 0).then_some(Stream { every, detail, spent });
        Ok(every)
    }

    /// Stops a stream whose reader is gone.
    pub fn stop_stream(&mut self, seat: &Seat, right: Right) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.lane(right).stream = None;
        }
    }

    /// Pushes what is due.
    pub(crate) fn push_observations(&mut self, now: Millis) {
        let Some(limits) = self.surface.manifest.control.stream else { return };
        let tick = self.tick();
        // A tick of a realtime game is a span of time. A game of turns can have many moves at once, so time is asked.
        let pause = match self.surface.game.clock() {
            Clock::Realtime => 0,
            Clock::Turns => least_pause(limits),
        };
        let mut due = Vec::new();
        for state in self.seats.values_mut() {
            for right in [Right::Owner, Right::Agent] {
                let is_due = |last: Option<(u64, Millis)>, every: u64| {
                    last.is_none_or(|(at_tick, at)| tick >= at_tick + every && now >= at + pause)
                };
                if let Some((since, detail)) = state.lane(right).take_due(tick, now, is_due) {
                    due.push((state.seat.clone(), right, since, detail));
                }
            }
        }
        for (seat, right, since, detail) in due {
            match self.outputs().observation(&seat, since, &detail) {
                Ok(observation) => {
                    let observation = observation.into_value();
                    self.changes.observations.push(Pushed { seat, right, tick, observation });
                }
                Err(refused) => _ = Code::from(refused),
            }
        }
    }
}

/// Ticks between two observations at `maxHz`.
fn least_ticks(manifest: &Checked, limits: StreamLimits) -> u64 {
    // The manifest's checks keep maxHz in 0.01..=tickRate and tickRate in 1..=1000.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1..=100000 by the manifest")]
    let ticks = (f64::from(manifest.tick_rate) / limits.max_hz).ceil() as u64;
    ticks
}

/// Milliseconds between two observations at `maxHz`.
fn least_pause(limits: StreamLimits) -> Millis {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1..=100000 by the manifest")]
    let millis = (1000.0 / limits.max_hz).ceil() as Millis;
    millis
}
