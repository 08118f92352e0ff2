//! A joined room: one socket, read and written by its owner. There is no task behind it and no queue but the socket's
//! own; whoever holds a room must keep reading it, or the server will take the client for lost.

use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::frame::{self, Called, Frame};
use crate::message::{Kind, Payload};
use crate::{Error, Result, Seat, http1};
use bytes::Bytes;
use futures_util::{FutureExt, SinkExt, StreamExt};
use serde::Serialize;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// Read and write buffers of a socket. Thousands of sockets share a process, and most are idle.
const BUFFER_BYTES: usize = 4 * 1024;

/// Close code of a connection that ended without a close frame.
const LOST: u16 = 1006;
/// Close code of a close frame that names none.
const NO_CODE: u16 = 1005;
/// Close code for a server that breaks the protocol.
const PROTOCOL: u16 = 1002;
/// Close code for a message beyond [`Config::max_message_bytes`].
const TOO_BIG: u16 = 1009;

/// A joined room.
#[derive(Debug)]
pub struct Room {
    socket: WebSocketStream<TcpStream>,
    room_id: Box<str>,
    session_id: Box<str>,
    reconnection_token: Box<str>,
    leave_timeout: Duration,
    traffic: Traffic,
    closed: Option<u16>,
}

/// What happens in a room.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A message.
    Message {
        /// What it is called.
        kind: Kind,
        /// What it carries.
        payload: Payload,
    },
    /// A message of raw bytes.
    Bytes {
        /// What it is called.
        kind: Kind,
        /// The bytes.
        bytes: Bytes,
    },
    /// The whole schema state, encoded.
    State(Bytes),
    /// A change of the schema state, encoded.
    Patch(Bytes),
    /// The room reports an error to this client, and goes on.
    Fault {
        /// The server's code.
        code: u16,
        /// The server's text, at most 256 characters.
        message: String,
    },
    /// The room is closed for this client; nothing follows.
    Closed {
        /// The close code: the server's, 1005 where it gave none, 1006 where the connection broke, 1002 and 1009 where
        /// this client closed because the server broke the protocol or sent too large a message.
        code: u16,
    },
}

/// What went through a room's socket so far, in messages of the protocol and their bytes, without WebSocket headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages sent, the handshake's acknowledgement among them.
    pub sent: u64,
    /// Bytes of those.
    pub sent_bytes: u64,
    /// Messages received, the handshake among them.
    pub received: u64,
    /// Bytes of those.
    pub received_bytes: u64,
}

impl Room {
    /// Opens the socket and completes the join. The caller bounds the time.
    pub(crate) async fn open(endpoint: &Endpoint, url: &str, seat: &Seat, config: &Config) -> Result<Self> {
        let stream = http1::connect(endpoint).await?;
        let (socket, _) = client_async_with_config(url, stream, Some(socket_config(config)))
            .await
            .map_err(|error| upgrade_error(&error))?;
        let mut room = Self {
            socket,
            room_id: seat.room_id.as_str().into(),
            session_id: seat.session_id.as_str().into(),
            reconnection_token: Box::default(),
            leave_timeout: config.leave_timeout,
            traffic: Traffic::default(),
            closed: None,
        };
        room.join().await?;
        Ok(room)
    }

    async fn join(&mut self) -> Result<()> {
        let token = loop {
            match self.next_frame().await {
                Ok(Frame::Joined { token }) => break token,
                Ok(Frame::Fault { code, message }) => return Err(Error::refused(code, &message)),
                Ok(_) => {}
                Err(code) => return Err(Error::Closed { code }),
            }
        };
        self.reconnection_token = token.as_str().into();
        self.write(Bytes::from_static(frame::ACKNOWLEDGE)).await
    }

    /// The room's id.
    #[must_use]
    pub fn room_id(&self) -> &str {
        &self.room_id
    }

    /// This client's id in the room.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The secret with which this seat can be taken back after a loss.
    #[must_use]
    pub fn reconnection_token(&self) -> &str {
        &self.reconnection_token
    }

    /// What went through the socket so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Sends a message. An integer beyond 32 bits reaches a JavaScript server as `BigInt`.
    ///
    /// Waits while the socket takes nothing. Cancel safe: the message goes out whole or not at all, at the latest with
    /// the next one.
    ///
    /// # Errors
    /// [`Error::Encode`]; [`Error::TooLarge`] beyond [`Config::max_queued_bytes`]; [`Error::Closed`] once closed.
    pub async fn send<T: Serialize + ?Sized>(&mut self, name: &str, payload: &T) -> Result<()> {
        self.write(frame::message(Called::Name(name), payload)?).await
    }

    /// Sends a message whose type is a number. See [`Room::send`].
    ///
    /// # Errors
    /// As [`Room::send`].
    pub async fn send_numbered<T: Serialize + ?Sized>(&mut self, number: u32, payload: &T) -> Result<()> {
        self.write(frame::message(Called::Number(number), payload)?).await
    }

    /// Sends a message that carries nothing. See [`Room::send`].
    ///
    /// # Errors
    /// As [`Room::send`].
    pub async fn signal(&mut self, name: &str) -> Result<()> {
        self.write(frame::signal(Called::Name(name))?).await
    }

    /// Sends a message of raw bytes. See [`Room::send`].
    ///
    /// # Errors
    /// As [`Room::send`].
    pub async fn send_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write(frame::bytes(Called::Name(name), bytes)?).await
    }

    /// Waits for what happens next; answers pings meanwhile. Cancel safe. Once closed it says so again at every call.
    pub async fn next(&mut self) -> Event {
        loop {
            match self.next_frame().await {
                Ok(Frame::Message { kind, payload }) => return Event::Message { kind, payload },
                Ok(Frame::Bytes { kind, bytes }) => return Event::Bytes { kind, bytes },
                Ok(Frame::State(bytes)) => return Event::State(bytes),
                Ok(Frame::Patch(bytes)) => return Event::Patch(bytes),
                Ok(Frame::Fault { code, message }) => return fault(code, &message),
                Ok(Frame::LeaveAsked) => self.ask_to_leave(),
                Ok(Frame::Joined { .. } | Frame::Other) => {}
                Err(code) => return Event::Closed { code },
            }
        }
    }

    /// Leaves on purpose and waits for the server's close. Returns the close code, 4000 as a rule.
    ///
    /// # Errors
    /// [`Error::Timeout`] after [`Config::leave_timeout`]; [`Error::Closed`] when the room was closed already.
    pub async fn leave(mut self) -> Result<u16> {
        let limit = self.leave_timeout;
        let leaving = async {
            self.write(Bytes::from_static(frame::LEAVE)).await?;
            loop {
                if let Event::Closed { code } = self.next().await {
                    return Ok(code);
                }
            }
        };
        tokio::time::timeout(limit, leaving).await.unwrap_or(Err(Error::Timeout))
    }

    /// Answers the server's own wish. A socket that takes nothing is left to the server's deadline.
    fn ask_to_leave(&mut self) {
        let _ = self.write(Bytes::from_static(frame::LEAVE)).now_or_never();
    }

    async fn write(&mut self, frame: Bytes) -> Result<()> {
        if let Some(code) = self.closed {
            return Err(Error::Closed { code });
        }
        let bytes = frame.len() as u64;
        match self.socket.send(Message::Binary(frame)).await {
            Ok(()) => {
                self.traffic.sent += 1;
                self.traffic.sent_bytes += bytes;
                Ok(())
            }
            Err(tungstenite::Error::WriteBufferFull(_)) => Err(Error::TooLarge),
            // The close frame, if there is one, is still to be read; it says more than the broken write.
            Err(_) => Err(Error::Closed { code: LOST }),
        }
    }

    /// The next frame, or the code that the room is closed with.
    async fn next_frame(&mut self) -> std::result::Result<Frame, u16> {
        if let Some(code) = self.closed {
            return Err(code);
        }
        match self.next_binary().await {
            Ok(bytes) => {
                self.traffic.received += 1;
                self.traffic.received_bytes += bytes.len() as u64;
                Frame::read(bytes).map_err(|_| self.close(PROTOCOL))
            }
            Err(code) => Err(self.close(code)),
        }
    }

    async fn next_binary(&mut self) -> std::result::Result<Bytes, u16> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Binary(bytes))) => return Ok(bytes),
                Some(Ok(Message::Close(frame))) => {
                    return Err(frame.map_or(NO_CODE, |frame| frame.code.into()));
                }
                // The protocol has no text; pings are answered by the socket itself.
                Some(Ok(_)) => {}
                Some(Err(tungstenite::Error::Capacity(_))) => return Err(TOO_BIG),
                Some(Err(tungstenite::Error::Protocol(error))) => return Err(protocol_code(&error)),
                Some(Err(_)) | None => return Err(LOST),
            }
        }
    }

    /// Remembers the end, and tells the server why without waiting for it.
    fn close(&mut self, code: u16) -> u16 {
        self.closed = Some(code);
        let reason = matches!(code, PROTOCOL | TOO_BIG)
            .then(|| CloseFrame { code: code.into(), reason: tungstenite::Utf8Bytes::from_static("") });
        let _ = self.socket.close(reason).now_or_never();
        code
    }
}

/// A connection that broke without a close handshake is lost; anything else is a fault of the server.
fn protocol_code(error: &tungstenite::error::ProtocolError) -> u16 {
    use tungstenite::error::ProtocolError::{
        ReceivedAfterClosing, ResetWithoutClosingHandshake, SendAfterClosing,
    };
    match error {
        ResetWithoutClosingHandshake | ReceivedAfterClosing | SendAfterClosing => LOST,
        _ => PROTOCOL,
    }
}

fn fault(code: u16, message: &str) -> Event {
    Event::Fault { code, message: message.chars().take(crate::error::MAX_REFUSAL_CHARS).collect() }
}

fn upgrade_error(error: &tungstenite::Error) -> Error {
    match error {
        tungstenite::Error::Http(response) => Error::refused(response.status().as_u16(), ""),
        _ => Error::Upgrade,
    }
}

fn socket_config(config: &Config) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_write_buffer_size(config.max_queued_bytes.max(2 * BUFFER_BYTES))
        .max_message_size(Some(config.max_message_bytes))
        .max_frame_size(Some(config.max_message_bytes))
}
