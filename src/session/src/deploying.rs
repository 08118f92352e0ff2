//! Policies as the rules see them (§7, §11): deploys, rollbacks, approvals and the end of a trial. The code runs elsewhere.

use crate::ack::Ack;
use crate::game_match::Match;
use crate::gates;
use crate::mandate;
use crate::policy::{Artifact, PolicyError, Stats, Thought};
use crate::policy_slot::{Activated, Activation, Approved, Deploy, Publication, Publish};
use crate::{CallError, Code, Surface};
use playerthree_game::{Checked, Controller, Detail, Name, Runtime, Seat};
use serde_json::Value;
use std::sync::Arc;

impl Match {
    /// Takes an artifact for a seat (§7, §11).
    pub fn deploy(&mut self, seat: &Seat, artifact: Artifact) -> Result<Deploy, CallError> {
        self.still_plays(seat)?;
        let state = self.seat_mut(seat)?;
        let deploy = state.policy.deploy(artifact, state.mandate.is_supervised())?;
        self.changes.seats = true;
        Ok(deploy)
    }

    /// Takes a retained version back (§4 `policyRollback`). Fails `invalid` for one that is not kept or was made for
    /// another surface (§20.5).
    pub fn rollback(&mut self, seat: &Seat, version: u32) -> Result<Deploy, CallError> {
        self.still_plays(seat)?;
        let surface = Arc::clone(&self.surface);
        let state = self.seat_mut(seat)?;
        let deploy = state.policy.rollback(version, &surface.hash, state.mandate.is_supervised())?;
        self.changes.seats = true;
        Ok(deploy)
    }

    /// Takes the seat's active policy for the pool (§13). Fails `mode_unavailable` in a game without one, `invalid` where
    /// no policy of the owner's own is active: a drafted one is somebody else's to publish.
    pub fn publish(&mut self, seat: &Seat) -> Result<Publish, CallError> {
        self.surface.manifest.control.pool.ok_or(Code::ModeUnavailable)?;
        self.still_plays(seat)?;
        let state = self.seat_mut(seat)?;
        let active = state.policy.active_artifact().ok_or(Code::Invalid)?;
        let publish = state.policy.publish(active, state.mandate.is_supervised())?;
        self.changes.seats |= matches!(publish, Publish::Approval(_));
        Ok(publish)
    }

    /// A publication ended. Waits learn of a resolved approval.
    pub fn published(&mut self, seat: &Seat, publication: &Publication, works: bool) {
        let Some(state) = self.seats.get_mut(seat) else { return };
        state.policy.published(publication, works);
        if publication.approval.is_some() {
            self.changes.seats = true;
            _ = self.approval_changed(seat);
        }
    }

    /// The owner's answer to an approval request (§7). An agreed one comes back to be carried out.
    pub fn resolve_approval(
        &mut self,
        seat: &Seat,
        id: &str,
        approve: bool,
    ) -> Result<Option<Approved>, CallError> {
        self.still_plays(seat)?;
        let resolved = self.seat_mut(seat)?.policy.resolve(id, approve);
        self.changes.seats = true;
        // A refusal that changed no request wakes nobody.
        let ended = match &resolved {
            Ok(approved) => approved.is_none(),
            Err(error) => error.code == Code::ApprovalFailed,
        };
        if ended {
            self.approval_changed(seat)?;
        }
        resolved
    }

    /// A probe ended. A success makes the version active, unless the owner supervises by now and was not asked; either way
    /// waits learn of a resolved approval.
    pub fn activated(
        &mut self,
        seat: &Seat,
        activation: &Activation,
        probe: &Result<Thought, PolicyError>,
    ) -> Activated {
        let (tick, surface) = (self.tick(), Arc::clone(&self.surface));
        let verdict = verdict(&surface.manifest, &seat.role, activation, probe);
        let Some(state) = self.seats.get_mut(seat) else {
            return Activated::Refused(Code::NotInMatch.into());
        };
        let supervised = state.mandate.is_supervised();
        let activated =
            state.policy.activated(activation, verdict, (&seat.role, &surface.hash), supervised, tick);
        if matches!(activated, Activated::Active(_)) {
            self.round.forget(seat);
        }
        self.changes.seats = true;
        // Who is waited for before a start may have changed.
        self.changes.status |= self.is_held();
        self.round.seats_changed();
        if activation.approval.is_some() {
            _ = self.approval_changed(seat);
        }
        activated
    }

    /// What seats were given and nobody has tried yet (§20.5). Each comes once: report back with [`Self::activated`] or
    /// [`Self::not_tried`].
    pub fn due_activations(&mut self) -> Vec<(Seat, Activation)> {
        let plays: Vec<Seat> =
            self.seats.keys().filter(|seat| self.still_plays(seat).is_ok()).cloned().collect();
        let due = |seat: Seat| {
            let activation = self.seats.get_mut(&seat)?.policy.take_due()?;
            Some((seat, activation))
        };
        plays.into_iter().filter_map(due).collect()
    }

    /// Lets a policy play that the caller loads and runs, without a trial and without keeping its code.
    pub fn run_policy(&mut self, seat: &Seat, version: u32, runtime: Runtime) -> Result<(), CallError> {
        self.seat_mut(seat)?.policy.active = Some(Stats::new(version, runtime));
        self.set_controller(seat, Controller::Policy)
    }

    /// The host runs the seat's policy no more: from now on the seat is played as one without an active policy, and its
    /// card says so (§8, §20.2). What is kept can be deployed or taken back as ever.
    pub fn policy_stopped(&mut self, seat: &Seat) {
        let Some(state) = self.seats.get_mut(seat) else { return };
        state.policy.stop();
        self.round.forget(seat);
        self.round.seats_changed();
        self.changes.seats = true;
        self.changes.status |= self.is_held();
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

/// What a trial shows. Code that its agent did not just write must send nothing but intents that the schema and the role
/// allow (§20.5).
pub(crate) fn verdict(
    manifest: &Checked,
    role: &Name,
    activation: &Activation,
    probe: &Result<Thought, PolicyError>,
) -> Result<(), PolicyError> {
    let thought = probe.as_ref().map_err(Clone::clone)?;
    let sound = || thought.intents.iter().all(|intent| gates::admitted(manifest, role, intent).is_ok());
    if !activation.is_strict() || sound() { Ok(()) } else { Err(PolicyError::of("bad_output")) }
}

/// What a deploy is told of its trial (§4 `Stats`): the one call, and those of its intents that the seat could never send,
/// by schema or by role. None of them is applied, so the gates behind those two say nothing.
pub fn trial_stats(
    surface: &Surface,
    role: &Name,
    (version, runtime): (u32, Runtime),
    probe: &Result<Thought, PolicyError>,
) -> Stats {
    let mut stats = Stats::new(version, runtime);
    stats.count(probe);
    for intent in probe.iter().flat_map(|thought| &thought.intents) {
        if let Err(refusal) = gates::admitted(&surface.manifest, role, intent) {
            stats.reject(refusal.code());
        }
    }
    stats
}
