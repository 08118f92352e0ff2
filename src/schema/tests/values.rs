//! Accepted and rejected values of each node, with the exact code and path (§3, §4 "Results and errors").

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use common::field;
use playerthree_schema::SchemaCode::{
    Enum, MissingField, NotInteger, Pattern, Range, Tag, TooLong, Type, UnknownField,
};
use playerthree_schema::{MAX_SAFE, PathPart, Schema, SchemaCode, strict_json, t};
use serde_json::{Value, json};

fn accepts(schema: &Schema, values: impl IntoIterator<Item = Value>) {
    for value in values {
        assert_eq!(schema.validate(&value), Ok(()), "{value}");
    }
}

fn rejects(schema: &Schema, code: SchemaCode, path: &[PathPart], values: impl IntoIterator<Item = Value>) {
    for value in values {
        let refused = schema.validate(&value).expect_err(&value.to_string());
        assert_eq!((refused.code, refused.path.as_slice()), (code, path), "{value}");
    }
}

/// §3 `enum`: exactly one declared literal.
#[test]
fn an_enum_takes_its_literals() {
    let schema = t::literals(["red", "Array<Int>"]);
    accepts(&schema, [json!("red"), json!("Array<Int>")]);
    rejects(&schema, Enum, &[], [json!("Red"), json!("red "), json!(""), json!("red\n")]);
    rejects(&schema, Type, &[], [json!(0), json!(null), json!(["red"]), json!({})]);
}

/// §3 `id`: the prefix, an underscore and 1 to 9 ASCII digits.
#[test]
fn an_id_has_its_prefix_and_digits() {
    let schema = t::id("e");
    accepts(&schema, [json!("e_0"), json!("e_123456789"), json!("e_007")]);
    let bad =
        ["e_", "e_1234567890", "e1", "E_1", "e_1 ", " e_1", "e_-1", "e_1a", "ee_1", "e_１", "e_1\n", ""];
    rejects(&schema, Pattern, &[], bad.map(Value::from));
    rejects(&schema, Type, &[], [json!(1), json!(null)]);
}

/// §3 `str`: counted in code points, so that a surrogate pair counts once.
#[test]
fn a_text_is_counted_in_code_points() {
    let schema = t::str(2);
    accepts(&schema, [json!(""), json!("ab"), json!("😀😀"), json!("e\u{301}")]);
    rejects(&schema, TooLong, &[], [json!("abc"), json!("😀😀😀"), json!("éèê")]);
    rejects(&schema, Type, &[], [json!(1), json!(null), json!(["a"])]);
    accepts(&t::str(0), [json!("")]);
    rejects(&t::str(0), TooLong, &[], [json!("a")]);
}

/// §3 `str`: the pattern consumes the whole value, a trailing line feed included, after the bound.
#[test]
fn a_pattern_consumes_the_whole_text() {
    let schema = t::pattern(4, "^[ab]+$");
    accepts(&schema, [json!("a"), json!("abab")]);
    rejects(&schema, Pattern, &[], [json!(""), json!("ab\n"), json!("\nab"), json!("abc")]);
    rejects(&schema, TooLong, &[], [json!("ccccc")]);
}

/// §3 `int`: any spelling of an integer within bounds, `-0` and `1.0` included, and nothing past the safe integers.
#[test]
fn an_integer_is_whole_and_within_bounds() {
    let schema = t::int(-5, 100);
    accepts(&schema, [json!(-5), json!(100), json!(3.0), json!(-0.0), json!(1e2)]);
    rejects(&schema, Range, &[], [json!(-6), json!(101), json!(u64::MAX), json!(1e300), json!(101.0)]);
    rejects(&schema, NotInteger, &[], [json!(0.5), json!(-4.999), json!(1e-300)]);
    rejects(&schema, Type, &[], [json!("1"), json!(true), json!(null)]);
    let widest = t::int(-MAX_SAFE, MAX_SAFE);
    accepts(&widest, [json!(MAX_SAFE), json!(-MAX_SAFE), json!(MAX_SAFE as f64)]);
    rejects(&widest, Range, &[], [json!(MAX_SAFE + 1), json!(i64::MIN), json!(9_007_199_254_740_992.0)]);
}

/// §3 `num`: a finite number within bounds.
#[test]
fn a_number_is_within_bounds() {
    let schema = t::num(0.0, 1.0);
    accepts(&schema, [json!(0), json!(1), json!(0.5), json!(-0.0), json!(5e-324)]);
    rejects(&schema, Range, &[], [json!(-5e-324), json!(1.000_000_000_000_000_2), json!(u64::MAX)]);
    rejects(&schema, Type, &[], [json!("0"), json!(null), json!(false)]);
}

/// §3 `bool`.
#[test]
fn a_boolean_is_nothing_else() {
    accepts(&t::bool(), [json!(true), json!(false)]);
    rejects(&t::bool(), Type, &[], [json!(0), json!(1), json!("true"), json!(null)]);
}

/// §3 `list`: at most `max` items, each of the item's schema, with the index in the path.
#[test]
fn a_list_is_bounded_and_judges_each_item() {
    let schema = t::list(t::literals(["a"]), 2);
    accepts(&schema, [json!([]), json!(["a", "a"])]);
    rejects(&schema, TooLong, &[], [json!(["a", "a", "a"]), json!(["b", "b", "b"])]);
    rejects(&schema, Enum, &[PathPart::Index(1)], [json!(["a", "b"])]);
    rejects(&schema, Type, &[], [json!({}), json!("a"), json!(null)]);
}

/// §3 `ints`: a list of integers with the same codes.
#[test]
fn ints_are_bounded_integers() {
    let schema = t::ints(3, -1, 1);
    accepts(&schema, [json!([]), json!([-1, 0, 1]), json!([1.0, -0.0])]);
    rejects(&schema, TooLong, &[], [json!([0, 0, 0, 0])]);
    rejects(&schema, Range, &[PathPart::Index(1)], [json!([0, 2]), json!([0, 1e300])]);
    rejects(&schema, NotInteger, &[PathPart::Index(0)], [json!([0.5])]);
    rejects(&schema, Type, &[PathPart::Index(0)], [json!(["0"]), json!([null])]);
    rejects(&schema, Type, &[], [json!("abc"), json!({ "0": 1 })]);
}

/// §3 `obj`: precisely the declared fields; an optional one may be left out but is never null.
#[test]
fn an_object_is_closed() {
    let schema = t::obj([("a", t::int(0, 9)), ("b", t::opt(t::obj([("c", t::bool())])))]);
    accepts(&schema, [json!({ "a": 1 }), json!({ "a": 1, "b": { "c": true } })]);
    rejects(&schema, MissingField, &[field("a")], [json!({}), json!({ "b": { "c": true } })]);
    rejects(
        &schema,
        UnknownField,
        &[PathPart::Unknown],
        [json!({ "a": 1, "z": 1 }), json!({ "a": 1, "__proto__": 1 })],
    );
    rejects(&schema, Type, &[field("b")], [json!({ "a": 1, "b": null })]);
    rejects(
        &schema,
        UnknownField,
        &[field("b"), PathPart::Unknown],
        [json!({ "a": 1, "b": { "c": true, "d": 1 } })],
    );
    rejects(&schema, MissingField, &[field("b"), field("c")], [json!({ "a": 1, "b": {} })]);
    rejects(&schema, Type, &[], [json!([]), json!(null), json!("{}")]);
}

/// §3 `union`: the tag selects the fields; a bad tag is `tag` at the tag.
#[test]
fn a_union_follows_its_tag() {
    let schema = t::union("kind", [("move", vec![("x", t::int(0, 9))]), ("stop", vec![])]);
    accepts(&schema, [json!({ "kind": "move", "x": 3 }), json!({ "kind": "stop" })]);
    rejects(
        &schema,
        Tag,
        &[field("kind")],
        [json!({ "x": 3 }), json!({ "kind": "fly" }), json!({ "kind": 3, "x": 3 })],
    );
    rejects(&schema, MissingField, &[field("x")], [json!({ "kind": "move" })]);
    rejects(&schema, UnknownField, &[PathPart::Unknown], [json!({ "kind": "stop", "x": 3 })]);
    rejects(&schema, Range, &[field("x")], [json!({ "kind": "move", "x": 10 })]);
    rejects(&schema, Type, &[], [json!("move"), json!([])]);
}

/// §4: a deep path is written from the root, in strings and numbers.
#[test]
fn a_path_is_written_from_the_root() {
    let schema = t::obj([("units", t::list(t::obj([("pos", t::obj([("x", t::int(0, 9))]))]), 9))]);
    let refused =
        schema.validate(&json!({ "units": [{ "pos": { "x": 1 } }, { "pos": { "x": 1, "canary": 2 } }] }));
    let refused = refused.expect_err("an unknown member");
    assert_eq!(refused.path_json(), json!(["units", 1, "pos", "?"]));
    assert_eq!(refused.to_string(), "unknown_field at units[1].pos.?");
}

/// §4: no rejected key or value is in any error, whatever is wrong with it.
#[test]
fn no_error_repeats_what_it_rejects() {
    let schema = t::obj([
        ("a", t::opt(t::literals(["x"]))),
        ("b", t::opt(t::pattern(40, "^x$"))),
        ("c", t::opt(t::id("e"))),
        ("d", t::opt(t::str(1))),
        ("e", t::opt(t::union("kind", [("k", vec![])]))),
    ]);
    let canary = "CANARY-7f3a";
    let bad = [
        json!({ "a": canary }),
        json!({ "b": canary }),
        json!({ "c": canary }),
        json!({ "d": canary }),
        json!({ "e": { "kind": canary } }),
        json!({ canary: 1 }),
        json!({ "e": { "kind": "k", canary: 1 } }),
        json!(canary),
        json!([canary]),
    ];
    for value in bad {
        let refused = schema.validate(&value).expect_err("bad");
        assert!(!format!("{refused} {refused:?} {}", refused.path_json()).contains(canary), "{refused}");
    }
    let text = format!("{{\"{canary}\":1,\"{canary}\":2}}");
    let not_json = strict_json(&text).expect_err("a repeated member");
    assert!(!format!("{not_json} {not_json:?}").contains(canary));
}

/// `admit` gives integers in integer form, at every depth, so that a game may read them as such.
#[test]
fn admitted_integers_have_integer_form() {
    let schema = t::obj([
        ("n", t::int(-9, 9)),
        ("list", t::list(t::union("kind", [("k", vec![("i", t::opt(t::int(0, 9)))])]), 2)),
        ("ints", t::ints(3, -1, 1)),
        ("num", t::num(0.0, 9.0)),
    ]);
    let value = json!({ "n": -0.0, "list": [{ "kind": "k", "i": 3.0 }], "ints": [1.0, -0.0], "num": 2.0 });
    let admitted = schema.admit(value).expect("conforms");
    assert_eq!(admitted, json!({ "n": 0, "list": [{ "kind": "k", "i": 3 }], "ints": [1, 0], "num": 2.0 }));
    assert_eq!(schema.admit(json!({})).expect_err("empty").code, MissingField);
}

/// §3: the accept path allocates nothing, also with patterns, unions and long texts.
#[test]
fn accepting_a_value_allocates_nothing() {
    let schema = t::obj([
        ("units", t::list(t::obj([("id", t::id("u")), ("x", t::num(0.0, 9.0))]), 99)),
        ("name", t::pattern(80, "^[\\w -]{1,80}$")),
        ("events", t::list(t::union("kind", [("hit", vec![("n", t::opt(t::int(0, 9)))])]), 99)),
        ("ints", t::ints(99, 0, 9)),
    ]);
    let unit = json!({ "id": "u_1", "x": 2.5 });
    let value = json!({
        "units": vec![unit; 50], "name": "a long name of a thing", "events": [{ "kind": "hit", "n": 3 }], "ints": [1, 2]
    });
    let mut verdict = Ok(());
    let counted = allocation_counter::measure(|| verdict = schema.validate(&value));
    assert_eq!((verdict, counted.count_total), (Ok(()), 0));
}
