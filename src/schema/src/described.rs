//! Rust types as schemas (§3): one definition gives the schema, the validation and the JSON form.
//!
//! The derive reads names and tags from the serde attributes, so a described type cannot drift from its schema.

use crate::{Invalid, Schema, SchemaCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A Rust type whose JSON form the closed vocabulary describes exactly.
///
/// `#[derive(Described)]` implements it beside `Serialize` and `Deserialize`, for a struct with named fields (an
/// object), an enum of unit variants (literals) and an enum with `#[serde(tag = "…")]` (a union). `Option` is an
/// optional field, `Vec` a list, and every other type that a field names is described itself. Doc comments become the
/// schema's documentation. Each field declares the bounds that its node has (§3):
///
/// | field | bounds |
/// |---|---|
/// | integer | `min`, `max`: constants of `i64` that the integer type holds |
/// | `f64` | `min`, `max` |
/// | text | `max_length` in code points and optionally `pattern`, or `id` with a prefix |
/// | `Vec` | `max_items`, and the bounds of its items |
///
/// ```
/// use playerthree_schema::{Described, t};
/// use serde::{Deserialize, Serialize};
///
/// /// What a seat asks for.
/// #[derive(Serialize, Deserialize, Described)]
/// #[serde(tag = "kind", rename_all = "snake_case")]
/// enum Intent {
///     /// Sends units to a tile.
///     Move {
///         /// The column.
///         #[schema(min = 0, max = 19)]
///         col: u8,
///     },
///     Stop,
/// }
///
/// let schema = t::union("kind", [("move", vec![("col", t::int(0, 19).doc("The column."))]), ("stop", vec![])]);
/// assert_eq!(*Intent::schema(), schema.doc("What a seat asks for."));
/// assert!(Intent::read(serde_json::json!({ "kind": "move", "col": 20 })).is_err());
/// ```
///
/// A bound that is missing, that the type does not hold, or a type that the vocabulary cannot carry, does not compile:
///
/// ```compile_fail
/// # use playerthree_schema::Described;
/// # use serde::{Deserialize, Serialize};
/// #[derive(Serialize, Deserialize, Described)]
/// struct Square {
///     #[schema(min = 0, max = 256)]
///     row: u8,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not described by the closed vocabulary",
    note = "derive `Described` for it beside `Serialize` and `Deserialize`"
)]
pub trait Described: Serialize + DeserializeOwned {
    /// The schema, made once.
    fn schema() -> &'static Schema;

    /// The variants of an enum in declared order; none for a struct.
    fn variants() -> &'static [VariantDoc] {
        &[]
    }

    /// Reads a value that comes from outside: judges it by the schema, then makes it a Rust value. A hand-written
    /// implementation that refuses what its own schema accepts is answered with `type` at the root.
    fn read(value: Value) -> Result<Self, Invalid> {
        let value = Self::schema().admit(value)?;
        serde_json::from_value(value).map_err(|_| Invalid::at(SchemaCode::Type, []))
    }
}

/// A variant's name on the wire and what its doc comment says, empty without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariantDoc {
    /// The name on the wire.
    pub name: &'static str,
    /// The document.
    pub doc: &'static str,
}
