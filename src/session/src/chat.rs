//! Owner chat (§12): what an owner tells the agents on their own seats, and what those answer.
//!
//! Kept in memory alone. Nobody but the owner of a seat can put text before its agent, no policy or bot is shown any,
//! and each message is delivered once.

use crate::bucket::Bucket;
use crate::commander::CommanderId;
use crate::game_match::Match;
use crate::mandate::Scope;
use crate::seat::{OwnerId, Right, SeatState};
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::{ChatLimits, Name, Seat};
use playerthree_schema::{Schema, t};
use serde_json::{Map, Value, json};
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

/// What an owner may tell to begin with.
pub(crate) fn tell_bucket() -> Bucket {
    Bucket::new(TELL_PER_SECOND, TELL_BURST, 0)
}

/// Messages of an owner that one agent has not read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inbox(VecDeque<Value>);

impl Inbox {
    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many messages there are to read.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a message, and drops the oldest one past [`INBOX_MAX`].
    pub fn put(&mut self, message: Value) {
        if self.0.len() >= INBOX_MAX {
            self.0.pop_front();
        }
        self.0.push_back(message);
    }

    /// Adds what another inbox holds, which is older than whatever comes next.
    pub fn append(&mut self, other: Self) {
        other.0.into_iter().for_each(|message| self.put(message));
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

/// What an owner tells: a text in its bounds, and a ping of the game's.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    text: String,
    ping: Option<Value>,
}

impl Message {
    /// Reads `{text, ping?}` when whom it is for has been taken out.
    pub(crate) fn read(chat: &ChatLimits, mut members: Map<String, Value>) -> Result<Self, CallError> {
        let text = members.remove("text").ok_or(Code::Invalid)?;
        let ping = members.remove("ping").map(|ping| admitted(chat, ping)).transpose()?;
        if !members.is_empty() {
            return Err(Code::Invalid.into());
        }
        Ok(Self { text: chat_text(text.as_str().ok_or(Code::Invalid)?, chat.max_tell_chars)?, ping })
    }

    /// The message as an agent reads it. `tick` is 0 in the lobby.
    pub(crate) fn to_json(&self, tick: u64) -> Value {
        let mut message = json!({ "from": "owner", "tick": tick, "text": self.text });
        if let Some(ping) = &self.ping {
            message["ping"] = ping.clone();
        }
        message
    }
}

/// A message of an owner to seats of theirs, well-formed but not yet authorized.
#[derive(Clone, Debug, PartialEq)]
pub struct Tell {
    to: Addressees,
    message: Message,
}

impl Tell {
    /// Reads `{roles, text, ping?}`: `roles` is `"all"` or distinct declared roles. Fails `mode_unavailable` in a game
    /// without chat, and `invalid` for a text or ping out of its bounds.
    pub fn parse(surface: &Surface, args: Value) -> Result<Self, CallError> {
        let manifest = &surface.manifest;
        let chat = manifest.control.chat.as_ref().ok_or(Code::ModeUnavailable)?;
        let Value::Object(mut members) = args else { return Err(Code::Invalid.into()) };
        let roles = members.remove("roles").ok_or(Code::Invalid)?;
        let to = if roles == "all" { Addressees::All } else { addressees(&manifest.roles, &roles)? };
        Ok(Self { to, message: Message::read(chat, members)? })
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
    /// The named commander that holds the seat, if one does.
    pub commander: Option<CommanderId>,
    /// When.
    pub tick: u64,
    /// A text that [`chat_text`] made.
    pub text: String,
}

impl Match {
    /// An owner writes to the agents on their own seats of a side (§12 `tell`). Fails `forbidden` if one of the roles is
    /// not theirs or they own seats of another side too, and `rate_limited` past 5 at once and 1 a second for each owner.
    pub fn tell(&mut self, owner: &OwnerId, team: &str, tell: &Tell, now: Millis) -> Result<(), CallError> {
        let seats = self.addressed(owner, team, &tell.to);
        if seats.is_empty() {
            return Err(Code::Forbidden.into());
        }
        if !self.tell_bucket(owner).take(now) {
            return Err(Code::RateLimited.into());
        }
        let message = tell.message.to_json(self.tick());
        for seat in seats {
            self.seat_mut(&seat)?.lane(Right::Agent).inbox.put(message.clone());
        }
        self.settle_waits(now);
        Ok(())
    }

    /// An owner writes to the agent of one of their commanders at a seat that it holds here (§12 `commanders.tell`).
    /// Fails `forbidden` where the seat is that commander's no more, and where its owner has seats of another side too.
    pub fn tell_commander(
        &mut self,
        commander: &CommanderId,
        seat: &Seat,
        message: &Message,
        now: Millis,
    ) -> Result<(), CallError> {
        if self.commander(seat) != Some(commander) || !self.may_be_coached(seat) {
            return Err(Code::Forbidden.into());
        }
        let message = message.to_json(self.tick());
        self.seat_mut(seat)?.lane(Right::Agent).inbox.put(message);
        self.settle_waits(now);
        Ok(())
    }

    /// What a commander's owner told it before this seat was assigned to it and it has not read comes with it (§12).
    pub fn hand_messages_over(&mut self, seat: &Seat, unread: Inbox, now: Millis) -> Result<(), CallError> {
        if self.may_be_coached(seat) {
            self.seat_mut(seat)?.lane(Right::Agent).inbox.append(unread);
            self.settle_waits(now);
        }
        Ok(())
    }

    /// No word reaches a seat whose owner has seats of another side too: they see more than that side does (§20).
    fn may_be_coached(&self, seat: &Seat) -> bool {
        self.owner(seat).is_some_and(|owner| !self.owns_elsewhere(owner, &seat.team))
    }

    fn owns_elsewhere(&self, owner: &OwnerId, team: &str) -> bool {
        let owned = |state: &&SeatState| state.owner() == Some(owner);
        self.seats.values().filter(owned).any(|state| &*state.seat.team != team)
    }

    /// The owner's seats among those addressed, none if one of them is not theirs or they must not coach the side.
    fn addressed(&self, owner: &OwnerId, team: &str, to: &Addressees) -> Vec<Seat> {
        if self.owns_elsewhere(owner, team) {
            return Vec::new();
        }
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
        self.tell_buckets.entry(owner.clone()).or_insert_with(tell_bucket)
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
        let (seat, commander) = (seat.clone(), self.commander(seat).cloned());
        self.changes.said.push(Said { owner, seat, commander, tick, text });
        Ok(json!({ "ok": true, "tick": tick }))
    }

    /// What the owner told this seat's agent since it last asked, once (§12). Nothing for anybody else.
    pub fn take_messages(&mut self, seat: &Seat, right: Right) -> Result<Option<Value>, CallError> {
        Ok(self.seat_mut(seat)?.lane(right).inbox.take())
    }
}
