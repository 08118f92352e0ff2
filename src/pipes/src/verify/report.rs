//! The report of a verification: wire shapes, the human text and the exit status.
//!
//! Text from a log is shown without control characters; nothing here decides anything.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Mark;
use super::event::as_side;
use super::game::{Game, Position, Started};
use crate::canonical::hex;

/// What a reader knows beforehand. A member that is `None` was not given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// What a game without `protocol` speaks: `Some(None)` means that such games are skipped. Not given at all, it is
    /// this recipe.
    pub assume_protocol: Option<Option<String>>,
    /// Installed board.
    pub params: Option<Params>,
    /// Who is seated.
    pub seats: Option<Seats>,
    /// Public keys.
    pub keys: Option<SigKeys>,
}

/// Install-time parameters; those that are `None` are taken from the start event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Params {
    /// Rows, 1 or more.
    pub rows: Option<u64>,
    /// Columns, 1 or more.
    pub cols: Option<u64>,
    /// Marks in a row that win, 1 or more.
    pub win_length: Option<u64>,
}

/// The signing refs of the two players.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seats {
    /// The host's.
    #[serde(rename = "X", default)]
    pub x: Option<String>,
    /// The guest's.
    #[serde(rename = "O", default)]
    pub o: Option<String>,
}

impl Seats {
    pub(crate) fn of(&self, player: Mark) -> Option<&str> {
        match player {
            Mark::X => self.x.as_deref(),
            Mark::O => self.o.as_deref(),
        }
    }
}

/// The public keys of the two players, `ed25519:` and unpadded base64url of 32 bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigKeys {
    /// The host's.
    #[serde(rename = "X", default)]
    pub x: Option<String>,
    /// The guest's.
    #[serde(rename = "O", default)]
    pub o: Option<String>,
}

impl Options {
    /// Reads the `options` of a log; `None` when a member has a wrong shape.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let given = |name: &str| object.get(name).filter(|value| !value.is_null());
        let assume_protocol = match object.get("assumeProtocol") {
            None => None,
            Some(Value::Null) => Some(None),
            Some(name) => Some(Some(name.as_str()?.to_owned())),
        };
        let params = match given("params") {
            None => None,
            Some(params) => Some(Params::from_json(params)?),
        };
        let seats = given("seats").map(|seats| Seats::deserialize(seats).ok());
        let keys = given("keys").map(|keys| SigKeys::deserialize(keys).ok());
        Some(Self { assume_protocol, params, seats: flat(seats)?, keys: flat(keys)? })
    }

    /// These options, completed by others where a member was not given.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            assume_protocol: self.assume_protocol.or(other.assume_protocol),
            params: self.params.or(other.params),
            seats: self.seats.or(other.seats),
            keys: self.keys.or(other.keys),
        }
    }

    fn to_json(&self) -> Value {
        let assumed = self.assume_protocol.clone().unwrap_or_else(|| Some(super::PROTOCOL.to_owned()));
        let params = self.params.map(|p| json!({"rows": p.rows, "cols": p.cols, "winLength": p.win_length}));
        json!({"assumeProtocol": assumed, "params": params, "seats": self.seats, "keys": self.keys})
    }
}

fn flat<T>(read: Option<Option<T>>) -> Option<Option<T>> {
    match read {
        None => Some(None),
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
    }
}

impl Params {
    fn from_json(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let side = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(side) => as_side(side).map(Some),
        };
        Some(Self { rows: side("rows")?, cols: side("cols")?, win_length: side("winLength")? })
    }
}

/// The verdict on a whole log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Verdict {
    /// No game has a fault.
    Valid {
        /// Always true.
        ok: bool,
    },
    /// The first faults of the games, the one that comes first in the inbox.
    #[serde(rename_all = "camelCase")]
    Faulty {
        /// Always false.
        ok: bool,
        /// The game.
        game_id: String,
        /// The seq that the event claims, if it claims an integer.
        seq: Option<i64>,
        /// The closed reason.
        reason: &'static str,
    },
}

/// A fault, as listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultRow {
    /// The capture at fault.
    pub capture_id: String,
    /// Its game.
    pub game_id: String,
    /// The seq that it claims.
    pub seq: Option<i64>,
    /// The closed reason.
    pub reason: &'static str,
}

/// An ignored capture, as listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoteRow {
    /// The capture.
    pub capture_id: String,
    /// The closed reason.
    pub reason: &'static str,
}

/// An accepted event, as listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// The capture.
    pub capture_id: String,
    /// Its game.
    pub game_id: String,
    /// Its seq.
    pub seq: i64,
    /// Its hash, lowercase hex.
    pub hash: String,
}

/// The first fault of a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstFault {
    /// The capture.
    pub capture_id: String,
    /// The seq that it claims.
    pub seq: Option<i64>,
    /// The closed reason.
    pub reason: &'static str,
}

/// What is known of one game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum GameSummary {
    /// Another protocol's.
    #[serde(rename_all = "camelCase")]
    Skipped {
        /// The game.
        game_id: String,
        /// Always true.
        skipped: bool,
        /// What its start event declares.
        protocol: Option<String>,
    },
    /// No start event was taken.
    #[serde(rename_all = "camelCase")]
    Unstarted {
        /// The game.
        game_id: String,
        /// Always false.
        skipped: bool,
        /// Its first fault.
        fault: Option<FirstFault>,
        /// Always `unstarted`.
        status: &'static str,
    },
    /// A game with a chain.
    Played(Box<Played>),
}

/// A game with a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Played {
    /// The game.
    pub game_id: String,
    /// Always false.
    pub skipped: bool,
    /// Its first fault.
    pub fault: Option<FirstFault>,
    /// `in_progress`, `win` or `draw`.
    pub status: &'static str,
    /// Who won.
    pub winner: Option<&'static str>,
    /// `line`, `draw` or `resign`.
    pub ended_by: Option<&'static str>,
    /// Who is to move.
    pub turn: Option<&'static str>,
    /// Events on the chain.
    pub events: usize,
    /// The seq of the next event.
    pub next_seq: Option<i64>,
    /// Hash of the newest event.
    pub tip_hash: String,
    /// What the start event declares.
    pub protocol: Option<String>,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Marks in a row that win.
    pub win_length: u64,
    /// One string a row; `null` above 1024 cells.
    pub board: Option<Vec<String>>,
    /// Who the transport says the players are.
    pub signers: Option<Seats>,
    /// Events whose `sig` was verified.
    pub verified_sigs: u64,
}

impl GameSummary {
    pub(crate) fn new(game_id: String, game: &Game, fault: Option<FirstFault>) -> Self {
        match game {
            Game::Foreign { protocol } => {
                Self::Skipped { game_id, skipped: true, protocol: protocol.as_deref().map(str::to_owned) }
            }
            Game::Unstarted => Self::Unstarted { game_id, skipped: false, fault, status: "unstarted" },
            Game::Started(started) => Self::Played(Box::new(Played::new(game_id, started, fault))),
        }
    }

    /// The game id.
    #[must_use]
    pub fn game_id(&self) -> &str {
        match self {
            Self::Skipped { game_id, .. } | Self::Unstarted { game_id, .. } => game_id,
            Self::Played(played) => &played.game_id,
        }
    }
}

impl Played {
    fn new(game_id: String, started: &Started, fault: Option<FirstFault>) -> Self {
        let (winner, ended_by) = match &started.position {
            Position::Open(_) => (None, None),
            Position::Over { winner, by, .. } => (winner.map(Mark::as_str), Some(by.as_str())),
        };
        let dimensions = started.dimensions();
        Self {
            game_id,
            skipped: false,
            fault,
            status: started.state().as_str(),
            winner,
            ended_by,
            turn: started.turn().map(Mark::as_str),
            events: started.chain.len(),
            next_seq: started.turn().map(|_| started.next_seq()),
            tip_hash: hex(&started.tip_hash()),
            protocol: started.protocol.as_deref().map(str::to_owned),
            rows: dimensions.rows,
            cols: dimensions.cols,
            win_length: dimensions.win_length,
            board: started.drawing(),
            signers: started.seats().cloned(),
            verified_sigs: started.verified_sigs,
        }
    }

    fn describe(&self) -> String {
        match (self.winner, self.ended_by) {
            (Some(winner), Some(by)) => format!("{winner} won by {by}"),
            (None, Some(_)) => "draw".to_owned(),
            _ => format!("in progress, {} to move", self.turn.unwrap_or("nobody")),
        }
    }
}

/// The outcome of a verification.
#[derive(Debug, Clone)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// A summary per game, in the order of their first events.
    pub games: Vec<GameSummary>,
    /// All faults in inbox order, up to [`super::Bounds::listed_rows`].
    pub faults: Vec<FaultRow>,
    /// All ignored captures in inbox order, up to the same bound.
    pub ignored: Vec<NoteRow>,
    /// The accepted events game by game, when [`super::Detail::Chains`] asked for them.
    pub chain: Option<Vec<Accepted>>,
    /// Faults found, listed or not.
    pub fault_count: u64,
    /// Captures ignored, listed or not.
    pub ignored_count: u64,
    /// The options that were used.
    pub options: Options,
}

impl Report {
    /// Whether no game has a fault.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        matches!(self.verdict, Verdict::Valid { .. })
    }

    /// 0 for a valid log, 1 for a faulty one.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        u8::from(!self.is_valid())
    }

    /// `verdict`, `games`, `faults` and `ignored` as `pipes-log/1` has them, `options` as used; `chain` when it was
    /// kept; `counts` when a list was cut short.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut report = json!({
            "verdict": self.verdict, "games": self.games, "faults": self.faults, "ignored": self.ignored,
            "options": self.options.to_json(),
        });
        if let Some(chain) = &self.chain {
            report["chain"] = json!(chain);
        }
        if self.fault_count > self.faults.len() as u64 || self.ignored_count > self.ignored.len() as u64 {
            report["counts"] = json!({"faults": self.fault_count, "ignored": self.ignored_count});
        }
        report
    }

    /// A line per game, a line per fault, and the verdict last.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for game in &self.games {
            _ = writeln!(out, "{}", game_line(game));
        }
        for fault in &self.faults {
            let seq = fault.seq.map_or_else(|| "?".to_owned(), |seq| seq.to_string());
            let (capture, game) = (plain(&fault.capture_id), plain(&fault.game_id));
            _ = writeln!(out, "FAULT {capture} game={game} seq={seq} {}", fault.reason);
        }
        let verdict = if self.is_valid() { "VALID" } else { "FAULTY" };
        _ = writeln!(
            out,
            "{verdict}: {} games, {} faults, {} captures ignored",
            self.games.len(),
            self.fault_count,
            self.ignored_count
        );
        out
    }
}

fn game_line(game: &GameSummary) -> String {
    match game {
        GameSummary::Skipped { game_id, protocol, .. } => {
            format!("SKIP {} protocol={}", plain(game_id), plain(protocol.as_deref().unwrap_or("unknown")))
        }
        GameSummary::Unstarted { game_id, .. } => format!("GAME {} unstarted", plain(game_id)),
        GameSummary::Played(played) => {
            let id = plain(&played.game_id);
            format!("GAME {id} {}; {} events, tip {}", played.describe(), played.events, played.tip_hash)
        }
    }
}

/// Text of a log that is safe to print: no control or direction-changing characters, at most 200 characters.
fn plain(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    text.chars().take(200).map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_ids_carry_no_control_characters() {
        assert_eq!(plain("a\x1b[31m\n\u{202e}b"), "a\u{fffd}[31m\u{fffd}\u{fffd}b");
        assert_eq!(plain(&"x".repeat(1000)).len(), 200);
    }

    #[test]
    fn options_of_a_wrong_shape_are_refused() {
        for text in [r#"{"params":{"rows":0}}"#, r#"{"seats":{"X":1}}"#, r#"{"assumeProtocol":3}"#, "[]"] {
            assert_eq!(Options::from_json(&serde_json::from_str(text).unwrap()), None, "{text}");
        }
    }
}
