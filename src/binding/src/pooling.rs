//! Policies of a room's people (§13, §20.1): the pool as they see it, policies that they put into seats, and approvals of
//! their commanders between matches. What may be is decided by the pool and by the commanders' roster.

use crate::door::Event;
use crate::ops::{Assignment, CommanderApproval};
use crate::room::{Caller, MatchRoom};
use playerthree_game::Name;
use playerthree_host::{Account, Answer};
use playerthree_rooms::Cx;
use playerthree_session::{CallError, Code, CommanderId, PolicyCode, PolicyId, PoolQuery, SeatedPolicy};
use serde_json::{Value, json};
use std::sync::Arc;

impl MatchRoom {
    /// The policy that an assignment of the kind `policy` names: one of the pool, or a version of one's own commander.
    /// Fails `invalid` unless it names one of the two.
    pub(crate) fn policy_for(
        &self,
        account: &Account,
        role: &Name,
        assignment: &Assignment,
    ) -> Result<SeatedPolicy, CallError> {
        let Assignment { policy_id, commander, version, .. } = assignment;
        let code = match (policy_id, commander, version) {
            (Some(id), None, None) => {
                let id = PolicyId::parse(id).ok_or(Code::Invalid)?;
                PolicyCode::Pool(self.pools.draft(&self.surface, role, id)?)
            }
            (None, Some(id), version) => {
                let id = CommanderId(id.as_str().into());
                let commanders = self.agents.commanders();
                let kept = commanders.version(&self.surface, &account.owner, &id, role, *version)?;
                PolicyCode::Library(kept)
            }
            _ => return Err(Code::Invalid.into()),
        };
        let (owner, display) = (account.owner.clone(), account.display.clone());
        Ok(SeatedPolicy { owner, display, code, bot: self.bots.clone() })
    }

    /// One page of the pool.
    pub(crate) fn pool(&self, account: &Account, query: &Value) -> Answer {
        let query = PoolQuery::parse(&self.surface, query)?;
        Ok(self.pools.list(&self.surface, &account.owner, &query))
    }

    /// Takes a policy of one's own out of the pool. Nobody is told of other people's.
    pub(crate) fn unpublish(&self, account: &Account, id: &str) -> Answer {
        self.surface.manifest.control.pool.ok_or(Code::ModeUnavailable)?;
        let id = PolicyId::parse(id).ok_or(Code::Forbidden)?;
        self.pools.unpublish(&self.surface, &account.owner, id)?;
        Ok(json!({}))
    }

    /// Answers an approval request that a commander made between matches. Its trial may take a while, so it runs beside
    /// the room and comes back as an event; a room that is gone by then tells nobody.
    pub(crate) fn resolve_for_commander(
        &self,
        cx: &Cx<'_, Self>,
        account: &Account,
        approval: CommanderApproval,
        caller: Caller,
    ) {
        let (agents, surface) = (Arc::clone(&self.agents), Arc::clone(&self.surface));
        let (handle, owner) = (cx.handle(), account.owner.clone());
        tokio::spawn(async move {
            let CommanderApproval { commander, id, approve } = approval;
            let commander = CommanderId(commander.into());
            let answer =
                agents.commanders().resolve_approval(&surface, &owner, &commander, &id, approve).await;
            _ = handle.post(Event::Answered(caller, answer)).await;
        });
    }
}
