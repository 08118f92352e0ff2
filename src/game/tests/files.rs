//! Manifest files and the lint on them (§3, §17).

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use common::{manifest, push, smallest};
use playerthree_game::*;
use serde_json::{Value, json};

fn text(manifest: &Manifest) -> String {
    serde_json::to_string(&manifest.to_ordered()).expect("JSON")
}

/// §3: a manifest is plain JSON; written and read back it is the same, order included.
#[test]
fn a_manifest_survives_its_file() {
    for game in [manifest(), smallest()] {
        assert_eq!(Manifest::from_text(&text(&game)), Ok(game.clone()));
        assert_eq!(Manifest::from_json(&game.to_json()).map(|read| read.to_json()), Ok(game.to_json()));
    }
}

/// §3: the wire names, member for member.
#[test]
fn the_wire_names_are_the_contracts() {
    let wire = manifest().to_json();
    let members: Vec<&str> = wire.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        members,
        [
            "control",
            "directive",
            "doc",
            "errors",
            "event",
            "id",
            "intents",
            "limits",
            "lobby",
            "matchData",
            "matchOptions",
            "observation",
            "observationScope",
            "observer",
            "opponents",
            "report",
            "roleDocs",
            "roles",
            "signals",
            "skills",
            "teams",
            "tickRate",
            "title",
            "topics",
            "version",
            "view",
        ]
    );
    assert_eq!(wire["teams"], json!({ "t": "enum", "values": ["red", "blue"] }));
    assert_eq!(
        wire["topics"]["economy"],
        json!({ "summary": "What things cost.", "text": "A tank costs 40." })
    );
    assert_eq!(wire["intents"]["build"]["roles"], json!(["ground"]));
    assert_eq!(wire["intents"]["build"]["params"]["queue"], json!({ "t": "opt", "item": { "t": "bool" } }));
    assert_eq!(
        wire["observationScope"]["sections"],
        json!({ "t": "enum", "values": ["map", "economy", "enemies"] })
    );
    assert_eq!(wire["observationScope"]["defaults"], json!({ "ground": ["economy"], "air": [] }));
    assert_eq!(
        wire["control"],
        json!({
            "intents": { "perSecond": 2.5, "burst": 100 },
            "sequence": { "maxSteps": 20, "maxTicksAhead": 600, "minSpacingTicks": 1 },
            "policy": {
                "runtimes": ["js", "wasm"], "hz": 5, "msPerCall": 20, "memoryBytes": 33_554_432, "maxArtifactBytes": 200_000,
                "maxIntentsPerCall": 40, "maxLogLines": 10, "maxLogLineBytes": 200,
            },
            "stream": { "maxHz": 10, "intentsPerTick": 20 },
            "practice": { "maxTicks": 6000, "concurrent": 2 },
            "pool": { "maxPublishedPerPrincipal": 8 },
            "chat": {
                "maxTellChars": 500, "maxSayChars": 280,
                "ping": { "t": "obj", "fields": { "x": { "t": "int", "min": 0, "max": 99 }, "y": { "t": "int", "min": 0, "max": 99 } } },
            },
            "pausable": { "maxPauseSeconds": 3600 },
            "signals": { "perSecond": 0.5, "burst": 4, "maxOpen": 3, "ttlTicks": 200, "keepTicks": 50 },
        })
    );
    assert_eq!(wire["signals"]["cards"]["air"][0], json!({ "kind": "help", "where": { "need": ["scan"] } }));
    assert_eq!(wire["signals"]["cards"]["ground"], json!([{ "kind": "help" }]));
}

type Change = fn(&mut Value);

/// Applies one change to the wire form and gives the faults of reading it.
fn read(change: impl Fn(&mut Value)) -> Vec<Fault> {
    let mut wire = manifest().to_json();
    change(&mut wire);
    Manifest::from_json(&wire).err().unwrap_or_default()
}

/// §3: unknown members and modes, missing members and wrong types are refused, without repeating them.
#[test]
fn shapes_that_are_no_manifest_are_refused() {
    let table: [(Change, &str, &str); 16] = [
        (|w| w["CANARY"] = json!(1), "manifest.?", "unknown"),
        (|w| w["control"]["CANARY"] = json!({}), "control.?", "unknown"),
        (|w| w["control"]["policy"]["CANARY"] = json!(1), "control.policy.?", "unknown"),
        (|w| w["control"]["pausable"]["CANARY"] = json!(1), "control.pausable.?", "unknown"),
        (|w| w["id"] = json!(7), "id", "a text is missing"),
        (|w| w["tickRate"] = json!(1.5), "tickRate", "not a nonnegative 32-bit integer"),
        (|w| w["tickRate"] = json!("CANARY"), "tickRate", "a number is missing"),
        (|w| w["teams"] = json!(["red"]), "teams", "a schema node is an object"),
        (|w| w["intents"]["move"]["roles"] = json!("CANARY"), "intents.move.roles", "a list is missing"),
        (|w| w["intents"]["move"]["extra"] = json!("CANARY"), "intents.move.?", "unknown"),
        (|w| w["intents"]["CANARY-1"] = json!(3), "intents[0]", "an object is missing"),
        (|w| w["observation"]["t"] = json!("any"), "observation", "the node type is unknown"),
        (|w| w["skills"][0]["files"]["SKILL.md"] = json!(3), "skills[0].files.SKILL.md", "a text is missing"),
        (|w| w["control"]["policy"]["runtimes"] = json!(["CANARY"]), "control.policy.runtimes[0]", "unknown"),
        (|w| w["signals"]["cards"]["air"] = json!({}), "signals.cards.air", "a list is missing"),
        (|w| drop(w.as_object_mut().unwrap().remove("event")), "event", "a schema is missing"),
    ];
    for (change, path, what) in table {
        let found = read(change);
        assert!(
            found.iter().any(|fault| fault.path == path && fault.what.contains(what)),
            "expected {path} {what}, found {found:#?}"
        );
        assert!(found.iter().all(|fault| !fault.to_string().contains("CANARY")), "{found:#?}");
    }
    let nothing = Manifest::from_json(&json!([])).expect_err("no object");
    assert!(nothing.iter().any(|fault| fault.path == "manifest"));
    assert!(Manifest::from_text("{\"id\":1,\"id\":2}").is_err());
    assert!(Manifest::from_text(&" ".repeat(16 * 1_048_576 + 1)).is_err());
}

/// §3: faults of shape and of sense come back together, but none that only follows from what could not be read.
#[test]
fn what_could_be_read_is_judged_too() {
    let paths = |change: fn(&mut Value)| -> Vec<String> {
        let mut paths: Vec<String> = read(change).into_iter().map(|fault| fault.path).collect();
        paths.dedup();
        paths
    };
    let faults = paths(|w| {
        w["title"] = json!(7);
        w["id"] = json!("CANARY X");
        w["control"]["CANARY"] = json!({});
        w["control"]["intents"]["burst"] = json!(0);
        w["topics"]["economy"]["text"] = json!("");
    });
    assert_eq!(faults, ["title", "control.?", "id", "topics.economy.text", "control.intents.burst"]);
    assert_eq!(paths(|w| w["roles"] = json!(["ground"])), ["roles"]);
    assert_eq!(paths(|w| w["tickRate"] = json!("fast")), ["tickRate"]);
    assert_eq!(paths(|w| w["id"] = json!(null)), ["id"]);
    let limits = paths(|w| w["control"]["signals"] = json!(3));
    assert!(limits.iter().all(|path| path.starts_with("control.signals")), "{limits:?}");
    assert_eq!(paths(|w| w["signals"]["kinds"] = json!(3)), ["signals.kinds"]);
}

/// §17: the lint reports faults, advice and sizes, in words and as JSON, and never repeats what breaks a grammar.
#[test]
fn the_lint_reports_faults_advice_and_sizes() {
    let clean = lint(&manifest());
    assert!(clean.is_clean());
    assert_eq!(clean.to_json()["ok"], json!(true));
    assert_eq!(clean.to_json()["game"], json!("outpost"));
    assert!(clean.to_json()["maxBytes"]["observation"].as_u64() > Some(1000));
    let mut broken = smallest();
    broken.id = "CANARY X".into();
    push(&mut broken.observation, "big", t::list(t::str(1000), 1000));
    let report = lint(&broken);
    assert!(
        !report.is_clean()
            && !report.to_string().contains("CANARY")
            && !report.to_json().to_string().contains("CANARY")
    );
    let advice: Vec<&str> = report.warnings.iter().map(|warning| &*warning.path).collect();
    assert_eq!(advice, ["observation", "roleDocs", "skills", "observation", "directive"]);
    assert!(report.to_string().contains("fault    id: "));
    let unreadable = LintReport::unreadable(Manifest::from_text("{}").expect_err("no manifest"));
    assert!(!unreadable.is_clean() && unreadable.faults.len() > 10);
}
