//! The closed schema vocabulary (§3) as data, and the builders that games write it with.
//!
//! A node only describes; [`crate::check`] judges a description, `validate` judges a value against it.

use std::sync::Arc;

/// One node of the closed vocabulary (§3 "Closed schema vocabulary").
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// What the node accepts.
    pub kind: Kind,
    /// Static developer documentation, at most 4000 UTF-16 units.
    pub doc: Option<Arc<str>>,
}

/// The fields of an object or of a union variant, in declaration order.
pub type Fields = Vec<(Arc<str>, Schema)>;

/// What a node accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Exactly one of the declared literals.
    Enum(Vec<Arc<str>>),
    /// `<prefix>_` followed by 1 to 9 decimal digits.
    Id(Arc<str>),
    /// At most `max_length` code points, optionally of a pattern.
    Str {
        /// Longest accepted text, in Unicode code points.
        max_length: u32,
        /// A pattern of the safe subset, matched against the whole value.
        pattern: Option<Arc<str>>,
    },
    /// An integer within inclusive safe-integer bounds.
    Int(i64, i64),
    /// A finite number within inclusive bounds.
    Num(f64, f64),
    /// `true` or `false`.
    Bool,
    /// At most `max` items.
    List {
        /// The schema of every item.
        item: Box<Schema>,
        /// Most items accepted.
        max: u64,
    },
    /// At most `max_items` integers within inclusive bounds.
    Ints {
        /// Most items accepted.
        max_items: u64,
        /// Smallest integer accepted.
        min: i64,
        /// Largest integer accepted.
        max: i64,
    },
    /// Precisely the declared fields.
    Obj {
        /// The declared fields.
        fields: Fields,
        /// How a later layer of match options meets an earlier one.
        merge: Merge,
    },
    /// A field that may be left out. Only directly in a field map.
    Opt(Box<Schema>),
    /// An object whose `tag` selects its other fields.
    Union {
        /// The discriminating member.
        tag: Arc<str>,
        /// Variant name and its fields.
        variants: Vec<(Arc<str>, Fields)>,
    },
}

/// How layered match options meet at an object (§3): field by field, or the whole object at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// A later layer changes only the fields that it names.
    #[default]
    Fields,
    /// A later layer replaces the object (`merge:"replace"`).
    Replace,
}

impl Schema {
    /// Adds developer documentation. An optional marker carries none itself (§3), so its item takes it.
    #[must_use]
    pub fn doc(mut self, text: &str) -> Self {
        match &mut self.kind {
            Kind::Opt(item) => item.doc = Some(text.into()),
            _ => self.doc = Some(text.into()),
        }
        self
    }

    /// Makes a later layer of match options replace this object whole. Only meaningful on objects.
    #[must_use]
    pub fn replace_on_merge(mut self) -> Self {
        if let Kind::Obj { merge, .. } = &mut self.kind {
            *merge = Merge::Replace;
        }
        self
    }
}

/// The builders: `t::obj([("row", t::int(0, 2))])`.
pub mod t {
    use super::{Fields, Kind, Merge, Schema};

    fn node(kind: Kind) -> Schema {
        Schema { kind, doc: None }
    }

    fn fields<'a>(list: impl IntoIterator<Item = (&'a str, Schema)>) -> Fields {
        list.into_iter().map(|(name, schema)| (name.into(), schema)).collect()
    }

    /// One of these literals.
    pub fn literals<'a>(values: impl IntoIterator<Item = &'a str>) -> Schema {
        node(Kind::Enum(values.into_iter().map(Into::into).collect()))
    }

    /// An id such as `e_12` for the prefix `e`.
    pub fn id(prefix: &str) -> Schema {
        node(Kind::Id(prefix.into()))
    }

    /// Text of at most `max_length` code points.
    pub fn str(max_length: u32) -> Schema {
        node(Kind::Str { max_length, pattern: None })
    }

    /// Text of at most `max_length` code points that the pattern consumes whole.
    pub fn pattern(max_length: u32, pattern: &str) -> Schema {
        node(Kind::Str { max_length, pattern: Some(pattern.into()) })
    }

    /// An integer of `min..=max`.
    pub fn int(min: i64, max: i64) -> Schema {
        node(Kind::Int(min, max))
    }

    /// A finite number of `min..=max`.
    pub fn num(min: f64, max: f64) -> Schema {
        node(Kind::Num(min, max))
    }

    /// A boolean.
    pub fn bool() -> Schema {
        node(Kind::Bool)
    }

    /// At most `max` items.
    pub fn list(item: Schema, max: u64) -> Schema {
        node(Kind::List { item: Box::new(item), max })
    }

    /// At most `max_items` integers of `min..=max`.
    pub fn ints(max_items: u64, min: i64, max: i64) -> Schema {
        node(Kind::Ints { max_items, min, max })
    }

    /// An object with exactly these fields.
    pub fn obj<'a>(list: impl IntoIterator<Item = (&'a str, Schema)>) -> Schema {
        node(Kind::Obj { fields: fields(list), merge: Merge::Fields })
    }

    /// A field that may be left out.
    pub fn opt(item: Schema) -> Schema {
        node(Kind::Opt(Box::new(item)))
    }

    /// An object whose `tag` member selects its other fields.
    pub fn union<'a, F>(tag: &str, variants: impl IntoIterator<Item = (&'a str, F)>) -> Schema
    where
        F: IntoIterator<Item = (&'a str, Schema)>,
    {
        let variants = variants.into_iter().map(|(name, list)| (name.into(), fields(list))).collect();
        node(Kind::Union { tag: tag.into(), variants })
    }
}
