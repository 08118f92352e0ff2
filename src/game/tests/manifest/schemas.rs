//! Intents, schemas and the observation scope (§3).

use super::check;
use crate::common::{names, push, smallest};
use playerthree_game::*;

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
