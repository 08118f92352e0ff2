//! What a running module can reach: its memory limit and `env.log`. Nothing else of the host.

use std::rc::Rc;

use wasmtime::{Caller, Error, Extern, ResourceLimiter, Store, Trap, UpdateDeadline};

use super::epoch::engine;
use crate::call::Call;
use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::{Limits, MAX_TABLE_ENTRIES};

/// The data of one store.
pub(super) struct Host {
    call: Rc<Call>,
    memory: MemoryLimit,
}

impl Host {
    /// Forgets a refusal that an earlier call has survived.
    pub(super) fn begin_call(&mut self) {
        self.memory.refused = false;
    }
}

/// A store whose code stops when its call's budget is used up.
pub(super) fn store(limits: &Limits, call: Rc<Call>) -> Store<Host> {
    let memory = MemoryLimit { max_bytes: limits.memory_bytes, refused: false };
    let mut store = Store::new(engine(), Host { call, memory });
    store.limiter(|host| &mut host.memory);
    store.epoch_deadline_callback(|store| {
        Ok(if store.data().call.poll() { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
    });
    store.set_epoch_deadline(1);
    store
}

/// `env.log(pointer, length)`: one line of UTF-8 text.
pub(super) fn log(mut caller: Caller<'_, Host>, pointer: i32, length: i32) -> Result<(), Error> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        return Err(Error::new(Misuse("log needs the exported memory")));
    };
    let (data, host) = memory.data_and_store_mut(&mut caller);
    let start = pointer.cast_unsigned() as usize;
    let line = start
        .checked_add(length.cast_unsigned() as usize)
        .and_then(|end| data.get(start..end))
        .ok_or(Misuse("the log region is outside the memory"))?;
    // Bytes past the bound are cut before they are decoded, so that a line costs no more than its bound.
    let bounded = &line[..line.len().min(host.call.max_log_line_bytes())];
    host.call.log(&String::from_utf8_lossy(bounded));
    Ok(())
}

/// The code of a failed call, and the engine's text about it.
pub(super) fn failure(store: &Store<Host>, error: &Error) -> PolicyError {
    let host = store.data();
    if host.call.interrupted() {
        return PolicyErrorCode::Timeout.into();
    }
    if host.memory.refused {
        return PolicyErrorCode::MemoryLimit.into();
    }
    let trap = error.downcast_ref::<Trap>().map(Trap::to_string);
    match trap.or_else(|| error.downcast_ref::<Misuse>().map(Misuse::to_string)) {
        Some(text) => PolicyError::with_text(PolicyErrorCode::Threw, &text),
        // What the module did not do itself is the host's affair, and so are its words.
        None => host.call.no_room(),
    }
}

/// The module called `env.log` as it must not.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Misuse(&'static str);

/// Refuses memory past the policy's limit, and remembers it: the module sees only a failed `memory.grow`.
struct MemoryLimit {
    max_bytes: usize,
    refused: bool,
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _max: Option<usize>,
    ) -> Result<bool, Error> {
        let allowed = desired <= self.max_bytes;
        self.refused |= !allowed;
        Ok(allowed)
    }

    fn memory_grow_failed(&mut self, _error: Error) -> Result<(), Error> {
        self.refused = true;
        Ok(())
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _max: Option<usize>) -> Result<bool, Error> {
        // The declared maxima were checked to stay below the cap together.
        Ok(desired as u64 <= MAX_TABLE_ENTRIES)
    }

    fn instances(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::AnsweredBy;
    use crate::limits::Budget;
    use std::sync::Arc;
    use std::time::Duration;

    // §11: what the module did is its own failure, with the engine's words; what the kernel refused the host is not.
    #[test]
    fn only_what_the_module_did_is_its_failure() {
        let limits = Limits {
            ms_per_call: 1000,
            memory_bytes: 1 << 20,
            max_artifact_bytes: 1,
            max_intents_per_call: 1,
            max_log_lines: 0,
            max_log_line_bytes: 1,
            runtimes: vec![],
        };
        let call = Rc::new(Call::new(&limits, Arc::default()));
        let store = store(&limits, Rc::clone(&call));
        let long = Duration::from_secs(3600);
        let failing = |error: Error| {
            let answer = call.run::<()>(Budget::alone(long, long), || Err(failure(&store, &error)));
            (answer.result.unwrap_err(), answer.by)
        };
        for own in [Error::from(Trap::UnreachableCodeReached), Error::new(Misuse("no"))] {
            let (error, by) = failing(own);
            assert_eq!((error.code, by), (PolicyErrorCode::Threw, AnsweredBy::Engine));
            assert!(error.message.is_some());
        }
        let (error, by) =
            failing(Error::new(std::io::Error::from_raw_os_error(libc::ENOMEM)).context("mmap"));
        assert_eq!((error, by), (PolicyErrorCode::Timeout.into(), AnsweredBy::Host));
    }

    // §11, field report U91: what a module's declarations let pass is refused when it grows all the same.
    #[test]
    fn growth_past_the_limits_is_refused_and_remembered() {
        let mut limit = MemoryLimit { max_bytes: 65_536, refused: false };
        assert!(limit.memory_growing(0, 65_536, None).unwrap() && !limit.refused);
        assert!(!limit.memory_growing(65_536, 131_072, None).unwrap() && limit.refused);
        assert!(limit.table_growing(0, 65_536, None).unwrap());
        assert!(!limit.table_growing(0, 65_537, None).unwrap());
        assert_eq!(limit.instances(), 1);
    }
}
