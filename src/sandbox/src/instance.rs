//! One running policy: a handle for its owner, and the thread that runs its engine or waits for its worker process.
//!
//! Every call is answered exactly once and in bounded time, whatever the policy does. An instance that failed
//! to stop in time is never entered again.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::artifact::{Artifact, Runtime};
use crate::detail::Detail;
use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::{Budget, Limits};
use crate::phase::{Done, Shared};
use crate::process::{START_GUARD, Workers};
use crate::worker;

/// Bytes of stack of a sandbox thread: the engines' own limits are far below.
const THREAD_STACK_BYTES: usize = 4 * 1024 * 1024;

/// Who answered a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBy {
    /// The engine itself.
    Engine,
    /// The sandbox in the engine's place: it ended the engine, found it broken or never entered it.
    Sandbox,
    /// The host, which had no process, thread or core for the policy. Nothing was tried, and no policy is to blame: the call
    /// may be made again, a load with a fresh instance.
    Host,
}

/// What became of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<T> {
    /// The result, or why there is none.
    pub result: Result<T, PolicyError>,
    /// Lines that the policy logged during the call; kept when the call failed, unless the engine did not answer itself.
    pub logs: Vec<String>,
    /// CPU time that the call used on the sandbox's own thread; zero when the engine did not answer itself.
    pub cpu: Duration,
    /// Who gave the answer.
    pub by: AnsweredBy,
}

impl<T> Answer<T> {
    /// A failure that the engine did not report itself.
    pub(crate) fn unheard(code: PolicyErrorCode, by: AnsweredBy) -> Self {
        Self { result: Err(code.into()), logs: Vec::new(), cpu: Duration::ZERO, by }
    }
}

/// A policy that is ready to think.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// What the artifact declares about its observations; the host checks the names.
    pub detail: Detail,
}

/// What one think returned. The intents are untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Thought {
    /// At most `max_intents_per_call` JSON values.
    pub intents: Vec<Value>,
    /// How many further intents were dropped.
    pub dropped: u32,
}

/// A call was made while another was running. Nothing happened, and the callback was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the policy is still busy with an earlier call")]
pub struct Busy;

/// Everything that one instance is loaded from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The code. Instances that share the `Arc` share the compiled module.
    pub artifact: Arc<Artifact>,
    /// The manifest's limits.
    pub limits: Limits,
    /// Guarded match data as JSON, `null` for a game without: at most `MATCH_DATA_MAX_BYTES` (§10).
    pub match_data: Arc<str>,
    /// The seed of the policy's `Math.random`.
    pub seed: u64,
}

/// A running policy. Dropping it ends its thread or process and answers a running call with `timeout`.
pub struct Instance {
    shared: Arc<Shared>,
    observations: SyncSender<Arc<str>>,
    think_budget: Budget,
}

impl Instance {
    /// Loads a policy, a script in one of these workers; `done` gets the answer, once.
    ///
    /// `done` runs on the instance's thread or on the watchdog's, and must not block. When the load fails the
    /// instance is dead, and its owner drops it.
    ///
    /// # Errors
    ///
    /// The answer carries the closed codes of §11. `too_large` also stands for match data past its bound, and a `timeout`
    /// that [`AnsweredBy::Host`] gave for a thread or worker that could not be started, for a module that may not be compiled
    /// now ([`MAX_COMPILING`], [`MAX_STUCK_THREADS`]) and where no core got free ([`CORE_PATIENCE`]).
    ///
    /// [`CORE_PATIENCE`]: crate::CORE_PATIENCE
    /// [`MAX_COMPILING`]: crate::MAX_COMPILING
    /// [`MAX_STUCK_THREADS`]: crate::MAX_STUCK_THREADS
    pub fn load(workers: &Workers, setup: Setup, done: impl FnOnce(Answer<Loaded>) + Send + 'static) -> Self {
        let think_budget = Budget::think(&setup.limits, workers.awaited());
        let shared = Shared::loading(START_GUARD, Box::new(done));
        let (observations, received) = sync_channel(1);
        if spawn(workers.clone(), setup, Arc::clone(&shared), received).is_err() {
            shared.given_up();
        }
        Self { shared, observations, think_budget }
    }

    /// Hands an observation to the policy; `done` gets the answer, once.
    ///
    /// `done` runs on the instance's thread or on the watchdog's, and must not block. For a dead instance it
    /// runs at once on the caller's thread, with the code that ended the instance.
    ///
    /// # Errors
    ///
    /// [`Busy`] while an earlier call, loading included, has not been answered.
    pub fn think(
        &self,
        observation: Arc<str>,
        done: impl FnOnce(Answer<Thought>) + Send + 'static,
    ) -> Result<(), Busy> {
        if self.shared.begin(self.think_budget, Done::Think(Box::new(done)))? {
            // The channel is empty, since no call was running. It is closed when the thread has died, and then
            // the call is answered as the thread's end is noticed.
            if self.observations.try_send(observation).is_err() {
                self.shared.end();
            }
        }
        Ok(())
    }

    /// Whether the instance can never think again: it failed to load, ran out of time or memory, or died.
    /// Its owner may load a fresh one.
    pub fn is_dead(&self) -> bool {
        self.shared.is_dead()
    }

    /// Loads a policy and waits for it, in bounded time. For tests and tools: it blocks the thread.
    pub fn load_blocking(workers: &Workers, setup: Setup) -> (Self, Answer<Loaded>) {
        let (send, receive) = mpsc::channel();
        let instance = Self::load(workers, setup, move |answer| {
            let _ = send.send(answer);
        });
        let answer =
            receive.recv().unwrap_or_else(|_| Answer::unheard(PolicyErrorCode::Timeout, AnsweredBy::Sandbox));
        (instance, answer)
    }

    /// Thinks and waits for the answer, in bounded time. For tests and tools: it blocks the thread.
    ///
    /// # Errors
    ///
    /// As [`Instance::think`].
    pub fn think_blocking(&self, observation: Arc<str>) -> Result<Answer<Thought>, Busy> {
        let (send, receive) = mpsc::channel();
        self.think(observation, move |answer| {
            let _ = send.send(answer);
        })?;
        Ok(receive.recv().unwrap_or_else(|_| Answer::unheard(PolicyErrorCode::Timeout, AnsweredBy::Sandbox)))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Whoever gives an instance up while it computes decides that, and not the policy.
        self.shared.given_up();
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("dead", &self.is_dead()).finish_non_exhaustive()
    }
}

fn spawn(
    workers: Workers,
    setup: Setup,
    shared: Arc<Shared>,
    observations: Receiver<Arc<str>>,
) -> std::io::Result<()> {
    let name = match setup.artifact.runtime() {
        Runtime::Js => "policy-js",
        Runtime::Wasm => "policy-wasm",
    };
    thread::Builder::new()
        .name(name.to_owned())
        .stack_size(THREAD_STACK_BYTES)
        .spawn(move || worker::run(&workers, &setup, &shared, &observations))
        .map(|_| ())
}
