//! A commander's policies between matches (§4 "Agent sessions"): what its lanes deploy, take back and publish while no
//! match seats them, and the approvals that wait for its owner meanwhile (§7).
//!
//! The same rules as in a match, on the same library. Nothing here runs code: trials are the caller's.

use crate::approval::Approval;
use crate::commander::{CommanderId, CommanderKind};
use crate::deploying::verdict;
use crate::lanes::{Commander, Commanders, Lane};
use crate::library::{Library, Stored};
use crate::mandate::Scope;
use crate::policy::{Artifact, PolicyError, Thought};
use crate::policy_slot::{Activated, Activation, Approved, Deploy, PolicySlot, Publication, Publish};
use crate::seat::OwnerId;
use crate::seated_policy::FromLibrary;
use crate::{CallError, Code};
use playerthree_game::Name;
use serde_json::Value;
use std::sync::Arc;

/// The policies of one lane while no match seats it.
#[derive(Debug)]
pub(crate) struct LanePolicies {
    slot: PolicySlot,
    /// An approval was decided and the lane's agent was not told yet.
    decided: bool,
}

impl LanePolicies {
    /// Nothing under way, on this library.
    pub(crate) fn of(library: &Library) -> Self {
        Self { slot: PolicySlot::of(library.clone()), decided: false }
    }

    /// The newest request.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        self.slot.approval()
    }

    /// A request was carried out or failed. One of an earlier stay in the lobby is nobody's news any more.
    fn carried_out(&mut self, approval: Option<&str>) {
        let newest = self.slot.approval().map(|request| &*request.id);
        self.decided |= approval.is_some() && approval == newest;
    }
}

impl<D: Clone> Commanders<D> {
    /// Takes an artifact for a lane's library (§7, §11). Fails `out_of_scope` without the scope, `busy` while another one
    /// is being tried.
    pub fn deploy(&mut self, id: &CommanderId, role: &str, artifact: Artifact) -> Result<Deploy, CallError> {
        let (lane, supervised) = self.working(id, role, Scope::Policy)?;
        lane.policies.slot.deploy(artifact, supervised)
    }

    /// Takes a retained version back. Fails like a deploy, and `invalid` for a version that is not kept or was made for
    /// another surface.
    pub fn rollback(&mut self, id: &CommanderId, role: &str, version: u32) -> Result<Deploy, CallError> {
        let surface = Arc::clone(&self.surface);
        let (lane, supervised) = self.working(id, role, Scope::Policy)?;
        lane.policies.slot.rollback(version, &surface.hash, supervised)
    }

    /// Takes the lane's active version for the pool (§13). Fails `out_of_scope` without the scope, `invalid` where none
    /// is active or it was made for another surface.
    pub fn publish(&mut self, id: &CommanderId, role: &str) -> Result<Publish, CallError> {
        let surface = Arc::clone(&self.surface);
        let (lane, supervised) = self.working(id, role, Scope::Publish)?;
        let (version, stored) = lane.policies.slot.library.active(role).ok_or(Code::Invalid)?;
        if *stored.surface != *surface.hash {
            return Err(Code::Invalid.into());
        }
        lane.policies.slot.publish((version, stored.artifact), supervised)
    }

    /// The code that a practice of a lane tests between matches and the version that its statistics name: what was handed
    /// in, which has version 0, or the lane's active one (§13). Fails `out_of_scope` without the scope, `invalid` where
    /// there is neither or it was made for another surface.
    pub fn practice_artifact(
        &mut self,
        id: &CommanderId,
        role: &str,
        given: Option<Artifact>,
    ) -> Result<(Artifact, u32), CallError> {
        let surface = Arc::clone(&self.surface);
        let (lane, _) = self.working(id, role, Scope::Practice)?;
        if let Some(artifact) = given {
            return Ok((artifact, 0));
        }
        let active = lane.policies.slot.library.active(role);
        let (version, stored) =
            active.filter(|(_, stored)| *stored.surface == *surface.hash).ok_or(Code::Invalid)?;
        Ok((stored.artifact, version))
    }

    /// `PolicyStatus` of a lane between matches.
    pub fn policy_status(&self, id: &CommanderId, role: &str) -> Option<Value> {
        let lane = self.by_id.get(id)?.lanes.get(role)?;
        Some(lane.policies.slot.status_between_matches(role))
    }

    /// The owner's answer to an approval request that a lane of their commander made between matches, and that lane's
    /// role. Fails `forbidden` unless the commander is theirs, `approval_not_found` for any other id.
    pub fn resolve_approval(
        &mut self,
        owner: &OwnerId,
        id: &CommanderId,
        approval: &str,
        approve: bool,
    ) -> Result<(Name, Option<Approved>), CallError> {
        for (role, lane) in &mut self.owned_mut(owner, id)?.lanes {
            let is_its = lane.policies.slot.approval().is_some_and(|request| request.id == approval);
            if is_its {
                let resolved = lane.policies.slot.resolve(approval, approve);
                let ended = match &resolved {
                    Ok(approved) => approved.is_none(),
                    Err(error) => error.code == Code::ApprovalFailed,
                };
                lane.policies.decided |= ended;
                return resolved.map(|approved| (role.clone(), approved));
            }
        }
        Err(Code::ApprovalNotFound.into())
    }

    /// A trial ended. A success makes the version the lane's active one, unless the owner supervises by now and was not asked.
    /// Where they took the scope away meanwhile, it is `out_of_scope`.
    pub fn activated(
        &mut self,
        id: &CommanderId,
        role: &Name,
        activation: &Activation,
        probe: &Result<Thought, PolicyError>,
    ) -> Activated {
        let surface = Arc::clone(&self.surface);
        let verdict = verdict(&surface.manifest, role, activation, probe);
        let allowed = match &activation.approval {
            None => self.working(id, role, Scope::Policy).map(|_| ()),
            Some(_) => Ok(()),
        };
        let supervised = self.settings(id).is_some_and(|settings| settings.mandate.is_supervised());
        // The commander was removed meanwhile.
        let Some(lane) = self.lane_mut(id, role) else { return Activated::Refused(Code::BadToken.into()) };
        if let Err(error) = allowed {
            lane.policies.slot.not_tried(activation);
            return Activated::Refused(error);
        }
        lane.policies.carried_out(activation.approval.as_deref());
        lane.policies.slot.activated(activation, verdict, (role, &surface.hash), supervised, 0)
    }

    /// There was no place for the trial. The lane may ask again.
    pub fn not_tried(&mut self, id: &CommanderId, role: &str, activation: &Activation) {
        if let Some(lane) = self.lane_mut(id, role) {
            lane.policies.slot.not_tried(activation);
        }
    }

    /// A publication ended.
    pub fn published(&mut self, id: &CommanderId, role: &str, publication: &Publication, works: bool) {
        if let Some(lane) = self.lane_mut(id, role) {
            lane.policies.slot.published(publication, works);
            lane.policies.carried_out(publication.approval.as_deref());
        }
    }

    /// Whether an approval of the lane was decided since its agent was last told, who is told by this.
    pub fn take_decided(&mut self, id: &CommanderId, role: &str) -> bool {
        self.lane_mut(id, role).is_some_and(|lane| std::mem::take(&mut lane.policies.decided))
    }

    /// A version for a seat that no live agent is expected on (§20.1): the given one, or the one that is active for the
    /// role. Fails `forbidden` unless the commander is the owner's, `invalid` for one whose agent plays itself, a role
    /// that it does not have and a version that is not kept.
    pub fn version(
        &self,
        owner: &OwnerId,
        id: &CommanderId,
        role: &str,
        version: Option<u32>,
    ) -> Result<FromLibrary, CallError> {
        let Commander { draft, library, lanes, .. } = self.owned(owner, id)?;
        if draft.kind != CommanderKind::Policy || !lanes.contains_key(role) {
            return Err(Code::Invalid.into());
        }
        let kept: Option<(u32, Stored)> = match version {
            Some(version) => library.version(version).map(|stored| (version, stored)),
            None => library.active(role),
        };
        let (version, stored) = kept.ok_or(Code::Invalid)?;
        Ok(FromLibrary { commander: id.clone(), version, library: library.clone(), stored })
    }

    /// Whose commander it is.
    pub fn owner(&self, id: &CommanderId) -> Option<&OwnerId> {
        self.by_id.get(id).map(|commander| &commander.owner)
    }

    /// A lane that may do what needs this scope, and whether its owner has to agree.
    fn working(
        &mut self,
        id: &CommanderId,
        role: &str,
        scope: Scope,
    ) -> Result<(&mut Lane<D>, bool), CallError> {
        // A commander that is gone has no token any more.
        let Commander { settings, lanes, .. } = self.by_id.get_mut(id).ok_or(Code::BadToken)?;
        let lane = lanes.get_mut(role).ok_or(Code::Forbidden)?;
        if !settings.scopes.contains(&scope) {
            return Err(Code::OutOfScope.into());
        }
        Ok((lane, settings.mandate.is_supervised()))
    }
}
