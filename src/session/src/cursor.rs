//! How far a reader has read the events that its seat may see. Two readers of one seat never share a cursor.

use serde_json::Value;

/// All events of earlier ticks are read, and so many of this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    tick: i64,
    read: usize,
}

impl Cursor {
    /// Nothing is read.
    pub(crate) const START: Self = Self { tick: -1, read: 0 };

    /// The `sinceTick` that brings everything unread, and what was read of the cursor's own tick.
    pub(crate) fn since(self) -> i64 {
        self.tick - 1
    }

    /// The unread ones of `events`, which were asked for with [`Self::since`] and come oldest first.
    pub(crate) fn unread(self, events: Vec<Value>) -> Vec<Value> {
        let mut seen = 0;
        let is_unread = |event: &Value| {
            if event["tick"].as_i64() != Some(self.tick) {
                return true;
            }
            seen += 1;
            seen > self.read
        };
        events.into_iter().filter(is_unread).collect()
    }

    /// Marks unread events as read, in their order.
    pub(crate) fn advance(&mut self, events: &[Value]) {
        for tick in events.iter().filter_map(|event| event["tick"].as_i64()) {
            if tick > self.tick {
                *self = Self { tick, read: 0 };
            }
            self.read += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_of_a_tick_that_come_later_are_still_unread() {
        let mut cursor = Cursor::START;
        let first = json!({ "tick": 3, "kind": "a" });
        let second = json!({ "tick": 3, "kind": "b" });
        let told = cursor.unread(vec![first.clone()]);
        cursor.advance(&told);
        assert_eq!(cursor.since(), 2);
        let both = vec![first, second.clone()];
        assert_eq!(cursor.unread(both.clone()), std::slice::from_ref(&second));
        cursor.advance(&[second]);
        assert!(cursor.unread(both).is_empty());
    }
}
