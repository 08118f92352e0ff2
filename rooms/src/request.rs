//! Requests of generation 0.18: a message that the client waits to see answered.

use crate::message::{MessageType, Payload};
use crate::pack::{self, EncodeError};
use serde::Serialize;

/// A request from a client.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What an answer given later names.
    pub id: RequestId,
    /// What the client called it.
    pub kind: MessageType<'a>,
    /// What it carries.
    pub payload: Payload<'a>,
}

/// Names one request of one client. Clients give up on a request after 10 s of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub(crate) u32);

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Reply(Option<Answer>);

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u8,
    pub(crate) payload: Vec<u8>,
}

#[derive(Serialize)]
struct Fault<'a> {
    name: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
}

impl Reply {
    /// The request is done and has no value.
    #[must_use]
    pub fn done() -> Self {
        Self(Some(Answer { status: 0, payload: Vec::new() }))
    }

    /// The room answers later, with [`Cx::respond`](crate::Cx::respond).
    #[must_use]
    pub fn later() -> Self {
        Self(None)
    }

    /// The request's value.
    ///
    /// # Errors
    /// As [`Frame::message`](crate::Frame::message).
    pub fn value(value: &(impl Serialize + ?Sized)) -> Result<Self, EncodeError> {
        Self::with(0, value)
    }

    /// The room understood the request and says no; the client's promise rejects with `reason`.
    ///
    /// # Errors
    /// As [`Frame::message`](crate::Frame::message).
    pub fn rejected(reason: &(impl Serialize + ?Sized)) -> Result<Self, EncodeError> {
        Self::with(1, reason)
    }

    /// The request failed; the client's promise rejects with an error of this name, message and code.
    #[must_use]
    pub fn fault(name: &str, message: &str, code: Option<u16>) -> Self {
        let nameless = Self(Some(Answer { status: 2, payload: Vec::new() }));
        Self::with(2, &Fault { name, message, code }).unwrap_or(nameless)
    }

    /// The room has no handler for requests of that type.
    #[must_use]
    pub fn no_handler() -> Self {
        Self::fault("no_handler", "no handler is registered for this request", None)
    }

    fn with(status: u8, value: &(impl Serialize + ?Sized)) -> Result<Self, EncodeError> {
        let mut payload = Vec::new();
        pack::write(value, &mut payload)?;
        Ok(Self(Some(Answer { status, payload })))
    }

    pub(crate) fn answer(self) -> Option<Answer> {
        self.0
    }
}

/// A value that does not encode is a fault.
impl From<Result<Reply, EncodeError>> for Reply {
    fn from(reply: Result<Reply, EncodeError>) -> Self {
        reply.unwrap_or_else(|error| {
            tracing::error!(%error, "an answer could not be sent");
            Self::fault("unsendable", "the answer could not be sent", None)
        })
    }
}

impl<'a> Request<'a> {
    pub(crate) fn new(id: u32, kind: MessageType<'a>, payload: Payload<'a>) -> Self {
        Self { id: RequestId(id), kind, payload }
    }
}
