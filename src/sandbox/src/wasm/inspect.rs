//! The shape of a module, read before anything is compiled: imports, memories, tables and `playerthree.detail`.
//!
//! It must refuse whatever §11 forbids that a declaration shows; compiling checks the rest.

use wasmparser::{MemoryType, Parser, Payload, TableType, TypeRef};

use crate::detail::Detail;
use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::MAX_TABLE_ENTRIES;

/// The custom section that declares the observation detail.
const DETAIL_SECTION: &str = "playerthree.detail";

/// Checks the module's declarations and reads its detail.
///
/// # Errors
///
/// `compile` for bytes that are no core module; `imports_not_allowed`, `bad_module` and `bad_output` as §11 says.
pub(super) fn inspect(module: &[u8]) -> Result<Detail, PolicyError> {
    let mut found = Found::default();
    for payload in Parser::new(0).parse_all(module) {
        found.read(payload.map_err(|error| broken(&error))?)?;
    }
    Ok(found.detail.unwrap_or(Detail::Undeclared))
}

#[derive(Default)]
struct Found {
    memories: u32,
    table_entries: u64,
    detail: Option<Detail>,
}

impl Found {
    fn read(&mut self, payload: Payload<'_>) -> Result<(), PolicyError> {
        match payload {
            Payload::Version { encoding: wasmparser::Encoding::Component, .. } => {
                Err(refused("components are not core modules"))
            }
            Payload::ImportSection(imports) => imports.into_imports().try_for_each(|import| {
                let import = import.map_err(|error| broken(&error))?;
                is_log(import.module, import.name, import.ty)
                    .then_some(())
                    .ok_or_else(|| PolicyErrorCode::ImportsNotAllowed.into())
            }),
            Payload::MemorySection(memories) => memories
                .into_iter()
                .try_for_each(|memory| self.memory(memory.map_err(|error| broken(&error))?)),
            Payload::TableSection(tables) => {
                tables.into_iter().try_for_each(|table| self.table(table.map_err(|error| broken(&error))?.ty))
            }
            Payload::CustomSection(section) if section.name() == DETAIL_SECTION => {
                self.detail(section.data())
            }
            _ => Ok(()),
        }
    }

    fn memory(&mut self, memory: MemoryType) -> Result<(), PolicyError> {
        self.memories += 1;
        if self.memories > 1 {
            return Err(refused("more than one memory"));
        }
        if memory.memory64 || memory.shared || memory.page_size_log2.is_some() {
            return Err(refused("the memory must be 32-bit, unshared and of standard pages"));
        }
        memory.maximum.map(|_| ()).ok_or_else(|| refused("the memory has no maximum"))
    }

    fn table(&mut self, table: TableType) -> Result<(), PolicyError> {
        if table.table64 || table.shared {
            return Err(refused("tables must be 32-bit and unshared"));
        }
        let maximum = table.maximum.ok_or_else(|| refused("a table has no maximum"))?;
        // A minimum above the maximum is invalid, and compiling says so.
        self.table_entries = self.table_entries.saturating_add(maximum);
        if self.table_entries > MAX_TABLE_ENTRIES {
            return Err(refused("the tables have more than 65536 entries"));
        }
        Ok(())
    }

    fn detail(&mut self, json: &[u8]) -> Result<(), PolicyError> {
        if self.detail.is_some() {
            return Err(crate::output::bad("detail is declared twice"));
        }
        self.detail = Some(Detail::from_json(json)?);
        Ok(())
    }
}

fn is_log(module: &str, name: &str, ty: TypeRef) -> bool {
    module == "env" && name == "log" && matches!(ty, TypeRef::Func(_))
}

fn refused(text: &str) -> PolicyError {
    PolicyError::with_text(PolicyErrorCode::BadModule, text)
}

fn broken(error: &wasmparser::BinaryReaderError) -> PolicyError {
    PolicyError::with_text(PolicyErrorCode::Compile, error.message())
}
