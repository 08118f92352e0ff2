//! Why a value was refused: a closed code and a path of developer-declared names (§4 "Results and errors").
//!
//! Nothing here can hold a rejected key or value.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The closed schema codes of §4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaCode {
    /// Another JSON type than the schema's.
    Type,
    /// A text outside the declared literals.
    Enum,
    /// A number outside its bounds.
    Range,
    /// A number with a fraction where an integer is declared.
    NotInteger,
    /// A text that its pattern or id grammar does not accept whole.
    Pattern,
    /// More code points or items than declared.
    TooLong,
    /// A member that is not declared.
    UnknownField,
    /// A required member is absent.
    MissingField,
    /// A union's tag is absent, not a text, or not a declared variant.
    Tag,
}

impl SchemaCode {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Enum => "enum",
            Self::Range => "range",
            Self::NotInteger => "not_integer",
            Self::Pattern => "pattern",
            Self::TooLong => "too_long",
            Self::UnknownField => "unknown_field",
            Self::MissingField => "missing_field",
            Self::Tag => "tag",
        }
    }
}

impl fmt::Display for SchemaCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathPart {
    /// A declared field or tag.
    Field(Arc<str>),
    /// An index of an array.
    Index(usize),
    /// A member that is not declared, rendered `?`.
    Unknown,
}

impl PathPart {
    /// The wire form: a string or a number.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Field(name) => Value::from(&**name),
            Self::Index(index) => Value::from(*index),
            Self::Unknown => Value::from("?"),
        }
    }
}

/// A refused value: what was wrong and where, never what it held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code} at {}", DisplayPath(path))]
pub struct Invalid {
    /// The closed code.
    pub code: SchemaCode,
    /// The way from the value's root to the fault.
    pub path: Vec<PathPart>,
}

impl Invalid {
    /// A fault at a path.
    pub fn at(code: SchemaCode, path: impl IntoIterator<Item = PathPart>) -> Self {
        Self { code, path: path.into_iter().collect() }
    }

    /// The same fault seen from an enclosing value.
    #[must_use]
    pub fn under(mut self, part: PathPart) -> Self {
        self.path.insert(0, part);
        self
    }

    /// The path's wire form: an array of strings and numbers (§4).
    pub fn path_json(&self) -> Value {
        self.path.iter().map(PathPart::to_json).collect()
    }
}

/// Writes a path as `units[3].name`.
pub(crate) struct DisplayPath<'a>(pub(crate) &'a [PathPart]);

impl fmt::Display for DisplayPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the root");
        }
        for (position, part) in self.0.iter().enumerate() {
            let dot = if position == 0 { "" } else { "." };
            match part {
                PathPart::Field(name) => write!(f, "{dot}{name}")?,
                PathPart::Index(index) => write!(f, "[{index}]")?,
                PathPart::Unknown => write!(f, "{dot}?")?,
            }
        }
        Ok(())
    }
}
