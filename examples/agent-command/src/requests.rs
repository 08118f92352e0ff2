//! What the commanders of a side can ask of each other (§22): kinds of request, and what each role answers.

use crate::schema::coordinate;
use playerthree_game::{Fields, Schema, SignalKind, SignalLimits, SignalSkill, Signals, t};
use std::sync::Arc;

/// Limits of one commander. A building asked for can be saved for, begun and finished before the request expires.
pub(crate) const LIMITS: SignalLimits =
    SignalLimits { per_second: 0.5, burst: 4, max_open: 3, ttl_ticks: 600, keep_ticks: 50 };

fn names<const N: usize>(list: [&str; N]) -> Vec<Arc<str>> {
    list.map(Into::into).to_vec()
}

fn kind<const N: usize>(
    name: &str,
    roles: Vec<Arc<str>>,
    params: [(&str, Schema); N],
    doc: &str,
) -> SignalKind {
    let params: Fields = params.into_iter().map(|(name, schema)| (name.into(), schema)).collect();
    SignalKind { name: name.into(), roles, params, doc: doc.into() }
}

fn skill(kind: &str) -> SignalSkill {
    SignalSkill { kind: kind.into(), only: [].into() }
}

fn strikes<const N: usize>(targets: [&str; N]) -> SignalSkill {
    SignalSkill { kind: "strike".into(), only: [("target".into(), names(targets))].into() }
}

/// The vocabulary and the role cards.
pub(crate) fn signals() -> Signals {
    let x = || ("x", coordinate().doc("In points."));
    let y = || ("y", coordinate().doc("In points."));
    let target = t::literals(["army", "workers", "buildings"]).doc("What stands there.");
    Signals {
        kinds: vec![
            kind("look", names(["economy", "ground"]), [x(), y()], "Asks for a scout over a place."),
            kind("guard", names(["economy"]), [x(), y()], "Asks for armed units at a place."),
            kind(
                "strike",
                names(["ground", "air"]),
                [("target", target), x(), y()],
                "Asks for an attack on a place.",
            ),
            kind(
                "supply",
                names(["ground", "air"]),
                [("building", t::literals(["factory", "airfield", "reactor", "turret"]))],
                "Asks for a building.",
            ),
        ],
        cards: [
            ("economy".into(), vec![skill("supply")]),
            ("ground".into(), vec![skill("guard"), strikes(["army", "buildings"])]),
            ("air".into(), vec![skill("look"), skill("guard"), strikes(["army", "workers"])]),
        ]
        .into(),
    }
}
