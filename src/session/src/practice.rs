//! What a practice match is to be (§13): the arguments as they are read, and what the live match adds to them.
//!
//! Nothing here plays: a practice is a match of its own, and this one must never notice it.

use crate::calls::deploy;
use crate::game_match::Match;
use crate::policy::Artifact;
use crate::{CallError, Code, Surface};
use playerthree_game::{Name, Seat};
use playerthree_schema::{merge, t};
use serde_json::Value;

/// The arguments of `practice_run` (§4).
#[derive(Clone, Debug, PartialEq)]
pub struct Practice {
    /// The tier of hostile seats.
    pub opponent: Name,
    /// The tier of allied seats.
    pub allies: Name,
    /// Ticks to play at most.
    pub ticks: u64,
    /// The seed of the match; 0 where none was given, so that two runs compare.
    pub seed: u32,
    /// Code to test in place of the active policy.
    pub artifact: Option<Artifact>,
    /// Options over those of the live match.
    pub options: Option<Value>,
}

/// Reads the arguments. Fails `mode_unavailable` without the mode and `invalid` for what the manifest does not know.
pub(crate) fn read(surface: &Surface, args: &Value) -> Result<Practice, CallError> {
    let manifest = &surface.manifest;
    let limits = manifest.control.practice.as_ref().ok_or(Code::ModeUnavailable)?;
    let mut rest = args.as_object().cloned().ok_or(Code::Invalid)?;
    let artifact = match rest.remove("artifact") {
        Some(artifact) => Some(deploy(surface, &artifact)?),
        None => None,
    };
    let tier = || t::literals(manifest.opponents.iter().map(|tier| &**tier));
    let mut fields = vec![
        ("opponent", tier()),
        ("allies", t::opt(tier())),
        ("ticks", t::int(1, limits.max_ticks.into())),
        ("seed", t::opt(t::int(0, 2_147_483_647))),
    ];
    fields.extend(manifest.match_options.iter().map(|options| ("options", t::opt(options.clone()))));
    let rest = t::obj(fields).admit(Value::Object(rest))?;
    let name = |member: &str| rest.get(member).and_then(Value::as_str).map(Name::from);
    let opponent = name("opponent").ok_or(Code::Invalid)?;
    Ok(Practice {
        allies: name("allies").unwrap_or_else(|| opponent.clone()),
        opponent,
        ticks: rest.get("ticks").and_then(Value::as_u64).ok_or(Code::Invalid)?,
        seed: rest.get("seed").and_then(Value::as_u64).and_then(|seed| u32::try_from(seed).ok()).unwrap_or(0),
        artifact,
        options: rest.get("options").cloned(),
    })
}

impl Match {
    /// The code that a practice of this seat tests and the version that its statistics name: what was handed in, which
    /// has version 0, or the active policy. Fails `invalid` where there is neither.
    pub fn practice_artifact(
        &self,
        seat: &Seat,
        given: Option<Artifact>,
    ) -> Result<(Artifact, u32), CallError> {
        match given {
            Some(artifact) => Ok((artifact, 0)),
            None => {
                let active = self.seat(seat)?.policy.active_artifact().ok_or(Code::Invalid)?;
                Ok((active.1, active.0))
            }
        }
    }

    /// Options over those of this match, field by field where the schema says so (§3 `merge`).
    pub fn practice_options(&self, over: Option<Value>) -> Option<Value> {
        match (&self.options, over, &self.surface.manifest.match_options) {
            (Some(live), Some(over), Some(schema)) => Some(merge(schema, live, &over)),
            (live, over, _) => over.or_else(|| live.clone()),
        }
    }
}
