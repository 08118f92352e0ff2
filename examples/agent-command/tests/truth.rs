//! What the briefing says is what the game does: its numbers are those of the match data, its examples are intents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{MANIFEST, setup, start};
use playerthree_game::Seat;
use serde_json::Value;

fn topic(name: &str) -> &'static str {
    &MANIFEST.topics.iter().find(|topic| &*topic.name == name).unwrap().text
}

/// §3: prices, times, weapons and sights of the texts are the game's own.
#[test]
fn the_texts_numbers_are_the_games() {
    let game = start(&setup(1, &["red", "blue"], None));
    let data = game.match_data(&Seat::new("red", "economy")).unwrap();
    for kind in data["kinds"].as_array().unwrap() {
        let of = |name: &str| kind[name].as_i64().unwrap();
        let name = kind["kind"].as_str().unwrap();
        let (hp, alloy, energy, ticks) = (of("hp"), of("alloy"), of("energy"), of("ticks"));
        let weapon = match of("damage") {
            0 => "none".to_owned(),
            damage => format!("{damage}/{}/{}", of("range"), of("cooldown")),
        };
        let stands = of("speed") == 0;
        let rules = match stands {
            true => format!("{name} {hp}, {alloy}/{energy}, {ticks}: "),
            false => format!("{name} {hp}, {alloy}/{energy}, {}, {weapon}", of("speed")),
        };
        assert!(MANIFEST.doc.contains(&rules), "{rules}");
        assert!(!stands || weapon == "none" || MANIFEST.doc.contains(&weapon), "{weapon}");
        let price = format!("{name} {alloy}/{energy} {ticks}");
        assert!(topic("economy").contains(&price), "{price}");
        let sight = format!("{name} {}", of("sight"));
        assert!(topic("map").contains(&sight), "{sight}");
    }
}

/// The objects between braces in a text, with a list of ids where the text leaves one out.
fn examples(text: &str) -> Vec<Value> {
    let mut examples = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find("{\"kind\"") {
        let text = rest[begin..].replace("[...]", "[\"e_1\"]");
        examples
            .push(serde_json::Deserializer::from_str(&text).into_iter::<Value>().next().unwrap().unwrap());
        rest = &rest[begin + 1..];
    }
    examples
}

/// §3: the intents that the core rules spell out are intents of the manifest, one of every kind.
#[test]
fn the_rules_examples_are_intents() {
    let examples = examples(&MANIFEST.doc);
    for intent in &MANIFEST.intents {
        let kind = &*intent.name;
        let example = examples.iter().find(|example| example["kind"] == kind).unwrap();
        MANIFEST.validate_intent(example).unwrap();
    }
}

/// §3: every code and every kind of event is explained somewhere.
#[test]
fn every_code_is_explained() {
    for code in &MANIFEST.errors {
        assert!(topic("refusals").contains(&format!("`{code}`")), "{code}");
    }
}
