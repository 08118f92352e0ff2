//! The thinking phase of a tick (§8, §10): what acts for each seat is decided once, bots think here, policies think
//! elsewhere and are waited for, and intents reach the game in seat order whatever order the answers came in.

use crate::game_match::Match;
use crate::policy::{PolicyError, Thought};
use crate::seat::Acting;
use crate::{Code, Millis};
use playerthree_game::{Clock, Controller, Name, Seat, Source};
use serde_json::Value;
use std::collections::BTreeMap;

/// Most intents that a bot may send in one tick. A bot is the game's own code; the bound is against its mistakes.
const BOT_INTENTS_MAX: usize = 256;

/// A policy's turn to think.
#[derive(Clone, Debug)]
pub struct Think {
    /// Whose policy.
    pub seat: Seat,
    /// What the seat sees, guarded.
    pub observation: Value,
}

/// The state of the thinking phase.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// Answers of this round; nothing yet for policies that still think.
    answers: BTreeMap<Seat, Option<Result<Thought, PolicyError>>>,
    /// What acts for each seat in this round, by its place among the seats, and who controlled it when that was decided.
    decided: Vec<(Acting, Controller)>,
    open: bool,
    /// The tick that policies are asked about.
    tick: u64,
    /// A game of turns has thought about its present state already.
    settled: bool,
}

impl Round {
    pub(crate) fn stepped(&mut self) {
        self.settled = false;
    }

    /// Whether a tick is executing.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    pub(crate) fn seats_changed(&mut self) {
        self.settled = false;
    }

    /// Waits for no answer of this seat's policy, and keeps none: it would act for whoever comes after it.
    pub(crate) fn forget(&mut self, seat: &Seat) {
        self.answers.remove(seat);
    }

    /// What acts for the seat at a place in the open round, for as long as its controller is who it was (§8: one decision
    /// a tick).
    pub(crate) fn acting(&self, place: usize, controller: Controller) -> Acting {
        match self.decided.get(place) {
            Some((acting, decided_for)) if self.open && *decided_for == controller => *acting,
            _ => Acting::Held,
        }
    }
}

impl Match {
    /// Whether a thinking phase would do anything: always in realtime, and in a game of turns once something changed;
    /// never while the match is held or paused.
    pub fn wants_round(&self) -> bool {
        !self.is_held() && !self.is_paused() && !self.is_over() && !self.round.open && !self.round.settled
    }

    /// Opens the thinking phase of this tick: decides what acts for each seat, lets bots act, and hands out what
    /// policies think about. A session that is found paused opens none (§18). `ready` says whether a seat's policy runs and is idle, and which sections it declared.
    pub fn begin_round(&mut self, now: Millis, ready: &dyn Fn(&Seat) -> Option<Vec<Name>>) -> Vec<Think> {
        self.settle_pause(now);
        if self.is_paused() {
            return Vec::new();
        }
        self.round.open = true;
        self.round.settled = true;
        self.round.answers.clear();
        self.notice_acting(now);
        self.round.decided.clear();
        self.round.decided.extend(self.seats.values().map(|state| (state.acting, state.controller)));
        self.play_sequences(now);
        for (seat, source) in self.thinking_bots() {
            self.bot_acts(&seat, source, now);
        }
        // In a game of turns bots have moved by now: this is the position that policies see.
        self.round.tick = self.tick();
        let due = self.thinking_policies();
        let thinks: Vec<Think> = due
            .into_iter()
            .filter_map(|seat| {
                let declared = ready(&seat)?;
                let observation = self.probe_observation(&seat, &declared).ok()?;
                Some(Think { seat, observation })
            })
            .collect();
        self.round.answers.extend(thinks.iter().map(|think| (think.seat.clone(), None)));
        thinks
    }

    /// A policy answered. An answer that nobody waits for any more changes nothing.
    pub fn thought(&mut self, seat: &Seat, answer: Result<Thought, PolicyError>) {
        if let Some(waiting @ None) = self.round.answers.get_mut(seat) {
            *waiting = Some(answer);
        }
    }

    /// A seat's policy could not be started again: that is a call of it which failed (§4 `Stats`).
    pub fn policy_failed(&mut self, seat: &Seat, error: PolicyError) {
        self.count_call(seat, &Err(error));
    }

    /// The policy that was asked is gone, or the host has no core for it: the round waits for it no longer, nor keeps what
    /// it answered. What plays the seat is asked in the next round again.
    pub fn withdraw(&mut self, seat: &Seat) {
        self.round.forget(seat);
        let tick = self.tick();
        if let Some(state) = self.seats.get_mut(seat) {
            state.policy.due = tick;
        }
    }

    /// Whether every policy of the open round has answered.
    pub fn round_is_complete(&self) -> bool {
        self.round.open && self.round.answers.values().all(Option::is_some)
    }

    /// Closes the thinking phase: policies act in seat order, and a realtime game steps. Nothing happens where none is
    /// open.
    pub fn end_round(&mut self, now: Millis) {
        if !self.round.open {
            return;
        }
        for (seat, answer) in std::mem::take(&mut self.round.answers) {
            if let Some(answer) = answer {
                self.policy_acts(&seat, answer, now);
            }
        }
        self.round.open = false;
        if self.surface.game.clock() == Clock::Realtime && !self.is_over() {
            // A plan that was accepted while policies thought may be due at this very tick (§9).
            self.play_sequences(now);
            self.step(now);
        }
    }

    /// Ticks between two thinks of a policy or bot.
    fn think_every(&self) -> u64 {
        let manifest = &self.surface.manifest;
        if self.surface.game.clock() == Clock::Turns {
            return 1;
        }
        let hz = manifest.control.policy.as_ref().map_or(f64::from(manifest.tick_rate), |policy| policy.hz);
        // The manifest's checks keep hz in 0.01..=tickRate and tickRate in 1..=1000.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "1..=100000 by the manifest"
        )]
        let ticks = (f64::from(manifest.tick_rate) / hz).ceil().max(1.0) as u64;
        ticks
    }

    fn thinking_bots(&self) -> Vec<(Seat, Source)> {
        if !self.tick().is_multiple_of(self.think_every()) {
            return Vec::new();
        }
        let tick = self.tick();
        let bots = self.seats.values().filter(|state| state.acting == Acting::Bot);
        let due = bots.filter(|state| state.bot.as_ref().is_none_or(|bot| bot.next_think() <= tick));
        let playing = due.filter(|state| !self.outcome(&state.seat.team).is_final());
        playing
            .map(|state| match state.controller {
                Controller::Bot => (state.seat.clone(), Source::Bot),
                _ => (state.seat.clone(), Source::Fallback),
            })
            .collect()
    }

    fn thinking_policies(&mut self) -> Vec<Seat> {
        let tick = self.tick();
        let every = self.think_every();
        let mut due = Vec::new();
        for state in self.seats.values_mut() {
            let acts = match state.acting {
                Acting::Policy => true,
                Acting::Live => state.controller == Controller::Agent,
                Acting::Bot | Acting::Held => false,
            };
            if acts && state.policy.active.is_some() && state.policy.due <= tick {
                state.policy.due = tick + every;
                due.push(state.seat.clone());
            }
        }
        due.retain(|seat| !self.outcome(&seat.team).is_final());
        due
    }

    fn bot_acts(&mut self, seat: &Seat, source: Source, now: Millis) {
        let every_section = match &self.surface.manifest.observation_scope {
            Some(scope) => scope.sections.clone(),
            None => Vec::new(),
        };
        let Ok(observation) = self.probe_observation(seat, &every_section) else { return };
        let Some(mut bot) = self.take_bot(seat) else { return };
        let intents = bot.think(&observation);
        if let Some(state) = self.seats.get_mut(seat) {
            state.bot = Some(bot);
        }
        for intent in intents.iter().take(BOT_INTENTS_MAX) {
            if let Err(error) = self.act_one(seat, source, intent, now) {
                tracing::error!(%seat, code = error.code.as_str(), "a bot's intent failed inside the game");
            }
        }
    }

    /// The seat's bot, made and initialized when it is first needed.
    fn take_bot(&mut self, seat: &Seat) -> Option<Box<dyn playerthree_game::Bot>> {
        let state = self.seats.get_mut(seat)?;
        if let Some(bot) = state.bot.take() {
            return Some(bot);
        }
        let level = state.bot_level.clone();
        let mut bot = self.surface.game.create_bot(seat, &level)?;
        bot.init(&self.match_data(seat).ok()?);
        Some(bot)
    }

    /// Counts a call of a seat's active policy. False where it has none.
    fn count_call(&mut self, seat: &Seat, answer: &Result<Thought, PolicyError>) -> bool {
        let Some(stats) = self.seats.get_mut(seat).and_then(|state| state.policy.active.as_mut()) else {
            return false;
        };
        let before = stats.last_error_code();
        stats.count(answer);
        // The owner is told of a new kind of failure, not of each one.
        self.changes.seats |= stats.last_error_code() != before;
        true
    }

    fn policy_acts(&mut self, seat: &Seat, answer: Result<Thought, PolicyError>, now: Millis) {
        if !self.count_call(seat, &answer) {
            return;
        }
        // In a game of turns somebody may have moved meanwhile: the answer is to a position that is gone, and the policy
        // is asked again.
        if self.tick() != self.round.tick {
            return;
        }
        let Ok(thought) = answer else { return };
        for intent in &thought.intents {
            let refused = match self.act_one(seat, Source::Policy, intent, now) {
                Ok(crate::Ack::Ok) => continue,
                Ok(ack) => ack.code().to_owned(),
                Err(_) => Code::Internal.as_str().to_owned(),
            };
            if let Some(stats) = self.seats.get_mut(seat).and_then(|state| state.policy.active.as_mut()) {
                stats.reject(&refused);
            }
        }
    }
}
