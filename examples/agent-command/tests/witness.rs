//! §15: for random matches, everything that a side is told follows from what its units could see.
//!
//! A witness stands beside each party. It learns the truth of a place only while an independent computation says that the
//! place is in sight, and everything that the side is told must be what the witness would say.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::random::{Random, random_match};
use common::{Headless, all_sections, seats};
use playerthree_game::{GameMatch, ViewKind};
use playerthree_schema::canonical;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

type Tiles = BTreeSet<(i64, i64)>;

/// What one party could know.
struct Witness {
    /// Its sides.
    members: Vec<String>,
    /// The tiles in sight after the last tick, and after this one.
    before: Tiles,
    now: Tiles,
    /// Alloy of each patch when it was last in sight.
    patches: Vec<i64>,
}

fn list<'a>(of: &'a Value, name: &str) -> &'a Vec<Value> {
    of[name].as_array().unwrap()
}

fn tile(thing: &Value) -> (i64, i64) {
    (thing["x"].as_i64().unwrap() / 100, thing["y"].as_i64().unwrap() / 100)
}

fn is_of(thing: &Value, sides: &[String]) -> bool {
    sides.iter().any(|side| thing["side"] == **side)
}

impl Witness {
    fn new(members: Vec<String>, open: &Value) -> Self {
        let patches = vec![1000; list(&open["map"], "patchPlaces").len()];
        let mut witness = Self { members, before: Tiles::new(), now: Tiles::new(), patches };
        witness.look(open);
        witness
    }

    /// Looks at the open state from where the party's things stand.
    fn look(&mut self, open: &Value) {
        let size = open["map"]["size"].as_i64().unwrap();
        let mut now = Tiles::new();
        let eyes = list(open, "units").iter().chain(list(open, "buildings"));
        for eye in eyes.filter(|eye| is_of(eye, &self.members)) {
            let kinds = list(&open["map"], "kinds");
            let sight =
                kinds.iter().find(|kind| kind["kind"] == eye["kind"]).unwrap()["sight"].as_i64().unwrap();
            let (col, row) = tile(eye);
            for (right, down) in (-sight..=sight).flat_map(|x| (-sight..=sight).map(move |y| (x, y))) {
                let on_map = (0..size).contains(&(col + right)) && (0..size).contains(&(row + down));
                // The disc is half a tile wider than its radius.
                if on_map && 4 * (right * right + down * down) <= (2 * sight + 1).pow(2) {
                    now.insert((col + right, row + down));
                }
            }
        }
        let places = list(&open["map"], "patchPlaces").iter().zip(list(open, "patches"));
        for ((place, left), known) in places.zip(&mut self.patches) {
            if now.contains(&tile(place)) {
                *known = left.as_i64().unwrap();
            }
        }
        self.before = std::mem::replace(&mut self.now, now);
    }

    /// What an eye sees of a thing: no orders, loads or production of others.
    fn told_of(&self, thing: &Value, viewer: &str) -> Option<Value> {
        if thing["side"] == *viewer {
            return Some(thing.clone());
        }
        let mut seen: Map<String, Value> = thing.as_object().unwrap().clone();
        for private in ["order", "load", "making", "ready", "queue"] {
            seen.remove(private);
        }
        self.now.contains(&tile(thing)).then_some(Value::Object(seen))
    }

    fn expected(&self, open: &Value, name: &str, viewer: &str) -> BTreeSet<String> {
        list(open, name)
            .iter()
            .filter_map(|thing| self.told_of(thing, viewer))
            .map(|thing| canonical(&thing))
            .collect()
    }

    /// Judges all that a side of the party is told after this tick.
    fn judge(&self, game: &dyn GameMatch, open: &Value, viewer: &str) {
        let view = game.view(viewer, ViewKind::Snapshot);
        for name in ["units", "buildings"] {
            let shown: BTreeSet<String> = list(&view, name).iter().map(canonical).collect();
            assert_eq!(shown, self.expected(open, name, viewer), "{viewer}'s {name} at {}", open["tick"]);
        }
        assert_eq!(view["patches"], json!(self.patches), "{viewer}'s patches at {}", open["tick"]);
        let of = list(open, "sides").iter().find(|side| side["side"] == *viewer).unwrap();
        assert_eq!((&view["alloy"], &view["energy"]), (&of["alloy"], &of["energy"]));
        let report = game.report(viewer);
        for tally in ["gathered", "produced", "built", "lost", "destroyed"] {
            assert_eq!(report[tally], of[tally], "{viewer}'s own {tally}");
        }
        for seat in seats(&[viewer.into()]) {
            self.judge_observation(&game.observe(&seat, -1, &all_sections()), &view, viewer);
            let summary = game.observe(&seat, -1, &[]);
            assert_eq!(summary["ground"]["enemyCount"], self.count_enemies(&view, false));
            assert_eq!(summary["air"]["enemyCount"], self.count_enemies(&view, true));
        }
    }

    fn count_enemies(&self, view: &Value, flying: bool) -> Value {
        let flies = |unit: &Value| unit["kind"] == "scout" || unit["kind"] == "gunship";
        let enemies = list(view, "units").iter().filter(|unit| !is_of(unit, &self.members));
        enemies.filter(|unit| flies(unit) == flying).count().into()
    }

    /// An observation tells the same things as the view, which was judged.
    fn judge_observation(&self, observation: &Value, view: &Value, viewer: &str) {
        let mut told = BTreeSet::new();
        let own = |thing: &Value| {
            let mut thing = thing.clone();
            thing["side"] = viewer.into();
            canonical(&thing)
        };
        told.extend(
            ["economy", "ground", "air"].iter().flat_map(|role| list(&observation[role], "units")).map(own),
        );
        told.extend(list(observation, "buildings").iter().map(own));
        let others = [
            ("ground", "enemies"),
            ("ground", "allies"),
            ("air", "enemies"),
            ("air", "allies"),
            ("ground", "enemyBuildings"),
            ("ground", "allyBuildings"),
        ];
        let others = others.iter().flat_map(|(role, name)| list(&observation[role], name));
        told.extend(others.map(canonical));
        let shown = list(view, "units").iter().chain(list(view, "buildings")).map(canonical);
        assert_eq!(told, shown.collect(), "{viewer} at {}", view["tick"]);
        assert_eq!(observation["economy"]["patches"], view["patches"]);
    }

    /// Judges the events of this tick. `then` is the open state of the tick before.
    fn judge_events(&self, game: &dyn GameMatch, (then, now): (&Value, &Value), viewer: &str) {
        let since = then["tick"].as_i64().unwrap();
        for seat in seats(&[viewer.into()]) {
            for event in game.events(&seat, since) {
                self.judge_event(&event, viewer);
                is_true(&event, [then, now], viewer);
            }
        }
    }

    /// An event is about something own, at a place in sight, or known to all.
    fn judge_event(&self, event: &Value, viewer: &str) {
        let kind = event["kind"].as_str().unwrap();
        let public = matches!(kind, "eliminated" | "ended");
        let own = matches!(kind, "produced" | "built" | "blocked" | "attacked" | "lost");
        let seen = event.get("x").is_some() && {
            let at = tile(event);
            self.now.contains(&at) || self.before.contains(&at)
        };
        assert!(public || own && event.get("side").is_none() || seen, "{viewer} was told {event}");
    }
}

/// What an event says of a thing is so, this tick or the one before: its id, its kind and whose it is.
fn is_true(event: &Value, states: [&Value; 2], viewer: &str) {
    let Some(id) = event.get("id") else { return };
    let things =
        states.into_iter().flat_map(|open| list(open, "units").iter().chain(list(open, "buildings")));
    let thing = things.into_iter().find(|thing| thing["id"] == *id).unwrap();
    let side = event.get("side").and_then(Value::as_str).unwrap_or(viewer);
    assert_eq!((&thing["kind"], thing["side"].as_str()), (&event["what"], Some(side)), "{viewer}: {event}");
}

/// The ids of all things, out of the lists of an object or of every object of its list `sides`.
fn ids(of: &Value, place: &str) -> BTreeSet<String> {
    let whole = [of.clone()];
    let objects = if place.is_empty() { &whole[..] } else { of.pointer(place).unwrap().as_array().unwrap() };
    let things = objects.iter().flat_map(|one| list(one, "units").iter().chain(list(one, "buildings")));
    things.map(|thing| thing["id"].to_string()).collect()
}

/// §15: views, observations, summaries, events and reports of random matches follow from what was in sight, and the
/// observer's view holds all of it.
#[test]
fn everything_told_follows_from_what_was_in_sight() {
    let mut random = Random::new(1);
    let mut met = 0;
    for round in 0..6 {
        let setup = random_match(&mut random);
        let tiers = ["recruit", "veteran", "commander"];
        let mut game = Headless::new(&setup, |team| tiers[(team.len() + round) % 3]);
        let open = game.game.observer_view().unwrap();
        let parties: Vec<Vec<String>> = match &setup.alliances {
            Some(alliances) => {
                alliances.values().map(|sides| sides.iter().map(ToString::to_string).collect()).collect()
            }
            None => setup.teams.iter().map(|side| vec![side.to_string()]).collect(),
        };
        let mut witnesses: Vec<Witness> =
            parties.into_iter().map(|members| Witness::new(members, &open)).collect();
        let mut then = open;
        for _ in 0..500 {
            game.step();
            let open = game.game.observer_view().unwrap();
            assert_eq!(ids(&open, ""), ids(&game.game.debug_view().unwrap(), "/sides"));
            let whole = open["tick"].as_i64().unwrap() % 5 == 0;
            for witness in &mut witnesses {
                witness.look(&open);
                for viewer in &witness.members {
                    witness.judge_events(&*game.game, (&then, &open), viewer);
                    if whole {
                        witness.judge(&*game.game, &open, viewer);
                    }
                }
                let enemy =
                    |unit: &&Value| !is_of(unit, &witness.members) && witness.now.contains(&tile(unit));
                met += list(&open, "units").iter().filter(enemy).count();
            }
            then = open;
        }
    }
    assert!(met > 100, "the sides must meet: {met}");
}
