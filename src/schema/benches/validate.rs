//! Judging one observation of about 20 KB: our validator beside an independent JSON Schema validator (§3, §15.1).

#![allow(missing_docs, clippy::expect_used, clippy::cast_precision_loss, reason = "a benchmark may panic")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use playerthree_schema::{Schema, t};
use serde_json::{Value, json};
use std::hint::black_box;

fn schema() -> Schema {
    let unit = t::obj([
        ("id", t::id("u")),
        ("kind", t::literals(["scout", "tank", "worker", "copter"])),
        ("x", t::num(0.0, 512.0)),
        ("y", t::num(0.0, 512.0)),
        ("hp", t::int(0, 1000)),
        ("order", t::opt(t::literals(["idle", "move", "attack", "gather", "build"]))),
        ("target", t::opt(t::id("u"))),
    ]);
    let event = t::union(
        "kind",
        [
            ("hit", vec![("tick", t::int(0, 1_000_000)), ("unit", t::id("u")), ("damage", t::int(0, 1000))]),
            ("lost", vec![("tick", t::int(0, 1_000_000)), ("unit", t::id("u"))]),
        ],
    );
    t::obj([
        ("tick", t::int(0, 1_000_000)),
        ("side", t::literals(["red", "blue", "green", "gold"])),
        ("note", t::pattern(64, "^[a-z ]{0,64}$")),
        ("units", t::list(unit, 400)),
        ("terrain", t::ints(4096, 0, 9)),
        ("events", t::list(event, 200)),
    ])
}

fn observation() -> Value {
    let kinds = ["scout", "tank", "worker", "copter"];
    let units: Vec<Value> = (0..170)
        .map(|index| {
            json!({
                "id": format!("u_{index}"), "kind": kinds[index % 4], "x": index as f64 * 1.25, "y": 7.5,
                "hp": 100 + index, "order": "move", "target": "u_1"
            })
        })
        .collect();
    let events: Vec<Value> = (0..40)
        .map(|index| json!({ "kind": "hit", "tick": index, "unit": format!("u_{index}"), "damage": 12 }))
        .collect();
    json!({
        "tick": 4000, "side": "red", "note": "hold the northern bridge", "units": units,
        "terrain": vec![3; 1024], "events": events
    })
}

fn validate(c: &mut Criterion) {
    let (schema, observation) = (schema(), observation());
    let bytes = observation.to_string().len();
    let peer = jsonschema::validator_for(&schema.json_schema()).expect("the export is a JSON Schema");
    schema.validate(&observation).expect("the observation conforms");
    assert!(peer.is_valid(&observation));
    let mut group = c.benchmark_group(format!("observation of {bytes} bytes"));
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("playerthree-schema", |b| {
        b.iter(|| schema.validate(black_box(&observation)).is_ok());
    });
    group.bench_function("jsonschema", |b| b.iter(|| peer.is_valid(black_box(&observation))));
    group.finish();
    c.bench_function("export to JSON Schema", |b| b.iter(|| black_box(&schema).json_schema()));
}

criterion_group!(benches, validate);
criterion_main!(benches);
