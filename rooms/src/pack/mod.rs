//! MessagePack payloads: what clients send, records included, and what they can read.
//!
//! Nothing here knows rooms or sockets. Received bytes are bounded in depth, width and repetition before they cost.

mod decode;
mod encode;
mod tokens;

pub(crate) use decode::from_slice;
pub use encode::EncodeError;
pub(crate) use encode::write;
