//! What all simulated clients share, and how one of them gets into its room. It holds the room open while it is read
//! and counts what happens; what the client does there is the scenario's part.

use super::args::Plan;
use super::tally::{Board, Meter};
use super::window::{Phase, Window};
use playerthree_client::{Client, Error, Event, Result, Room};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::{Semaphore, SemaphorePermit, watch};

/// The matchmaker's code for a room that is not there.
const ROOM_NOT_FOUND: u16 = 522;

/// Joins in progress at once while clients ramp up: enough to keep a server busy, too few to overrun its backlog.
const JOINS_AT_ONCE: usize = 64;

/// What all clients share.
pub(super) struct Context {
    pub(super) plan: Plan,
    pub(super) client: Client,
    pub(super) board: Board,
    pub(super) phase: watch::Receiver<Phase>,
    /// When the run began, the zero of the times that messages carry.
    pub(super) epoch: Instant,
    /// Clients that are through with joining, be it in vain.
    pub(super) settled: AtomicUsize,
    /// Connections that are open right now.
    pub(super) open: AtomicUsize,
    groups: Vec<Group>,
    ramp: Semaphore,
}

/// The demo's answer to a login.
#[derive(Deserialize)]
struct Login {
    token: String,
}

/// The clients of one room.
struct Group {
    /// The room's id once its first client made it; empty when that failed.
    room_id: watch::Sender<Option<String>>,
    /// How many of them joined.
    joined: AtomicUsize,
}

/// A simulated client that joined.
pub(super) struct Seat<'a> {
    pub(super) room: Room,
    pub(super) index: usize,
    context: &'a Context,
    meter: Meter,
    _presence: Presence<'a>,
}

/// A join in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    begun: Instant,
    is_measured: bool,
}

/// Counts one open connection while it lives.
pub(super) struct Presence<'a> {
    context: &'a Context,
    index: usize,
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        self.context.open.fetch_sub(1, Ordering::Relaxed);
        self.context.group(self.index).joined.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Context {
    pub(super) fn new(plan: Plan, client: Client, phase: watch::Receiver<Phase>) -> Self {
        let group = || Group { room_id: watch::Sender::new(None), joined: AtomicUsize::new(0) };
        Self {
            groups: (0..plan.rooms).map(|_| group()).collect(),
            plan,
            client,
            board: Board::new(),
            phase,
            epoch: Instant::now(),
            settled: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            ramp: Semaphore::new(JOINS_AT_ONCE),
        }
    }

    fn group(&self, index: usize) -> &Group {
        &self.groups[index % self.groups.len()]
    }

    /// How many others are in the room of this client.
    pub(super) fn others(&self, index: usize) -> u64 {
        self.group(index).joined.load(Ordering::Relaxed).saturating_sub(1) as u64
    }

    /// Joins a client of the ramp into its room, which the first one of each room makes. None when that fails, or when
    /// the run ends before.
    pub(super) async fn ramp_up(&self, index: usize) -> Option<Seat<'_>> {
        let mut phase = self.phase.clone();
        let joining = async {
            if index < self.plan.rooms { self.found(index).await } else { self.follow(index).await }
        };
        let seat = tokio::select! {
            seat = joining => seat,
            _ = phase.wait_for(|phase| *phase == Phase::Done) => None,
        };
        self.settled.fetch_add(1, Ordering::Relaxed);
        seat
    }

    /// Waits until so many clients may join at once. None when the run ends before.
    pub(super) async fn turn(&self, clients: usize) -> Option<SemaphorePermit<'_>> {
        self.ramp.acquire_many(u32::try_from(clients).ok()?).await.ok()
    }

    /// Joins a client of the ramp into a room that exists, with a login and options of its own.
    pub(super) async fn ramp_up_as(
        &self,
        index: usize,
        client: &Client,
        room_id: &str,
        options: &Value,
    ) -> Option<Seat<'_>> {
        let _turn = self.turn(1).await?;
        let join = self.begin_join(Instant::now());
        let result = client.join_by_id(room_id, options).await;
        self.seated(index, join, result)
    }

    /// A client of somebody who logged in to this server's demo under this name.
    pub(super) async fn log_in(&self, name: &str) -> Result<Client> {
        let login: Login =
            self.client.post("/demo/login", &json!({ "name": format!("load {name}") })).await?;
        self.client.with_token(&login.token)
    }

    /// Makes the room of a group.
    async fn found(&self, index: usize) -> Option<Seat<'_>> {
        // The semaphore is never closed.
        let _turn = self.ramp.acquire().await.ok()?;
        let join = self.begin_join(Instant::now());
        let result = self.client.create(&self.plan.room, &self.plan.script.options).await;
        let seat = self.seated(index, join, result);
        let room_id = seat.as_ref().map(|seat| seat.room.room_id().to_owned()).unwrap_or_default();
        self.group(index).room_id.send_replace(Some(room_id));
        seat
    }

    async fn follow(&self, index: usize) -> Option<Seat<'_>> {
        let room_id = self.room_of(index).await?;
        let _turn = self.ramp.acquire().await.ok()?;
        self.join(index, &room_id, Instant::now()).await
    }

    /// The id of a client's room, or none where it could not be made; that counts as a join that failed.
    pub(super) async fn room_of(&self, index: usize) -> Option<String> {
        let mut room_id = self.group(index).room_id.subscribe();
        let known = room_id.wait_for(Option::is_some).await.ok()?.clone();
        let known = known.filter(|room_id| !room_id.is_empty());
        if known.is_none() {
            let mut tally = self.board.shard(index);
            tally.failed_joins += 1;
            tally.fault("no_room");
        }
        known
    }

    /// Joins a room that exists; the join counts from `begun`.
    pub(super) async fn join(&self, index: usize, room_id: &str, begun: Instant) -> Option<Seat<'_>> {
        let join = self.begin_join(begun);
        let result = self.client.join_by_id(room_id, &self.plan.script.options).await;
        self.seated(index, join, result)
    }

    /// Begins a join that counts from `begun`. All of a ramp are measured; where joining is the work, those that begin
    /// within the window.
    pub(super) fn begin_join(&self, begun: Instant) -> Join {
        let in_window = || self.phase.borrow().window().is_some_and(|window| window.contains(begun));
        Join { begun, is_measured: !self.plan.scenario.joins_in_window() || in_window() }
    }

    /// Counts how a join ended.
    pub(super) fn end_join<T>(&self, index: usize, join: Join, result: &Result<T>) {
        let mut tally = self.board.shard(index);
        match result {
            Ok(_) if join.is_measured => tally.join(join.begun.elapsed()),
            Ok(_) => {}
            // The rooms end with the run: whoever comes after that is turned away by nobody's fault.
            Err(Error::Refused { code: ROOM_NOT_FOUND, .. }) if *self.phase.borrow() == Phase::Done => {}
            Err(error) => {
                tally.failed_joins += 1;
                tally.error(error);
            }
        }
    }

    /// Counts the connection of a client as open until the guard is dropped.
    pub(super) fn present(&self, index: usize) -> Presence<'_> {
        self.group(index).joined.fetch_add(1, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
        Presence { context: self, index }
    }

    fn seated(&self, index: usize, join: Join, result: Result<Room>) -> Option<Seat<'_>> {
        self.end_join(index, join, &result);
        let room = result.ok()?;
        let meter = Meter::new(room.traffic());
        Some(Seat { room, index, context: self, meter, _presence: self.present(index) })
    }
}

impl Seat<'_> {
    /// Waits for what happens next and counts it. A close that nobody asked for is an error. Cancel safe.
    pub(super) async fn next(&mut self, window: Option<Window>) -> Event {
        let event = self.room.next().await;
        self.count(window);
        if let Event::Closed { code } = event {
            self.context.board.shard(self.index).error(&playerthree_client::Error::Closed { code });
        }
        event
    }

    /// Counts what went through the socket since the last time.
    pub(super) fn count(&mut self, window: Option<Window>) {
        let new = self.meter.take(self.room.traffic());
        if window.is_some_and(|window| window.contains(Instant::now())) {
            self.context.board.shard(self.index).traffic(new);
        }
    }

    /// Reads until the phase is past what `stay` accepts. False when the room closed before.
    pub(super) async fn stay_while(&mut self, stay: impl Fn(Phase) -> bool) -> bool {
        let mut phase = self.context.phase.clone();
        loop {
            let now = *phase.borrow_and_update();
            if !stay(now) {
                return true;
            }
            tokio::select! {
                changed = phase.changed() => if changed.is_err() { return true },
                event = self.next(now.window()) => if matches!(event, Event::Closed { .. }) { return false },
            }
        }
    }

    /// Leaves with consent.
    pub(super) async fn leave(self) -> bool {
        let Self { room, index, context, .. } = self;
        match room.leave().await {
            Ok(_) => true,
            Err(error) => {
                context.board.shard(index).error(&error);
                false
            }
        }
    }
}
