//! What a position shows (§17 "Replay scrubbing"): the game's developer snapshot, a side's guarded view, or a fresh
//! guarded observation of a seat; and a hash of all of it, by which two states are compared.

use super::error::ReplayError;
use super::position::Position;
use crate::game_match::Match;
use crate::guard::{Outputs, Refused};
use crate::{Code, Surface};
use playerthree_game::{Detail, Name, Seat};
use playerthree_schema::{canonical, sha256_hex};
use serde_json::{Value, json};
use std::str::FromStr;

/// Whose eyes look at a position. Written `god`, `side:<team>` or `seat:<team>/<role>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Perspective {
    /// The game's developer snapshot, unfogged. For developers and operators alone.
    God,
    /// A side's view.
    Side(Name),
    /// A seat's observation.
    Seat(Seat),
}

/// The text names no perspective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is god, side:<team> or seat:<team>/<role>")]
pub struct NoPerspective;

impl FromStr for Perspective {
    type Err = NoPerspective;

    fn from_str(text: &str) -> Result<Self, NoPerspective> {
        if text == "god" {
            return Ok(Self::God);
        }
        match text.split_once(':') {
            Some(("side", team)) if !team.is_empty() => Ok(Self::Side(team.into())),
            Some(("seat", seat)) => match seat.split_once('/') {
                Some((team, role)) if !team.is_empty() && !role.is_empty() => {
                    Ok(Self::Seat(Seat::new(team, role)))
                }
                _ => Err(NoPerspective),
            },
            _ => Err(NoPerspective),
        }
    }
}

impl Position {
    /// What is seen from there: `null` for [`Perspective::God`] in a game without a developer snapshot. A seat sees the
    /// events since the tick before, and its role's usual sections in full.
    ///
    /// # Errors
    /// [`ReplayError::NothingToShow`] for a side or seat that does not play, and where the game breaks its schema.
    pub fn show(&self, surface: &Surface, from: &Perspective) -> Result<Value, ReplayError> {
        let outputs = self.outputs(surface);
        let shown = match from {
            Perspective::God => Ok(self.game.debug_view().unwrap_or(Value::Null)),
            Perspective::Side(team) if self.outcomes.contains_key(team) => {
                outputs.snapshot(team).map(crate::Guarded::into_value)
            }
            Perspective::Seat(seat) if self.plays(surface, seat) => {
                let detail = surface.manifest.detail(&seat.role, &Detail::default()).unwrap_or_default();
                let since = i64::try_from(self.tick()).unwrap_or(i64::MAX) - 1;
                outputs.observation(seat, since.max(-1), &detail).map(crate::Guarded::into_value)
            }
            Perspective::Side(_) | Perspective::Seat(_) => return Err(ReplayError::NothingToShow),
        };
        shown.map_err(|refused| {
            _ = Code::from(refused);
            ReplayError::NothingToShow
        })
    }

    /// A hash of the whole state: the same as [`Match::state_hash`] of the recorded match at that place.
    ///
    /// # Errors
    /// [`ReplayError::NothingToShow`] where the game breaks its schema.
    pub fn state_hash(&self, surface: &Surface) -> Result<String, ReplayError> {
        let teams: Vec<&Name> = self.outcomes.keys().collect();
        let outcomes = json!({ "outcomes": self.outcomes, "ranks": self.ranks });
        hash(&self.outputs(surface), &teams, outcomes).map_err(|_| ReplayError::NothingToShow)
    }

    /// About how many bytes of JSON the state takes: the boards, and the developer snapshot or every side's view, whichever
    /// is larger. A snapshot may show a part of the state alone (§17).
    pub(super) fn json_bytes(&self, surface: &Surface) -> usize {
        let bytes = |value: &Value| value.to_string().len();
        let outputs = self.outputs(surface);
        let seen = self.outcomes.keys().filter_map(|team| outputs.snapshot(team).ok());
        let views: usize = seen.map(|view| bytes(view.value())).sum();
        let snapshot = self.game.debug_view().map_or(0, |state| bytes(&state));
        let boards: usize = self.boards.values().map(|board| bytes(&board.to_json())).sum();
        snapshot.max(views) + boards
    }

    fn plays(&self, surface: &Surface, seat: &Seat) -> bool {
        self.outcomes.contains_key(&seat.team) && surface.manifest.role(&seat.role).is_some()
    }

    fn outputs<'a>(&'a self, surface: &'a Surface) -> Outputs<'a> {
        Outputs { surface, game: &*self.game, boards: &self.boards }
    }
}

impl Match {
    /// SHA-256 over all that the match would show: the developer snapshot, every view and observation with the signals in
    /// them, outcomes and ranks. Two matches with the same one are in the same state, as far as the game shows it.
    ///
    /// # Errors
    /// The game broke its own schema.
    pub fn state_hash(&self) -> Result<String, Refused> {
        let teams: Vec<&Name> = self.outcomes.keys().collect();
        hash(&self.outputs(), &teams, json!({ "outcomes": self.outcomes, "ranks": self.ranks }))
    }
}

fn hash(outputs: &Outputs<'_>, teams: &[&Name], standing: Value) -> Result<String, Refused> {
    let mut state =
        vec![json!(outputs.game.tick()), standing, outputs.game.debug_view().unwrap_or(Value::Null)];
    let manifest = &outputs.surface.manifest;
    for team in teams {
        state.push(outputs.snapshot(team)?.into_value());
        for role in &manifest.roles {
            let seat = Seat { team: (*team).clone(), role: role.clone() };
            state.push(outputs.observation(&seat, -1, manifest.sections())?.into_value());
        }
    }
    Ok(sha256_hex(canonical(&Value::Array(state)).as_bytes()))
}
