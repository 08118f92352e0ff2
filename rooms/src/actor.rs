//! The task that owns one room: it takes mail in bounded batches, runs the handlers, and hands the clients what is
//! due to them once per turn.
//!
//! Terminates when the room is to be disposed of (empty, disconnected, never claimed), when one of its handlers
//! panicked, or when the server aborts it at the end of a shutdown.

use crate::close::CloseReason;
use crate::core::{AfterDrop, Core, Departure, Entitled, Expired, Was};
use crate::counters::count;
use crate::cx::Cx;
use crate::frame::Frame;
use crate::id::SessionId;
use crate::mail::{Connect, Control, Mail, SocketId, Ticket};
use crate::message::{BadMessage, Message, Payload};
use crate::messages::Messages;
use crate::outbox::Outbox;
use crate::refusal::Refusal;
use crate::request::Request;
use crate::room::{Join, Room};
use crate::schedule::{Due, FAR};
use crate::wire::{self, Inbound};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// The most mail that one turn takes before what it caused is sent.
const BATCH: usize = 64;

pub(crate) struct Actor<R: Room> {
    pub(crate) room: R,
    pub(crate) core: Core<R::Event>,
    pub(crate) messages: Arc<Messages<R>>,
    pub(crate) mailbox: mpsc::Receiver<Mail<R::Event>>,
    /// The room's share of [`Config::max_rooms`](crate::Config::max_rooms), given back when the task ends.
    pub(crate) permit: OwnedSemaphorePermit,
}

impl<R: Room> Actor<R> {
    pub(crate) async fn run(mut self) {
        let unclaimed = Instant::now() + self.core.shared.config.seat_expiry;
        self.core.schedule.at(unclaimed, Due::Unclaimed);
        self.core.schedule.at(Instant::now() + self.core.shared.config.ping_interval, Due::Pings);
        self.core.publish();
        // A room that gave up at birth.
        if self.is_over() {
            return self.end();
        }
        let mut batch = Vec::new();
        let mut alarm = pin!(sleep_until(unclaimed));
        loop {
            let next = self.core.schedule.next_instant().unwrap_or_else(|| Instant::now() + FAR);
            if alarm.deadline() != next {
                alarm.as_mut().reset(next);
            }
            // Mail first: a turn runs the timers that are due in either case, and timers that are always late must not
            // keep the mail out.
            tokio::select! {
                biased;
                _ = self.mailbox.recv_many(&mut batch, BATCH) => {}
                () = &mut alarm => {}
            }
            let turn = catch_unwind(AssertUnwindSafe(|| self.turn(&mut batch)));
            match turn {
                Ok(Next::Continue) => {}
                Ok(Next::Dispose) => return self.end(),
                Err(_) => return self.fail(),
            }
        }
    }

    fn turn(&mut self, batch: &mut Vec<Mail<R::Event>>) -> Next {
        let now = Instant::now();
        if self.core.schedule.has_deadline(now) {
            self.take_waiting(batch);
        }
        while let Some((when, due)) = self.core.schedule.pop(now) {
            if let Due::Timer(_) = due {
                self.core.shared.counters.lateness.observe((now - when).as_secs_f64());
            }
            self.due(due);
            self.settle();
        }
        self.take(batch);
        while self.core.flush() {
            self.settle();
        }
        self.plan_patch();
        self.core.publish();
        if self.is_over() { Next::Dispose } else { Next::Continue }
    }

    fn take(&mut self, batch: &mut Vec<Mail<R::Event>>) {
        for mail in batch.drain(..) {
            self.mail(mail);
            self.settle();
        }
    }

    /// Takes all that is in the mailbox: a client whose message came before its deadline and waited here is in time,
    /// however late the room is.
    fn take_waiting(&mut self, batch: &mut Vec<Mail<R::Event>>) {
        for _ in 0..self.mailbox.len() {
            batch.extend(self.mailbox.try_recv());
        }
        self.take(batch);
    }

    fn is_over(&self) -> bool {
        let idle = self.core.auto_dispose && self.core.claimed;
        self.core.seats() == 0 && (self.core.closing || idle)
    }

    fn cx(&mut self) -> (&mut R, Cx<'_, R>) {
        (&mut self.room, Cx::new(&mut self.core))
    }

    fn mail(&mut self, mail: Mail<R::Event>) {
        match mail {
            Mail::Event(event) => {
                let (room, mut cx) = self.cx();
                room.on_event(&mut cx, event);
            }
            Mail::Control(control) => self.control(control),
        }
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Reserve { ticket, reply } => self.answer_request(&ticket, reply),
            Control::Reclaim { token, reply } => {
                let _ = reply.send(self.core.reclaim(&token));
            }
            Control::Connect(connect) => {
                // A socket that waits no more leaves its seat as it is.
                if !connect.answered.is_closed() {
                    self.connect(&connect);
                }
                // One that is gone meanwhile needs no telling.
                let _ = connect.answered.send(());
            }
            Control::Message { session, socket, bytes } => self.message(session, socket, &bytes),
            Control::Closed { session, socket, reason } => {
                if self.core.is_current(session, socket) {
                    self.core.depart(session, reason);
                }
            }
            Control::Shutdown => self.shut_down(),
            Control::Cut => {
                self.core.closing = true;
                self.core.depart_all(CloseReason::ServerShutdown);
            }
        }
    }

    /// Answers a request for a seat. A seat that nobody hears of is taken back.
    fn answer_request(&mut self, ticket: &Ticket, reply: oneshot::Sender<Result<SessionId, Refusal>>) {
        if !reply.is_closed() {
            let seat = self.reserve(ticket);
            self.core.publish();
            if let Err(Ok(session)) = reply.send(seat) {
                self.core.depart(session, CloseReason::JoinRefused);
            }
        }
        // Only after the answer, so that who gives the room up meanwhile sees one of the two.
        self.core.entry.set_silent(false);
    }

    /// Promises the seats that a new room is made for. Where one is refused the room has no purpose and ends.
    pub(crate) fn reserve_all(&mut self, tickets: &[Arc<Ticket>]) -> Vec<Result<SessionId, Refusal>> {
        let seats: Vec<_> = tickets.iter().map(|ticket| self.reserve(ticket)).collect();
        if seats.iter().any(Result::is_err) {
            self.core.give_up();
            self.settle();
        }
        seats
    }

    /// Promises a seat. The ticket is taken only when the seat is certain, so that another room can be asked.
    fn reserve(&mut self, ticket: &Ticket) -> Result<SessionId, Refusal> {
        self.core.can_reserve()?;
        let session = SessionId::random();
        ticket.peek(|claim| {
            let auth = claim.auth.downcast_ref::<R::Auth>().ok_or_else(Refusal::auth_failed)?;
            let (room, mut cx) = self.cx();
            room.on_reserve(&mut cx, session, &claim.options, auth)
        })?;
        let Some(claim) = ticket.take() else {
            self.unreserve(session);
            return Err(Refusal::seat_expired());
        };
        self.core.reserve(session, claim);
        Ok(session)
    }

    /// Tells the room of a seat that it promised and that nobody comes for.
    fn unreserve(&mut self, session: SessionId) {
        let (room, mut cx) = self.cx();
        room.on_unreserve(&mut cx, session);
    }

    /// A room that ends already is not told.
    fn shut_down(&mut self) {
        if std::mem::replace(&mut self.core.closing, true) {
            return;
        }
        self.core.stale = true;
        let (room, mut cx) = self.cx();
        room.on_shutdown(&mut cx);
    }

    fn due(&mut self, due: Due) {
        match due {
            Due::Timer(timer) => {
                let (room, mut cx) = self.cx();
                room.on_timer(&mut cx, timer);
            }
            Due::Seat(session) => match self.core.expire(session) {
                Expired::Joined => self.leave(session, CloseReason::ConnectionLost),
                Expired::Reserved => self.unreserve(session),
                Expired::Nothing => {}
            },
            Due::Pings => {
                self.core.ping();
                self.core.schedule.at(Instant::now() + self.core.shared.config.ping_interval, Due::Pings);
            }
            Due::Patch => self.patch(),
            Due::Arrivals => self.arrivals(),
            // A room that is kept while empty waits for its first client as long as it likes.
            Due::Unclaimed => self.core.claimed = true,
        }
    }

    /// Runs the handlers of the seats whose connection ended, those included that these handlers end.
    fn settle(&mut self) {
        while let Some(Departure { session, reason, was }) = self.core.next_departure() {
            match was {
                Was::Reserved => self.unreserve(session),
                Was::Connected if reason.is_drop() => self.lose(session, reason),
                Was::Connected | Was::Held => self.leave(session, reason),
            }
        }
    }

    /// Runs the handler of a lost connection, which may hold the seat.
    fn lose(&mut self, session: SessionId, reason: CloseReason) {
        self.core.begin_drop(session);
        let (room, mut cx) = self.cx();
        room.on_drop(&mut cx, session, reason);
        match self.core.end_drop(session) {
            AfterDrop::Held => {}
            AfterDrop::Leave => self.leave(session, reason),
        }
    }

    fn leave(&mut self, session: SessionId, reason: CloseReason) {
        self.core.remove_seat(session);
        let (room, mut cx) = self.cx();
        room.on_leave(&mut cx, session, reason);
    }

    fn connect(&mut self, connect: &Connect) {
        let mut entitled = self.core.entitled(connect.session, connect.token.as_ref());
        if let Ok(Entitled::Replace) = entitled {
            self.core.depart(connect.session, CloseReason::Replaced);
            self.settle();
            entitled = self.core.entitled(connect.session, connect.token.as_ref());
        }
        match entitled {
            Ok(Entitled::Join(claim)) => self.join(connect, claim.options, claim.auth),
            Ok(Entitled::Resume) => self.resume(connect),
            Ok(Entitled::Replace) => self.refuse(connect, &Refusal::reconnect_expired()),
            Err(refusal) => self.refuse(connect, &refusal),
        }
    }

    fn join(&mut self, connect: &Connect, options: serde_json::Value, auth: Box<dyn Any + Send>) {
        let Ok(auth) = auth.downcast::<R::Auth>() else {
            return self.refuse(connect, &Refusal::auth_failed());
        };
        let session = connect.session;
        let token = self.core.seat(connect);
        let (room, mut cx) = self.cx();
        match room.on_join(&mut cx, session, Join { options, auth: *auth }) {
            Ok(()) => {
                self.core.welcome(session, &token);
                self.core.shared.counters.joined(connect.generation);
            }
            Err(refusal) => {
                self.core.forget(session);
                self.refuse(connect, &refusal);
            }
        }
    }

    fn resume(&mut self, connect: &Connect) {
        let session = connect.session;
        let token = self.core.seat(connect);
        let (room, mut cx) = self.cx();
        room.on_reconnect(&mut cx, session);
        self.core.welcome(session, &token);
        count(&self.core.shared.counters.reconnections);
    }

    fn refuse(&self, connect: &Connect, refusal: &Refusal) {
        self.core.shared.counters.refused(refusal);
        refuse(&connect.outbox, connect.token.is_some(), refusal);
    }

    fn message(&mut self, session: SessionId, socket: SocketId, bytes: &[u8]) {
        if !self.core.is_current(session, socket) {
            return;
        }
        let limits = self.core.shared.config.decode;
        let handled = match wire::read_inbound(bytes) {
            Ok(Inbound::Unknown) => Ok(()),
            Ok(Inbound::Acknowledge) => {
                self.acknowledge(session, socket);
                Ok(())
            }
            Ok(Inbound::Leave) => {
                self.core.depart(session, CloseReason::Consented);
                Ok(())
            }
            Ok(Inbound::Ping) => {
                self.core.send(session, Frame::pong());
                Ok(())
            }
            Ok(Inbound::Data { kind, payload }) => {
                self.handle(session, Message { kind, payload: Payload::packed(payload, limits) })
            }
            Ok(Inbound::Bytes { kind, payload }) => {
                self.handle(session, Message { kind, payload: Payload::raw(payload, limits) })
            }
            Ok(Inbound::Request { id, kind, payload }) => {
                self.answer(session, Request::new(id, kind, Payload::packed(payload, limits)))
            }
            Err(wire::Malformed) => Err(BadMessage::Undecodable),
        };
        if let Err(bad) = handled {
            // A session id opens a seat, so it is in no log.
            tracing::debug!(room = %self.core.entry.id, %bad, "bad message");
            count(&self.core.shared.counters.bad_messages);
            self.core.depart(session, CloseReason::BadMessage);
        }
    }

    fn handle(&mut self, session: SessionId, message: Message<'_>) -> Result<(), BadMessage> {
        let Self { room, core, messages, .. } = self;
        messages.message(room, &mut Cx::new(core), session, message)
    }

    fn answer(&mut self, session: SessionId, request: Request<'_>) -> Result<(), BadMessage> {
        let Self { room, core, messages, .. } = self;
        let mut cx = Cx::new(core);
        let reply = messages.request(room, &mut cx, session, request)?;
        cx.respond(session, request.id, reply);
        Ok(())
    }

    fn end(mut self) {
        self.core.withdraw();
        let disposed = catch_unwind(AssertUnwindSafe(|| {
            let (room, mut cx) = self.cx();
            room.on_dispose(&mut cx);
        }));
        if disposed.is_err() {
            tracing::error!(room = %self.core.entry.id, "a room panicked while it was disposed of");
        }
        self.bury();
    }

    fn fail(mut self) {
        tracing::error!(room = %self.core.entry.id, name = %self.core.entry.name, "a room panicked and is closed");
        count(&self.core.shared.counters.rooms_failed);
        self.core.withdraw();
        self.core.depart_all(CloseReason::RoomFailed);
        self.bury();
    }

    /// Drops the room's state, which may panic like any of its code. Who still waits in the mailbox sees it go.
    fn bury(self) {
        let Self { room, core, mailbox, permit, .. } = self;
        drop(mailbox);
        if catch_unwind(AssertUnwindSafe(|| drop(room))).is_err() {
            tracing::error!(room = %core.entry.id, "a room panicked while it was dropped");
        }
        drop(permit);
    }
}

enum Next {
    Continue,
    Dispose,
}

/// Tells a socket that it gets no seat.
pub(crate) fn refuse(outbox: &Arc<Outbox>, reconnecting: bool, refusal: &Refusal) {
    outbox.push(&[Frame::error(refusal).into_bytes()]);
    outbox.close(if reconnecting { CloseReason::ReconnectRefused } else { CloseReason::JoinRefused });
}
