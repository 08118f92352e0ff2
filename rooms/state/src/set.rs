//! Sets: a bag of which no two items are the same.

use crate::bag::{Bag, BagKey};
use crate::object::State;
use crate::reflection::{Kind, Types};
use crate::scalar::{BigInt, BigUint, Number};
use crate::shared::Search;
use crate::value::{Delta, Item, Present, Value};
use crate::view::Id;
use crate::writer::Writer;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::fmt;
use std::hash::{BuildHasher as _, Hash, Hasher};

/// A type that a [`Set`] can hold: numbers, `bool`, `String`, and structs that derive [`State`] and are [`Eq`] and
/// [`Hash`]. Zero and minus zero are the same, as they are in JavaScript, and so is every NaN.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a set",
    label = "two of these cannot be told apart",
    note = "items of a set are numbers, `bool`, `String`, or structs that derive `State` and are `Eq` and `Hash`"
)]
pub trait Distinct: Item {
    /// Whether both are the same item.
    #[doc(hidden)]
    fn is(&self, other: &Self) -> bool;

    /// A hash that the same items share.
    #[doc(hidden)]
    fn hash_into(&self, state: &mut impl Hasher);
}

impl<S: State + Eq + Hash> Distinct for S {
    fn is(&self, other: &Self) -> bool {
        self == other
    }

    fn hash_into(&self, state: &mut impl Hasher) {
        self.hash(state);
    }
}

macro_rules! distinct {
    ($($type:ty)*) => {$(
        impl Distinct for $type {
            fn is(&self, other: &Self) -> bool {
                self == other
            }

            fn hash_into(&self, state: &mut impl Hasher) {
                self.hash(state);
            }
        }
    )*};
}

distinct!(i8 u8 i16 u16 i32 u32 i64 u64 BigInt BigUint bool String);

macro_rules! distinct_float {
    ($($type:ty, |$value:ident| $double:expr;)*) => {$(
        impl Distinct for $type {
            fn is(&self, other: &Self) -> bool {
                let double = |$value: &Self| $double;
                canonical(double(self)) == canonical(double(other))
            }

            fn hash_into(&self, state: &mut impl Hasher) {
                let $value = self;
                canonical($double).hash(state);
            }
        }
    )*};
}

distinct_float! {
    f32, |value| f64::from(*value);
    f64, |value| *value;
    Number, |value| value.0;
}

/// Bits that are the same for what a JavaScript set holds once.
fn canonical(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

/// Different items without order: clients see it as a `SetSchema`. Removals cost what they do in a [`Bag`].
pub struct Set<T: Distinct> {
    bag: Bag<T>,
    hasher: DefaultHashBuilder,
    keys: HashTable<BagKey>,
}

impl<T: Distinct> Set<T> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self { bag: Bag::new(), hasher: DefaultHashBuilder::default(), keys: HashTable::new() }
    }

    /// Items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bag.len()
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bag.is_empty()
    }

    /// Whether the item is in.
    #[must_use]
    pub fn contains(&self, item: &T) -> bool {
        self.keys.find(hash(&self.hasher, item), is_in(&self.bag, item)).is_some()
    }

    /// Puts an item in. Returns false where it was in already.
    pub fn insert(&mut self, item: T) -> bool {
        if self.contains(&item) {
            return false;
        }
        let hash_of_item = hash(&self.hasher, &item);
        let key = self.bag.insert(item);
        let (bag, hasher) = (&self.bag, &self.hasher);
        let rehash = |key: &BagKey| bag.get(*key).map_or(0, |item| hash(hasher, item));
        self.keys.insert_unique(hash_of_item, key, rehash);
        true
    }

    /// Takes an item out. Returns false where it was not in.
    pub fn remove(&mut self, item: &T) -> bool {
        let entry = self.keys.find_entry(hash(&self.hasher, item), is_in(&self.bag, item));
        let Ok(entry) = entry else { return false };
        let (key, _) = entry.remove();
        self.bag.remove(key).is_some()
    }

    /// Takes all items out.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.bag.clear();
    }

    /// The items, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.bag.iter().map(|(_, item)| item)
    }
}

/// Whether a key is that of an item in the bag.
fn is_in<T: Distinct>(bag: &Bag<T>, item: &T) -> impl Fn(&BagKey) -> bool {
    move |key| bag.get(*key).is_some_and(|known| known.is(item))
}

fn hash<T: Distinct>(hasher: &DefaultHashBuilder, item: &T) -> u64 {
    let mut state = hasher.build_hasher();
    item.hash_into(&mut state);
    state.finish()
}

impl<T: Distinct> Value for Set<T> {
    type Shadow = Option<Id>;
    const IS_REFERENCE: bool = true;

    fn kind(types: &mut Types) -> Kind {
        Kind::collection("set", T::kind(types))
    }

    fn delta(&self, shadow: &Option<Id>, fresh: bool) -> Delta {
        self.bag.delta(shadow, fresh)
    }

    fn write(&mut self, shadow: &mut Option<Id>, w: &mut Writer) {
        self.bag.write(shadow, w);
    }

    fn repeat(&self, op: impl FnOnce(&mut Writer), shadow: &Option<Id>, w: &mut Writer) -> bool {
        self.bag.repeat(op, shadow, w)
    }

    fn patch_content(&mut self, shadow: &mut Option<Id>, w: &mut Writer) {
        self.bag.patch_content(shadow, w);
    }

    fn repeat_content(&self, shadow: &Option<Id>, w: &mut Writer) {
        self.bag.repeat_content(shadow, w);
    }

    fn find_shared(&self, search: &mut Search) {
        self.bag.find_shared(search);
    }
}

impl<T: Distinct> Present for Set<T> {}

impl<T: Distinct> Default for Set<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Distinct> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut set = Self::new();
        set.extend(items);
        set
    }
}

impl<T: Distinct> Extend<T> for Set<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}

impl<T: Distinct + Clone> Clone for Set<T> {
    /// A set of its own with the same items: clients see it as another one.
    fn clone(&self) -> Self {
        self.iter().cloned().collect()
    }
}

impl<T: Distinct + fmt::Debug> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Set;

    // The decoders of generations 0.16 and 0.17 leave out what they find in their set, as JavaScript compares it.
    #[test]
    fn floats_are_the_same_where_javascript_says_so() {
        let mut set = Set::new();
        assert!(set.insert(-0.0_f64) && set.insert(f64::NAN) && set.insert(0.1));
        assert!(!set.insert(0.0) && !set.insert(-f64::NAN) && !set.insert(0.1));
        assert!(set.contains(&0.0) && set.remove(&0.0));
        assert_eq!(set.len(), 2);
    }
}
