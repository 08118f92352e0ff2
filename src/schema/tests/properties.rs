//! What holds for every schema and every value (§3, §4), shown on random ones.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use common::{any_json, mutants, schema, schema_and_value, value};
use playerthree_schema::{Ordered, Schema, canonical, merge, strict_json};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// §3: a conforming value is accepted, and still is after a trip through JSON text and canonical JSON.
    #[test]
    fn conforming_values_are_accepted_and_survive_json((schema, value) in schema_and_value()) {
        prop_assert_eq!(schema.validate(&value), Ok(()));
        let text = value.to_string();
        prop_assert_eq!(&strict_json(&text).expect("valid JSON"), &value);
        let canonical = strict_json(&canonical(&value)).expect("valid JSON");
        prop_assert_eq!(schema.validate(&canonical), Ok(()));
        let admitted = schema.admit(canonical).expect("conforms");
        prop_assert_eq!(schema.validate(&admitted), Ok(()));
    }

    /// §3, §4: any single mutation out of bounds is refused with its code and path, and the error shows no value.
    #[test]
    fn every_single_mutation_is_refused_with_its_code_and_path((schema, value) in schema_and_value()) {
        for mutant in mutants(&schema, &value) {
            let refused = schema.validate(&mutant.value).expect_err("a mutant");
            prop_assert_eq!(refused.code, mutant.code, "{} in {}", mutant.value, schema.to_json());
            prop_assert_eq!(&refused.path, &mutant.path);
            prop_assert!(!refused.to_string().contains("z-"));
            prop_assert!(!refused.path_json().to_string().contains("z-"));
        }
    }

    /// §3: the exported JSON Schema, judged by an independent validator, accepts exactly what we accept.
    #[test]
    fn the_exported_json_schema_agrees((schema, value) in schema_and_value(), noise in any_json()) {
        let peer = jsonschema::draft202012::options().build(&schema.json_schema()).expect("a JSON Schema");
        let mutants = mutants(&schema, &value).into_iter().map(|mutant| mutant.value);
        for candidate in mutants.chain([value, noise]) {
            let ours = schema.validate(&candidate).is_ok();
            prop_assert_eq!(ours, peer.is_valid(&candidate), "{} in {}", candidate, schema.to_json());
        }
    }

    /// §3: the byte budget covers the plain and the canonical text of every conforming value.
    #[test]
    fn the_byte_budget_covers_every_value((schema, value) in schema_and_value()) {
        let budget = schema.max_json_bytes();
        prop_assert!(value.to_string().len() as u64 <= budget);
        prop_assert!(canonical(&value).len() as u64 <= budget);
    }

    /// §3: the wire form is read back to the same schema, which passes its check.
    #[test]
    fn the_wire_form_is_read_back(schema in schema()) {
        prop_assert_eq!(schema.check(), Ok(()));
        let text = serde_json::to_string(&schema.to_ordered()).expect("JSON");
        let wire = Ordered::parse(&text).expect("JSON");
        prop_assert_eq!(Schema::from_ordered(&wire), Ok(schema));
    }

    /// §3: layering two conforming values gives a conforming one.
    #[test]
    fn merged_layers_conform((schema, base, layer) in schema().prop_flat_map(|schema| {
        let values = (value(&schema), value(&schema));
        (Just(schema), values.0, values.1)
    })) {
        prop_assert_eq!(schema.validate(&merge(&schema, &base, &layer)), Ok(()));
        prop_assert_eq!(merge(&schema, &base, &base), base);
    }

    /// §3 directives: a default conforms wherever there is one.
    #[test]
    fn a_default_conforms(schema in schema()) {
        if let Some(value) = schema.default_value() {
            prop_assert_eq!(schema.validate(&value), Ok(()));
        }
    }

    /// §4: any JSON is judged without a panic, and only with declared names in the path.
    #[test]
    fn any_json_is_judged(schema in schema(), value in any_json()) {
        let _ = schema.validate(&value);
    }
}
