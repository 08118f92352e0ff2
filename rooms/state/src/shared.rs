//! Instances that stand in several places of a state at once.
//!
//! A place says only the reference; content is written once, after the places. An instance that is borrowed for change
//! queues itself with its state, because none of its places may be touched. What clients forget is found as they find
//! it: after a patch that took something away, an instance that no place leads to any more is no longer known. Two
//! contents are never locked at once.

use crate::object::{self, Node, State};
use crate::reflection::{Kind, Types};
use crate::value::{Delta, Item, Present, Value};
use crate::view::Id;
use crate::writer::{Fault, Writer};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

/// A struct that can stand in several places of one state: in fields, [`Map`](crate::Map)s and
/// [`List`](crate::List)s. Clients hold one instance in all of them, and a change is sent once.
///
/// It is a handle: a clone is the same instance. A game may keep one outside the state. One borrow of an instance can
/// be alive at a time.
pub struct Shared<T: State>(Arc<Instance<T>>);

struct Instance<T: State> {
    id: Id,
    content: Mutex<Content<T>>,
    standing: Mutex<Standing>,
}

struct Content<T: State> {
    value: T,
    node: Node<T::Shadow>,
}

/// What a state's clients know of an instance.
#[derive(Default)]
struct Standing {
    /// Zero where they do not know it.
    reference: u32,
    home: Weak<Queue>,
    queued: bool,
    /// They know the reference and none of the fields.
    fresh: bool,
    /// The last search that came across it.
    search: u64,
}

/// The instances of a state that have something to tell.
#[derive(Default)]
pub(crate) struct Queue {
    instances: Mutex<Vec<Arc<dyn Told>>>,
    /// How many there are, for states that share nothing: they look here at every patch.
    len: AtomicUsize,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    fn push(&self, instance: Arc<dyn Told>) {
        let mut instances = lock(&self.instances);
        instances.push(instance);
        self.len.store(instances.len(), Ordering::Release);
    }

    fn pop(&self) -> Option<Arc<dyn Told>> {
        if self.is_empty() {
            return None;
        }
        let mut instances = lock(&self.instances);
        let last = instances.pop();
        self.len.store(instances.len(), Ordering::Release);
        last
    }
}

/// An instance that the clients were told of.
pub(crate) trait Told: Send + Sync {
    fn patch(&self, w: &mut Writer);
    fn repeat(&self, w: &mut Writer);
    /// Looks for instances inside this one.
    fn search(&self, search: &mut Search);
    /// Forgets the instance, unless the search came across it. Returns whether it is still known.
    fn keep(&self, search: u64) -> bool;
}

/// Goes through a state and marks the instances in it.
#[doc(hidden)]
pub struct Search {
    number: u64,
    found: Vec<Arc<dyn Told>>,
}

/// No panic leaves these values half changed: what is inside is a game's own, and stays what the game made of it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A shared instance, to read.
pub struct Ref<'a, T: State>(MutexGuard<'a, Content<T>>);

/// A shared instance, to change.
pub struct RefMut<'a, T: State>(MutexGuard<'a, Content<T>>);

impl<T: State> Shared<T> {
    /// A new instance, in no place yet.
    #[must_use]
    pub fn new(value: T) -> Self {
        let content = Mutex::new(Content { value, node: Node::default() });
        Self(Arc::new(Instance { id: Id::fresh(), content, standing: Mutex::default() }))
    }

    /// The instance, to read.
    ///
    /// # Panics
    /// If it is borrowed already.
    #[must_use]
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref(self.content())
    }

    /// The instance, to change: the next patch compares it with what the clients hold.
    ///
    /// # Panics
    /// If it is borrowed already.
    #[must_use]
    pub fn borrow_mut(&self) -> RefMut<'_, T> {
        let content = self.content();
        self.0.queue(&mut lock(&self.0.standing));
        RefMut(content)
    }

    #[expect(clippy::panic, reason = "a second borrow would wait for the first for ever")]
    fn content(&self) -> MutexGuard<'_, Content<T>> {
        match self.0.content.try_lock() {
            Ok(content) => content,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => panic!("a shared instance is borrowed twice"),
        }
    }

    /// The name of the instance in views, for its fields marked `#[state(view)]`.
    #[must_use]
    pub fn id(&self) -> Id {
        self.0.id
    }

    /// Whether both are the same instance.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: State> Instance<T> {
    fn queue(self: &Arc<Self>, standing: &mut Standing) {
        if standing.reference != 0
            && !standing.queued
            && let Some(home) = standing.home.upgrade()
        {
            standing.queued = true;
            home.push(self.clone());
        }
    }

    /// The reference under which the clients of this writer know the instance from now on.
    fn introduce(self: &Arc<Self>, w: &mut Writer) -> u32 {
        if !w.is_for_everyone() {
            w.fault = Some(Fault::SharedInView);
        }
        let mut standing = lock(&self.standing);
        let home = standing.home.upgrade();
        if home.as_ref().is_some_and(|home| !Arc::ptr_eq(home, &w.queue)) {
            w.fault = Some(Fault::SharedElsewhere);
        } else if home.is_none() || standing.reference == 0 {
            let home = Arc::downgrade(&w.queue);
            *standing = Standing { reference: w.fresh_ref(), home, fresh: true, ..Standing::default() };
            w.known.push(self.clone());
            self.queue(&mut standing);
        }
        standing.reference
    }
}

impl<T: State> Told for Instance<T> {
    fn patch(&self, w: &mut Writer) {
        let (reference, fresh) = {
            let mut standing = lock(&self.standing);
            standing.queued = false;
            (standing.reference, std::mem::take(&mut standing.fresh))
        };
        if reference == 0 {
            return;
        }
        let Content { value, node } = &mut *lock(&self.content);
        if fresh {
            *node = Node { reference, fresh, fields: T::Shadow::default() };
        }
        w.item = self.id;
        object::patch(value, node, w);
        w.item = Id::ROOT;
    }

    fn repeat(&self, w: &mut Writer) {
        let Content { value, node } = &*lock(&self.content);
        w.item = self.id;
        w.meet(self.id);
        object::repeat(value, node, w);
        w.item = Id::ROOT;
    }

    fn search(&self, search: &mut Search) {
        lock(&self.content).value.find_shared(search);
    }

    fn keep(&self, search: u64) -> bool {
        let mut standing = lock(&self.standing);
        let kept = standing.search == search;
        if !kept {
            standing.reference = 0;
        }
        kept
    }
}

/// Writes what the instances of a state have to tell, those that come up on the way included.
pub(crate) fn patch<S: State>(state: &S, w: &mut Writer) {
    forget(state, w);
    while let Some(instance) = w.queue.pop() {
        instance.patch(w);
    }
    forget(state, w);
}

/// Writes the instances that a full state came across.
pub(crate) fn repeat(w: &mut Writer) {
    while let Some(instance) = w.waiting.pop() {
        instance.repeat(w);
    }
    w.met.clear();
}

/// Forgets the instances that no place leads to, if the patch took anything away.
fn forget<S: State>(state: &S, w: &mut Writer) {
    if !std::mem::take(&mut w.removed) || w.known.is_empty() {
        return;
    }
    w.searches += 1;
    let mut search = Search { number: w.searches, found: Vec::new() };
    state.find_shared(&mut search);
    while let Some(instance) = search.found.pop() {
        instance.search(&mut search);
    }
    w.known.retain(|instance| instance.keep(search.number));
}

impl<T: State> Value for Shared<T> {
    type Shadow = Option<Id>;
    const IS_REFERENCE: bool = true;
    const IS_INSTANCE: bool = true;
    const SHARES: bool = true;

    fn kind(types: &mut Types) -> Kind {
        T::kind(types)
    }

    fn delta(&self, shadow: &Option<Id>, fresh: bool) -> Delta {
        Delta::of_identity(self.0.id, *shadow, fresh)
    }

    fn write(&mut self, shadow: &mut Option<Id>, w: &mut Writer) {
        *shadow = Some(self.0.id);
        let reference = self.0.introduce(w);
        w.count(reference);
    }

    fn repeat(&self, op: impl FnOnce(&mut Writer), _: &Option<Id>, w: &mut Writer) -> bool {
        op(w);
        w.count(lock(&self.0.standing).reference);
        true
    }

    fn repeat_content(&self, _: &Option<Id>, w: &mut Writer) {
        if w.met.insert(self.0.id) {
            w.waiting.push(self.0.clone());
        }
    }

    fn find_shared(&self, search: &mut Search) {
        let mut standing = lock(&self.0.standing);
        if standing.search != search.number {
            standing.search = search.number;
            search.found.push(self.0.clone());
        }
    }
}

impl<T: State> Present for Shared<T> {}
impl<T: State> Item for Shared<T> {}

impl<T: State> Clone for Shared<T> {
    /// Another handle to the same instance.
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: State + Default> Default for Shared<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: State> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: State> fmt::Debug for Shared<T> {
    /// The name alone: instances may lead to each other in a circle.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.0.id).finish()
    }
}

impl<T: State> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: State> Deref for RefMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: State> DerefMut for RefMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.value
    }
}
