//! Credentials of a match that are no account (§20 "start-mode primitives", §20.9): who hands them out, what the bearer of
//! a human token may ask for, and what happens to clients whose credential ends. Their rules are the host's.

use crate::ops::{PlayerOp, Prompt, SeatTtl, SeatWish, TeamTtl};
use crate::rights::expires;
use crate::room::MatchRoom;
use playerthree_game::Seat;
use playerthree_host::{Account, Answer, Ttl};
use playerthree_rooms::{CloseReason, Cx, SessionId};
use playerthree_session::Code;
use serde_json::json;

/// A client's credential expired, was replaced or revoked, or its match is over.
const CREDENTIAL_ENDED: CloseReason = CloseReason::Application(4401);

/// Whether an operation is about this one seat, or about what its whole side may read: all that a human token is good
/// for. The rest is its owner's, in person.
pub(crate) fn is_within(op: &PlayerOp, seat: &Seat) -> bool {
    let is_its_side = |team: &Option<String>| team.as_deref().is_none_or(|team| team == &*seat.team);
    let is_its_role = |role: &str| role == &*seat.role;
    let is_it = |wish: &SeatWish| is_its_side(&wish.team) && is_its_role(&wish.role);
    match op {
        PlayerOp::Call(call) => is_its_role(&call.role),
        PlayerOp::ResolveApproval(resolve) => is_its_side(&resolve.team) && is_its_role(&resolve.role),
        PlayerOp::CommanderApproval(_) => false,
        PlayerOp::Prompt(prompt) => match prompt {
            Prompt::Report | Prompt::Readiness | Prompt::Cards => true,
            Prompt::Ready { wish, .. } => is_it(wish),
            Prompt::Mandate(set) | Prompt::Scopes(set) | Prompt::Controller(set) => is_it(&set.wish),
            Prompt::Stream(stream) => is_its_role(&stream.role),
            Prompt::Mint(SeatTtl { wish, .. }) | Prompt::RenewHuman(SeatTtl { wish, .. }) => is_it(wish),
            Prompt::Tell(tell) => is_its_side(&tell.team) && tell.message["roles"] == json!([seat.role]),
            Prompt::MintHuman(_) | Prompt::MintSpectator(_) => false,
            Prompt::InviteObserver(_) | Prompt::RevokeObserver { .. } => false,
            Prompt::Assign { .. } | Prompt::Revoke(_) | Prompt::Commander(_) | Prompt::Start { .. } => false,
            Prompt::Pool(_) | Prompt::Unpublish(_) => false,
        },
    }
}

impl MatchRoom {
    /// A token for another client of the person's, good for one seat that they hold in person.
    pub(crate) fn mint_human(&mut self, account: &Account, own: &Seat, wish: &SeatTtl) -> Answer {
        let (seat, ttl) = (self.owned(account, own, &wish.wish)?, Ttl::of(wish.ttl_seconds)?);
        let now = self.now();
        let holder = self.admission.holder(account, &seat.team);
        let token = self.admission.credentials.mint_human(self.live.game(), holder, &seat, ttl, now)?;
        let (team, role) = (seat.team, seat.role);
        Ok(json!({
            "team": team, "role": role, "token": token.reveal(), "expiresAt": expires(ttl.duration()),
        }))
    }

    /// More time for the seat's human token, which its client has claimed and holds still.
    pub(crate) fn renew_human(&mut self, account: &Account, own: &Seat, wish: &SeatTtl) -> Answer {
        let (seat, ttl) = (self.owned(account, own, &wish.wish)?, Ttl::of(wish.ttl_seconds)?);
        let now = self.now();
        let holder = self.admission.holder(account, &seat.team);
        self.admission.credentials.renew_human(self.live.game(), holder, &seat, ttl, now)?;
        Ok(json!({ "expiresAt": expires(ttl.duration()) }))
    }

    /// A token for one spectator of the player's own side.
    pub(crate) fn mint_spectator(&mut self, own: &Seat, wish: &TeamTtl) -> Answer {
        if wish.team.as_deref().is_some_and(|team| team != &*own.team) {
            return Err(Code::Forbidden.into());
        }
        let (ttl, now) = (Ttl::of(wish.ttl_seconds)?, self.now());
        let token = self.admission.credentials.mint_spectator(self.live.game(), &own.team, ttl, now)?;
        Ok(json!({ "team": own.team, "token": token.reveal(), "expiresAt": expires(ttl.duration()) }))
    }

    /// A ticket for one observer, on a player's word: of the player's own side if they name it, else of everything. Only
    /// private matches ask for tickets.
    pub(crate) fn invite_observer(&mut self, account: &Account, own: &Seat, wish: &TeamTtl) -> Answer {
        let game = self.live.game();
        if !game.observer_policy().is_private() {
            return Err(Code::ModeUnavailable.into());
        }
        if wish.team.as_deref().is_some_and(|team| team != &*own.team) {
            return Err(Code::Forbidden.into());
        }
        let (sight, ttl) = (game.observer_grant(wish.team.as_deref())?, Ttl::of(wish.ttl_seconds)?);
        let (grant, now) = (sight.to_json(), self.now());
        let ticket = self.admission.credentials.mint_observer(&account.owner, sight, ttl, now)?;
        Ok(json!({ "ticket": ticket.reveal(), "grant": grant, "expiresAt": expires(ttl.duration()) }))
    }

    /// Ends a ticket that the player handed out. An observer who came with it goes before the next frame is sent.
    pub(crate) fn revoke_observer(&mut self, account: &Account, ticket: &str) -> Answer {
        self.admission.credentials.revoke_observer(&account.owner, ticket)?;
        Ok(json!({}))
    }

    /// Lets clients go whose credential has ended, before anything is done for them or sent to them any more.
    pub(crate) fn end_credentials(&mut self, cx: &mut Cx<'_, Self>) {
        let now = self.now();
        for client in self.admission.credentials.settle(self.live.game(), now) {
            self.let_go(cx, client);
        }
    }

    /// Closes a client that may be here no longer. It is sent nothing more.
    pub(crate) fn let_go(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        self.forget(client, self.now());
        cx.kick(client, CREDENTIAL_ENDED);
    }
}
