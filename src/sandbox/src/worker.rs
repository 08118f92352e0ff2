//! The life of one instance's thread: load the policy, then let it think until told otherwise.
//!
//! It must never enter an engine again that was told to stop.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::artifact::Runtime;
use crate::call::Call;
use crate::cores::Work;
use crate::error::PolicyErrorCode;
use crate::instance::{Answer, AnsweredBy, Loaded, Setup, Thought};
use crate::limits::{Budget, MATCH_DATA_MAX_BYTES};
use crate::output::Intents;
use crate::phase::{Done, Place, Shared, Turn};
use crate::process::{JsProcess, Workers};
use crate::stuck::{Compiling, ThreadId};
use crate::wasm::WasmEngine;

/// Runs one instance on the calling thread.
///
/// Terminates if loading fails, if a call ends the instance, if the watchdog has answered in its place, or if
/// the owner drops its handle.
pub(crate) fn run(workers: &Workers, setup: &Setup, shared: &Arc<Shared>, observations: &Receiver<Arc<str>>) {
    let _last_words = LastWords(shared);
    ThreadId::current().yield_to_the_server();
    let Some(mut engine) = load(workers, setup, shared) else { return };
    let budget = Budget::think(&setup.limits, workers.awaited());
    let mut usual = Duration::ZERO;
    for observation in observations {
        let turn = shared.turn(workers.cores(), workers.tenant(), Work::Think { usual }, budget);
        let was_entered = turn == Turn::Now;
        let thought = match turn {
            Turn::Now => engine.think(&observation),
            Turn::NoCore => Answer::unheard(PolicyErrorCode::Timeout, AnsweredBy::Host),
            Turn::Never => return,
        };
        usual = usual_after(usual, &thought);
        if !answer_think(shared, &engine, thought, was_entered) {
            return;
        }
    }
}

/// What a think is expected to take after this one. A quick call does not make up for a slow one at once.
fn usual_after(usual: Duration, thought: &Answer<Thought>) -> Duration {
    match thought.by {
        // Whoever got no turn has its tenant's next one.
        AnsweredBy::Host => Duration::ZERO,
        AnsweredBy::Engine | AnsweredBy::Sandbox => thought.cpu.max(usual / 8 * 7),
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
        shared.given_up();
        return None;
    };
    let worker = Arc::new(worker);
    begin_load(workers, setup, shared, Place::Process(Arc::clone(&worker)))?;
    let mut process = JsProcess::new(worker, setup.limits.clone(), workers.awaited());
    let answer = process.load(setup);
    Some((Some(Engine::Js(process)), answer))
}

/// Gives a load its place and waits for its core. Nothing when there is none, or nobody waits for the load any more.
fn begin_load(workers: &Workers, setup: &Setup, shared: &Shared, place: Place) -> Option<()> {
    let budget = Budget::load(&setup.limits, workers.awaited());
    if !shared.runs_in(place, budget) {
        return None;
    }
    match shared.turn(workers.cores(), workers.tenant(), Work::Load, budget) {
        Turn::Now => Some(()),
        Turn::NoCore => {
            shared.given_up();
            None
        }
        Turn::Never => None,
    }
}

/// Loads a module on this thread. Nothing while too many such threads are stuck, or its tenant compiles enough already.
fn load_module(workers: &Workers, setup: &Setup, shared: &Shared) -> Option<Start> {
    // What is compiled already can be interrupted.
    let is_compiled = setup.artifact.module().get().is_some();
    let compiling = if is_compiled { None } else { Compiling::begin(workers.tenant()) };
    if !is_compiled && compiling.is_none() {
        shared.given_up();
        return None;
    }
    begin_load(workers, setup, shared, Place::Thread(ThreadId::current()))?;
    let budget = Budget::load(&setup.limits, workers.awaited());
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

/// Answers a think, for which the engine was entered if it had a core. False when the thread has to end.
fn answer_think(shared: &Shared, engine: &Engine, thought: Answer<Thought>, was_entered: bool) -> bool {
    let failure = thought.result.as_ref().err().map(|error| error.code);
    let ended_by = failure.filter(|code| was_entered && is_final(*code) || engine.is_gone());
    let Some(Done::Think(done)) = shared.finish(ended_by) else { return false };
    done(thought);
    ended_by.is_none()
}

/// Whether a think that the engine failed with this code leaves an engine that must not be entered again.
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

#[cfg(test)]
mod tests {
    use super::*;

    // A slow policy is known as one for many calls, so that nobody gets before others by a quick call now and then; one that
    // found no core is next.
    #[test]
    fn what_a_think_usually_takes_is_forgotten_slowly() {
        let answered =
            |cpu: Duration, by: AnsweredBy| Answer { cpu, ..Answer::unheard(PolicyErrorCode::Threw, by) };
        let ms = Duration::from_millis;
        let quick = answered(ms(1), AnsweredBy::Engine);
        let slow = usual_after(ms(1), &answered(ms(20), AnsweredBy::Engine));
        assert_eq!(slow, ms(20));
        assert!((0..8).fold(slow, |usual, _| usual_after(usual, &quick)) > ms(6));
        assert_eq!((0..64).fold(slow, |usual, _| usual_after(usual, &quick)), ms(1));
        assert_eq!(usual_after(slow, &answered(ms(0), AnsweredBy::Host)), ms(0));
    }
}
