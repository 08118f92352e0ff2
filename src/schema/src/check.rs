//! Judging a schema itself (§3): grammars, bounds, where `opt` may stand, unions, patterns, depth.
//!
//! A schema that passes here is what every other part of the program assumes.

use crate::grammar::{MAX_SAFE, is_field_name, is_id_prefix, is_literal, utf16_len};
use crate::invalid::{DisplayPath, PathPart};
use crate::node::{Fields, Kind, Schema};
use crate::pattern;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Most nodes from a schema's root to a leaf. It bounds the depth of every accepted value too.
pub const MAX_SCHEMA_DEPTH: usize = 32;
/// Longest `doc` of a node, in UTF-16 units.
const MAX_DOC: usize = 4000;
/// Largest `maxLength` of a text, in code points.
const MAX_TEXT: u32 = 100_000;

/// One thing wrong with a schema: where, what, and what to do. It repeats no text that breaks a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// The way through fields, variants and items to the node. A name that breaks its grammar appears as its index.
    pub path: Vec<PathPart>,
    /// What is wrong.
    pub what: &'static str,
    /// What to do.
    pub fix: &'static str,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", DisplayPath(&self.path), self.what, self.fix)
    }
}

impl Schema {
    /// All faults of this schema, which is not an optional field (§3 "Closed schema vocabulary").
    pub fn check(&self) -> Result<(), Vec<SchemaFault>> {
        let mut checker = Checker::default();
        checker.node(self, 1);
        checker.finish()
    }

    /// All faults of a field map, such as an intent's parameters.
    pub fn check_fields(fields: &Fields) -> Result<(), Vec<SchemaFault>> {
        let mut checker = Checker::default();
        checker.fields(fields, None, 1);
        checker.finish()
    }
}

#[derive(Default)]
struct Checker {
    path: Vec<PathPart>,
    faults: Vec<SchemaFault>,
}

impl Checker {
    fn finish(self) -> Result<(), Vec<SchemaFault>> {
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults) }
    }

    fn fault(&mut self, what: &'static str, fix: &'static str) {
        self.faults.push(SchemaFault { path: self.path.clone(), what, fix });
    }

    fn expect(&mut self, holds: bool, what: &'static str, fix: &'static str) {
        if !holds {
            self.fault(what, fix);
        }
    }

    fn within(&mut self, part: PathPart, look: impl FnOnce(&mut Self)) {
        self.path.push(part);
        look(self);
        self.path.pop();
    }

    fn node(&mut self, schema: &Schema, depth: usize) {
        if depth > MAX_SCHEMA_DEPTH {
            return self.fault("the schema is nested more than 32 deep", "flatten it");
        }
        let doc = schema.doc.as_deref().map_or(0, utf16_len);
        self.expect(doc <= MAX_DOC, "the doc is longer than 4000 units", "shorten it");
        match &schema.kind {
            Kind::Enum(values) => self.literals(values),
            Kind::Id(prefix) => {
                let what = "the id prefix is not 1 to 8 lowercase letters";
                self.expect(is_id_prefix(prefix), what, "use a prefix such as \"e\"");
            }
            Kind::Str { max_length, pattern } => self.string(*max_length, pattern.as_deref()),
            Kind::Int(min, max) => self.integers(*min, *max),
            Kind::Num(min, max) => {
                let finite = min.is_finite() && max.is_finite();
                self.expect(finite, "the bounds are not finite", "declare finite bounds");
                self.expect(!finite || min <= max, "min is above max", "put the bounds in order");
            }
            Kind::Bool => {}
            Kind::List { item, max } => {
                self.count(*max);
                self.within(PathPart::Field("item".into()), |inner| inner.node(item, depth + 1));
            }
            Kind::Ints { max_items, min, max } => {
                self.count(*max_items);
                self.integers(*min, *max);
            }
            Kind::Obj { fields, .. } => self.fields(fields, None, depth),
            Kind::Opt(_) => self.fault(
                "an optional marker stands outside a field map",
                "use it directly as a field of an object, a variant or parameters",
            ),
            Kind::Union { tag, variants } => self.union(tag, variants, depth),
        }
    }

    fn literals(&mut self, values: &[Arc<str>]) {
        self.expect(!values.is_empty(), "the enum has no values", "declare at least one value");
        let fix = "use 1 to 48 of A-Z a-z 0-9 _ . < >, starting with a letter";
        self.expect(values.iter().all(|value| is_literal(value)), "an enum value breaks its grammar", fix);
        self.expect(unique(values.iter()), "an enum value is repeated", "declare each value once");
    }

    fn string(&mut self, max_length: u32, pattern: Option<&str>) {
        self.expect(max_length <= MAX_TEXT, "maxLength is above 100000", "lower maxLength");
        if let Some(Err(fault)) = pattern.map(pattern::check) {
            self.fault(fault, "stay in the pattern subset of §3");
        }
    }

    fn integers(&mut self, min: i64, max: i64) {
        let safe = -MAX_SAFE..=MAX_SAFE;
        let within = safe.contains(&min) && safe.contains(&max);
        self.expect(within, "a bound is not a safe integer", "keep bounds within ±9007199254740991");
        self.expect(min <= max, "min is above max", "put the bounds in order");
    }

    fn count(&mut self, max: u64) {
        let within = max <= MAX_SAFE.unsigned_abs();
        self.expect(within, "the item count is not a safe integer", "lower it");
    }

    fn union(&mut self, tag: &str, variants: &[(Arc<str>, Fields)], depth: usize) {
        let fix = "use 1 to 48 of A-Z a-z 0-9 _, not starting with a digit";
        self.expect(is_field_name(tag), "the tag breaks the grammar of field names", fix);
        self.expect(!variants.is_empty(), "the union has no variants", "declare at least one variant");
        self.expect(
            unique(variants.iter().map(|(name, _)| name)),
            "a variant is repeated",
            "name each variant once",
        );
        for (index, (name, fields)) in variants.iter().enumerate() {
            let part = if is_literal(name) { PathPart::Field(name.clone()) } else { PathPart::Index(index) };
            self.within(part, |inner| {
                let fix = "use 1 to 48 of A-Z a-z 0-9 _ . < >, starting with a letter";
                inner.expect(is_literal(name), "the variant's name breaks its grammar", fix);
                inner.fields(fields, Some(tag), depth);
            });
        }
    }

    fn fields(&mut self, fields: &Fields, tag: Option<&str>, depth: usize) {
        self.expect(
            unique(fields.iter().map(|(name, _)| name)),
            "a field is repeated",
            "name each field once",
        );
        for (index, (name, schema)) in fields.iter().enumerate() {
            let part =
                if is_field_name(name) { PathPart::Field(name.clone()) } else { PathPart::Index(index) };
            self.within(part, |inner| inner.field(name, schema, tag, depth));
        }
    }

    fn field(&mut self, name: &str, schema: &Schema, tag: Option<&str>, depth: usize) {
        let fix = "use 1 to 48 of A-Z a-z 0-9 _, not starting with a digit";
        self.expect(is_field_name(name), "the field's name breaks its grammar", fix);
        self.expect(
            tag != Some(name),
            "a variant declares the tag again",
            "leave the tag out of the variants",
        );
        if schema.is_optional() {
            let what = "an optional marker carries a doc";
            self.expect(schema.doc.is_none(), what, "write the doc on the node inside the marker");
        }
        self.node(schema.required(), depth + 1);
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> bool {
    let mut seen = BTreeSet::new();
    names.into_iter().all(|name| seen.insert(name))
}
