//! The one outbound guard (§15.1): whatever a game says leaves only as a snapshot that its schema accepted.
//!
//! Nothing here repairs a value, and a refusal tells the recipient nothing but `internal`.

use crate::signals::Boards;
use crate::{Code, Surface};
use playerthree_game::{GameMatch, Seat, ViewKind};
use playerthree_schema::Schema;
use serde_json::Value;

/// UTF-8 bytes that match data may take (§10 `MATCH_DATA_MAX_BYTES`).
pub const MATCH_DATA_MAX_BYTES: usize = 131_072;

/// A value that passed its schema. Only the guard makes one, so only guarded values can be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarded(Value);

impl Guarded {
    /// The value, to be sent as it is.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// Takes the value out.
    pub fn into_value(self) -> Value {
        self.0
    }
}

/// A game's output broke its own schema. The place is for the operator's log; the recipient gets `internal`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("game output refused: {what} at {place}")]
pub struct Refused {
    /// Which output.
    pub what: &'static str,
    /// Schema path and code; never a value.
    pub place: String,
}

impl From<Refused> for Code {
    fn from(refused: Refused) -> Self {
        tracing::error!(what = refused.what, place = %refused.place, "the game's output was refused");
        Self::Internal
    }
}

/// Lets a value pass that its schema accepts.
fn guard(what: &'static str, schema: &Schema, value: Value) -> Result<Guarded, Refused> {
    match schema.validate(&value) {
        Ok(()) => Ok(Guarded(value)),
        Err(invalid) => {
            Err(Refused { what, place: format!("{} {}", invalid.path_json(), invalid.code.as_str()) })
        }
    }
}

/// The guarded outputs of one game in one match. The members `signals` are the host's and are attached here (§22.3).
pub(crate) struct Outputs<'a> {
    pub(crate) surface: &'a Surface,
    pub(crate) game: &'a dyn GameMatch,
    pub(crate) boards: &'a Boards,
}

impl Outputs<'_> {
    pub(crate) fn observation(
        &self,
        seat: &Seat,
        since: i64,
        detail: &[playerthree_game::Name],
    ) -> Result<Guarded, Refused> {
        let mut value = self.game.observe(seat, since, detail);
        if let (Some(board), Value::Object(members)) = (self.boards.get(&seat.team), &mut value) {
            members.insert("signals".to_owned(), board.slice(&seat.role));
        }
        guard("observation", &self.surface.manifest.observation, value)
    }

    pub(crate) fn snapshot(&self, team: &str) -> Result<Guarded, Refused> {
        guard("view", &self.surface.manifest.view, self.view(team, ViewKind::Snapshot))
    }

    /// The game's view with the team's board beside it.
    fn view(&self, team: &str, kind: ViewKind) -> Value {
        let mut view = self.game.view(team, kind);
        if let (Some(board), Value::Object(members)) = (self.boards.get(team), &mut view) {
            members.insert("signals".to_owned(), board.to_json());
        }
        view
    }

    /// A periodic view with the members that it left out carried over from the version before (§10 `view`).
    pub(crate) fn periodic(&self, team: &str, before: &Guarded) -> Result<Guarded, Refused> {
        let mut view = self.view(team, ViewKind::Periodic);
        if let (Value::Object(now), Value::Object(then)) = (&mut view, before.value()) {
            for (key, value) in then {
                if !now.contains_key(key) && self.surface.carries_over(key) {
                    now.insert(key.clone(), value.clone());
                }
            }
        }
        guard("view", &self.surface.manifest.view, view)
    }

    pub(crate) fn report(&self, team: &str) -> Result<Guarded, Refused> {
        guard("report", &self.surface.manifest.report, self.game.report(team))
    }

    pub(crate) fn events(&self, seat: &Seat, since: i64) -> Result<Vec<Value>, Refused> {
        let schema = &self.surface.manifest.event;
        self.game
            .events(seat, since)
            .into_iter()
            .map(|event| guard("event", schema, event).map(Guarded::into_value))
            .collect()
    }

    /// The seat's match data, or null where the game declares none.
    pub(crate) fn match_data(&self, seat: &Seat) -> Result<Value, Refused> {
        let Some(schema) = &self.surface.manifest.match_data else { return Ok(Value::Null) };
        let missing = || Refused { what: "matchData", place: "missing".into() };
        let data = guard("matchData", schema, self.game.match_data(seat).ok_or_else(missing)?)?;
        if data.value().to_string().len() > MATCH_DATA_MAX_BYTES {
            return Err(Refused { what: "matchData", place: "too large".into() });
        }
        Ok(data.into_value())
    }

    /// The game's own summary of the match before its start, where it declares and gives one (§4 "Lobby phase").
    pub(crate) fn lobby(&self) -> Result<Option<Value>, Refused> {
        let summary = self.surface.manifest.lobby.as_ref().zip(self.game.lobby());
        summary.map(|(schema, value)| guard("lobby", schema, value).map(Guarded::into_value)).transpose()
    }

    /// What an omniscient observer sees, where the game declares it.
    pub(crate) fn world(&self) -> Result<Guarded, Refused> {
        let missing = || Refused { what: "observer", place: "missing".into() };
        let schema = self.surface.manifest.observer.as_ref().ok_or_else(missing)?;
        guard("observer", schema, self.game.observer_view().ok_or_else(missing)?)
    }
}
