//! The replay envelope, `playerthree.replay` version 2 (§10), and its JSON.

use super::entry::Entry;
use playerthree_game::{Name, Outcome, Setup};
use playerthree_schema::{canonical, sha256_hex};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What names the format in every envelope.
pub const FORMAT: &str = "playerthree.replay";

/// The version of the format.
pub const VERSION: u64 = 2;

/// Most entries that accompany what a position shows (§17).
pub const INPUTS_SHOWN: usize = 200;

/// What is left of a persistent session's replay once entries were dropped (§18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// The tick of the oldest kept checkpoint.
    pub from: u64,
    /// How many entries were recorded before the first one that is kept.
    pub dropped: u64,
}

/// A replay whose every part fits its game: one that a match recorded, or one that was read and judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    pub(crate) game: Name,
    pub(crate) game_version: Name,
    pub(crate) setup: Setup,
    pub(crate) ticks: u64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) outcomes: BTreeMap<Name, Outcome>,
    pub(crate) ranks: Option<BTreeMap<Name, u32>>,
    pub(crate) window: Option<Window>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    format: &'static str,
    version: u64,
    game: &'a str,
    game_version: &'a str,
    seed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a Value>,
    teams: &'a [Name],
    #[serde(skip_serializing_if = "Option::is_none")]
    alliances: Option<&'a BTreeMap<String, Vec<Name>>>,
    ticks: u64,
    entries: &'a [Entry],
    outcomes: &'a BTreeMap<Name, Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<&'a BTreeMap<Name, u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
}

impl Replay {
    /// The id of the game.
    pub fn game(&self) -> &str {
        &self.game
    }

    /// The version of the game.
    pub fn game_version(&self) -> &str {
        &self.game_version
    }

    /// What the match was created from.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Ticks that the match had stepped.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// The kept entries, in recording order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How each side stood.
    pub fn outcomes(&self) -> &BTreeMap<Name, Outcome> {
        &self.outcomes
    }

    /// Final placements, nothing unless the match was over.
    pub fn ranks(&self) -> Option<&BTreeMap<Name, u32>> {
        self.ranks.as_ref()
    }

    /// What a persistent session kept, nothing while it kept everything.
    pub fn window(&self) -> Option<Window> {
        self.window
    }

    /// Entries that were recorded before the first one that is kept.
    pub fn dropped(&self) -> u64 {
        self.window.map_or(0, |window| window.dropped)
    }

    /// The entries that were recorded within one tick of this one, in their order and as they are in the envelope (§17).
    /// Where there are more than [`INPUTS_SHOWN`], those of the tick itself come before its neighbours', which are the
    /// nearest ones then.
    pub fn inputs_around(&self, tick: u64) -> Vec<Value> {
        let first_of = |tick: u64| self.entries.partition_point(|entry| entry.tick < tick);
        let (own, next) = (first_of(tick), first_of(tick.saturating_add(1)));
        let end = first_of(tick.saturating_add(2));
        let own_shown = (next - own).min(INPUTS_SHOWN);
        let before = (own - first_of(tick.saturating_sub(1))).min(INPUTS_SHOWN - own_shown);
        let after =
            if next - own == own_shown { (end - next).min(INPUTS_SHOWN - own_shown - before) } else { 0 };
        let near = &self.entries[own - before..own + own_shown + after];
        #[expect(clippy::expect_used, reason = "texts, numbers and JSON values are JSON values")]
        near.iter().map(|entry| serde_json::to_value(entry).expect("an entry is JSON")).collect()
    }

    /// About how many bytes of JSON its entries take.
    pub fn weight(&self) -> usize {
        self.entries.iter().map(Entry::weight).sum()
    }

    /// The envelope as compact JSON.
    pub fn to_text(&self) -> String {
        let envelope = Envelope {
            format: FORMAT,
            version: VERSION,
            game: &self.game,
            game_version: &self.game_version,
            seed: self.setup.seed,
            options: self.setup.options.as_ref(),
            teams: &self.setup.teams,
            alliances: self.setup.alliances.as_ref(),
            ticks: self.ticks,
            entries: &self.entries,
            outcomes: &self.outcomes,
            ranks: self.ranks.as_ref(),
            window: self.window,
        };
        #[expect(clippy::expect_used, reason = "texts, numbers and JSON values always have a JSON text")]
        serde_json::to_string(&envelope).expect("an envelope has a JSON text")
    }

    /// SHA-256 of the canonical JSON, as lowercase hexadecimal digits (§20.10.1 `replayRef`).
    pub fn digest(&self) -> String {
        #[expect(clippy::expect_used, reason = "the text was just written")]
        let value: Value = serde_json::from_str(&self.to_text()).expect("the text of an envelope");
        sha256_hex(canonical(&value).as_bytes())
    }
}
