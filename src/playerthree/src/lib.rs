//! What a game developer depends on: the crates of a PlayerThree server under one name.

pub use playerthree_binding as binding;
pub use playerthree_delta as delta;
pub use playerthree_game as game;
pub use playerthree_host as host;
pub use playerthree_rooms as rooms;
pub use playerthree_sandbox as sandbox;
pub use playerthree_schema as schema;
pub use playerthree_session as session;
