//! What a request must pass before anything of it is carried out, one step a file, in the order of the modules.
//!
//! The guard has no effect: it claims no lease, takes no token from a bucket and calls no match.

mod body;
mod envelope;
mod era;
mod http;
mod method;
mod revision;

pub(crate) use body::read;
pub(crate) use envelope::{Incoming, Request};
pub(crate) use era::{Era, OLDER};
pub(crate) use http::{SESSION, bearer, content_type, formed, host, origin, session};
pub(crate) use method::Method;
pub(crate) use revision::agreed;
