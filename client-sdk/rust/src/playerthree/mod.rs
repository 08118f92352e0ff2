//! The PlayerThree messages inside a room (§4): numbered operations and their answers, team views and observer frames
//! rebuilt from keyframes and deltas. [`Views`] and [`Frames`] are pure; [`Link`] joins them to a
//! [`Room`](crate::Room). An [`Agent`] plays a seat over MCP instead.

mod agent;
mod calls;
mod frames;
mod link;
mod views;

pub use agent::Agent;
pub use calls::{Answer, MAX_PENDING_CALLS};
pub use frames::{Frame, Frames, ObserverState};
pub use link::{ANSWER_TIMEOUT, Happening, Link, MAX_BACKLOG};
pub use views::{MAX_TEAMS, View, ViewError, Views};

/// Message type of what observers ask for and are sent.
pub const OBSERVER: &str = "playerthree:observer";
/// Message type of the answer to an operation.
pub const RESULT: &str = "playerthree:result";
/// Message type of a view's keyframe or delta.
pub const VIEW: &str = "playerthree:view";
