//! A game as the host serves it: the checked manifest, the tools of its agents and the hash that pins both (§4).
//!
//! Made once at start and immutable for the life of the host.

use crate::mandate::MANDATE_UNITS_MAX;
use crate::tools::{self, RESULT_TEXT_MAX, Tool};
use playerthree_game::{Checked, Fault, Game, Knowledge, Name, Phase, SeatFacts};
use playerthree_schema::{Kind, utf16_len};
use serde_json::Value;
use std::sync::Arc;

/// UTF-16 units that a core briefing may have beside its mandate: what the longest mandate, the scopes, the alliances and
/// the commanded roles leave of a result.
const BRIEFING_UNITS_MAX: usize = RESULT_TEXT_MAX - MANDATE_UNITS_MAX - 1_500;

/// A game whose manifest passed every check.
pub struct Surface {
    /// The game.
    pub game: Arc<dyn Game>,
    /// Its manifest.
    pub manifest: Checked,
    /// What agents may read of the game: briefing, topics and skills.
    pub knowledge: Knowledge,
    /// The tools of this game's agents (§4), in a fixed order.
    pub tools: Vec<Tool>,
    /// `surfaceHash`: lowercase hexadecimal SHA-256 over manifest, tools and skills (§4 "Surface pinning").
    pub hash: String,
}

impl Surface {
    /// Checks the game's manifest. All faults come back together.
    pub fn new(game: Arc<dyn Game>) -> Result<Self, Vec<Fault>> {
        let manifest = game.manifest().check()?;
        if let Some(fault) = no_default_directive(&manifest) {
            return Err(vec![fault]);
        }
        let tools = tools::for_manifest(&manifest);
        let records: Value = tools.iter().map(Tool::record).collect();
        let hash = playerthree_game::surface_hash(&manifest, &records);
        let knowledge = Knowledge::new(&manifest);
        let long: Vec<Fault> = long_briefings(&manifest, &knowledge, &hash).collect();
        if !long.is_empty() {
            return Err(long);
        }
        Ok(Self { game, manifest, knowledge, tools, hash })
    }

    /// Whether a periodic view may leave this member out because it never changes (§10 `view`).
    pub(crate) fn carries_over(&self, member: &str) -> bool {
        let Kind::Obj { fields, .. } = &self.manifest.view.kind else { return false };
        fields.iter().any(|(name, field)| &**name == member && matches!(field.kind, Kind::Opt(_)))
    }
}

/// A seat has a mandate before its owner says anything, so a directive needs a value to begin with (§3).
fn no_default_directive(manifest: &Checked) -> Option<Fault> {
    manifest.directive.default_value().is_none().then(|| Fault {
        path: "directive".into(),
        what: "a required id or patterned text has no default, so a fresh seat could have no mandate".into(),
        fix: "make the field optional, or let its pattern accept the empty text".into(),
    })
}

/// Roles whose core briefing would fit into no result once their owner wrote the longest mandate (§4 `RESULT_TEXT_MAX`).
fn long_briefings(manifest: &Checked, knowledge: &Knowledge, hash: &str) -> impl Iterator<Item = Fault> {
    let units = |role: &Name| {
        let facts = SeatFacts {
            phase: Phase::Match,
            role,
            team: manifest.teams.first().map(|team| &**team),
            teams: &manifest.teams,
            alliances: None,
            scopes: &[],
            mandate: &Value::Null,
        };
        utf16_len(&knowledge.briefing(&facts, hash).to_string())
    };
    manifest.roles.iter().filter(move |role| units(role) > BRIEFING_UNITS_MAX).map(|role| Fault {
        path: format!("roleDocs.{role}"),
        what: format!("the core briefing of the role has more than {BRIEFING_UNITS_MAX} units"),
        fix: "shorten the game's document, the role's document or the skills' descriptions".into(),
    })
}

impl std::fmt::Debug for Surface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surface")
            .field("id", &self.manifest.id)
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}
