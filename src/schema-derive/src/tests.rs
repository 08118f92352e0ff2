//! What the derive refuses, with the words that the compiler shows. What it accepts is tested beside the trait.

use crate::expand::expand;
use syn::{DeriveInput, parse_quote};

/// What the compiler says of a type that cannot be described.
fn refusal(input: &DeriveInput) -> String {
    match expand(input) {
        Ok(_) => "described".into(),
        Err(error) => error.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"),
    }
}

/// A struct with one field of this type and these attributes.
fn field(attributes: &str, ty: &str) -> String {
    refusal(&syn::parse_str(&format!("struct S {{ {attributes} a: {ty} }}")).expect("a struct"))
}

/// §3: there is no unbounded node, so a bound is never invented, and one that does not apply is not ignored.
#[test]
fn missing_and_misplaced_bounds_are_named() {
    for (attributes, ty, expected) in [
        ("", "u8", "an integer needs its bounds: declare #[schema(min = 0, max = 100)]"),
        ("#[schema(min = 0)]", "i64", "an integer needs its bounds"),
        ("#[schema(max = 0)]", "f64", "a number needs its bounds: declare #[schema(min = 0, max = 1)]"),
        ("", "String", "a text needs its longest length: declare #[schema(max_length = 40)]"),
        ("#[schema(pattern = \"^a$\")]", "Arc<str>", "a text needs its longest length"),
        ("", "Vec<bool>", "a list needs its most items: declare #[schema(max_items = 16)]"),
        ("#[schema(max_items = 1)]", "Vec<u8>", "an integer needs its bounds"),
        ("#[schema(min = 0)]", "bool", "`min` does not apply to this field's type"),
        ("#[schema(max_items = 1)]", "Unit", "`max_items` does not apply"),
        ("#[schema(id = \"e\", pattern = \"^a$\")]", "String", "`pattern` does not apply"),
        ("#[schema(min = 0, min = 1, max = 2)]", "u8", "declared twice"),
        ("#[schema(least = 0)]", "u8", "a field's bounds are min, max, max_length"),
        ("#[schema(max_length = 3)]", "Name", "described"),
        ("#[schema(id = \"e\")]", "String", "described"),
    ] {
        assert!(field(attributes, ty).contains(expected), "{attributes} {ty}: {}", field(attributes, ty));
    }
}

/// §3: no open objects, tuples, nulls or numbers beyond the safe integers.
#[test]
fn types_outside_the_vocabulary_are_refused() {
    let bounded = "#[schema(max_items = 1)]";
    for (attributes, ty, expected) in [
        ("", "HashMap<String, u8>", "no open objects"),
        ("", "serde_json::Value", "no open objects"),
        ("", "(u8, u8)", "no tuples"),
        ("", "[u8; 3]", "no fixed length"),
        ("", "&'static str", "owns its data"),
        ("", "f32", "use f64"),
        ("", "char", "no characters"),
        ("", "u128", "use i64"),
        ("", "fn()", "cannot carry this type"),
        (bounded, "Vec<Vec<bool>>", "a list of lists needs two bounds"),
        (bounded, "Vec<Option<bool>>", "stands only directly in a field"),
        ("", "Option<bool>", "left out, never null"),
        ("#[serde(skip_serializing_if = \"Vec::is_empty\")]", "bool", "only an Option can be left out"),
        ("#[serde(skip_serializing_if = \"Option::is_none\")]", "Option<Option<bool>>", "no null"),
        ("#[serde(skip_serializing_if = \"Option::is_none\")]", "Option<Box<S>>", "cannot hold itself"),
    ] {
        assert!(field(attributes, ty).contains(expected), "{attributes} {ty}: {}", field(attributes, ty));
    }
}

/// The JSON form and the schema are one: what serde would write otherwise is refused.
#[test]
fn attributes_that_change_the_json_form_are_refused() {
    for (attributes, expected) in [
        ("#[serde(flatten)]", "no flatten, skip or with"),
        ("#[serde(skip)]", "no flatten, skip or with"),
        ("#[serde(with = \"other\")]", "no flatten, skip or with"),
        ("#[serde(alias = \"b\")]", "no alias"),
        ("#[serde(rename(serialize = \"b\"))]", "the same in both directions"),
        ("#[serde(rename = \"b\", default)]", "described"),
    ] {
        assert!(field(attributes, "bool").contains(expected), "{attributes}: {}", field(attributes, "bool"));
    }
    let table: [(DeriveInput, &str); 13] = [
        (
            parse_quote!(
                #[serde(tag = "t")]
                struct S {
                    a: bool,
                }
            ),
            "a tag belongs to an enum",
        ),
        (
            parse_quote!(
                struct S;
            ),
            "named fields",
        ),
        (
            parse_quote!(
                struct S(bool);
            ),
            "named fields",
        ),
        (
            parse_quote!(
                struct S<T> {
                    a: T,
                }
            ),
            "no parameters",
        ),
        (parse_quote!(union S { a: bool }), "does not support derive for unions"),
        (
            parse_quote!(
                #[serde(transparent)]
                struct S {
                    a: bool,
                }
            ),
            "its own JSON form",
        ),
        (
            parse_quote!(
                #[serde(from = "T")]
                struct S {
                    a: bool,
                }
            ),
            "its own JSON form",
        ),
        (
            parse_quote!(
                enum S {
                    A { a: bool },
                }
            ),
            "needs #[serde(tag",
        ),
        (
            parse_quote!(
                #[serde(tag = "t")]
                enum S {
                    A(T),
                }
            ),
            "names its fields",
        ),
        (
            parse_quote!(
                #[serde(tag = "t", content = "c")]
                enum S {
                    A,
                }
            ),
            "beside its fields",
        ),
        (
            parse_quote!(
                #[serde(untagged)]
                enum S {
                    A,
                }
            ),
            "beside its fields",
        ),
        (
            parse_quote!(
                enum S {
                    A,
                    #[serde(other)]
                    B,
                }
            ),
            "always itself",
        ),
        (
            parse_quote!(
                enum S {
                    #[serde(alias = "b")]
                    A,
                }
            ),
            "no alias",
        ),
    ];
    for (input, expected) in table {
        assert!(refusal(&input).contains(expected), "{expected}: {}", refusal(&input));
    }
}

/// All faults of a type come back together.
#[test]
fn all_faults_come_back_together() {
    let found = refusal(&parse_quote!(
        struct S {
            a: u8,
            b: String,
            c: bool,
            d: (u8, u8),
        }
    ));
    assert_eq!(found.lines().count(), 3, "{found}");
}

/// `merge` belongs to structs and bounds to fields.
#[test]
fn attributes_stand_where_they_mean_something() {
    let table: [(DeriveInput, &str); 5] = [
        (
            parse_quote!(
                #[schema(merge = "replace")]
                struct S {
                    a: bool,
                }
            ),
            "described",
        ),
        (
            parse_quote!(
                #[schema(merge = "deep")]
                struct S {
                    a: bool,
                }
            ),
            "merge = \"replace\"",
        ),
        (
            parse_quote!(
                #[schema(max = 3)]
                struct S {
                    a: bool,
                }
            ),
            "merge = \"replace\"",
        ),
        (
            parse_quote!(
                #[schema(merge = "replace")]
                enum S {
                    A,
                }
            ),
            "only a struct",
        ),
        (
            parse_quote!(
                enum S {
                    #[schema(max = 1)]
                    A,
                }
            ),
            "fields of a variant",
        ),
    ];
    for (input, expected) in table {
        assert!(refusal(&input).contains(expected), "{expected}: {}", refusal(&input));
    }
}
