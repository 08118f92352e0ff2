//! Seats and commanders of a room's people (§4 "Mid-match seat assignment", §20.3): who is put into which seat, and which
//! credentials end with whom. What may be is decided by the match and by the commanders' roster.

use crate::ops::{AssignKind, Assignment, CommanderOp, SeatWish};
use crate::room::{Client, MatchRoom};
use playerthree_game::Seat;
use playerthree_host::{Account, Answer};
use playerthree_session::{
    CallError, Code, CommanderId, Draft, Handover, Occupant, OwnerControl, OwnerId, TellCommanders,
};
use serde_json::{Value, json};
use std::sync::Arc;

impl MatchRoom {
    /// Gives a seat to an occupant. The credentials of the one before end with their hold, and a commander that had the
    /// seat is back in its lobby (§4).
    pub(crate) fn assign(
        &mut self,
        seat: &Seat,
        occupant: Occupant,
        control: OwnerControl,
    ) -> Result<(), CallError> {
        let now = self.now();
        let before = self.live.game().commander(seat).cloned();
        let mark = self.mark_before_start(seat);
        if self.live.assign_with(seat, occupant, control, now)? == Handover::SameOccupant {
            return Ok(());
        }
        self.agents.revoke_seat(&self.match_id, seat);
        if let Some(id) = before {
            self.agents.commanders().release(&self.surface, &id, seat, &self.match_id, mark);
        }
        Ok(())
    }

    /// Puts a commander into a seat: its lane is routed first, so that a commander that is busy elsewhere changes nothing.
    fn assign_commander(
        &mut self,
        account: &Account,
        seat: &Seat,
        id: &CommanderId,
        control: OwnerControl,
    ) -> Result<(), CallError> {
        let game = self.live.game();
        if game.commander(seat) == Some(id)
            && let Some(same) = game.occupant(seat).filter(|it| it.owner() == Some(&account.owner)).cloned()
        {
            // Its lane leads here already.
            return self.assign(seat, same, control);
        }
        let commanders = self.agents.commanders();
        let owner = (&account.owner, &*account.display);
        let door = Arc::clone(&self.door);
        let seated = commanders.seat(&self.surface, owner, id, seat, &self.match_id, door)?;
        let ready = seated.ready;
        if let Err(error) = self.assign(seat, Occupant::Commander(Box::new(seated)), control) {
            self.agents.commanders().release(&self.surface, id, seat, &self.match_id, Some(ready));
            return Err(error);
        }
        let (unread, now) = (self.agents.commanders().seated(&self.surface, id, seat), self.now());
        self.live.game_mut().hand_messages_over(seat, unread, now)
    }

    /// Carries out a person's `assign`: of a seat that they own, or of an open one that becomes theirs.
    pub(crate) fn assign_for(
        &mut self,
        account: &Account,
        own: &Seat,
        wish: &SeatWish,
        assignment: &Assignment,
    ) -> Answer {
        let seat = Seat::new(wish.team.as_deref().unwrap_or(&own.team), &wish.role);
        let game = self.live.game();
        // Unknown seats and other people's are refused alike.
        let is_theirs = game.owner(&seat) == Some(&account.owner);
        if !is_theirs && !game.joinable_seats(Some(&account.owner)).any(|open| *open == seat) {
            let may = game.open_seats().any(|open| *open == seat) && game.may_own(&account.owner, &seat.team);
            // An agent of one's own may take a side that one does not hold in person (§20, isolated practice).
            if !may || assignment.kind == AssignKind::Human || assignment.owner_control {
                return Err(Code::Forbidden.into());
            }
        }
        match is_theirs {
            true => self.admission.may_command(&account.owner, &seat.team)?,
            false => self.admission.may_take(&account.owner, &seat)?,
        }
        self.put(account, &seat, assignment)?;
        self.admission.commanded(&account.owner, &seat.team);
        Ok(json!({}))
    }

    /// Seats what an assignment names. Whether the person may is judged already.
    fn put(&mut self, account: &Account, seat: &Seat, assignment: &Assignment) -> Result<(), CallError> {
        let control = if assignment.owner_control { OwnerControl::Granted } else { OwnerControl::Kept };
        let (owner, display) = (account.owner.clone(), account.display.clone());
        if assignment.kind != AssignKind::Policy
            && (assignment.policy_id.is_some() || assignment.version.is_some())
        {
            return Err(Code::Invalid.into());
        }
        let occupant = match (assignment.kind, &assignment.commander) {
            (AssignKind::Policy, _) => {
                Occupant::Policy(Box::new(self.policy_for(account, &seat.role, assignment)?))
            }
            (AssignKind::Agent, Some(id)) => {
                return self.assign_commander(account, seat, &CommanderId(id.as_str().into()), control);
            }
            (_, Some(_)) => return Err(Code::Invalid.into()),
            (AssignKind::Agent, None) => Occupant::Agent { owner, display },
            (AssignKind::Human, None) => Occupant::Human { owner, display },
            (AssignKind::Hold, None) => Occupant::Owned { owner, display, bot: None },
            (AssignKind::Bot, None) => {
                let tier = self.bots.as_ref().or(self.surface.manifest.opponents.first());
                Occupant::Owned { owner, display, bot: Some(tier.ok_or(Code::Invalid)?.clone()) }
            }
        };
        self.assign(seat, occupant, control)?;
        if self.live.game().is_held_in_person(seat) {
            self.mark_joined(&account.owner);
        }
        Ok(())
    }

    /// Ends every token of a seat that the person owns, calls in flight included (§20 `revokeSeat`).
    pub(crate) fn revoke(&mut self, seat: &Seat) -> Answer {
        self.admission.credentials.revoke_seat(seat);
        self.agents.revoke_seat(&self.match_id, seat);
        Ok(json!({}))
    }

    /// A person's own roster of commanders for this game.
    pub(crate) fn roster(&self, account: &Account, op: CommanderOp) -> Answer {
        let (commanders, surface, owner) = (self.agents.commanders(), &self.surface, &account.owner);
        let id = |id: String| CommanderId(id.into());
        match op {
            CommanderOp::List => Ok(json!({ "commanders": commanders.list(surface, owner) })),
            CommanderOp::Add(draft) => {
                let (id, token) = commanders.add(surface, owner, Draft::parse(surface, &draft)?)?;
                Ok(json!({ "id": id.0, "token": token.reveal(), "mcpPath": "/mcp" }))
            }
            CommanderOp::Remove { commander } => {
                commanders.remove(surface, owner, &id(commander))?;
                Ok(json!({}))
            }
            CommanderOp::Rotate { commander } => {
                let token = commanders.rotate(surface, owner, &id(commander))?;
                Ok(json!({ "token": token.reveal(), "mcpPath": "/mcp" }))
            }
            CommanderOp::Tell(message) => {
                commanders.tell(surface, owner, &TellCommanders::parse(surface, message)?)?;
                Ok(json!({}))
            }
            CommanderOp::Settings { commander, settings } => {
                let settings = commanders.patch(surface, owner, &id(commander), &settings)?;
                Ok(json!({ "settings": settings.to_json() }))
            }
        }
    }

    /// A side that is out frees its commanders; their agents are told the end by their next wait.
    pub(crate) fn free_commanders(&self) {
        let game = self.live.game();
        for (seat, id) in game.commander_seats() {
            if game.outcome(&seat.team).is_final() {
                self.agents.commanders().finished(&self.surface, &id, &seat, &self.match_id);
            }
        }
    }

    /// The room ends: every commander is back in its lobby.
    pub(crate) fn release_commanders(&self) {
        for (seat, id) in self.live.game().commander_seats() {
            let mark = self.mark_before_start(&seat);
            self.agents.commanders().release(&self.surface, &id, &seat, &self.match_id, mark);
        }
    }

    /// The agent's ready mark of a seat whose match has not started: it goes back to a reservation.
    fn mark_before_start(&self, seat: &Seat) -> Option<bool> {
        let game = self.live.game();
        game.is_held().then(|| game.is_agent_ready(seat))
    }
}

/// The lobby of a room (§4 "Lobby phase", §20.5): who is there, who is ready, and who starts the match.
impl MatchRoom {
    /// Says of each seat of an owner whether a client that answers for it is in the room.
    pub(crate) fn mark_joined(&mut self, owner: &OwnerId) {
        let now = self.now();
        for seat in self.live.game().seats_of(owner) {
            let is_here = |client: &Client| client.connected && client.principal.answers_for(owner, &seat);
            let joined = self.clients.values().any(is_here);
            // Every one of these seats exists: the match just listed them.
            _ = self.live.game_mut().set_joined(&seat, joined, now);
        }
    }

    /// The room's host starts a held match, at once or after a countdown.
    pub(crate) fn start(&mut self, account: &Account, in_seconds: u64) -> Answer {
        if self.host.as_ref() != Some(&account.owner) {
            return Err(Code::Forbidden.into());
        }
        let now = self.now();
        let game = self.live.game_mut();
        if !game.is_held() || in_seconds > COUNTDOWN_SECONDS_MAX {
            return Err(Code::Invalid.into());
        }
        match in_seconds {
            0 => game.start(now),
            seconds => game.count_down(now.saturating_add(seconds * 1000))?,
        }
        Ok(json!({}))
    }

    /// What people are told of a held match beside its status.
    pub(crate) fn start_facts(&self) -> Option<Value> {
        let game = self.live.game();
        game.is_held().then(|| game.readiness(self.now()))
    }
}

/// Longest countdown that a room's host may ask for, in seconds.
const COUNTDOWN_SECONDS_MAX: u64 = 60;
