//! What a delta costs: the time of diff and apply per version beside RFC 6902 patches, and the bytes of each.
//!
//! `cargo bench -p playerthree-delta`; the sizes come first, then the times. One iteration goes over a whole series.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a bench ends where its input is wrong")]
#![expect(clippy::print_stdout, reason = "the sizes are a result of the bench")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small positive numbers")]

mod series;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use playerthree_delta::{Delta, apply, diff};
use serde::Serialize;
use serde_json::Value;
use std::hint::black_box;

fn delta(criterion: &mut Criterion) {
    for series in series::all() {
        let versions = &series.versions;
        let deltas: Vec<Delta> =
            pairs(versions).map(|(old, new)| diff(old, new).expect("a change")).collect();
        let patches: Vec<json_patch::Patch> =
            pairs(versions).map(|(old, new)| json_patch::diff(old, new)).collect();
        print_size(series.name, "full", &versions[1..]);
        print_size(series.name, "delta", &deltas);
        print_size(series.name, "json-patch", &patches);

        let mut group = criterion.benchmark_group(series.name);
        group.throughput(Throughput::Elements(deltas.len() as u64));
        group.bench_function("diff", |bencher| {
            bencher.iter(|| pairs(versions).for_each(|(old, new)| drop(black_box(diff(old, new)))));
        });
        group.bench_function("diff/json-patch", |bencher| {
            bencher
                .iter(|| pairs(versions).for_each(|(old, new)| drop(black_box(json_patch::diff(old, new)))));
        });
        group.bench_function("apply", |bencher| {
            let rebuild = |start: Value| deltas.iter().fold(start, |old, delta| apply(old, delta).unwrap());
            bencher.iter_batched(|| versions[0].clone(), rebuild, BatchSize::LargeInput);
        });
        group.bench_function("apply/json-patch", |bencher| {
            let rebuild = |mut document: Value| {
                patches.iter().for_each(|patch| json_patch::patch(&mut document, patch).unwrap());
                document
            };
            bencher.iter_batched(|| versions[0].clone(), rebuild, BatchSize::LargeInput);
        });
        group.finish();
    }
}

fn pairs(versions: &[Value]) -> impl Iterator<Item = (&Value, &Value)> {
    versions.windows(2).map(|pair| (&pair[0], &pair[1]))
}

fn print_size<T: Serialize>(series: &str, form: &str, messages: &[T]) {
    let json: usize = messages.iter().map(|message| serde_json::to_vec(message).unwrap().len()).sum();
    let packed: Vec<usize> =
        messages.iter().map(|message| rmp_serde::to_vec(message).unwrap().len()).collect();
    let (count, worst) = (messages.len(), packed.iter().max().copied().unwrap_or(0));
    println!(
        "{series:<14} {form:<11} bytes per version: JSON {:>7.1}  MessagePack {:>7.1}  worst {worst:>6}",
        json as f64 / count as f64,
        packed.iter().sum::<usize>() as f64 / count as f64,
    );
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(2));
    targets = delta
}
criterion_main!(benches);
