//! Series of versions to measure deltas on: synthetic ones with a fixed seed, and a recorded one.
//!
//! - `hot`: 200 entities keyed by id, 40 of which move in each version.
//! - `grow`: three events appended in each version; from the 167th on the oldest three leave.
//! - `churn`: a list of 200 items; one leaves and one enters in each version, both in the middle half.
//! - `deep`: a binary tree of depth 8 in which one number changes.
//! - `agent-command`: one side's view in a match of bots of that game, ten versions a second, in a fight.

use serde_json::{Value, json};

/// Versions after the first of each synthetic series.
const VERSIONS: usize = 200;

/// A named list of consecutive versions.
pub(crate) struct Series {
    /// How the series is called in the figures.
    pub(crate) name: &'static str,
    /// The versions in order, at least two.
    pub(crate) versions: Vec<Value>,
}

/// Every series there is.
pub(crate) fn all() -> Vec<Series> {
    let mut grow = grow(&mut Random(2));
    let slide = grow.split_off(166);
    let mut append = grow;
    append.push(slide[0].clone());
    let mut all = vec![
        Series { name: "hot", versions: hot(&mut Random(1)) },
        Series { name: "grow-append", versions: append },
        Series { name: "grow-slide", versions: slide },
        Series { name: "churn", versions: churn(&mut Random(3)) },
        Series { name: "deep", versions: deep(&mut Random(4)) },
    ];
    all.push(recorded("agent-command", include_str!("agent-command.jsonl")));
    all
}

/// The series recorded in `text`, one version a line. As in periodic views (§4), members that never change are in the
/// first line only and carried over.
fn recorded(name: &'static str, text: &str) -> Series {
    let mut versions: Vec<Value> = Vec::new();
    for line in text.lines() {
        let mut version: Value = serde_json::from_str(line).expect("a version a line");
        if let (Some(first), Some(members)) = (versions.first(), version.as_object_mut()) {
            for (key, member) in first.as_object().expect("an object a line") {
                members.entry(key).or_insert_with(|| member.clone());
            }
        }
        versions.push(version);
    }
    Series { name, versions }
}

/// A small seeded generator (mulberry32), so that every run and every language measures the same versions.
struct Random(u32);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x6d2b_79f5);
        let seed = self.0;
        let mut mixed = (seed ^ (seed >> 15)).wrapping_mul(1 | seed);
        mixed = mixed.wrapping_add((mixed ^ (mixed >> 7)).wrapping_mul(61 | mixed)) ^ mixed;
        f64::from(mixed ^ (mixed >> 14)) / 4_294_967_296.0
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.unit() * f64::from(bound)) as u32
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u32) as usize]
    }
}

/// The number to one decimal, as an integer where it is one: what JavaScript would have written.
fn tenths(number: f64) -> Value {
    let rounded = (number * 10.0 + 0.5).floor() / 10.0;
    if rounded.fract() == 0.0 { json!(rounded as i64) } else { json!(rounded) }
}

fn versions(mut value: Value, mut step: impl FnMut(&mut Value)) -> Vec<Value> {
    let mut versions = vec![value.clone()];
    for _ in 0..VERSIONS {
        step(&mut value);
        versions.push(value.clone());
    }
    versions
}

fn hot(random: &mut Random) -> Vec<Value> {
    let mut start = json!({"tick": 0, "entities": {}});
    for index in 0..200 {
        let (x, y) = (tenths(random.unit() * 1000.0), tenths(random.unit() * 1000.0));
        start["entities"][format!("e{index}")] = json!({"x": x, "y": y, "hp": random.below(100)});
    }
    versions(start, |value| {
        value["tick"] = json!(value["tick"].as_u64().unwrap() + 1);
        let mut moved = Vec::new();
        while moved.len() < 40 {
            let index = random.below(200);
            if !moved.contains(&index) {
                moved.push(index);
            }
        }
        for index in moved {
            let entity = &mut value["entities"][format!("e{index}")];
            for axis in ["x", "y"] {
                entity[axis] = tenths(entity[axis].as_f64().unwrap() + random.unit() * 10.0 - 5.0);
            }
            if random.unit() < 0.25 {
                entity["hp"] = json!(random.below(100));
            }
        }
    })
}

fn grow(random: &mut Random) -> Vec<Value> {
    let mut id = 0;
    versions(json!({"tick": 0, "events": []}), |value| {
        value["tick"] = json!(value["tick"].as_u64().unwrap() + 1);
        let events = value["events"].as_array_mut().unwrap();
        for _ in 0..3 {
            let kind = random.pick(&["hit", "move", "spawn", "chat"]);
            let who = format!("p{}", random.below(16));
            events.push(json!({"id": id, "kind": kind, "who": who, "amount": random.below(1000)}));
            id += 1;
        }
        let surplus = events.len().saturating_sub(500);
        events.drain(..surplus);
    })
}

fn churn(random: &mut Random) -> Vec<Value> {
    let mut id = 0;
    let mut item = |random: &mut Random| {
        id += 1;
        let name = random.pick(&["sword", "shield", "potion", "scroll"]);
        let name = format!("{name} {}", random.below(100));
        let price = random.below(5000);
        json!({"id": format!("i{}", id - 1), "name": name, "price": price, "qty": 1 + random.below(20)})
    };
    let items: Vec<Value> = (0..200).map(|_| item(random)).collect();
    versions(json!({"tick": 0, "items": items}), |value| {
        value["tick"] = json!(value["tick"].as_u64().unwrap() + 1);
        let items = value["items"].as_array_mut().unwrap();
        items.remove(50 + random.below(100) as usize);
        let at = 50 + random.below(100) as usize;
        items.insert(at, item(random));
    })
}

fn deep(random: &mut Random) -> Vec<Value> {
    fn tree(random: &mut Random, depth: u32) -> Value {
        match depth {
            0 => json!(random.below(1000)),
            _ => json!({"left": tree(random, depth - 1), "right": tree(random, depth - 1)}),
        }
    }
    versions(tree(random, 8), |value| {
        let mut node = value;
        for _ in 0..8 {
            node = &mut node[if random.unit() < 0.5 { "left" } else { "right" }];
        }
        *node = json!((node.as_u64().unwrap() + 1 + u64::from(random.below(998))) % 1000);
    })
}
