//! Sequences (§9): a finite plan of intents for coming ticks, one a seat. A plan is judged whole before any of it is
//! scheduled; what is due passes the agent gate like any intent, before the step of its tick.
//!
//! A sequence has no conditions but one: it ends at the first event of the kinds it names that its seat may see.

use crate::ack::Ack;
use crate::calls::INTENTS_MAX;
use crate::cursor::Cursor;
use crate::game_match::Match;
use crate::gates::{Barred, admitted};
use crate::seat::Right;
use crate::{CallError, Code, Millis};
use playerthree_game::{Checked, Name, Seat, SequenceLimits, Source};
use playerthree_schema::utf16_len;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// UTF-16 units that a plan's acks may take as JSON. They are the only answer a plan gets, and what they report must fit
/// into one result (§4 `RESULT_TEXT_MAX`).
const ACKS_UNITS: usize = 18_000;

/// A plan as an agent asked for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Strictly ordered by [`PlanStep::after`]. No steps cancel the running sequence.
    pub steps: Vec<PlanStep>,
    /// Event kinds that end the sequence.
    pub cancel_on: Vec<Name>,
}

/// Intents for one tick.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// Ticks from the submission; 0 is before the next step of the game.
    pub after: u32,
    /// At most 64 intents, unchecked.
    pub intents: Vec<Value>,
}

/// The answer to a plan, with an ack for each intent of each step where they were judged.
#[derive(Clone, Debug, PartialEq)]
pub enum Sequenced {
    /// Scheduled, or for a plan without steps: nothing is scheduled any more.
    Accepted {
        /// Names the sequence; opaque.
        id: String,
        /// All [`Ack::Ok`]. The game may still refuse an intent when it is due.
        acks: Vec<Vec<Ack>>,
    },
    /// Nothing was scheduled; an earlier sequence goes on.
    Rejected {
        /// Why.
        why: Rejection,
        /// What was found of each intent.
        acks: Vec<Vec<Ack>>,
    },
}

/// Why a plan was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// An intent, the order, a distance or a length is out of its bounds.
    Invalid,
    /// The agent may not act for the seat now.
    Barred(Barred),
}

impl Sequenced {
    /// `{ok: true, id, acks}` or `{ok: false, code, acks}`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Accepted { id, acks } => json!({ "ok": true, "id": id, "acks": acks_json(acks) }),
            Self::Rejected { why, acks } => {
                let code = match why {
                    Rejection::Invalid => "invalid",
                    Rejection::Barred(barred) => barred.as_str(),
                };
                json!({ "ok": false, "code": code, "acks": acks_json(acks) })
            }
        }
    }
}

fn acks_json(acks: &[Vec<Ack>]) -> Value {
    acks.iter().map(|step| Match::acks_json(step)).collect()
}

/// What is left of a scheduled plan.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// Absolute ticks, ascending.
    steps: VecDeque<(u64, Vec<Value>)>,
    cancel_on: Vec<Name>,
    /// Events up to here happened before, or were looked at already.
    cursor: Cursor,
}

impl Match {
    /// Judges an agent's plan and schedules it in place of the seat's sequence (§9). One whose acks would not fit into a
    /// result is rejected without them.
    ///
    /// # Errors
    /// `mode_unavailable` where the game has no sequences, `forbidden` for an owner, who acts in person, `paused` while the
    /// match is held or paused.
    pub fn sequence(
        &mut self,
        seat: &Seat,
        right: Right,
        plan: Plan,
        now: Millis,
    ) -> Result<Sequenced, CallError> {
        let limits = self.surface.manifest.control.sequence.ok_or(Code::ModeUnavailable)?;
        if right == Right::Owner {
            return Err(Code::Forbidden.into());
        }
        if self.is_held() || self.is_paused() {
            return Err(Code::Paused.into());
        }
        let acks = judged(&self.surface.manifest, &seat.role, &plan, limits);
        if utf16_len(&acks_json(&acks).to_string()) > ACKS_UNITS {
            return Ok(Sequenced::Rejected { why: Rejection::Invalid, acks: Vec::new() });
        }
        if !is_within(&self.surface.manifest, &plan, limits)
            || acks.iter().flatten().any(|ack| *ack != Ack::Ok)
        {
            return Ok(Sequenced::Rejected { why: Rejection::Invalid, acks });
        }
        if let Some(barred) = self.barred(seat, Source::Agent)? {
            return Ok(Sequenced::Rejected { why: Rejection::Barred(barred), acks: Vec::new() });
        }
        let sequence = self.scheduled(seat, plan)?;
        let state = self.seat_mut(seat)?;
        state.sequences_made += 1;
        let id = format!("sq_{}", state.sequences_made);
        state.sequence = sequence;
        self.round.seats_changed();
        self.notice_acting(now);
        Ok(Sequenced::Accepted { id, acks })
    }

    /// The plan in ticks of this match. Only events that come from here on can cancel it.
    fn scheduled(&self, seat: &Seat, plan: Plan) -> Result<Option<Sequence>, CallError> {
        if plan.steps.is_empty() {
            return Ok(None);
        }
        let mut cursor = Cursor::START;
        cursor.advance(&self.outputs().events(seat, cursor.since()).map_err(Code::from)?);
        let tick = self.tick();
        let steps = plan.steps.into_iter().map(|step| (tick + u64::from(step.after), step.intents));
        Ok(Some(Sequence { steps: steps.collect(), cancel_on: plan.cancel_on, cursor }))
    }

    /// Sends what is due of every sequence, before the step of this tick.
    pub(crate) fn play_sequences(&mut self, now: Millis) {
        let planned = self.seats.values().filter(|state| state.sequence.is_some());
        for seat in planned.map(|state| state.seat.clone()).collect::<Vec<_>>() {
            self.play_sequence(&seat, now);
        }
    }

    fn play_sequence(&mut self, seat: &Seat, now: Millis) {
        while let Some(intents) = self.take_due_step(seat) {
            for intent in &intents {
                // Nobody waits for these acks; a refused intent changes nothing.
                if let Err(error) = self.act_one(seat, Source::Agent, intent, now) {
                    tracing::error!(%seat, code = error.code.as_str(), "a planned intent failed inside the game");
                }
            }
        }
    }

    /// The next step of the seat's sequence if its tick has come. The sequence is over with its last step, with a
    /// visible event that it names, and when its events cannot be read.
    fn take_due_step(&mut self, seat: &Seat) -> Option<Vec<Value>> {
        let cancelled = self.is_cancelled(seat);
        let tick = self.tick();
        let slot = &mut self.seats.get_mut(seat)?.sequence;
        if cancelled {
            *slot = None;
        }
        let sequence = slot.as_mut()?;
        let (_, intents) = sequence.steps.pop_front_if(|(due, _)| *due <= tick)?;
        if sequence.steps.is_empty() {
            *slot = None;
        }
        Some(intents)
    }

    fn is_cancelled(&mut self, seat: &Seat) -> bool {
        let Some(sequence) = self.seats.get(seat).and_then(|state| state.sequence.as_ref()) else {
            return false;
        };
        if sequence.cancel_on.is_empty() {
            return false;
        }
        let Ok(events) = self.outputs().events(seat, sequence.cursor.since()).map_err(Code::from) else {
            return true;
        };
        let Some(sequence) = self.seats.get_mut(seat).and_then(|state| state.sequence.as_mut()) else {
            return false;
        };
        let unread = sequence.cursor.unread(events);
        sequence.cursor.advance(&unread);
        unread.iter().any(|event| sequence.cancel_on.iter().any(|kind| event["kind"] == **kind))
    }
}

/// What schema and role say of each intent. Nothing of a plan that is too long is looked at.
fn judged(manifest: &Checked, role: &Name, plan: &Plan, limits: SequenceLimits) -> Vec<Vec<Ack>> {
    if plan.steps.len() > limits.max_steps as usize {
        return Vec::new();
    }
    let judge = |intent: &Value| match admitted(manifest, role, intent) {
        Err(refusal) => refusal,
        Ok(_) => Ack::Ok,
    };
    plan.steps.iter().map(|step| step.intents.iter().map(judge).collect()).collect()
}

/// Length, horizon, order and distances, the intents of a step, and what may cancel (§9).
fn is_within(manifest: &Checked, plan: &Plan, limits: SequenceLimits) -> bool {
    let steps = &plan.steps;
    let spaced = steps.windows(2).all(|pair| {
        let apart = pair[1].after.checked_sub(pair[0].after);
        apart.is_some_and(|apart| apart >= limits.min_spacing_ticks)
    });
    let kinds = manifest.event_kinds();
    let declared = plan.cancel_on.iter().all(|kind| kinds.contains(kind));
    let repeated = (1..plan.cancel_on.len()).any(|at| plan.cancel_on[..at].contains(&plan.cancel_on[at]));
    steps.len() <= limits.max_steps as usize
        && steps.iter().all(|step| step.after <= limits.max_ticks_ahead && step.intents.len() <= INTENTS_MAX)
        && spaced
        && declared
        && !repeated
}
