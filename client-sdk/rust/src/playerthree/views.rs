//! Team views rebuilt from keyframes and deltas (§4). Pure, and strict: a delta that does not continue a team's view
//! by exactly one version discards that view, and only a new keyframe brings it back.

use playerthree_delta::{Delta, DeltaError, apply};
use serde_json::Value;
use std::collections::HashMap;

/// Most teams whose views one connection follows.
pub const MAX_TEAMS: usize = 64;

/// Longest name of a team in bytes.
const MAX_TEAM_BYTES: usize = 64;

/// The views of the teams that one connection follows.
#[derive(Debug, Default)]
pub struct Views {
    teams: HashMap<String, View>,
}

/// A team's complete view at a version of its stream.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The version.
    pub version: u64,
    /// The view; never changed in place, a later version is another value.
    pub value: Value,
}

/// Why a view message was refused. Except for [`ViewError::Shape`] and [`ViewError::Teams`] the team's view is gone:
/// rejoin for a keyframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// No view message.
    #[error("shape")]
    Shape,
    /// More teams than [`MAX_TEAMS`].
    #[error("teams")]
    Teams,
    /// The delta does not continue what this client has.
    #[error("gap")]
    Gap,
    /// The delta is malformed or does not fit the view.
    #[error("delta: {0}")]
    Delta(#[from] DeltaError),
}

impl Views {
    /// The view of a team, once its keyframe came.
    #[must_use]
    pub fn get(&self, team: &str) -> Option<&View> {
        self.teams.get(team)
    }

    /// Takes a view message and returns its team.
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn accept(&mut self, message: Value) -> Result<String, ViewError> {
        let ViewMessage { team, version, content } = ViewMessage::read(message)?;
        let value = match content {
            Content::Keyframe(value) => value,
            Content::Delta(delta) => self.advance(&team, version, delta)?,
        };
        if !self.teams.contains_key(&team) && self.teams.len() >= MAX_TEAMS {
            return Err(ViewError::Teams);
        }
        self.teams.insert(team.clone(), View { version, value });
        Ok(team)
    }

    /// The view that a delta leads to. The old one is taken out first, so that it is gone after any failure.
    fn advance(&mut self, team: &str, version: u64, delta: Value) -> Result<Value, ViewError> {
        let old = self.teams.remove(team).ok_or(ViewError::Gap)?;
        if old.version.checked_add(1) != Some(version) {
            return Err(ViewError::Gap);
        }
        Ok(apply(old.value, &Delta::decode(delta)?)?)
    }
}

struct ViewMessage {
    team: String,
    version: u64,
    content: Content,
}

enum Content {
    Keyframe(Value),
    Delta(Value),
}

impl ViewMessage {
    fn read(mut message: Value) -> Result<Self, ViewError> {
        let members =
            message.as_object_mut().filter(|members| members.get("op").is_some_and(|op| op == "view"));
        let members = members.ok_or(ViewError::Shape)?;
        let content = match (members.remove("view"), members.remove("delta")) {
            (Some(view), None) => Content::Keyframe(view),
            (None, Some(delta)) => Content::Delta(delta),
            _ => return Err(ViewError::Shape),
        };
        let version = members.get("version").and_then(Value::as_u64).ok_or(ViewError::Shape)?;
        match members.remove("team") {
            Some(Value::String(team)) if (1..=MAX_TEAM_BYTES).contains(&team.len()) => {
                Ok(Self { team, version, content })
            }
            _ => Err(ViewError::Shape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playerthree_delta::diff;
    use serde_json::json;

    fn keyframe(team: &str, version: u64, view: &Value) -> Value {
        json!({ "op": "view", "team": team, "version": version, "view": view })
    }

    fn delta(team: &str, version: u64, old: &Value, new: &Value) -> Value {
        json!({ "op": "view", "team": team, "version": version, "delta": diff(old, new).unwrap() })
    }

    fn boards() -> [Value; 3] {
        [
            json!({ "board": ["...", "..."], "turn": "x", "fixed": { "rows": 2 } }),
            json!({ "board": ["x..", "..."], "turn": "o", "fixed": { "rows": 2 } }),
            json!({ "board": ["x..", ".o."], "turn": "x", "fixed": { "rows": 2 } }),
        ]
    }

    #[test]
    fn a_keyframe_and_its_deltas_rebuild_every_version() {
        let [first, second, third] = boards();
        let mut views = Views::default();
        assert_eq!(views.accept(keyframe("x", 7, &first)).unwrap(), "x");
        views.accept(delta("x", 8, &first, &second)).unwrap();
        views.accept(delta("x", 9, &second, &third)).unwrap();
        assert_eq!(views.get("x"), Some(&View { version: 9, value: third }));
    }

    #[test]
    fn a_gap_discards_the_view_until_the_next_keyframe() {
        // §4: a delta whose version is not exactly the reader's version plus one is a protocol error.
        let [first, second, third] = boards();
        for version in [7, 9, 0, u64::MAX] {
            let mut views = Views::default();
            views.accept(keyframe("x", 7, &first)).unwrap();
            views.accept(keyframe("o", 7, &first)).unwrap();
            assert_eq!(views.accept(delta("x", version, &first, &second)), Err(ViewError::Gap));
            assert_eq!(views.get("x"), None);
            assert_eq!(
                views.accept(delta("x", 8, &first, &second)),
                Err(ViewError::Gap),
                "nothing to continue"
            );
            assert!(views.get("o").is_some(), "another team's view stays");
            views.accept(keyframe("x", 20, &third)).unwrap();
            assert_eq!(views.get("x").unwrap().value, third);
        }
    }

    #[test]
    fn a_delta_that_does_not_fit_discards_the_view() {
        let [first, second, _] = boards();
        let other = json!([1, 2, 3]);
        let mut views = Views::default();
        views.accept(keyframe("x", 1, &other)).unwrap();
        let result = views.accept(delta("x", 2, &first, &second));
        assert_eq!((result, views.get("x")), (Err(ViewError::Delta(DeltaError::Mismatch)), None));
        views.accept(keyframe("x", 1, &first)).unwrap();
        let malformed = json!({ "op": "view", "team": "x", "version": 2, "delta": [] });
        assert!(matches!(views.accept(malformed), Err(ViewError::Delta(_))));
        assert_eq!(views.get("x"), None);
    }

    #[test]
    fn what_is_no_view_message_changes_nothing() {
        let [first, ..] = boards();
        let mut views = Views::default();
        views.accept(keyframe("x", 1, &first)).unwrap();
        for message in [
            json!(null),
            json!([]),
            json!({ "op": "view", "team": "x", "version": 2 }),
            json!({ "op": "view", "team": "x", "version": 2, "view": 1, "delta": 1 }),
            json!({ "op": "view", "team": "x", "version": -1, "view": 1 }),
            json!({ "op": "view", "team": "x", "version": 1.5, "view": 1 }),
            json!({ "op": "view", "team": "", "version": 2, "view": 1 }),
            json!({ "op": "view", "team": "x".repeat(65), "version": 2, "view": 1 }),
            json!({ "op": "result", "team": "x", "version": 2, "view": 1 }),
        ] {
            assert_eq!(views.accept(message), Err(ViewError::Shape));
        }
        assert_eq!(views.get("x").unwrap().value, first);
    }

    #[test]
    fn only_so_many_teams_are_followed() {
        let mut views = Views::default();
        for team in 0..MAX_TEAMS {
            views.accept(keyframe(&team.to_string(), 1, &json!(0))).unwrap();
        }
        assert_eq!(views.accept(keyframe("late", 1, &json!(0))), Err(ViewError::Teams));
        views.accept(keyframe("0", 2, &json!(1))).unwrap();
    }
}
