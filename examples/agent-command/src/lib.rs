//! Agent Command, a real-time strategy match for people, agents and policies: the reference game of §19.
//!
//! Read it as a tutorial on a larger game, in this order:
//!
//! 1. `kinds`, `map` and `world` hold the numbers, the battlefield and the state.
//! 2. `step` advances the state one tick; `command` judges what seats ask for.
//! 3. `sight` decides what a side sees; `render` and `observe` show it that and nothing more.
//! 4. `schema` and `manifest` describe all of it, with `knowledge/` for those who come to play (§3).
//! 5. `game_match` and this file connect the game to its host (§10). `bots` play when nobody else does.
//!
//! The rules use integers and draw randomness from the seed alone, so that equal inputs replay exactly.

mod bots;
mod command;
mod events;
mod game_match;
mod intent;
mod kinds;
mod manifest;
mod map;
mod observe;
mod options;
mod render;
mod requests;
mod rng;
mod schema;
mod sight;
mod step;
mod world;

use game_match::AgentCommandMatch;
use playerthree_game::{Bot, CannotCreate, Clock, Game, GameMatch, Manifest, Seat, Setup};

/// The game itself: two to four sides, each with a commander of its economy, its army and its air force, ten ticks a
/// second.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentCommand;

impl Game for AgentCommand {
    fn manifest(&self) -> Manifest {
        manifest::manifest()
    }

    fn clock(&self) -> Clock {
        Clock::Realtime
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Ok(Box::new(AgentCommandMatch::new(setup)?))
    }

    fn create_bot(&self, seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
        bots::create(seat, opponent)
    }
}
