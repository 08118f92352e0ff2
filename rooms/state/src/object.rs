//! Structs: the trait that `#[derive(State)]` implements, and how an instance is written.

use crate::reflection::{Kind, TypeBuilder, Types};
use crate::shared::Search;
use crate::value::{Delta, Item, Present, Value};
use crate::writer::{Fields, Writer};

/// The most fields of one type, those it inherits included. The format has no number for a 64th, and none that every
/// generation reads alike for the 64th either.
pub const MAX_FIELDS: u8 = 63;

/// A struct whose fields clients hold. Derive it.
///
/// ```
/// use playerthree_rooms_state::{Map, State};
///
/// #[derive(State, Default)]
/// struct Player {
///     x: f32,
///     name: String,
/// }
///
/// #[derive(State, Default)]
/// struct World {
///     players: Map<Player>,
/// }
/// ```
///
/// Fields have the order in which they stand, and the name they have, or `#[state(rename = "…")]`. A field marked
/// `#[state(skip)]` is the server's own. `#[state(view)]` or `#[state(view = 3)]` restricts a field to the clients
/// whose [`View`](crate::View) holds the item it is in. `#[state(extends)]` on the first field makes its fields the
/// first fields of this type, as a subclass has those of its parent; no two of them may have one name.
///
/// A crate that has this one through another says where: `#[state(crate = "playerthree_rooms::schema")]` on the
/// struct.
pub trait State: Send + 'static {
    /// What the clients hold of the fields.
    #[doc(hidden)]
    type Shadow: Default + Send + 'static;
    /// Fields, those of the parent included.
    #[doc(hidden)]
    const FIELDS: u8;
    /// What the fields are called.
    #[doc(hidden)]
    const NAMES: &'static Names;
    /// The tags of restricted fields, one bit each.
    #[doc(hidden)]
    const TAGS: u64;

    /// Describes the type whose fields come first.
    #[doc(hidden)]
    fn describe_parent(types: &mut Types) {
        let _ = types;
    }

    /// Names the type's own fields.
    #[doc(hidden)]
    fn describe(ty: &mut TypeBuilder<'_>);

    /// Writes what changed in the fields of one group.
    #[doc(hidden)]
    fn patch_fields(&mut self, shadow: &mut Self::Shadow, group: Group, fresh: bool, w: &mut Fields<'_>);

    /// Writes what changed inside the structures that the fields of one group refer to.
    #[doc(hidden)]
    fn patch_inner(&mut self, shadow: &mut Self::Shadow, group: Group, w: &mut Writer);

    /// Writes all fields of one group.
    #[doc(hidden)]
    fn repeat_fields(&self, shadow: &Self::Shadow, group: Group, w: &mut Writer);

    /// Takes the fields of one group away.
    #[doc(hidden)]
    fn withdraw_fields(group: Group, w: &mut Writer);

    /// Writes all that is inside the structures that the fields of one group refer to.
    #[doc(hidden)]
    fn repeat_inner(&self, shadow: &Self::Shadow, group: Group, w: &mut Writer);

    /// Looks for shared instances in the fields.
    #[doc(hidden)]
    fn search_fields(&self, search: &mut Search);
}

/// The names of a type's own fields, and of those that come first.
#[doc(hidden)]
pub struct Names {
    pub own: &'static [&'static str],
    pub parent: Option<&'static Names>,
}

impl Names {
    /// Whether no own field is called as one that comes first: a decoder holds one value for both.
    #[must_use]
    pub const fn are_distinct(&self) -> bool {
        let mut before = self.parent;
        while let Some(names) = before {
            let mut at = 0;
            while at < self.own.len() {
                if names.contain(self.own[at]) {
                    return false;
                }
                at += 1;
            }
            before = names.parent;
        }
        true
    }

    const fn contain(&self, name: &str) -> bool {
        let mut at = 0;
        while at < self.own.len() {
            if is_same(self.own[at].as_bytes(), name.as_bytes()) {
                return true;
            }
            at += 1;
        }
        false
    }
}

/// Equality, which constants cannot ask for otherwise.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Fields that the same clients see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Group {
    Everyone,
    Tagged(u8),
}

/// An instance as the clients hold it.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Node<F> {
    /// Zero before the clients were told of it, and for the root.
    pub(crate) reference: u32,
    /// The clients know its reference and none of its fields.
    pub(crate) fresh: bool,
    pub(crate) fields: F,
}

/// Writes what changed in an instance.
#[inline]
pub(crate) fn patch<S: State>(state: &mut S, node: &mut Node<S::Shadow>, w: &mut Writer) {
    if !w.has_room() {
        return;
    }
    // Most instances are not, and need no write.
    let fresh = node.fresh;
    if fresh {
        node.fresh = false;
    }
    patch_group(state, node, Group::Everyone, fresh, w);
    if S::TAGS != 0 {
        for tag in tags(S::TAGS) {
            w.restricted(tag, |w| patch_group(state, node, Group::Tagged(tag), fresh, w));
        }
    }
}

#[inline]
fn patch_group<S: State>(
    state: &mut S,
    node: &mut Node<S::Shadow>,
    group: Group,
    fresh: bool,
    w: &mut Writer,
) {
    let mut fields = w.open(node.reference);
    state.patch_fields(&mut node.fields, group, fresh, &mut fields);
    fields.close();
    w.inside(|w| state.patch_inner(&mut node.fields, group, w));
}

/// Writes an instance in full.
pub(crate) fn repeat<S: State>(state: &S, node: &Node<S::Shadow>, w: &mut Writer) {
    if !w.has_room() {
        return;
    }
    repeat_group(state, node, Group::Everyone, w);
    for tag in tags(S::TAGS) {
        w.restricted(tag, |w| repeat_group(state, node, Group::Tagged(tag), w));
        w.removal(tag, |w| {
            w.begin(node.reference);
            S::withdraw_fields(Group::Tagged(tag), w);
        });
    }
}

fn repeat_group<S: State>(state: &S, node: &Node<S::Shadow>, group: Group, w: &mut Writer) {
    let mark = w.begin(node.reference);
    state.repeat_fields(&node.fields, group, w);
    w.end(mark);
    w.inside(|w| state.repeat_inner(&node.fields, group, w));
}

fn tags(mask: u64) -> impl Iterator<Item = u8> {
    (0..64).filter(move |tag| mask >> tag & 1 == 1)
}

impl<S: State> Value for S {
    type Shadow = Node<S::Shadow>;
    const IS_REFERENCE: bool = true;
    const IS_INSTANCE: bool = true;

    fn kind(types: &mut Types) -> Kind {
        Kind::Struct(types.of::<S>())
    }

    #[inline]
    fn delta(&self, shadow: &Self::Shadow, fresh: bool) -> Delta {
        if fresh || shadow.reference == 0 { Delta::Set } else { Delta::Same }
    }

    fn write(&mut self, shadow: &mut Self::Shadow, w: &mut Writer) {
        *shadow = Node { reference: w.fresh_ref(), fresh: true, fields: S::Shadow::default() };
        w.count(shadow.reference);
    }

    fn repeat(&self, op: impl FnOnce(&mut Writer), shadow: &Self::Shadow, w: &mut Writer) -> bool {
        op(w);
        w.count(shadow.reference);
        true
    }

    #[inline]
    fn patch_content(&mut self, shadow: &mut Self::Shadow, w: &mut Writer) {
        patch(self, shadow, w);
    }

    fn repeat_content(&self, shadow: &Self::Shadow, w: &mut Writer) {
        repeat(self, shadow, w);
    }

    #[inline]
    fn find_shared(&self, search: &mut Search) {
        self.search_fields(search);
    }
}

impl<S: State> Present for S {}
impl<S: State> Item for S {}
