//! The life of one sandbox thread: load the policy, then think until told otherwise.
//!
//! It must never enter an engine again that was told to stop.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::artifact::Runtime;
use crate::call::Call;
use crate::detail::Detail;
use crate::error::{PolicyError, PolicyErrorCode};
use crate::instance::{Answer, Loaded, Setup, Thought};
use crate::js::JsEngine;
use crate::limits::{Budget, MATCH_DATA_MAX_BYTES};
use crate::output::Intents;
use crate::phase::{Done, Shared};
use crate::stuck::ThreadId;
use crate::wasm::WasmEngine;

/// Runs one instance on the calling thread.
///
/// Terminates if loading fails, if a call ends the instance, if the watchdog has answered in its place, or if
/// the owner drops its handle.
pub(crate) fn run(setup: &Setup, shared: &Arc<Shared>, observations: &Receiver<Arc<str>>) {
    let _last_words = LastWords(shared);
    shared.runs_on(ThreadId::current());
    let call = Rc::new(Call::new(&setup.limits, shared.abandoned()));
    let Some(mut engine) = load(setup, shared, &call) else { return };
    let budget = Budget::think(&setup.limits);
    for observation in observations {
        call.begin(budget);
        let thought = engine.think(&observation).and_then(|intents| call.check().map(|()| intents));
        if !answer_think(shared, &call, thought) {
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
fn load(setup: &Setup, shared: &Shared, call: &Rc<Call>) -> Option<Engine> {
    call.begin(Budget::load(&setup.limits));
    let loaded = Engine::load(setup, call).and_then(|loaded| call.check().map(|()| loaded));
    let (cpu, logs) = call.end();
    let (engine, result) = match loaded {
        Ok((engine, detail)) => (Some(engine), Ok(Loaded { detail })),
        Err(error) => (None, Err(error)),
    };
    let ended_by = result.as_ref().err().map(|error| error.code);
    let Done::Load(done) = shared.finish(ended_by)? else { return None };
    done(Answer { result, logs, cpu });
    engine
}

/// Answers a think. False when the thread has to end.
fn answer_think(shared: &Shared, call: &Call, thought: Result<Intents, PolicyError>) -> bool {
    let (cpu, logs) = call.end();
    let ended_by = thought.as_ref().err().map(|error| error.code).filter(|code| is_final(*code));
    let Some(Done::Think(done)) = shared.finish(ended_by) else { return false };
    let result = thought.map(|Intents { kept, dropped }| Thought { intents: kept, dropped });
    done(Answer { result, logs, cpu });
    ended_by.is_none()
}

/// Whether a think that failed with this code leaves an engine that must not be entered again.
fn is_final(code: PolicyErrorCode) -> bool {
    matches!(code, PolicyErrorCode::Timeout | PolicyErrorCode::MemoryLimit)
}

enum Engine {
    Js(JsEngine),
    Wasm(WasmEngine),
}

impl Engine {
    fn load(setup: &Setup, call: &Rc<Call>) -> Result<(Self, Detail), PolicyError> {
        let Setup { artifact, limits, match_data, seed } = setup;
        artifact.check(limits)?;
        if match_data.len() > MATCH_DATA_MAX_BYTES {
            return Err(PolicyErrorCode::TooLarge.into());
        }
        match artifact.runtime() {
            Runtime::Js => JsEngine::load(artifact, limits, *seed, match_data, Rc::clone(call))
                .map(|(engine, detail)| (Self::Js(engine), detail)),
            Runtime::Wasm => WasmEngine::load(artifact, limits, match_data, call)
                .map(|(engine, detail)| (Self::Wasm(engine), detail)),
        }
    }

    fn think(&mut self, observation: &str) -> Result<Intents, PolicyError> {
        match self {
            Self::Js(engine) => engine.think(observation),
            Self::Wasm(engine) => engine.think(observation),
        }
    }
}
