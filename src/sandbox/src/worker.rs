//! The life of one instance's thread: load the policy, then let it think until told otherwise.
//!
//! It must never enter an engine again that was told to stop.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::artifact::Runtime;
use crate::call::Call;
use crate::error::PolicyErrorCode;
use crate::instance::{Answer, AnsweredBy, Loaded, Setup, Thought};
use crate::limits::{Budget, MATCH_DATA_MAX_BYTES};
use crate::output::Intents;
use crate::phase::{Done, Place, Shared};
use crate::process::{JsProcess, Workers};
use crate::stuck::{self, ThreadId};
use crate::wasm::WasmEngine;

/// Runs one instance on the calling thread.
///
/// Terminates if loading fails, if a call ends the instance, if the watchdog has answered in its place, or if
/// the owner drops its handle.
pub(crate) fn run(workers: &Workers, setup: &Setup, shared: &Arc<Shared>, observations: &Receiver<Arc<str>>) {
    let _last_words = LastWords(shared);
    let Some(mut engine) = load(workers, setup, shared) else { return };
    for observation in observations {
        let thought = engine.think(&observation);
        if !answer_think(shared, &engine, thought) {
            return;
        }
    }
}

/// Ends the instance when its thread ends, by a panic too, so that no call waits for the watchdog.
struct LastWords<'a>(&'a Shared);

impl Drop for LastWords<'_> {
    fn drop(&mut self) {
        self.0.thread_ended();
    }
}

/// Loads the policy and answers. Nothing when the thread has to end.
fn load(workers: &Workers, setup: &Setup, shared: &Shared) -> Option<Engine> {
    let (engine, answer) = match (admissible(setup), setup.artifact.runtime()) {
        (Err(code), _) => (None, Answer::unheard(code, AnsweredBy::Sandbox)),
        (Ok(()), Runtime::Js) => load_script(workers, setup, shared)?,
        (Ok(()), Runtime::Wasm) => load_module(workers, setup, shared)?,
    };
    let ended_by = answer.result.as_ref().err().map(|error| error.code);
    let Done::Load(done) = shared.finish(ended_by)? else { return None };
    done(answer);
    engine.filter(|_| ended_by.is_none())
}

fn admissible(setup: &Setup) -> Result<(), PolicyErrorCode> {
    setup.artifact.check(&setup.limits).map_err(|error| error.code)?;
    if setup.match_data.len() > MATCH_DATA_MAX_BYTES { Err(PolicyErrorCode::TooLarge) } else { Ok(()) }
}

type Start = (Option<Engine>, Answer<Loaded>);

/// Loads a script in a worker process. Nothing when there is none, or nobody waits for it any more.
fn load_script(workers: &Workers, setup: &Setup, shared: &Shared) -> Option<Start> {
    let Ok(worker) = workers.take() else {
        shared.no_room();
        return None;
    };
    let worker = Arc::new(worker);
    shared
        .runs_in(Place::Process(Arc::clone(&worker)), Budget::load(&setup.limits, workers.awaited()))
        .then_some(())?;
    let mut process = JsProcess::new(worker, setup.limits.clone(), workers.awaited());
    let answer = process.load(setup);
    Some((Some(Engine::Js(process)), answer))
}

/// Loads a module on this thread. Nothing while too many such threads are stuck.
fn load_module(workers: &Workers, setup: &Setup, shared: &Shared) -> Option<Start> {
    if stuck::too_many() {
        shared.no_room();
        return None;
    }
    let budget = Budget::load(&setup.limits, workers.awaited());
    shared.runs_in(Place::Thread(ThreadId::current()), budget).then_some(())?;
    let call = Rc::new(Call::new(&setup.limits, shared.abandoned()));
    let Answer { result, logs, cpu, by } =
        call.run(budget, || WasmEngine::load(&setup.artifact, &setup.limits, &setup.match_data, &call));
    let (engine, result) = match result {
        Ok((engine, detail)) => {
            let budget = Budget::think(&setup.limits, workers.awaited());
            (Some(Engine::Wasm { engine, call, budget }), Ok(Loaded { detail }))
        }
        Err(error) => (None, Err(error)),
    };
    Some((engine, Answer { result, logs, cpu, by }))
}

/// Answers a think. False when the thread has to end.
fn answer_think(shared: &Shared, engine: &Engine, thought: Answer<Thought>) -> bool {
    let failure = thought.result.as_ref().err().map(|error| error.code);
    let ended_by = failure.filter(|code| is_final(*code) || engine.is_gone());
    let Some(Done::Think(done)) = shared.finish(ended_by) else { return false };
    done(thought);
    ended_by.is_none()
}

/// Whether a think that failed with this code leaves an engine that must not be entered again.
fn is_final(code: PolicyErrorCode) -> bool {
    matches!(code, PolicyErrorCode::Timeout | PolicyErrorCode::MemoryLimit)
}

/// A loaded policy, where it runs.
enum Engine {
    Js(JsProcess),
    Wasm { engine: WasmEngine, call: Rc<Call>, budget: Budget },
}

impl Engine {
    fn think(&mut self, observation: &str) -> Answer<Thought> {
        match self {
            Self::Js(process) => process.think(observation),
            Self::Wasm { engine, call, budget } => call.run(*budget, || {
                engine.think(observation).map(|Intents { kept, dropped }| Thought { intents: kept, dropped })
            }),
        }
    }

    /// Whether a failed call left nothing that could be called again, whatever its code.
    fn is_gone(&self) -> bool {
        match self {
            Self::Js(process) => process.is_gone(),
            Self::Wasm { .. } => false,
        }
    }
}
