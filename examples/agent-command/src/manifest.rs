//! What Agent Command tells the world about itself (§3). The texts are in `knowledge/`, the shapes in `schema`.

use crate::command::ERRORS;
use crate::intent::MAX_UNITS;
use crate::kinds::Role;
use crate::requests;
use crate::schema::{self, ROLES, SIDES};
use crate::world::MAX_STOCK;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use playerthree_game::{
    ChatLimits, Control, Fields, IntentKind, IntentLimits, Manifest, ObservationScope, PolicyLimits,
    PoolLimits, PracticeLimits, Runtime, Schema, SequenceLimits, Skill, StreamLimits, Topic, signal_members,
    t,
};
use std::sync::Arc;

/// The tiers, weakest first.
pub(crate) const OPPONENTS: [&str; 3] = ["recruit", "veteran", "commander"];

fn texts<'a>(
    entries: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> std::collections::BTreeMap<Arc<str>, Arc<str>> {
    entries.into_iter().map(|(name, text)| (name.into(), text.into())).collect()
}

fn names<'a>(list: impl IntoIterator<Item = &'a str>) -> Vec<Arc<str>> {
    list.into_iter().map(Into::into).collect()
}

fn topic(name: &str, summary: &str, text: &str) -> Topic {
    Topic { name: name.into(), summary: summary.into(), text: text.into() }
}

fn topics() -> Vec<Topic> {
    vec![
        topic(
            "economy",
            "Alloy, energy, workers, prices and what to build first.",
            include_str!("knowledge/economy.md"),
        ),
        topic(
            "combat",
            "Weapons, ranges, counters, and how units choose targets.",
            include_str!("knowledge/combat.md"),
        ),
        topic(
            "map",
            "Coordinates, terrain, start places, patches, sight and fog.",
            include_str!("knowledge/map.md"),
        ),
        topic(
            "refusals",
            "Every gameCode: why an intent is refused, and what to do.",
            include_str!("knowledge/refusals.md"),
        ),
        topic(
            "policies",
            "How to write a policy for a seat of this game.",
            include_str!("knowledge/policies.md"),
        ),
    ]
}

const SKILL_DESCRIPTION: &str =
    "How to win Agent Command: openings, army use, scouting, and four example policies to start from.";

/// The module that `examples/agent-command-policy` builds.
const ARMY: &[u8] = include_bytes!("knowledge/policies/army.wasm");

fn skill() -> Skill {
    Skill {
        name: "agent-command-strategy".into(),
        description: SKILL_DESCRIPTION.into(),
        files: texts([
            ("SKILL.md", include_str!("knowledge/SKILL.md")),
            ("policies/economy.js", include_str!("knowledge/policies/economy.js")),
            ("policies/ground.js", include_str!("knowledge/policies/ground.js")),
            ("policies/air.js", include_str!("knowledge/policies/air.js")),
            ("policies/army.wasm.base64", &BASE64.encode(ARMY)),
        ]),
    }
}

fn intent<'a>(
    name: &str,
    roles: &[&str],
    params: impl IntoIterator<Item = (&'a str, Schema)>,
    doc: &str,
) -> IntentKind {
    let params: Fields = params.into_iter().map(|(name, schema)| (name.into(), schema)).collect();
    IntentKind { name: name.into(), roles: names(roles.iter().copied()), params, doc: doc.into() }
}

/// The roles whose units have weapons.
const FIGHTING: [&str; 2] = ["ground", "air"];

fn intents() -> Vec<IntentKind> {
    let units = || ("units", t::list(schema::entity(), MAX_UNITS as u64).doc("Ids of your units."));
    let x = || ("x", schema::coordinate().doc("In points."));
    let y = || ("y", schema::coordinate().doc("In points."));
    vec![
        intent(
            "move",
            &ROLES,
            [units(), x(), y()],
            "Sends units to a place without stopping to fight. They still shoot what comes in range. Units of one \
             intent spread out around the place.",
        ),
        intent(
            "advance",
            &FIGHTING,
            [units(), x(), y()],
            "Sends units to a place; armed ones stop and fight whatever enemy they notice on the way, then go on.",
        ),
        intent(
            "attack",
            &FIGHTING,
            [units(), ("target", schema::entity().doc("An enemy unit or building in sight."))],
            "Sends armed units after one visible enemy. When it leaves your sight they advance to where it was.",
        ),
        intent("stop", &ROLES, [units()], "Makes units stand. Armed ones still shoot what comes in range."),
        intent(
            "gather",
            &["economy"],
            [units(), ("patch", t::id("p").doc("A patch of the match data."))],
            "Sends workers to dig alloy at a patch and bring it to the nearest base, again and again.",
        ),
        intent(
            "build",
            &["economy"],
            [
                ("unit", schema::entity().doc("One of your workers.")),
                ("building", schema::building_kind()),
                ("col", schema::tile().doc("Tile column.")),
                ("row", schema::tile().doc("Tile row.")),
            ],
            "Sends a worker to start a building on a tile. The price is paid when it arrives; if it cannot be paid \
             then, or the place turns out taken, a blocked event tells. Airfields and turrets take a working factory. The building then rises by itself. No \
             building or patch may be on or beside the tile.",
        ),
        intent(
            "produce",
            &ROLES,
            [("building", schema::entity()), ("unit", schema::unit_kind())],
            "Orders a unit and pays for it: workers at a base (role economy), soldiers and tanks at a factory (ground), \
             scouts and gunships at an airfield (air). Five can wait in one building. Tanks and gunships take a \
             working reactor.",
        ),
    ]
}

fn directive() -> Schema {
    t::obj([
        (
            "objective",
            t::literals(["balanced", "economy", "attack", "defend", "scout"])
                .doc("What the owner wants most: balanced leaves it to you."),
        ),
        ("target", t::opt(schema::side()).doc("The enemy to go for first.")),
    ])
}

fn limits() -> Schema {
    let most = Role::Ground.cap() as i64;
    t::obj([
        (
            "maxAttackers",
            t::opt(t::int(0, most))
                .doc("Most units of the seat's role under advance or attack orders at once."),
        ),
        (
            "reserveAlloy",
            t::opt(t::int(0, i64::from(MAX_STOCK))).doc("Alloy that produce and build must leave untouched."),
        ),
        ("noBuild", t::opt(t::bool()).doc("True forbids build.")),
    ])
}

fn control() -> Control {
    Control {
        intents: IntentLimits { per_second: 10.0, burst: 40 },
        sequence: Some(SequenceLimits { max_steps: 32, max_ticks_ahead: 600, min_spacing_ticks: 2 }),
        policy: Some(PolicyLimits {
            runtimes: vec![Runtime::Js, Runtime::Wasm],
            hz: 5.0,
            ms_per_call: 20,
            memory_bytes: 64 << 20,
            max_artifact_bytes: 262_144,
            max_intents_per_call: 64,
            max_log_lines: 20,
            max_log_line_bytes: 256,
        }),
        stream: Some(StreamLimits { max_hz: 5.0, intents_per_tick: 16 }),
        practice: Some(PracticeLimits { max_ticks: 18_000, concurrent: 2 }),
        pool: Some(PoolLimits { max_published_per_principal: 8 }),
        chat: Some(ChatLimits {
            max_tell_chars: 300,
            max_say_chars: 200,
            ping: Some(t::obj([("x", schema::coordinate()), ("y", schema::coordinate())])),
        }),
        pausable: None,
        signals: Some(requests::LIMITS),
    }
}

pub(crate) fn manifest() -> Manifest {
    let signals = requests::signals();
    let generated = signal_members(&names(ROLES), &signals, &requests::LIMITS);
    Manifest {
        id: "agent-command".into(),
        version: "3".into(),
        title: "Agent Command".into(),
        doc: include_str!("knowledge/rules.md").into(),
        tick_rate: 10,
        teams: names(SIDES),
        roles: names(ROLES),
        role_docs: texts([
            ("economy", include_str!("knowledge/roles/economy.md")),
            ("ground", include_str!("knowledge/roles/ground.md")),
            ("air", include_str!("knowledge/roles/air.md")),
        ]),
        topics: topics(),
        intents: intents().into_iter().chain(generated.intents).collect(),
        observation: schema::observation(generated.observation),
        view: schema::view(generated.view),
        observation_scope: Some(ObservationScope {
            sections: names(ROLES),
            defaults: ROLES.into_iter().map(|role| (role.into(), names([role]))).collect(),
        }),
        match_data: Some(schema::match_data()),
        lobby: Some(schema::lobby()),
        observer: Some(schema::observer()),
        directive: directive(),
        limits: Some(limits()),
        errors: names(ERRORS),
        event: schema::event(),
        opponents: names(OPPONENTS),
        report: schema::report(),
        match_options: Some(schema::options()),
        skills: vec![skill()],
        control: control(),
        signals: Some(signals),
    }
}
