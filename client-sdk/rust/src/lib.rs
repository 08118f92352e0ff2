//! A small client for rooms that speak the Colyseus protocol, and for PlayerThree in them: operations, views, observers, agents.
//!
//! It is made to run by the thousand in one process: a [`Room`] is one socket without a task of its own, it answers
//! pings while it is read, keeps small buffers, and shares the bytes of a received message instead of copying them.
//!
//! ```no_run
//! # async fn example() -> Result<(), playerthree_client::Error> {
//! use playerthree_client::{Client, Event};
//!
//! let client = Client::new("http://127.0.0.1:2567")?;
//! let mut room = client.join_or_create("chat", &serde_json::json!({ "name": "ada" })).await?;
//! room.send("say", "hello").await?;
//! while let Event::Message { kind, payload } = room.next().await {
//!     if kind == "said" {
//!         let said: serde_json::Value = payload.decode()?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! In a game's room a [`playerthree::Link`] adds operations, views and observer frames, and a [`playerthree::Agent`]
//! plays a seat over MCP:
//!
//! ```no_run
//! # async fn example() -> Result<(), playerthree_client::Error> {
//! use playerthree_client::playerthree::{Agent, Happening, Link};
//! use playerthree_client::{Client, Event};
//! use serde_json::{Value, json};
//!
//! let server = Client::new("http://127.0.0.1:2567")?;
//! let login: Value = server.post("/demo/login", &json!({ "name": "ada" })).await?;
//! let client = server.with_token(login["token"].as_str().unwrap_or_default())?;
//!
//! let options = json!({ "team": "red", "role": "ground" });
//! let mut link = Link::new(client.create("agent-command", &options).await?);
//! let minted = link.ask("mint", &json!({ "role": "air" })).await?;
//! let mut agent = Agent::new(&server, minted["token"].as_str().unwrap_or_default())?;
//! let observed = agent.tool("game_observe", &json!({})).await?;
//! loop {
//!     match link.next().await? {
//!         Happening::View(team) => println!("{:?}", link.view(&team)),
//!         Happening::Room(Event::Closed { .. }) => break,
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The crate never retries, reconnects or logs, and knows no schema state: [`Event::State`] and [`Event::Patch`] hand
//! over its bytes. It speaks no TLS; put a proxy in front for that.

mod client;
mod config;
mod endpoint;
mod error;
mod frame;
mod http1;
mod message;
pub mod playerthree;
mod room;
mod seat;

pub use client::{Client, Method};
pub use config::{Config, Elsewhere};
pub use error::Error;
pub use message::{Kind, Payload};
pub use room::{Event, Room, Traffic};
pub use seat::Seat;

/// The result of a client operation.
pub type Result<T> = std::result::Result<T, Error>;
