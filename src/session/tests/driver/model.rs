//! What must hold of a match, told from the operations alone: who holds which seat, what was told and not read, which
//! side is out.

use crate::common::{agent, human, owner};
use crate::plan::{Holder, Speaker};
use playerthree_game::{Controller, Name, Outcome};
use playerthree_session::{INBOX_MAX, Occupant, OwnerId, PRESENCE_MS};
use std::collections::{BTreeMap, VecDeque};

pub(crate) const NAMES: [&str; 4] = ["ann", "bob", "cat", "dan"];

/// The stream of one side of a seat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamModel {
    /// Ticks between two observations; 0 for no stream.
    pub(crate) every: u64,
    /// The tick of the last one.
    pub(crate) last: Option<u64>,
}

/// One seat as the operations left it.
#[derive(Clone, Debug)]
pub(crate) struct SeatModel {
    /// Who was assigned last.
    assigned: Option<Holder>,
    pub(crate) owner: Option<u8>,
    pub(crate) in_person: bool,
    pub(crate) controller: Controller,
    pub(crate) may_act: bool,
    pub(crate) may_say: bool,
    /// Texts that the seat's agent has not read, oldest first.
    pub(crate) unread: VecDeque<String>,
    /// The id of the pending approval.
    pub(crate) approval: Option<String>,
    /// A plan was accepted that nothing has ended since, but perhaps its last step.
    pub(crate) planned: bool,
    /// The owner's stream and the agent's.
    pub(crate) streams: [StreamModel; 2],
    /// What stands in for an absent agent: its policy, a bot, or nothing.
    pub(crate) when_absent: u8,
    /// Calls of the agent under way, and when the last one began or ended.
    pub(crate) in_flight: u32,
    pub(crate) last_call: Option<u64>,
}

impl Default for SeatModel {
    fn default() -> Self {
        Self {
            assigned: None,
            owner: None,
            in_person: false,
            controller: Controller::None,
            may_act: true,
            may_say: true,
            unread: VecDeque::new(),
            approval: None,
            planned: false,
            streams: Default::default(),
            when_absent: 0,
            in_flight: 0,
            last_call: None,
        }
    }
}

impl SeatModel {
    /// The seat is given away; whatever belonged to the hold before ends, but for a hold in person of the same owner.
    /// The same occupant again changes nothing. Returns whether anybody was detached.
    pub(crate) fn assign(&mut self, holder: Holder) -> bool {
        let (owner, controller) = match holder {
            Holder::Human(owner) => (Some(owner), Controller::Human),
            Holder::Agent(owner) => (Some(owner), Controller::Agent),
            Holder::Bot => (None, Controller::Bot),
            Holder::Nobody => (None, Controller::None),
        };
        let assigned = self.assigned.unwrap_or(Holder::Nobody);
        if assigned == holder && self.controller == controller {
            return false;
        }
        let in_person = (owner == self.owner && self.in_person) || controller == Controller::Human;
        let kept = if owner == self.owner { self.streams[0] } else { StreamModel::default() };
        let streams = [kept, StreamModel::default()];
        *self = Self { assigned: Some(holder), owner, controller, in_person, streams, ..Self::default() };
        true
    }

    /// Whether an intent of this speaker may reach the game or a board at all (§9).
    pub(crate) fn may_act(&self, speaker: Speaker) -> bool {
        match speaker {
            Speaker::Owner => self.in_person,
            Speaker::Agent => self.may_act && self.controller == Controller::Agent,
        }
    }

    /// What acts for the seat (§8), a plan of the agent's apart.
    pub(crate) fn mode(&self, has_policy: bool, now: u64) -> &'static str {
        let recent = self.last_call.is_some_and(|at| now - at < PRESENCE_MS);
        let policy_or = |otherwise| if has_policy { "policy" } else { otherwise };
        match self.controller {
            Controller::Human => "live",
            Controller::Bot => "bot",
            Controller::None => "held",
            Controller::Policy => policy_or("held"),
            Controller::Agent if recent || self.in_flight > 0 => "live",
            Controller::Agent => match self.when_absent {
                0 => policy_or("bot"),
                1 => "bot",
                _ => "held",
            },
        }
    }

    pub(crate) fn told(&mut self, text: &str) {
        self.unread.push_back(text.to_owned());
        if self.unread.len() > INBOX_MAX {
            self.unread.pop_front();
        }
    }
}

pub(crate) fn occupant(holder: Holder) -> Occupant {
    match holder {
        Holder::Human(who) => human(NAMES[usize::from(who)]),
        Holder::Agent(who) => agent(NAMES[usize::from(who)]),
        Holder::Bot => Occupant::Bot("recruit".into()),
        Holder::Nobody => Occupant::Nobody,
    }
}

pub(crate) fn owner_id(who: u8) -> OwnerId {
    owner(NAMES[usize::from(who)])
}

/// First final outcomes; a later one would break the per-team terminal rule (§10).
#[derive(Debug, Default)]
pub(crate) struct Finals(BTreeMap<Name, Outcome>);

impl Finals {
    pub(crate) fn saw(&mut self, team: &Name, outcome: Outcome) {
        if let Some(first) = self.0.get(team) {
            assert_eq!(*first, outcome, "{team} has one final outcome");
        } else if outcome.is_final() {
            self.0.insert(team.clone(), outcome);
        }
    }

    /// Whether a side may come to this outcome yet.
    pub(crate) fn allow(&self, team: &Name, outcome: Outcome) -> bool {
        self.0.get(team).is_none_or(|first| *first == outcome)
    }

    pub(crate) fn is_out(&self, team: &str) -> bool {
        self.0.contains_key(team)
    }
}
