//! One event: what a body claims, judged by itself before any chain is looked at.
//!
//! Reading an event never depends on other events, and never keeps the JSON: only the facts that the rules ask for.

use serde_json::{Map, Value};

use super::Mark;
use super::game::State;
use super::loose;
use super::sig::PublicKey;
use crate::canonical::{self, Hash};

/// The largest integer that every JSON reader holds exactly, 2^53-1.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// Why an event does not count (19 reasons, closed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Not strict I-JSON, a required member missing, a wrong type or a value outside a closed set.
    MalformedEvent,
    /// The game has no start event yet.
    MissingGenesis,
    /// A second, different start event.
    TwoGeneses,
    /// `start` after seq 0, or another action at seq 0.
    MisplacedStart,
    /// The player does not own this seq.
    WrongTurn,
    /// The start event has a `move`.
    StartCarriesMove,
    /// `rules` after seq 0.
    RulesAfterStart,
    /// A `move` action without `move`.
    MissingMove,
    /// The key that signed the post is not this player's seat.
    WrongSigner,
    /// A public key is known for the player and the event has no `sig`.
    MissingSignature,
    /// The `sig` is malformed or does not verify.
    BadSignature,
    /// The pointer is not the hash of the event before it.
    WrongPrevHash,
    /// The board size is unknown.
    MissingRules,
    /// The log's board is not the installed one.
    RulesMismatch,
    /// The pointer names the tip, the seq is not the next one.
    WrongSeq,
    /// An event on top of a finished game.
    AfterTerminal,
    /// The cell is not on the board.
    CellOutOfRange,
    /// The cell is taken.
    CellOccupied,
    /// The claim differs from the computed state; the event still counts.
    WrongStatus,
}

impl Fault {
    /// The wire name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MalformedEvent => "malformed_event",
            Self::MissingGenesis => "missing_genesis",
            Self::TwoGeneses => "two_geneses",
            Self::MisplacedStart => "misplaced_start",
            Self::WrongTurn => "wrong_turn",
            Self::StartCarriesMove => "start_carries_move",
            Self::RulesAfterStart => "rules_after_start",
            Self::MissingMove => "missing_move",
            Self::WrongSigner => "wrong_signer",
            Self::MissingSignature => "missing_signature",
            Self::BadSignature => "bad_signature",
            Self::WrongPrevHash => "wrong_prev_hash",
            Self::MissingRules => "missing_rules",
            Self::RulesMismatch => "rules_mismatch",
            Self::WrongSeq => "wrong_seq",
            Self::AfterTerminal => "after_terminal",
            Self::CellOutOfRange => "cell_out_of_range",
            Self::CellOccupied => "cell_occupied",
            Self::WrongStatus => "wrong_status",
        }
    }
}

/// Why a capture was passed over without blame (4 notes, closed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Note {
    /// The inbox kept it as evidence only.
    RejectedCapture,
    /// Chat, a webhook, anything that is not an event.
    NotAnEvent,
    /// The event on the chain at that seq, once more.
    DuplicateEvent,
    /// A rival for a seq that was already taken.
    RaceLost,
}

impl Note {
    /// The wire name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RejectedCapture => "rejected_capture",
            Self::NotAnEvent => "not_an_event",
            Self::DuplicateEvent => "duplicate_event",
            Self::RaceLost => "race_lost",
        }
    }
}

/// What an event says its predecessor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pointer {
    Empty,
    Hash(Hash),
    /// Text that no hash can equal.
    Neither,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Start,
    Move,
    Resign,
}

/// The `protocol` member, which is looked at before the event is known to be well formed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Protocol {
    Absent,
    Named(Box<str>),
    NotText,
}

/// The board that a start event declares; members may be missing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    pub(crate) rows: Option<u64>,
    pub(crate) cols: Option<u64>,
    pub(crate) win_length: Option<u64>,
    pub(crate) x_key: Option<PublicKey>,
    pub(crate) o_key: Option<PublicKey>,
}

/// The signature of an event with the bytes that it covers.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub(crate) sig: Box<str>,
    pub(crate) bytes: Box<[u8]>,
}

/// A well-formed event.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) hash: Hash,
    pub(crate) seq: i64,
    pub(crate) pointer: Pointer,
    pub(crate) player: Mark,
    pub(crate) action: Action,
    pub(crate) claim: Option<State>,
    pub(crate) cell: Option<(i64, i64)>,
    pub(crate) rules: Option<Rules>,
    pub(crate) signed: Option<Signed>,
}

impl Event {
    /// The checks that need no other event, in their order.
    pub(crate) fn fault_alone(&self) -> Option<Fault> {
        let owner = if self.seq > 0 && self.seq % 2 == 0 { Mark::O } else { Mark::X };
        if (self.action == Action::Start) != (self.seq == 0) {
            Some(Fault::MisplacedStart)
        } else if self.player != owner {
            Some(Fault::WrongTurn)
        } else if self.seq == 0 && self.cell.is_some() {
            Some(Fault::StartCarriesMove)
        } else if self.seq != 0 && self.rules.is_some() {
            Some(Fault::RulesAfterStart)
        } else if self.action == Action::Move && self.cell.is_none() {
            Some(Fault::MissingMove)
        } else {
            None
        }
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.signed.as_ref().map_or(0, |s| s.sig.len() + s.bytes.len())
    }
}

/// A body that belongs to some game.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    /// The game id as decoded bytes; a lone surrogate is kept as its own three bytes.
    pub(crate) game: Box<[u8]>,
    /// The claimed seq, any sign.
    pub(crate) seq: Option<i64>,
    /// `start` at seq 0, well formed or not.
    pub(crate) opens: bool,
    pub(crate) protocol: Protocol,
    /// `None` when the event is malformed.
    pub(crate) event: Option<Box<Event>>,
}

impl Body {
    /// Reads a posted body; `None` when it is no event of any game.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        if canonical::deepest(text) > canonical::MAX_DEPTH {
            return None;
        }
        match canonical::parse_strict(bytes) {
            Ok(Value::Object(object)) => Self::strict(object),
            Ok(_) => None,
            Err(_) => loose::read(text),
        }
    }

    fn strict(mut object: Map<String, Value>) -> Option<Self> {
        let game = object.get("game")?.as_str()?.as_bytes().into();
        if !["seq", "prevHash", "action"].iter().any(|name| object.contains_key(*name)) {
            return None;
        }
        let seq = object.get("seq").and_then(as_integer);
        let opens = seq == Some(0) && object.get("action").and_then(Value::as_str) == Some("start");
        let protocol = match object.get("protocol") {
            None => Protocol::Absent,
            Some(Value::String(name)) => Protocol::Named(name.as_str().into()),
            Some(_) => Protocol::NotText,
        };
        let sig = object.remove("sig");
        let facts = facts(&object, sig.as_ref());
        let event = facts.map(|facts| facts.hashed(object, sig));
        Some(Self { game, seq, opens, protocol, event: event.map(Box::new) })
    }

    /// About how many bytes of memory holding this body takes.
    pub(crate) fn size(&self) -> usize {
        let protocol = if let Protocol::Named(name) = &self.protocol { name.len() } else { 0 };
        size_of::<Self>() + self.game.len() + protocol + self.event.as_ref().map_or(0, |event| event.size())
    }
}

/// The members of a well-formed event, not hashed yet.
struct Facts {
    seq: i64,
    pointer: Pointer,
    player: Mark,
    action: Action,
    claim: Option<State>,
    cell: Option<(i64, i64)>,
    rules: Option<Rules>,
}

impl Facts {
    fn hashed(self, object: Map<String, Value>, sig: Option<Value>) -> Event {
        let bytes = canonical::canonical_bytes(&Value::Object(object));
        let hash = canonical::sha256(&bytes);
        let signed = match sig {
            Some(Value::String(sig)) => Some(Signed { sig: sig.into(), bytes: bytes.into() }),
            _ => None,
        };
        let Self { seq, pointer, player, action, claim, cell, rules } = self;
        Event { hash, seq, pointer, player, action, claim, cell, rules, signed }
    }
}

/// Reads the members of an event without its `sig`; `None` when any of them is malformed.
fn facts(object: &Map<String, Value>, sig: Option<&Value>) -> Option<Facts> {
    let seq = object.get("seq").and_then(as_integer).filter(|seq| *seq >= 0)?;
    let pointer = pointer(object.get("prevHash")?.as_str()?);
    let player = match object.get("player")?.as_str()? {
        "X" => Mark::X,
        "O" => Mark::O,
        _ => return None,
    };
    let action = match object.get("action")?.as_str()? {
        "start" => Action::Start,
        "move" => Action::Move,
        "resign" => Action::Resign,
        _ => return None,
    };
    let claim = optional(object.get("status"), |claim| State::from_claim(claim.as_str()?))?;
    optional(sig, Value::as_str)?;
    optional(object.get("protocol"), Value::as_str)?;
    let cell = optional(object.get("move"), |cell| {
        Some((as_integer(cell.get("row")?)?, as_integer(cell.get("col")?)?))
    })?;
    let rules = match action {
        Action::Start => optional(object.get("rules"), rules)?,
        Action::Move | Action::Resign => object.get("rules").map(|_| Rules::default()),
    };
    Some(Facts { seq, pointer, player, action, claim, cell, rules })
}

/// A member that may be absent, and must be good when it is there.
fn optional<'a, T>(
    member: Option<&'a Value>,
    read: impl FnOnce(&'a Value) -> Option<T>,
) -> Option<Option<T>> {
    match member {
        None => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn pointer(text: &str) -> Pointer {
    if text.is_empty() {
        Pointer::Empty
    } else {
        canonical::unhex32(text).map_or(Pointer::Neither, Pointer::Hash)
    }
}

fn rules(value: &Value) -> Option<Rules> {
    let object = value.as_object()?;
    let side = |name: &str| optional(object.get(name), as_side);
    let key = |name: &str| {
        let Some(keys) = object.get("keys") else { return Some(None) };
        optional(keys.as_object()?.get(name), |key| PublicKey::parse(key.as_str()?))
    };
    Some(Rules {
        rows: side("rows")?,
        cols: side("cols")?,
        win_length: side("winLength")?,
        x_key: key("X")?,
        o_key: key("O")?,
    })
}

/// A size of the board: an integer of 1 or more.
pub(crate) fn as_side(value: &Value) -> Option<u64> {
    as_integer(value).and_then(|side| u64::try_from(side).ok()).filter(|side| *side >= 1)
}

/// Any JSON spelling of an integral number within ±(2^53-1): `2`, `2.0`, `2e0` and `20e-1` are equal.
pub(crate) fn as_integer(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    let integer = match number.as_i64() {
        Some(integer) => integer,
        None => as_integral_double(number.as_f64()?)?,
    };
    (-MAX_SAFE..=MAX_SAFE).contains(&integer).then_some(integer)
}

#[expect(clippy::cast_possible_truncation, reason = "the value is integral and within 2^53 when it is cast")]
#[expect(clippy::cast_precision_loss, reason = "2^53-1 is exact as a double")]
pub(crate) fn as_integral_double(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= MAX_SAFE as f64).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_are_read_in_every_spelling_and_only_within_the_safe_range() {
        for text in ["2", "2.0", "2e0", "20e-1"] {
            assert_eq!(as_integer(&serde_json::from_str(text).unwrap()), Some(2), "{text}");
        }
        assert_eq!(as_integer(&json!(-0.0)), Some(0));
        assert_eq!(as_integer(&json!(9_007_199_254_740_991_i64)), Some(MAX_SAFE));
        for value in [json!(9_007_199_254_740_992_i64), json!(1.5), json!("1"), json!(u64::MAX), json!(null)]
        {
            assert_eq!(as_integer(&value), None, "{value}");
        }
    }
}
