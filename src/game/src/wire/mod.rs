//! The manifest's wire form (§3): written for hashes, tools and files, and read from files.

mod beside;
mod read;
mod write;

pub(crate) use write::{control_to_ordered, intent_to_ordered};
