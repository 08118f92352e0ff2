//! Whom a request speaks for: one seat of one match, or a named commander with a lane for each of its roles (§5).

use playerthree_game::{Name, Seat};
use playerthree_host::{Agents, CommanderGrant, CredentialId, SeatGrant, StatusWatch, Ticks};
use playerthree_session::{CallError, Surface};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The authority behind a good token.
#[derive(Clone)]
pub(crate) enum Agent {
    /// A seat token's: claimed once, under one lease.
    Seat(Arc<SeatGrant>),
    /// A commander token's: stateless, for as many clients as its owner gave it to.
    Commander(Arc<CommanderGrant>),
}

impl Agent {
    /// The authority of a presented token.
    pub(crate) fn find(agents: &Agents, token: &str) -> Option<Self> {
        let commander = || agents.commanders().find(token).map(Self::Commander);
        agents.find(token).map(Self::Seat).or_else(commander)
    }

    /// The game.
    pub(crate) fn surface(&self) -> &Arc<Surface> {
        match self {
            Self::Seat(grant) => &grant.surface,
            Self::Commander(grant) => grant.surface(),
        }
    }

    /// Whether its owner consented on the game's own page, rather than by handing out a token (§5).
    pub(crate) fn has_consent_page(&self) -> bool {
        match self {
            Self::Seat(_) => false,
            Self::Commander(grant) => grant.is_sign_in(),
        }
    }

    /// Fires when the token stops being good.
    pub(crate) fn revoked(&self) -> &CancellationToken {
        match self {
            Self::Seat(grant) => grant.revoked(),
            Self::Commander(grant) => grant.revoked(),
        }
    }

    /// The client says what program it is; people read it on the seat's card, unverified (§20.2).
    pub(crate) fn introduce(&self, harness: &str) {
        match self {
            Self::Seat(grant) => grant.introduce(harness),
            Self::Commander(grant) => grant.introduce(harness),
        }
    }

    /// The roles that it holds, in manifest order and never none, and the side where each is seated.
    pub(crate) fn commands(&self) -> Vec<(Name, Option<Name>)> {
        match self {
            Self::Seat(grant) => {
                let Seat { team, role } = grant.seat.clone();
                vec![(role, Some(team))]
            }
            Self::Commander(grant) => grant.commands(),
        }
    }

    /// Which credential it is.
    pub(crate) fn credential(&self) -> CredentialId {
        match self {
            Self::Seat(grant) => grant.credential(),
            Self::Commander(grant) => grant.credential(),
        }
    }

    /// The status of one of its roles (§17), nothing for a role that it does not hold.
    pub(crate) fn status(&self, role: &Name) -> Option<Value> {
        match self {
            Self::Seat(grant) => (grant.seat.role == *role).then(|| grant.status())?,
            Self::Commander(grant) => grant.status(role),
        }
    }

    /// Watches the status of one of its roles from now on.
    pub(crate) fn watch_status(&self, role: &Name) -> Option<StatusWatch> {
        match self {
            Self::Seat(grant) => (grant.seat.role == *role).then(|| grant.watch_status())?,
            Self::Commander(grant) => grant.watch_status(role),
        }
    }

    /// Word of every edit of its roles from now on.
    pub(crate) fn role_edits(&self) -> RoleEdits {
        RoleEdits(match self {
            Self::Seat(_) => None,
            Self::Commander(grant) => Some(grant.role_edits()),
        })
    }

    /// Carries out a call of one of its roles. A practice counts its ticks meanwhile.
    ///
    /// Cancel safe: a dropped call is dropped in the match too.
    pub(crate) async fn call(
        &self,
        role: &Name,
        method: &str,
        args: Value,
        ticks: Ticks,
    ) -> Result<Value, CallError> {
        match self {
            Self::Seat(grant) => grant.call_counting(method, args, ticks).await,
            Self::Commander(grant) => grant.call_counting(role, method, args, ticks).await,
        }
    }

    /// What tells one live token from every other: the address of its grant, which whoever keeps `self` keeps alive.
    pub(crate) fn address(&self) -> usize {
        match self {
            Self::Seat(grant) => Arc::as_ptr(grant).addr(),
            Self::Commander(grant) => Arc::as_ptr(grant).addr(),
        }
    }
}

/// Edits of the roles of a credential; a seat token's role is never edited.
pub(crate) struct RoleEdits(Option<watch::Receiver<Vec<Name>>>);

impl RoleEdits {
    /// Terminates once one of these roles is held no more.
    pub(crate) async fn until_one_is_lost(&mut self, roles: &[Name]) {
        if let Some(edits) = &mut self.0
            && edits.wait_for(|held| roles.iter().any(|role| !held.contains(role))).await.is_ok()
        {
            return;
        }
        // A grant that is gone was revoked, which whoever waits here watches too.
        std::future::pending::<()>().await;
    }
}
