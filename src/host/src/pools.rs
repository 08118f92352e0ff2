//! The pools of all games of a process (§13). Who may draft, publish and see what is decided by `session::Pool`; this only
//! finds the game's.

use dashmap::DashMap;
use playerthree_game::{Name, Outcome};
use playerthree_session::{Artifact, CallError, Draftee, OwnerId, PolicyId, Pool, PoolQuery, Surface};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Every game's pool, by the game's id: a pool outlives a change of the game's surface, which then finds its policies
/// stale (§20.5). There are as many as the host has games.
#[derive(Clone, Debug, Default)]
pub struct Pools(Arc<DashMap<String, Arc<Mutex<Pool>>>>);

impl Pools {
    /// Publishes a policy, as [`Pool::publish`] does.
    pub fn publish(
        &self,
        surface: &Surface,
        author: &OwnerId,
        role: &Name,
        artifact: Artifact,
    ) -> Result<PolicyId, CallError> {
        locked(&self.of(surface)).publish(surface, author, role, artifact)
    }

    /// A policy for a seat of this role, as [`Pool::draft`] finds it.
    pub fn draft(&self, surface: &Surface, role: &Name, id: PolicyId) -> Result<Draftee, CallError> {
        locked(&self.of(surface)).draft(role, id)
    }

    /// One page of the pool, as this owner may know it.
    pub fn list(&self, surface: &Surface, owner: &OwnerId, query: &PoolQuery) -> Value {
        locked(&self.of(surface)).list(surface, owner, query)
    }

    /// Takes an owner's own policy out of the pool. Fails `forbidden` for anything that is not theirs.
    pub fn unpublish(&self, surface: &Surface, owner: &OwnerId, id: PolicyId) -> Result<(), CallError> {
        locked(&self.of(surface)).unpublish(owner, id)
    }

    /// The operator takes a policy out of the pool.
    pub fn remove(&self, surface: &Surface, id: PolicyId) {
        locked(&self.of(surface)).remove(id);
    }

    /// The operator lets nobody draft a policy, or everybody again.
    pub fn set_disabled(&self, surface: &Surface, id: PolicyId, disabled: bool) {
        locked(&self.of(surface)).set_disabled(id, disabled);
    }

    pub(crate) fn record(&self, surface: &Surface, id: PolicyId, outcome: Outcome) {
        locked(&self.of(surface)).record(id, outcome);
    }

    fn of(&self, surface: &Surface) -> Arc<Mutex<Pool>> {
        Arc::clone(&self.0.entry(surface.manifest.id.to_string()).or_default())
    }
}

fn locked(pool: &Mutex<Pool>) -> MutexGuard<'_, Pool> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}
