//! How a state is mutated at random and what of it is printed.

use crate::model::Model;
use crate::scalars::{Texts, write_texts};
use crate::shared;
use crate::sight::Sight;
use fastrand::Rng;
use playerthree_rooms_state::{Dialect, Joining, State, Synced, Synchronized as _, View};
use serde_json::{Value, json};

/// Clients of a state with views.
const VIEWS: usize = 3;

fn hex(parts: &[&[u8]]) -> String {
    use std::fmt::Write as _;
    parts.iter().flat_map(|part| part.iter()).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn print_handshakes<S: State>(state: &Synced<S>) {
    let reflection = |dialect| hex(&[&state.reflection(dialect).unwrap()]);
    println!("{}", json!({ "joined": reflection(Dialect::Joined), "apart": reflection(Dialect::Apart) }));
}

/// A state that every client sees whole: each step has the patch, and the state in full for one who joins now or comes
/// back.
pub(crate) fn open<S: State + Model>(seed: u64, steps: u32) {
    write_texts(Texts::Edges);
    let mut rng = Rng::with_seed(seed);
    let mut state = Synced::new(S::random(&mut rng));
    print_handshakes(&state);
    for step in 0..steps {
        for _ in 0..rng.usize(0..6) {
            state.mutate(&mut rng);
        }
        if rng.bool() {
            shared::mutate_any(&mut rng);
        }
        let patch = hex(&[state.patch().unwrap().shared()]);
        assert!(state.patch().unwrap().is_empty(), "a second patch of the same state");
        let mut full = |joining| hex(&[state.full(joining).unwrap().1.shared()]);
        let (new, reconciling, additive) =
            (full(Joining::New), full(Joining::Reconciling), full(Joining::Additive));
        let mut sight = Sight::of_all();
        let held = state.seen(&mut sight);
        let line = json!({
            "step": step,
            "patch": patch,
            "full": new,
            "reconciling": reconciling,
            "additive": additive,
            "structures": sight.structures(),
            "state": held,
        });
        println!("{line}");
    }
}

/// Shows or hides something at random.
fn look<S: State + Model>(view: &mut View, state: &mut Synced<S>, rng: &mut Rng) {
    let id = state.any_id(rng).unwrap_or(playerthree_rooms_state::Id::ROOT);
    let tag = [0, 0, 0, 1, 2, 63][rng.usize(0..6)];
    match rng.u8(0..8) {
        0 => view.clear(),
        1..=2 => view.remove_tag(id, tag),
        _ => assert!(view.add_tag(id, tag)),
    }
}

/// A state of which clients see what their views show: each step has what each client is sent, and the secrets of
/// which no byte may be in it.
pub(crate) fn viewed<S: State + Model>(seed: u64, steps: u32) {
    write_texts(Texts::Secrets);
    let mut rng = Rng::with_seed(seed);
    let mut state = Synced::new(S::random(&mut rng));
    print_handshakes(&state);
    let mut views: [View; VIEWS] = Default::default();
    state.patch().unwrap();
    for step in 0..steps {
        for _ in 0..rng.usize(0..4) {
            state.mutate(&mut rng);
        }
        for view in &mut views {
            for _ in 0..rng.usize(0..3) {
                look(view, &mut state, &mut rng);
            }
        }
        let patch = state.patch().unwrap().clone();
        let clients: Vec<Value> = views
            .iter_mut()
            .map(|view| {
                let changed = view.is_changed().then(|| state.full(Joining::New).unwrap().1);
                let restricted = patch.restricted(view, changed.as_deref());
                let mut full = |joining| {
                    let (_, full) = state.full(joining).unwrap();
                    hex(&[full.shared(), &full.restricted(&mut view.clone())])
                };
                let (new, reconciling, additive) =
                    (full(Joining::New), full(Joining::Reconciling), full(Joining::Additive));
                let mut sight = Sight::through(view);
                let held = state.seen(&mut sight);
                json!({
                    "patch": hex(&[patch.shared(), &restricted]),
                    "full": new,
                    "reconciling": reconciling,
                    "additive": additive,
                    "state": held,
                    "structures": sight.structures(),
                    "secrets": sight.secrets(),
                })
            })
            .collect();
        println!("{}", json!({ "step": step, "clients": clients }));
    }
}
