//! What each client may see: items named by their [`Id`], each under tags.
//!
//! A view starts empty: an item nobody added, or one that is unknown, is seen by no one.

use hashbrown::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// A group of restricted fields, 0 to 63. Items of a [`ViewMap`](crate::ViewMap) and fields marked
/// `#[state(view)]` have tag 0.
pub type Tag = u8;

/// The most entries of one view. A view that is full takes no more.
pub const MAX_VIEW_ENTRIES: usize = 65_536;

/// Names one item of a collection, or the root, for as long as it exists. No two items ever share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u64);

impl Id {
    /// The state itself.
    pub const ROOT: Self = Self(1);
    /// An item that nobody asked the name of: no view can hold it.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(2);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The name, which is made where there is none.
    pub(crate) fn or_fresh(&mut self) -> Self {
        if *self == Self::NONE {
            *self = Self::fresh();
        }
        *self
    }

    /// The name, if there is one.
    pub(crate) fn known(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// An item under a tag: what a view holds. One number, because most of what is done with it is to hash it. Ids are
/// counted up from 2, so that the highest bits of one are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pair(u64);

impl Pair {
    pub(crate) fn new(id: Id, tag: Tag) -> Self {
        Self(id.0 << 8 | u64::from(tag))
    }

    fn id(self) -> Id {
        Id(self.0 >> 8)
    }
}

/// What one client may see beyond what everybody sees. Changes reach the client with the next patch.
///
/// An item that is gone leaves its views by and by; one that is not there yet does not come in.
#[derive(Clone, Debug, Default)]
pub struct View {
    wanted: HashSet<Pair>,
    /// What the client has been shown and is wanted no more, or the other way round.
    changed: HashSet<Pair>,
    /// Entries after those of gone items were last taken out.
    swept: usize,
}

impl View {
    /// Shows an item of a [`ViewMap`](crate::ViewMap), and the fields marked `#[state(view)]` of any item.
    ///
    /// Returns false where the view holds [`MAX_VIEW_ENTRIES`] and takes no more.
    pub fn add(&mut self, id: Id) -> bool {
        self.add_tag(id, 0)
    }

    /// Shows the fields of an item that are marked with `tag`. Limits as [`View::add`].
    pub fn add_tag(&mut self, id: Id, tag: Tag) -> bool {
        let pair = Pair::new(id, tag);
        if self.wanted.len() >= MAX_VIEW_ENTRIES && !self.wanted.contains(&pair) {
            return false;
        }
        if self.wanted.insert(pair) {
            toggle(&mut self.changed, pair);
        }
        true
    }

    /// Hides what [`View::add`] showed.
    pub fn remove(&mut self, id: Id) {
        self.remove_tag(id, 0);
    }

    /// Hides what [`View::add_tag`] showed.
    pub fn remove_tag(&mut self, id: Id, tag: Tag) {
        let pair = Pair::new(id, tag);
        if self.wanted.remove(&pair) {
            toggle(&mut self.changed, pair);
        }
    }

    /// Hides everything.
    pub fn clear(&mut self) {
        for pair in self.wanted.drain() {
            toggle(&mut self.changed, pair);
        }
    }

    /// Whether the view holds `id` under `tag`.
    #[must_use]
    pub fn contains(&self, id: Id, tag: Tag) -> bool {
        self.wanted.contains(&Pair::new(id, tag))
    }

    /// Whether the client has yet to be shown or denied something.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// What the client has yet to be shown or denied.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Pair> {
        self.changed.iter()
    }

    fn shows(&self, pair: &Pair) -> bool {
        self.wanted.contains(pair) != self.changed.contains(pair)
    }

    fn shows_all(&self, audience: &[Pair]) -> bool {
        audience.iter().rev().all(|pair| self.shows(pair))
    }

    fn wants_all(&self, audience: &[Pair]) -> bool {
        audience.iter().rev().all(|pair| self.wanted.contains(pair))
    }

    /// Whether the client is to see what encloses something of this audience.
    fn wants_around(&self, audience: &[Pair]) -> bool {
        self.wants_all(audience.split_last().map_or(&[], |(_, around)| around))
    }

    /// Whether a change within `audience` is for this client: it has the content and keeps it.
    pub(crate) fn follows(&self, audience: &[Pair]) -> bool {
        self.wants_all(audience) && (self.changed.is_empty() || self.shows_all(audience))
    }

    /// Whether something taken out of the state must be taken from this client too.
    pub(crate) fn loses(&self, audience: &[Pair]) -> bool {
        self.shows_all(audience) && self.wants_around(audience)
    }

    /// Whether the content is new to this client.
    pub(crate) fn gains(&self, audience: &[Pair]) -> bool {
        self.wants_all(audience) && !self.shows_all(audience)
    }

    /// Whether this client has content that it may no longer see, in a place that it still sees.
    pub(crate) fn must_lose(&self, audience: &[Pair]) -> bool {
        self.shows_all(audience) && !self.wants_all(audience) && self.wants_around(audience)
    }

    /// Whether a client that holds nothing is given this content.
    pub(crate) fn sees(&self, audience: &[Pair]) -> bool {
        self.wants_all(audience)
    }

    /// Whether a client that kept what it held may hold content that it must not see, in a place that it sees.
    pub(crate) fn lacks(&self, audience: &[Pair]) -> bool {
        !self.wants_all(audience) && self.wants_around(audience)
    }

    /// The client has been sent all that was due. Items that are not `alive` do not come in, and are taken out once the
    /// view has doubled or is full.
    pub(crate) fn settle(&mut self, alive: impl Fn(Id) -> bool) {
        for pair in self.changed.drain().filter(|pair| !alive(pair.id())) {
            self.wanted.remove(&pair);
        }
        if self.wanted.len() >= MAX_VIEW_ENTRIES.min(2 * self.swept.max(32)) {
            self.wanted.retain(|pair| alive(pair.id()));
            self.swept = self.wanted.len();
        }
    }
}

/// Puts a pair in, or takes it out where it is in.
fn toggle(pairs: &mut HashSet<Pair>, pair: Pair) {
    if !pairs.remove(&pair) {
        pairs.insert(pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_and_removed_again_is_no_change() {
        let (mut view, id) = (View::default(), Id::fresh());
        let audience = [Pair::new(id, 0)];
        view.add(id);
        assert!(view.is_changed() && view.gains(&audience));
        view.remove(id);
        assert!(!view.is_changed());
        view.add(id);
        view.settle(|alive| alive == id);
        assert!(!view.is_changed() && view.follows(&audience) && !view.follows(&[Pair::new(id, 1)]));
        view.clear();
        assert!(view.is_changed() && view.must_lose(&audience));
        view.add(id);
        assert!(!view.is_changed() && view.follows(&audience));
    }

    #[test]
    fn items_that_are_gone_leave_a_view_before_it_is_full() {
        let mut view = View::default();
        let mut alive: HashSet<Id> = (0..50).map(|_| Id::fresh()).collect();
        alive.iter().for_each(|id| assert!(view.add(*id)));
        for _ in 0..2 * MAX_VIEW_ENTRIES {
            let id = Id::fresh();
            assert!(view.add(id));
            alive.insert(id);
            view.settle(|id| alive.contains(&id));
            alive.remove(&id);
            assert!(view.wanted.len() <= 2 * alive.len() + 2);
        }
        assert!(alive.iter().all(|id| view.contains(*id, 0)));
    }
}
