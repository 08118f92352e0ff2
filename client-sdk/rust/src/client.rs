//! Matchmaking and logging in: what happens over HTTP before a room is joined.

use crate::config::{Config, Elsewhere};
use crate::endpoint::Endpoint;
use crate::{Error, Result, Room, Seat, http1};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What stands in a URL as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Longest login token in bytes.
const MAX_TOKEN_BYTES: usize = 4096;

/// A client of one server. Cloning it is cheap; clones share nothing that changes.
#[derive(Clone)]
pub struct Client {
    endpoint: Arc<Endpoint>,
    login: Option<Arc<Login>>,
    config: Arc<Config>,
}

struct Login {
    /// `Bearer` and the token, marked sensitive.
    header: HeaderValue,
    /// The token as a URL parameter.
    parameter: String,
}

/// How a seat is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A new room of that name.
    Create,
    /// An existing room of that name.
    Join,
    /// An existing room of that name, else a new one.
    JoinOrCreate,
    /// The room with that id.
    JoinById,
}

impl Method {
    fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Join => "join",
            Self::JoinOrCreate => "joinOrCreate",
            Self::JoinById => "joinById",
        }
    }
}

impl Client {
    /// A client of the server at `endpoint`: `http://host:port` or `ws://host:port`, with an optional path prefix and
    /// query that go into every URL.
    ///
    /// # Errors
    /// [`Error::Endpoint`], and [`Error::Tls`] for `https` and `wss`.
    pub fn new(endpoint: &str) -> Result<Self> {
        Self::with_config(endpoint, Config::default())
    }

    /// A client with bounds of its own.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_config(endpoint: &str, config: Config) -> Result<Self> {
        let endpoint = Arc::new(Endpoint::parse(endpoint)?);
        Ok(Self { endpoint, login: None, config: Arc::new(config) })
    }

    /// The same client logged in: the token goes along as a bearer token to the matchmaker and as `_authToken` to the
    /// room.
    ///
    /// # Errors
    /// [`Error::Token`].
    pub fn with_token(&self, token: &str) -> Result<Self> {
        let is_plain =
            (1..=MAX_TOKEN_BYTES).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic());
        let header = HeaderValue::from_str(&format!("Bearer {token}")).ok().filter(|_| is_plain);
        let mut header = header.ok_or(Error::Token)?;
        header.set_sensitive(true);
        let parameter = utf8_percent_encode(token, ESCAPED).to_string();
        Ok(Self { login: Some(Arc::new(Login { header, parameter })), ..self.clone() })
    }

    /// The host and port that this client connects to.
    #[must_use]
    pub fn address(&self) -> (&str, u16) {
        (&self.endpoint.host, self.endpoint.port)
    }

    /// Makes a new room and joins it.
    ///
    /// # Errors
    /// As [`Client::join_or_create`].
    pub async fn create<O: Serialize + ?Sized>(&self, name: &str, options: &O) -> Result<Room> {
        self.enter(Method::Create, name, options).await
    }

    /// Joins an existing room of that name.
    ///
    /// # Errors
    /// As [`Client::join_or_create`].
    pub async fn join<O: Serialize + ?Sized>(&self, name: &str, options: &O) -> Result<Room> {
        self.enter(Method::Join, name, options).await
    }

    /// Joins an existing room of that name, else makes one. `options` is a JSON object for the room.
    ///
    /// # Errors
    /// [`Error::Refused`] with the server's code; [`Error::Connect`], [`Error::Http`], [`Error::Upgrade`],
    /// [`Error::Closed`] and [`Error::Timeout`] when the way there fails; [`Error::Answer`] and [`Error::TooLarge`] for
    /// a server that does not follow the protocol; [`Error::Elsewhere`]; [`Error::Encode`] for the options.
    pub async fn join_or_create<O: Serialize + ?Sized>(&self, name: &str, options: &O) -> Result<Room> {
        self.enter(Method::JoinOrCreate, name, options).await
    }

    /// Joins the room with that id.
    ///
    /// # Errors
    /// As [`Client::join_or_create`].
    pub async fn join_by_id<O: Serialize + ?Sized>(&self, room_id: &str, options: &O) -> Result<Room> {
        self.enter(Method::JoinById, room_id, options).await
    }

    async fn enter<O: Serialize + ?Sized>(&self, method: Method, target: &str, options: &O) -> Result<Room> {
        let entering = async { self.consume(&self.reserve(method, target, options).await?).await };
        within(self.config.timeout, entering).await
    }

    /// Reserves a seat without joining yet. `target` is a room name, or an id for [`Method::JoinById`].
    ///
    /// # Errors
    /// As [`Client::join_or_create`].
    pub async fn reserve<O: Serialize + ?Sized>(
        &self,
        method: Method,
        target: &str,
        options: &O,
    ) -> Result<Seat> {
        let target = utf8_percent_encode(target, ESCAPED);
        let path = format!("/matchmake/{}/{target}", method.as_str());
        let answer = self.exchange(&path, json_only(), options).await?;
        Seat::read(answer.status(), answer.body())
    }

    /// Joins at a reserved seat, which serves once.
    ///
    /// # Errors
    /// As [`Client::join_or_create`].
    pub async fn consume(&self, seat: &Seat) -> Result<Room> {
        let endpoint = self.endpoint_of(seat)?;
        let mut parameters = format!("sessionId={}", seat.session_id);
        if let Some(login) = &self.login {
            parameters.push_str("&_authToken=");
            parameters.push_str(&login.parameter);
        }
        let path = format!("/{}/{}", seat.process_id, seat.room_id);
        let url = endpoint.socket_url(&path, &parameters);
        within(self.config.timeout, Room::open(&endpoint, &url, seat, &self.config)).await
    }

    fn endpoint_of(&self, seat: &Seat) -> Result<Arc<Endpoint>> {
        match (&seat.public_address, self.config.elsewhere) {
            (None, _) => Ok(self.endpoint.clone()),
            (Some(address), Elsewhere::Follow) => self.endpoint.moved_to(address).map(Arc::new),
            (Some(_), Elsewhere::Refuse) => Err(Error::Elsewhere),
        }
    }

    /// Posts JSON to a path of the server, such as `/login`, and decodes its JSON answer.
    ///
    /// # Errors
    /// [`Error::Refused`] with any HTTP status but a success; else as [`Client::join_or_create`].
    pub async fn post<O: Serialize + ?Sized, T: DeserializeOwned>(&self, path: &str, body: &O) -> Result<T> {
        let answer = self.exchange(path, json_only(), body).await?;
        if !answer.status().is_success() {
            return Err(Error::refused(answer.status().as_u16(), ""));
        }
        serde_json::from_slice(answer.body()).map_err(|_| Error::Answer)
    }

    /// Posts JSON with these headers and the login, and returns the answer whatever its status.
    pub(crate) async fn exchange<O: Serialize + ?Sized>(
        &self,
        path: &str,
        mut headers: HeaderMap,
        body: &O,
    ) -> Result<Response<Bytes>> {
        let body = serde_json::to_vec(body).map_err(|_| Error::Encode)?;
        if let Some(login) = &self.login {
            headers.insert(AUTHORIZATION, login.header.clone());
        }
        within(self.config.timeout, http1::post(&self.endpoint, path, headers, body, &self.config)).await
    }
}

fn json_only() -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))])
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The token stays out.
        formatter.debug_struct("Client").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(limit, work).await.unwrap_or(Err(Error::Timeout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_out_of_bounds_is_refused() {
        let client = Client::new("http://127.0.0.1:1").unwrap();
        for token in ["", "two words", "line\nbreak", "é", &"a".repeat(4097)] {
            assert_eq!(client.with_token(token).unwrap_err().code(), "token");
        }
        assert!(client.with_token(&"a".repeat(4096)).is_ok());
    }

    #[test]
    fn a_token_never_shows_in_debug_output() {
        let client = Client::new("http://127.0.0.1:1").unwrap().with_token("s3cret").unwrap();
        assert!(!format!("{client:?}").contains("s3cret"));
    }
}
