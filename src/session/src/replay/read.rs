//! Reading a replay that somebody sent: bounded, strict, and judged against its game before anything is played.
//!
//! What is wrong only in the light of the entries before it is found when the replay is played.

use super::entry::{Entry, Input, JsonText, PAUSE_REASON, ResumeReason};
use super::envelope::{FORMAT, Replay, VERSION, Window};
use super::error::{EntryFault, ReplayError};
use crate::Surface;
use crate::gates::admitted;
use crate::mandate::Mandate;
use crate::outcomes::Parties;
use playerthree_game::{Context, Controller, Name, Outcome, Seat, Setup, Source, is_signal};
use playerthree_schema::{MAX_SAFE, strict_json};
use serde::de::{DeserializeOwned, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Formatter;

/// Bytes of the largest replay that is read.
pub const REPLAY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Entries of the longest replay that is read. One that a match recorded has fewer.
pub const ENTRIES_MAX: usize = 400_000;

/// Most ticks of a replay that is read, those before its window left out: a persistent session lasts as long as it likes.
pub const TICKS_MAX: u64 = 10_000_000;

/// The members as texts, so that the whole is bounded by the text itself, and each gets an error of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    format: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    game: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    game_version: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    seed: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    options: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    teams: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    alliances: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    ticks: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    entries: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    outcomes: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    ranks: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    window: Option<&'a RawValue>,
}

/// A member that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

fn member<T: DeserializeOwned>(name: &'static str, text: Option<&RawValue>) -> Result<T, ReplayError> {
    text.and_then(|text| one(text)).ok_or(ReplayError::Member(name))
}

fn optional<T: DeserializeOwned>(
    name: &'static str,
    text: Option<&RawValue>,
) -> Result<Option<T>, ReplayError> {
    text.map(|text| member(name, Some(text))).transpose()
}

/// A record out of an object. The derived reader would take an array for one too.
fn record<T: DeserializeOwned>(members: Map<String, Value>) -> Option<T> {
    serde_json::from_value(Value::Object(members)).ok()
}

/// A value of this type, in which no object repeats a member.
fn one<T: DeserializeOwned>(text: &RawValue) -> Option<T> {
    serde_json::from_value(strict_json(text.get()).ok()?).ok()
}

fn members(text: &str) -> Result<Members<'_>, ReplayError> {
    if text.len() > REPLAY_BYTES_MAX {
        return Err(ReplayError::TooLarge);
    }
    let is_object = text.trim_ascii_start().starts_with('{');
    let members: Members<'_> = serde_json::from_str(text)
        .map_err(|error| ReplayError::NotAnEnvelope { line: error.line(), column: error.column() })?;
    if !is_object {
        return Err(ReplayError::NotAnEnvelope { line: 1, column: 1 });
    }
    let is_known = members.format.and_then(one::<String>).is_some_and(|format| format == FORMAT)
        && members.version.and_then(one::<u64>) == Some(VERSION);
    if is_known { Ok(members) } else { Err(ReplayError::Format) }
}

impl Replay {
    /// The game that a replay says it is of, so that its surface can be found.
    ///
    /// # Errors
    /// The text is no envelope of a bounded length.
    pub fn game_of(text: &str) -> Result<String, ReplayError> {
        member("game", members(text)?.game)
    }

    /// Reads an envelope and judges every part that can be judged alone against the game (§10).
    ///
    /// # Errors
    /// The first fault that was found.
    pub fn read(surface: &Surface, text: &str) -> Result<Self, ReplayError> {
        let members = members(text)?;
        let manifest = &surface.manifest;
        if *member::<String>("game", members.game)? != *manifest.id {
            return Err(ReplayError::Game);
        }
        if *member::<String>("gameVersion", members.game_version)? != *manifest.version {
            return Err(ReplayError::GameVersion);
        }
        let setup = setup(surface, &members)?;
        let ticks = member::<u64>("ticks", members.ticks)?;
        let window = window(&members, ticks)?;
        let played = ticks - window.map_or(0, |window| window.from);
        if played > TICKS_MAX || ticks > MAX_SAFE.unsigned_abs() {
            return Err(ReplayError::Member("ticks"));
        }
        let outcomes = of_every_team("outcomes", &setup.teams, member("outcomes", members.outcomes)?)?;
        let ranks = optional("ranks", members.ranks)?
            .map(|ranks| of_every_team("ranks", &setup.teams, ranks))
            .transpose()?;
        if ranks.is_some() != outcomes.values().all(|outcome: &Outcome| outcome.is_final()) {
            return Err(ReplayError::Member("ranks"));
        }
        // A persistent session never ends (§18).
        if window.is_some() && outcomes.values().any(|outcome| outcome.is_final()) {
            return Err(ReplayError::Member("outcomes"));
        }
        let reader = EntryReader { surface, teams: &setup.teams, ticks };
        let entries = reader.entries(members.entries, window)?;
        Ok(Self {
            game: manifest.id.clone(),
            game_version: manifest.version.clone(),
            setup,
            ticks,
            entries,
            outcomes,
            ranks,
            window,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowMember {
    from: u64,
    dropped: u64,
}

fn window(members: &Members<'_>, ticks: u64) -> Result<Option<Window>, ReplayError> {
    let Some(window) = optional("window", members.window)? else { return Ok(None) };
    let WindowMember { from, dropped } = record(window).ok_or(ReplayError::Member("window"))?;
    // One that dropped nothing has no window.
    let is_sound = from <= ticks && (1..=MAX_SAFE.unsigned_abs()).contains(&dropped);
    if is_sound { Ok(Some(Window { from, dropped })) } else { Err(ReplayError::Member("window")) }
}

/// What the match was created from, as [`crate::Match::new`] would have accepted it.
fn setup(surface: &Surface, members: &Members<'_>) -> Result<Setup, ReplayError> {
    let manifest = &surface.manifest;
    let options = match (optional::<Value>("options", members.options)?, &manifest.match_options) {
        (None, _) => None,
        (Some(options), Some(schema)) => {
            Some(schema.admit(options).map_err(|_| ReplayError::Member("options"))?)
        }
        (Some(_), None) => return Err(ReplayError::Member("options")),
    };
    let teams: Vec<Name> = member("teams", members.teams)?;
    let alliances: Option<BTreeMap<String, Vec<Name>>> = optional("alliances", members.alliances)?;
    let alone = Parties::new(&manifest.teams, Some(&teams), None);
    let alone = alone.map_err(|_| ReplayError::Member("teams"))?;
    let parties = Parties::new(&manifest.teams, Some(&teams), alliances.as_ref());
    let parties = parties.map_err(|_| ReplayError::Member("alliances"))?;
    if alone.teams != teams {
        return Err(ReplayError::Member("teams"));
    }
    if parties.alliances != alliances {
        return Err(ReplayError::Member("alliances"));
    }
    // The manifest's own names, so that all that is read of a side shares one text.
    Ok(Setup { seed: member("seed", members.seed)?, options, teams: alone.teams, alliances })
}

/// One value for each side that plays, and for nobody else.
fn of_every_team<T>(
    name: &'static str,
    teams: &[Name],
    mut values: BTreeMap<String, T>,
) -> Result<BTreeMap<Name, T>, ReplayError> {
    let found: BTreeMap<Name, T> =
        teams.iter().filter_map(|team| Some((team.clone(), values.remove(&**team)?))).collect();
    if found.len() == teams.len() && values.is_empty() { Ok(found) } else { Err(ReplayError::Member(name)) }
}

/// The texts of at most [`ENTRIES_MAX`] entries.
struct Texts<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Texts<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Texts<'de>;

            fn expecting(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
                write!(to, "at most {ENTRIES_MAX} entries")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    if texts.len() == ENTRIES_MAX {
                        return Err(A::Error::invalid_length(ENTRIES_MAX + 1, &self));
                    }
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        from.deserialize_seq(List)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeatMember {
    controller: Controller,
    mandate: Value,
}

struct EntryReader<'a> {
    surface: &'a Surface,
    teams: &'a [Name],
    ticks: u64,
}

impl EntryReader<'_> {
    fn entries(&self, text: Option<&RawValue>, window: Option<Window>) -> Result<Vec<Entry>, ReplayError> {
        let texts: Option<Texts<'_>> = text.and_then(|text| serde_json::from_str(text.get()).ok());
        let Texts(texts) = texts.ok_or(ReplayError::Member("entries"))?;
        let first = window.map_or(0, |window| window.dropped);
        let mut earliest = window.map_or(0, |window| window.from);
        let mut entries = Vec::with_capacity(texts.len());
        for (index, text) in (first..).zip(texts) {
            let entry = self.entry(earliest, text).map_err(|fault| ReplayError::Entry { index, fault })?;
            earliest = entry.tick;
            entries.push(entry);
        }
        Ok(entries)
    }

    fn entry(&self, earliest: u64, text: &RawValue) -> Result<Entry, EntryFault> {
        let parts = match strict_json(text.get()) {
            Ok(Value::Array(parts)) => parts,
            _ => return Err(EntryFault::Shape),
        };
        let [Value::Number(tick), Value::String(team), Value::String(role), Value::String(kind), rest @ ..] =
            &parts[..]
        else {
            return Err(EntryFault::Shape);
        };
        let tick = tick.as_u64().ok_or(EntryFault::Shape)?;
        if tick < earliest {
            return Err(EntryFault::Order);
        }
        if tick > self.ticks {
            return Err(EntryFault::BeyondTheEnd);
        }
        let team = self.teams.iter().find(|known| ***known == **team).ok_or(EntryFault::Team)?;
        let role = self.surface.manifest.role(role).ok_or(EntryFault::Role)?;
        let input = self.input(role, kind, rest)?;
        let pauses = matches!(input, Input::Pause | Input::Resume(_));
        if pauses && self.surface.manifest.control.pausable.is_none() {
            return Err(EntryFault::NotPausable);
        }
        Ok(Entry { tick, seat: Seat { team: team.clone(), role: role.clone() }, input })
    }

    fn input(&self, role: &Name, kind: &str, rest: &[Value]) -> Result<Input, EntryFault> {
        match (kind, rest) {
            ("intent", [intent, source]) => {
                let context = Context { source: other_source(source)?, owner_roles: None };
                Ok(Input::Intent { intent: self.intent(role, intent, false)?, context })
            }
            ("intent", [intent, source, roles]) => {
                if source != "owner" {
                    return Err(EntryFault::Source);
                }
                let owner_roles = Some(self.owner_roles(role, roles)?);
                let context = Context { source: Source::Owner, owner_roles };
                Ok(Input::Intent { intent: self.intent(role, intent, false)?, context })
            }
            ("signal", [intent]) => Ok(Input::Signal(self.intent(role, intent, true)?)),
            ("seat", [change]) => self.seat_change(change),
            ("pause", [reason]) if reason == PAUSE_REASON => Ok(Input::Pause),
            ("pause", [_]) => Err(EntryFault::PauseReason),
            ("resume", [reason]) => {
                let known = ResumeReason::ALL.into_iter().find(|known| reason == known.as_str());
                known.map(Input::Resume).ok_or(EntryFault::ResumeReason)
            }
            ("forfeit", []) if Some(role) == self.surface.manifest.roles.first() => Ok(Input::Forfeit),
            ("forfeit", []) => Err(EntryFault::ForfeitRole),
            ("intent" | "signal" | "seat" | "pause" | "resume" | "forfeit", _) => Err(EntryFault::Shape),
            _ => Err(EntryFault::Kind),
        }
    }

    /// An intent that passed the first gates of a match, whether it is one for the board or for the game.
    fn intent(&self, role: &Name, intent: &Value, for_board: bool) -> Result<JsonText, EntryFault> {
        let manifest = &self.surface.manifest;
        let intent = admitted(manifest, role, intent).map_err(|_| EntryFault::Intent)?;
        if is_signal(manifest, &intent) == for_board {
            Ok(JsonText::of(&intent))
        } else {
            Err(EntryFault::SignalKind)
        }
    }

    fn owner_roles(&self, role: &Name, roles: &Value) -> Result<Vec<Name>, EntryFault> {
        let manifest = &self.surface.manifest;
        let listed = roles.as_array().filter(|listed| listed.len() <= manifest.roles.len());
        let known = |role: &Value| manifest.role(role.as_str()?).cloned();
        let roles: Option<Vec<Name>> = listed.and_then(|listed| listed.iter().map(known).collect());
        let roles = roles.ok_or(EntryFault::OwnerRoles)?;
        let is_repeated = (1..roles.len()).any(|at| roles[..at].contains(&roles[at]));
        if is_repeated || !roles.contains(role) { Err(EntryFault::OwnerRoles) } else { Ok(roles) }
    }

    fn seat_change(&self, change: &Value) -> Result<Input, EntryFault> {
        let change = change.as_object().cloned().and_then(record);
        let SeatMember { controller, mandate } = change.ok_or(EntryFault::Seat)?;
        let mandate = Mandate::parse(&self.surface.manifest, &mandate).map_err(|_| EntryFault::Seat)?;
        Ok(Input::Seat { controller, mandate: JsonText::of(mandate.to_json()) })
    }
}

/// The source of an intent whose entry names no owner roles. An owner's without them is malformed, never read as an
/// intent of the seat alone (§10).
fn other_source(source: &Value) -> Result<Source, EntryFault> {
    match source.as_str() {
        Some("owner") => Err(EntryFault::OwnerRoles),
        Some("agent") => Ok(Source::Agent),
        Some("policy") => Ok(Source::Policy),
        Some("bot") => Ok(Source::Bot),
        Some("fallback") => Ok(Source::Fallback),
        _ => Err(EntryFault::Source),
    }
}
