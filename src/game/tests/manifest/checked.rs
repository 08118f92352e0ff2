//! What a checked manifest answers (§3).

use crate::common::{manifest, names, smallest};
use playerthree_game::*;
use playerthree_schema::{Described, SchemaCode};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// §3: an intent is a declared kind with exactly its parameters; errors carry no value.
#[test]
fn intents_are_judged_by_kind() {
    let game = manifest().check().expect("conforms");
    let good = json!({ "kind": "move", "unit": "u_1", "x": 3.0, "y": 4 });
    assert_eq!(&*game.validate_intent(&good).expect("conforms").name, "move");
    let (admitted, intent) = game.admit_intent(good).expect("conforms");
    assert_eq!(
        (admitted["x"].as_i64(), intent.allows("air"), intent.allows("nobody")),
        (Some(3), true, false)
    );
    let bad = [
        (json!({ "unit": "u_1" }), SchemaCode::Tag, json!(["kind"])),
        (json!({ "kind": "CANARY" }), SchemaCode::Tag, json!(["kind"])),
        (json!({ "kind": "move", "unit": "u_1", "x": 100, "y": 4 }), SchemaCode::Range, json!(["x"])),
        (
            json!({ "kind": "move", "unit": "u_1", "x": 1, "y": 4, "CANARY": 1 }),
            SchemaCode::UnknownField,
            json!(["?"]),
        ),
        (
            json!({ "kind": "signal", "signal": { "kind": "help", "need": "scan", "to": "CANARY" } }),
            SchemaCode::Enum,
            json!(["signal", "to"]),
        ),
        (json!("CANARY"), SchemaCode::Type, json!([])),
    ];
    for (intent, code, path) in bad {
        let refused = game.validate_intent(&intent).expect_err("bad");
        assert_eq!((refused.code, refused.path_json()), (code, path));
    }
    let signal = json!({ "kind": "signal", "signal": { "kind": "help", "need": "scan", "to": "team" } });
    assert!(game.validate_intent(&signal).is_ok());
    assert_eq!(
        game.intents_of("air").map(|intent| &*intent.name).collect::<Vec<_>>(),
        ["move", "signal", "signal_update"]
    );
}

/// §3 "Observation scope": defaults united with the request, in section order; unknown or repeated sections are refused.
#[test]
fn a_detail_is_resolved_in_section_order() {
    let game = manifest().check().expect("conforms");
    let detail = |role, names: Vec<Name>| game.detail(role, &Detail::Sections(names));
    assert_eq!(detail("ground", vec![]), Ok(names(["economy"])));
    assert_eq!(detail("ground", names(["enemies", "map"])), Ok(names(["map", "economy", "enemies"])));
    assert_eq!(detail("air", names(["economy"])), Ok(names(["economy"])));
    assert_eq!(game.detail("air", &Detail::All), Ok(names(["map", "economy", "enemies"])));
    let refused = detail("air", names(["map", "CANARY"])).expect_err("unknown");
    assert_eq!((refused.code, refused.path_json()), (SchemaCode::Enum, json!(["detail", 1])));
    assert!(detail("air", names(["map", "map"])).is_err());
    let plain = smallest().check().expect("conforms");
    assert_eq!(plain.detail("player", &Detail::default()), Ok(vec![]));
    assert!(plain.detail("player", &Detail::All).is_err());
}

/// What a player of the next test can do.
#[derive(Serialize, Deserialize, Described)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Order {
    /// Goes there.
    MoveTo {
        /// Column.
        #[schema(min = 0, max = 9)]
        x: u8,
    },
    Stop,
}

#[derive(Serialize, Deserialize, Described)]
#[serde(tag = "type")]
enum OtherTag {
    A,
}

/// §3: a Rust enum is its game's intents: names, parameters and documents from one definition.
#[test]
fn an_enum_gives_the_intents() {
    let roles = names(["ground", "air"]);
    let kind = |name: &str, params: Fields, doc: &str| IntentKind {
        name: name.into(),
        roles: roles.clone(),
        params,
        doc: doc.into(),
    };
    let x: Fields = vec![("x".into(), t::int(0, 9).doc("Column."))];
    let expected = [kind("move_to", x, "Goes there."), kind("stop", vec![], "")];
    assert_eq!(IntentKind::all_of::<Order>(&roles), expected);
    assert_eq!(IntentKind::all_of::<OtherTag>(&roles), []);
    let mut game = manifest();
    game.intents.extend(IntentKind::all_of::<Order>(&roles));
    let found = game.faults();
    assert!(found.len() == 1 && found[0].path == "intents.stop.doc", "{found:#?}");
}
