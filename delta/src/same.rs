//! Exact equality of JSON values, and wrappers that let values be looked up by it.
//!
//! It is stricter than `==` in one point, which decides whether `apply` is exact: 0.0 and -0.0 differ.

use serde_json::{Map, Number, Value};
use std::hash::{Hash, Hasher};

/// Whether both values are the same JSON value, to the bit of every number.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && same_members(a, b),
        _ => false,
    }
}

fn same_members(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    for ((key, a_value), (other, b_value)) in a.iter().zip(b) {
        if key != other {
            // Maps that keep insertion order may iterate differently and still be equal.
            return a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)));
        }
        if !same(a_value, b_value) {
            return false;
        }
    }
    true
}

/// Whether both numbers are the same, to the bit.
pub(crate) fn same_number(a: &Number, b: &Number) -> bool {
    // Numbers that are equal have one representation, so only two zeros are left to tell apart.
    a == b && (!a.is_f64() || a.as_f64().map(f64::is_sign_negative) == b.as_f64().map(f64::is_sign_negative))
}

/// A value as a lookup key: equal to another exactly when [`same`] says so.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a>(pub(crate) &'a Value);

impl PartialEq for Exact<'_> {
    fn eq(&self, other: &Self) -> bool {
        same(self.0, other.0)
    }
}

impl Eq for Exact<'_> {}

impl Hash for Exact<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_exact(self.0, state);
    }
}

fn hash_exact<H: Hasher>(value: &Value, state: &mut H) {
    std::mem::discriminant(value).hash(state);
    match value {
        Value::Null => {}
        Value::Bool(flag) => flag.hash(state),
        Value::Number(number) => number.hash(state),
        Value::String(text) => text.hash(state),
        Value::Array(items) => {
            items.len().hash(state);
            items.iter().for_each(|item| hash_exact(item, state));
        }
        Value::Object(members) => {
            members.len().hash(state);
            for (key, member) in members {
                key.hash(state);
                hash_exact(member, state);
            }
        }
    }
}

/// A value as a lookup key by likeness: objects of the same members with the same texts, whatever their numbers,
/// flags and nested values. Two versions of one game entity are nearly always alike, two entities often are not.
#[derive(Clone, Copy)]
pub(crate) struct Alike<'a>(pub(crate) &'a Map<String, Value>);

impl PartialEq for Alike<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(other.0).all(|((key, a), (other_key, b))| {
                key == other_key
                    && match (a, b) {
                        (Value::String(a), Value::String(b)) => a == b,
                        _ => !a.is_string() && !b.is_string(),
                    }
            })
    }
}

impl Eq for Alike<'_> {}

impl Hash for Alike<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (key, member) in self.0 {
            key.hash(state);
            member.as_str().hash(state);
        }
    }
}
