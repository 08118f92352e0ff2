//! A state with restricted fields and items, inside each other.

use fastrand::Rng;
use playerthree_rooms_state::{Id, Item, List, Map, State, Table, View, ViewMap};
use serde_json::{Value, json};

#[derive(State)]
struct Note {
    text: String,
    #[state(view = 2)]
    signature: Option<String>,
}

#[derive(State)]
struct Stats {
    speed: u8,
    #[state(view)]
    luck: String,
}

#[derive(State)]
struct Unit {
    hp: u8,
    #[state(view)]
    orders: String,
    #[state(view = 1)]
    plan: Option<Stats>,
    stats: Stats,
    #[state(view = 1)]
    route: List<String>,
    notes: ViewMap<Note>,
}

#[derive(State)]
pub(crate) struct World {
    open: u8,
    #[state(view)]
    seed: String,
    units: ViewMap<Unit>,
    towns: Map<Unit>,
    hands: ViewMap<String>,
    line: List<Unit>,
}

/// What one client sees, and what it must not.
pub(crate) struct Sight<'a> {
    view: &'a View,
    item: Id,
    hidden: bool,
    pub(crate) secrets: Vec<String>,
    pub(crate) structures: usize,
}

impl<'a> Sight<'a> {
    pub(crate) fn new(view: &'a View) -> Self {
        Self { view, item: Id::ROOT, hidden: false, secrets: Vec::new(), structures: 0 }
    }

    fn structure(&mut self) {
        self.structures += usize::from(!self.hidden);
    }

    fn text(&mut self, text: &str) -> Value {
        if self.hidden {
            self.secrets.push(text.to_owned());
        }
        json!(text)
    }

    /// What is within an item that the view must hold under `tag`.
    fn within(&mut self, item: Id, tag: u8, look: impl FnOnce(&mut Self) -> Value) -> Option<Value> {
        let outer = (self.item, self.hidden);
        self.item = item;
        self.hidden |= !self.view.contains(item, tag);
        let seen = look(self);
        let visible = !self.hidden;
        (self.item, self.hidden) = outer;
        visible.then_some(seen)
    }

    fn tagged(&mut self, tag: u8, look: impl FnOnce(&mut Self) -> Value) -> Value {
        self.within(self.item, tag, look).unwrap_or(json!("undefined"))
    }
}

/// A text that no other place ever holds.
fn secret(rng: &mut Rng) -> String {
    format!("<{:016x}>", rng.u64(..))
}

fn key(rng: &mut Rng) -> String {
    format!("k{}", rng.u8(0..4))
}

fn change<V: Item, const BY_VIEW: bool>(
    map: &mut Table<V, BY_VIEW>,
    rng: &mut Rng,
    make: fn(&mut Rng) -> V,
    mutate: fn(&mut V, &mut Rng),
) {
    let key = key(rng);
    match rng.u8(0..12) {
        0 => map.clear(),
        1..=2 => drop(map.remove(&key)),
        3 => {
            map.remove(&key);
            map.insert(key, make(rng));
        }
        4..=8 => match map.get_mut(&key) {
            Some(value) => mutate(value, rng),
            None => drop(map.insert(key, make(rng))),
        },
        _ => drop(map.insert(key, make(rng))),
    }
}

fn ids<V: Item, const BY_VIEW: bool>(map: &mut Table<V, BY_VIEW>) -> Vec<(String, Id)> {
    let keys: Vec<_> = map.keys().map(str::to_owned).collect();
    keys.into_iter().map(|key| map.id(&key).map(|id| (key, id)).unwrap()).collect()
}

/// The entries of a map by view that are seen.
fn entries<V: Item>(
    map: &mut ViewMap<V>,
    sight: &mut Sight<'_>,
    look: fn(&mut V, &mut Sight<'_>) -> Value,
) -> Value {
    sight.structure();
    let mut seen = serde_json::Map::new();
    for (key, id) in ids(map) {
        let value = map.get_mut(&key).unwrap();
        if let Some(value) = sight.within(id, 0, |sight| look(value, sight)) {
            seen.insert(key, value);
        }
    }
    json!({ "map": seen })
}

/// Something within an item that everybody sees.
fn openly(id: Id, sight: &mut Sight<'_>, look: impl FnOnce(&mut Sight<'_>) -> Value) -> Value {
    let outer = std::mem::replace(&mut sight.item, id);
    let seen = look(sight);
    sight.item = outer;
    seen
}

impl Note {
    fn random(rng: &mut Rng) -> Self {
        Self { text: secret(rng), signature: rng.bool().then(|| secret(rng)) }
    }

    fn mutate(&mut self, rng: &mut Rng) {
        *self = Self::random(rng);
    }

    fn seen(&mut self, sight: &mut Sight<'_>) -> Value {
        sight.structure();
        let signature = sight.tagged(2, |sight| match &self.signature {
            Some(text) => sight.text(text),
            None => json!("undefined"),
        });
        json!({ "text": sight.text(&self.text), "signature": signature })
    }
}

impl Stats {
    fn random(rng: &mut Rng) -> Self {
        Self { speed: rng.u8(..), luck: secret(rng) }
    }

    fn seen(&self, sight: &mut Sight<'_>) -> Value {
        sight.structure();
        let luck = sight.tagged(0, |sight| sight.text(&self.luck));
        json!({ "speed": f64::from(self.speed), "luck": luck })
    }
}

impl Unit {
    fn random(rng: &mut Rng) -> Self {
        Self {
            hp: rng.u8(..),
            orders: secret(rng),
            plan: rng.bool().then(|| Stats::random(rng)),
            stats: Stats::random(rng),
            route: (0..rng.usize(0..3)).map(|_| secret(rng)).collect(),
            notes: (0..rng.usize(0..3)).map(|_| (key(rng), Note::random(rng))).collect(),
        }
    }

    fn mutate(&mut self, rng: &mut Rng) {
        match rng.u8(0..7) {
            0 => self.hp = rng.u8(..),
            1 => self.orders = secret(rng),
            2 => self.plan = rng.bool().then(|| Stats::random(rng)),
            3 => self.stats.luck = secret(rng),
            4 => self.route.push(secret(rng)),
            5 => drop(self.route.remove(0)),
            _ => change(&mut self.notes, rng, Note::random, Note::mutate),
        }
    }

    fn seen(&mut self, sight: &mut Sight<'_>) -> Value {
        sight.structure();
        let orders = sight.tagged(0, |sight| sight.text(&self.orders));
        let plan =
            sight.tagged(1, |sight| self.plan.as_ref().map_or(json!("undefined"), |plan| plan.seen(sight)));
        let stats = self.stats.seen(sight);
        let route = sight.tagged(1, |sight| {
            sight.structure();
            self.route.iter().map(|text| sight.text(text)).collect()
        });
        let notes = entries(&mut self.notes, sight, Note::seen);
        json!({
            "hp": f64::from(self.hp), "orders": orders, "plan": plan, "stats": stats, "route": route, "notes": notes,
        })
    }
}

impl World {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        Self {
            open: 0,
            seed: secret(rng),
            units: ViewMap::new(),
            towns: Map::new(),
            hands: ViewMap::new(),
            line: List::new(),
        }
    }

    pub(crate) fn mutate(&mut self, rng: &mut Rng) {
        match rng.u8(0..12) {
            0 => self.open = rng.u8(..),
            1 => self.seed = secret(rng),
            2..=4 => change(&mut self.units, rng, Unit::random, Unit::mutate),
            5..=7 => change(&mut self.towns, rng, Unit::random, Unit::mutate),
            8 => change(&mut self.hands, rng, secret, |text, rng| *text = secret(rng)),
            9 if self.line.len() < 6 => {
                self.line.insert(rng.usize(0..self.line.len() + 1), Unit::random(rng));
            }
            9 => drop(self.line.remove(rng.usize(0..self.line.len()))),
            10 => self.line.iter_mut().for_each(|unit| unit.mutate(rng)),
            _ => self.line.reverse(),
        }
    }

    /// Something that a view can hold.
    pub(crate) fn any_id(&mut self, rng: &mut Rng) -> Option<Id> {
        let mut all = vec![Id::ROOT];
        all.extend(ids(&mut self.towns).into_iter().map(|(_, id)| id));
        self.towns
            .values_mut()
            .for_each(|unit| all.extend(ids(&mut unit.notes).into_iter().map(|(_, id)| id)));
        all.extend(ids(&mut self.units).into_iter().map(|(_, id)| id));
        self.units
            .values_mut()
            .for_each(|unit| all.extend(ids(&mut unit.notes).into_iter().map(|(_, id)| id)));
        all.extend(ids(&mut self.hands).into_iter().map(|(_, id)| id));
        all.extend((0..self.line.len()).filter_map(|index| self.line.id(index)));
        rng.choice(all)
    }

    pub(crate) fn seen(&mut self, sight: &mut Sight<'_>) -> Value {
        sight.structure();
        let seed = sight.tagged(0, |sight| sight.text(&self.seed));
        let units = entries(&mut self.units, sight, Unit::seen);
        sight.structure();
        let mut towns = serde_json::Map::new();
        for (key, id) in ids(&mut self.towns) {
            let town = self.towns.get_mut(&key).unwrap();
            towns.insert(key, openly(id, sight, |sight| town.seen(sight)));
        }
        let hands = entries(&mut self.hands, sight, |text, sight| sight.text(text));
        sight.structure();
        let line: Vec<_> = (0..self.line.len())
            .map(|index| {
                let id = self.line.id(index).unwrap();
                openly(id, sight, |sight| self.line[index].seen(sight))
            })
            .collect();
        json!({
            "open": f64::from(self.open), "seed": seed, "units": units, "towns": { "map": towns }, "hands": hands,
            "line": line,
        })
    }
}
