//! Collections and options at random.

use crate::model::{Model, some};
use crate::scalars::key;
use crate::sight::Sight;
use fastrand::Rng;
use playerthree_rooms_state::{Bag, Distinct, Id, Item, List, Present, Set, Table};
use serde_json::{Value, json};

impl<V: Model + Present> Model for Option<V> {
    fn random(rng: &mut Rng) -> Self {
        rng.bool().then(|| V::random(rng))
    }

    fn mutate(&mut self, rng: &mut Rng) {
        match self {
            Some(value) if rng.u8(0..3) > 0 => value.mutate(rng),
            _ => *self = Self::random(rng),
        }
    }

    fn seen(&self, sight: &mut Sight<'_>) -> Value {
        self.as_ref().map_or(json!("undefined"), |value| value.seen(sight))
    }

    fn any_id(&mut self, rng: &mut Rng) -> Option<Id> {
        self.as_mut()?.any_id(rng)
    }
}

impl<V: Model + Item, const BY_VIEW: bool> Model for Table<V, BY_VIEW> {
    fn random(rng: &mut Rng) -> Self {
        some(rng, |rng| (key(std::iter::empty(), rng), V::random(rng))).into_iter().collect()
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let key = key(self.keys(), rng);
        match rng.u8(0..20) {
            0 => self.clear(),
            1 => *self = Self::random(rng),
            2 => self.retain(|_, value| {
                value.mutate(rng);
                rng.bool()
            }),
            3 => self.values_mut().for_each(|value| value.mutate(rng)),
            4..=6 => drop(self.remove(&key)),
            7..=8 => {
                if let Some(value) = self.remove(&key) {
                    self.insert(key, value);
                }
            }
            9 => {
                self.remove(&key);
                self.insert(key, V::random(rng));
            }
            10..=14 => match self.get_mut(&key) {
                Some(value) => value.mutate(rng),
                None => drop(self.insert(key, V::random(rng))),
            },
            _ => drop(self.insert(key, V::random(rng))),
        }
    }

    fn seen(&self, sight: &mut Sight<'_>) -> Value {
        sight.structure();
        let mut entries = serde_json::Map::new();
        for (key, value) in self.iter() {
            let seen = sight.openly(self.known_id(key), |sight| {
                let look = |sight: &mut Sight<'_>| {
                    sight.text(key);
                    value.seen(sight)
                };
                if BY_VIEW { sight.restricted(0, look) } else { Some(look(sight)) }
            });
            entries.extend(seen.map(|seen| (key.to_owned(), seen)));
        }
        json!({ "map": entries })
    }

    fn any_id(&mut self, rng: &mut Rng) -> Option<Id> {
        let keys: Vec<String> = self.keys().map(str::to_owned).collect();
        let key = rng.choice(keys)?;
        if rng.bool() {
            return self.id(&key);
        }
        self.get_mut(&key)?.any_id(rng).or_else(|| self.id(&key))
    }
}

impl<T: Model + Item> Model for List<T> {
    fn random(rng: &mut Rng) -> Self {
        some(rng, T::random).into()
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let (at, other) = (rng.usize(0..self.len() + 1), rng.usize(0..self.len() + 1));
        match rng.u8(0..24) {
            0 => self.clear(),
            1 => *self = Self::random(rng),
            2 => self.reverse(),
            3 => self.sort_by(|a, b| sorted(a).cmp(&sorted(b))),
            4 => self.retain(|_| rng.bool()),
            5 => self.truncate(at),
            6..=7 => self.swap(at, other),
            8..=9 => drop(self.remove(at)),
            10 => drop(self.swap_remove(at)),
            11 => drop(self.pop()),
            12..=13 => self.insert(at, T::random(rng)),
            14 => drop(self.replace(at, T::random(rng))),
            15 => {
                if let Some(item) = self.remove(at) {
                    self.insert(other, item);
                }
            }
            16 => self.iter_mut().for_each(|item| item.mutate(rng)),
            17..=20 if at < self.len() => self[at].mutate(rng),
            _ => self.push(T::random(rng)),
        }
    }

    fn seen(&self, sight: &mut Sight<'_>) -> Value {
        sight.structure();
        let items = self.iter().enumerate();
        items.map(|(at, item)| sight.openly(self.known_id(at), |sight| item.seen(sight))).collect()
    }

    fn any_id(&mut self, rng: &mut Rng) -> Option<Id> {
        let at = rng.usize(0..self.len().max(1));
        if rng.bool() {
            return self.id(at);
        }
        self.get_mut(at)?.any_id(rng).or_else(|| self.id(at))
    }
}

fn sorted(item: &impl Model) -> String {
    item.seen(&mut Sight::of_all()).to_string()
}

fn unordered(items: impl Iterator<Item = Value>) -> Value {
    let mut items: Vec<_> = items.map(|item| item.to_string()).collect();
    items.sort();
    json!({ "unordered": items })
}

impl<T: Model + Item> Model for Bag<T> {
    fn random(rng: &mut Rng) -> Self {
        some(rng, T::random).into_iter().collect()
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let keys: Vec<_> = self.iter().map(|(key, _)| key).collect();
        let key = rng.choice(keys);
        match (rng.u8(0..12), key) {
            (0, _) => self.clear(),
            (1, _) => *self = Self::random(rng),
            (2..=4, Some(key)) => drop(self.remove(key)),
            (5..=7, Some(key)) => self.get_mut(key).unwrap().mutate(rng),
            _ => drop(self.insert(T::random(rng))),
        }
    }

    fn seen(&self, sight: &mut Sight<'_>) -> Value {
        sight.structure();
        unordered(self.iter().map(|(key, item)| sight.openly(self.known_id(key), |sight| item.seen(sight))))
    }

    fn any_id(&mut self, rng: &mut Rng) -> Option<Id> {
        let keys: Vec<_> = self.iter().map(|(key, _)| key).collect();
        let key = rng.choice(keys)?;
        if rng.bool() {
            return self.id(key);
        }
        self.get_mut(key)?.any_id(rng).or_else(|| self.id(key))
    }
}

impl<T: Model + Distinct> Model for Set<T> {
    fn random(rng: &mut Rng) -> Self {
        some(rng, T::random).into_iter().collect()
    }

    fn mutate(&mut self, rng: &mut Rng) {
        let item = T::random(rng);
        match rng.u8(0..12) {
            0 => self.clear(),
            1 => *self = Self::random(rng),
            2..=5 => drop(self.remove(&item)),
            _ => drop(self.insert(item)),
        }
    }

    fn seen(&self, sight: &mut Sight<'_>) -> Value {
        sight.structure();
        unordered(self.iter().map(|item| item.seen(sight)))
    }
}
