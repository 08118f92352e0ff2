//! What each client may see: items named by their [`Id`], each under tags.
//!
//! A view starts empty: an item nobody added, or one that is unknown, is seen by no one.

use std::collections::HashSet;
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
}

/// Who sees a segment: everybody whose view holds all of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Audience(Vec<(Id, Tag)>);

impl Audience {
    pub(crate) fn is_everyone(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, id: Id, tag: Tag) {
        self.0.push((id, tag));
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    fn within(&self, held: &HashSet<(Id, Tag)>) -> bool {
        self.0.iter().all(|pair| held.contains(pair))
    }

    /// Whether what encloses the segment is seen.
    fn enclosing_within(&self, held: &HashSet<(Id, Tag)>) -> bool {
        self.0.iter().rev().skip(1).all(|pair| held.contains(pair))
    }
}

/// What one client may see beyond what everybody sees. Changes reach the client with the next patch.
#[derive(Clone, Debug, Default)]
pub struct View {
    wanted: HashSet<(Id, Tag)>,
    /// What the client has been shown.
    shown: HashSet<(Id, Tag)>,
    changed: bool,
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
        if self.wanted.len() >= MAX_VIEW_ENTRIES && !self.wanted.contains(&(id, tag)) {
            return false;
        }
        self.changed |= self.wanted.insert((id, tag));
        true
    }

    /// Hides what [`View::add`] showed.
    pub fn remove(&mut self, id: Id) {
        self.remove_tag(id, 0);
    }

    /// Hides what [`View::add_tag`] showed.
    pub fn remove_tag(&mut self, id: Id, tag: Tag) {
        self.changed |= self.wanted.remove(&(id, tag));
    }

    /// Hides everything.
    pub fn clear(&mut self) {
        self.changed |= !self.wanted.is_empty();
        self.wanted.clear();
    }

    /// Whether the view holds `id` under `tag`.
    #[must_use]
    pub fn contains(&self, id: Id, tag: Tag) -> bool {
        self.wanted.contains(&(id, tag))
    }

    /// Whether the client has yet to be shown or denied something.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// Whether a change within `audience` is for this client: it has the content and keeps it.
    pub(crate) fn follows(&self, audience: &Audience) -> bool {
        audience.within(&self.shown) && audience.within(&self.wanted)
    }

    /// Whether something taken out of the state must be taken from this client too.
    pub(crate) fn loses(&self, audience: &Audience) -> bool {
        audience.within(&self.shown) && audience.enclosing_within(&self.wanted)
    }

    /// Whether the content is new to this client.
    pub(crate) fn gains(&self, audience: &Audience) -> bool {
        audience.within(&self.wanted) && !audience.within(&self.shown)
    }

    /// Whether this client has content that it may no longer see, in a place that it still sees.
    pub(crate) fn must_lose(&self, audience: &Audience) -> bool {
        audience.within(&self.shown)
            && !audience.within(&self.wanted)
            && audience.enclosing_within(&self.wanted)
    }

    /// Whether a client that holds nothing is given this content.
    pub(crate) fn sees(&self, audience: &Audience) -> bool {
        audience.within(&self.wanted)
    }

    /// Whether a client that kept what it held may hold content that it must not see, in a place that it sees.
    pub(crate) fn lacks(&self, audience: &Audience) -> bool {
        !audience.within(&self.wanted) && audience.enclosing_within(&self.wanted)
    }

    /// The client has been sent all that was due. `alive` are the items that exist.
    pub(crate) fn settle(&mut self, alive: &HashSet<Id>) {
        self.wanted.retain(|(id, _)| alive.contains(id));
        self.shown.clone_from(&self.wanted);
        self.changed = false;
    }
}
