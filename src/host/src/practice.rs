//! Practices (§13), of a live match's seats and of commanders between matches: each a headless match on a thread of its
//! own that everything else goes before.
//!
//! A practice must never touch a live match, and never outlive the interest in its result.

use crate::places::PolicyPlaces;
use crate::ticks::Ticks;
use crate::trial::{Trial, TrialResult};
use playerthree_session::{CallError, Code, CommanderId, OwnerId};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::sync::oneshot;

/// Most practices of one process. They take no places of live policies.
pub const PRACTICE_PLACES: usize = 64;

/// Most practices of one owner, whoever of their commanders practises and in however many games: an eighth of the process's.
pub const OWNER_PRACTICES: u32 = 8;

/// Who practises: a named commander is one principal across the lobby and any match that seats it (§13), and whoever else
/// acts for an owner is the owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Principal {
    pub(crate) owner: OwnerId,
    pub(crate) commander: Option<CommanderId>,
}

type Ended = Result<TrialResult, CallError>;

/// A practice under way. Dropping it stops it at its next tick.
#[derive(Default)]
struct Running {
    stop: Arc<AtomicBool>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Names one practice of a live match.
pub(crate) type PracticeId = u64;

/// The practices of one live match.
pub(crate) struct Practices {
    places: PolicyPlaces,
    /// Those whose results are awaited.
    running: HashMap<PracticeId, Running>,
    last: PracticeId,
    sender: mpsc::Sender<(PracticeId, Ended)>,
    receiver: mpsc::Receiver<(PracticeId, Ended)>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Practices {
    pub(crate) fn new(places: PolicyPlaces, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { places, running: HashMap::new(), last: 0, sender, receiver, wake }
    }

    /// Starts a practice, as [`launch`] does.
    pub(crate) fn start(
        &mut self,
        principal: Principal,
        trial: Trial,
        ticks: Ticks,
    ) -> Result<PracticeId, CallError> {
        let id = self.last + 1;
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        let running = launch(&self.places, principal, trial, ticks, move |result| {
            // The match may be gone; then nobody waits for this.
            _ = sender.send((id, result));
            wake();
        })?;
        self.last = id;
        self.running.insert(id, running);
        Ok(id)
    }

    /// The next practice that ended, if somebody still waits for it.
    pub(crate) fn next_ended(&mut self) -> Option<(PracticeId, Result<Value, CallError>)> {
        while let Ok((id, result)) = self.receiver.try_recv() {
            if self.running.remove(&id).is_some() {
                return Some((id, result.map(|result| result.to_json())));
            }
        }
        None
    }

    /// Nobody waits for this practice any more.
    pub(crate) fn cancel(&mut self, id: PracticeId) {
        self.running.remove(&id);
    }
}

/// Plays one practice between matches and waits for its result, which is not kept for anybody else. Fails like [`launch`].
///
/// Cancel safe: a practice that nobody waits for stops at its next tick.
pub(crate) async fn played(
    places: &PolicyPlaces,
    principal: Principal,
    trial: Trial,
    ticks: Ticks,
) -> Result<Value, CallError> {
    let (sender, ended) = oneshot::channel();
    let _running = launch(places, principal, trial, ticks, move |ended| _ = sender.send(ended))?;
    let ended = ended.await.map_err(|_| Code::Internal)?;
    Ok(ended?.to_json())
}

/// Who waits for a practice. Whatever happens to it, they are told: where the game breaks down, `internal`.
struct Awaited<F: FnOnce(Ended)>(Option<F>);

impl<F: FnOnce(Ended)> Awaited<F> {
    fn tell(mut self, ended: Ended) {
        if let Some(done) = self.0.take() {
            done(ended);
        }
    }
}

impl<F: FnOnce(Ended)> Drop for Awaited<F> {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            done(Err(Code::Internal.into()));
        }
    }
}

/// Starts a practice, which counts what it has played in `ticks`; `done` gets its result on the practice's thread, and must
/// not block.
///
/// Fails `mode_unavailable` in a game without the mode; `rate_limited` for an owner whose policies hang; `busy` when the
/// principal has as many practices as the game allows, or its owner or the process as many as they may have.
fn launch(
    places: &PolicyPlaces,
    principal: Principal,
    trial: Trial,
    ticks: Ticks,
    done: impl FnOnce(Ended) + Send + 'static,
) -> Result<Running, CallError> {
    if places.is_barred(&principal.owner) {
        return Err(Code::RateLimited.into());
    }
    let limits = trial.surface.manifest.control.practice.as_ref().ok_or(Code::ModeUnavailable)?;
    let owner = principal.owner.clone();
    let entered = places.practising().take(principal, limits.concurrent).ok_or(Code::Busy)?;
    let place = places.take_practice(&owner).ok_or(Code::Busy)?;
    let running = Running::default();
    let (stopped, places) = (Arc::clone(&running.stop), places.clone());
    let play = move || {
        let done = Awaited(Some(done));
        playerthree_sandbox::yield_to_everything();
        let workers = places.practice_workers(&owner);
        let result = trial.play(&workers, &mut |tick| {
            ticks.reach(tick);
            !stopped.load(Ordering::Relaxed)
        });
        // Once: a draft may hang, and a trial restarts it a few times only.
        if result.as_ref().map_or_else(|not_played| not_played.cost_a_worker, |played| played.cost_a_worker) {
            places.blame(&owner);
        }
        drop((entered, place));
        done.tell(result.map_err(|not_played| not_played.error));
    };
    thread::Builder::new().name("practice".to_owned()).spawn(play).map_err(|_| Code::Busy)?;
    Ok(running)
}
