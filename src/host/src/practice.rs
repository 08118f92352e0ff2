//! Practice matches of one live match's seats (§13): each on a thread of its own that everything else goes before.
//!
//! A practice must never touch the live match, and never outlive the interest in its result.

use crate::policies::PolicyPlaces;
use crate::trial::{Trial, TrialResult};
use playerthree_session::{CallError, Code, OwnerId};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// How many practices each principal has under way, over all matches of the process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Principals(Arc<Mutex<HashMap<OwnerId, u32>>>);

impl Principals {
    /// One more for this principal, unless there are as many as the game allows (§3 `practice.concurrent`).
    fn enter(&self, owner: &OwnerId, most: u32) -> Option<Entered> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = running.entry(owner.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Entered { principals: self.clone(), owner: owner.clone() })
    }
}

/// One practice of a principal, until it is dropped.
struct Entered {
    principals: Principals,
    owner: OwnerId,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut running = self.principals.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.owner);
            }
        }
    }
}

/// Names one practice of a live match.
pub(crate) type PracticeId = u64;

type Ended = Result<TrialResult, CallError>;

/// The practices of one live match.
pub(crate) struct Practices {
    places: PolicyPlaces,
    /// Those whose results are awaited. Dropping one stops it at its next tick.
    running: HashMap<PracticeId, Running>,
    last: PracticeId,
    sender: mpsc::Sender<(PracticeId, Ended)>,
    receiver: mpsc::Receiver<(PracticeId, Ended)>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

struct Running {
    stop: Arc<AtomicBool>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Practices {
    pub(crate) fn new(places: PolicyPlaces, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { places, running: HashMap::new(), last: 0, sender, receiver, wake }
    }

    /// Starts a practice. Fails `rate_limited` for an owner whose policies hang, and `busy` when the owner has as many
    /// practices as the game allows or no place for another policy is left.
    pub(crate) fn start(
        &mut self,
        owner: &OwnerId,
        most: u32,
        trial: Trial,
    ) -> Result<PracticeId, CallError> {
        if self.places.is_barred(owner) {
            return Err(Code::RateLimited.into());
        }
        let entered = self.places.practising().enter(owner, most).ok_or(Code::Busy)?;
        let place = self.places.take().ok_or(Code::Busy)?;
        self.last += 1;
        let id = self.last;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, sender, wake) = (Arc::clone(&stop), self.sender.clone(), Arc::clone(&self.wake));
        let workers = self.places.practice_workers().clone();
        let play = move || {
            playerthree_sandbox::yield_to_everything();
            let result = trial.play(&workers, &mut |_| !stopped.load(Ordering::Relaxed));
            drop((entered, place));
            // The match may be gone; then nobody waits for this.
            _ = sender.send((id, result));
            wake();
        };
        thread::Builder::new().name("practice".to_owned()).spawn(play).map_err(|_| Code::Busy)?;
        self.running.insert(id, Running { stop });
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
