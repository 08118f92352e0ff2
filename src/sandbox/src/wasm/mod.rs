//! A policy in WebAssembly: one Wasmtime store on the sandbox's own thread (§11).
//!
//! It must never trust a pointer or a length that came out of the module.

mod epoch;
mod host;
mod inspect;
mod module;

pub(crate) use epoch::start;

use std::rc::Rc;

use wasmtime::{Extern, Func, Instance, Memory, Store, TypedFunc};

use crate::artifact::Artifact;
use crate::call::Call;
use crate::detail::Detail;
use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::{Limits, MAX_WASM_OUTPUT_DEPTH};
use crate::output::{Intents, bad, read_intents};
use host::Host;

/// A loaded policy.
pub(crate) struct WasmEngine {
    store: Store<Host>,
    memory: Memory,
    alloc: TypedFunc<i32, i32>,
    think: TypedFunc<(i32, i32), i64>,
    max_intents: usize,
}

impl WasmEngine {
    /// Checks and compiles the module, instantiates it, and calls `init` with the match data (§§10, 11).
    pub(crate) fn load(
        artifact: &Artifact,
        limits: &Limits,
        match_data: &str,
        call: &Rc<Call>,
    ) -> Result<(Self, Detail), PolicyError> {
        let detail = inspect::inspect(artifact.code())?;
        let module = module::compiled(artifact, call)?;
        let mut store = host::store(limits, Rc::clone(call));
        let _ticks = epoch::ticking();
        let instance = instantiate(&mut store, &module)?;
        // The module's exports were checked when it was compiled, so these three are there.
        let missing = |_| PolicyError::from(PolicyErrorCode::MissingExport);
        let memory = instance.get_memory(&mut store, "memory").ok_or(PolicyErrorCode::MissingExport)?;
        let alloc = instance.get_typed_func(&mut store, "alloc").map_err(missing)?;
        let think = instance.get_typed_func(&mut store, "think").map_err(missing)?;
        let init = instance.get_typed_func::<(i32, i32), ()>(&mut store, "init").ok();
        let mut engine = Self { store, memory, alloc, think, max_intents: limits.max_intents_per_call };
        if let Some(init) = init {
            let region = engine.hand_in(match_data)?;
            init.call(&mut engine.store, region).map_err(|error| host::failure(&engine.store, &error))?;
        }
        Ok((engine, detail))
    }

    /// Writes the observation into memory that the module allocates, and calls `think`.
    pub(crate) fn think(&mut self, observation: &str) -> Result<Intents, PolicyError> {
        let _ticks = epoch::ticking();
        self.store.data_mut().begin_call();
        self.store.set_epoch_deadline(1);
        let region = self.hand_in(observation)?;
        let packed =
            self.think.call(&mut self.store, region).map_err(|error| host::failure(&self.store, &error))?;
        let output = region_of(self.memory.data(&self.store), packed.cast_unsigned())
            .ok_or_else(|| bad("the output region is outside the memory"))?;
        read_intents(output, self.max_intents, MAX_WASM_OUTPUT_DEPTH)
    }

    /// Copies UTF-8 JSON into a region from the module's `alloc`, and gives its pointer and length.
    fn hand_in(&mut self, json: &str) -> Result<(i32, i32), PolicyError> {
        let length = i32::try_from(json.len()).map_err(|_| PolicyErrorCode::TooLarge)?;
        let pointer =
            self.alloc.call(&mut self.store, length).map_err(|error| host::failure(&self.store, &error))?;
        // Offsets are unsigned; writing checks that the whole region lies inside the memory.
        self.memory
            .write(&mut self.store, pointer.cast_unsigned() as usize, json.as_bytes())
            .map_err(|_| bad("alloc returned a region outside the memory"))?;
        Ok((pointer, length))
    }
}

fn instantiate(store: &mut Store<Host>, module: &wasmtime::Module) -> Result<Instance, PolicyError> {
    let log = Func::wrap(&mut *store, host::log);
    // Every import was checked to be `env.log`.
    let imports: Vec<Extern> = module.imports().map(|_| log.into()).collect();
    Instance::new(&mut *store, module, &imports).map_err(|error| host::failure(store, &error))
}

/// The bytes of a packed `(pointer << 32) | length`, if they lie inside the memory.
fn region_of(memory: &[u8], packed: u64) -> Option<&[u8]> {
    let pointer = usize::try_from(packed >> 32).ok()?;
    let length = usize::try_from(packed & 0xffff_ffff).ok()?;
    memory.get(pointer..pointer.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    // §11: think returns unsigned packed (outPtr << 32) | outLen, and the region is checked.
    #[test]
    fn a_packed_region_must_lie_inside_the_memory() {
        let memory = [1u8, 2, 3, 4];
        let pack = |pointer: u64, length: u64| (pointer << 32) | length;
        assert_eq!(region_of(&memory, pack(1, 2)), Some(&[2u8, 3][..]));
        assert_eq!(region_of(&memory, pack(4, 0)), Some(&[][..]));
        assert_eq!(region_of(&memory, pack(4, 1)), None);
        assert_eq!(region_of(&memory, pack(5, 0)), None);
        assert_eq!(region_of(&memory, u64::MAX), None);
    }
}
