//! What leaves a match: the fogged view of a side, and the open ones of observers and developers.
//!
//! Every fogged shape is built from [`World::sees`] and the side's own state, and lists strangers by id, so that
//! neither content nor order tells of anything hidden.

use crate::events::{Event, Happening};
use crate::kinds::{BUILDINGS, Kind, Role, TILE, UNITS};
use crate::map::Point;
use crate::schema::{SIDES, VIEW_EVENTS};
use crate::world::{Building, Id, Side, Unit, World};
use playerthree_game::Outcome;
use serde_json::{Map, Value, json};

pub(crate) type Members = Map<String, Value>;

/// How much of a thing is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What any eye sees.
    Seen,
    /// Orders, loads and production too.
    Known,
}

pub(crate) fn place(id: Id, kind: Kind, at: Point) -> Members {
    let mut members = Members::new();
    members.insert("id".into(), entity(id));
    members.insert("x".into(), at.x.into());
    members.insert("y".into(), at.y.into());
    members.insert("kind".into(), kind.name().into());
    members
}

fn entity(id: Id) -> Value {
    format!("e_{id}").into()
}

pub(crate) fn unit(unit: &Unit, side: Option<&Side>, detail: Detail) -> Value {
    let mut members = place(unit.id, unit.kind, unit.at);
    members.insert("hp".into(), unit.hp.max(0).into());
    if let Some(side) = side {
        members.insert("side".into(), (*side.name).into());
    }
    if detail == Detail::Known {
        members.insert("order".into(), unit.order.name().into());
        if unit.load > 0 {
            members.insert("load".into(), unit.load.into());
        }
    }
    Value::Object(members)
}

pub(crate) fn building(building: &Building, side: Option<&Side>, detail: Detail) -> Value {
    let mut members = place(building.id, building.kind, building.at());
    members.insert("hp".into(), building.hp.max(0).into());
    members.insert("done".into(), building.done().into());
    if let Some(side) = side {
        members.insert("side".into(), (*side.name).into());
    }
    if detail == Detail::Known {
        members.insert("queue".into(), building.queue.len().into());
        if let Some(kind) = building.queue.front() {
            let ticks = kind.stats().ticks;
            members.insert("making".into(), kind.name().into());
            members.insert("ready".into(), (100 - building.remaining * 100 / ticks).into());
        }
    }
    Value::Object(members)
}

fn outcome(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Running => "running",
        Outcome::Win => "win",
        Outcome::Loss => "loss",
        Outcome::Draw => "draw",
    }
    .into()
}

/// Which other sides' things a list is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    Allies,
    Enemies,
}

impl World {
    /// The view of a side; `with_map` adds the member that never changes.
    pub(crate) fn view(&self, viewer: usize, with_map: bool) -> Value {
        let side = &self.sides[viewer];
        let mut view = self.head(viewer);
        if with_map {
            view.insert("map".into(), Value::Object(self.map_members()));
        }
        view.insert("patches".into(), self.party_of(viewer).patches.clone().into());
        view.insert("units".into(), self.units_in_sight(viewer));
        view.insert("buildings".into(), self.buildings_in_sight(viewer));
        view.insert("events".into(), side.log.newest(VIEW_EVENTS).map(|event| event.to_value()).collect());
        Value::Object(view)
    }

    pub(crate) fn head(&self, viewer: usize) -> Members {
        let side = &self.sides[viewer];
        let mut head = Members::new();
        head.insert("tick".into(), self.tick.into());
        head.insert("side".into(), (*side.name).into());
        head.insert("outcome".into(), outcome(self.party_of(viewer).outcome));
        head.insert("alloy".into(), side.alloy.into());
        head.insert("energy".into(), side.energy.into());
        head.insert("sides".into(), self.standings(|_| Members::new()));
        head
    }

    fn standings(&self, more: impl Fn(&Side) -> Members) -> Value {
        let standing = |side: &Side| {
            let mut members = more(side);
            members.insert("side".into(), (*side.name).into());
            members.insert("outcome".into(), outcome(self.parties[side.party].outcome));
            let controllers =
                Role::ALL.into_iter().map(|role| (role.name().to_owned(), json!(side.seat(role).controller)));
            members.insert("controllers".into(), Value::Object(controllers.collect()));
            Value::Object(members)
        };
        self.declared().map(standing).collect()
    }

    /// The sides in the order of the manifest.
    fn declared(&self) -> impl Iterator<Item = &Side> {
        SIDES.iter().filter_map(|name| self.sides.iter().find(|side| *side.name == **name))
    }

    /// Own things in order of production, then everybody else's by id.
    fn units_in_sight(&self, viewer: usize) -> Value {
        let own = self.sides[viewer].units.iter();
        let own = own.map(|own| unit(own, Some(&self.sides[viewer]), Detail::Known));
        let others = self.other_units(viewer, Others::Allies, |_| true);
        own.chain(others).chain(self.other_units(viewer, Others::Enemies, |_| true)).collect()
    }

    fn buildings_in_sight(&self, viewer: usize) -> Value {
        let own = self.sides[viewer].buildings.iter();
        let own = own.map(|own| building(own, Some(&self.sides[viewer]), Detail::Known));
        let others = self.other_buildings(viewer, Others::Allies);
        own.chain(others).chain(self.other_buildings(viewer, Others::Enemies)).collect()
    }

    fn others(&self, viewer: usize, which: Others) -> impl Iterator<Item = &Side> {
        let is_wanted = move |other: usize| match which {
            Others::Allies => other != viewer && !self.are_enemies(viewer, other),
            Others::Enemies => self.are_enemies(viewer, other),
        };
        self.sides.iter().enumerate().filter(move |(index, _)| is_wanted(*index)).map(|(_, side)| side)
    }

    /// Visible units of other sides by id.
    pub(crate) fn seen_units(
        &self,
        viewer: usize,
        which: Others,
        are: fn(&Unit) -> bool,
    ) -> Vec<(&Side, &Unit)> {
        let sight = &self.party_of(viewer).sight;
        let mut seen: Vec<(&Side, &Unit)> = self
            .others(viewer, which)
            .flat_map(|side| side.units.iter().map(move |unit| (side, unit)))
            .filter(|(_, unit)| are(unit) && sight.sees(unit.at))
            .collect();
        seen.sort_unstable_by_key(|(_, unit)| unit.id);
        seen
    }

    pub(crate) fn other_units(&self, viewer: usize, which: Others, are: fn(&Unit) -> bool) -> Vec<Value> {
        let seen = self.seen_units(viewer, which, are);
        seen.into_iter().map(|(side, seen)| unit(seen, Some(side), Detail::Seen)).collect()
    }

    pub(crate) fn other_buildings(&self, viewer: usize, which: Others) -> Vec<Value> {
        let sight = &self.party_of(viewer).sight;
        let mut seen: Vec<(&Side, &Building)> = self
            .others(viewer, which)
            .flat_map(|side| side.buildings.iter().map(move |building| (side, building)))
            .filter(|(_, building)| sight.sees(building.at()))
            .collect();
        seen.sort_unstable_by_key(|(_, building)| building.id);
        seen.into_iter().map(|(side, seen)| building(seen, Some(side), Detail::Seen)).collect()
    }

    /// What never changes: the map, the start places and the table of kinds.
    fn map_members(&self) -> Members {
        let mut members = Members::new();
        members.insert("size".into(), self.map.size().into());
        members.insert("tile".into(), TILE.into());
        members.insert("maxTicks".into(), self.max_ticks.into());
        members.insert("terrain".into(), self.map.rows().into());
        let patch = |(index, at): (usize, Point)| json!({ "id": format!("p_{index}"), "x": at.x, "y": at.y });
        let places = self.map.patches().iter().map(|tile| tile.centre());
        members.insert("patchPlaces".into(), places.enumerate().map(patch).collect());
        let start = |side: &Side| {
            let at = self.map.start(side.corner).centre();
            json!({ "side": *side.name, "x": at.x, "y": at.y })
        };
        members.insert("starts".into(), self.declared().map(start).collect());
        members.insert("kinds".into(), UNITS.into_iter().chain(BUILDINGS).map(kind).collect());
        members
    }

    /// What everybody may know before the match starts.
    pub(crate) fn lobby(&self) -> Value {
        let sides: Vec<&str> = self.declared().map(|side| &*side.name).collect();
        json!({ "size": self.map.size(), "maxTicks": self.max_ticks, "sides": sides })
    }

    /// The data that a seat starts from.
    pub(crate) fn match_data(&self, viewer: usize, role: Role) -> Value {
        let mut data = self.map_members();
        data.insert("side".into(), (*self.sides[viewer].name).into());
        data.insert("role".into(), role.name().into());
        let names = |which| self.others(viewer, which).map(|side| Value::from(&*side.name)).collect();
        data.insert("allies".into(), names(Others::Allies));
        data.insert("enemies".into(), names(Others::Enemies));
        Value::Object(data)
    }

    /// Everything that an omniscient observer may see (§20.9).
    pub(crate) fn observer_view(&self) -> Value {
        let economy = |side: &Side| {
            let mut members = tallies(side);
            members.insert("alloy".into(), side.alloy.into());
            members.insert("energy".into(), side.energy.into());
            members
        };
        let units = self
            .sides
            .iter()
            .flat_map(|side| side.units.iter().map(move |own| unit(own, Some(side), Detail::Known)));
        let buildings = self
            .sides
            .iter()
            .flat_map(|side| side.buildings.iter().map(move |own| building(own, Some(side), Detail::Known)));
        let mut view = Members::new();
        view.insert("tick".into(), self.tick.into());
        view.insert("map".into(), Value::Object(self.map_members()));
        view.insert("units".into(), units.collect());
        view.insert("buildings".into(), buildings.collect());
        view.insert("patches".into(), self.patches.clone().into());
        view.insert("sides".into(), self.standings(economy));
        view.insert("events".into(), self.open_events());
        Value::Object(view)
    }

    /// The newest events for whoever may know all: each side's of its own things, and what everybody was told.
    fn open_events(&self) -> Value {
        let own = self.sides.iter().flat_map(|side| {
            let own =
                side.log.newest(VIEW_EVENTS).filter(|event| event.what.is_some() && event.side.is_none());
            own.map(|event| event.clone().side(&side.name))
        });
        let public = self.sides.iter().take(1).flat_map(|side| {
            let newest = side.log.newest(VIEW_EVENTS);
            newest
                .filter(|event| matches!(event.happening, Happening::Eliminated | Happening::Ended))
                .cloned()
        });
        let mut events: Vec<Event> = own.chain(public).collect();
        events.sort_by_key(|event| event.tick);
        events.iter().skip(events.len().saturating_sub(VIEW_EVENTS)).map(Event::to_value).collect()
    }

    pub(crate) fn report(&self, viewer: usize) -> Value {
        let side = &self.sides[viewer];
        let mut report = tallies(side);
        report.insert("side".into(), (*side.name).into());
        report.insert("outcome".into(), outcome(self.party_of(viewer).outcome));
        report.insert("ticks".into(), self.tick.into());
        report.insert("alloy".into(), side.alloy.into());
        report.insert("energy".into(), side.energy.into());
        report.insert("units".into(), side.units.len().into());
        report.insert("buildings".into(), side.buildings.len().into());
        Value::Object(report)
    }

    /// The whole state for developers; equal states give equal values.
    pub(crate) fn debug_view(&self) -> Value {
        let side = |side: &Side| {
            json!({
                "side": *side.name,
                "party": side.party,
                "alloy": side.alloy,
                "energy": side.energy,
                "tally": tallies(side),
                "controllers": side.seats.map(|seat| seat.controller),
                "limits": side.seats.map(|seat| format!("{:?}", seat.limits)),
                "units": side.units.iter().map(debug_unit).collect::<Vec<_>>(),
                "buildings": side.buildings.iter().map(debug_building).collect::<Vec<_>>(),
                "events": side.log.since(-1).map(|event| event.to_value()).collect::<Vec<_>>(),
                "alarm": side.log.last_alarm(),
                "ids": side.id_state().to_string(),
            })
        };
        let party = |party: &crate::world::Party| json!({ "outcome": outcome(party.outcome), "rank": party.rank, "contact": party.contact, "patches": party.patches });
        json!({
            "tick": self.tick,
            "maxTicks": self.max_ticks,
            "patches": self.patches,
            "sides": self.sides.iter().map(side).collect::<Vec<_>>(),
            "parties": self.parties.iter().map(party).collect::<Vec<_>>(),
        })
    }
}

fn debug_unit(own: &Unit) -> Value {
    let mut members = place(own.id, own.kind, own.at);
    members.insert("hp".into(), own.hp.into());
    members.insert("cooldown".into(), own.cooldown.into());
    members.insert("load".into(), own.load.into());
    members.insert("order".into(), format!("{:?}", own.order).into());
    Value::Object(members)
}

fn debug_building(own: &Building) -> Value {
    let mut members = place(own.id, own.kind, own.at());
    members.insert("hp".into(), own.hp.into());
    members.insert("cooldown".into(), own.cooldown.into());
    members.insert("unfinished".into(), own.unfinished.into());
    members.insert("remaining".into(), own.remaining.into());
    members.insert("queue".into(), own.queue.iter().map(|kind| kind.name()).collect());
    Value::Object(members)
}

fn tallies(side: &Side) -> Members {
    let tally = &side.tally;
    [
        ("gathered", tally.gathered),
        ("produced", tally.produced),
        ("built", tally.built),
        ("lost", tally.lost),
        ("destroyed", tally.destroyed),
    ]
    .into_iter()
    .map(|(name, count)| (name.to_owned(), count.into()))
    .collect()
}

fn kind(kind: Kind) -> Value {
    let stats = kind.stats();
    let mut row = json!({
        "kind": stats.name,
        "role": stats.role.name(),
        "hp": stats.hp,
        "alloy": stats.alloy,
        "energy": stats.energy,
        "ticks": stats.ticks,
        "speed": stats.speed,
        "sight": stats.sight,
        "damage": stats.weapon.map_or(0, |weapon| weapon.damage),
        "range": stats.weapon.map_or(0, |weapon| weapon.range),
        "cooldown": stats.weapon.map_or(0, |weapon| weapon.cooldown),
        "hitsAir": stats.weapon.is_some_and(|weapon| weapon.hits_air),
    });
    if let Some(maker) = stats.maker {
        row["maker"] = maker.name().into();
    }
    if let Some(building) = stats.requires {
        row["requires"] = building.name().into();
    }
    row
}
