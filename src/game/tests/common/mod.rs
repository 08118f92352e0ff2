//! A made-up game that declares everything a manifest can hold.

use playerthree_game::*;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn names<const N: usize>(names: [&str; N]) -> Vec<Arc<str>> {
    names.map(Arc::from).to_vec()
}

pub(crate) fn texts<const N: usize>(entries: [(&str, &str); N]) -> BTreeMap<Arc<str>, Arc<str>> {
    entries.into_iter().map(|(name, text)| (name.into(), text.into())).collect()
}

fn params<const N: usize>(fields: [(&str, Schema); N]) -> Fields {
    fields.into_iter().map(|(name, schema)| (name.into(), schema)).collect()
}

pub(crate) fn vocabulary() -> Signals {
    let help = SignalKind {
        name: "help".into(),
        roles: names(["ground", "air"]),
        params: params([("need", t::literals(["scan", "fire"])), ("x", t::opt(t::int(0, 99)))]),
        doc: "Asks for help at a place.".into(),
    };
    let carry = SignalKind {
        name: "carry".into(),
        roles: names(["ground"]),
        params: params([("unit", t::id("u"))]),
        doc: "Asks for a lift.".into(),
    };
    let skill = |kind: &str| SignalSkill { kind: kind.into(), only: BTreeMap::new() };
    let scans = SignalSkill { kind: "help".into(), only: [("need".into(), names(["scan"]))].into() };
    Signals {
        kinds: vec![help, carry],
        cards: [("ground".into(), vec![skill("help")]), ("air".into(), vec![scans, skill("carry")])].into(),
    }
}

pub(crate) fn control() -> Control {
    Control {
        intents: IntentLimits { per_second: 2.5, burst: 100 },
        sequence: Some(SequenceLimits { max_steps: 20, max_ticks_ahead: 600, min_spacing_ticks: 1 }),
        policy: Some(PolicyLimits {
            runtimes: vec![Runtime::Js, Runtime::Wasm],
            hz: 5.0,
            ms_per_call: 20,
            memory_bytes: 33_554_432,
            max_artifact_bytes: 200_000,
            max_intents_per_call: 40,
            max_log_lines: 10,
            max_log_line_bytes: 200,
        }),
        stream: Some(StreamLimits { max_hz: 10.0, intents_per_tick: 20 }),
        practice: Some(PracticeLimits { max_ticks: 6000, concurrent: 2 }),
        pool: Some(PoolLimits { max_published_per_principal: 8 }),
        chat: Some(ChatLimits {
            max_tell_chars: 500,
            max_say_chars: 280,
            ping: Some(t::obj([("x", t::int(0, 99)), ("y", t::int(0, 99))])),
        }),
        pausable: Some(PauseLimits { max_pause_seconds: Some(3600) }),
        signals: Some(SignalLimits {
            per_second: 0.5,
            burst: 4,
            max_open: 3,
            ttl_ticks: 200,
            keep_ticks: 50,
        }),
    }
}

fn event() -> Schema {
    t::obj([
        ("tick", t::int(0, 1_000_000)),
        ("kind", t::literals(["contact", "lost"]).doc("What happened.")),
        ("unit", t::opt(t::id("u").doc("The unit concerned."))),
    ])
}

fn limits() -> Schema {
    t::obj([("maxSpend", t::opt(t::int(0, 1000).doc("Most resources a minute.")))])
}

/// The game before the generated signal members are composed in.
fn plain() -> Manifest {
    let strategy = "---\nname: outpost-strategy\ndescription: How to hold an outpost.\n---\n# Strategy\n\nHold the ridge.\n";
    Manifest {
        id: "outpost".into(),
        version: "1.2".into(),
        title: "Outpost".into(),
        doc: "Hold the outpost longer than the others. Units move one square a tick.".into(),
        tick_rate: 10,
        teams: names(["red", "blue"]),
        roles: names(["ground", "air"]),
        role_docs: texts([
            ("ground", "You lead the ground units.\nREAD BEFORE PLAYING: economy, map/terrain."),
            ("air", "You lead the air units.\nREAD BEFORE PLAYING: map/terrain."),
        ]),
        topics: vec![
            Topic {
                name: "economy".into(),
                summary: "What things cost.".into(),
                text: "A tank costs 40.".into(),
            },
            Topic {
                name: "map/terrain".into(),
                summary: "Where units can go.".into(),
                text: "Not into water.".into(),
            },
        ],
        intents: vec![
            IntentKind {
                name: "move".into(),
                roles: names(["ground", "air"]),
                params: params([
                    ("unit", t::id("u")),
                    ("x", t::int(0, 99).doc("Column.")),
                    ("y", t::int(0, 99).doc("Row.")),
                ]),
                doc: "Sends a unit to a square. Refused with blocked when the square is water.".into(),
            },
            IntentKind {
                name: "build".into(),
                roles: names(["ground"]),
                params: params([("what", t::literals(["tank", "tower"])), ("queue", t::opt(t::bool()))]),
                doc: "Builds at the outpost.".into(),
            },
        ],
        observation: t::obj([
            ("tick", t::int(0, 1_000_000)),
            (
                "units",
                t::list(t::obj([("id", t::id("u")), ("hp", t::int(0, 100).doc("Hit points."))]), 50)
                    .doc("Your units."),
            ),
            ("events", t::list(event(), 20).doc("Newest last.")),
        ]),
        view: t::obj([("tick", t::int(0, 1_000_000)), ("terrain", t::opt(t::ints(10_000, 0, 3)))]),
        observation_scope: Some(ObservationScope {
            sections: names(["map", "economy", "enemies"]),
            defaults: [("ground".into(), names(["economy"])), ("air".into(), vec![])].into(),
        }),
        match_data: Some(t::obj([
            ("width", t::int(1, 100).doc("Columns.")),
            ("terrain", t::ints(10_000, 0, 3).doc("Row by row: 0 plain, 1 water, 2 rock, 3 ore.")),
            ("starts", t::list(t::obj([("team", t::literals(["red", "blue"])), ("x", t::int(0, 99))]), 4)),
        ])),
        lobby: Some(t::obj([("map", t::literals(["ridge", "delta"]))])),
        observer: Some(t::obj([("tick", t::int(0, 1_000_000))])),
        directive: t::obj([
            ("goal", t::literals(["hold", "raid"]).doc("What to aim for.")),
            ("note", t::str(80)),
        ]),
        limits: Some(limits()),
        errors: names(["blocked", "too_expensive"]),
        event: event(),
        opponents: names(["easy", "hard"]),
        report: t::obj([("held", t::int(0, 1_000_000).doc("Ticks the outpost was held."))]),
        match_options: Some(t::obj([("map", t::opt(t::literals(["ridge", "delta"])))])),
        skills: vec![Skill {
            name: "outpost-strategy".into(),
            description: "How to hold an outpost.".into(),
            files: texts([("SKILL.md", strategy), ("lib/aim.js", "function aim() {}\n")]),
        }],
        control: control(),
        signals: Some(vocabulary()),
    }
}

/// The complete, conforming game.
pub(crate) fn manifest() -> Manifest {
    let mut manifest = plain();
    let limits = manifest.control.signals.expect("declared above");
    let members = signal_members(&manifest.roles, &vocabulary(), &limits);
    manifest.intents.extend(members.intents);
    push(&mut manifest.observation, "signals", members.observation);
    push(&mut manifest.view, "signals", members.view);
    manifest
}

/// The smallest conforming game: one side, one role, one intent, nothing optional.
pub(crate) fn smallest() -> Manifest {
    let mut manifest = plain();
    manifest.teams = names(["solo"]);
    manifest.roles = names(["player"]);
    manifest.role_docs = texts([("player", "Play.")]);
    manifest.topics = Vec::new();
    manifest.intents.truncate(1);
    manifest.intents[0].roles = names(["player"]);
    manifest.observation_scope = None;
    manifest.match_data = None;
    manifest.lobby = None;
    manifest.observer = None;
    manifest.limits = None;
    manifest.match_options = None;
    manifest.skills = Vec::new();
    manifest.signals = None;
    manifest.control = Control {
        sequence: None,
        policy: None,
        stream: None,
        practice: None,
        pool: None,
        chat: None,
        pausable: None,
        signals: None,
        ..control()
    };
    manifest
}

/// Adds a field to an object schema.
pub(crate) fn push(schema: &mut Schema, name: &str, field: Schema) {
    let playerthree_schema::Kind::Obj { fields, .. } = &mut schema.kind else { panic!("an object") };
    fields.push((name.into(), field));
}
