//! Owner chat (§12): what an owner tells the agents on their own seats, and what those answer.
//!
//! Kept in memory alone. Nobody but the owner of a seat can put text before its agent, no policy or bot is shown any,
//! and each message is delivered once.

use crate::bucket::Bucket;
use crate::game_match::Match;
use crate::mandate::Scope;
use crate::seat::{OwnerId, Right};
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::{ChatLimits, Name, Seat};
use playerthree_schema::{Schema, t};
use serde_json::{Value, json};
use std::collections::VecDeque;
use unicode_normalization::UnicodeNormalization as _;

/// Most messages that wait for one agent. A newer one pushes the oldest out: what the owner wants now is what counts.
/// With texts of 500 units they fit into half of a tool result.
pub const INBOX_MAX: usize = 10;

const TELL_BURST: u32 = 5;
const TELL_PER_SECOND: f64 = 1.0;
const SAY_BURST: u32 = 3;
const SAY_PER_SECOND: f64 = 0.5;

/// What an agent may say to begin with.
pub(crate) fn say_bucket() -> Bucket {
    Bucket::new(SAY_PER_SECOND, SAY_BURST, 0)
}

/// Messages of an owner that one agent has not read.
#[derive(Debug, Default)]
pub struct Inbox(VecDeque<Value>);

impl Inbox {
    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a message, and drops the oldest one past [`INBOX_MAX`].
    pub fn put(&mut self, message: Value) {
        if self.0.len() >= INBOX_MAX {
            self.0.pop_front();
        }
        self.0.push_back(message);
    }

    /// Takes all messages out, oldest first, as the member `messages` of a result. Nothing if there are none.
    pub fn take(&mut self) -> Option<Value> {
        (!self.is_empty()).then(|| std::mem::take(&mut self.0).into_iter().collect())
    }
}

/// A text as chat carries it: in NFC, not blank, at most `max` UTF-16 units, and without control characters (but tab and
/// newline) or bidirectional overrides and isolates. Anything else is `invalid` (§12).
pub fn chat_text(text: &str, max: u32) -> Result<String, CallError> {
    let (mut normal, mut units) = (String::new(), 0);
    for character in text.nfc() {
        units += character.len_utf16();
        if units > max as usize || is_refused(character) {
            return Err(Code::Invalid.into());
        }
        normal.push(character);
    }
    if normal.trim().is_empty() { Err(Code::Invalid.into()) } else { Ok(normal) }
}

fn is_refused(character: char) -> bool {
    let bidi = matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    bidi || (character.is_control() && !matches!(character, '\t' | '\n'))
}

/// Which of an owner's seats a message is for.
#[derive(Clone, Debug, PartialEq)]
enum Addressees {
    All,
    Roles(Vec<Name>),
}

/// A message of an owner, well-formed but not yet authorized.
#[derive(Clone, Debug, PartialEq)]
pub struct Tell {
    to: Addressees,
    text: String,
    ping: Option<Value>,
}

impl Tell {
    /// Reads `{roles, text, ping?}`: `roles` is `"all"` or distinct declared roles. Fails `mode_unavailable` in a game
    /// without chat, and `invalid` for a text or ping out of its bounds.
    pub fn parse(surface: &Surface, args: Value) -> Result<Self, CallError> {
        let manifest = &surface.manifest;
        let chat = manifest.control.chat.as_ref().ok_or(Code::ModeUnavailable)?;
        let Value::Object(mut members) = args else { return Err(Code::Invalid.into()) };
        let roles = members.remove("roles").ok_or(Code::Invalid)?;
        let text = members.remove("text").ok_or(Code::Invalid)?;
        let ping = members.remove("ping").map(|ping| admitted(chat, ping)).transpose()?;
        if !members.is_empty() {
            return Err(Code::Invalid.into());
        }
        let to = if roles == "all" { Addressees::All } else { addressees(&manifest.roles, &roles)? };
        let text = chat_text(text.as_str().ok_or(Code::Invalid)?, chat.max_tell_chars)?;
        Ok(Self { to, text, ping })
    }

    /// The message as an agent reads it. `tick` is 0 in the lobby.
    pub fn message(&self, tick: u64) -> Value {
        let mut message = json!({ "from": "owner", "tick": tick, "text": self.text });
        if let Some(ping) = &self.ping {
            message["ping"] = ping.clone();
        }
        message
    }
}

fn admitted(chat: &ChatLimits, ping: Value) -> Result<Value, CallError> {
    Ok(chat.ping.as_ref().ok_or(Code::Invalid)?.admit(ping)?)
}

fn addressees(declared: &[Name], roles: &Value) -> Result<Addressees, CallError> {
    let list = t::list(t::literals(declared.iter().map(|role| &**role)), declared.len() as u64);
    list.validate(roles)?;
    let wanted =
        |role: &&Name| roles.as_array().is_some_and(|roles| roles.iter().any(|name| *name == ***role));
    let named: Vec<Name> = declared.iter().filter(wanted).cloned().collect();
    // A repeated role makes the list longer than what it names.
    if named.is_empty() || roles.as_array().is_some_and(|roles| roles.len() != named.len()) {
        return Err(Code::Invalid.into());
    }
    Ok(Addressees::Roles(named))
}

/// The schema of the member `messages` of a result.
pub(crate) fn messages_schema(chat: &ChatLimits) -> Schema {
    let mut fields = vec![
        ("from", t::literals(["owner"])),
        ("tick", t::int(0, 2_147_483_647)),
        ("text", t::str(chat.max_tell_chars)),
    ];
    fields.extend(chat.ping.clone().map(|ping| ("ping", t::opt(ping))));
    t::list(t::obj(fields), INBOX_MAX as u64)
}

/// A reply of an agent, for its owner alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Whose agent.
    pub owner: OwnerId,
    /// Its seat.
    pub seat: Seat,
    /// When.
    pub tick: u64,
    /// A text that [`chat_text`] made.
    pub text: String,
}

impl Match {
    /// An owner writes to the agents on their own seats of a side (§12 `tell`). Fails `forbidden` if one of the roles is
    /// not theirs, and `rate_limited` past 5 at once and 1 a second for each owner.
    pub fn tell(&mut self, owner: &OwnerId, team: &str, tell: &Tell, now: Millis) -> Result<(), CallError> {
        let seats = self.addressed(owner, team, &tell.to);
        if seats.is_empty() {
            return Err(Code::Forbidden.into());
        }
        if !self.tell_bucket(owner).take(now) {
            return Err(Code::RateLimited.into());
        }
        let message = tell.message(self.tick());
        for seat in seats {
            self.seat_mut(&seat)?.lane(Right::Agent).inbox.put(message.clone());
        }
        self.settle_waits(now);
        Ok(())
    }

    /// The owner's seats among those addressed, none if one of them is not theirs.
    fn addressed(&self, owner: &OwnerId, team: &str, to: &Addressees) -> Vec<Seat> {
        let owned = self.seats.values().filter(|state| state.owner() == Some(owner));
        let mut seats: Vec<Seat> =
            owned.map(|state| &state.seat).filter(|seat| &*seat.team == team).cloned().collect();
        if let Addressees::Roles(roles) = to {
            if !roles.iter().all(|role| seats.iter().any(|seat| seat.role == *role)) {
                return Vec::new();
            }
            seats.retain(|seat| roles.contains(&seat.role));
        }
        seats
    }

    fn tell_bucket(&mut self, owner: &OwnerId) -> &mut Bucket {
        let seats = &self.seats;
        self.tell_buckets.retain(|known, _| seats.values().any(|state| state.owner() == Some(known)));
        let fresh = || Bucket::new(TELL_PER_SECOND, TELL_BURST, 0);
        self.tell_buckets.entry(owner.clone()).or_insert_with(fresh)
    }

    /// A seat's agent writes to its owner (§12 `say`). Fails `forbidden` for the owner, `out_of_scope` without the scope,
    /// and `rate_limited` past 3 at once and 1 in two seconds for each seat.
    pub fn say(&mut self, seat: &Seat, right: Right, text: &str, now: Millis) -> Result<Value, CallError> {
        let chat = self.surface.manifest.control.chat.as_ref().ok_or(Code::ModeUnavailable)?;
        let max = chat.max_say_chars;
        let tick = self.tick();
        let state = self.seat_mut(seat)?;
        let owner = state.owner().cloned().filter(|_| right == Right::Agent).ok_or(Code::Forbidden)?;
        if !state.scopes.contains(&Scope::Say) {
            return Err(Code::OutOfScope.into());
        }
        let text = chat_text(text, max)?;
        if !state.say_bucket.take(now) {
            return Err(Code::RateLimited.into());
        }
        self.changes.said.push(Said { owner, seat: seat.clone(), tick, text });
        Ok(json!({ "ok": true, "tick": tick }))
    }

    /// What the owner told this seat's agent since it last asked, once (§12). Nothing for anybody else.
    pub fn take_messages(&mut self, seat: &Seat, right: Right) -> Result<Option<Value>, CallError> {
        Ok(self.seat_mut(seat)?.lane(right).inbox.take())
    }
}
