//! Random schemas, conforming values, and every single way to break one.

use playerthree_schema::{Fields, Kind, PathPart, Schema, SchemaCode, t};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Patterns of the subset with an expression that generates what they accept.
const PATTERNS: [(&str, &str); 4] = [
    ("^[a-z]{2}[0-9]*$", "[a-z]{2}[0-9]{0,4}"),
    ("^\\d\\.x{1,3}$", "[0-9]\\.x{1,3}"),
    ("^[^a-c]?$", "[d-z]?"),
    ("^[\\w-]+$", "[A-Za-z0-9_-]{1,6}"),
];

fn name() -> impl Strategy<Value = String> {
    "[a-z_][a-zA-Z0-9_]{0,3}"
}

fn leaf() -> impl Strategy<Value = Schema> {
    prop_oneof![
        proptest::collection::btree_set("[A-Z][a-z<>.]{0,3}", 1..4)
            .prop_map(|values| t::literals(values.iter().map(String::as_str))),
        "[a-z]{1,8}".prop_map(|prefix| t::id(&prefix)),
        (0u32..12).prop_map(t::str),
        proptest::sample::select(&PATTERNS[..]).prop_map(|(pattern, _)| t::pattern(8, pattern)),
        (-50i64..50, 0i64..50).prop_map(|(min, width)| t::int(min, min + width)),
        (-50f64..50.0, 0f64..50.0).prop_map(|(min, width)| t::num(min, min + width)),
        Just(t::bool()),
        (0u64..5, -9i64..0, 0i64..9).prop_map(|(items, min, max)| t::ints(items, min, max)),
    ]
}

fn fields(item: impl Strategy<Value = Schema> + Clone) -> impl Strategy<Value = Fields> {
    let field = (item, any::<bool>()).prop_map(|(item, optional)| if optional { t::opt(item) } else { item });
    proptest::collection::btree_map(name(), field, 0..4)
        .prop_map(|fields| fields.into_iter().map(|(name, schema)| (name.as_str().into(), schema)).collect())
}

/// A random schema that passes its check.
pub(crate) fn schema() -> impl Strategy<Value = Schema> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0u64..4).prop_map(|(item, max)| t::list(item, max)),
            (fields(inner.clone()), any::<bool>()).prop_map(|(fields, replace)| {
                let schema = t::obj(fields.iter().map(|(name, schema)| (&**name, schema.clone())));
                if replace { schema.replace_on_merge() } else { schema }
            }),
            proptest::collection::btree_map("[A-Z][a-z]{0,3}", fields(inner), 1..4).prop_map(|variants| {
                let variants =
                    variants.into_iter().map(|(name, fields)| (name.as_str().into(), fields)).collect();
                // No generated field starts with an upper-case letter, so none is the tag.
                Schema { kind: Kind::Union { tag: "Tag".into(), variants }, doc: None }
            }),
        ]
    })
}

/// A value that conforms to the schema.
pub(crate) fn value(schema: &Schema) -> BoxedStrategy<Value> {
    match &schema.kind {
        Kind::Enum(values) => {
            proptest::sample::select(values.clone()).prop_map(|value| json!(&*value)).boxed()
        }
        Kind::Id(prefix) => {
            let prefix = prefix.clone();
            "[0-9]{1,9}".prop_map(move |digits| json!(format!("{prefix}_{digits}"))).boxed()
        }
        Kind::Str { max_length, pattern: None } => {
            proptest::collection::vec(any::<char>(), 0..=*max_length as usize)
                .prop_map(|text| json!(text.into_iter().collect::<String>()))
                .boxed()
        }
        Kind::Str { pattern: Some(pattern), .. } => {
            let accepted =
                PATTERNS.iter().find(|(known, _)| *known == &**pattern).expect("a known pattern").1;
            proptest::string::string_regex(accepted).expect("a generator").prop_map(Value::from).boxed()
        }
        Kind::Int(min, max) => (*min..=*max).prop_map(Value::from).boxed(),
        Kind::Num(min, max) => (*min..=*max).prop_map(Value::from).boxed(),
        Kind::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Kind::List { item, max } => {
            proptest::collection::vec(value(item), 0..=*max as usize).prop_map(Value::from).boxed()
        }
        Kind::Ints { max_items, min, max } => {
            proptest::collection::vec(*min..=*max, 0..=*max_items as usize).prop_map(Value::from).boxed()
        }
        Kind::Obj { fields, .. } => members(fields, Map::new()),
        Kind::Opt(item) => value(item),
        Kind::Union { tag, variants } => {
            let variants = variants.iter().map(|(name, fields)| {
                members(fields, Map::from_iter([(tag.to_string(), Value::from(&**name))]))
            });
            proptest::strategy::Union::new(variants).boxed()
        }
    }
}

fn members(fields: &Fields, start: Map<String, Value>) -> BoxedStrategy<Value> {
    let mut built = Just(start).boxed();
    for (name, schema) in fields {
        let name = name.to_string();
        let member = if schema.is_optional() {
            proptest::option::of(value(schema)).boxed()
        } else {
            value(schema).prop_map(Some).boxed()
        };
        built = (built, member)
            .prop_map(move |(mut map, member)| {
                map.extend(member.map(|member| (name.clone(), member)));
                map
            })
            .boxed();
    }
    built.prop_map(Value::Object).boxed()
}

/// A schema and a value that conforms to it.
pub(crate) fn schema_and_value() -> impl Strategy<Value = (Schema, Value)> {
    schema().prop_flat_map(|schema| {
        let value = value(&schema);
        (Just(schema), value)
    })
}

/// One broken copy of a conforming value, and how it must be refused.
pub(crate) struct Mutant {
    pub(crate) value: Value,
    pub(crate) code: SchemaCode,
    pub(crate) path: Vec<PathPart>,
}

impl Mutant {
    fn here(value: Value, code: SchemaCode) -> Self {
        Self { value, code, path: Vec::new() }
    }

    fn within(mut self, part: PathPart, wrap: impl Fn(Value) -> Value) -> Self {
        self.value = wrap(self.value);
        self.path.insert(0, part);
        self
    }
}

/// Every single mutation of a conforming value that leaves the schema.
pub(crate) fn mutants(schema: &Schema, value: &Value) -> Vec<Mutant> {
    use SchemaCode::*;
    let mut found = vec![Mutant::here(Value::Null, Type)];
    match &schema.kind {
        Kind::Enum(_) => found.extend([Mutant::here(json!("z-other"), Enum), Mutant::here(json!(1), Type)]),
        Kind::Id(prefix) => {
            for text in ["", "1", "_1", "é_1"] {
                found.push(Mutant::here(json!(text), Pattern));
            }
            for text in [format!("{prefix}_"), format!("{prefix}_1234567890"), format!("{prefix}_1\n")] {
                found.push(Mutant::here(json!(text), Pattern));
            }
        }
        Kind::Str { max_length, pattern } => {
            found.push(Mutant::here(json!("é".repeat(*max_length as usize + 1)), TooLong));
            found.push(Mutant::here(json!([]), Type));
            if pattern.is_some() {
                found.push(Mutant::here(json!("a\u{1F600}"), Pattern));
            }
        }
        Kind::Int(min, max) => found.extend(integers(*min, *max)),
        Kind::Num(..) => {
            found.extend([Mutant::here(json!(f64::MAX), Range), Mutant::here(json!(f64::MIN), Range)]);
            found.push(Mutant::here(json!("1"), Type));
        }
        Kind::Bool => found.push(Mutant::here(json!(0), Type)),
        Kind::List { item, max } => found.extend(items(value, *max, |entry| mutants(item, entry))),
        Kind::Ints { max_items, min, max } => {
            found.extend(items(value, *max_items, |_| integers(*min, *max)));
        }
        Kind::Obj { fields, .. } => found.extend(broken_members(fields, value)),
        Kind::Opt(item) => return mutants(item, value),
        Kind::Union { tag, variants } => {
            let chosen = value[&**tag].as_str().expect("a tag");
            let (_, fields) =
                variants.iter().find(|(name, _)| &**name == chosen).expect("a declared variant");
            found.extend(broken_members(fields, value));
            for bad in [Some(json!("z-other")), Some(json!(1)), None] {
                let value = with(value, tag, bad);
                found.push(Mutant { value, code: Tag, path: vec![PathPart::Field(tag.clone())] });
            }
        }
    }
    found
}

fn integers(min: i64, max: i64) -> Vec<Mutant> {
    vec![
        Mutant::here(json!(min - 1), SchemaCode::Range),
        Mutant::here(json!(max + 1), SchemaCode::Range),
        Mutant::here(json!(max as f64 + 1.0), SchemaCode::Range),
        Mutant::here(json!(u64::MAX), SchemaCode::Range),
        Mutant::here(json!(1e300), SchemaCode::Range),
        Mutant::here(json!(min as f64 + 0.5), SchemaCode::NotInteger),
        Mutant::here(json!("1"), SchemaCode::Type),
    ]
}

fn items(value: &Value, max: u64, break_item: impl Fn(&Value) -> Vec<Mutant>) -> Vec<Mutant> {
    let items = value.as_array().expect("a list");
    let mut longer = items.clone();
    longer.resize(max as usize + 1, Value::Null);
    let mut found = vec![
        Mutant::here(Value::Array(longer), SchemaCode::TooLong),
        Mutant::here(json!({}), SchemaCode::Type),
    ];
    for (index, item) in items.iter().enumerate() {
        found.extend(break_item(item).into_iter().map(|mutant| {
            mutant.within(PathPart::Index(index), |broken| {
                let mut items = items.clone();
                items[index] = broken;
                Value::Array(items)
            })
        }));
    }
    found
}

fn broken_members(fields: &Fields, value: &Value) -> Vec<Mutant> {
    let unknown = with(value, "z-unknown", Some(json!(1)));
    let mut found = vec![
        Mutant { value: unknown, code: SchemaCode::UnknownField, path: vec![PathPart::Unknown] },
        Mutant::here(json!([]), SchemaCode::Type),
    ];
    for (name, schema) in fields {
        let part = PathPart::Field(name.clone());
        if !schema.is_optional() {
            let value = with(value, name, None);
            found.push(Mutant { value, code: SchemaCode::MissingField, path: vec![part.clone()] });
        }
        if let Some(member) = value.get(&**name) {
            let broken = mutants(schema, member).into_iter();
            found.extend(
                broken.map(|mutant| mutant.within(part.clone(), |broken| with(value, name, Some(broken)))),
            );
        }
    }
    found
}

fn with(object: &Value, name: &str, member: Option<Value>) -> Value {
    let mut map = object.as_object().expect("an object").clone();
    map.remove(name);
    map.extend(member.map(|member| (name.to_owned(), member)));
    Value::Object(map)
}

/// Any JSON at all, biased to small shapes.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-60i64..60).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter_map("finite", |number| serde_json::Number::from_f64(number).map(Value::Number)),
        "\\PC{0,6}".prop_map(Value::from),
        "[a-z]_[0-9]{1,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A field's part of a path.
pub(crate) fn field(name: &str) -> PathPart {
    PathPart::Field(Arc::from(name))
}
