//! Tic-tac-toe, the smallest complete PlayerThree game. Read it as a tutorial, in this order:
//!
//! 1. [`rules`] knows the game and nothing else. Keep your rules this free of the server.
//! 2. `intent` is what a player can do, as a Rust enum that is its own schema.
//! 3. `manifest` describes the game to people and agents: its sides, schemas and documents (§3).
//! 4. `game_match` is one running match: it turns intents into moves and positions into views (§10).
//! 5. `bots` plays when nobody else does.
//!
//! The game never validates its own output and never checks who is allowed to speak: the host does both.

mod bots;
mod game_match;
mod intent;
mod manifest;
pub mod rules;

use game_match::TicTacToeMatch;
use playerthree_game::{Bot, CannotCreate, Clock, Game, GameMatch, Manifest, Seat, Setup};

/// The game itself: open information, two sides `x` and `o`, one role `player`, one tick a move.
#[derive(Clone, Copy, Debug, Default)]
pub struct TicTacToe;

impl Game for TicTacToe {
    fn manifest(&self) -> Manifest {
        manifest::manifest()
    }

    fn clock(&self) -> Clock {
        Clock::Turns
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Ok(Box::new(TicTacToeMatch::new(setup)?))
    }

    fn create_bot(&self, seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
        bots::create(seat, opponent)
    }
}
