//! The generations of clients that one server speaks to. Their messages are the same; they differ in what a join
//! answers about the room's state, and nothing in a request tells them apart. So a client says it by its endpoint.

/// A generation of the client protocol, named after the SDKs that speak it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generation {
    /// `colyseus.js` 0.16, at the endpoint `/v16`.
    V16,
    /// `@colyseus/sdk` 0.17, at the endpoint `/v17`.
    V17,
    /// `@colyseus/sdk` 0.18, at the plain endpoint. Where a join has no state to describe, the older ones too.
    V18,
}

impl Generation {
    /// Every generation, from the oldest on.
    pub const ALL: [Self; 3] = [Self::V16, Self::V17, Self::V18];

    /// The path in front of every URL of such a client, empty for the newest. An SDK keeps it from its endpoint.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::V16 => "/v16",
            Self::V17 => "/v17",
            Self::V18 => "",
        }
    }

    /// The metric label.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::V16 => "0.16",
            Self::V17 => "0.17",
            Self::V18 => "0.18",
        }
    }
}
