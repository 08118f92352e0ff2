//! A state together with what its clients hold of it.

use crate::object::{self, Node, State};
use crate::reflection::{self, Dialect, MAX_TYPES};
use crate::segments::{Kind, Said};
use crate::shared;
use crate::view::{Id, Pair, View};
use crate::writer::{Fault, Joining, Writer};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// A game's state, and the encoder that tells clients of it. It dereferences to the state; whoever borrows it to
/// change it makes the next patch look for changes.
pub struct Synced<S: State> {
    state: S,
    node: Node<S::Shadow>,
    writer: Writer,
    touched: bool,
    /// What was last said, whose storage the next patch takes.
    patch: Patch,
    /// Storage of a full state that nobody needs any more.
    spare: Said,
    /// The full states since the last change, one for each way of joining.
    full: [Option<Arc<Full>>; 3],
}

/// What changed since the patch before.
#[derive(Clone, Debug, Default)]
pub struct Patch(Said);

/// All of a state.
#[derive(Debug)]
pub struct Full {
    said: Said,
    alive: Vec<Id>,
    joining: Joining,
    index: OnceLock<Index>,
}

/// Where views that change find what their changes are about. Sorted.
#[derive(Debug)]
struct Index {
    /// The segments that an item's being shown under a tag matters to.
    concerned: Vec<(Pair, usize)>,
    alive: Vec<Id>,
}

impl<S: State> Synced<S> {
    /// Takes a game's state. Nobody has been told of it yet.
    #[must_use]
    pub fn new(state: S) -> Self {
        Self {
            state,
            node: Node { fresh: true, ..Node::default() },
            writer: Writer::new(),
            touched: true,
            patch: Patch::default(),
            spare: Said::default(),
            full: [None, None, None],
        }
    }
}

/// A state whose type a room does not need to know. [`Synced`] is the one there is.
pub trait Synchronized: Send {
    /// The types of the state, for clients of one generation.
    ///
    /// # Errors
    /// [`TooManyTypes`], where there are more than [`MAX_TYPES`].
    fn reflection(&self, dialect: Dialect) -> Result<Vec<u8>, TooManyTypes>;

    /// Whether somebody borrowed the state to change it since the last patch.
    fn is_touched(&self) -> bool;

    /// What changed since the call before; the clients must be sent it. It costs nothing where nobody borrowed the
    /// state to change it.
    ///
    /// # Errors
    /// A [`Fault`]: the clients can no longer be told of the state.
    fn patch(&mut self) -> Result<&Patch, Fault>;

    /// All of the state, after a patch that the clients of before must be sent.
    ///
    /// # Errors
    /// As [`Synchronized::patch`].
    fn full(&mut self, joining: Joining) -> Result<(&Patch, Arc<Full>), Fault>;
}

/// A state has more than [`MAX_TYPES`] types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a state has at most {MAX_TYPES} types")]
pub struct TooManyTypes;

impl<S: State> Synchronized for Synced<S> {
    fn reflection(&self, dialect: Dialect) -> Result<Vec<u8>, TooManyTypes> {
        let (bytes, types) = reflection::reflection::<S>(dialect);
        if types > MAX_TYPES { Err(TooManyTypes) } else { Ok(bytes) }
    }

    fn is_touched(&self) -> bool {
        self.touched || !self.writer.queue.is_empty()
    }

    fn patch(&mut self) -> Result<&Patch, Fault> {
        if let Some(fault) = self.writer.fault {
            return Err(fault);
        }
        if !self.is_touched() {
            self.patch.0.clear();
            return Ok(&self.patch);
        }
        if std::mem::take(&mut self.touched) {
            object::patch(&mut self.state, &mut self.node, &mut self.writer);
        }
        shared::patch(&self.state, &mut self.writer);
        if let Some(fault) = self.writer.fault {
            return Err(fault);
        }
        self.patch.0.clear();
        self.writer.swap(&mut self.patch.0);
        // Even where nothing is told, an item may have been given its name in views.
        for full in &mut self.full {
            if let Some(full) = full.take().and_then(Arc::into_inner) {
                self.spare = full.said;
            }
        }
        Ok(&self.patch)
    }

    fn full(&mut self, joining: Joining) -> Result<(&Patch, Arc<Full>), Fault> {
        self.patch()?;
        if let Some(full) = &self.full[joining as usize] {
            return Ok((&self.patch, full.clone()));
        }
        let mut said = std::mem::take(&mut self.spare);
        said.clear();
        self.writer.swap(&mut said);
        self.writer.joining = joining;
        self.writer.meet(Id::ROOT);
        object::repeat(&self.state, &self.node, &mut self.writer);
        shared::repeat(&mut self.writer);
        if let Some(fault) = self.writer.fault {
            return Err(fault);
        }
        self.writer.swap(&mut said);
        let alive = std::mem::take(&mut self.writer.alive);
        let full = Arc::new(Full { said, alive, joining, index: OnceLock::new() });
        self.full[joining as usize] = Some(full.clone());
        Ok((&self.patch, full))
    }
}

impl<S: State> Deref for Synced<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S: State> DerefMut for Synced<S> {
    fn deref_mut(&mut self) -> &mut S {
        self.touched = true;
        &mut self.state
    }
}

impl Patch {
    /// What every client is sent. Empty where nothing changed for all.
    #[must_use]
    pub fn shared(&self) -> &[u8] {
        self.0.shared.as_slice()
    }

    /// Whether nothing changed for anybody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a client with a view is sent after the shared bytes. `full` is the state after this patch, for a view
    /// that [changed](View::is_changed); the view is told that the client was sent it.
    #[must_use]
    pub fn restricted(&self, view: &mut View, full: Option<&Full>) -> Vec<u8> {
        let mut out = Vec::new();
        for segment in self.0.segments.iter() {
            let due = match segment.kind {
                Kind::Content => view.follows(segment.audience),
                Kind::Entry | Kind::Fields => view.loses(segment.audience),
            };
            if due {
                out.extend_from_slice(segment.bytes);
            }
        }
        if let Some(full) = full {
            full.write_changes(view, &mut out);
            full.settle(view);
        }
        out
    }
}

impl Full {
    /// What every client is sent.
    #[must_use]
    pub fn shared(&self) -> &[u8] {
        self.said.shared.as_slice()
    }

    /// What a client with a view is sent after the shared bytes. The view is told that the client was sent it.
    #[must_use]
    pub fn restricted(&self, view: &mut View) -> Vec<u8> {
        let mut out = Vec::new();
        for segment in self.said.segments.iter() {
            let due = match segment.kind {
                Kind::Content => view.sees(segment.audience),
                Kind::Fields => self.joining != Joining::New && view.lacks(segment.audience),
                Kind::Entry => false,
            };
            if due {
                out.extend_from_slice(segment.bytes);
            }
        }
        self.settle(view);
        out
    }

    /// Writes what a client is shown or denied because its view changed.
    fn write_changes(&self, view: &View, out: &mut Vec<u8>) {
        let mut places: Vec<usize> = view.changes().flat_map(|pair| self.concerned(*pair)).collect();
        places.sort_unstable();
        places.dedup();
        for segment in places.into_iter().filter_map(|place| self.said.segments.get(place)) {
            let due = match segment.kind {
                Kind::Content => view.gains(segment.audience),
                Kind::Entry | Kind::Fields => view.must_lose(segment.audience),
            };
            if due {
                out.extend_from_slice(segment.bytes);
            }
        }
    }

    /// The places of the segments that have `pair` in their audience.
    fn concerned(&self, pair: Pair) -> impl Iterator<Item = usize> {
        let all = &self.index().concerned;
        let first = all.partition_point(|(known, _)| *known < pair);
        all[first..].iter().take_while(move |(known, _)| *known == pair).map(|(_, place)| *place)
    }

    /// A view's client was sent what was due.
    fn settle(&self, view: &mut View) {
        view.settle(|id| self.index().alive.binary_search(&id).is_ok());
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let segments = (0..).zip(self.said.segments.iter());
            let mut concerned: Vec<(Pair, usize)> = segments
                .flat_map(|(place, segment)| segment.audience.iter().map(move |pair| (*pair, place)))
                .collect();
            concerned.sort_unstable();
            let mut alive = self.alive.clone();
            alive.sort_unstable();
            Index { concerned, alive }
        })
    }
}
