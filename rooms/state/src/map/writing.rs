//! What a map says to clients.

use super::{Slot, Table};
use crate::bytes;
use crate::identity;
use crate::reflection;
use crate::segments::Kind;
use crate::shared::Search;
use crate::value::{Delta, Item, Present, Value};
use crate::view::Id;
use crate::writer::{ADD, CLEAR, DELETE, DELETE_AND_ADD, Fault, Fields, Joining, REPLACE, Writer};

impl<V: Item, const BY_VIEW: bool> Table<V, BY_VIEW> {
    /// Forgets what the clients hold: the map comes to a place where they have none, or another.
    fn renew(&mut self) {
        self.touched.clear();
        self.lost.clear();
        for place in 0..self.slots.len() {
            let slot = &mut self.slots[place];
            let gone = slot.value.is_none() && slot.held;
            slot.held = false;
            slot.replaced = false;
            slot.touched = slot.value.is_some();
            #[expect(clippy::cast_possible_truncation, reason = "as in `Places::enter`")]
            let place = place as u32;
            if slot.touched {
                self.touched.push(place);
            } else if gone {
                self.leave(place);
            }
        }
        self.cleared = false;
        self.reshaped = true;
    }

    /// Writes what the map itself says: entries that go, then entries that come or take another's place.
    fn patch_entries(&mut self, w: &mut Writer) {
        if u32::try_from(self.slots.len()).is_err() {
            w.fault = Some(Fault::NoIndexes);
            return;
        }
        let mark = w.begin(self.identity.reference);
        if self.cleared {
            w.op(CLEAR);
        }
        for &place in &self.touched {
            let slot = &self.slots[place as usize];
            if slot.held && slot.value.is_none() {
                w.op(DELETE);
                w.count(place);
            }
        }
        for &place in &self.touched {
            let slot = &mut self.slots[place as usize];
            slot.write(place, self.places.key(place), w);
        }
        w.end(mark);
    }

    /// Writes each entry that came, changed or went, and what is in it, in a segment of its own.
    fn patch_by_view(&mut self, w: &mut Writer) {
        let reference = self.identity.reference;
        for (place, id) in self.lost.drain(..) {
            w.segment(id, 0, Kind::Entry, |w| withdraw(reference, place, w));
        }
        let outer = w.item;
        for &place in &self.touched {
            let slot = &mut self.slots[place as usize];
            if slot.value.is_none() {
                continue;
            }
            slot.held &= !slot.replaced;
            let key = self.places.key(place);
            w.item = slot.id;
            w.segment(slot.id, 0, Kind::Content, |w| {
                let mark = w.begin(reference);
                slot.write(place, key, w);
                w.end(mark);
                if let Some(value) = &mut slot.value {
                    value.patch_content(&mut slot.shadow, w);
                }
            });
        }
        w.item = outer;
    }

    /// Where no entry came or went, this is all there is to do.
    fn patch_items(&mut self, w: &mut Writer) {
        let outer = w.item;
        for &place in &self.touched {
            let slot = &mut self.slots[place as usize];
            if let Some(value) = &mut slot.value {
                slot.touched = false;
                w.item = slot.id;
                value.patch_content(&mut slot.shadow, w);
            }
        }
        w.item = outer;
    }

    /// Everything touched has been written.
    fn settle(&mut self) {
        // `patch_items` has been through the others.
        if self.reshaped || BY_VIEW || !V::IN_PLACE {
            for at in 0..self.touched.len() {
                let place = self.touched[at];
                let slot = &mut self.slots[place as usize];
                slot.touched = false;
                if slot.value.is_none() && slot.held {
                    self.leave(place);
                }
            }
        }
        self.touched.clear();
        self.reshaped = false;
        self.cleared = false;
    }
}

/// Takes an entry away.
fn withdraw(reference: u32, place: u32, w: &mut Writer) {
    w.begin(reference);
    w.op(DELETE);
    w.count(place);
}

impl<V: Item> Slot<V> {
    /// Writes the entry, if it is new to the clients or differs from what they hold.
    fn write(&mut self, place: u32, key: &str, w: &mut Writer) {
        let Some(value) = &mut self.value else { return };
        let replaced = std::mem::take(&mut self.replaced);
        if !self.held {
            self.held = true;
            w.op(ADD);
            w.count(place);
            bytes::string(key, &mut w.out);
            value.write(&mut self.shadow, w);
        } else if (V::IN_PLACE && replaced) || value.delta(&self.shadow, false) == Delta::Replaced {
            w.op(DELETE_AND_ADD);
            w.count(place);
            bytes::string(key, &mut w.out);
            value.write(&mut self.shadow, w);
        } else if value.delta(&self.shadow, false) != Delta::Same {
            w.op(REPLACE);
            w.count(place);
            value.write(&mut self.shadow, w);
        }
    }

    fn repeat(&self, place: u32, key: &str, w: &mut Writer) {
        let Some(value) = &self.value else { return };
        let op = |w: &mut Writer| {
            w.op(ADD);
            w.count(place);
            bytes::string(key, &mut w.out);
        };
        value.repeat(op, &self.shadow, w);
    }
}

impl<V: Item, const BY_VIEW: bool> Value for Table<V, BY_VIEW> {
    type Shadow = Option<Id>;
    const IS_REFERENCE: bool = true;
    const SHARES: bool = V::SHARES;

    fn kind(types: &mut reflection::Types) -> reflection::Kind {
        reflection::Kind::collection("map", V::kind(types))
    }

    fn delta(&self, shadow: &Option<Id>, fresh: bool) -> Delta {
        self.identity.delta(*shadow, fresh)
    }

    fn write(&mut self, shadow: &mut Option<Id>, w: &mut Writer) {
        self.renew();
        self.identity.introduce(shadow, w);
    }

    fn write_field(&mut self, op: u8, shadow: &mut Option<Id>, fields: &mut Fields<'_>) {
        identity::write_field::<V>(op, fields, |w| self.write(shadow, w));
    }

    fn repeat(&self, op: impl FnOnce(&mut Writer), _: &Option<Id>, w: &mut Writer) -> bool {
        self.identity.repeat(op, w)
    }

    fn patch_content(&mut self, _: &mut Option<Id>, w: &mut Writer) {
        if self.touched.is_empty() && !self.cleared {
            return;
        }
        if BY_VIEW {
            self.patch_by_view(w);
        } else {
            if self.reshaped || !V::IN_PLACE {
                self.patch_entries(w);
            }
            if V::IS_REFERENCE {
                self.patch_items(w);
            }
        }
        self.settle();
    }

    fn repeat_content(&self, _: &Option<Id>, w: &mut Writer) {
        let mark = w.begin(self.identity.reference);
        if w.joining == Joining::Additive {
            w.op(CLEAR);
        }
        if !BY_VIEW {
            for (place, (slot, key)) in (0..).zip(self.slots.iter().zip(self.places.keys())) {
                slot.repeat(place, key, w);
            }
        }
        w.end(mark);
        let outer = w.item;
        for (place, (slot, key)) in (0..).zip(self.slots.iter().zip(self.places.keys())) {
            let Some(value) = &slot.value else { continue };
            w.item = slot.id;
            w.meet(slot.id);
            if BY_VIEW {
                w.segment(slot.id, 0, Kind::Content, |w| {
                    w.begin(self.identity.reference);
                    slot.repeat(place, key, w);
                    value.repeat_content(&slot.shadow, w);
                });
                w.segment(slot.id, 0, Kind::Entry, |w| withdraw(self.identity.reference, place, w));
            } else {
                value.repeat_content(&slot.shadow, w);
            }
        }
        w.item = outer;
    }

    fn find_shared(&self, search: &mut Search) {
        self.values().for_each(|item| item.find_shared(search));
    }
}

impl<V: Item, const BY_VIEW: bool> Present for Table<V, BY_VIEW> {}
