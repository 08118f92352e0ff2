//! One seat of a match: who holds it, what its owner allows, and what its agent and owner have seen.

use crate::Millis;
use crate::bucket::Bucket;
use crate::cards::Label;
use crate::chat;
use crate::commander::{Isolation, Seated, Settings};
use crate::mandate::{Mandate, Scope, WhenAbsent};
use crate::pausing::SeatPause;
use crate::policy_slot::{Origin, PolicySlot};
use crate::seated_policy::SeatedPolicy;
use crate::sequencing::Sequence;
use crate::start::StartMarks;
use crate::waiting::Lane;
use playerthree_game::{Bot, Controller, IntentLimits, Name, Seat};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How long one call keeps an agent present (§8).
pub const PRESENCE_MS: Millis = 30_000;

/// An owner's identity: opaque, never sent to agents or to other players.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnerId(pub Arc<str>);

/// Who takes a seat.
#[derive(Clone, Debug, PartialEq)]
pub enum Occupant {
    /// A person, through the game client. `display` is the name that other people see.
    Human {
        /// Who it is.
        owner: OwnerId,
        /// What people read; never sent to agents.
        display: String,
    },
    /// The owner's live agent.
    Agent {
        /// Whose agent it is.
        owner: OwnerId,
        /// What people read; never sent to agents.
        display: String,
    },
    /// A named commander of the owner's, with its settings (§20.3).
    Commander(Box<Seated>),
    /// A sandboxed policy (§20.1).
    Policy(Box<SeatedPolicy>),
    /// A bot of this tier, or nothing, on a seat that stays its owner's.
    Owned {
        /// Whose seat it is.
        owner: OwnerId,
        /// What people read; never sent to agents.
        display: String,
        /// The tier of the bot that plays it.
        bot: Option<Name>,
    },
    /// A built-in bot of this tier. The seat is open to whoever joins.
    Bot(Name),
    /// Nobody. The seat is open to whoever joins.
    Nobody,
}

impl Occupant {
    /// Whose seat it becomes.
    pub fn owner(&self) -> Option<&OwnerId> {
        match self {
            Self::Human { owner, .. } | Self::Agent { owner, .. } | Self::Owned { owner, .. } => Some(owner),
            Self::Commander(seated) => Some(&seated.owner),
            Self::Policy(policy) => Some(&policy.owner),
            Self::Bot(_) | Self::Nobody => None,
        }
    }

    pub(crate) fn display(&self) -> &str {
        match self {
            Self::Human { display, .. } | Self::Agent { display, .. } | Self::Owned { display, .. } => {
                display
            }
            Self::Commander(seated) => &seated.display,
            Self::Policy(policy) => &policy.display,
            Self::Bot(_) | Self::Nobody => "",
        }
    }

    /// Who the assignment puts in control.
    pub(crate) fn controller(&self) -> Controller {
        match self {
            Self::Human { .. } => Controller::Human,
            Self::Agent { .. } | Self::Commander(_) => Controller::Agent,
            Self::Policy(_) => Controller::Policy,
            Self::Bot(_) | Self::Owned { bot: Some(_), .. } => Controller::Bot,
            Self::Nobody | Self::Owned { bot: None, .. } => Controller::None,
        }
    }

    /// Whether this is the same holder in the same way, whatever their settings and names are by now.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let tier = |occupant: &Self| match occupant {
            Self::Bot(tier) | Self::Owned { bot: Some(tier), .. } => Some(tier.clone()),
            _ => None,
        };
        let commander = |occupant: &Self| match occupant {
            Self::Commander(seated) => Some(seated.commander.clone()),
            _ => None,
        };
        let policy = match (self, other) {
            (Self::Policy(one), Self::Policy(other)) => one.code.is_same(&other.code) && one.bot == other.bot,
            _ => true,
        };
        policy
            && self.owner() == other.owner()
            && self.controller() == other.controller()
            && tier(self) == tier(other)
            && commander(self) == commander(other)
    }

    /// Whether the occupant plays in its owner's name: bots and held seats do not (§4 "Same-owner opposition").
    pub(crate) fn is_played(&self) -> bool {
        matches!(self, Self::Human { .. } | Self::Agent { .. } | Self::Commander(_) | Self::Policy(_))
    }

    pub(crate) fn is_commander(&self) -> bool {
        matches!(self, Self::Commander(_))
    }

    /// A commander that shares state with its owner's other ones must not oppose them (§4).
    pub(crate) fn is_isolated(&self) -> bool {
        !matches!(self, Self::Commander(seated) if seated.isolation == Isolation::Shared)
    }
}

/// Whether the owner of an automated seat holds it in person too (§4 "Owner control").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerControl {
    /// As before: the same owner keeps a hold they had.
    Kept,
    /// The owner holds the seat as a human does.
    Granted,
}

/// What an assignment did to a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// The same occupant was assigned again: nothing was detached.
    SameOccupant,
    /// The same owner has it, in another way: the agent that had it, if one did, was detached.
    SameOwner,
    /// Somebody else has it, or nobody: everything of the earlier hold ended.
    NewOwner,
}

/// Which side of a seat is speaking: its agent, or the owner in person. Each has its own lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Right {
    /// The person who owns the seat.
    Owner,
    /// An agent with a credential for the seat.
    Agent,
}

/// What acts for the seat right now (§20.2 `mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acting {
    /// The holder in person, and for an agent its deployed policy too.
    Live,
    /// The deployed policy alone.
    Policy,
    /// A built-in bot.
    Bot,
    /// Nothing.
    Held,
}

impl Acting {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Policy => "policy",
            Self::Bot => "bot",
            Self::Held => "held",
        }
    }
}

#[derive(Debug, Default)]
struct Presence {
    last_call: Option<Millis>,
    in_flight: u32,
}

/// The state of one seat.
pub(crate) struct SeatState {
    pub(crate) seat: Seat,
    pub(crate) controller: Controller,
    /// Who was assigned last, whoever controls the seat now.
    pub(crate) assigned: Occupant,
    /// The owner holds the seat in person, whoever controls it now (§4 "Owner control").
    pub(crate) human_held: bool,
    pub(crate) bot_level: Name,
    pub(crate) mandate: Mandate,
    pub(crate) scopes: BTreeSet<Scope>,
    pub(crate) agent_bucket: Bucket,
    pub(crate) owner_bucket: Bucket,
    /// How much the agent may still say (§12).
    pub(crate) say_bucket: Bucket,
    pub(crate) policy: PolicySlot,
    /// The bot that thinks for the seat, made when it first has to.
    pub(crate) bot: Option<Box<dyn Bot>>,
    pub(crate) agent_lane: Lane,
    pub(crate) owner_lane: Lane,
    pub(crate) marks: StartMarks,
    presence: Presence,
    /// Whether it holds the session for its absent agent (§18).
    pub(crate) pause: SeatPause,
    /// How many holds of the seat there were, this one included.
    pub(crate) holds: u32,
    /// The program that the seat's agent says it runs in (§20.2).
    pub(crate) harness: Option<Label>,
    /// The one active sequence (§9).
    pub(crate) sequence: Option<Sequence>,
    /// Sequences accepted in this hold, to name the next one.
    pub(crate) sequences_made: u64,
    /// What acted at the last decision, to notice a change.
    pub(crate) acting: Acting,
}

impl SeatState {
    pub(crate) fn new(
        seat: Seat,
        bot_level: Name,
        mandate: Mandate,
        scopes: BTreeSet<Scope>,
        limits: IntentLimits,
    ) -> Self {
        // A bucket begins full, so it makes no difference when it began.
        let bucket = Bucket::new(limits.per_second, limits.burst, 0);
        Self {
            seat,
            controller: Controller::None,
            assigned: Occupant::Nobody,
            human_held: false,
            bot_level,
            mandate,
            scopes,
            agent_bucket: bucket.clone(),
            owner_bucket: bucket,
            say_bucket: chat::say_bucket(),
            policy: PolicySlot::default(),
            bot: None,
            agent_lane: Lane::default(),
            owner_lane: Lane::default(),
            marks: StartMarks::default(),
            presence: Presence::default(),
            pause: SeatPause::default(),
            holds: 0,
            harness: None,
            sequence: None,
            sequences_made: 0,
            acting: Acting::Held,
        }
    }

    /// Puts the occupant into the seat of a match on this surface. On a change of occupants the caller has replaced the
    /// state by a fresh one.
    pub(crate) fn seat_occupant(&mut self, occupant: Occupant, surface: &str) {
        self.controller = occupant.controller();
        self.human_held |= self.controller == Controller::Human;
        match &occupant {
            Occupant::Bot(level) | Occupant::Owned { bot: Some(level), .. } => self.bot_level = level.clone(),
            Occupant::Commander(seated) => {
                self.marks.agent = seated.ready;
                self.take_settings(&seated.settings);
                self.policy = PolicySlot::of(seated.library.clone());
                if let Some((version, stored)) = seated.library.active(&self.seat.role) {
                    self.policy.give(version, stored, Origin::Given, surface);
                }
            }
            Occupant::Policy(policy) => {
                self.policy = policy.code.seated(surface);
                if let Some(level) = &policy.bot {
                    self.bot_level = level.clone();
                }
            }
            Occupant::Human { .. } | Occupant::Agent { .. } | Occupant::Owned { .. } | Occupant::Nobody => {}
        }
        self.policy.hold = self.holds;
        self.assigned = occupant;
        self.bot = None;
        self.sequence = None;
    }

    /// What the seat's commander may do and is asked to do from now on.
    pub(crate) fn take_settings(&mut self, settings: &Settings) {
        self.take_mandate(settings.mandate.clone());
        self.scopes = settings.scopes.clone();
        if let Some(level) = &settings.bot_level {
            self.bot_level = level.clone();
            self.bot = None;
        }
    }

    /// What the seat's owner asks of it from now on.
    pub(crate) fn take_mandate(&mut self, mandate: Mandate) {
        if self.mandate != mandate {
            self.mandate = mandate;
            self.renew_pause();
        }
    }

    /// Whose seat it is.
    pub(crate) fn owner(&self) -> Option<&OwnerId> {
        self.assigned.owner()
    }

    /// Whether the seat is played in its owner's name (§4 "Same-owner opposition").
    pub(crate) fn is_played(&self) -> bool {
        let by_agent = matches!(self.controller, Controller::Agent | Controller::Policy);
        self.human_held || self.assigned.is_played() || by_agent
    }

    /// Whether someone who joins may take the seat (§20.1 "open").
    pub(crate) fn is_open(&self) -> bool {
        self.owner().is_none()
    }

    pub(crate) fn lane(&mut self, right: Right) -> &mut Lane {
        match right {
            Right::Owner => &mut self.owner_lane,
            Right::Agent => &mut self.agent_lane,
        }
    }

    pub(crate) fn bucket(&mut self, right: Right) -> &mut Bucket {
        match right {
            Right::Owner => &mut self.owner_bucket,
            Right::Agent => &mut self.agent_bucket,
        }
    }

    pub(crate) fn call_started(&mut self, now: Millis) {
        self.presence.last_call = Some(now);
        self.presence.in_flight += 1;
    }

    /// A call that began under an earlier hold of the seat is no presence in this one.
    pub(crate) fn call_ended(&mut self, now: Millis) {
        if self.presence.in_flight > 0 {
            self.presence.last_call = Some(now);
            self.presence.in_flight -= 1;
        }
    }

    /// Whether the seat's agent is present (§8): a call in flight, one within the last 30 seconds, or an active sequence.
    pub(crate) fn agent_present(&self, now: Millis) -> bool {
        let recent = self.presence.last_call.is_some_and(|at| now.saturating_sub(at) < PRESENCE_MS);
        self.presence.in_flight > 0 || recent || self.sequence.is_some()
    }

    pub(crate) fn is_played_by_agent(&self, now: Millis) -> bool {
        self.controller == Controller::Agent && self.agent_present(now)
    }

    /// A sequence does not outlive the agent's right to act (§4, §9).
    pub(crate) fn drop_unauthorized_sequence(&mut self) {
        if self.controller != Controller::Agent || !self.scopes.contains(&Scope::Act) {
            self.sequence = None;
        }
    }

    /// What acts for the seat, row by row of §8's table.
    pub(crate) fn decide(&self, now: Millis) -> Acting {
        match self.controller {
            Controller::Human => Acting::Live,
            Controller::Bot => Acting::Bot,
            Controller::None => Acting::Held,
            Controller::Policy if self.policy.active.is_some() => Acting::Policy,
            // A policy that has not shown that it works is stood in for (§20.5).
            Controller::Policy => match &self.assigned {
                Occupant::Policy(policy) if policy.bot.is_some() => Acting::Bot,
                _ => Acting::Held,
            },
            Controller::Agent if self.agent_present(now) => Acting::Live,
            Controller::Agent => match self.when_absent() {
                WhenAbsent::Policy if self.policy.active.is_some() => Acting::Policy,
                WhenAbsent::Policy | WhenAbsent::Bot => Acting::Bot,
                WhenAbsent::Hold | WhenAbsent::Pause => Acting::Held,
            },
        }
    }

    /// What the mandate says of an absent agent, where a pause that ran out is `policy` (§18).
    fn when_absent(&self) -> WhenAbsent {
        match self.mandate.when_absent() {
            WhenAbsent::Pause if self.pause == SeatPause::Spent => WhenAbsent::Policy,
            said => said,
        }
    }

    /// What everybody who sees the seat may know of it (§20.2): no owner id, scopes, mandate or policy text.
    pub(crate) fn public_json(&self, now: Millis) -> Value {
        let mut info = json!({
            "team": self.seat.team,
            "role": self.seat.role,
            "controller": self.controller,
            "open": self.is_open(),
            "agentActive": self.agent_present(now),
            "aiPlayer": matches!(self.controller, Controller::Agent | Controller::Policy),
            "mode": self.decide(now).as_str(),
        });
        if !self.assigned.display().is_empty() {
            info["owner"] = json!({ "display": self.assigned.display() });
        }
        info
    }

    /// The seat as its own owner sees it.
    pub(crate) fn owner_json(&self, now: Millis) -> Value {
        let mut info = self.public_json(now);
        info["scopes"] = self.scopes.iter().map(|scope| Value::from(scope.as_str())).collect();
        info["mandate"] = self.mandate.to_json().clone();
        info["botLevel"] = json!(self.bot_level);
        info["policy"] = self.policy.status();
        if let Some(problem) = self.policy.problem() {
            info["policyState"] = json!(problem.as_str());
        }
        if let Some(approval) = self.policy.approval() {
            info["approval"] = approval.to_json();
        }
        info
    }
}
