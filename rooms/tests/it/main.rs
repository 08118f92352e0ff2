//! The crate as its users see it: whole servers behind real sockets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod doors;
mod frames;
mod operations;
mod protocol;
mod recorded;
mod support;
