//! Policies as the rules see them (§7, §11): deploys, rollbacks, approvals and the end of a trial. The code runs elsewhere.

use crate::ack::Ack;
use crate::game_match::Match;
use crate::mandate;
use crate::policy::{Activation, Artifact, Deploy, PolicyError, Thought};
use crate::{CallError, Code};
use playerthree_game::{Detail, Name, Seat};
use serde_json::Value;

impl Match {
    /// Takes an artifact for a seat (§7, §11).
    pub fn deploy(&mut self, seat: &Seat, artifact: Artifact) -> Result<Deploy, CallError> {
        self.still_plays(seat)?;
        let state = self.seat_mut(seat)?;
        let supervised = state.mandate.autonomy() == mandate::Autonomy::Supervised;
        let deploy = state.policy.deploy(artifact, supervised)?;
        self.changes.seats = true;
        Ok(deploy)
    }

    /// Takes a retained version back (§4 `policyRollback`).
    pub fn rollback(&mut self, seat: &Seat, version: u32) -> Result<Deploy, CallError> {
        self.still_plays(seat)?;
        let state = self.seat_mut(seat)?;
        let supervised = state.mandate.autonomy() == mandate::Autonomy::Supervised;
        let deploy = state.policy.rollback(version, supervised)?;
        self.changes.seats = true;
        Ok(deploy)
    }

    /// The owner's answer to an approval request (§7). An agreed one comes back as a probe to run.
    pub fn resolve_approval(
        &mut self,
        seat: &Seat,
        id: &str,
        approve: bool,
    ) -> Result<Option<Activation>, CallError> {
        self.still_plays(seat)?;
        let resolved = self.seat_mut(seat)?.policy.resolve(id, approve);
        self.changes.seats = true;
        // A refusal that changed no request wakes nobody.
        let ended = match &resolved {
            Ok(activation) => activation.is_none(),
            Err(error) => error.code == Code::ApprovalFailed,
        };
        if ended {
            self.approval_changed(seat)?;
        }
        resolved
    }

    /// A probe ended. A success makes the version active; either way waits learn of a resolved approval.
    pub fn activated(&mut self, seat: &Seat, activation: &Activation, probe: &Result<Thought, PolicyError>) {
        let tick = self.tick();
        let Some(state) = self.seats.get_mut(seat) else { return };
        state.policy.activated(activation, probe, tick);
        self.changes.seats = true;
        self.round.seats_changed();
        if activation.approval.is_some() {
            _ = self.approval_changed(seat);
        }
    }

    /// An activation could not be tried for want of a place. The seat may ask again.
    pub fn not_tried(&mut self, seat: &Seat, activation: &Activation) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.policy.not_tried(activation);
        }
    }

    /// A side that is out of play has no use for a policy.
    pub(crate) fn still_plays(&self, seat: &Seat) -> Result<(), CallError> {
        if self.outcome(&seat.team).is_final() { Err(Code::NotInMatch.into()) } else { Ok(()) }
    }

    /// The seat's `PolicyStatus`.
    pub fn policy_status(&self, seat: &Seat) -> Result<Value, CallError> {
        Ok(self.seat(seat)?.policy.status())
    }

    pub(crate) fn approval_changed(&mut self, seat: &Seat) -> Result<(), CallError> {
        let state = self.seat_mut(seat)?;
        state.agent_lane.approval_changed();
        Ok(())
    }

    /// What an activated policy of this seat is probed on: its guarded observation at the role's default detail
    /// united with what the policy declares.
    pub fn probe_observation(&self, seat: &Seat, declared: &[Name]) -> Result<Value, CallError> {
        let detail = self.surface.manifest.detail(&seat.role, &Detail::Sections(declared.to_vec()))?;
        Ok(self.outputs().observation(seat, -1, &detail).map_err(Code::from)?.into_value())
    }

    /// Whether a scope is granted to the seat's agents.
    pub fn grants(&self, seat: &Seat, scope: mandate::Scope) -> Result<bool, CallError> {
        Ok(self.seat(seat)?.scopes.contains(&scope))
    }

    /// The acks of a call as they travel.
    pub fn acks_json(acks: &[Ack]) -> Value {
        acks.iter().map(Ack::to_json).collect()
    }
}
