//! The `playerthree` command.
fn main() {}
