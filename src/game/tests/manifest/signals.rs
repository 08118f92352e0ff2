//! Team signals and the members generated from them (§22.1).

use super::Break;
use super::check;
use crate::common::{manifest, names, push, smallest};
use playerthree_game::*;
use playerthree_schema::Kind;

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
