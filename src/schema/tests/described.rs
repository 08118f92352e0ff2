//! Rust types as schemas (§3): the derive gives the schema that one would write by hand, and what conforms to it is
//! read into the type and written back the same.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use common::{mutants, value};
use playerthree_schema::{Described, Schema, SchemaCode, VariantDoc, canonical, t};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

const COLS: u8 = 20;
type Tag = Arc<str>;

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Described)]
#[serde(rename_all = "lowercase")]
enum Side {
    Red,
    #[serde(rename = "Sky.Blue")]
    Blue,
}

/// One place
/// of the map.
///
/// Counted from the top left.
#[derive(Debug, PartialEq, Serialize, Deserialize, Described)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Place {
    #[schema(min = 0, max = COLS as i64 - 1)]
    tile_col: u8,
    /// From the top.
    #[schema(min = -3, max = 300)]
    r#row: i16,
}

/// Everything that a field can be.
#[derive(Debug, PartialEq, Serialize, Deserialize, Described)]
#[schema(merge = "replace")]
struct Everything {
    #[schema(id = "e")]
    unit: String,
    #[schema(max_length = 5)]
    name: Arc<str>,
    #[schema(max_length = 8, pattern = "^[a-z]{2}[0-9]*$")]
    code: Tag,
    #[schema(min = -1_000_000, max = 1_000_000)]
    whole: i64,
    #[schema(min = -1, max = 2.5)]
    share: f64,
    ready: bool,
    side: Side,
    /// Where it stands.
    place: Box<Place>,
    #[schema(max_items = 3)]
    path: Vec<Place>,
    #[schema(max_items = 4, min = 0, max = 9)]
    queue: Vec<u32>,
    #[schema(max_items = 2, max_length = 3)]
    words: Vec<String>,
    /// Left out when idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min = 1, max = 2)]
    order: Option<u64>,
    #[serde(rename = "self", skip_serializing_if = "Option::is_none")]
    myself: Option<Place>,
}

/// What a seat asks for.
#[derive(Debug, PartialEq, Serialize, Deserialize, Described)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Intent {
    /// Goes there.
    MoveTo {
        #[schema(min = 0, max = 9)]
        tile_col: i32,
        #[serde(skip_serializing_if = "Option::is_none")]
        then: Option<Side>,
    },
    Stop,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Described)]
struct Empty {}

fn place() -> Schema {
    t::obj([("tileCol", t::int(0, 19)), ("row", t::int(-3, 300).doc("From the top."))])
        .doc("One place of the map.\nCounted from the top left.")
}

fn side() -> Schema {
    t::literals(["red", "Sky.Blue"]).doc("Who acts.")
}

/// §3: the derived schema is the one that one would write by hand, docs, order and merge rule included.
#[test]
fn a_derived_schema_is_the_written_one() {
    let everything = t::obj([
        ("unit", t::id("e")),
        ("name", t::str(5)),
        ("code", t::pattern(8, "^[a-z]{2}[0-9]*$")),
        ("whole", t::int(-1_000_000, 1_000_000)),
        ("share", t::num(-1.0, 2.5)),
        ("ready", t::bool()),
        ("side", side()),
        ("place", place().doc("Where it stands.")),
        ("path", t::list(place(), 3)),
        ("queue", t::ints(4, 0, 9)),
        ("words", t::list(t::str(3), 2)),
        ("order", t::opt(t::int(1, 2)).doc("Left out when idle.")),
        ("self", t::opt(place())),
    ]);
    assert_eq!(*Side::schema(), side());
    assert_eq!(*Place::schema(), place());
    assert_eq!(*Everything::schema(), everything.doc("Everything that a field can be.").replace_on_merge());
    assert_eq!(*Empty::schema(), t::obj([]));
    let moves = vec![("tileCol", t::int(0, 9)), ("then", t::opt(side()))];
    let intent = t::union("kind", [("move_to", moves), ("stop", vec![])]);
    assert_eq!(*Intent::schema(), intent.doc("What a seat asks for."));
    for schema in [Side::schema(), Place::schema(), Everything::schema(), Intent::schema(), Empty::schema()] {
        assert_eq!(schema.check(), Ok(()));
    }
}

/// The documents of an enum's variants, which a union node has no place for; a struct has none.
#[test]
fn variants_keep_their_documents() {
    let docs = [VariantDoc { name: "move_to", doc: "Goes there." }, VariantDoc { name: "stop", doc: "" }];
    assert_eq!(Intent::variants(), docs);
    assert_eq!(Place::variants(), []);
}

/// §3, §4: what comes from outside is judged by the schema first, with its codes and paths.
#[test]
fn reading_judges_by_the_schema() {
    let moved = Intent::MoveTo { tile_col: 3, then: None };
    assert_eq!(Intent::read(json!({ "kind": "move_to", "tileCol": 3.0 })), Ok(moved));
    let table = [
        (json!({ "kind": "move_to", "tileCol": 10 }), SchemaCode::Range, json!(["tileCol"])),
        (json!({ "kind": "move_to", "tileCol": 1, "then": null }), SchemaCode::Type, json!(["then"])),
        (json!({ "kind": "stop", "tileCol": 1 }), SchemaCode::UnknownField, json!(["?"])),
        (json!({ "kind": "MoveTo", "tileCol": 1 }), SchemaCode::Tag, json!(["kind"])),
    ];
    for (value, code, path) in table {
        let refused = Intent::read(value).expect_err("bad");
        assert_eq!((refused.code, refused.path_json()), (code, path));
    }
}

/// A value of the schema is read, written back as the same JSON, and accepted again; a mutant of it is not read.
fn check_round_trip<T: Described>(value: &serde_json::Value) {
    let read = T::read(value.clone()).expect("a conforming value is read");
    let written = serde_json::to_value(&read).expect("JSON");
    assert_eq!(canonical(&written), canonical(value));
    assert_eq!(T::schema().validate(&written), Ok(()));
    for mutant in mutants(T::schema(), value) {
        assert_eq!(T::read(mutant.value).err().map(|refused| refused.code), Some(mutant.code));
    }
}

/// A strategy for the JSON of a described type.
fn json_of<T: Described>() -> BoxedStrategy<serde_json::Value> {
    value(T::schema())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// §3: one definition gives schema, validation and JSON form, so each agrees with the others.
    #[test]
    fn conforming_values_round_trip(
        everything in json_of::<Everything>(),
        intent in json_of::<Intent>(),
        side in json_of::<Side>(),
    ) {
        check_round_trip::<Everything>(&everything);
        check_round_trip::<Intent>(&intent);
        check_round_trip::<Side>(&side);
        check_round_trip::<Empty>(&json!({}));
    }
}
