//! The shape of a module, read before anything is compiled: imports, memories, tables, `playerthree.detail`, and how much
//! work its functions are to the compiler.
//!
//! It must refuse whatever §11 forbids that a declaration shows, and whatever the compiler would take the host's memory
//! for; compiling checks the rest.

use std::vec;

use wasmparser::{
    CompositeInnerType, FunctionBody, MemoryType, Operator, Parser, Payload, RecGroup, TableType, TypeRef,
};

use crate::detail::Detail;
use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::MAX_TABLE_ENTRIES;

/// The custom section that declares the observation detail.
const DETAIL_SECTION: &str = "playerthree.detail";

/// Most pairs of a variable and a basic block in one function. The compiler may keep four bytes for each pair, so this is
/// 64 MiB; a function as large as compilers write has some 300 locals and 5000 blocks.
const MAX_VARIABLE_BLOCKS: u64 = 16 << 20;

/// Basic blocks that the compiler makes of a `loop`: it looks at the budget in each.
const BLOCKS_OF_A_LOOP: u64 = 5;

/// Basic blocks that the compiler makes where an entry of a table is read: it may have to be made first.
const BLOCKS_OF_AN_ENTRY: u64 = 3;

/// More basic blocks than the compiler makes where many entries or bytes are written at once: two loops at most, which may
/// read an entry each.
const BLOCKS_OF_MANY: u64 = 12;

/// Variables that the compiler adds to those of the function, such as the budget's end.
const OWN_VARIABLES: u64 = 4;

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
    /// How many parameters each type has that is a function's.
    params: Vec<u64>,
    /// The types of the functions whose code is still to come.
    functions: vec::IntoIter<u32>,
}

impl Found {
    fn read(&mut self, payload: Payload<'_>) -> Result<(), PolicyError> {
        match payload {
            Payload::Version { encoding: wasmparser::Encoding::Component, .. } => {
                Err(refused("components are not core modules"))
            }
            Payload::TypeSection(groups) => groups
                .into_iter()
                .try_for_each(|group| group.map(|group| self.types(group)))
                .map_err(|error| broken(&error)),
            Payload::FunctionSection(types) => {
                let types: Result<Vec<u32>, _> = types.into_iter().collect();
                self.functions = types.map_err(|error| broken(&error))?.into_iter();
                Ok(())
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
            Payload::CodeSectionEntry(body) => function(self.next_params(), &body)
                .map_err(|error| broken(&error))?
                .then_some(())
                .ok_or_else(|| refused("a function has too many locals and branches together: split it")),
            Payload::CustomSection(section) if section.name() == DETAIL_SECTION => {
                self.detail(section.data())
            }
            _ => Ok(()),
        }
    }

    fn types(&mut self, group: RecGroup) {
        self.params.extend(group.into_types().map(|ty| match ty.composite_type.inner {
            CompositeInnerType::Func(function) => function.params().len() as u64,
            _ => 0,
        }));
    }

    /// How many parameters the next function has. One without a type is invalid, and compiling says so.
    fn next_params(&mut self) -> u64 {
        let ty = self.functions.next().and_then(|ty| usize::try_from(ty).ok());
        ty.and_then(|ty| self.params.get(ty)).copied().unwrap_or_default()
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

/// Whether the compiler's work on a function with so many parameters stays within its bound.
fn function(params: u64, body: &FunctionBody<'_>) -> wasmparser::Result<bool> {
    let mut variables = OWN_VARIABLES + params;
    for declared in body.get_locals_reader()? {
        variables += u64::from(declared?.0);
    }
    let mut blocks = 1u64;
    for operator in body.get_operators_reader()? {
        blocks += match operator? {
            Operator::Loop { .. } => BLOCKS_OF_A_LOOP,
            Operator::If { .. } => 3,
            Operator::CallIndirect { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::TableGet { .. } => BLOCKS_OF_AN_ENTRY,
            Operator::TableGrow { .. }
            | Operator::TableFill { .. }
            | Operator::TableCopy { .. }
            | Operator::TableInit { .. }
            | Operator::MemoryCopy { .. }
            | Operator::MemoryFill { .. }
            | Operator::MemoryInit { .. } => BLOCKS_OF_MANY,
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
    Ok(variables.saturating_mul(blocks) <= MAX_VARIABLE_BLOCKS)
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

    /// What is said of a module with one function of so many parameters, locals and times this code.
    fn judged(params: usize, locals: usize, code: &str, times: usize) -> Result<Detail, PolicyErrorCode> {
        let (params, locals, code) = (" i32".repeat(params), " i32".repeat(locals), code.repeat(times));
        let function = format!("(func (param{params}) (local{locals}) {code})");
        // Its type is neither the first nor alone in its group.
        let module =
            format!("(module (rec (type (func)) (type (func (param i64)))) (table 1 1 funcref) {function})");
        inspect(&wat::parse_str(module).unwrap()).map_err(|error| error.code)
    }

    // A compiler keeps something for each pair of a local and a block, in the host's own memory: a quarter of a megabyte
    // of code could ask for gigabytes.
    #[test]
    fn a_function_that_costs_the_compiler_too_much_is_refused_unseen() {
        let loops = 3_000;
        let blocks = 1 + 5 * loops;
        let variables = usize::try_from(MAX_VARIABLE_BLOCKS / blocks as u64 - OWN_VARIABLES).unwrap();
        let refused = Err(PolicyErrorCode::BadModule);
        assert_eq!(judged(0, variables, "(loop)", loops), Ok(Detail::Undeclared));
        assert_eq!(judged(0, variables + 1, "(loop)", loops), refused);
        assert_eq!(judged(0, 35_000, "(loop)", 40_000), refused);
        // Parameters are variables like any other.
        assert_eq!(judged(500, variables - 500, "(loop)", loops), Ok(Detail::Undeclared));
        assert_eq!(judged(500, variables - 499, "(loop)", loops), refused);
        assert_eq!(judged(1_000, 0, "(loop)", 80_000), refused);
    }

    // What reads or writes tables branches too, without saying so.
    #[test]
    fn operators_of_tables_count_as_the_branches_that_they_are() {
        for code in [
            "i32.const 0 table.get 0 drop ",
            "i32.const 0 call_indirect ",
            "i32.const 0 return_call_indirect ",
            "ref.null func i32.const 0 table.grow 0 drop ",
            "i32.const 0 ref.null func i32.const 0 table.fill 0 ",
            "i32.const 0 i32.const 0 i32.const 0 table.copy ",
        ] {
            assert_eq!(judged(0, 30_000, code, 40), Ok(Detail::Undeclared), "{code}");
            assert_eq!(judged(0, 30_000, code, 20_000), Err(PolicyErrorCode::BadModule), "{code}");
        }
    }
}
