//! Values that are written in place: numbers, `bool` and `String`.

use crate::bytes::{self, Buffer};
use crate::reflection::{Kind, Types};
use crate::value::{Delta, Item, Present, Value};
use crate::writer::{Fields, Writer};
use std::ops::{Deref, DerefMut};

/// A number in the format's self-describing form `number`: one byte for small whole numbers, up to nine for others.
/// Whole numbers and fractions arrive exactly as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Number(pub f64);

/// A signed 64-bit integer that arrives as a `BigInt`, without the loss beyond 2^53 that `i64` has in JavaScript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BigInt(pub i64);

/// An unsigned 64-bit integer that arrives as a `BigInt`, without the loss beyond 2^53 that `u64` has in JavaScript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BigUint(pub u64);

/// A scalar: its name in reflections, whether two are the same on the wire, and its bytes.
macro_rules! scalar {
    ($type:ty, $name:literal, $same:expr, $write:expr $(, $write_field:item)?) => {
        impl Value for $type {
            type Shadow = $type;
            const IS_REFERENCE: bool = false;

            fn kind(_: &mut Types) -> Kind {
                Kind::Primitive($name)
            }

            #[inline]
            fn delta(&self, shadow: &Self, fresh: bool) -> Delta {
                let same: fn(&$type, &$type) -> bool = $same;
                if fresh || !same(self, shadow) { Delta::Set } else { Delta::Same }
            }

            #[inline]
            fn write(&mut self, shadow: &mut Self, w: &mut Writer) {
                shadow.clone_from(self);
                let write: fn(&$type, &mut Buffer) = $write;
                write(self, &mut w.out);
            }

            $(#[inline] $write_field)?

            #[inline]
            fn repeat(&self, op: impl FnOnce(&mut Writer), _: &Self, w: &mut Writer) -> bool {
                op(w);
                let write: fn(&$type, &mut Buffer) = $write;
                write(self, &mut w.out);
                true
            }
        }

        impl Present for $type {}
        impl Item for $type {}
    };
}

/// Values of as many bytes as the type has. An operation and its value, which most patches consist of, are written in
/// one piece.
macro_rules! fixed {
    ($type:ty, $name:literal, $same:expr, $bytes:expr) => {
        scalar!(
            $type,
            $name,
            $same,
            |v, out| {
                let bytes: fn(&$type) -> [u8; size_of::<$type>()] = $bytes;
                out.put(bytes(v));
            },
            fn write_field(&mut self, op: u8, shadow: &mut Self, fields: &mut Fields<'_>) {
                let value: fn(&$type) -> [u8; size_of::<$type>()] = $bytes;
                *shadow = *self;
                fields.put_op(op, value(self));
            }
        );
    };
    ($type:ty, $name:literal, $same:expr) => {
        fixed!($type, $name, $same, |v| v.to_le_bytes());
    };
    ($type:ty, $name:literal) => {
        fixed!($type, $name, |a, b| a == b);
    };
}

fixed!(i8, "int8");
fixed!(u8, "uint8");
fixed!(i16, "int16");
fixed!(u16, "uint16");
fixed!(i32, "int32");
fixed!(u32, "uint32");
fixed!(i64, "int64");
fixed!(u64, "uint64");
// Floats are compared by their bits: a NaN is sent once, and the sign of zero counts.
fixed!(f32, "float32", |a, b| a.to_bits() == b.to_bits());
fixed!(f64, "float64", |a, b| a.to_bits() == b.to_bits());
scalar!(Number, "number", |a, b| a.0.to_bits() == b.0.to_bits(), |v, out| bytes::number(v.0, out));
fixed!(BigInt, "bigint64", |a, b| a == b, |v| v.0.to_le_bytes());
fixed!(BigUint, "biguint64", |a, b| a == b, |v| v.0.to_le_bytes());
fixed!(bool, "boolean", |a, b| a == b, |v| [u8::from(*v)]);
scalar!(String, "string", |a, b| a == b, |v, out| bytes::string(v, out));

macro_rules! transparent {
    ($type:ty, $inner:ty) => {
        impl Deref for $type {
            type Target = $inner;

            fn deref(&self) -> &$inner {
                &self.0
            }
        }

        impl DerefMut for $type {
            fn deref_mut(&mut self) -> &mut $inner {
                &mut self.0
            }
        }

        impl From<$inner> for $type {
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }
    };
}

transparent!(Number, f64);
transparent!(BigInt, i64);
transparent!(BigUint, u64);
