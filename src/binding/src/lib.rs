//! The transport binding (§4): matches in ordinary rooms, with `playerthree:*` messages beside the game's own.
//!
//! This crate owns no rule of the match and no byte of the room protocol; it joins the two.

mod admission;
mod archive;
mod assigning;
mod bearers;
mod delivering;
mod door;
mod frames;
mod keyframes;
mod ops;
mod options;
mod owning;
mod pooling;
mod push;
mod rates;
mod rights;
mod room;
mod watching;

pub use archive::Archive;
pub use door::Event;
pub use ops::BODY_BYTES_MAX;
pub use owning::{Matches, OwnerCall};
pub use room::{Caller, MatchRoom, RECONNECTION_GRACE};

use playerthree_host::{Account, Accounts, Agents, PolicyPlaces};
use playerthree_rooms::{AuthRequest, Cx, Definition, Refusal, RoomSettings};
use playerthree_schema::Schema;
use playerthree_session::{Config, Match, Persistent, Surface};
use serde_json::Value;
use std::num::NonZero;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Clients of one match: players, spectators and observers together. It leaves room for a thousand each of those who watch.
pub const CLIENTS_MAX: usize = 2_500;

/// The rooms of one game, to be defined under the game's id.
pub struct GameRooms {
    surface: Arc<Surface>,
    accounts: Arc<Accounts>,
    agents: Arc<Agents>,
    matches: Matches,
    places: PolicyPlaces,
    options: Arc<Schema>,
    worlds: Option<Worlds>,
}

/// The persistent sessions of one game.
struct Worlds {
    persistent: Persistent,
    /// One permit for each that may still be made.
    places: Arc<Semaphore>,
}

impl GameRooms {
    /// Rooms for a game, with the process's accounts, agents, matches and places for policies.
    pub fn new(
        surface: Arc<Surface>,
        accounts: Arc<Accounts>,
        agents: Arc<Agents>,
        matches: Matches,
        places: PolicyPlaces,
    ) -> Self {
        let options = Arc::new(options::schema(&surface.manifest));
        Self { surface, accounts, agents, matches, places, options, worlds: None }
    }

    /// Makes every room of this game a persistent session (§18), at most so many at once: a room past them is refused. Such a
    /// room goes on while nobody is there, for as long as the process runs.
    #[must_use]
    pub fn persistent(mut self, persistent: Persistent, most: NonZero<u16>) -> Self {
        let places = Arc::new(Semaphore::new(usize::from(most.get())));
        self.worlds = Some(Worlds { persistent, places });
        self
    }
}

impl Definition for GameRooms {
    type Room = MatchRoom;

    /// A token that is no account's is refused; no token is a guest, who may watch one side.
    async fn authorize(&self, request: &AuthRequest) -> Result<Option<Account>, Refusal> {
        options::part(&self.options, &request.options).map_err(|_| Refusal::bad_options())?;
        match &request.token {
            None => Ok(None),
            Some(token) => self.accounts.find(token).map(Some).ok_or_else(Refusal::auth_failed),
        }
    }

    fn create(&self, cx: &mut Cx<'_, MatchRoom>, options: &Value) -> Result<MatchRoom, Refusal> {
        let creation = options::creation(&self.options, options).map_err(|_| Refusal::bad_options())?;
        let world = self.worlds.as_ref().map(|worlds| Arc::clone(&worlds.places).try_acquire_owned());
        let world = world.transpose().map_err(|_| Refusal::at_capacity())?;
        let bots = room::bots_of(&self.surface, creation.bots);
        let config = Config {
            options: creation.options,
            teams: creation.teams,
            alliances: creation.alliances,
            bots: bots.clone(),
            observers: creation.observers,
            epoch: push::unix_millis(),
            persistent: self.worlds.as_ref().map(|worlds| worlds.persistent),
            ..Config::of(creation.seed.map_or_else(random_seed, Ok)?)
        };
        let mut game =
            Match::new(Arc::clone(&self.surface), config, 0).map_err(|_| Refusal::bad_options())?;
        if !self.matches.are_archived() {
            game.keep_no_replay();
        }
        // The gate stands before anybody can reach the match (§20 `holdStart`).
        creation.start.hold(&mut game).map_err(|_| Refusal::bad_options())?;
        let parts = room::Parts {
            game,
            agents: Arc::clone(&self.agents),
            matches: self.matches.clone(),
            places: self.places.clone(),
            join_schema: Arc::clone(&self.options),
            bots,
            private: creation.private,
            world,
        };
        Ok(MatchRoom::new(cx, parts))
    }

    fn settings(&self) -> RoomSettings {
        RoomSettings { max_clients: Some(CLIENTS_MAX), ..RoomSettings::default() }
    }
}

/// A seed for a match whose creator named none. It is kept secret while the match runs.
fn random_seed() -> Result<u32, Refusal> {
    let mut bytes = [0_u8; 4];
    getrandom::fill(&mut bytes).map_err(|_| Refusal::new(503, "no randomness for a seed"))?;
    Ok(u32::from_le_bytes(bytes))
}
