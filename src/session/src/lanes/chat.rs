//! Owner chat with named commanders (§12): `commanders.tell`, wherever their lanes are, and `say` between matches.
//!
//! A message is for named ids, never for a role, and each lane of an addressed commander gets it once: in a match that
//! match delivers it, between matches it waits here. Kept in memory alone.

use super::{COMMANDERS_PER_OWNER, Commander, Commanders, Lane};
use crate::chat::{self, Inbox, Message};
use crate::commander::CommanderId;
use crate::mandate::Scope;
use crate::seat::OwnerId;
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::Name;
use playerthree_schema::t;
use serde_json::Value;

/// Longest id of a commander, in Unicode code points; the host's own are shorter.
const ID_MAX: u32 = 64;

/// Which of an owner's commanders a message is for.
#[derive(Clone, Debug, PartialEq)]
enum Addressees {
    All,
    Named(Vec<CommanderId>),
}

/// A message of an owner to commanders of theirs, well-formed but not yet authorized.
#[derive(Clone, Debug, PartialEq)]
pub struct TellCommanders {
    to: Addressees,
    message: Message,
}

impl TellCommanders {
    /// Reads `{commanders, text, ping?}`: `commanders` is `"all"` or distinct ids. Fails `mode_unavailable` in a game
    /// without chat, and `invalid` for a list, text or ping out of its bounds.
    pub fn parse(surface: &Surface, args: Value) -> Result<Self, CallError> {
        let chat = surface.manifest.control.chat.as_ref().ok_or(Code::ModeUnavailable)?;
        let Value::Object(mut members) = args else { return Err(Code::Invalid.into()) };
        let to = match members.remove("commanders").ok_or(Code::Invalid)? {
            Value::String(all) if all == "all" => Addressees::All,
            ids => Addressees::Named(named(&ids)?),
        };
        Ok(Self { to, message: Message::read(chat, members)? })
    }

    /// What is told.
    pub fn message(&self) -> &Message {
        &self.message
    }
}

fn named(ids: &Value) -> Result<Vec<CommanderId>, CallError> {
    t::list(t::str(ID_MAX), COMMANDERS_PER_OWNER as u64).validate(ids)?;
    let mut named: Vec<CommanderId> = Vec::new();
    for id in ids.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if named.iter().any(|seen| *seen.0 == *id) {
            return Err(Code::Invalid.into());
        }
        named.push(CommanderId(id.into()));
    }
    if named.is_empty() { Err(Code::Invalid.into()) } else { Ok(named) }
}

/// A lane that a message is for.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldLane<D> {
    /// Whose.
    pub commander: CommanderId,
    /// Which of its lanes.
    pub role: Name,
    /// What leads to the match that has to deliver the message; between matches it waits in the lane.
    pub hold: Option<D>,
}

impl<D: Clone> Commanders<D> {
    /// An owner writes to commanders of theirs (§12 `commanders.tell`), and the lanes that hear of it. Fails `forbidden`
    /// where one of them is not theirs or they have none, and `rate_limited` past 5 at once and 1 a second for each owner.
    pub fn tell(
        &mut self,
        owner: &OwnerId,
        tell: &TellCommanders,
        now: Millis,
    ) -> Result<Vec<ToldLane<D>>, CallError> {
        let addressed = match &tell.to {
            Addressees::Named(ids) => ids.clone(),
            Addressees::All => self.ids_of(owner),
        };
        if addressed.is_empty() {
            return Err(Code::Forbidden.into());
        }
        for id in &addressed {
            self.owned(owner, id)?;
        }
        if !self.tell_buckets.entry(owner.clone()).or_insert_with(chat::tell_bucket).take(now) {
            return Err(Code::RateLimited.into());
        }
        let mut told = Vec::new();
        for id in addressed {
            for (role, lane) in &mut self.owned_mut(owner, &id)?.lanes {
                let hold = lane.live.as_ref().map(|live| live.door.clone());
                if hold.is_none() {
                    lane.inbox.put(tell.message.to_json(0));
                }
                told.push(ToldLane { commander: id.clone(), role: role.clone(), hold });
            }
        }
        Ok(told)
    }

    /// A commander's agent writes to its owner between matches (§12 `say`): the owner, and the text as it is carried.
    /// Fails `mode_unavailable` in a game without chat, `out_of_scope` without the scope, `invalid` for a text out of its
    /// bounds, and `rate_limited` past 3 at once and 1 in two seconds for each lane.
    pub fn say(
        &mut self,
        id: &CommanderId,
        role: &str,
        text: &str,
        now: Millis,
    ) -> Result<(OwnerId, String), CallError> {
        let limits = self.surface.manifest.control.chat.as_ref().ok_or(Code::ModeUnavailable)?;
        let max = limits.max_say_chars;
        let Commander { owner, settings, lanes, .. } = self.by_id.get_mut(id).ok_or(Code::BadToken)?;
        if !settings.allows(Scope::Say) {
            return Err(Code::OutOfScope.into());
        }
        let text = chat::chat_text(text, max)?;
        if !lanes.get_mut(role).ok_or(Code::Forbidden)?.say_bucket.take(now) {
            return Err(Code::RateLimited.into());
        }
        Ok((owner.clone(), text))
    }

    /// Whether the lane has something of its owner's to read.
    pub fn has_messages(&self, id: &CommanderId, role: &str) -> bool {
        self.lane(id, role).is_some_and(|lane| !lane.inbox.is_empty())
    }

    /// Takes what the lane has not read: it is delivered, or goes into the match that seats the lane.
    pub fn take_inbox(&mut self, id: &CommanderId, role: &str) -> Inbox {
        self.lane_mut(id, role).map(Lane::take_inbox).unwrap_or_default()
    }

    fn ids_of(&self, owner: &OwnerId) -> Vec<CommanderId> {
        let owned = self.by_id.iter().filter(|(_, commander)| commander.owner == *owner);
        owned.map(|(id, _)| id.clone()).collect()
    }

    /// The owner's bucket goes with their last commander.
    pub(super) fn forget_bucket_of(&mut self, owner: &OwnerId) {
        if !self.by_id.values().any(|commander| commander.owner == *owner) {
            self.tell_buckets.remove(owner);
        }
    }
}

impl<D> Lane<D> {
    fn take_inbox(&mut self) -> Inbox {
        std::mem::take(&mut self.inbox)
    }
}
