//! §3, §10: each declared error code is what some command of a seat meets, and refuses with nothing changed.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::{MANIFEST, all_sections, build, context, setup, start, tile_of};
use playerthree_game::{Context, Controller, GameMatch, Seat, SeatInfo, Source};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Red's commanders, and the codes that they have met.
struct Met {
    game: Box<dyn GameMatch>,
    codes: BTreeSet<&'static str>,
}

impl Met {
    fn new(stock: u32) -> Self {
        let options = json!({ "start": { "alloy": stock, "energy": stock } });
        Self { game: start(&setup(1, &["red", "blue"], Some(options))), codes: BTreeSet::new() }
    }

    fn observe(&self) -> Value {
        self.game.observe(&Seat::new("red", "ground"), -1, &all_sections())
    }

    /// The id of the first unit of a section.
    fn unit(&self, section: &str) -> Value {
        self.observe()[section]["units"][0]["id"].clone()
    }

    fn refuses(&mut self, code: &'static str, role: &str, intent: &Value) {
        self.refuses_in(code, role, intent, &context());
    }

    fn refuses_in(&mut self, code: &'static str, role: &str, intent: &Value, context: &Context) {
        let before = self.game.debug_view();
        assert_eq!(self.game.apply(&Seat::new("red", role), intent, context), Err(code), "{intent}");
        assert_eq!(self.game.debug_view(), before, "{code}");
        self.codes.insert(code);
    }

    fn accepts(&mut self, role: &str, intent: &Value) {
        assert_eq!(self.game.apply(&Seat::new("red", role), intent, &context()), Ok(()), "{intent}");
    }

    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.game.step();
        }
    }
}

#[test]
fn every_declared_code_refuses_something() {
    let mut met = Met::new(5_000);
    let [worker, soldier, scout] = ["economy", "ground", "air"].map(|section| met.unit(section));
    let buildings = met.observe()["buildings"].clone();
    let [base, airfield] = [0, 1].map(|index| buildings[index]["id"].clone());
    let go = |kind: &str, units: Value, x: i64| json!({ "kind": kind, "units": units, "x": x, "y": 1600 });
    let attack =
        |unit: &Value, target: &Value| json!({ "kind": "attack", "units": [unit], "target": target });
    let gather = |unit: &Value, patch: &str| json!({ "kind": "gather", "units": [unit], "patch": patch });
    let produce = |maker: &Value, unit: &str| json!({ "kind": "produce", "building": maker, "unit": unit });

    met.refuses("malformed", "ground", &json!({ "kind": "fly" }));
    met.refuses("no_units", "ground", &go("move", json!([]), 1600));
    met.refuses("no_such_unit", "ground", &go("move", json!(["e_1"]), 1600));
    met.refuses("wrong_role", "ground", &go("move", json!([worker]), 1600));
    // The map is 32 tiles wide; the schema's bound is that of the widest.
    met.refuses("off_map", "ground", &go("advance", json!([soldier]), 3_999));
    met.refuses("no_such_target", "ground", &attack(&soldier, &json!("e_1")));
    met.refuses("no_such_patch", "economy", &gather(&worker, "p_99"));
    let owner_roles = Some(["economy", "ground"].map(Into::into).to_vec());
    let owner = Context { source: Source::Owner, owner_roles };
    met.refuses_in("not_a_worker", "economy", &gather(&soldier, "p_0"), &owner);
    let [on_the_base, free] = [(5, 5), (9, 9)].map(|tile| build(&*met.game, "red", &worker, "reactor", tile));
    met.refuses("blocked", "economy", &on_the_base);
    met.refuses("no_such_building", "economy", &produce(&json!("e_1"), "worker"));
    met.refuses("wrong_building", "economy", &produce(&base, "soldier"));
    met.refuses("needs_building", "air", &produce(&airfield, "gunship"));
    for _ in 0..5 {
        met.accepts("economy", &produce(&base, "worker"));
    }
    met.refuses("queue_full", "economy", &produce(&base, "worker"));
    let mandate = json!({ "limits": { "noBuild": true } });
    met.game
        .set_seat_info(&Seat::new("red", "economy"), &SeatInfo { controller: Controller::Agent, mandate });
    met.refuses("limit", "economy", &free);

    // Four workers at the start, and twelve more.
    for wanted in [5, 2] {
        met.run(500);
        for _ in 0..wanted {
            met.accepts("economy", &produce(&base, "worker"));
        }
    }
    met.refuses("cap_reached", "economy", &produce(&base, "worker"));

    let (col, row) = tile_of(&*met.game, "blue", (5, 5));
    met.accepts("air", &json!({ "kind": "move", "units": [scout], "x": col * 100, "y": row * 100 }));
    while met.observe()["ground"]["enemyBuildings"] == json!([]) {
        met.run(1);
    }
    let seen = met.observe()["ground"]["enemyBuildings"][0]["id"].clone();
    met.refuses("unarmed", "air", &attack(&scout, &seen));

    met.game.forfeit("red").unwrap();
    met.run(1);
    met.refuses("out_of_play", "ground", &go("move", json!([soldier]), 1600));

    let mut poor = Met::new(0);
    let base = poor.observe()["buildings"][0]["id"].clone();
    poor.refuses("cannot_afford", "economy", &produce(&base, "worker"));
    met.codes.extend(poor.codes);
    let declared: BTreeSet<&str> = MANIFEST.errors.iter().map(|code| &**code).collect();
    assert_eq!(met.codes, declared);
}
