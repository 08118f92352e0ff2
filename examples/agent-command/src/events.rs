//! What happened, as one side came to know it. A side's log holds only what that side could see when it happened.

use crate::kinds::Kind;
use crate::map::Point;
use crate::world::Id;
use playerthree_game::Name;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Most events that a side's log keeps; the oldest give way.
pub(crate) const MAX_EVENTS: usize = 64;

/// Every kind of event, as the manifest names them.
pub(crate) const KINDS: [&str; 10] = [
    "produced",
    "built",
    "blocked",
    "depleted",
    "attacked",
    "contact",
    "lost",
    "destroyed",
    "eliminated",
    "ended",
];

/// A kind of event, named on the wire as in [`KINDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// An own unit left its maker.
    Produced,
    /// An own building began to work.
    Built,
    /// An own worker could not start a building.
    Blocked,
    /// A patch in sight ran out.
    Depleted,
    /// Something own is under fire.
    Attacked,
    /// Enemies came in sight after a time without any.
    Contact,
    /// Something own was destroyed.
    Lost,
    /// An enemy was destroyed in sight.
    Destroyed,
    /// A side is out of play.
    Eliminated,
    /// The match is over.
    Ended,
}

impl Happening {
    fn name(self) -> &'static str {
        KINDS[self as usize]
    }
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) tick: u64,
    pub(crate) happening: Happening,
    pub(crate) id: Option<Id>,
    pub(crate) what: Option<Kind>,
    pub(crate) side: Option<Name>,
    pub(crate) at: Option<Point>,
}

impl Event {
    pub(crate) fn new(tick: u64, happening: Happening) -> Self {
        Self { tick, happening, id: None, what: None, side: None, at: None }
    }

    /// About this unit or building at this place.
    pub(crate) fn about(mut self, id: Id, what: Kind, at: Point) -> Self {
        (self.id, self.what, self.at) = (Some(id), Some(what), Some(at));
        self
    }

    /// About a kind of thing at this place.
    pub(crate) fn of(mut self, what: Kind, at: Point) -> Self {
        (self.what, self.at) = (Some(what), Some(at));
        self
    }

    pub(crate) fn at(mut self, at: Point) -> Self {
        self.at = Some(at);
        self
    }

    pub(crate) fn side(mut self, side: &Name) -> Self {
        self.side = Some(side.clone());
        self
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut event = Map::new();
        event.insert("tick".into(), self.tick.into());
        event.insert("kind".into(), self.happening.name().into());
        if let Some(id) = self.id {
            event.insert("id".into(), format!("e_{id}").into());
        }
        if let Some(what) = self.what {
            event.insert("what".into(), what.name().into());
        }
        if let Some(side) = &self.side {
            event.insert("side".into(), (**side).into());
        }
        if let Some(at) = self.at {
            event.insert("x".into(), at.x.into());
            event.insert("y".into(), at.y.into());
        }
        Value::Object(event)
    }
}

/// The newest events of a side, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    events: VecDeque<Event>,
    last_alarm: u64,
}

/// Ticks between two reports of being under fire.
const ALARM_PAUSE: u64 = 30;

impl Log {
    pub(crate) fn push(&mut self, event: Event) {
        if event.happening == Happening::Attacked {
            if self.last_alarm > 0 && event.tick < self.last_alarm + ALARM_PAUSE {
                return;
            }
            self.last_alarm = event.tick;
        }
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// The tick of the newest report of being under fire, for debug views; zero before the first.
    pub(crate) fn last_alarm(&self) -> u64 {
        self.last_alarm
    }

    /// Events newer than `since`, oldest first.
    pub(crate) fn since(&self, since: i64) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| i64::try_from(event.tick).is_ok_and(|tick| tick > since))
    }

    /// The newest `count` events, oldest first.
    pub(crate) fn newest(&self, count: usize) -> impl Iterator<Item = &Event> {
        self.events.iter().skip(self.events.len().saturating_sub(count))
    }
}
