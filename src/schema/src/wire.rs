//! The wire form of a schema, `{"t":…}` (§3), written and read.
//!
//! Reading is total: every fault is reported with its path, an unknown member is `?`, and no part of the input is
//! repeated. What is read still has to pass [`Schema::check`].

use crate::check::{MAX_SCHEMA_DEPTH, SchemaFault};
use crate::grammar::{is_field_name, is_literal};
use crate::invalid::PathPart;
use crate::node::{Fields, Kind, Merge, Schema};
use crate::ordered::Ordered;
use serde_json::{Number, Value};
use std::sync::Arc;

impl Schema {
    /// The wire form. Members of a `Value` have no order; [`Self::to_ordered`] keeps it.
    pub fn to_json(&self) -> Value {
        self.to_ordered().into()
    }

    /// The wire form with fields and variants in declaration order.
    pub fn to_ordered(&self) -> Ordered {
        let mut members = match &self.kind {
            Kind::Enum(values) => tagged("enum", [("values", Ordered::texts(values))]),
            Kind::Id(prefix) => tagged("id", [("prefix", Ordered::from(&**prefix))]),
            Kind::Str { max_length, pattern } => {
                let pattern = pattern.as_deref().map(|pattern| ("pattern", Ordered::from(pattern)));
                tagged("str", [("maxLength", Ordered::from(*max_length))].into_iter().chain(pattern))
            }
            Kind::Int(min, max) => tagged("int", [("min", (*min).into()), ("max", (*max).into())]),
            Kind::Num(min, max) => tagged("num", [("min", double(*min)), ("max", double(*max))]),
            Kind::Bool => tagged("bool", []),
            Kind::List { item, max } => tagged("list", [("item", item.to_ordered()), ("max", (*max).into())]),
            Kind::Ints { max_items, min, max } => tagged(
                "ints",
                [("maxItems", (*max_items).into()), ("min", (*min).into()), ("max", (*max).into())],
            ),
            Kind::Obj { fields, merge } => {
                let merge = (*merge == Merge::Replace).then(|| ("merge", Ordered::from("replace")));
                tagged("obj", [("fields", Self::fields_to_ordered(fields))].into_iter().chain(merge))
            }
            Kind::Opt(item) => tagged("opt", [("item", item.to_ordered())]),
            Kind::Union { tag, variants } => {
                let variants =
                    variants.iter().map(|(name, fields)| (&**name, Self::fields_to_ordered(fields)));
                tagged("union", [("tag", Ordered::from(&**tag)), ("variants", Ordered::map(variants))])
            }
        };
        members.extend(self.doc.as_deref().map(|doc| ("doc".to_owned(), Ordered::from(doc))));
        Ordered::Map(members)
    }

    /// The wire form of a field map.
    pub fn fields_to_ordered(fields: &Fields) -> Ordered {
        Ordered::map(fields.iter().map(|(name, schema)| (&**name, schema.to_ordered())))
    }

    /// Reads the wire form. All faults of shape are reported together; [`Schema::check`] judges what was read.
    pub fn from_ordered(wire: &Ordered) -> Result<Self, Vec<SchemaFault>> {
        Reader::read(|reader| reader.node(wire, 1))
    }

    /// Reads the wire form of a field map.
    pub fn fields_from_ordered(wire: &Ordered) -> Result<Fields, Vec<SchemaFault>> {
        Reader::read(|reader| reader.fields(Some(wire), 1))
    }
}

fn tagged<'a>(kind: &str, members: impl IntoIterator<Item = (&'a str, Ordered)>) -> Vec<(String, Ordered)> {
    let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
    std::iter::once(("t".to_owned(), Ordered::from(kind))).chain(members).collect()
}

/// A bound as a JSON number, integers in integer form. A bound that is not finite has no wire form; `check` refuses it.
fn double(bound: f64) -> Ordered {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    #[expect(clippy::cast_possible_truncation, reason = "integral and within the safe range")]
    if bound.fract() == 0.0 && bound.abs() <= EXACT {
        return Ordered::from(bound as i64);
    }
    Number::from_f64(bound).map_or(Ordered::Null, Ordered::Number)
}

/// Reads nodes, and goes on past a fault so that all are found.
#[derive(Default)]
struct Reader {
    path: Vec<PathPart>,
    faults: Vec<SchemaFault>,
}

impl Reader {
    fn read<T>(look: impl FnOnce(&mut Self) -> Option<T>) -> Result<T, Vec<SchemaFault>> {
        let mut reader = Self::default();
        match look(&mut reader) {
            Some(read) if reader.faults.is_empty() => Ok(read),
            _ => Err(reader.faults),
        }
    }

    fn fault<T>(&mut self, what: &'static str, fix: &'static str) -> Option<T> {
        self.faults.push(SchemaFault { path: self.path.clone(), what, fix });
        None
    }

    fn within<T>(&mut self, part: PathPart, look: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.path.push(part);
        let read = look(self);
        self.path.pop();
        read
    }

    fn node(&mut self, wire: &Ordered, depth: usize) -> Option<Schema> {
        if depth > MAX_SCHEMA_DEPTH {
            return self.fault("the schema is nested more than 32 deep", "flatten it");
        }
        let Ordered::Map(members) = wire else {
            return self.fault("a schema node is an object", "write it as {\"t\":…}");
        };
        let Some(name) = wire.get("t").and_then(Ordered::as_str) else {
            return self.fault("the node has no type", "give \"t\" one of the node types of §3");
        };
        let Some(allowed) = members_of(name) else {
            return self.fault("the node type is unknown", "give \"t\" one of the node types of §3");
        };
        let known =
            |member: &str| member == "t" || allowed.contains(&member) || (member == "doc" && name != "opt");
        if !members.iter().all(|(member, _)| known(member)) {
            self.path.push(PathPart::Unknown);
            self.faults.push(SchemaFault {
                path: self.path.clone(),
                what: "the node has an unknown member",
                fix: "leave it out",
            });
            self.path.pop();
        }
        let doc = self.doc(wire);
        let kind = self.kind(name, wire, depth)?;
        Some(Schema { kind, doc: doc? })
    }

    fn doc(&mut self, wire: &Ordered) -> Option<Option<Arc<str>>> {
        match wire.get("doc") {
            None => Some(None),
            Some(Ordered::Text(doc)) => Some(Some(doc.as_str().into())),
            Some(_) => self.fault("the doc is not a text", "write the doc as a text"),
        }
    }

    fn kind(&mut self, name: &str, wire: &Ordered, depth: usize) -> Option<Kind> {
        match name {
            "enum" => self.literals(wire).map(Kind::Enum),
            "id" => self.text(wire, "prefix").map(Kind::Id),
            "str" => {
                let pattern =
                    if wire.get("pattern").is_some() { Some(self.text(wire, "pattern")?) } else { None };
                let max_length = self.count(wire, "maxLength")?;
                Some(Kind::Str { max_length: u32::try_from(max_length).unwrap_or(u32::MAX), pattern })
            }
            "int" => Some(Kind::Int(self.integer(wire, "min")?, self.integer(wire, "max")?)),
            "num" => Some(Kind::Num(self.number(wire, "min")?, self.number(wire, "max")?)),
            "bool" => Some(Kind::Bool),
            "list" => {
                let max = self.count(wire, "max");
                Some(Kind::List { item: self.item(wire, depth)?, max: max? })
            }
            "ints" => Some(Kind::Ints {
                max_items: self.count(wire, "maxItems")?,
                min: self.integer(wire, "min")?,
                max: self.integer(wire, "max")?,
            }),
            "obj" => {
                let merge = self.merge(wire);
                let fields = self.fields(wire.get("fields"), depth);
                Some(Kind::Obj { fields: fields?, merge: merge? })
            }
            "opt" => self.item(wire, depth).map(Kind::Opt),
            _ => self.union(wire, depth),
        }
    }

    fn item(&mut self, wire: &Ordered, depth: usize) -> Option<Box<Schema>> {
        match wire.get("item") {
            // An optional marker is part of its field, so its item is as deep as the field.
            Some(item) => {
                self.within(PathPart::Field("item".into()), |inner| inner.node(item, depth + 1)).map(Box::new)
            }
            None => self.fault("the node has no item", "declare the schema of \"item\""),
        }
    }

    fn literals(&mut self, wire: &Ordered) -> Option<Vec<Arc<str>>> {
        let values = match wire.get("values") {
            Some(Ordered::List(values)) => values.iter().map(|value| value.as_str().map(Arc::from)).collect(),
            _ => None,
        };
        values.or_else(|| self.fault("the values are not a list of texts", "list the values as texts"))
    }

    fn text(&mut self, wire: &Ordered, member: &'static str) -> Option<Arc<str>> {
        let text = wire.get(member).and_then(Ordered::as_str).map(Arc::from);
        text.or_else(|| self.bad(member, "the member is not a text", "write a text"))
    }

    fn count(&mut self, wire: &Ordered, member: &'static str) -> Option<u64> {
        let count = number_of(wire, member).and_then(exact).and_then(|count| u64::try_from(count).ok());
        count.or_else(|| {
            self.bad(member, "the member is not a nonnegative safe integer", "write such an integer")
        })
    }

    fn integer(&mut self, wire: &Ordered, member: &'static str) -> Option<i64> {
        let integer = number_of(wire, member).and_then(exact);
        integer.or_else(|| self.bad(member, "the member is not a safe integer", "write a safe integer"))
    }

    fn number(&mut self, wire: &Ordered, member: &'static str) -> Option<f64> {
        let number = number_of(wire, member).and_then(Number::as_f64);
        number.or_else(|| self.bad(member, "the member is not a number", "write a finite number"))
    }

    fn bad<T>(&mut self, member: &'static str, what: &'static str, fix: &'static str) -> Option<T> {
        self.within(PathPart::Field(member.into()), |inner| inner.fault(what, fix))
    }

    fn merge(&mut self, wire: &Ordered) -> Option<Merge> {
        match wire.get("merge") {
            None => Some(Merge::Fields),
            Some(Ordered::Text(text)) if text == "replace" => Some(Merge::Replace),
            Some(_) => self.bad("merge", "the merge rule is unknown", "write \"replace\" or leave it out"),
        }
    }

    fn fields(&mut self, wire: Option<&Ordered>, depth: usize) -> Option<Fields> {
        let Some(Ordered::Map(members)) = wire else {
            return self.fault("the fields are not an object", "map each field name to its schema");
        };
        let mut fields = Some(Fields::with_capacity(members.len()));
        for (index, (name, node)) in members.iter().enumerate() {
            let part = if is_field_name(name) {
                PathPart::Field(name.as_str().into())
            } else {
                PathPart::Index(index)
            };
            let schema = self.within(part, |inner| inner.field(node, depth));
            fields = fields.zip(schema).map(|(mut fields, schema)| {
                fields.push((name.as_str().into(), schema));
                fields
            });
        }
        fields
    }

    /// A field, whose optional marker adds no depth of its own.
    fn field(&mut self, node: &Ordered, depth: usize) -> Option<Schema> {
        let optional = node.get("t").and_then(Ordered::as_str) == Some("opt");
        self.node(node, if optional { depth } else { depth + 1 })
    }

    fn union(&mut self, wire: &Ordered, depth: usize) -> Option<Kind> {
        let tag = self.text(wire, "tag");
        let Some(Ordered::Map(members)) = wire.get("variants") else {
            return self.fault("the variants are not an object", "map each variant to its fields");
        };
        let mut variants = Some(Vec::with_capacity(members.len()));
        for (index, (name, fields)) in members.iter().enumerate() {
            let part =
                if is_literal(name) { PathPart::Field(name.as_str().into()) } else { PathPart::Index(index) };
            let fields = self.within(part, |inner| inner.fields(Some(fields), depth));
            variants = variants.zip(fields).map(|(mut variants, fields)| {
                variants.push((name.as_str().into(), fields));
                variants
            });
        }
        Some(Kind::Union { tag: tag?, variants: variants? })
    }
}

/// The members that a node type has beside `t` and `doc`.
fn members_of(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "enum" => &["values"],
        "id" => &["prefix"],
        "str" => &["maxLength", "pattern"],
        "int" | "num" => &["min", "max"],
        "bool" => &[],
        "list" => &["item", "max"],
        "ints" => &["maxItems", "min", "max"],
        "obj" => &["fields", "merge"],
        "opt" => &["item"],
        "union" => &["tag", "variants"],
        _ => return None,
    })
}

fn number_of<'a>(wire: &'a Ordered, member: &str) -> Option<&'a Number> {
    match wire.get(member) {
        Some(Ordered::Number(number)) => Some(number),
        _ => None,
    }
}

/// A safe integer, also when it is written as `3.0`.
fn exact(number: &Number) -> Option<i64> {
    crate::validate::safe_integer(number)
}
