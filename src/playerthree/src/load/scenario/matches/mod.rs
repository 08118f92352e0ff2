//! `match`: whole matches of agent-command with everybody that a match can have. In each, two people log in; one plays
//! and one owns a seat that a policy plays; an agent plays the other seat of either side over MCP; two spectators follow
//! the sides' views and two observers the whole match. What is measured is each person's and each agent's call, and how
//! far apart what watchers are sent arrives.

mod agents;
mod audience;
mod people;

use crate::load::context::Context;
use crate::load::tally::Meter;
use crate::load::window::{Phase, Window};
use playerthree_client::playerthree::{Agent, Happening, Link};
use playerthree_client::{Client, Error, Event, Result, Room};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Clients of one match: two people, two agents, two spectators, two observers.
pub(in crate::load) const CAST: usize = 8;
/// Those of them that keep a connection; agents call over HTTP.
const CONNECTED: usize = 6;
/// The sides, each with a person and an agent.
const TEAMS: [&str; 2] = ["red", "blue"];
/// The seats of a side that people and agents hold; bots play the others.
const PERSON: &str = "economy";
const AGENT: &str = "air";
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// A policy that moves what its seat has, twice a second.
const POLICY: &str = "function think(obs) {\n  if (obs.tick % 10) return [];\n  const units = obs[obs.role].units;\n  \
    return [{ kind: 'move', units: units.map((unit) => unit.id).slice(0, 8), x: 1600, y: 400 + obs.tick % 800 }];\n}";

/// A joined client that counts into the board.
struct Member<'a> {
    context: &'a Context,
    index: usize,
    link: Link,
    meter: Meter,
}

/// Everybody of one match.
struct Cast<'a> {
    player: Member<'a>,
    owner: Member<'a>,
    agents: [Agent; 2],
    spectators: [Member<'a>; 2],
    observers: [Member<'a>; 2],
}

pub(super) async fn run(context: &Context, index: usize) {
    let cast = {
        let Some(_turn) = context.turn(CAST).await else { return };
        Cast::gather(context, index).await
    };
    context.settled.fetch_add(1, Ordering::Relaxed);
    let mut cast = match cast {
        Ok(cast) => cast,
        Err(error) => {
            let mut tally = context.board.shard(index);
            tally.failed_joins += 1;
            return tally.error(&error);
        }
    };
    let mut phase = context.phase.clone();
    tokio::select! {
        ended = cast.stay() => return context.board.shard(index).error(&ended),
        begun = phase.wait_for(|phase| *phase != Phase::Ramp) => if begun.is_err() { return },
    }
    let Some(window) = context.phase.borrow().window() else { return };
    let _open: [_; CONNECTED] = std::array::from_fn(|_| context.present(index));
    tokio::select! {
        () = cast.play(window) => {}
        // Calls that are cut short at the end are not counted.
        _ = phase.wait_for(|phase| !phase.is_running()) => {}
    }
}

impl<'a> Cast<'a> {
    async fn gather(context: &'a Context, index: usize) -> Result<Self> {
        let log_in = async |part: &str| context.log_in(&format!("{index} {part}")).await;
        let options = json!({
            "teams": TEAMS, "role": PERSON, "team": TEAMS[0], "seed": index, "private": true, "observerDelayMs": 0,
        });
        let room = &context.plan.room;
        let mut player = Member::join(context, index, log_in("player").await?.create(room, &options)).await?;
        let wish = json!({ "team": TEAMS[1], "role": PERSON });
        let mut owner = player.bring(&log_in("owner").await?, &wish).await?;
        owner.deploy().await?;
        let spectators = [player.spectator(TEAMS[0]).await?, player.spectator(TEAMS[1]).await?];
        let observers = [
            player.observer(&log_in("first").await?).await?,
            player.observer(&log_in("second").await?).await?,
        ];
        let agents = [player.agent().await?, owner.agent().await?];
        Ok(Self { player, owner, agents, spectators, observers })
    }

    /// Reads what everybody is sent, which answers the server's pings, until one of them cannot go on.
    async fn stay(&mut self) -> Error {
        let Self { player, owner, spectators: [first, second], observers: [one, other], .. } = self;
        let ended = tokio::try_join!(
            player.stay(),
            owner.stay(),
            first.stay(),
            second.stay(),
            one.stay(),
            other.stay(),
        );
        match ended {
            Ok((never, ..)) => match never {},
            Err(error) => error,
        }
    }

    /// Plays until it is dropped, or until one of the clients cannot go on.
    async fn play(self, window: Window) {
        let Self { player, owner, agents, spectators, observers } = self;
        let (context, index) = (player.context, player.index);
        let ([red, blue], [first, second], [one, other]) = (agents, spectators, observers);
        let ended = tokio::try_join!(
            people::play(player, window),
            people::look_after(owner, window),
            agents::play(context, index, red, window),
            agents::play(context, index, blue, window),
            audience::watch(first, window),
            audience::watch(second, window),
            audience::observe(one, window),
            audience::observe(other, window),
        );
        if let Err(error) = ended {
            context.board.shard(index).error(&error);
        }
    }
}

impl<'a> Member<'a> {
    async fn join(
        context: &'a Context,
        index: usize,
        joining: impl Future<Output = Result<Room>>,
    ) -> Result<Self> {
        let join = context.begin_join(Instant::now());
        let result = joining.await;
        context.end_join(index, join, &result);
        let room = result?;
        Ok(Self { context, index, meter: Meter::new(room.traffic()), link: Link::new(room) })
    }

    /// Brings another client into this one's room.
    async fn bring(&self, client: &Client, options: &Value) -> Result<Self> {
        let joining = client.join_by_id(self.link.room().room_id(), options);
        Self::join(self.context, self.index, joining).await
    }

    /// Somebody nobody knows, who watches a side.
    async fn spectator(&self, team: &str) -> Result<Self> {
        self.bring(&self.context.client, &json!({ "as": "spectator", "team": team })).await
    }

    /// Invites a client to observe.
    async fn observer(&mut self, client: &Client) -> Result<Self> {
        let ticket = self.ask("inviteObserver", &json!({})).await?["ticket"].take();
        self.bring(client, &json!({ "as": "observer", "ticket": ticket })).await
    }

    async fn ask(&mut self, op: &str, fields: &Value) -> Result<Value> {
        within(self.link.ask(op, fields)).await
    }

    /// Gives the person's own seat to a policy.
    async fn deploy(&mut self) -> Result<()> {
        let args = json!({ "runtime": "js", "code": POLICY });
        let deployed = self.link.call_within(PERSON, "policyDeploy", &args, PATIENCE).await?;
        if deployed["ok"] != true {
            return Err(Error::Answer);
        }
        self.ask("controller", &json!({ "role": PERSON, "controller": "policy" })).await.map(drop)
    }

    /// An agent for the side's other seat.
    async fn agent(&mut self) -> Result<Agent> {
        let minted = self.ask("mint", &json!({ "role": AGENT, "ttlSeconds": 600 })).await?;
        Agent::new(&self.context.client, minted["token"].as_str().ok_or(Error::Answer)?)
    }

    /// Reads on without counting.
    async fn stay(&mut self) -> Result<Infallible> {
        loop {
            if let Happening::Room(Event::Closed { code }) = self.link.next().await? {
                return Err(Error::Closed { code });
            }
        }
    }

    /// Waits for what happens next and counts it.
    async fn next(&mut self, window: Window) -> Result<Happening> {
        let happening = self.link.next().await?;
        self.count(window);
        match happening {
            Happening::Room(Event::Closed { code }) => Err(Error::Closed { code }),
            Happening::NotObserved(code) => Err(Error::Call { code, answer: Box::default() }),
            happening => Ok(happening),
        }
    }

    /// Counts what went through the socket since the last time.
    fn count(&mut self, window: Window) {
        let new = self.meter.take(self.link.room().traffic());
        if window.contains(Instant::now()) {
            self.context.board.shard(self.index).traffic(new);
        }
    }
}

async fn within<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(PATIENCE, work).await.unwrap_or(Err(Error::Timeout))
}
