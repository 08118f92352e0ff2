//! `play`: two clients log in, play tic-tac-toe with random legal moves to its outcome, leave and begin again. What is
//! measured is each move's call, from sending it to its answer.

use crate::load::context::Context;
use crate::load::window::{Phase, Window};
use playerthree_client::playerthree::{Happening, Link};
use playerthree_client::{Client, Error, Event, Result, Room};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long a pair waits after a game that failed.
const PAUSE: Duration = Duration::from_millis(100);
/// Longest wait for the next thing to happen in a game: the other side's move, an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The role of both sides.
const ROLE: &str = "player";

#[derive(Deserialize)]
struct Login {
    token: String,
}

/// The two clients of a pair, logged in.
struct Pair<'a> {
    context: &'a Context,
    index: usize,
    clients: [Client; 2],
}

pub(super) async fn run(context: &Context, index: usize) {
    let pair = Pair::log_in(context, index).await;
    context.settled.fetch_add(1, Ordering::Relaxed);
    let Some(pair) = pair else { return };
    let mut phase = context.phase.clone();
    if phase.wait_for(|phase| *phase != Phase::Ramp).await.is_err() {
        return;
    }
    while let Some(window) = current_window(context) {
        tokio::select! {
            () = pair.play(window) => {}
            // A game that is cut short counts with the moves that were made.
            _ = phase.wait_for(|phase| !phase.is_running()) => return,
        }
    }
}

fn current_window(context: &Context) -> Option<Window> {
    context.phase.borrow().window()
}

impl<'a> Pair<'a> {
    async fn log_in(context: &'a Context, index: usize) -> Option<Self> {
        let result = async {
            let log_in = async |side: &str| -> Result<Client> {
                let name = format!("load {index} {side}");
                let login: Login = context.client.post("/demo/login", &json!({ "name": name })).await?;
                context.client.with_token(&login.token)
            };
            Ok([log_in("a").await?, log_in("b").await?])
        };
        match result.await {
            Ok(clients) => Some(Self { context, index, clients }),
            Err(error) => {
                let mut tally = context.board.shard(index);
                tally.failed_joins += 1;
                tally.error(&error);
                None
            }
        }
    }

    /// Plays one game and counts it.
    async fn play(&self, window: Window) {
        let Some(rooms) = self.meet().await else { return tokio::time::sleep(PAUSE).await };
        let _open = [self.context.present(self.index), self.context.present(self.index)];
        let [first, second] = rooms.map(|room| Side::new(self, room, window));
        match tokio::try_join!(first.play(), second.play()) {
            Ok(_) if window.contains(Instant::now()) => self.context.board.shard(self.index).rounds += 1,
            Ok(_) => {}
            Err(error) => {
                self.context.board.shard(self.index).error(&error);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Joins both clients into a new room. None when one cannot; that is counted.
    async fn meet(&self) -> Option<[Room; 2]> {
        let room = &self.context.plan.room;
        let first = self.join(self.clients[0].create(room, &json!({}))).await.ok()?;
        let second = self.join(self.clients[1].join_by_id(first.room_id(), &json!({}))).await.ok()?;
        Some([first, second])
    }

    async fn join(&self, joining: impl Future<Output = Result<Room>>) -> Result<Room> {
        let join = self.context.begin_join(Instant::now());
        let result = joining.await;
        self.context.end_join(self.index, join, &result);
        result
    }
}

/// One player in one game.
struct Side<'a> {
    pair: &'a Pair<'a>,
    link: Link,
    window: Window,
    /// The team of the seat, once the host said so.
    team: Option<String>,
}

impl<'a> Side<'a> {
    fn new(pair: &'a Pair<'a>, room: Room, window: Window) -> Self {
        Self { pair, link: Link::new(room), window, team: None }
    }

    /// Plays until the outcome and leaves.
    async fn play(mut self) -> Result<()> {
        let mut moved_at = None;
        while !self.is_over() {
            match self.move_to_make(moved_at) {
                Some((version, intent)) => {
                    moved_at = Some(version);
                    self.act(&intent).await?;
                }
                None => self.advance().await?,
            }
        }
        let traffic = self.link.room().traffic();
        if self.window.contains(Instant::now()) {
            self.pair.context.board.shard(self.pair.index).traffic(traffic);
        }
        self.link.leave().await.map(|_| ())
    }

    /// Waits for something to happen.
    async fn advance(&mut self) -> Result<()> {
        match within(self.link.next()).await? {
            Happening::Room(Event::Message { kind, payload }) if kind == "playerthree:welcome" => {
                self.team = payload.json()?["seat"]["team"].as_str().map(str::to_owned);
                Ok(())
            }
            Happening::Room(Event::Closed { code }) => Err(Error::Closed { code }),
            _ => Ok(()),
        }
    }

    async fn act(&mut self, intent: &Value) -> Result<()> {
        let begun = Instant::now();
        let args = json!({ "intents": [intent] });
        let answer = within(self.link.call(ROLE, "act", &args)).await?;
        let mut tally = self.pair.context.board.shard(self.pair.index);
        if self.window.contains(begun) {
            tally.expected += 1;
            tally.arrive(begun.elapsed());
        }
        tally.ack(&answer["acks"][0]);
        Ok(())
    }

    fn view(&self) -> Option<(u64, &Value)> {
        let view = self.link.view(self.team.as_deref()?)?;
        Some((view.version, &view.value))
    }

    fn is_over(&self) -> bool {
        self.view().is_some_and(|(_, view)| view["result"] != "running")
    }

    /// A random free square when it is this side's turn in a view that it has not moved in yet.
    fn move_to_make(&self, moved_at: Option<u64>) -> Option<(u64, Value)> {
        let (version, view) = self.view()?;
        if moved_at == Some(version) || view["turn"].as_str() != self.team.as_deref() {
            return None;
        }
        let free = free_squares(view);
        let (row, col) = *fastrand::choice(&free)?;
        Some((version, json!({ "kind": "move", "row": row, "col": col })))
    }
}

/// The free squares of a board of text rows, where `.` is free.
fn free_squares(view: &Value) -> Vec<(usize, usize)> {
    let rows = view["board"].as_array().into_iter().flatten().filter_map(Value::as_str).enumerate();
    rows.flat_map(|(row, squares)| squares.bytes().enumerate().map(move |(col, square)| (row, col, square)))
        .filter(|(_, _, square)| *square == b'.')
        .map(|(row, col, _)| (row, col))
        .collect()
}

async fn within<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(PATIENCE, work).await.unwrap_or(Err(Error::Timeout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_squares_are_found_by_row_and_column() {
        let view = json!({ "board": ["x.", "oo", ".."] });
        assert_eq!(free_squares(&view), [(0, 1), (2, 0), (2, 1)]);
        assert!(free_squares(&json!({})).is_empty());
    }
}
