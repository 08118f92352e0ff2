//! A match that is made with its seats assigned (§20 `createMatch({assignments})`): all of them, or there is no match.

use crate::commander::CommanderId;
use crate::game_match::{CannotStart, Config, Match};
use crate::seat::{Occupant, OwnerControl};
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::{Name, Seat};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Who takes which seat of a new match.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The seat.
    pub seat: Seat,
    /// Who takes it. Whoever puts a commander here has routed its lane already.
    pub occupant: Occupant,
    /// Whether its owner holds an automated seat in person too.
    pub control: OwnerControl,
}

impl Match {
    /// [`Self::new`] with these seats assigned, in their order. Fails like [`Self::assign_with`], and `invalid` for a seat
    /// that is assigned twice and for a commander on two sides.
    pub fn with_assignments(
        surface: Arc<Surface>,
        config: Config,
        assignments: Vec<Assignment>,
        now: Millis,
    ) -> Result<Self, CannotStart> {
        let mut game = Self::new(surface, config, now)?;
        let mut taken: BTreeSet<Seat> = BTreeSet::new();
        let mut sides: BTreeMap<CommanderId, Name> = BTreeMap::new();
        for Assignment { seat, occupant, control } in assignments {
            let team = seat.team.clone();
            let is_on_two_sides = match &occupant {
                Occupant::Commander(seated) => {
                    *sides.entry(seated.commander.clone()).or_insert_with(|| team.clone()) != team
                }
                _ => false,
            };
            if is_on_two_sides || !taken.insert(seat.clone()) {
                return Err(CallError::from(Code::Invalid).into());
            }
            game.assign_with(&seat, occupant, control)?;
        }
        Ok(game)
    }
}
