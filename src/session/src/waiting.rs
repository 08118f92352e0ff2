//! Waiting (§4 `wait`): what a seat's agent or owner is told when a wait ends, and what ends it.
//!
//! A wait wakes on what its seat may see, never on a hidden event. Transitions that come while nobody waits are kept
//! for the next wait, once each.

use crate::calls::Wait;
use crate::chat::Inbox;
use crate::cursor::Cursor;
use crate::game_match::Match;
use crate::seat::Right;
use crate::streaming::Stream;
use crate::{CallError, Code, Millis};
use playerthree_game::{Clock, Name, Seat};
use playerthree_schema::utf16_len;
use serde_json::{Value, json};

/// Most waits in flight in one lane (§15.5).
pub const WAITS_MAX: usize = 2;

/// Most events of one answer, and the UTF-16 units that they may take together, so that an answer with every message
/// and signal that may wait beside them still fits into one result (§4 `RESULT_TEXT_MAX`). Later ones come with the next.
const EVENTS_MAX: usize = 100;
const EVENTS_UNITS: usize = 5_000;

/// Names a wait in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WaitId(u64);

/// What a wait comes to.
#[derive(Debug)]
pub enum Waiting {
    /// The answer, at once.
    Done(Value),
    /// The answer comes with a later [`crate::Changes`].
    Pending(WaitId),
}

#[derive(Debug)]
struct PendingWait {
    id: WaitId,
    /// By wall time.
    deadline: Millis,
    /// By game time, where the game has a clock of its own.
    last_tick: Option<u64>,
    until: Vec<Name>,
}

/// What one side of a seat has seen and waits for.
#[derive(Debug)]
pub(crate) struct Lane {
    cursor: Cursor,
    /// The tick of the last observation, -1 before the first.
    pub(crate) observed: i64,
    /// How many changes of its signals it has seen.
    pub(crate) signals: u64,
    /// What the owner told an agent and it has not read.
    pub(crate) inbox: Inbox,
    news: News,
    approval: bool,
    /// The end of the side's play has been told.
    told_end: bool,
    waits: Vec<PendingWait>,
    pub(crate) stream: Option<Stream>,
    /// Tick and time of the last pushed observation, whatever stream it was of.
    pub(crate) pushed: Option<(u64, Millis)>,
}

/// The transition that a lane's next wait has to tell, once. A later one replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    None,
    /// The lane was seated into a held match.
    Seat,
    /// The lane's match runs.
    Entry,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            cursor: Cursor::START,
            observed: -1,
            signals: 0,
            inbox: Inbox::default(),
            news: News::None,
            approval: false,
            told_end: false,
            waits: Vec::new(),
            stream: None,
            pushed: None,
        }
    }
}

impl Lane {
    /// A new holder entered the seat: it starts from the beginning and is told so once.
    pub(crate) fn enter(&mut self) {
        let waits = std::mem::take(&mut self.waits);
        *self = Self { news: News::Entry, waits, ..Self::default() };
    }

    /// A new holder was seated before the start. It is told of its seat once, unless it knows: a reservation told it.
    pub(crate) fn enter_held(&mut self, knows_its_seat: bool) {
        self.enter();
        self.news = if knows_its_seat { News::None } else { News::Seat };
    }

    /// The lobby state has just told the lane of its seat.
    pub(crate) fn told_its_seat(&mut self) {
        self.news = News::None;
    }

    /// The match that this lane was seated for runs.
    pub(crate) fn started(&mut self) {
        self.news = News::Entry;
    }

    /// Ends every wait without an answer.
    pub(crate) fn end_waits(&mut self) -> impl Iterator<Item = WaitId> + use<> {
        std::mem::take(&mut self.waits).into_iter().map(|wait| wait.id)
    }

    /// The seat's approval changed.
    pub(crate) fn approval_changed(&mut self) {
        self.approval = true;
    }
}

/// Why a wait ended early.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wake {
    Message,
    /// Seated into a held match.
    Seat,
    Entry,
    Approval,
    Ended,
    Signal,
    Event,
}

impl Match {
    /// Starts a wait of one side of a seat. It lasts its seconds of game time (§4), and no longer than that in wall time:
    /// a game of turns has no time of its own, and one that stalls must not hold its callers.
    ///
    /// # Errors
    /// `busy` past [`WAITS_MAX`], `not_in_match` once the end of the side's play has been told.
    pub fn wait(&mut self, seat: &Seat, right: Right, wait: Wait, now: Millis) -> Result<Waiting, CallError> {
        let lane = self.lane(seat, right)?;
        if lane.told_end && lane.inbox.is_empty() {
            return Err(Code::NotInMatch.into());
        }
        if lane.waits.len() >= WAITS_MAX {
            return Err(Code::Busy.into());
        }
        if let Some(wake) = self.wake_of(seat, right, &wait.until)? {
            return Ok(Waiting::Done(self.wait_answer(seat, right, Some(wake), now)?));
        }
        if wait.millis == 0 {
            return Ok(Waiting::Done(self.wait_answer(seat, right, None, now)?));
        }
        self.last_wait += 1;
        let id = WaitId(self.last_wait);
        let deadline = now.saturating_add(wait.millis);
        let last_tick = self.last_tick_of(wait.millis);
        self.lane(seat, right)?.waits.push(PendingWait { id, deadline, last_tick, until: wait.until });
        Ok(Waiting::Pending(id))
    }

    /// The tick in which so many milliseconds of game time have passed.
    fn last_tick_of(&self, millis: u64) -> Option<u64> {
        let ticks = (millis * u64::from(self.surface.manifest.tick_rate)).div_ceil(1000);
        (self.surface.game.clock() == Clock::Realtime).then(|| self.tick() + ticks)
    }

    /// Drops a wait whose caller went away.
    pub fn cancel_wait(&mut self, id: WaitId) {
        for state in self.seats.values_mut() {
            state.agent_lane.waits.retain(|wait| wait.id != id);
            state.owner_lane.waits.retain(|wait| wait.id != id);
        }
    }

    /// Ends every wait that something woke or whose time is up; the answers join the changes.
    pub(crate) fn settle_waits(&mut self, now: Millis) {
        let waiting: Vec<(Seat, Right)> = self
            .seats
            .values()
            .flat_map(|state| {
                let lanes = [(Right::Owner, &state.owner_lane), (Right::Agent, &state.agent_lane)];
                lanes.map(|(right, lane)| (&state.seat, right, lane))
            })
            .filter(|(.., lane)| !lane.waits.is_empty())
            .map(|(seat, right, _)| (seat.clone(), right))
            .collect();
        for (seat, right) in &waiting {
            self.settle_lane(seat, *right, now);
        }
    }

    fn settle_lane(&mut self, seat: &Seat, right: Right, now: Millis) {
        let Ok(lane) = self.lane(seat, right) else { return };
        let waits = std::mem::take(&mut lane.waits);
        let tick = self.tick();
        let mut kept = Vec::with_capacity(waits.len());
        for wait in waits {
            let wake = self.wake_of(seat, right, &wait.until);
            let waits_on = now < wait.deadline && wait.last_tick.is_none_or(|last| tick < last);
            let answer = match wake {
                Ok(None) if waits_on => {
                    kept.push(wait);
                    continue;
                }
                Ok(wake) => self.wait_answer(seat, right, wake, now),
                Err(error) => Err(error),
            };
            self.changes.waits.push((wait.id, answer));
        }
        if let Ok(lane) = self.lane(seat, right) {
            lane.waits = kept;
        }
    }

    fn wake_of(&mut self, seat: &Seat, right: Right, until: &[Name]) -> Result<Option<Wake>, CallError> {
        let over = self.outcome(&seat.team).is_final();
        let signals = self.signal_changes(seat);
        let is_held = self.is_held();
        let lane = self.lane(seat, right)?;
        // A message comes before a retained transition, which stays for the next wait (§4).
        if !lane.inbox.is_empty() {
            return Ok(Some(Wake::Message));
        }
        match lane.news {
            News::Entry => return Ok(Some(Wake::Entry)),
            News::Seat => return Ok(Some(Wake::Seat)),
            News::None => {}
        }
        if lane.approval {
            return Ok(Some(Wake::Approval));
        }
        // Nothing happens in a held match, so no event can wake (§4 "Lobby phase").
        if is_held {
            return Ok(None);
        }
        // Every wait in flight hears of the end; a later one only if none was.
        if over {
            return Ok(Some(Wake::Ended));
        }
        if lane.signals != signals {
            return Ok(Some(Wake::Signal));
        }
        if until.is_empty() {
            return Ok(None);
        }
        let events = self.unread_events(seat, right)?;
        let wanted = |event: &Value| until.iter().any(|kind| event["kind"] == **kind);
        Ok(events.iter().any(wanted).then_some(Wake::Event))
    }

    fn wait_answer(
        &mut self,
        seat: &Seat,
        right: Right,
        wake: Option<Wake>,
        now: Millis,
    ) -> Result<Value, CallError> {
        if self.is_held() {
            return self.lobby_answer(seat, right, wake, now);
        }
        // What can fail comes first: a transition that could not be told stays for the next wait.
        let entry = match wake {
            Some(Wake::Entry) => Some(self.observe(seat, right, &crate::calls::Observe::default())?),
            _ => None,
        };
        let mut events = self.unread_events(seat, right)?;
        // Whoever enters learns the present from its observation; what came before is read, not told (§4 match entry).
        if wake == Some(Wake::Entry) {
            self.mark_read(seat, right, &events)?;
            events.clear();
        }
        events.truncate(fitting(&events));
        self.mark_read(seat, right, &events)?;
        let news = self.signal_news(seat, right)?;
        let lane = self.lane(seat, right)?;
        lane.approval &= wake != Some(Wake::Approval);
        if wake == Some(Wake::Entry) {
            lane.news = News::None;
        }
        lane.told_end |= wake == Some(Wake::Ended);
        let messages = lane.inbox.take();
        let mut answer = json!({
            "phase": "match",
            "tick": self.tick(),
            "outcome": self.outcome(&seat.team),
        });
        answer["events"] = events.into();
        if let Some(messages) = messages {
            answer["messages"] = messages;
        }
        if let Some(signals) = news.filter(|_| wake != Some(Wake::Entry)) {
            answer["signals"] = signals;
        }
        match wake {
            Some(Wake::Message) => answer["wake"] = json!("owner_message"),
            Some(Wake::Signal) => answer["wake"] = json!("signal"),
            Some(Wake::Ended) => answer["wake"] = json!("ended"),
            Some(Wake::Approval) => answer["wake"] = json!("approval"),
            Some(Wake::Event) => answer["wake"] = json!("event"),
            Some(Wake::Entry | Wake::Seat) | None => {}
        }
        if let Some(observation) = entry {
            answer["observation"] = observation;
            answer["instruction"] =
                json!("The match runs. Observe, act, and wait again for the events that matter to you.");
        }
        Ok(answer)
    }

    /// The answer of a wait in a held match: the lobby state (§4).
    fn lobby_answer(
        &mut self,
        seat: &Seat,
        right: Right,
        wake: Option<Wake>,
        now: Millis,
    ) -> Result<Value, CallError> {
        let mut state = self.lobby_state(seat, right, now)?;
        let lane = self.lane(seat, right)?;
        lane.approval &= wake != Some(Wake::Approval);
        let messages = lane.inbox.take();
        match wake {
            Some(Wake::Approval) => state["wake"] = json!("approval"),
            Some(Wake::Message) => state["wake"] = json!("owner_message"),
            _ => {}
        }
        if let Some(messages) = messages {
            state["messages"] = messages;
        }
        Ok(state)
    }

    /// The seat's signals if they changed since the lane last saw them, and marks them seen.
    fn signal_news(&mut self, seat: &Seat, right: Right) -> Result<Option<Value>, CallError> {
        let signals = self.signal_changes(seat);
        let lane = self.lane(seat, right)?;
        if lane.signals == signals {
            return Ok(None);
        }
        lane.signals = signals;
        Ok(self.signal_slice(seat))
    }

    /// Visible events that the lane has not read, oldest first.
    fn unread_events(&mut self, seat: &Seat, right: Right) -> Result<Vec<Value>, CallError> {
        let cursor = self.lane(seat, right)?.cursor;
        let events = self.outputs().events(seat, cursor.since()).map_err(Code::from)?;
        Ok(cursor.unread(events))
    }

    fn mark_read(&mut self, seat: &Seat, right: Right, events: &[Value]) -> Result<(), CallError> {
        self.lane(seat, right)?.cursor.advance(events);
        Ok(())
    }

    fn lane(&mut self, seat: &Seat, right: Right) -> Result<&mut Lane, CallError> {
        Ok(self.seat_mut(seat)?.lane(right))
    }
}

/// How many of these events one answer carries: the first one always, for it would fit into no later answer either.
fn fitting(events: &[Value]) -> usize {
    let mut units = 0;
    let fits = |event: &&Value| {
        units += utf16_len(&event.to_string()) + 1;
        units <= EVENTS_UNITS
    };
    events.iter().take(EVENTS_MAX).take_while(fits).count().max(events.len().min(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    // §4: a result has at most 24000 units, and what it cannot hold is told by the next wait.
    #[test]
    fn an_answer_carries_as_many_events_as_fit_and_at_least_one() {
        let event = |units: usize| json!({ "tick": 1, "kind": "k", "text": "é".repeat(units) });
        assert_eq!(fitting(&[]), 0);
        assert_eq!(fitting(&vec![event(1); 101]), EVENTS_MAX);
        assert_eq!(fitting(&vec![event(1_200); 9]), 4);
        assert_eq!(fitting(&vec![event(9_000); 2]), 1);
    }
}
