//! Refusals: a numeric code and a fixed text, over HTTP while matchmaking and in an ERROR frame while joining.
//!
//! The texts never repeat what the caller sent.

use std::borrow::Cow;

/// A refusal to create, join or reconnect.
///
/// The code is the protocol's: 520 to 526 have the meanings of the constructors below; an application may use any of
/// its own. Where the protocol has one code for several things, as 522 for a room that is missing, locked or full,
/// `reason` names the one. Over HTTP a code from 400 to 599 is the status too, any other goes out under 523 with the code in the body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The numeric code that the client's error carries.
    pub code: u16,
    /// A name for programs, which tells apart what shares a code. `refused` for an application's own.
    pub reason: &'static str,
    /// A text for people.
    pub message: Cow<'static, str>,
}

impl Refusal {
    /// A refusal with a code and text of the application's own, such as 401 `bad token`.
    pub fn new(code: u16, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, reason: "refused", message: message.into() }
    }

    const fn named(code: u16, reason: &'static str, message: &'static str) -> Self {
        Self { code, reason, message: Cow::Borrowed(message) }
    }

    /// 520: no room is defined under that name, or there is no such matchmaking method.
    #[must_use]
    pub fn no_handler() -> Self {
        Self::named(520, "unknown_room_name", "no room is defined under that name")
    }

    /// 520 for a matchmaking method that does not exist.
    #[must_use]
    pub fn unknown_method() -> Self {
        Self::named(520, "unknown_method", "no such matchmaking method")
    }

    /// 521: `join` found no room that fits.
    #[must_use]
    pub fn no_match() -> Self {
        Self::named(521, "no_match", "no rooms found with provided criteria")
    }

    /// 522: there is no such room, or it is being disposed.
    #[must_use]
    pub fn room_not_found() -> Self {
        Self::named(522, "room_not_found", "room not found")
    }

    /// 522: the room is locked.
    #[must_use]
    pub fn room_locked() -> Self {
        Self::named(522, "room_locked", "room is locked")
    }

    /// 522: the room has no free seat.
    #[must_use]
    pub fn room_full() -> Self {
        Self::named(522, "room_full", "room is full")
    }

    /// 523: the room could not be created, or failed.
    #[must_use]
    pub fn failed() -> Self {
        Self::named(523, "room_failed", "the room failed")
    }

    /// 524: the seat reservation is unknown, used or expired.
    #[must_use]
    pub fn seat_expired() -> Self {
        Self::named(524, "seat_expired", "seat reservation expired")
    }

    /// 524: the reconnection token is unknown, used or expired.
    #[must_use]
    pub fn reconnect_expired() -> Self {
        Self::named(524, "reconnect_expired", "reconnection token invalid or expired")
    }

    /// 525: the caller may not join.
    #[must_use]
    pub fn auth_failed() -> Self {
        Self::named(525, "auth_failed", "authorization failed")
    }

    /// 526: the room refuses the client.
    pub fn join_refused(message: impl Into<Cow<'static, str>>) -> Self {
        Self { code: 526, reason: "join_refused", message: message.into() }
    }

    /// 503: the server is shutting down.
    #[must_use]
    pub fn shutting_down() -> Self {
        Self::named(503, "shutting_down", "the server is shutting down")
    }

    /// 503: the server holds as many rooms as it may.
    #[must_use]
    pub fn at_capacity() -> Self {
        Self::named(503, "at_capacity", "the server is at capacity; try again later")
    }

    /// 503: the room listing cannot be asked.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::named(503, "unavailable", "the room listing is not available; try again later")
    }

    /// 503: the room did not answer in time.
    #[must_use]
    pub fn room_busy() -> Self {
        Self::named(503, "room_busy", "the room does not answer; try again later")
    }

    /// 503: `join` asked as many rooms, or for as long, as one request may, and none had a seat for it.
    #[must_use]
    pub fn search_ended() -> Self {
        Self::named(503, "search_ended", "none of many rooms had a seat for this request; try again later")
    }

    /// 403: a browser asks for a page that may not use the server.
    #[must_use]
    pub fn origin_not_allowed() -> Self {
        Self::named(403, "origin_not_allowed", "this origin may not use the server")
    }

    /// 408: the request body did not come in time.
    #[must_use]
    pub fn too_slow() -> Self {
        Self::named(408, "too_slow", "the request body did not come in time")
    }

    /// 413: the request body is too large.
    #[must_use]
    pub fn too_large() -> Self {
        Self::named(413, "too_large", "the request body is too large")
    }

    /// 413: what a room would say about itself is too large.
    #[must_use]
    pub fn metadata_too_large() -> Self {
        Self::named(413, "metadata_too_large", "the room's metadata is too large")
    }

    /// 415: the request body is not declared as JSON.
    #[must_use]
    pub fn not_json() -> Self {
        Self::named(415, "not_json", "the request body must be application/json")
    }

    /// 429: the caller's address asks too often, or has too many connections open.
    #[must_use]
    pub fn too_many_requests() -> Self {
        Self::named(
            429,
            "too_many_requests",
            "too many requests or connections from this address; try again later",
        )
    }

    /// 400: the request body is not a JSON object of bounded depth and number of values.
    #[must_use]
    pub fn bad_options() -> Self {
        Self::named(400, "bad_options", "the request body is not a JSON object")
    }

    /// The HTTP status to answer with.
    pub(crate) fn status(&self) -> u16 {
        if (400..600).contains(&self.code) { self.code } else { 523 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_outside_the_error_statuses_goes_out_under_523() {
        assert_eq!(Refusal::new(401, "bad token").status(), 401);
        assert_eq!(Refusal::no_match().status(), 521);
        for code in [0, 200, 399, 600, 4999] {
            assert_eq!(Refusal::new(code, "own").status(), 523);
        }
    }
}
