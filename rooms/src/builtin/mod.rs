//! Rooms that are ready to be defined under a name: [`Lobby`], [`Relay`] and [`Queue`].
//!
//! They speak as the protocol's own rooms of these names do, so clients need nothing of their own for them.

mod grouping;
mod lobby;
mod queue;
mod relay;

pub use lobby::{Lobby, LobbyRoom};
pub use queue::{Queue, QueueRoom, Window};
pub use relay::{Relay, RelayRoom};
