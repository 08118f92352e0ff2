//! A commander's policies between matches (§4 "Agent sessions"): trials without a match, publications and the owner's
//! answers. What may be is decided by `session::Commanders`; here the code runs.
//!
//! A trial that began is brought to its end, whoever still waits for it; a lane has one at a time.

use crate::answers;
use crate::commanders::{Commanders, Roster};
use crate::grant::CommanderGrant;
use crate::places::PolicyPlaces;
use crate::sandboxed;
use playerthree_game::{Name, Seat};
use playerthree_sandbox as sandbox;
use playerthree_session::{
    Activation, Approved, Artifact, CallError, Code, CommanderId, Config, Deploy, Match, OwnerId,
    PolicyError, Publication, Publish, Surface, Thought,
};
use serde_json::{Value, json};
use std::sync::Arc;

impl CommanderGrant {
    pub(crate) async fn deploy(&self, role: &Name, artifact: Artifact) -> Result<Value, CallError> {
        let deploy = self.desk.roster.rules().deploy(&self.id, role, artifact)?;
        self.deployed(role, deploy).await
    }

    pub(crate) async fn rollback(&self, role: &Name, version: u32) -> Result<Value, CallError> {
        let deploy = self.desk.roster.rules().rollback(&self.id, role, version)?;
        self.deployed(role, deploy).await
    }

    async fn deployed(&self, role: &Name, deploy: Deploy) -> Result<Value, CallError> {
        match deploy {
            Deploy::Probe(activation) => try_out(&self.desk.roster, &self.id, role, activation).await,
            Deploy::Approval(request) => Ok(self.asked(role, request)),
        }
    }

    pub(crate) fn publish(&self, role: &Name) -> Result<Value, CallError> {
        let publish = self.desk.roster.rules().publish(&self.id, role)?;
        match publish {
            Publish::Now(publication) => self.desk.roster.publish(&self.id, role, &publication),
            Publish::Approval(request) => Ok(self.asked(role, request)),
        }
    }

    /// The lane has a new request for its owner.
    fn asked(&self, role: &Name, request: Value) -> Value {
        self.desk.ring(role);
        request
    }
}

impl Commanders {
    /// The owner's answer to an approval request that a lane of their commander made between matches (§7). Agreeing to a
    /// deploy tries the artifact first. Fails `forbidden` unless the commander is theirs, `approval_not_found` for any
    /// other id, and like the call that asked.
    pub async fn resolve_approval(
        &self,
        surface: &Arc<Surface>,
        owner: &OwnerId,
        id: &CommanderId,
        approval: &str,
        approve: bool,
    ) -> Result<Value, CallError> {
        let roster = self.roster(surface);
        let (role, approved) = roster.rules().resolve_approval(owner, id, approval, approve)?;
        let answer = match approved {
            None => Ok(json!({ "id": approval, "status": "rejected" })),
            Some(Approved::Probe(activation)) => try_out(&roster, id, &role, activation).await,
            Some(Approved::Publish(publication)) => roster.publish(id, &role, &publication),
        };
        self.ring(id, &role);
        answer
    }
}

impl Roster {
    fn publish(&self, id: &CommanderId, role: &Name, publication: &Publication) -> Result<Value, CallError> {
        let owner = self.rules().owner(id).cloned().ok_or(Code::BadToken)?;
        let artifact = publication.artifact.clone();
        let published = self.places.pools().publish(&self.surface, &owner, role, artifact);
        self.rules().published(id, role, publication, published.is_ok());
        answers::publication(publication, published)
    }
}

/// Tries code for a lane on what a fresh match shows its role.
async fn try_out(
    roster: &Arc<Roster>,
    id: &CommanderId,
    role: &Name,
    activation: Activation,
) -> Result<Value, CallError> {
    let owner = roster.rules().owner(id).cloned().ok_or(Code::BadToken)?;
    let refused = |code: Code| {
        roster.rules().not_tried(id, role, &activation);
        Err(code.into())
    };
    if roster.places.is_barred(&owner) {
        return refused(Code::RateLimited);
    }
    let Some(place) = roster.places.take(&owner) else { return refused(Code::Busy) };
    let work = {
        let (roster, id, role, activation) =
            (Arc::clone(roster), id.clone(), role.clone(), activation.clone());
        move || {
            let probe = rehearse(&roster.surface, &roster.places, &owner, &role, &activation.artifact)?;
            drop(place);
            let activated = roster.rules().activated(&id, &role, &activation, &probe);
            Ok(answers::trial(&roster.surface, &role, &activation, &probe, activated))
        }
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(code)) => refused(code),
        // The game broke down.
        Err(_) => refused(Code::Internal),
    }
}

/// Lets code think once about the first observation of a match of its own (§10: lobby probes initialize a fresh instance
/// like any other). Fails `internal` where the game shows nothing that its schemas allow, `busy` where the host has no room.
fn rehearse(
    surface: &Arc<Surface>,
    places: &PolicyPlaces,
    owner: &OwnerId,
    role: &Name,
    artifact: &Artifact,
) -> Result<Result<Thought, PolicyError>, Code> {
    let config = Config::of(0);
    let game = Match::new(Arc::clone(surface), config, 0).map_err(|_| Code::Internal)?;
    let team = game.teams().first().ok_or(Code::Internal)?;
    let seat = Seat::new(team, role);
    let match_data = game.match_data(&seat).map_err(|error| error.code)?;
    match think_once(places, owner, &game, &seat, artifact, &match_data) {
        Ok(thought) => Ok(Ok(thought)),
        Err(NotThought::Policy(error)) => Ok(Err(error)),
        Err(NotThought::NoRoom) => Err(Code::Busy),
    }
}

/// Why code did not think.
enum NotThought {
    /// Its own failure.
    Policy(PolicyError),
    /// The host had no process, thread or core for it.
    NoRoom,
}

impl From<PolicyError> for NotThought {
    fn from(error: PolicyError) -> Self {
        Self::Policy(error)
    }
}

fn think_once(
    places: &PolicyPlaces,
    owner: &OwnerId,
    game: &Match,
    seat: &Seat,
    artifact: &Artifact,
    match_data: &Value,
) -> Result<Thought, NotThought> {
    let surface = game.surface();
    let limits = surface.manifest.control.policy.as_ref().map(sandboxed::limits);
    let limits = limits.ok_or_else(sandboxed::no_runtime)?;
    let artifact = sandboxed::artifact(&limits, artifact)?;
    let seed = places.seed(game.seed(), seat, owner);
    let setup = sandbox::Setup { artifact, limits, match_data: sandboxed::text(match_data), seed };
    let (instance, loaded) = sandbox::Instance::load_blocking(&places.workers(owner), setup);
    let ready = sandboxed::ready(surface, answered(places, owner, loaded)?)?;
    let observation =
        game.probe_observation(seat, &ready.detail).map_err(|_| PolicyError::of("bad_output"))?;
    // Nothing else asks this instance.
    let answer =
        instance.think_blocking(sandboxed::text(&observation)).map_err(|_busy| NotThought::NoRoom)?;
    Ok(sandboxed::thought(answered(places, owner, answer)?, ready.logs)?)
}

/// An answer of the policy's own, for which its owner is blamed if it cost a worker.
fn answered<T>(
    places: &PolicyPlaces,
    owner: &OwnerId,
    answer: sandbox::Answer<T>,
) -> Result<sandbox::Answer<T>, NotThought> {
    if sandboxed::is_without_room(&answer) {
        return Err(NotThought::NoRoom);
    }
    if sandboxed::cost_a_worker(&answer) {
        places.blame(owner);
    }
    Ok(answer)
}
