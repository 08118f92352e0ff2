//! A long observation in pages (§4 `game_observe`): top-level members in schema order, plain nested objects by member,
//! lists by items. Every page is whole JSON; together the pages hold every value exactly once.

use playerthree_schema::{Kind, Schema, utf16_len};
use playerthree_session::RESULT_TEXT_MAX;
use serde_json::{Map, Value, json};

/// Units that the members around a page's observation and the line after it take at most.
const FRAME: usize = 256;

/// Units that one split list's `{from,to,of}` takes beside its path.
const RANGE: usize = 72;

/// Something that cannot be split is longer than a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// One observation in pages. It stays what it was, however old it gets.
#[derive(Debug, PartialEq)]
pub(crate) struct Snapshot {
    tick: Option<i64>,
    parts: Vec<Part>,
}

#[derive(Debug, Default, PartialEq)]
struct Part {
    observation: Map<String, Value>,
    items: Map<String, Value>,
}

impl Snapshot {
    /// Splits an observation of this schema. `taken` is what the first page's text holds beside it, in UTF-16 units.
    pub(crate) fn split(observation: &Value, schema: &Schema, taken: usize) -> Result<Self, TooLarge> {
        let members = members_of(observation, Some(schema)).ok_or(TooLarge)?;
        let room = RESULT_TEXT_MAX - FRAME;
        let mut pager = Pager { room, used: taken, part: Part::default(), parts: Vec::new() };
        for (name, member, schema) in members {
            pager.place(&mut vec![name], member, schema)?;
        }
        pager.turn();
        let tick = observation["tick"].as_i64();
        Ok(Self { tick, parts: pager.parts })
    }

    /// The members of a page's result, from page 1. Nothing past the end.
    pub(crate) fn page(&self, page: usize) -> Option<Map<String, Value>> {
        let part = self.parts.get(page.checked_sub(1)?)?;
        let mut members = Map::from_iter([
            ("observation".to_owned(), Value::Object(part.observation.clone())),
            ("page".to_owned(), json!(page)),
            ("pages".to_owned(), json!(self.parts.len())),
        ]);
        if let Some(tick) = self.tick {
            members.insert("tick".to_owned(), json!(tick));
        }
        if page < self.parts.len() {
            members.insert("next".to_owned(), json!({ "page": page + 1 }));
        }
        if !part.items.is_empty() {
            members.insert("items".to_owned(), Value::Object(part.items.clone()));
        }
        Some(members)
    }

    /// The line that follows a page's JSON.
    pub(crate) fn line(&self, page: usize) -> String {
        let pages = self.parts.len();
        if page < pages {
            format!("[page {page}/{pages} — next: game_observe {{\"page\":{}}}]", page + 1)
        } else {
            format!("[page {page}/{pages} — end of observation]")
        }
    }
}

/// Fills pages, one after the other. Sizes are counted generously, so that a page may hold less than it could.
struct Pager {
    room: usize,
    used: usize,
    part: Part,
    parts: Vec<Part>,
}

impl Pager {
    /// Places a value whole if a page can hold it, on the next page if this one is too full; else in pieces.
    fn place<'a>(
        &mut self,
        path: &mut Vec<&'a str>,
        value: &'a Value,
        schema: Option<&'a Schema>,
    ) -> Result<(), TooLarge> {
        let size = path_size(path) + size(value);
        if self.used + size <= self.room {
            self.put(path, value.clone(), size);
            return Ok(());
        }
        if size <= self.room {
            self.turn();
            self.put(path, value.clone(), size);
            return Ok(());
        }
        if let Value::Array(items) = value {
            return self.place_items(path, items);
        }
        for (name, member, schema) in members_of(value, schema).ok_or(TooLarge)? {
            path.push(name);
            self.place(path, member, schema)?;
            path.pop();
        }
        Ok(())
    }

    fn place_items(&mut self, path: &[&str], items: &[Value]) -> Result<(), TooLarge> {
        let around = path_size(path) + path_size(path) + RANGE;
        let (mut from, mut taken) = (0, around);
        for (index, item) in items.iter().enumerate() {
            let size = size(item) + 1;
            if self.used + taken + size > self.room {
                self.put_items(path, items, from..index, taken);
                self.turn();
                (from, taken) = (index, around);
                if taken + size > self.room {
                    return Err(TooLarge);
                }
            }
            taken += size;
        }
        self.put_items(path, items, from..items.len(), taken);
        Ok(())
    }

    fn put_items(&mut self, path: &[&str], items: &[Value], range: std::ops::Range<usize>, size: usize) {
        if range.is_empty() {
            return;
        }
        let (from, to) = (range.start, range.end);
        self.part.items.insert(path.join("."), json!({ "from": from, "to": to, "of": items.len() }));
        self.put(path, Value::Array(items[range].to_vec()), size);
    }

    fn put(&mut self, path: &[&str], value: Value, size: usize) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut object = &mut self.part.observation;
        for parent in parents {
            let slot = object.entry(*parent).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(next) = slot else { return };
            object = next;
        }
        object.insert((*last).to_owned(), value);
        self.used += size;
    }

    /// Begins the next page. A first page that holds nothing yet stays a page: other members fill it.
    fn turn(&mut self) {
        self.parts.push(std::mem::take(&mut self.part));
        self.used = 0;
    }
}

type Member<'a> = (&'a str, &'a Value, Option<&'a Schema>);

/// The members of an object in schema order, a union's tag first; the tag has no schema of its own. Nothing for a value
/// that is no object.
fn members_of<'a>(value: &'a Value, schema: Option<&'a Schema>) -> Option<Vec<Member<'a>>> {
    let object = value.as_object()?;
    let (tag, fields) = match &schema?.required().kind {
        Kind::Obj { fields, .. } => (None, fields),
        Kind::Union { tag, variants } => {
            let (_, fields) = variants.iter().find(|(name, _)| object.get(&**tag) == Some(&json!(**name)))?;
            (Some((&**tag, object.get(&**tag)?, None)), fields)
        }
        _ => return None,
    };
    let declared =
        fields.iter().filter_map(|(name, field)| Some((&**name, object.get(&**name)?, Some(field))));
    Some(tag.into_iter().chain(declared).collect())
}

/// Units of a path's names with quotes, colons, braces and commas, as if nothing of it were on the page yet.
fn path_size(path: &[&str]) -> usize {
    path.iter().map(|name| utf16_len(name) + 6).sum()
}

/// Units of a value as compact JSON.
pub(crate) fn size(value: &Value) -> usize {
    utf16_len(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use playerthree_schema::t;

    fn schema() -> Schema {
        let unit = t::obj([("id", t::int(0, 99_999)), ("note", t::str(400))]);
        t::obj([
            ("tick", t::int(0, 1_000_000)),
            ("map", t::obj([("cells", t::list(t::int(0, 9), 40_000)), ("name", t::str(30_000))])),
            ("units", t::list(unit, 2000)),
            ("extra", t::opt(t::obj([("left", t::str(20_000)), ("right", t::str(20_000))]))),
        ])
    }

    fn long() -> Value {
        let units: Vec<Value> =
            (0..400).map(|id| json!({ "id": id, "note": "é".repeat(id % 300) })).collect();
        json!({
            "tick": 77,
            "map": { "cells": vec![3; 30_000], "name": "plain" },
            "units": units,
            "extra": { "left": "l".repeat(15_000), "right": "r".repeat(15_000) },
        })
    }

    /// Puts the pages back together as an agent would.
    fn joined(snapshot: &Snapshot) -> Value {
        fn merge(into: &mut Value, from: Value) {
            match (into, from) {
                (Value::Object(into), Value::Object(from)) => {
                    for (name, value) in from {
                        merge(into.entry(name).or_insert(Value::Null), value);
                    }
                }
                (Value::Array(into), Value::Array(from)) => into.extend(from),
                (into, from) => *into = from,
            }
        }
        let mut whole = json!({});
        for page in 1..=snapshot.parts.len() {
            let page = snapshot.page(page).unwrap();
            merge(&mut whole, page["observation"].clone());
        }
        whole
    }

    // §4 game_observe: pages of whole JSON, lists by items, nested objects by member; every text within its bound.
    #[test]
    fn pages_hold_every_value_once_and_keep_their_bound() {
        let snapshot = Snapshot::split(&long(), &schema(), 1000).unwrap();
        assert_eq!(joined(&snapshot), long());
        let pages = snapshot.parts.len();
        assert!(pages > 5);
        for page in 1..=pages {
            let text = format!("{}\n{}", Value::Object(snapshot.page(page).unwrap()), snapshot.line(page));
            let bound = if page == 1 { RESULT_TEXT_MAX - 1000 } else { RESULT_TEXT_MAX };
            assert!(utf16_len(&text) <= bound, "page {page}");
        }
    }

    // §4: an observation of variants is split like an object, and so are variants inside one.
    #[test]
    fn a_tagged_observation_is_split_by_the_members_of_its_variant() {
        let cells = || t::list(t::int(0, 9), 40_000);
        let inner = t::union("kind", [("land", vec![("low", cells()), ("high", cells())])]);
        let schema =
            t::union("mode", [("idle", vec![]), ("war", vec![("tick", t::int(0, 9)), ("place", inner)])]);
        let place = json!({ "kind": "land", "low": vec![1; 15_000], "high": vec![2; 15_000] });
        let value = json!({ "mode": "war", "tick": 7, "place": place });
        let snapshot = Snapshot::split(&value, &schema, 0).unwrap();
        assert_eq!(joined(&snapshot), value);
        let first = snapshot.page(1).unwrap();
        assert_eq!((&first["observation"]["mode"], &first["tick"]), (&json!("war"), &json!(7)));
    }

    // §4: `page`, `pages`, `tick`, `next` while there is one, `items` for every split list.
    #[test]
    fn a_page_says_where_it_stands() {
        let snapshot = Snapshot::split(&long(), &schema(), 0).unwrap();
        let last = snapshot.parts.len();
        let first = snapshot.page(1).unwrap();
        assert_eq!(
            (&first["page"], &first["tick"], &first["next"]),
            (&json!(1), &json!(77), &json!({ "page": 2 }))
        );
        assert_eq!(first["items"]["map.cells"]["from"], 0);
        assert_eq!(first["items"]["map.cells"]["of"], 30_000);
        let second = snapshot.page(2).unwrap();
        assert_eq!(second["items"]["map.cells"]["from"], first["items"]["map.cells"]["to"]);
        assert!(!snapshot.page(last).unwrap().contains_key("next"));
        assert_eq!(snapshot.line(1), format!("[page 1/{last} — next: game_observe {{\"page\":2}}]"));
        assert_eq!(snapshot.line(last), format!("[page {last}/{last} — end of observation]"));
        assert_eq!((snapshot.page(0), snapshot.page(last + 1)), (None, None));
    }

    #[test]
    fn a_value_that_no_page_holds_is_refused() {
        let huge = json!({ "tick": 1, "map": { "cells": [], "name": "n".repeat(24_000) }, "units": [] });
        assert_eq!(Snapshot::split(&huge, &schema(), 0), Err(TooLarge));
        assert_eq!(Snapshot::split(&json!("text"), &t::str(10), 0), Err(TooLarge));
    }
}
