//! The client against servers, good and broken, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod broken_server;
mod playerthree;
mod rooms;
mod support;
