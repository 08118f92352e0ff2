//! The types of a state, and the handshake in which each generation of clients learns them.
//!
//! A reflection is itself a full state of the format, of a type that all clients know; it is written by hand here.

use crate::bytes::{self, Buffer};
use crate::object::State;
use crate::writer::ADD;
use std::any::TypeId;

/// The most types of one state.
pub const MAX_TYPES: usize = 1024;

/// How a generation of clients reads collections of primitives in a reflection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Generations 0.16 and 0.17 (schema 3 and 4): one string for both.
    Joined,
    /// Generation 0.18 (schema 5): a field of its own.
    Apart,
}

/// What a field holds, as a reflection says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Kind {
    Primitive(&'static str),
    /// The number of a type.
    Struct(u32),
    Primitives {
        collection: &'static str,
        of: &'static str,
    },
    Structs {
        collection: &'static str,
        of: u32,
    },
}

impl Kind {
    pub(crate) fn collection(collection: &'static str, item: Self) -> Self {
        match item {
            Self::Struct(of) | Self::Structs { of, .. } => Self::Structs { collection, of },
            Self::Primitive(of) | Self::Primitives { of, .. } => Self::Primitives { collection, of },
        }
    }
}

#[derive(Debug)]
struct Type {
    rust: TypeId,
    parent: Option<u32>,
    fields: Vec<(&'static str, Kind)>,
}

/// The types of a state, in the order in which its fields mention them; a parent before its children.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Types(Vec<Type>);

/// Collects one type's description.
#[doc(hidden)]
pub struct TypeBuilder<'a> {
    types: &'a mut Types,
    id: usize,
}

impl Types {
    /// The number of a type; it and all that its fields mention are described.
    #[expect(clippy::cast_possible_truncation, reason = "a program has fewer than 2^32 types")]
    pub(crate) fn of<S: State>(&mut self) -> u32 {
        let rust = TypeId::of::<S>();
        if let Some(known) = self.find(rust) {
            return known as u32;
        }
        S::describe_parent(self);
        // A parent whose fields mention this type has described it.
        if let Some(known) = self.find(rust) {
            return known as u32;
        }
        let id = self.0.len();
        self.0.push(Type { rust, parent: None, fields: Vec::new() });
        S::describe(&mut TypeBuilder { types: self, id });
        id as u32
    }

    fn find(&self, rust: TypeId) -> Option<usize> {
        self.0.iter().position(|known| known.rust == rust)
    }
}

impl Types {
    /// Describes a type.
    pub fn add<S: State>(&mut self) {
        self.of::<S>();
    }
}

impl TypeBuilder<'_> {
    /// Adds the next field.
    pub fn field<V: crate::Value>(&mut self, name: &'static str) {
        let kind = V::kind(self.types);
        if let Some(ty) = self.types.0.get_mut(self.id) {
            ty.fields.push((name, kind));
        }
    }

    /// Names the type whose fields come first.
    pub fn parent<S: State>(&mut self) {
        let parent = self.types.of::<S>();
        if let Some(ty) = self.types.0.get_mut(self.id) {
            ty.parent = Some(parent);
        }
    }
}

/// The reflection of a state, and the number of its types.
pub(crate) fn reflection<S: State>(dialect: Dialect) -> (Vec<u8>, usize) {
    let mut types = Types::default();
    let root = types.of::<S>();
    let mut encoder = Encoder { out: Buffer::default(), next: 1 };
    encoder.write(&types.0, root, dialect);
    (encoder.out.into_vec(), types.0.len())
}

/// Writes structures depth first, with references counted in the order in which they are met.
struct Encoder {
    out: Buffer,
    next: u32,
}

impl Encoder {
    fn write(&mut self, types: &[Type], root: u32, dialect: Dialect) {
        let list = self.reference();
        self.field(0, list);
        if root != 0 {
            self.field(1, root);
        }
        // A type takes three structures and one more a field: all references are known before any is written.
        let mut instances = Vec::with_capacity(types.len());
        for ty in types {
            let instance = self.reference();
            let fields = self.reference();
            let members: Vec<u32> = ty.fields.iter().map(|_| self.reference()).collect();
            instances.push((instance, fields, members));
        }
        self.list(list, instances.iter().map(|(instance, ..)| *instance));
        for (id, (ty, (instance, fields, members))) in (0..).zip(types.iter().zip(&instances)) {
            self.switch(*instance);
            self.field(0, id);
            if let Some(parent) = ty.parent {
                self.field(1, parent);
            }
            self.field(2, *fields);
            self.list(*fields, members.iter().copied());
            for ((name, kind), member) in ty.fields.iter().zip(members) {
                self.switch(*member);
                self.member(name, *kind, dialect);
            }
        }
    }

    fn reference(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn switch(&mut self, reference: u32) {
        self.out.push(0xff);
        bytes::count(reference, &mut self.out);
    }

    fn list(&mut self, reference: u32, items: impl ExactSizeIterator<Item = u32>) {
        if items.len() == 0 {
            return;
        }
        self.switch(reference);
        for (index, item) in (0..).zip(items) {
            self.out.push(ADD);
            bytes::count(index, &mut self.out);
            bytes::count(item, &mut self.out);
        }
    }

    fn field(&mut self, index: u8, value: u32) {
        self.out.push(ADD | index);
        bytes::count(value, &mut self.out);
    }

    fn text(&mut self, index: u8, value: &str) {
        self.out.push(ADD | index);
        bytes::string(value, &mut self.out);
    }

    fn member(&mut self, name: &str, kind: Kind, dialect: Dialect) {
        const NONE: [u8; 2] = [ADD | 2, 0xff];
        self.text(0, name);
        match kind {
            Kind::Primitive(name) => self.text(1, name),
            Kind::Struct(id) => {
                self.text(1, "ref");
                self.field(2, id);
            }
            Kind::Structs { collection, of } => {
                self.text(1, collection);
                self.field(2, of);
            }
            Kind::Primitives { collection, of } => match dialect {
                Dialect::Joined => {
                    self.text(1, &format!("{collection}:{of}"));
                    self.out.put(NONE);
                }
                Dialect::Apart => {
                    self.text(1, collection);
                    self.out.put(NONE);
                    self.text(3, of);
                }
            },
        }
    }
}
