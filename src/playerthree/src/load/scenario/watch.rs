//! `watch`: one match of bots, and many who watch it. Spectators follow the first side's view and observers the whole
//! match; they read what they are sent and rebuild nothing, so that this process can be a large audience.

use crate::load::context::Context;
use crate::load::tally::Part;
use crate::load::window::Phase;
use playerthree_client::playerthree::{Happening, Link, OBSERVER, RESULT, VIEW};
use playerthree_client::{Client, Error, Event, Result};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The sides of the match; spectators watch the first.
const TEAMS: [&str; 2] = ["red", "blue"];
/// Before an invitation is asked for again that came too soon.
const AGAIN: Duration = Duration::from_millis(50);

/// Somebody who watches.
enum Watcher {
    Spectator,
    Observer { client: Client, ticket: Value },
}

/// Makes the match, lets everybody in and stays until the end.
pub(super) async fn run(context: &Arc<Context>) {
    let mut watchers = JoinSet::new();
    if let Err(error) = host(context, &mut watchers).await {
        context.board.shard(0).error(&error);
    }
    // Who did not get in is through with joining too.
    context.settled.fetch_add(context.plan.clients + 1 - watchers.len(), Ordering::Relaxed);
    let mut phase = context.phase.clone();
    _ = phase.wait_for(|phase| *phase == Phase::Done).await;
    while watchers.join_next().await.is_some() {}
}

/// Plays the host of the match until the end of the run, or until its connection is lost.
async fn host(context: &Arc<Context>, watchers: &mut JoinSet<()>) -> Result<()> {
    let options = json!({
        "teams": TEAMS, "team": TEAMS[0], "seed": 7, "bots": "commander", "private": true, "observerDelayMs": 0,
    });
    let client = context.log_in("host").await?;
    let mut link = Link::new(client.create(&context.plan.room, &options).await?);
    let room_id = link.room().room_id().to_owned();
    for index in 0..context.plan.clients {
        let watcher = if index < context.plan.observers {
            let ticket = invitation(&mut link).await?;
            Watcher::Observer { client: context.log_in("observer").await?, ticket }
        } else {
            Watcher::Spectator
        };
        let (context, room_id) = (Arc::clone(context), room_id.clone());
        watchers.spawn(async move { watch(&context, index, &room_id, watcher).await });
    }
    context.settled.fetch_add(1, Ordering::Relaxed);
    let mut phase = context.phase.clone();
    loop {
        tokio::select! {
            happening = link.next() => still_open(&happening?)?,
            _ = phase.wait_for(|phase| *phase == Phase::Done) => return Ok(()),
        }
    }
}

/// A ticket for one observer, as soon as the host may ask for one.
async fn invitation(link: &mut Link) -> Result<Value> {
    loop {
        let seq = link.begin("inviteObserver", &json!({})).await?;
        let answer = loop {
            match link.next().await? {
                Happening::Answer(answer) if answer.seq == seq => break answer.result,
                other => still_open(&other)?,
            }
        };
        match answer {
            Ok(mut invited) => return Ok(invited["ticket"].take()),
            Err(Error::Call { code, .. }) if code == "rate_limited" || code == "busy" => sleep(AGAIN).await,
            Err(error) => return Err(error),
        }
    }
}

fn still_open(happening: &Happening) -> Result<()> {
    match happening {
        Happening::Room(Event::Closed { code }) => Err(Error::Closed { code: *code }),
        _ => Ok(()),
    }
}

/// Joins, reads until the end and counts how far apart the news comes.
async fn watch(context: &Context, index: usize, room_id: &str, watcher: Watcher) {
    let (client, options, part) = match watcher {
        Watcher::Spectator => {
            (context.client.clone(), json!({ "as": "spectator", "team": TEAMS[0] }), Part::Views)
        }
        Watcher::Observer { client, ticket } => {
            (client, json!({ "as": "observer", "ticket": ticket }), Part::Frames)
        }
    };
    let seat = context.ramp_up_as(index, &client, room_id, &options).await;
    context.settled.fetch_add(1, Ordering::Relaxed);
    let Some(mut seat) = seat else { return };
    if part == Part::Frames
        && let Err(error) = seat.room.send(OBSERVER, &json!({ "perspective": "all" })).await
    {
        return context.board.shard(index).error(&error);
    }
    let mut phase = context.phase.clone();
    let mut last = None;
    loop {
        let window = phase.borrow().window();
        let event = tokio::select! {
            event = seat.next(window) => event,
            _ = phase.wait_for(|phase| *phase == Phase::Done) => break,
        };
        if matches!(&event, Event::Message { kind, .. } if *kind == RESULT) {
            context.board.shard(index).fault("not_observed");
        }
        let is_news = match &event {
            Event::Closed { .. } => return,
            Event::Message { kind, .. } => *kind == VIEW || *kind == OBSERVER,
            _ => false,
        };
        if is_news {
            let now = Instant::now();
            let before = last.replace(now).filter(|at| window.is_some_and(|window| window.contains(*at)));
            if let Some(before) = before {
                context.board.shard(index).part(part, now.duration_since(before));
            }
        }
    }
    seat.leave().await;
}
