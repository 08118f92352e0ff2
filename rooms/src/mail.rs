//! What reaches a room, and the two ways to send it there: a handle for the application's events, and a link for
//! matchmaking and sockets, which do not know the room's type.

use crate::close::CloseReason;
use crate::generation::Generation;
use crate::id::{RoomId, SessionId, TokenDigest};
use crate::outbox::Outbox;
use crate::refusal::Refusal;
use crate::shared::Space;
use crate::state::Knowledge;
use crate::sync::lock;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::any::Any;
use std::sync::{Arc, Mutex, TryLockError};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

/// One entry of a room's mailbox.
pub(crate) enum Mail<E> {
    Control(Control),
    Event(E),
}

/// The part of the mailbox that is the same for every room.
pub(crate) enum Control {
    Reserve {
        ticket: Arc<Ticket>,
        reply: oneshot::Sender<Result<SessionId, Refusal>>,
    },
    Reclaim {
        token: TokenDigest,
        reply: oneshot::Sender<Result<SessionId, Refusal>>,
    },
    /// Boxed, so that the mail there is most of is small.
    Connect(Box<Connect>),
    Message {
        session: SessionId,
        socket: SocketId,
        bytes: Bytes,
    },
    Closed {
        session: SessionId,
        socket: SocketId,
        reason: CloseReason,
    },
    /// The server shuts down: the room may end in its own way.
    Shutdown,
    /// The server's deadline is over: the room ends now.
    Cut,
}

/// A socket that wants a seat.
pub(crate) struct Connect {
    pub(crate) session: SessionId,
    pub(crate) token: Option<TokenDigest>,
    pub(crate) generation: Generation,
    pub(crate) knows: Knowledge,
    pub(crate) socket: SocketId,
    pub(crate) outbox: Arc<Outbox>,
    /// Told once the room has answered. Closed where the socket waits no more.
    pub(crate) answered: oneshot::Sender<()>,
}

/// Tells the sockets of one seat apart: what an old one still says is not listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SocketId(pub(crate) u64);

/// What a client brings to a seat. It is taken by the room that reserves it, and stays here if none does, so that
/// another room may be asked.
pub(crate) struct Ticket(Mutex<Option<Claim>>);

pub(crate) struct Claim {
    pub(crate) options: Value,
    /// The definition's `Auth`.
    pub(crate) auth: Box<dyn Any + Send>,
    /// The options' share of [`Config::max_reserved_bytes`](crate::Config::max_reserved_bytes).
    pub(crate) _space: Space,
}

impl Ticket {
    pub(crate) fn new(options: Value, auth: Box<dyn Any + Send>, space: Space) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(Claim { options, auth, _space: space }))))
    }

    /// Shows the claim to a room. A ticket that is taken has expired; so has one that another room, which was given up
    /// meanwhile, is still looking at: nobody waits for that room here.
    pub(crate) fn peek(&self, judge: impl FnOnce(&Claim) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let claim = match self.0.try_lock() {
            Ok(claim) => claim,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(Refusal::seat_expired()),
        };
        claim.as_ref().map_or_else(|| Err(Refusal::seat_expired()), judge)
    }

    pub(crate) fn take(&self) -> Option<Claim> {
        lock(&self.0).take()
    }
}

/// The room is gone; its mailbox takes nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the room is gone")]
pub struct RoomGone;

/// An event that did not enter a mailbox.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError<E> {
    /// The mailbox is full; the event is handed back.
    #[error("the room's mailbox is full")]
    Full(E),
    /// The room is gone; the event is handed back.
    #[error("the room is gone")]
    Gone(E),
}

/// Posts events into one room from anywhere. Cheap to clone; it does not keep the room alive.
pub struct RoomHandle<E> {
    id: RoomId,
    sender: mpsc::Sender<Mail<E>>,
}

impl<E> Clone for RoomHandle<E> {
    fn clone(&self) -> Self {
        Self { id: self.id, sender: self.sender.clone() }
    }
}

impl<E> std::fmt::Debug for RoomHandle<E> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("RoomHandle").field(&self.id).finish()
    }
}

impl<E: Send + 'static> RoomHandle<E> {
    pub(crate) fn new(id: RoomId, sender: mpsc::Sender<Mail<E>>) -> Self {
        Self { id, sender }
    }

    /// The room's id.
    #[must_use]
    pub fn room_id(&self) -> RoomId {
        self.id
    }

    /// Whether the room is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Resolves once the room is gone.
    pub async fn closed(&self) {
        self.sender.closed().await;
    }

    /// Posts an event, waiting for space in the mailbox.
    ///
    /// Cancel safety: an event is either in the mailbox or was never there.
    ///
    /// # Errors
    /// Where the room is gone. An event may also be lost when the room ends before it gets to it.
    pub async fn post(&self, event: E) -> Result<(), RoomGone> {
        self.sender.send(Mail::Event(event)).await.map_err(|_| RoomGone)
    }

    /// Posts an event if there is space.
    ///
    /// # Errors
    /// The event, where the mailbox is full or the room is gone.
    pub fn try_post(&self, event: E) -> Result<(), PostError<E>> {
        self.sender.try_send(Mail::Event(event)).map_err(|error| match error {
            TrySendError::Full(Mail::Event(event)) => PostError::Full(event),
            TrySendError::Closed(Mail::Event(event)) => PostError::Gone(event),
            TrySendError::Full(Mail::Control(_)) | TrySendError::Closed(Mail::Control(_)) => {
                unreachable!("an event was sent")
            }
        })
    }
}

/// A control that did not enter a mailbox at once.
pub(crate) enum Blocked {
    Full(Control),
    Gone,
}

/// Sends controls to a room whose type is not known.
pub(crate) trait Link: Send + Sync {
    fn try_send(&self, control: Control) -> Result<(), Blocked>;
    fn send(&self, control: Control) -> BoxFuture<'static, Result<(), RoomGone>>;
    /// How much mail waits.
    fn waiting(&self) -> usize;
}

impl<E: Send + 'static> Link for mpsc::Sender<Mail<E>> {
    fn waiting(&self) -> usize {
        self.max_capacity() - self.capacity()
    }

    fn try_send(&self, control: Control) -> Result<(), Blocked> {
        mpsc::Sender::try_send(self, Mail::Control(control)).map_err(|error| match error {
            TrySendError::Full(Mail::Control(control)) => Blocked::Full(control),
            TrySendError::Full(Mail::Event(_)) | TrySendError::Closed(_) => Blocked::Gone,
        })
    }

    fn send(&self, control: Control) -> BoxFuture<'static, Result<(), RoomGone>> {
        let sender = self.clone();
        Box::pin(
            async move { mpsc::Sender::send(&sender, Mail::Control(control)).await.map_err(|_| RoomGone) },
        )
    }
}
