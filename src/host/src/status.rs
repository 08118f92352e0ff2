//! What agents' credentials may know of their seats at any moment (§17): a board that each match writes and anybody who
//! was given a seat may read, without a place in the match's mailbox, and word of every change for whoever watches.
//!
//! Reading is no call: nobody becomes present by it, and nothing that a wait has to tell is used up.

use crate::agents::SeatGrant;
use crate::grant::CommanderGrant;
use playerthree_game::{Name, Phase, Seat};
use playerthree_session::{Match, Place, SeatStatus};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// The status of every seat of one match. Its actor alone writes it.
#[derive(Debug, Default)]
pub struct StatusBoard {
    tick: AtomicU64,
    seats: BTreeMap<Seat, watch::Sender<SeatStatus>>,
}

impl StatusBoard {
    /// A match's seats as they are.
    pub(crate) fn of(game: &Match) -> Self {
        let seats = game.seats().filter_map(|seat| Some((seat.clone(), game.seat_status(seat)?)));
        let seats = seats.map(|(seat, status)| (seat, watch::Sender::new(status))).collect();
        Self { tick: AtomicU64::new(game.tick()), seats }
    }

    /// Shows the seats as they are now. Seats that nobody owns have no credential that could read them.
    pub(crate) fn show(&self, game: &Match) {
        self.tick.store(game.tick(), Ordering::Relaxed);
        for (seat, shown) in &self.seats {
            let owned = game.owner(seat).is_some();
            if let Some(status) = owned.then(|| game.seat_status(seat)).flatten() {
                shown.send_if_modified(|before| {
                    let changed = *before != status;
                    *before = status;
                    changed
                });
            }
        }
    }

    /// A seat as it is shown, and word of its later changes.
    fn look(&self, seat: &Seat) -> Option<Shown> {
        let changes = self.seats.get(seat)?.subscribe();
        let status = changes.borrow().clone();
        let tick = if status.phase == Phase::Match { self.tick.load(Ordering::Relaxed) } else { 0 };
        Some(Shown { status, tick, changes: Some(changes) })
    }
}

/// One look at a seat or lane.
struct Shown {
    status: SeatStatus,
    tick: u64,
    /// Word of changes that its match makes.
    changes: Option<watch::Receiver<SeatStatus>>,
}

impl SeatGrant {
    /// The status of its seat, as its resource shows it.
    pub fn status(&self) -> Option<Value> {
        self.door.board().look(&self.seat).map(|shown| shown.status.to_json(shown.tick))
    }

    /// Watches its seat from now on.
    pub fn watch_status(&self) -> Option<StatusWatch> {
        let Shown { status, changes, .. } = self.door.board().look(&self.seat)?;
        Some(StatusWatch { lane: None, seen: status, changes })
    }
}

impl CommanderGrant {
    /// The status of one of its granted lanes, wherever the lane is.
    pub fn status(&self, role: &Name) -> Option<Value> {
        self.look(role).map(|shown| shown.status.to_json(shown.tick))
    }

    /// Watches one of its granted lanes from now on, into matches and out of them.
    pub fn watch_status(self: &Arc<Self>, role: &Name) -> Option<StatusWatch> {
        let bell = self.desk.bells.get(role)?.changed.subscribe();
        let Shown { status, changes, .. } = self.look(role)?;
        let lane = Lane { grant: Arc::clone(self), role: role.clone(), bell };
        Some(StatusWatch { lane: Some(lane), seen: status, changes })
    }

    fn look(&self, role: &Name) -> Option<Shown> {
        if !self.has(role) {
            return None;
        }
        let rules = self.desk.roster.rules();
        let lane = rules.lane_status(&self.id, role)?;
        let board = |hold: crate::commanders::Hold| hold.door.board().look(&hold.seat);
        let shown = match rules.place(&self.id, role)? {
            Place::Seated(hold) => board(hold),
            Place::Lobby => rules.ended(&self.id, role).next().and_then(board).map(|ended| {
                let status = ended.status.ended_before(lane.clone());
                Shown { status, ..ended }
            }),
        };
        Some(shown.unwrap_or(Shown { status: lane, tick: 0, changes: None }))
    }
}

/// Word of what changes for one seat or lane of one credential. Changes that nobody asked about meanwhile are one; that
/// time goes by is none.
pub struct StatusWatch {
    /// Where the seat is a commander's.
    lane: Option<Lane>,
    seen: SeatStatus,
    changes: Option<watch::Receiver<SeatStatus>>,
}

struct Lane {
    grant: Arc<CommanderGrant>,
    role: Name,
    bell: watch::Receiver<()>,
}

impl StatusWatch {
    /// Waits for the next change. Terminates never once the credential or its role is gone: whoever waits has to watch
    /// those, too.
    ///
    /// Cancel safe: a change that was not returned is returned by the next call.
    pub async fn changed(&mut self) {
        loop {
            self.stirred().await;
            let shown = match (&self.lane, &self.changes) {
                (Some(lane), _) => lane.grant.look(&lane.role),
                (None, Some(changes)) => {
                    let status = changes.borrow().clone();
                    Some(Shown { status, tick: 0, changes: Some(changes.clone()) })
                }
                (None, None) => None,
            };
            let Some(shown) = shown else { return std::future::pending().await };
            self.changes = shown.changes;
            if self.seen != shown.status {
                self.seen = shown.status;
                return;
            }
        }
    }

    /// Something may have changed.
    async fn stirred(&mut self) {
        tokio::select! {
            () = next_word(self.lane.as_mut().map(|lane| &mut lane.bell)) => {}
            () = next_word(self.changes.as_mut()) => {}
        }
    }
}

/// Terminates with the next word, never if there will be none.
async fn next_word<T>(from: Option<&mut watch::Receiver<T>>) {
    if let Some(from) = from
        && from.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

impl std::fmt::Debug for StatusWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StatusWatch").finish_non_exhaustive()
    }
}
