//! What an agent is told of this game. The golden files are regenerated with `UPDATE_GOLDEN=1`.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

use playerthree_agent_command::AgentCommand as Shipped;

#[path = "../../../src/game/tests/support/told.rs"]
mod told;
