//! Compiling a module, and the types of what it exports.
//!
//! Compiling cannot be interrupted: it runs on the sandbox's own thread and counts against the load budget,
//! and the watchdog answers for a thread that it holds too long.

use wasmparser::{Validator, WasmFeatures};
use wasmtime::{Error, ExternType, FuncType, Module, ValType};

use super::epoch::engine;
use crate::artifact::Artifact;
use crate::call::Call;
use crate::error::{PolicyError, PolicyErrorCode};

/// The artifact's compiled module, from an earlier load where there was one.
pub(super) fn compiled(artifact: &Artifact, call: &Call) -> Result<Module, PolicyError> {
    if let Some(module) = artifact.module().get() {
        return Ok(module.clone());
    }
    let module = Module::new(engine(), artifact.code())
        .map_err(|error| if is_the_hosts(&error) { call.no_room() } else { refusal(artifact.code()) })?;
    check_imports(&module)?;
    check_exports(&module)?;
    // A module that took too long is not kept, so that it fails the next load in the same way.
    call.check()?;
    Ok(artifact.module().get_or_init(|| module).clone())
}

/// Whether the kernel refused something to the host, such as memory for the compiled code.
fn is_the_hosts(error: &Error) -> bool {
    error.chain().any(|cause| cause.is::<std::io::Error>() || cause.is::<rustix::io::Errno>())
}

/// `bad_module` for a valid module that needs what the ABI forbids, such as GC types; `compile` otherwise. The text is a
/// validator's: the compiler's own may be about the host.
fn refusal(module: &[u8]) -> PolicyError {
    let fault = |features| Validator::new_with_features(features).validate_all(module).err();
    let (code, fault) = match fault(WasmFeatures::all()) {
        Some(fault) => (PolicyErrorCode::Compile, Some(fault)),
        None => (PolicyErrorCode::BadModule, fault(WasmFeatures::WASM2)),
    };
    PolicyError::with_text(code, fault.as_ref().map_or("", |fault| fault.message()))
}

fn check_imports(module: &Module) -> Result<(), PolicyError> {
    let log = |ty: &ExternType| matches!(ty, ExternType::Func(ty) if is(ty, &[I32, I32], None));
    // Names and kinds were checked before compiling.
    if module.imports().all(|import| log(&import.ty())) {
        Ok(())
    } else {
        Err(PolicyErrorCode::ImportsNotAllowed.into())
    }
}

fn check_exports(module: &Module) -> Result<(), PolicyError> {
    if !matches!(module.get_export("memory"), Some(ExternType::Memory(_))) {
        return Err(missing("memory"));
    }
    check_function(module, "alloc", &[I32], Some(I32))?.ok_or_else(|| missing("alloc"))?;
    check_function(module, "think", &[I32, I32], Some(I64))?.ok_or_else(|| missing("think"))?;
    check_function(module, "init", &[I32, I32], None)?;
    Ok(())
}

/// Whether the module exports this function; an export of that name with another signature is `bad_module`.
fn check_function(
    module: &Module,
    name: &str,
    params: &[Number],
    result: Option<Number>,
) -> Result<Option<()>, PolicyError> {
    match module.get_export(name) {
        Some(ExternType::Func(ty)) if is(&ty, params, result) => Ok(Some(())),
        Some(ExternType::Func(_)) => {
            let text = format!("the export {name} has the wrong signature");
            Err(PolicyError::with_text(PolicyErrorCode::BadModule, &text))
        }
        _ => Ok(None),
    }
}

/// The value types that the ABI uses.
#[derive(Clone, Copy)]
enum Number {
    I32,
    I64,
}
use Number::{I32, I64};

impl Number {
    fn is(self, ty: &ValType) -> bool {
        match self {
            I32 => matches!(ty, ValType::I32),
            I64 => matches!(ty, ValType::I64),
        }
    }
}

fn is(ty: &FuncType, params: &[Number], result: Option<Number>) -> bool {
    ty.params().len() == params.len()
        && ty.params().zip(params).all(|(ty, number)| number.is(&ty))
        && ty.results().len() == usize::from(result.is_some())
        && ty.results().zip(result).all(|(ty, number)| number.is(&ty))
}

fn missing(name: &str) -> PolicyError {
    PolicyError::with_text(PolicyErrorCode::MissingExport, &format!("the export {name} is missing"))
}
