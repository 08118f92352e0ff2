//! Instances that stand in several places, drawn from a pool of each type.

use crate::model::Model;
use crate::sight::Sight;
use fastrand::Rng;
use playerthree_rooms_state::{Shared, State};
use serde_json::Value;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The most instances that places are given. Some of them are in none.
const POOLED: usize = 6;

/// A type's instances.
struct Pool {
    /// A `Vec<Shared<T>>`.
    instances: Box<dyn Any>,
    /// Changes one of them.
    mutate: fn(&mut Rng),
}

thread_local! {
    static POOLS: RefCell<BTreeMap<TypeId, Pool>> = const { RefCell::new(BTreeMap::new()) };
}

/// Changes an instance through none of its places.
pub(crate) fn mutate_any(rng: &mut Rng) {
    // While it runs, it draws from the pools itself.
    if let Some(mutate) = POOLS.with_borrow(|pools| rng.choice(pools.values()).map(|pool| pool.mutate)) {
        mutate(rng);
    }
}

fn with_pool<T: Model + State, R>(act: impl FnOnce(&mut Vec<Shared<T>>) -> R) -> R {
    POOLS.with_borrow_mut(|pools| {
        let instances = || Box::new(Vec::<Shared<T>>::new());
        let pool = pools
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Pool { instances: instances(), mutate: mutate_one::<T> });
        act(pool.instances.downcast_mut().unwrap())
    })
}

fn mutate_one<T: Model + State>(rng: &mut Rng) {
    if let Some(instance) = with_pool::<T, _>(|pool| rng.choice(&*pool).cloned()) {
        instance.borrow_mut().mutate(rng);
    }
}

impl<T: Model + State> Model for Shared<T> {
    fn random(rng: &mut Rng) -> Self {
        let at = rng.usize(0..POOLED);
        if let Some(known) = with_pool::<T, _>(|pool| pool.get(at).cloned())
            && rng.u8(0..8) > 0
        {
            return known;
        }
        let instance = Self::new(T::random(rng));
        with_pool(|pool| match pool.get_mut(at) {
            Some(place) => place.clone_from(&instance),
            None => pool.push(instance.clone()),
        });
        instance
    }

    fn mutate(&mut self, rng: &mut Rng) {
        if rng.bool() {
            self.borrow_mut().mutate(rng);
        } else {
            *self = Self::random(rng);
        }
    }

    fn seen(&self, sight: &mut Sight<'_>) -> Value {
        let first = sight.shared(self.id());
        // Its structures are counted where it is met first.
        let mut again = Sight::of_all();
        sight.openly(Some(self.id()), |sight| self.borrow().seen(if first { sight } else { &mut again }))
    }
}
