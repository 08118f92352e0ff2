//! Who hears what commanders say between matches (§12): the matches in which their owner is present.
//!
//! Nothing is kept for an owner who is in none: chat is memory of the moment.

use crate::agents::MatchDoor;
use dashmap::DashMap;
use playerthree_game::Name;
use playerthree_session::{CommanderId, OwnerId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A reply of a commander's agent between matches, for its owner alone.
#[derive(Clone, Debug, PartialEq)]
pub struct SaidInLobby {
    /// Whose commander.
    pub owner: OwnerId,
    /// Which one.
    pub commander: CommanderId,
    /// Which of its lanes.
    pub role: Name,
    /// A text in the bounds of chat.
    pub text: String,
}

/// The ways to the owners of one game's commanders, by owner and match.
#[derive(Default)]
pub(crate) struct Listeners(DashMap<OwnerId, BTreeMap<Arc<str>, Arc<dyn MatchDoor>>>);

impl Listeners {
    /// The owner is present in this match.
    pub(crate) fn add(&self, owner: &OwnerId, match_id: &Arc<str>, door: Arc<dyn MatchDoor>) {
        self.0.entry(owner.clone()).or_default().insert(Arc::clone(match_id), door);
    }

    /// The owner left this match, or it is gone.
    pub(crate) fn remove(&self, owner: &OwnerId, match_id: &str) {
        if let Some(mut matches) = self.0.get_mut(owner) {
            matches.remove(match_id);
        }
        self.0.remove_if(owner, |_, matches| matches.is_empty());
    }

    /// Tells the owner wherever they are. A match that is gone or has too much to do misses it.
    pub(crate) fn tell(&self, said: &SaidInLobby) {
        for door in self.0.get(&said.owner).iter().flat_map(|matches| matches.values()) {
            _ = door.said(said.clone());
        }
    }
}
