//! A sandboxed policy in a seat, with no live model expected (§20.1 `policy`): a version from its owner's library, or a
//! policy of the pool. It plays once it has shown in this match that it works (§20.5).

use crate::commander::CommanderId;
use crate::library::{Library, Stored};
use crate::policy_slot::{Origin, PolicySlot};
use crate::pool::Draftee;
use crate::seat::OwnerId;
use playerthree_game::Name;

/// A policy on its way into a seat.
#[derive(Clone, Debug, PartialEq)]
pub struct SeatedPolicy {
    /// Whose seat it becomes. For a policy of the pool that says nothing of its author.
    pub owner: OwnerId,
    /// The owner's name as people read it; never sent to agents.
    pub display: String,
    /// What plays.
    pub code: PolicyCode,
    /// The tier that plays while the policy does not; none: nobody.
    pub bot: Option<Name>,
}

/// Where a seat's policy comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyCode {
    /// A version of one of the owner's commanders.
    Library(FromLibrary),
    /// A published policy.
    Pool(Draftee),
}

/// A version out of a commander's library.
#[derive(Clone, Debug, PartialEq)]
pub struct FromLibrary {
    /// The commander.
    pub commander: CommanderId,
    /// The version.
    pub version: u32,
    pub(crate) library: Library,
    pub(crate) stored: Stored,
}

impl PolicyCode {
    /// Whether this is the same policy.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Library(one), Self::Library(other)) => {
                (&one.commander, one.version) == (&other.commander, other.version)
            }
            (Self::Pool(one), Self::Pool(other)) => one.id == other.id,
            (Self::Library(_) | Self::Pool(_), _) => false,
        }
    }

    /// The policies of a seat that is given this one.
    pub(crate) fn seated(&self, surface: &str) -> PolicySlot {
        let (mut slot, version, stored, origin) = match self {
            Self::Library(FromLibrary { version, library, stored, .. }) => {
                (PolicySlot::of(library.clone()), *version, stored, Origin::Given)
            }
            Self::Pool(Draftee { id, author, stored }) => {
                let origin = Origin::Drafted { id: *id, author: author.clone() };
                (PolicySlot::default(), 0, stored, origin)
            }
        };
        slot.give(version, stored.clone(), origin, surface);
        slot
    }
}
