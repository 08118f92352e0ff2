//! A room whose state clients see, change by messages, and see in part: what the tests of state with the official SDKs
//! talk to.
//!
//! `cargo run -p playerthree-rooms --example stateful -- [port]`. Ends on SIGINT and SIGTERM.

use axum::routing::get;
use playerthree_rooms::{
    AuthRequest, BadMessage, CloseReason, Config, Cx, Definition, Join, Message, MessageType, Refusal, Room,
    Server, SessionId, serve,
};
use playerthree_rooms_state::{List, Map, Number, Set, State, Synced, Synchronized, ViewMap};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

#[derive(State, Default)]
struct Place {
    x: f32,
    y: f32,
}

#[derive(State, Default)]
struct Hero {
    #[state(extends)]
    place: Place,
    name: String,
    items: List<String>,
    title: Option<String>,
    #[state(view)]
    hand: List<u8>,
}

#[derive(State, Default)]
struct World {
    heroes: Map<Hero>,
    scores: Map<Number>,
    tags: Set<String>,
    ghosts: ViewMap<Place>,
    #[state(rename = "lastWords")]
    last_words: Option<String>,
}

/// What a client asks the room to do.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "camelCase")]
enum Deed {
    Put { hero: String, name: String },
    Move { hero: String, dx: f32, dy: f32 },
    Entitle { hero: String, title: Option<String> },
    Give { hero: String, item: String },
    Take { hero: String, index: usize },
    Deal { hero: String, card: u8 },
    Remove { hero: String },
    Score { hero: String, points: Option<f64> },
    Tag { tag: String },
    Untag { tag: String },
    Haunt { ghost: String, x: f32 },
    Leave { ghost: String },
    See { hero: Option<String>, ghost: Option<String> },
    Hide { hero: Option<String>, ghost: Option<String> },
    Say { words: String },
}

struct Stateful;

struct Stage {
    world: Synced<World>,
}

impl Definition for Stateful {
    type Room = Stage;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, _: &mut Cx<'_, Stage>, _: &Value) -> Result<Stage, Refusal> {
        Ok(Stage { world: Synced::new(World::default()) })
    }
}

impl Room for Stage {
    type Event = ();
    type Auth = ();

    fn state(&mut self) -> Option<&mut dyn Synchronized> {
        Some(&mut self.world)
    }

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        if message.kind != MessageType::Name("do") {
            return Err(BadMessage::UnknownType);
        }
        for deed in message.payload.decode::<Vec<Deed>>()? {
            self.act(cx, client, deed);
        }
        Ok(())
    }

    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        cx.allow_reconnection(client, Duration::from_secs(20));
    }
}

impl Stage {
    fn act(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, deed: Deed) {
        let World { heroes, scores, tags, ghosts, last_words } = &mut *self.world;
        match deed {
            Deed::Put { hero, name } => drop(heroes.insert(hero, Hero { name, ..Hero::default() })),
            Deed::Move { hero, dx, dy } => {
                if let Some(hero) = heroes.get_mut(&hero) {
                    hero.place.x += dx;
                    hero.place.y += dy;
                }
            }
            Deed::Entitle { hero, title } => {
                if let Some(hero) = heroes.get_mut(&hero) {
                    hero.title = title;
                }
            }
            Deed::Give { hero, item } => {
                if let Some(hero) = heroes.get_mut(&hero) {
                    hero.items.push(item);
                }
            }
            Deed::Take { hero, index } => {
                if let Some(hero) = heroes.get_mut(&hero) {
                    hero.items.remove(index);
                }
            }
            Deed::Deal { hero, card } => {
                if let Some(hero) = heroes.get_mut(&hero) {
                    hero.hand.push(card);
                }
            }
            Deed::Remove { hero } => drop(heroes.remove(&hero)),
            Deed::Score { hero, points: Some(points) } => drop(scores.insert(hero, Number(points))),
            Deed::Score { hero, points: None } => drop(scores.remove(&hero)),
            Deed::Tag { tag } => drop(tags.insert(tag)),
            Deed::Untag { tag } => drop(tags.remove(&tag)),
            Deed::Haunt { ghost, x } => drop(ghosts.insert(ghost, Place { x, y: 0.0 })),
            Deed::Leave { ghost } => drop(ghosts.remove(&ghost)),
            Deed::See { hero, ghost } => {
                let ids = [hero.and_then(|key| heroes.id(&key)), ghost.and_then(|key| ghosts.id(&key))];
                if let Some(view) = cx.view(client) {
                    for id in ids.into_iter().flatten() {
                        view.add(id);
                    }
                }
            }
            Deed::Hide { hero, ghost } => {
                let ids = [hero.and_then(|key| heroes.id(&key)), ghost.and_then(|key| ghosts.id(&key))];
                if let Some(view) = cx.view(client) {
                    ids.into_iter().flatten().for_each(|id| view.remove(id));
                }
            }
            Deed::Say { words } => {
                // Clients hear of the words once their state has them.
                let said = cx.after_patch().broadcast("said", &words, &[]);
                *last_words = said.is_ok().then_some(words);
            }
        }
    }
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the address is this program's output")]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let port: u16 = std::env::args().nth(1).map_or(Ok(2567), |port| port.parse())?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let server = Server::builder(Config::default()).define("stateful", Stateful).build()?;
    let app = server.router().route("/", server.root(get("the page")));
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async move {
        terminate.recv().await;
    };
    serve(listener, app, server.config().serve, stop).await;
    let stragglers = server.shutdown(Duration::from_secs(5)).await;
    anyhow::ensure!(stragglers.is_empty(), "not everything ended: {stragglers:?}");
    Ok(())
}
