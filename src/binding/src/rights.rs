//! What a connected client may do (§4, §5, §20): each operation is carried out for the owner of the seat that it names,
//! or refused with a closed code. Shapes are read in `ops`.

use crate::bearers;
use crate::ops::{self, Numbered, Op, PlayerOp, Prompt, SeatTtl, SeatWish, Stream};
use crate::push;
use crate::room::{Caller, Client, MatchRoom, Principal};
use playerthree_game::{Controller, Seat};
use playerthree_host::{Account, Answer, Ttl};
use playerthree_rooms::{Cx, SessionId};
use playerthree_session::{
    CallError, Code, CommanderId, Millis, Occupant, OwnerControl, Right, StreamRequest, Tell,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

impl MatchRoom {
    /// Carries out one message of the binding and answers it, now or once its answer is there.
    pub(crate) fn operate(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, name: &str, body: Value) {
        let now = self.now();
        let Some(state) = self.clients.get(&client) else { return };
        let within_rate = self.rates.take(state.principal.payer(client), now);
        if name == "observer" {
            self.observe(cx, client, body, within_rate);
            return;
        }
        match ops::parse(name, body) {
            Ok(Numbered { seq, .. }) if !within_rate => {
                push::result(cx, client, Some(seq), &Err(Code::RateLimited.into()));
            }
            Ok(Numbered { seq, op }) => {
                if let Some(answer) = self.carry_out(cx, client, seq, op, now) {
                    push::result(cx, client, Some(seq), &answer);
                }
            }
            Err((seq, code)) => push::result(cx, client, seq, &Err(code.into())),
        }
    }

    /// Carries an operation out for whoever may. Nothing: the answer comes later.
    fn carry_out(
        &mut self,
        cx: &Cx<'_, Self>,
        client: SessionId,
        seq: u32,
        op: Op,
        now: Millis,
    ) -> Option<Answer> {
        let op = match op {
            Op::View => return Some(self.fresh_view(client, now)),
            Op::Player(op) => op,
        };
        let (account, own) = match self.clients.get(&client).map(|client| &client.principal) {
            Some(Principal::Player { account, seat }) => (account.clone(), seat.clone()),
            Some(Principal::Human { account, seat }) if bearers::is_within(&op, seat) => {
                (account.clone(), seat.clone())
            }
            _ => return Some(Err(Code::Forbidden.into())),
        };
        let caller = Caller::Client { client, seq };
        let answer = match op {
            PlayerOp::Call(call) => {
                // What a person may see ends at their own side, so a call never names another one.
                match self.owned(&account, &own, &SeatWish { team: None, role: call.role }) {
                    Ok(seat) => {
                        self.live.call(&seat, Right::Owner, &call.method, &call.args, caller, now);
                        return None;
                    }
                    Err(error) => Err(error),
                }
            }
            PlayerOp::ResolveApproval(resolve) => {
                match self.owned(&account, &own, &SeatWish { team: resolve.team, role: resolve.role }) {
                    Ok(seat) => {
                        self.live.resolve_approval(&seat, &resolve.id, resolve.approve, caller, now);
                        return None;
                    }
                    Err(error) => Err(error),
                }
            }
            PlayerOp::CommanderApproval(approval) => {
                // What it asked at a seat of this match is the seat's to answer.
                let commander = CommanderId(approval.commander.as_str().into());
                let asked = self.live.game().seat_of_request(&commander, &approval.id);
                if let Some(seat) = asked.filter(|seat| self.live.game().owner(seat) == Some(&account.owner))
                {
                    self.live.resolve_approval(&seat, &approval.id, approval.approve, caller, now);
                    return None;
                }
                self.resolve_for_commander(cx, &account, approval, caller);
                return None;
            }
            PlayerOp::Prompt(prompt) => self.carry_out_now(client, (&account, &own), prompt),
        };
        self.live.seats_changed(now);
        Some(answer)
    }

    /// The operations whose answer is there at once.
    fn carry_out_now(&mut self, client: SessionId, (account, own): (&Account, &Seat), op: Prompt) -> Answer {
        match op {
            Prompt::Report => self.report(&own.team),
            Prompt::Mandate(set) => {
                let seat = self.owned(account, own, &set.wish)?;
                self.live.game_mut().set_mandate(&seat, &set.value)?;
                Ok(json!({}))
            }
            Prompt::Scopes(set) => {
                let seat = self.owned(account, own, &set.wish)?;
                self.live.game_mut().set_scopes(&seat, &set.value)?;
                Ok(json!({}))
            }
            Prompt::Controller(set) => {
                let seat = self.owned(account, own, &set.wish)?;
                self.set_controller(account, &seat, &set.value)
            }
            Prompt::Stream(stream) => self.stream(client, account, own, &stream),
            Prompt::Mint(wish) => self.mint(account, own, &wish),
            Prompt::Tell(tell) => {
                let team = tell.team.as_deref().unwrap_or(&own.team);
                let message = Tell::parse(&self.surface, tell.message)?;
                self.admission.may_command(&account.owner, &team.into())?;
                let now = self.now();
                self.live.game_mut().tell(&account.owner, team, &message, now)?;
                Ok(json!({}))
            }
            Prompt::InviteObserver(wish) => self.invite_observer(account, own, &wish),
            Prompt::RevokeObserver { ticket } => self.revoke_observer(account, &ticket),
            Prompt::MintHuman(wish) => self.mint_human(account, own, &wish),
            Prompt::RenewHuman(wish) => self.renew_human(account, own, &wish),
            Prompt::MintSpectator(wish) => self.mint_spectator(own, &wish),
            Prompt::Assign { wish, assignment } => self.assign_for(account, own, &wish, &assignment),
            Prompt::Revoke(wish) => self.revoke(&self.owned(account, own, &wish)?),
            Prompt::Commander(op) => self.roster(account, op),
            Prompt::Pool(query) => self.pool(account, &query),
            Prompt::Unpublish(policy) => self.unpublish(account, &policy.policy_id),
            Prompt::Ready { wish, ready } => {
                let (seat, now) = (self.owned(account, own, &wish)?, self.now());
                self.live.game_mut().person_ready(&seat, ready, now)?;
                Ok(json!({}))
            }
            Prompt::Start { in_seconds } => self.start(account, in_seconds),
            Prompt::Readiness => Ok(self.live.game().readiness(self.now())),
            Prompt::Cards => Ok(json!({ "cards": self.live.game().cards(self.now()) })),
        }
    }

    /// A seat that this person owns, of their own side where none is named.
    pub(crate) fn owned(&self, account: &Account, own: &Seat, wish: &SeatWish) -> Result<Seat, CallError> {
        let seat = Seat::new(wish.team.as_deref().unwrap_or(&own.team), &wish.role);
        // Unknown seats and other people's are refused alike.
        if self.live.game().owner(&seat) == Some(&account.owner) {
            Ok(seat)
        } else {
            Err(Code::Forbidden.into())
        }
    }

    fn fresh_view(&mut self, client: SessionId, now: Millis) -> Answer {
        let Client { principal, .. } = self.clients.get(&client).ok_or(Code::Forbidden)?;
        let side = principal.side().cloned().ok_or(Code::Forbidden)?;
        if !self.rates.take_view(principal.payer(client), now) {
            return Err(Code::RateLimited.into());
        }
        let version = self.live.game().view_version(&side);
        Ok(json!({ "version": version, "view": self.live.game().view(&side)?.into_value() }))
    }

    fn report(&self, team: &str) -> Answer {
        if !self.live.game().outcome(team).is_final() {
            return Err(Code::NotInMatch.into());
        }
        Ok(json!({ "team": team, "report": self.live.game().report(team)? }))
    }

    /// Changes who controls a seat. Taking it in person takes it over as a joined seat: only on the side that the
    /// person plays in person already (§4 "Owner control").
    fn set_controller(&mut self, account: &Account, seat: &Seat, value: &Value) -> Answer {
        let controller: Controller = serde_json::from_value(value.clone()).map_err(|_| Code::Invalid)?;
        if controller == Controller::Human && !self.live.game().is_held_in_person(seat) {
            if self.live.game().holds_in_person_elsewhere(&account.owner, &seat.team) {
                return Err(Code::Forbidden.into());
            }
            let occupant = Occupant::Human { owner: account.owner.clone(), display: account.display.clone() };
            self.assign(seat, occupant, OwnerControl::Kept)?;
        }
        self.live.game_mut().set_controller(seat, controller)?;
        Ok(json!({}))
    }

    /// Starts, changes or stops the stream of a seat (§9). Its observations go to the client that asked last.
    fn stream(&mut self, client: SessionId, account: &Account, own: &Seat, stream: &Stream) -> Answer {
        let seat = self.owned(account, own, &SeatWish { team: None, role: stream.role.clone() })?;
        let request = StreamRequest::parse(&self.surface, &stream.request)?;
        let every = self.live.game_mut().stream(&seat, Right::Owner, &request)?;
        if every == 0 {
            self.streams.remove(&seat);
        } else {
            self.streams.insert(seat, client);
        }
        Ok(json!({ "everyTicks": every }))
    }

    /// Gives the person a token for an agent of theirs: on a seat they own, or on an open one that becomes theirs.
    pub(crate) fn mint(
        &mut self,
        account: &Account,
        own: &Seat,
        SeatTtl { wish, ttl_seconds }: &SeatTtl,
    ) -> Answer {
        let ttl = Ttl::of(*ttl_seconds)?;
        let seat = Seat::new(wish.team.as_deref().unwrap_or(&own.team), &wish.role);
        if self.live.game().open_seats().any(|open| *open == seat) {
            self.admission.may_take(&account.owner, &seat)?;
            let occupant = Occupant::Agent { owner: account.owner.clone(), display: account.display.clone() };
            self.assign(&seat, occupant, OwnerControl::Kept)?;
            self.admission.commanded(&account.owner, &seat.team);
        } else if self.live.game().owner(&seat) != Some(&account.owner) {
            return Err(Code::Forbidden.into());
        }
        let surface = Arc::clone(&self.surface);
        let (room, door) = (Arc::clone(&self.match_id), Arc::clone(&self.door));
        let token = self.agents.mint(room, seat.clone(), surface, door, ttl);
        let (team, role) = (seat.team, seat.role);
        Ok(
            json!({ "team": team, "role": role, "token": token.reveal(), "expiresAt": expires(ttl.duration()), "mcpPath": "/mcp" }),
        )
    }
}

/// When something ends that is good for so long from now on, for clients to read.
pub(crate) fn expires(within: Duration) -> u64 {
    push::unix_millis() + u64::try_from(within.as_millis()).unwrap_or(u64::MAX)
}
