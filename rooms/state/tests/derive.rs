//! What the derive writes takes no name of the user's, and puts field 21 where no decoder misreads it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

use playerthree_rooms_state::{Dialect, List, State, Synced, Synchronized as _};

/// Types with the names that the derive itself needs things for.
mod taken {
    use playerthree_rooms_state::State;

    macro_rules! types {
        ($($name:ident)*) => {$(
            #[derive(State, Default)]
            pub(crate) struct $name {
                n: u8,
            }
        )*};
    }

    types!(Group Types TypeBuilder Writer Names OuterShadow Value Option Default Shadow);

    #[derive(State)]
    pub(crate) struct Outer {
        pub(crate) group: Group,
        pub(crate) types: Types,
        pub(crate) builder: TypeBuilder,
        pub(crate) writer: Writer,
        pub(crate) names: Names,
        pub(crate) shadow: OuterShadow,
        pub(crate) value: Value,
        pub(crate) option: Option,
        pub(crate) default: Default,
        pub(crate) first: Shadow,
        #[state(view)]
        pub(crate) hidden: Group,
    }

    impl core::default::Default for Outer {
        fn default() -> Self {
            use core::default::Default as D;
            Self {
                group: D::default(),
                types: D::default(),
                builder: D::default(),
                writer: D::default(),
                names: D::default(),
                shadow: D::default(),
                value: D::default(),
                option: D::default(),
                default: D::default(),
                first: D::default(),
                hidden: D::default(),
            }
        }
    }
}

#[test]
fn a_state_may_use_every_name_that_the_derive_uses() {
    let mut state = Synced::new(taken::Outer::default());
    assert!(!state.patch().unwrap().is_empty());
    state.writer = taken::Writer::default();
    assert!(state.patch().unwrap().is_empty());
}

/// Twenty fields that say nothing.
macro_rules! twenty {
    ($(#[$attribute:meta])* $name:ident { $($rest:tt)* }) => {
        #[derive(State, Default)]
        struct $name {
            a0: u8, a1: u8, a2: u8, a3: u8, a4: u8, a5: u8, a6: u8, a7: u8, a8: u8, a9: u8,
            b0: u8, b1: u8, b2: u8, b3: u8, b4: u8, b5: u8, b6: u8, b7: u8, b8: u8, b9: u8,
            $($rest)*
        }
    };
}

#[derive(State, Default)]
struct Leaf {
    n: u8,
}

twenty!(Flat { c0: Option<Leaf>, c1: List<u8>, c2: Option<Leaf> });
twenty!(Parent { c0: Option<Leaf> });

#[derive(State, Default)]
struct Child {
    #[state(extends)]
    parent: Parent,
    c1: List<u8>,
    c2: Option<Leaf>,
}

/// Behind a reference the byte 0xd5 is the head of a type id to all decoders: replacing field 21 comes first.
const FIELD_21_FIRST: &str = "d502 9403 9604 ff03 8001 ff02 800005 ff04 8002";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn replacing_field_21_stands_before_what_introduces_a_reference() {
    let wanted = FIELD_21_FIRST.replace(' ', "");
    let mut flat = Synced::new(Flat::default());
    flat.patch().unwrap();
    flat.c1 = vec![5].into();
    flat.c0 = Some(Leaf { n: 1 });
    flat.c2 = Some(Leaf { n: 2 });
    assert_eq!(hex(flat.patch().unwrap().shared()), wanted);
    let mut child = Synced::new(Child::default());
    child.patch().unwrap();
    child.c1 = vec![5].into();
    child.parent.c0 = Some(Leaf { n: 1 });
    child.c2 = Some(Leaf { n: 2 });
    assert_eq!(hex(child.patch().unwrap().shared()), wanted);
}

mod kin {
    use playerthree_rooms_state::{List, Map, State};

    #[derive(State, Default)]
    pub(crate) struct Base {
        pub(crate) kids: List<Unit>,
    }

    #[derive(State, Default)]
    pub(crate) struct Unit {
        #[state(extends)]
        pub(crate) base: Base,
        pub(crate) hp: u8,
    }

    #[derive(State, Default)]
    pub(crate) struct Root {
        pub(crate) units: Map<Unit>,
    }
}

// A parent's fields may mention its child, which is then described while the parent is.
#[test]
fn a_type_that_its_parent_mentions_is_described_once() {
    let reflection = Synced::new(kin::Root::default()).reflection(Dialect::Apart).unwrap();
    let named = reflection.windows(3).filter(|bytes| bytes == b"\xa2hp").count();
    assert_eq!(named, 1);
}
