//! Accepted and refused schemas, their wire form, export, budgets and layering (§3).

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use playerthree_schema::{
    Fields, MAX_SAFE, MAX_SCHEMA_DEPTH, Ordered, Schema, canonical, merge, sha256_hex, strict_json, t,
};
use serde_json::{Value, json};

fn faults(schema: &Schema) -> Vec<String> {
    schema.check().err().into_iter().flatten().map(|fault| format!("{fault}")).collect()
}

/// §3: each rule of the vocabulary, broken once; the fault says where and what.
#[test]
fn each_broken_rule_of_the_vocabulary_is_a_fault() {
    let field = |schema: Schema| t::obj([("f", schema)]);
    let long = "d".repeat(4001);
    let table: [(Schema, &str); 24] = [
        (t::literals([]), "the enum has no values"),
        (t::literals(["a", "a"]), "an enum value is repeated"),
        (t::literals(["-a"]), "an enum value breaks its grammar"),
        (t::id("E"), "the id prefix is not"),
        (t::str(100_001), "maxLength is above 100000"),
        (t::pattern(9, "a"), "a pattern has 2 to 256 characters"),
        (t::int(2, 1), "min is above max"),
        (t::int(0, MAX_SAFE + 1), "a bound is not a safe integer"),
        (t::num(1.0, 0.0), "min is above max"),
        (t::num(f64::NAN, 0.0), "the bounds are not finite"),
        (t::num(0.0, f64::INFINITY), "the bounds are not finite"),
        (t::list(t::bool(), MAX_SAFE.unsigned_abs() + 1), "the item count is not a safe integer"),
        (t::list(t::opt(t::bool()), 1), "an optional marker stands outside a field map"),
        (t::opt(t::bool()), "an optional marker stands outside a field map"),
        (field(t::opt(t::opt(t::bool()))), "an optional marker stands outside a field map"),
        (t::ints(MAX_SAFE.unsigned_abs() + 1, 0, 1), "the item count is not a safe integer"),
        (t::ints(1, 1, 0), "min is above max"),
        (t::obj([("a", t::bool()), ("a", t::bool())]), "a field is repeated"),
        (t::obj([("1a", t::bool())]), "the field's name breaks its grammar"),
        (t::union("kind", Vec::<(&str, Vec<(&str, Schema)>)>::new()), "the union has no variants"),
        (t::union("1", [("a", vec![])]), "the tag breaks the grammar"),
        (t::union("k", [("a", vec![]), ("a", vec![])]), "a variant is repeated"),
        (t::union("k", [("a", vec![("k", t::bool())])]), "a variant declares the tag again"),
        (t::bool().doc(&long), "the doc is longer than 4000 units"),
    ];
    for (schema, what) in table {
        let found = faults(&schema);
        assert!(found.len() == 1 && found[0].contains(what), "expected {what}, found {found:?}");
    }
}

/// §3: limits themselves are accepted.
#[test]
fn the_edges_of_the_vocabulary_are_accepted() {
    for schema in [
        t::str(100_000),
        t::str(0),
        t::int(-MAX_SAFE, MAX_SAFE),
        t::list(t::bool(), MAX_SAFE.unsigned_abs()),
        t::num(f64::MIN, f64::MAX),
        t::obj([]),
        t::bool().doc(&"😀".repeat(2000)),
    ] {
        assert_eq!(schema.check(), Ok(()));
    }
    assert_eq!(faults(&t::bool().doc(&"😀".repeat(2001))).len(), 1);
}

/// §3: faults are found together and placed by declared names; a name that breaks its grammar is not repeated.
#[test]
fn faults_come_together_with_safe_paths() {
    let schema = t::obj([
        ("units", t::list(t::obj([("hp", t::int(1, 0)), ("CANARY-1", t::bool())]), 3)),
        ("say", t::opt(t::str(200_000))),
        ("e", t::union("kind", [("CANARY 2", vec![("x", t::literals(["CANARY-3"]))])])),
    ]);
    let found = faults(&schema);
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.iter().any(|fault| fault.starts_with("units.item.hp: ")), "{found:?}");
    assert!(found.iter().any(|fault| fault.starts_with("units.item[1]: ")), "{found:?}");
    assert!(!found.concat().contains("CANARY"));
}

fn nested(depth: usize) -> Schema {
    (1..depth).fold(t::bool(), |inner, _| t::list(inner, 1))
}

/// A schema is at most 32 nodes deep, declared in Rust or read from a file.
#[test]
fn depth_is_bounded() {
    assert_eq!(nested(MAX_SCHEMA_DEPTH).check(), Ok(()));
    assert_eq!(faults(&nested(MAX_SCHEMA_DEPTH + 1)).len(), 1);
    let wire = |depth| Schema::from_ordered(&nested(depth).to_ordered());
    assert!(wire(MAX_SCHEMA_DEPTH).is_ok());
    assert!(wire(MAX_SCHEMA_DEPTH + 1).is_err());
}

/// §3: the wire form, member for member.
#[test]
fn the_wire_form_is_the_contracts() {
    let schema = t::obj([
        ("e", t::literals(["a", "b"])),
        ("i", t::id("u")),
        ("s", t::pattern(3, "^a$").doc("a text")),
        ("n", t::int(0, 5)),
        ("x", t::num(-0.5, 2.0)),
        ("b", t::opt(t::bool().doc("maybe"))),
        ("l", t::list(t::bool(), 4)),
        ("p", t::ints(3, 0, 9)),
        ("u", t::union("kind", [("v", vec![("w", t::bool())])])),
        ("o", t::obj([]).replace_on_merge()),
    ]);
    let expected = json!({ "t": "obj", "fields": {
        "e": { "t": "enum", "values": ["a", "b"] },
        "i": { "t": "id", "prefix": "u" },
        "s": { "t": "str", "maxLength": 3, "pattern": "^a$", "doc": "a text" },
        "n": { "t": "int", "min": 0, "max": 5 },
        "x": { "t": "num", "min": -0.5, "max": 2 },
        "b": { "t": "opt", "item": { "t": "bool", "doc": "maybe" } },
        "l": { "t": "list", "item": { "t": "bool" }, "max": 4 },
        "p": { "t": "ints", "maxItems": 3, "min": 0, "max": 9 },
        "u": { "t": "union", "tag": "kind", "variants": { "v": { "w": { "t": "bool" } } } },
        "o": { "t": "obj", "fields": {}, "merge": "replace" },
    }});
    assert_eq!(schema.to_json(), expected);
    assert_eq!(Schema::from_ordered(&schema.to_ordered()), Ok(schema));
}

/// §3: shapes that are no schema are refused with a path, and never repeated.
#[test]
fn shapes_that_are_no_schema_are_refused() {
    let table = [
        (json!(3), "the root: a schema node is an object"),
        (json!({}), "the root: the node has no type"),
        (json!({ "t": "CANARY" }), "the root: the node type is unknown"),
        (json!({ "t": "any" }), "the root: the node type is unknown"),
        (json!({ "t": "bool", "CANARY": 1 }), "?: the node has an unknown member"),
        (json!({ "t": "opt", "item": { "t": "bool" }, "doc": "x" }), "?: the node has an unknown member"),
        (json!({ "t": "bool", "doc": 1 }), "the root: the doc is not a text"),
        (
            json!({ "t": "str", "maxLength": "CANARY" }),
            "maxLength: the member is not a nonnegative safe integer",
        ),
        (json!({ "t": "str", "maxLength": 1.5 }), "maxLength: the member is not a nonnegative safe integer"),
        (json!({ "t": "str" }), "maxLength: the member is not a nonnegative safe integer"),
        (json!({ "t": "int", "min": 0, "max": 1e300 }), "max: the member is not a safe integer"),
        (json!({ "t": "num", "min": "0", "max": 1 }), "min: the member is not a number"),
        (json!({ "t": "enum", "values": ["a", 1] }), "the root: the values are not a list of texts"),
        (json!({ "t": "obj", "fields": [] }), "the root: the fields are not an object"),
        (json!({ "t": "obj", "fields": {}, "merge": "CANARY" }), "merge: the merge rule is unknown"),
        (json!({ "t": "obj", "fields": { "CANARY-1": { "t": "x" } } }), "[0]: the node type is unknown"),
        (json!({ "t": "list", "max": 1 }), "the root: the node has no item"),
        (json!({ "t": "union", "tag": "k" }), "the root: the variants are not an object"),
    ];
    for (wire, expected) in table {
        let found = Schema::from_ordered(&Ordered::from(&wire)).expect_err("no schema");
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(
            found.iter().any(|fault| fault.starts_with(expected)),
            "expected {expected}, found {found:?}"
        );
        assert!(!found.concat().contains("CANARY"));
    }
}

/// §3: the export's exact form, with the strict end of input and the merge mark.
#[test]
fn the_export_is_closed_and_bounded() {
    let schema = t::obj([
        ("s", t::pattern(3, "^a+$")),
        ("p", t::opt(t::ints(3, 0, 9))),
        ("u", t::union("kind", [("v", vec![("w", t::bool())])])),
    ]);
    let expected = json!({
        "type": "object",
        "properties": {
            "s": { "type": "string", "maxLength": 3, "pattern": "^a+(?![\\s\\S])" },
            "p": { "type": "array", "maxItems": 3, "items": { "type": "integer", "minimum": 0, "maximum": 9 } },
            "u": { "type": "object", "oneOf": [{
                "type": "object",
                "properties": { "kind": { "type": "string", "const": "v" }, "w": { "type": "boolean" } },
                "required": ["kind", "w"],
                "additionalProperties": false,
            }] },
        },
        "required": ["s", "u"],
        "additionalProperties": false,
        "x-playerthree-merge": "replace",
        "description": "all",
    });
    assert_eq!(schema.replace_on_merge().doc("all").json_schema(), expected);
}

/// §3: the budgets that the contract spells out, and no overflow at the extremes.
#[test]
fn byte_budgets_follow_the_contract() {
    let table = [
        (t::str(0), 2),
        (t::str(10), 62),
        (t::pattern(10, "^a$"), 62),
        (t::ints(0, -5, 100), 2),
        (t::ints(1, -5, 100), 2 + 3),
        (t::ints(4, -500, 100), 2 + 4 * 4 + 3),
        (t::bool(), 5),
        (t::literals(["a", "abc"]), 5),
        (t::id("e"), 13),
        (t::list(t::bool(), 3), 2 + 15 + 2),
        (t::obj([]), 2),
        (t::obj([("a", t::bool()), ("b", t::opt(t::bool()))]), 2 + 9 + 9 + 1),
        (t::union("k", [("v", vec![])]), 2 + 7),
        (t::list(t::list(t::str(100_000), MAX_SAFE.unsigned_abs()), MAX_SAFE.unsigned_abs()), u64::MAX),
    ];
    for (schema, bytes) in table {
        assert_eq!(schema.max_json_bytes(), bytes, "{}", schema.to_json());
    }
}

/// §3 `merge:"replace"`: a marked object is replaced whole, others field by field, under `opt` and in unions too.
#[test]
fn layers_meet_by_the_schema() {
    let plain = || t::obj([("a", t::opt(t::int(0, 9))), ("b", t::opt(t::int(0, 9)))]);
    let schema = t::obj([
        ("plain", t::opt(plain())),
        ("marked", t::opt(plain().replace_on_merge())),
        ("list", t::opt(t::list(t::int(0, 9), 3))),
        (
            "u",
            t::opt(t::union(
                "k",
                [
                    ("x", vec![("m", t::opt(plain().replace_on_merge())), ("n", t::opt(plain()))]),
                    ("y", vec![]),
                ],
            )),
        ),
    ]);
    let base = json!({
        "plain": { "a": 1, "b": 1 }, "marked": { "a": 1, "b": 1 }, "list": [1, 1],
        "u": { "k": "x", "m": { "a": 1 }, "n": { "a": 1 } }
    });
    let cases = [
        (json!({}), base.clone()),
        (json!({ "plain": { "b": 2 } }), {
            let mut merged = base.clone();
            merged["plain"] = json!({ "a": 1, "b": 2 });
            merged
        }),
        (json!({ "marked": { "b": 2 }, "list": [2] }), {
            let mut merged = base.clone();
            merged["marked"] = json!({ "b": 2 });
            merged["list"] = json!([2]);
            merged
        }),
        (json!({ "u": { "k": "x", "m": { "b": 2 }, "n": { "b": 2 } } }), {
            let mut merged = base.clone();
            merged["u"] = json!({ "k": "x", "m": { "b": 2 }, "n": { "a": 1, "b": 2 } });
            merged
        }),
        (json!({ "u": { "k": "y" } }), {
            let mut merged = base.clone();
            merged["u"] = json!({ "k": "y" });
            merged
        }),
    ];
    for (layer, expected) in cases {
        assert_eq!(merge(&schema, &base, &layer), expected, "{layer}");
        assert_eq!(schema.validate(&expected), Ok(()));
    }
}

/// §3 directives: texts start empty where that conforms; a required id or a pattern that refuses the empty text has none.
#[test]
fn defaults_are_the_least_values() {
    let some = [
        (t::str(9), json!("")),
        (t::pattern(9, "^a*$"), json!("")),
        (t::int(3, 9), json!(3)),
        (t::int(-9, -3), json!(-3)),
        (t::num(-1.0, 1.0), json!(0.0)),
        (t::obj([("a", t::opt(t::id("e"))), ("b", t::literals(["x", "y"]))]), json!({ "b": "x" })),
        (t::union("k", [("a", vec![("i", t::id("e"))]), ("b", vec![])]), json!({ "k": "b" })),
    ];
    for (schema, value) in some {
        assert_eq!(schema.default_value(), Some(value));
    }
    for schema in [t::id("e"), t::pattern(9, "^a+$"), t::obj([("i", t::id("e"))])] {
        assert_eq!(schema.default_value(), None);
    }
}

/// RFC 8785 against the shared vectors: canonical text, SHA-256, and what a reader must refuse.
#[test]
fn canonical_json_agrees_with_the_vectors() {
    let vectors = strict_json(include_str!("data/canonicalization.json")).expect("the vectors are JSON");
    let cases = vectors["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 72);
    for case in cases {
        let name = &case["name"];
        let read = strict_json(case["input"].as_str().expect("a text"));
        if case["reject"] == json!(true) {
            assert!(read.is_err(), "{name}");
            continue;
        }
        let text = canonical(&read.unwrap_or_else(|error| panic!("{name}: {error}")));
        assert_eq!(text, case["canonical"].as_str().expect("a text"), "{name}");
        assert_eq!(sha256_hex(text.as_bytes()), case["sha256"].as_str().expect("a hash"), "{name}");
    }
}

/// Order is kept, repeated members and deep nesting are refused.
#[test]
fn reading_keeps_order_and_refuses_what_json_cannot_mean() {
    let text = "{\"b\":{\"z\":1,\"a\":[null,true,-1,0.5,18446744073709551615]},\"a\":\"x\"}";
    let ordered = Ordered::parse(text).expect("JSON");
    assert_eq!(serde_json::to_string(&ordered).expect("JSON"), text);
    assert_eq!(Value::from(ordered.clone()), strict_json(text).expect("JSON"));
    assert_eq!(ordered.get("a").and_then(Ordered::as_str), Some("x"));
    for bad in ["{\"a\":1,\"a\":1}", "[1]x", "", "\"\\ud800\"", "1e400", &"[".repeat(200)] {
        assert!(Ordered::parse(bad).is_err());
    }
}

/// A field map is checked like an object's.
#[test]
fn field_maps_are_checked() {
    let fields: Fields = vec![("a".into(), t::opt(t::int(1, 0)))];
    assert_eq!(
        Schema::check_fields(&fields).expect_err("a fault")[0].to_string(),
        "a: min is above max; put the bounds in order"
    );
}
