//! The PlayerThree messages inside a room (§4): calls and their answers, and team views rebuilt from keyframes and
//! deltas. [`Views`] is pure; [`Link`] joins calls and views to a [`Room`](crate::Room).

mod calls;
mod link;
mod views;

pub use calls::{Answer, MAX_PENDING_CALLS};
pub use link::{Happening, Link, MAX_BACKLOG};
pub use views::{MAX_TEAMS, View, ViewError, Views};

/// Message type of a call to the host.
pub const CALL: &str = "playerthree:call";
/// Message type of the answer to a call.
pub const RESULT: &str = "playerthree:result";
/// Message type of a view's keyframe or delta.
pub const VIEW: &str = "playerthree:view";
