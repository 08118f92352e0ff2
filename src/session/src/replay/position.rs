//! A place in a replay: a game of its own that was played up to there, and what the host knew beside it.
//!
//! It never touches the match that was recorded, and shares nothing with it that changes.

use super::envelope::Replay;
use super::error::ReplayError;
use crate::outcomes::Parties;
use crate::signals::{self, Boards};
use crate::{Surface, replay::Entry};
use playerthree_game::{GameMatch, Name, Outcome, Seat, SignalBoard};
use std::collections::{BTreeMap, BTreeSet};

/// A place in a replay (§10, §18 `ReplayPosition`, `ReplayResult`).
pub struct Position {
    pub(super) game: Box<dyn GameMatch>,
    pub(super) boards: Boards,
    /// Of every side that plays, the first final one that the game reported.
    pub(super) outcomes: BTreeMap<Name, Outcome>,
    pub(super) ranks: Option<BTreeMap<Name, u32>>,
    pub(super) forfeited: BTreeSet<Name>,
    pub(super) paused: BTreeSet<Seat>,
    /// The entry that comes next, counted from the first that was ever recorded.
    pub(super) next: u64,
}

impl Position {
    /// The beginning of a replay: a fresh game, before any entry.
    ///
    /// # Errors
    /// A replay of another game or version, one of a window, and one that the game refuses to be created from.
    pub fn start(surface: &Surface, replay: &Replay) -> Result<Self, ReplayError> {
        replay.check_game(surface)?;
        if replay.window.is_some() {
            return Err(ReplayError::StartsAtCheckpoint);
        }
        let game = surface.game.create(&replay.setup).map_err(|_| ReplayError::CannotCreate)?;
        let boards = signals::boards(&surface.manifest, &*game, &replay.setup.teams);
        let boards = boards.map_err(|_| ReplayError::CannotCreate)?;
        let running = |team: &Name| (team.clone(), Outcome::Running);
        Ok(Self {
            game,
            boards,
            outcomes: replay.setup.teams.iter().map(running).collect(),
            ranks: None,
            forfeited: BTreeSet::new(),
            paused: BTreeSet::new(),
            next: 0,
        })
    }

    /// An independent copy, where the game can be copied (§10 `clone`).
    pub fn copy(&self) -> Option<Self> {
        Some(Self {
            game: self.game.clone_match()?,
            boards: self.boards.clone(),
            outcomes: self.outcomes.clone(),
            ranks: self.ranks.clone(),
            forfeited: self.forfeited.clone(),
            paused: self.paused.clone(),
            next: self.next,
        })
    }

    /// Ticks stepped.
    pub fn tick(&self) -> u64 {
        self.game.tick()
    }

    /// The entry that comes next, counted from the first that was ever recorded.
    pub fn next_entry(&self) -> u64 {
        self.next
    }

    /// How each side stands.
    pub fn outcomes(&self) -> &BTreeMap<Name, Outcome> {
        &self.outcomes
    }

    /// Final placements, nothing before the end of the match.
    pub fn ranks(&self) -> Option<&BTreeMap<Name, u32>> {
        self.ranks.as_ref()
    }

    /// The seats that hold the session paused (§18).
    pub fn paused(&self) -> &BTreeSet<Seat> {
        &self.paused
    }

    /// A side's signal board, nothing in a game without signals (§22.4).
    pub fn signal_board(&self, team: &str) -> Option<&SignalBoard> {
        self.boards.get(team)
    }

    pub(super) fn is_over(&self) -> bool {
        self.outcomes.values().all(|outcome| outcome.is_final())
    }
}

impl Replay {
    /// §10: a replay is played by the game and version that recorded it, and by no other.
    pub(super) fn check_game(&self, surface: &Surface) -> Result<(), ReplayError> {
        if self.game != surface.manifest.id {
            return Err(ReplayError::Game);
        }
        if self.game_version != surface.manifest.version {
            return Err(ReplayError::GameVersion);
        }
        Ok(())
    }

    /// Whether a tick lies in what was recorded.
    pub(super) fn check_target(&self, target: u64) -> Result<(), ReplayError> {
        if target > self.ticks {
            return Err(ReplayError::PastTheEnd);
        }
        if self.window.is_some_and(|window| target < window.from) {
            return Err(ReplayError::BeforeWindow);
        }
        Ok(())
    }

    /// The entry of this absolute index, nothing past the last one and before the window.
    pub(super) fn entry(&self, index: u64) -> Option<&Entry> {
        let place = index.checked_sub(self.dropped())?;
        self.entries.get(usize::try_from(place).ok()?)
    }

    pub(super) fn parties(&self) -> Parties {
        Parties { teams: self.setup.teams.clone(), alliances: self.setup.alliances.clone() }
    }
}

impl std::fmt::Debug for Position {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Position")
            .field("tick", &self.tick())
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
