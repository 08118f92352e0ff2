//! What is wrong with a manifest: where, what, and what to do about it.
//!
//! A fault names only declared names that keep their grammar; text that breaks one is never repeated.

use playerthree_schema::{PathPart, SchemaFault};
use serde_json::{Value, json};
use std::fmt;

/// One fault of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, such as `intents.move.params.to`; `?` for an unknown member, an index for a name that breaks its grammar.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub fix: String,
}

impl Fault {
    /// The form of the lint report.
    pub fn to_json(&self) -> Value {
        json!({ "path": self.path, "what": self.what, "fix": self.fix })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.path, self.what, self.fix)
    }
}

/// Collects faults, so that all of a manifest are reported together.
#[derive(Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, path: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) {
        self.0.push(Fault { path: path.into(), what: what.into(), fix: fix.into() });
    }

    pub(crate) fn expect(&mut self, holds: bool, path: &str, what: &str, fix: &str) {
        if !holds {
            self.add(path, what, fix);
        }
    }

    /// Takes over the faults of a schema that stands at this path.
    pub(crate) fn schema(&mut self, path: &str, judged: Result<(), Vec<SchemaFault>>) {
        for fault in judged.err().into_iter().flatten() {
            self.add(extend(path, &fault.path), fault.what, fault.fix);
        }
    }

    pub(crate) fn into_result(self) -> Result<(), Vec<Fault>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}

fn extend(path: &str, parts: &[PathPart]) -> String {
    parts.iter().fold(path.to_owned(), |path, part| match part {
        PathPart::Field(name) => format!("{path}.{name}"),
        PathPart::Index(index) => format!("{path}[{index}]"),
        PathPart::Unknown => format!("{path}.?"),
    })
}
