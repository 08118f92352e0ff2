//! The recipe as it is served: the intent schema of an event, as the contract words it, and its install-time parameters.

use serde_json::{Value, json};

use crate::verify::PROTOCOL;

/// The catalog entry of a recipe; `None` for one that this server does not know.
#[must_use]
pub fn recipe(reference: &str) -> Option<Value> {
    (reference == PROTOCOL).then(|| {
        json!({
            "ref": PROTOCOL,
            "title": "Tic-tac-toe over pipes",
            "intentSchema": intent_schema(),
            "parameters": {
                "rows": {"type": "integer", "minimum": 1, "default": 3},
                "cols": {"type": "integer", "minimum": 1, "default": 3},
                "winLength": {"type": "integer", "minimum": 1, "default": 3},
            },
        })
    })
}

/// The intent schema of the contract.
#[must_use]
pub fn intent_schema() -> Value {
    #[expect(clippy::expect_used, reason = "the file is part of the program and a test parses it")]
    serde_json::from_str(include_str!("recipe/intent-schema.json")).expect("the intent schema is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intent_schema_is_served_whole() {
        let schema = recipe(PROTOCOL).unwrap()["intentSchema"].clone();
        assert_eq!(schema["required"], json!(["game", "seq", "prevHash", "player", "action"]));
        assert_eq!(schema["properties"].as_object().unwrap().len(), 10);
        assert_eq!(recipe("flurryport:chess"), None);
    }
}
