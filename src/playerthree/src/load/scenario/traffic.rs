//! `broadcast` and `echo`: messages at a fixed rate, each stamped with the time from which its latency counts.

use crate::load::context::{Context, Seat};
use crate::load::window::{Due, Phase, Schedule, Window};
use playerthree_client::{Event, Payload};
use serde::{Deserialize, Serialize};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::time::sleep_until;

/// Which way a message takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To everybody else in the room.
    Broadcast,
    /// Back to its sender.
    Echo,
}

impl Way {
    fn message_type(self) -> &'static str {
        match self {
            Self::Broadcast => "load",
            Self::Echo => "echo",
        }
    }
}

/// What a message carries.
#[derive(Serialize)]
struct Sent<'a> {
    /// Microseconds from the run's epoch to the moment from which the latency counts.
    t: f64,
    /// Filler.
    d: &'a str,
}

/// What is read of it again.
#[derive(Deserialize)]
struct Stamp {
    t: f64,
}

/// One client at work.
struct Worker<'a> {
    context: &'a Context,
    seat: Seat<'a>,
    way: Way,
    window: Window,
    filler: String,
}

pub(super) async fn run(context: &Context, index: usize, way: Way) {
    let Some(mut seat) = context.ramp_up(index).await else { return };
    if !seat.stay_while(|phase| phase == Phase::Ramp).await {
        return;
    }
    let Some(window) = context.phase.borrow().window() else {
        seat.leave().await;
        return;
    };
    let filler = "x".repeat(context.plan.filler);
    let mut worker = Worker { context, seat, way, window, filler };
    if worker.exchange().await {
        worker.seat.leave().await;
    }
}

impl Worker<'_> {
    /// Sends and receives until the run is done. False when the room closed before.
    async fn exchange(&mut self) -> bool {
        let mut phase = self.context.phase.clone();
        let part = self.seat.index as f64 / self.context.plan.clients as f64;
        let mut schedule = Schedule::new(Instant::now(), self.window.until, self.context.plan.rate, part);
        let mut sleep = pin!(sleep_until(schedule.next().unwrap_or(self.window.until).into()));
        let mut is_sending = true;
        loop {
            let now = *phase.borrow_and_update();
            if is_sending && !now.is_running() {
                is_sending = false;
                self.context.board.shard(self.seat.index).unsent += schedule.overdue(Instant::now());
            }
            if now == Phase::Done {
                return true;
            }
            // Not biased: where sending falls behind, reading must go on all the same.
            tokio::select! {
                changed = phase.changed() => if changed.is_err() { return true },
                () = &mut sleep, if is_sending && schedule.next().is_some() => {
                    if !self.send(schedule.take(Instant::now())).await {
                        return false;
                    }
                    sleep.as_mut().reset(schedule.next().unwrap_or(self.window.until).into());
                }
                event = self.seat.next(Some(self.window)) => match event {
                    Event::Closed { .. } => return false,
                    Event::Message { kind, payload } if kind == self.way.message_type() => self.receive(&payload),
                    _ => {}
                }
            }
        }
    }

    async fn send(&mut self, due: Due) -> bool {
        let t = due.charged.duration_since(self.context.epoch).as_secs_f64() * 1e6;
        let sent = Sent { t, d: &self.filler };
        let result = self.seat.room.send(self.way.message_type(), &sent).await;
        self.seat.count(Some(self.window));
        let mut tally = self.context.board.shard(self.seat.index);
        if let Err(error) = result {
            tally.error(&error);
            return false;
        }
        if self.window.contains(due.charged) {
            tally.lateness.record(due.late);
            tally.expected += match self.way {
                Way::Broadcast => self.context.others(self.seat.index),
                Way::Echo => 1,
            };
        }
        true
    }

    fn receive(&self, payload: &Payload) {
        let stamp = match self.way {
            Way::Broadcast => payload.decode::<(&str, Stamp)>().map(|(_, stamp)| stamp),
            Way::Echo => payload.decode::<Stamp>(),
        };
        let mut tally = self.context.board.shard(self.seat.index);
        // A time out of range is not one of ours.
        let Some(charged) = stamp.ok().and_then(|stamp| self.time_of(&stamp)) else {
            return tally.fault("foreign_message");
        };
        if self.window.contains(charged) {
            tally.arrive(charged.elapsed());
        }
    }

    fn time_of(&self, stamp: &Stamp) -> Option<Instant> {
        self.context.epoch.checked_add(Duration::try_from_secs_f64(stamp.t / 1e6).ok()?)
    }
}
