//! The ways to send a new version that are compared here, each a [`Writer`].

use playerthree_delta::{Delta, apply, diff};
use serde_json::{Map, Value};

/// A way to send what changed between two versions.
pub(crate) trait Writer {
    /// What the figures call it.
    const NAME: &'static str;
    /// What it sends.
    type Message;
    /// What changed from `old` to `new`, which differ.
    fn diff(old: &Value, new: &Value) -> Self::Message;
    /// The message as it is serialized.
    fn wire(message: &Self::Message) -> Value;
    /// The message as it arrives, unchecked.
    fn arrived(wire: &Value) -> Self::Message;
    /// Makes `document` the next version, with the checks that the writer's reader does.
    fn apply(document: Value, message: Self::Message) -> Value;
}

/// The deltas of this crate.
pub(crate) struct Deltas;

/// A delta on its way: ours is checked when it is applied, so that the figures hold what a reader pays.
pub(crate) struct OnTheWay(Value);

impl Writer for Deltas {
    const NAME: &'static str = "playerthree";
    type Message = OnTheWay;

    fn diff(old: &Value, new: &Value) -> OnTheWay {
        OnTheWay(diff(old, new).expect("versions that differ").into_wire())
    }

    fn wire(message: &OnTheWay) -> Value {
        message.0.clone()
    }

    fn arrived(wire: &Value) -> OnTheWay {
        OnTheWay(wire.clone())
    }

    fn apply(document: Value, message: OnTheWay) -> Value {
        apply(document, &Delta::decode(message.0).unwrap()).unwrap()
    }
}

/// RFC 6902 by `json-patch`.
pub(crate) struct Patches;

impl Writer for Patches {
    const NAME: &'static str = "json-patch";
    type Message = json_patch::Patch;

    fn diff(old: &Value, new: &Value) -> json_patch::Patch {
        json_patch::diff(old, new)
    }

    fn wire(message: &json_patch::Patch) -> Value {
        serde_json::to_value(message).unwrap()
    }

    fn arrived(wire: &Value) -> json_patch::Patch {
        serde_json::from_value(wire.clone()).unwrap()
    }

    fn apply(mut document: Value, message: json_patch::Patch) -> Value {
        json_patch::patch(&mut document, &message).unwrap();
        document
    }
}

/// RFC 7386, applied by `json-patch`, which brings no diff for it. The series hold no nulls, which it cannot carry.
pub(crate) struct MergePatches;

impl Writer for MergePatches {
    const NAME: &'static str = "merge patch";
    type Message = Value;

    fn diff(old: &Value, new: &Value) -> Value {
        merge_diff(old, new).expect("versions that differ")
    }

    fn wire(message: &Value) -> Value {
        message.clone()
    }

    fn arrived(wire: &Value) -> Value {
        wire.clone()
    }

    fn apply(mut document: Value, message: Value) -> Value {
        json_patch::merge(&mut document, &message);
        document
    }
}

fn merge_diff(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let mut members = Map::new();
    for (name, value) in new {
        let changed = match old.get(name) {
            Some(before) => merge_diff(before, value),
            None => Some(value.clone()),
        };
        changed.into_iter().for_each(|value| drop(members.insert(name.clone(), value)));
    }
    old.keys()
        .filter(|name| !new.contains_key(*name))
        .for_each(|name| drop(members.insert(name.clone(), Value::Null)));
    (!members.is_empty()).then_some(Value::Object(members))
}
