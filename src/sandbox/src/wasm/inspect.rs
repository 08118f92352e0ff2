//! The shape of a module, read before anything is compiled: imports, memories, tables, `playerthree.detail`, and how much
//! work its functions are to the compiler.
//!
//! It must refuse whatever §11 forbids that a declaration shows, and whatever the compiler would take the host's memory
//! for; compiling checks the rest.

use wasmparser::{FunctionBody, MemoryType, Operator, Parser, Payload, TableType, TypeRef};

use crate::detail::Detail;
use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::MAX_TABLE_ENTRIES;

/// The custom section that declares the observation detail.
const DETAIL_SECTION: &str = "playerthree.detail";

/// Most pairs of a local and a basic block in one function. The compiler may keep four bytes for each pair, so this is
/// 64 MiB; a function as large as compilers write has some 300 locals and 5000 blocks.
const MAX_LOCAL_BLOCKS: u64 = 16 << 20;

/// Basic blocks that the compiler makes of a `loop`: it looks at the budget in each.
const BLOCKS_OF_A_LOOP: u64 = 5;

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
            Payload::CodeSectionEntry(body) => function(&body)
                .map_err(|error| broken(&error))?
                .then_some(())
                .ok_or_else(|| refused("a function has too many locals and branches together: split it")),
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

/// Whether the compiler's work on a function stays within its bound. Parameters are not counted: they are few.
fn function(body: &FunctionBody<'_>) -> wasmparser::Result<bool> {
    let mut locals = 0u64;
    for declared in body.get_locals_reader()? {
        locals += u64::from(declared?.0);
    }
    let mut blocks = 1u64;
    for operator in body.get_operators_reader()? {
        blocks += match operator? {
            Operator::Loop { .. } => BLOCKS_OF_A_LOOP,
            Operator::If { .. } => 3,
            Operator::BrTable { targets } => u64::from(targets.len()) + 1,
            Operator::Block { .. }
            | Operator::Else
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::Return
            | Operator::Unreachable => 1,
            _ => 0,
        };
    }
    Ok(locals.saturating_mul(blocks) <= MAX_LOCAL_BLOCKS)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a module with one function of so many locals and loops.
    fn judged(locals: usize, loops: usize) -> Result<Detail, PolicyErrorCode> {
        let (locals, loops) = (" i32".repeat(locals), "(loop)".repeat(loops));
        let module = wat::parse_str(format!("(module (func (local{locals}) {loops}))")).unwrap();
        inspect(&module).map_err(|error| error.code)
    }

    // A compiler keeps something for each pair of a local and a block, in the host's own memory: a quarter of a megabyte
    // of code could ask for gigabytes.
    #[test]
    fn a_function_that_costs_the_compiler_too_much_is_refused_unseen() {
        let loops = 3_000;
        let blocks = 1 + 5 * loops;
        let locals = usize::try_from(MAX_LOCAL_BLOCKS).unwrap() / blocks;
        assert_eq!(judged(locals, loops), Ok(Detail::Undeclared));
        assert_eq!(judged(locals + 1, loops), Err(PolicyErrorCode::BadModule));
        assert_eq!(judged(35_000, 40_000), Err(PolicyErrorCode::BadModule));
    }
}
