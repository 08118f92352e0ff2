//! A room with PlayerThree in it: sends operations, sorts what comes in. It reads nothing while its owner does not.

use super::calls::{self, CallFields, Calls};
use super::{Answer, Frame, Frames, OBSERVER, ObserverState, RESULT, VIEW, View, Views};
use crate::{Error, Event, Result, Room};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::timeout;

/// Most happenings that wait for [`Link::next`] while [`Link::ask`] waits for its answer.
pub const MAX_BACKLOG: usize = 256;

/// How long [`Link::ask`] and [`Link::call`] wait for an answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// What happens on a link.
#[derive(Debug)]
pub enum Happening {
    /// An operation that [`Link::begin`] sent is answered.
    Answer(Answer),
    /// The host said where an observer's stream is; with a new frame [`Link::frame`] has it.
    Observed(ObserverState),
    /// A request of [`Link::observe`] was refused with this closed code and changed nothing.
    NotObserved(String),
    /// The view of this team is new; read it with [`Link::view`].
    View(String),
    /// Anything else in the room, its close among them.
    Room(Event),
}

/// A joined room and its PlayerThree messages.
#[derive(Debug)]
pub struct Link {
    room: Room,
    calls: Calls,
    views: Views,
    frames: Frames,
    backlog: VecDeque<Result<Happening>>,
}

impl Link {
    /// Takes over a joined room.
    #[must_use]
    pub fn new(room: Room) -> Self {
        Self {
            room,
            calls: Calls::default(),
            views: Views::default(),
            frames: Frames::default(),
            backlog: VecDeque::new(),
        }
    }

    /// The room.
    #[must_use]
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// The room, to send the game's own messages. What is read from it directly is lost to the link.
    pub fn room_mut(&mut self) -> &mut Room {
        &mut self.room
    }

    /// The latest view of a team, where one is known.
    #[must_use]
    pub fn view(&self, team: &str) -> Option<&View> {
        self.views.get(team)
    }

    /// The latest frame of an observer, where one was released.
    #[must_use]
    pub fn frame(&self) -> Option<&Frame> {
        self.frames.latest()
    }

    /// Sends a numbered operation (`mint`, `scopes`, `tell`, …) and returns its number; the answer comes as
    /// [`Happening::Answer`]. `fields` is an object of what the operation has beside its name and number; every
    /// operation is in `PROTOCOL.md`. If this future is dropped it may or may not have been sent.
    ///
    /// # Errors
    /// [`Error::Busy`] while [`MAX_PENDING_CALLS`](super::MAX_PENDING_CALLS) wait; else as [`Room::send`].
    pub async fn begin<F: Serialize + ?Sized>(&mut self, op: &str, fields: &F) -> Result<u32> {
        let message = self.calls.begin(op, fields)?;
        let seq = message.seq;
        if let Err(error) = self.room.send(&format!("playerthree:{op}"), &message).await {
            self.calls.forget(seq);
            return Err(error);
        }
        Ok(seq)
    }

    /// Sends a numbered operation and waits [`ANSWER_TIMEOUT`] for its answer. Everything else that happens meanwhile is
    /// kept for [`Link::next`].
    ///
    /// # Errors
    /// [`Error::Call`] where the host refuses; [`Error::Timeout`], after which it may or may not have been carried out;
    /// [`Error::Closed`]; [`Error::Answer`] and [`Error::Decode`] for a server that does not follow the protocol;
    /// [`Error::Busy`] when more than [`MAX_BACKLOG`] happenings wait.
    pub async fn ask<F: Serialize + ?Sized>(&mut self, op: &str, fields: &F) -> Result<Value> {
        self.ask_within(op, fields, ANSWER_TIMEOUT).await
    }

    /// [`Link::ask`] for what may take longer: a policy that is tried, a practice, a wait.
    ///
    /// # Errors
    /// As [`Link::ask`].
    pub async fn ask_within<F: Serialize + ?Sized>(
        &mut self,
        op: &str,
        fields: &F,
        patience: Duration,
    ) -> Result<Value> {
        let seq = self.begin(op, fields).await?;
        let answered = timeout(patience, self.answer_to(seq)).await.unwrap_or(Err(Error::Timeout));
        if answered.is_err() {
            self.calls.give_up(seq);
        }
        answered?.result
    }

    /// Waits for one answer. A view or frame that broke meanwhile is told by [`Link::next`].
    async fn answer_to(&mut self, seq: u32) -> Result<Answer> {
        loop {
            match self.receive().await {
                Ok(Happening::Answer(answer)) if answer.seq == seq => return Ok(answer),
                Ok(Happening::Room(Event::Closed { code })) => return Err(Error::Closed { code }),
                Ok(other) => self.keep(other)?,
                Err(error @ Error::View(_)) => self.put_off(Err(error))?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Calls a method of one's own seat (§4 `SeatControl`) and waits for its result.
    ///
    /// # Errors
    /// As [`Link::ask`].
    pub async fn call<A: Serialize + ?Sized>(&mut self, role: &str, method: &str, args: &A) -> Result<Value> {
        self.call_within(role, method, args, ANSWER_TIMEOUT).await
    }

    /// [`Link::call`] for what may take longer.
    ///
    /// # Errors
    /// As [`Link::ask`].
    pub async fn call_within<A: Serialize + ?Sized>(
        &mut self,
        role: &str,
        method: &str,
        args: &A,
        patience: Duration,
    ) -> Result<Value> {
        self.ask_within("call", &CallFields { role, method, args }, patience).await
    }

    /// Asks for the observers' stream (§20.9) of a perspective, `all` or a side, from the frame of it that this link has
    /// on. What comes is told as [`Happening::Observed`], a refusal as [`Happening::NotObserved`].
    ///
    /// # Errors
    /// As [`Room::send`].
    pub async fn observe(&mut self, perspective: &str) -> Result<()> {
        let mut request = json!({ "perspective": perspective });
        if let Some(after) = self.frames.follow(perspective) {
            request["after"] = after.into();
        }
        self.room.send(OBSERVER, &request).await
    }

    /// Waits for what happens next. Cancel safe. After [`Error::View`] the link goes on without that
    /// team's view, or without a frame.
    ///
    /// # Errors
    /// [`Error::View`], [`Error::Answer`] and [`Error::Decode`] for a server that does not follow the protocol; after a
    /// gap between an observer's frames [`Link::observe`] begins anew.
    pub async fn next(&mut self) -> Result<Happening> {
        match self.backlog.pop_front() {
            Some(kept) => kept,
            None => self.receive().await,
        }
    }

    /// Leaves on purpose. See [`Room::leave`].
    ///
    /// # Errors
    /// As [`Room::leave`].
    pub async fn leave(self) -> Result<u16> {
        self.room.leave().await
    }

    async fn receive(&mut self) -> Result<Happening> {
        loop {
            let happening = match self.room.next().await {
                Event::Message { kind, payload } if kind == RESULT => self.answered(payload.json()?)?,
                Event::Message { kind, payload } if kind == VIEW => {
                    Some(Happening::View(self.views.accept(payload.json()?)?))
                }
                Event::Message { kind, payload } if kind == OBSERVER => {
                    Some(Happening::Observed(self.frames.accept(payload.json()?)?))
                }
                event => Some(Happening::Room(event)),
            };
            if let Some(happening) = happening {
                return Ok(happening);
            }
        }
    }

    /// What an answer tells; nothing where it comes too late. Only a request of an observer bears no number.
    fn answered(&mut self, answer: Value) -> Result<Option<Happening>> {
        match (answer.get("seq"), answer["code"].as_str()) {
            (Some(Value::Null), Some(code)) if calls::is_code(code) => {
                // The frame that was gone on after is kept no more: the next request asks for a whole one.
                if code == "invalid" {
                    self.frames.forget();
                }
                Ok(Some(Happening::NotObserved(code.to_owned())))
            }
            _ => Ok(self.calls.settle(answer)?.map(Happening::Answer)),
        }
    }

    /// Keeps a happening. News of a view that already waits is not repeated, as the view itself is kept apart.
    fn keep(&mut self, happening: Happening) -> Result<()> {
        if let Happening::View(team) = &happening
            && self.backlog.iter().any(|kept| matches!(kept, Ok(Happening::View(waiting)) if waiting == team))
        {
            return Ok(());
        }
        self.put_off(Ok(happening))
    }

    fn put_off(&mut self, happening: Result<Happening>) -> Result<()> {
        if self.backlog.len() >= MAX_BACKLOG {
            return Err(Error::Busy);
        }
        self.backlog.push_back(happening);
        Ok(())
    }
}
