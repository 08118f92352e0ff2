//! Series of versions through this crate and its Rust peers, for `tests/delta`, which has the peers of other languages:
//! `compare messages` prints what each writer sends, `compare cpu` what that takes. One JSON object a line.
//!
//! - `{"series", "versions", "messages": {writer: [message, ...]}}`: message i leads from version i to version i + 1.
//! - `{"series", "writer", "diffUs", "applyUs"}`: processor time per version, in microseconds.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a tool for measurements ends where something is wrong"
)]
#![expect(clippy::print_stdout, reason = "printing is what it is for")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small positive numbers"
)]

mod clock;
mod series;
mod writers;

use serde_json::json;
use writers::{Deltas, MergePatches, Patches, Writer};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("messages") => series::all().iter().for_each(print_messages),
        Some("cpu") => series::all().iter().for_each(|series| {
            print_cpu::<Deltas>(series);
            print_cpu::<Patches>(series);
            print_cpu::<MergePatches>(series);
        }),
        _ => panic!("compare messages|cpu"),
    }
}

fn print_messages(series: &series::Series) {
    let versions = &series.versions;
    let line = json!({
        "series": series.name,
        "versions": versions,
        "messages": {
            Deltas::NAME: messages::<Deltas>(versions),
            Patches::NAME: messages::<Patches>(versions),
            MergePatches::NAME: messages::<MergePatches>(versions),
        },
    });
    println!("{line}");
}

fn messages<W: Writer>(versions: &[serde_json::Value]) -> Vec<serde_json::Value> {
    versions.windows(2).map(|pair| W::wire(&W::diff(&pair[0], &pair[1]))).collect()
}

fn print_cpu<W: Writer>(series: &series::Series) {
    let (diff_us, apply_us) = clock::measure::<W>(&series.versions);
    println!(
        "{{\"series\":\"{}\",\"writer\":\"{}\",\"diffUs\":{diff_us:.2},\"applyUs\":{apply_us:.2}}}",
        series.name,
        W::NAME
    );
}
