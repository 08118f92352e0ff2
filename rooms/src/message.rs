//! Messages from clients, borrowed from the bytes that carried them.

use crate::config::DecodeLimits;
use crate::pack;
use serde::de::Deserialize;

/// The type of a message: a name or a number, which are name spaces of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageType<'a> {
    /// A name of 1 to 255 bytes.
    Name(&'a str),
    /// A number.
    Number(u32),
}

impl<'a> From<&'a str> for MessageType<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for MessageType<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl From<u32> for MessageType<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

/// One message from a client.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// What the client called it.
    pub kind: MessageType<'a>,
    /// What it carries.
    pub payload: Payload<'a>,
}

/// The payload of a message, not decoded yet.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    body: Body<'a>,
    limits: DecodeLimits,
}

#[derive(Clone, Copy, Debug)]
enum Body<'a> {
    Packed(&'a [u8]),
    Raw(&'a [u8]),
}

impl<'a> Payload<'a> {
    pub(crate) fn packed(bytes: &'a [u8], limits: DecodeLimits) -> Self {
        Self { body: Body::Packed(bytes), limits }
    }

    pub(crate) fn raw(bytes: &'a [u8], limits: DecodeLimits) -> Self {
        Self { body: Body::Raw(bytes), limits }
    }

    /// Decodes the payload, which may borrow its strings; `serde_json::Value` is as good a type as any.
    ///
    /// A message without payload decodes as `()`, `None` and `Value::Null`. A JavaScript `Date` arrives as
    /// milliseconds since 1970, a `Uint8Array` as bytes or as a list of numbers, whatever the type asks for.
    ///
    /// # Errors
    /// [`BadMessage::Undecodable`] where the bytes are no MessagePack within
    /// [`Config::decode`](crate::Config::decode), do not fit the type, or were sent raw by `sendBytes`.
    pub fn decode<T: Deserialize<'a>>(&self) -> Result<T, BadMessage> {
        match self.body {
            Body::Packed(bytes) => pack::from_slice(bytes, self.limits).map_err(|_| BadMessage::Undecodable),
            Body::Raw(_) => Err(BadMessage::Undecodable),
        }
    }

    /// The bytes of a `sendBytes` message, or `None` where the payload is MessagePack.
    #[must_use]
    pub fn bytes(&self) -> Option<&'a [u8]> {
        match self.body {
            Body::Packed(_) => None,
            Body::Raw(bytes) => Some(bytes),
        }
    }

    /// Bytes of the payload on the wire.
    #[must_use]
    pub fn size(&self) -> usize {
        match self.body {
            Body::Packed(bytes) | Body::Raw(bytes) => bytes.len(),
        }
    }
}

/// A message that a room cannot take. Returned by a handler it closes the client with 4002.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// The room knows no message of that type.
    #[error("unknown message type")]
    UnknownType,
    /// The payload does not decode into what the type carries.
    #[error("undecodable payload")]
    Undecodable,
}
