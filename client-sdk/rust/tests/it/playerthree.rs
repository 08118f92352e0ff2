//! Calls and views through a real room, against a host that answers as the test wants (§4).

use crate::support::{Host, expect_message};
use playerthree_client::playerthree::{Happening, Link, VIEW, ViewError};
use playerthree_client::{Error, Event};
use serde_json::{Value, json};

async fn link(host: &Host) -> anyhow::Result<Link> {
    let mut room = host.client()?.create("open", &json!({})).await?;
    expect_message(&mut room, "welcome").await?;
    Ok(Link::new(room))
}

async fn show(link: &mut Link, version: u64, content: (&str, Value)) -> anyhow::Result<()> {
    let (member, content) = content;
    let message = json!({ "op": "view", "team": "x", "version": version, member: content });
    link.room_mut().send(VIEW, &message).await?;
    Ok(())
}

#[tokio::test]
async fn a_call_gets_its_answer_and_keeps_what_came_before_it() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut link = link(&host).await?;
    link.room_mut().send("say", "first").await?;
    show(&mut link, 1, ("view", json!({ "board": "..." }))).await?;
    let args = json!({ "since": 3 });
    assert_eq!(link.call("player", "echo", &args).await?, args);
    let Happening::Room(Event::Message { kind, .. }) = link.next().await? else {
        anyhow::bail!("no message")
    };
    assert_eq!(kind, "say");
    let Happening::View(team) = link.next().await? else { anyhow::bail!("no view") };
    assert_eq!(link.view(&team).map(|view| &view.value), Some(&json!({ "board": "..." })));
    Ok(())
}

#[tokio::test]
async fn a_refused_call_carries_the_hosts_code() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut link = link(&host).await?;
    let Err(Error::Call { code, .. }) = link.call("player", "no such method", &json!({})).await else {
        anyhow::bail!("no refusal")
    };
    assert_eq!(code, "bad_message");
    Ok(())
}

#[tokio::test]
async fn calls_in_flight_together_are_told_apart() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut link = link(&host).await?;
    let call = |n: u32| json!({ "role": "player", "method": "echo", "args": n });
    let first = link.begin("call", &call(1)).await?;
    let second = link.begin("call", &call(2)).await?;
    for (seq, data) in [(first, 1), (second, 2)] {
        let Happening::Answer(answer) = link.next().await? else { anyhow::bail!("no answer") };
        assert_eq!((answer.seq, answer.result?), (seq, json!(data)));
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_is_an_error() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut link = link(&host).await?;
    assert_eq!(link.call("player", "strange", &json!({})).await.unwrap_err().code(), "answer");
    Ok(())
}

#[tokio::test]
async fn a_gap_in_the_view_stream_is_an_error_and_drops_the_view() -> anyhow::Result<()> {
    let host = Host::start().await?;
    let mut link = link(&host).await?;
    let (old, new) = (json!({ "turn": "x", "tick": 1 }), json!({ "turn": "o", "tick": 2 }));
    let delta =
        playerthree_delta::diff(&old, &new).map(playerthree_delta::Delta::into_wire).unwrap_or_default();
    show(&mut link, 5, ("view", old)).await?;
    show(&mut link, 6, ("delta", delta.clone())).await?;
    show(&mut link, 8, ("delta", delta)).await?;
    for _ in 0..2 {
        assert!(matches!(link.next().await?, Happening::View(_)));
    }
    assert_eq!(link.view("x").map(|view| (view.version, &view.value)), Some((6, &new)));
    assert!(matches!(link.next().await, Err(Error::View(ViewError::Gap))));
    assert!(link.view("x").is_none());
    Ok(())
}
