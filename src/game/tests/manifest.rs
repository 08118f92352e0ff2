//! Every rule of a manifest broken once, with the exact path (§3, §22.1).

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use common::{manifest, names, push, smallest, texts};
use playerthree_game::*;
use playerthree_schema::{Kind, SchemaCode};
use serde_json::json;

type Break = fn(&mut Manifest);

/// Breaks the complete game in one way and expects exactly these faults, `path` and a part of `what`.
fn check(breaks: Break, expected: &[(&str, &str)]) {
    let mut broken = manifest();
    breaks(&mut broken);
    let found = broken.faults();
    let matches = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(fault, (path, what))| fault.path == *path && fault.what.contains(what));
    assert!(matches, "expected {expected:?}, found {found:#?}");
    assert!(
        found.iter().all(|fault| !fault.fix.is_empty() && !fault.to_string().contains("CANARY")),
        "{found:#?}"
    );
    assert_eq!(broken.check().map(|_| ()), Err(found));
}

/// §3: a game with every mode and a game with none pass.
#[test]
fn conforming_manifests_pass() {
    assert_eq!(manifest().faults(), vec![]);
    assert_eq!(smallest().faults(), vec![]);
    let checked = manifest().check().expect("conforms");
    assert_eq!(*checked, manifest());
}

/// §3: id, version, title, tick rate and the closed names.
#[test]
fn names_and_lengths_are_checked() {
    check(|m| m.id = "CANARY".into(), &[("id", "the id breaks its grammar")]);
    check(|m| m.id = "1a".into(), &[("id", "grammar")]);
    check(|m| m.id = "a-".into(), &[("id", "grammar")]);
    check(|m| m.id = "a--b".into(), &[("id", "grammar")]);
    check(|m| m.id = "a".repeat(49).into(), &[("id", "grammar")]);
    check(|m| m.version = "".into(), &[("version", "1 to 64")]);
    check(|m| m.version = "v".repeat(65).into(), &[("version", "1 to 64")]);
    check(|m| m.title = "".into(), &[("title", "1 to 200")]);
    check(|m| m.title = "😀".repeat(101).into(), &[("title", "1 to 200")]);
    check(
        |m| m.tick_rate = 0,
        &[
            ("tickRate", "outside 1 to 1000"),
            ("control.policy.hz", "out of range"),
            ("control.stream.maxHz", "out of range"),
        ],
    );
    check(|m| m.tick_rate = 1001, &[("tickRate", "outside 1 to 1000")]);
    check(|m| m.teams.clear(), &[("teams", "no values")]);
    check(|m| m.teams.push("red".into()), &[("teams", "repeated")]);
    check(|m| m.teams.push("CANARY-x".into()), &[("teams", "grammar")]);
    check(|m| m.errors.clear(), &[("errors", "no values")]);
    check(|m| m.opponents = vec![], &[("opponents", "no values")]);
    let mut longest = manifest();
    longest.id = "a".repeat(48).into();
    longest.title = "😀".repeat(100).into();
    longest.version = "v".repeat(64).into();
    longest.tick_rate = 1000;
    assert_eq!(longest.faults(), vec![]);
}

/// §3: documents, role documents, topics and their index.
#[test]
fn documents_and_topics_are_checked() {
    fn topic(name: &str, summary: &str, text: &str) -> Topic {
        Topic { name: name.into(), summary: summary.into(), text: text.into() }
    }
    check(|m| m.doc = "".into(), &[("doc", "1 to 6000")]);
    check(|m| m.doc = "d".repeat(6001).into(), &[("doc", "1 to 6000")]);
    check(|m| drop(m.role_docs.remove("air")), &[("roleDocs.air", "no document")]);
    check(|m| drop(m.role_docs.insert("air".into(), "".into())), &[("roleDocs.air", "1 to 3500")]);
    check(
        |m| drop(m.role_docs.insert("air".into(), "d".repeat(3501).into())),
        &[("roleDocs.air", "1 to 3500")],
    );
    check(|m| drop(m.role_docs.insert("CANARY".into(), "d".into())), &[("roleDocs", "undeclared role")]);
    check(|m| m.topics.push(topic("economy", "s", "t")), &[("topics", "repeated")]);
    for name in ["CANARY", "a//b", "/a", "a/", "1a", "a_b", "", "a.b"] {
        let mut broken = manifest();
        broken.topics.push(topic(name, "s", "t"));
        let found = broken.faults();
        assert!(
            found.len() == 1 && found[0].path == "topics[2]" && found[0].what.contains("grammar"),
            "{found:?}"
        );
    }
    check(|m| m.topics.push(topic(&"a".repeat(65), "s", "t")), &[("topics[2]", "grammar")]);
    for root in [
        "role",
        "intents",
        "intent",
        "observation",
        "match-data",
        "events",
        "report",
        "mandate",
        "modes",
        "schema",
        "signals",
        "role/x",
        "schema/a/b",
    ] {
        let mut broken = manifest();
        broken.topics.push(topic(root, "s", "t"));
        let found = broken.faults();
        assert!(found.len() == 1 && found[0].what.contains("root of a generated topic"), "{root} {found:?}");
    }
    check(|m| m.topics[0].summary = "".into(), &[("topics.economy.summary", "one line")]);
    check(|m| m.topics[0].summary = "a\nb".into(), &[("topics.economy.summary", "one line")]);
    check(|m| m.topics[0].summary = "s".repeat(161).into(), &[("topics.economy.summary", "one line")]);
    check(|m| m.topics[0].text = "".into(), &[("topics.economy.text", "1 to 8000")]);
    check(|m| m.topics[1].text = "t".repeat(8001).into(), &[("topics.map/terrain.text", "1 to 8000")]);
    let mut edge = manifest();
    edge.topics = vec![topic("roles", "s", &"t".repeat(8000)), topic(&"a".repeat(64), &"s".repeat(160), "t")];
    assert_eq!(edge.faults(), vec![]);
}

/// §3: the index of `name — summary` lines, joined by line feeds, holds at most 5000 units.
#[test]
fn the_index_is_bounded() {
    let sized = |last: usize| {
        let mut manifest = manifest();
        // 24 lines of 200 units and 24 line feeds, then the last line: 4 + 3 + `last`.
        let summary = "s".repeat(160);
        let line = |index: usize| Topic {
            name: format!("t{index:03}{}", "n".repeat(33)).into(),
            summary: summary.as_str().into(),
            text: "t".into(),
        };
        manifest.topics = (0..24).map(line).collect();
        manifest.topics.push(Topic {
            name: "last".into(),
            summary: "s".repeat(last).into(),
            text: "t".into(),
        });
        manifest.faults()
    };
    assert_eq!(sized(5000 - 24 * 201 - 7 - 16).len(), 0);
    assert_eq!(sized(160).len(), 0);
    let mut over = manifest();
    over.topics = (0..31)
        .map(|index| Topic {
            name: format!("t{index:02}").into(),
            summary: "s".repeat(160).into(),
            text: "t".into(),
        })
        .collect();
    let found = over.faults();
    assert!(
        found.len() == 1 && found[0].path == "topics" && found[0].what.contains("longer than 5000"),
        "{found:?}"
    );
    over.topics.truncate(29);
    assert_eq!(over.faults(), vec![]);
}

/// §3: intents, their roles, parameters and documents; `kind` is reserved.
#[test]
fn intents_are_checked() {
    fn intent(name: &str) -> IntentKind {
        IntentKind { name: name.into(), roles: names(["air"]), params: vec![], doc: "d".into() }
    }
    check(|m| m.intents.push(intent("move")), &[("intents", "repeated")]);
    check(|m| m.intents.push(intent("CANARY-1")), &[("intents[4]", "grammar")]);
    check(|m| m.intents[0].roles.clear(), &[("intents.move.roles", "no role")]);
    check(|m| m.intents[0].roles = names(["CANARY"]), &[("intents.move.roles", "undeclared role")]);
    check(|m| m.intents[0].roles = names(["air", "air"]), &[("intents.move.roles", "repeated")]);
    check(|m| m.intents[0].doc = "".into(), &[("intents.move.doc", "1 to 4000")]);
    check(|m| m.intents[0].doc = "d".repeat(4001).into(), &[("intents.move.doc", "1 to 4000")]);
    check(
        |m| m.intents[0].params.push(("kind".into(), t::bool())),
        &[("intents.move.params", "reserved name kind")],
    );
    check(|m| m.intents[0].params.push(("x".into(), t::bool())), &[("intents.move.params", "repeated")]);
    check(|m| m.intents[0].params[1].1 = t::int(1, 0), &[("intents.move.params.x", "min is above max")]);
    let mut none = smallest();
    none.intents.clear();
    assert_eq!(none.faults()[0].path, "intents");
}

/// §3, §4: the schemas of a manifest and what each must be.
#[test]
fn schemas_are_checked() {
    check(|m| push(&mut m.observation, "phase", t::bool()), &[("observation", "top-level phase")]);
    check(|m| push(&mut m.observation, "x", t::int(1, 0)), &[("observation.x", "min is above max")]);
    check(|m| push(&mut m.view, "x", t::str(100_001)), &[("view.x", "maxLength")]);
    check(|m| m.match_data = Some(t::bool()), &[("matchData", "not an object")]);
    check(|m| m.lobby = Some(t::list(t::bool(), 1)), &[("lobby", "not an object")]);
    check(|m| m.observer = Some(t::opt(t::bool())), &[("observer", "outside a field map")]);
    check(|m| m.directive = t::bool(), &[("directive", "not an object")]);
    check(|m| m.limits = Some(t::obj([("a", t::bool())])), &[("limits", "a field is required")]);
    check(|m| m.match_options = Some(t::obj([("a", t::bool())])), &[("matchOptions", "a field is required")]);
    check(|m| m.match_options = Some(t::bool()), &[("matchOptions", "not an object")]);
    check(|m| m.report = t::id("X"), &[("report", "id prefix")]);
    check(|m| m.event = t::bool(), &[("event", "not an object")]);
    check(
        |m| m.event = t::obj([("kind", t::literals(["a"]))]),
        &[("event.tick", "no required integer tick")],
    );
    check(
        |m| m.event = t::obj([("tick", t::int(0, 1)), ("kind", t::str(9))]),
        &[("event.kind", "no required enum kind")],
    );
    check(
        |m| m.event = t::obj([("tick", t::opt(t::int(0, 1))), ("kind", t::opt(t::literals(["a"])))]),
        &[("event.tick", "tick"), ("event.kind", "kind")],
    );
    let mut tagged = smallest();
    tagged.observation = t::union("kind", [("a", vec![("phase", t::bool())])]);
    assert_eq!(tagged.faults()[0].path, "observation");
    tagged.observation = t::union("phase", [("a", vec![])]);
    assert_eq!(tagged.faults()[0].path, "observation");
}

/// §3 "Observation scope": closed sections, and defaults for exactly the declared roles.
#[test]
fn the_observation_scope_is_checked() {
    fn scope(m: &mut Manifest) -> &mut ObservationScope {
        m.observation_scope.as_mut().expect("declared")
    }
    let defaults = "observationScope.defaults";
    check(|m| scope(m).sections.push("map".into()), &[("observationScope.sections", "repeated")]);
    check(|m| scope(m).sections.push("CANARY-1".into()), &[("observationScope.sections", "grammar")]);
    check(|m| drop(scope(m).defaults.remove("air")), &[(defaults, "a role has no default")]);
    check(|m| drop(scope(m).defaults.insert("CANARY".into(), vec![])), &[(defaults, "undeclared role")]);
    check(
        |m| drop(scope(m).defaults.insert("air".into(), names(["CANARY"]))),
        &[(defaults, "undeclared section")],
    );
    check(|m| drop(scope(m).defaults.insert("air".into(), names(["map", "map"]))), &[(defaults, "repeated")]);
}

/// §3: skills, their paths and the frontmatter of SKILL.md, read with YAML 1.2 typing.
#[test]
fn skills_are_checked() {
    fn skill(m: &mut Manifest) -> &mut Skill {
        &mut m.skills[0]
    }
    fn with_front(m: &mut Manifest, text: &str) {
        skill(m).files = texts([("SKILL.md", text)]);
    }
    const FRONT: &str = "skills.outpost-strategy.files.SKILL.md";
    check(|m| m.skills.push(m.skills[0].clone()), &[("skills", "repeated")]);
    check(
        |m| skill(m).name = "CANARY".into(),
        &[("skills[0]", "grammar"), ("skills[0].files.SKILL.md", "not the skill's name")],
    );
    for (name, path) in
        [("playerthree-x", "skills.playerthree-x"), ("outpost-reference", "skills.outpost-reference")]
    {
        let mut broken = manifest();
        broken.skills[0].name = name.into();
        let found = broken.faults();
        assert!(found[0].path == path && found[0].what.contains("reserved"), "{found:?}");
    }
    check(|m| skill(m).description = "".into(), &[("skills.outpost-strategy.description", "1 to 1024")]);
    check(
        |m| skill(m).description = "d".repeat(1025).into(),
        &[("skills.outpost-strategy.description", "1 to 1024")],
    );
    for path in ["/a.md", "a//b", "../x", "a/.b", "a.", "a b", "CANARY\\x", "", &"p".repeat(201)] {
        let mut broken = manifest();
        broken.skills[0].files.insert(path.into(), "x".into());
        let found = broken.faults();
        assert!(found.len() == 1 && found[0].path == "skills.outpost-strategy.files", "{path} {found:?}");
    }
    check(
        |m| drop(skill(m).files.insert("a.md".into(), "x".repeat(1_048_577).into())),
        &[("skills.outpost-strategy.files", "larger than 1048576")],
    );
    check(
        |m| drop(skill(m).files.remove("SKILL.md")),
        &[("skills.outpost-strategy.files", "SKILL.md is missing")],
    );
    check(|m| with_front(m, "# CANARY"), &[(FRONT, "not YAML")]);
    check(|m| with_front(m, "---\nname: outpost-strategy\n---\nx"), &[(FRONT, "not YAML")]);
    check(|m| with_front(m, "---\nname: [CANARY\n---\nx"), &[(FRONT, "not YAML")]);
    check(|m| with_front(m, "---\nname: CANARY\ndescription: d\n---\n"), &[(FRONT, "not the skill's name")]);
    check(
        |m| with_front(m, "---\nname: outpost-strategy\ndescription: \"\"\n---\n"),
        &[(FRONT, "description is empty")],
    );
    check(
        |m| {
            with_front(
                m,
                &format!("---\nname: outpost-strategy\ndescription: d\nx: {}\n---\n", "y".repeat(16_384)),
            );
        },
        &[(FRONT, "not YAML")],
    );
    for good in [
        "---\nname: outpost-strategy\ndescription: on\n---\nx",
        "---\r\nname: outpost-strategy\r\ndescription: d\r\n---\r\nx",
        "---\nname: \"outpost-strategy\"\ndescription: >\n  a folded\n  text\nlicense: MIT\n---",
    ] {
        let mut manifest = manifest();
        with_front(&mut manifest, good);
        assert_eq!(manifest.faults(), vec![], "{good}");
    }
}

/// §3 "Control modes and limits": each limit at its edge and past it.
#[test]
fn control_limits_are_checked() {
    fn policy(m: &mut Manifest) -> &mut PolicyLimits {
        m.control.policy.as_mut().expect("declared")
    }
    let range = "out of range";
    let table: [(Break, &str); 40] = [
        (|m| m.control.intents.per_second = 0.009, "intents.perSecond"),
        (|m| m.control.intents.per_second = 1000.5, "intents.perSecond"),
        (|m| m.control.intents.per_second = f64::NAN, "intents.perSecond"),
        (|m| m.control.intents.burst = 0, "intents.burst"),
        (|m| m.control.intents.burst = 10_001, "intents.burst"),
        (|m| m.control.sequence.as_mut().unwrap().max_steps = 0, "sequence.maxSteps"),
        (|m| m.control.sequence.as_mut().unwrap().max_steps = 10_001, "sequence.maxSteps"),
        (|m| m.control.sequence.as_mut().unwrap().max_ticks_ahead = 2_147_483_648, "sequence.maxTicksAhead"),
        (|m| m.control.sequence.as_mut().unwrap().min_spacing_ticks = 0, "sequence.minSpacingTicks"),
        (|m| policy(m).hz = 10.5, "policy.hz"),
        (|m| policy(m).hz = 0.0, "policy.hz"),
        (|m| policy(m).ms_per_call = 0, "policy.msPerCall"),
        (|m| policy(m).ms_per_call = 1001, "policy.msPerCall"),
        (|m| policy(m).memory_bytes = 1_048_575, "policy.memoryBytes"),
        (|m| policy(m).memory_bytes = 1_073_741_825, "policy.memoryBytes"),
        (|m| policy(m).max_artifact_bytes = 0, "policy.maxArtifactBytes"),
        (|m| policy(m).max_artifact_bytes = 700_001, "policy.maxArtifactBytes"),
        (|m| policy(m).max_intents_per_call = 0, "policy.maxIntentsPerCall"),
        (|m| policy(m).max_intents_per_call = 1001, "policy.maxIntentsPerCall"),
        (|m| policy(m).max_log_lines = 1001, "policy.maxLogLines"),
        (|m| policy(m).max_log_line_bytes = 0, "policy.maxLogLineBytes"),
        (|m| policy(m).max_log_line_bytes = 4097, "policy.maxLogLineBytes"),
        (|m| m.control.stream.as_mut().unwrap().max_hz = 10.5, "stream.maxHz"),
        (|m| m.control.stream.as_mut().unwrap().intents_per_tick = 0, "stream.intentsPerTick"),
        (|m| m.control.practice.as_mut().unwrap().max_ticks = 0, "practice.maxTicks"),
        (|m| m.control.practice.as_mut().unwrap().max_ticks = 10_000_001, "practice.maxTicks"),
        (|m| m.control.practice.as_mut().unwrap().concurrent = 65, "practice.concurrent"),
        (
            |m| m.control.pool.as_mut().unwrap().max_published_per_principal = 0,
            "pool.maxPublishedPerPrincipal",
        ),
        (
            |m| m.control.pool.as_mut().unwrap().max_published_per_principal = 1001,
            "pool.maxPublishedPerPrincipal",
        ),
        (|m| m.control.chat.as_mut().unwrap().max_tell_chars = 501, "chat.maxTellChars"),
        (|m| m.control.chat.as_mut().unwrap().max_tell_chars = 0, "chat.maxTellChars"),
        (|m| m.control.chat.as_mut().unwrap().max_say_chars = 281, "chat.maxSayChars"),
        (
            |m| m.control.pausable = Some(PauseLimits { max_pause_seconds: Some(0) }),
            "pausable.maxPauseSeconds",
        ),
        (
            |m| m.control.pausable = Some(PauseLimits { max_pause_seconds: Some(604_801) }),
            "pausable.maxPauseSeconds",
        ),
        (|m| m.control.signals.as_mut().unwrap().per_second = 100.5, "signals.perSecond"),
        (|m| m.control.signals.as_mut().unwrap().per_second = 0.0, "signals.perSecond"),
        (|m| m.control.signals.as_mut().unwrap().burst = 101, "signals.burst"),
        (|m| m.control.signals.as_mut().unwrap().ttl_ticks = 0, "signals.ttlTicks"),
        (|m| m.control.signals.as_mut().unwrap().ttl_ticks = 2_147_483_648, "signals.ttlTicks"),
        (|m| m.control.signals.as_mut().unwrap().keep_ticks = 2_147_483_648, "signals.keepTicks"),
    ];
    for (breaks, path) in table {
        check(breaks, &[(&format!("control.{path}"), range)]);
    }
    check(|m| policy(m).runtimes.clear(), &[("control.policy.runtimes", "no runtime")]);
    check(|m| policy(m).runtimes.push(Runtime::Js), &[("control.policy.runtimes", "repeated")]);
    check(
        |m| m.control.policy = None,
        &[("control.practice", "needs policies"), ("control.pool", "needs policies")],
    );
    check(
        |m| m.control.chat.as_mut().unwrap().ping = Some(t::id("X")),
        &[("control.chat.ping", "id prefix")],
    );
    let mut open = manifest();
    open.control.pausable = Some(PauseLimits { max_pause_seconds: None });
    assert_eq!(open.faults(), vec![]);
}

/// §22.1: vocabulary, cards and limits go together, and no signal can carry text.
#[test]
fn signals_are_checked() {
    fn kind(m: &mut Manifest) -> &mut SignalKind {
        &mut m.signals.as_mut().expect("declared").kinds[0]
    }
    fn card<'a>(m: &'a mut Manifest, role: &str) -> &'a mut Vec<SignalSkill> {
        m.signals.as_mut().expect("declared").cards.get_mut(role).expect("declared")
    }
    /// Composes the generated members anew, so that only the vocabulary itself is at fault.
    fn recompose(m: &mut Manifest) {
        let members = signal_members(&m.roles, m.signals.as_ref().unwrap(), &m.control.signals.unwrap());
        m.intents.truncate(2);
        m.intents.extend(members.intents);
        for (schema, member) in [(&mut m.observation, members.observation), (&mut m.view, members.view)] {
            let Kind::Obj { fields, .. } = &mut schema.kind else { panic!("an object") };
            fields.retain(|(name, _)| &**name != "signals");
            fields.push(("signals".into(), member));
        }
    }
    check(|m| m.signals = None, &[("control.signals", "needs a vocabulary")]);
    check(|m| m.control.signals = None, &[("signals", "needs its limits")]);
    let table: [(Break, &str, &str); 14] = [
        (|m| kind(m).doc = "".into(), "signals.kinds.help.doc", "1 to 4000"),
        (|m| kind(m).roles = names(["ground", "ground"]), "signals.kinds.help.roles", "repeated"),
        (
            |m| kind(m).params.push(("t".into(), t::list(t::str(3), 1))),
            "signals.kinds.help.params",
            "carry text",
        ),
        (
            |m| kind(m).params.push(("t".into(), t::opt(t::obj([("s", t::str(0))])))),
            "signals.kinds.help.params",
            "carry text",
        ),
        (
            |m| kind(m).params.push(("t".into(), t::union("u", [("v", vec![("s", t::str(1))])]))),
            "signals.kinds.help.params",
            "carry text",
        ),
        (
            |m| card(m, "air").retain(|skill| &*skill.kind != "carry"),
            "signals.kinds.carry",
            "no role answers",
        ),
        (
            |m| card(m, "air")[0].only = [("need".into(), vec![])].into(),
            "signals.cards.air[0].where",
            "nonempty subset",
        ),
        (
            |m| card(m, "air")[0].only = [("need".into(), names(["CANARY"]))].into(),
            "signals.cards.air[0].where",
            "subset",
        ),
        (
            |m| card(m, "air")[0].only = [("x".into(), names(["scan"]))].into(),
            "signals.cards.air[0].where",
            "no enum parameter",
        ),
        (
            |m| card(m, "air")[0].only = [("CANARY".into(), names(["scan"]))].into(),
            "signals.cards.air[0].where",
            "no enum",
        ),
        (
            |m| card(m, "air")[0].only = [("need".into(), names(["scan", "scan"]))].into(),
            "signals.cards.air[0].where",
            "repeated",
        ),
        (
            |m| {
                let again = card(m, "air")[1].clone();
                card(m, "air").push(again);
            },
            "signals.cards.air",
            "twice on one card",
        ),
        (
            |m| card(m, "air").push(SignalSkill { kind: "CANARY".into(), only: Default::default() }),
            "signals.cards.air[2]",
            "undeclared kind",
        ),
        (
            |m| drop(m.signals.as_mut().unwrap().cards.insert("CANARY".into(), vec![])),
            "signals.cards",
            "undeclared role",
        ),
    ];
    for (breaks, path, what) in table {
        let mut broken = manifest();
        breaks(&mut broken);
        recompose(&mut broken);
        // A fault of the vocabulary can show in the members generated from it, too.
        let found = broken.faults();
        let told = found.iter().any(|fault| fault.path == path && fault.what.contains(what));
        assert!(told, "expected {path} {what}, found {found:#?}");
        assert!(found.iter().all(|fault| !fault.to_string().contains("CANARY")));
    }
    for reserved in ["kind", "id", "from", "to", "tick", "expires", "state", "by"] {
        let mut broken = manifest();
        kind(&mut broken).params.push((reserved.into(), t::bool()));
        recompose(&mut broken);
        assert!(broken.faults().iter().any(|fault| fault.path == "signals.kinds.help.params"), "{reserved}");
    }
    let mut team = manifest();
    team.roles[1] = "team".into();
    assert!(team.faults().iter().any(|fault| fault.path == "roles" && fault.what.contains("broadcast")));
}

/// §22.1: members that differ from the generated ones in canonical JSON, or are missing, are refused.
#[test]
fn signal_members_must_be_the_generated_ones() {
    fn retain(schema: &mut Schema) {
        let Kind::Obj { fields, .. } = &mut schema.kind else { panic!("an object") };
        fields.retain(|(name, _)| &**name != "signals");
    }
    check(|m| m.intents.retain(|intent| &*intent.name != "signal"), &[("intents.signal", "missing")]);
    check(|m| m.intents[2].doc = "other".into(), &[("intents.signal", "differs")]);
    check(|m| m.intents[3].roles = names(["air"]), &[("intents.signal_update", "differs")]);
    check(|m| retain(&mut m.observation), &[("observation.signals", "missing")]);
    check(|m| retain(&mut m.view), &[("view.signals", "missing")]);
    check(
        |m| {
            retain(&mut m.view);
            push(&mut m.view, "signals", t::bool());
        },
        &[("view.signals", "differs")],
    );
    check(
        |m| m.control.signals.as_mut().unwrap().max_open = 4,
        &[("observation.signals", "differs"), ("view.signals", "differs")],
    );
    check(
        |m| m.control.signals.as_mut().unwrap().max_open = 33,
        &[
            ("control.signals.maxOpen", "out of range"),
            ("observation.signals", "differs"),
            ("view.signals", "differs"),
        ],
    );
    check(|m| m.view = t::bool(), &[("view", "not an object")]);
}

/// §22.1: without signals, none of their names is reserved.
#[test]
fn signal_names_are_free_without_signals() {
    let mut manifest = smallest();
    push(&mut manifest.observation, "signals", t::bool());
    manifest.intents[0].name = "signal".into();
    assert_eq!(manifest.faults(), vec![]);
}

/// §3: all faults come back together.
#[test]
fn all_faults_come_back_together() {
    let mut broken = manifest();
    broken.id = "X".into();
    broken.topics[0].text = "".into();
    broken.event = t::bool();
    broken.control.intents.burst = 0;
    let paths: Vec<String> = broken.faults().into_iter().map(|fault| fault.path).collect();
    assert_eq!(paths, ["id", "topics.economy.text", "event", "control.intents.burst"]);
}

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
