//! `subscriptions/listen` (§17): only the credential that something happened to is told, by address alone; a stream ends
//! with its credential or its role; and there are so many of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use http::StatusCode;
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Name, Seat};
use playerthree_host::{CommanderGrant, MatchDoor};
use playerthree_mcp::Limits;
use playerthree_session::{
    CommanderId, CommanderKind, Draft, Isolation, Metadata, OwnerId, Surface, TellCommanders,
};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use support::doors::{Actor, Script};
use support::{Listener, Post, Table};

fn ann() -> OwnerId {
    OwnerId("ann".into())
}

fn listen(token: &str, uris: &[String]) -> Post {
    let wanted = json!({ "notifications": { "resourceSubscriptions": uris, "toolsListChanged": true } });
    Post::new(token, "subscriptions/listen", wanted)
}

/// One of Ann's commanders with its token.
struct Commander {
    id: CommanderId,
    token: String,
}

/// An endpoint with commanders of one owner.
struct Roster(Table);

impl Roster {
    fn new() -> Self {
        Self(Table::new(Arc::new(AgentCommand), "red", Arc::new(Script::acks()), Limits::default()))
    }

    fn add(&self, roles: &[&str]) -> Commander {
        let draft = Draft {
            name: "Falcon".into(),
            roles: roles.iter().map(|role| (*role).into()).collect(),
            isolation: Isolation::Independent,
            kind: CommanderKind::Agent,
            metadata: Metadata::default(),
        };
        let (id, token) = self.0.agents.commanders().add(&self.0.surface, &ann(), draft).unwrap();
        Commander { id, token: token.reveal().to_owned() }
    }

    fn tell(&self, to: &Commander) {
        let tell = json!({ "commanders": [to.id.0], "text": "hold the bridge" });
        let tell = TellCommanders::parse(&self.0.surface, tell).unwrap();
        self.0.agents.commanders().tell(&self.0.surface, &ann(), &tell).unwrap();
    }

    /// The addresses of a token's status resources, in the order of its roles.
    async fn uris(&self, token: &str) -> Vec<String> {
        let listed = self.0.send(Post::new(token, "resources/list", json!({}))).await.result();
        let all = listed["resources"].as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap());
        all.filter(|uri| uri.starts_with("playerthree://")).map(str::to_owned).collect()
    }

    async fn status(&self, token: &str, uri: &str) -> Value {
        let read = self.0.send(Post::new(token, "resources/read", json!({ "uri": uri }))).await.result();
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
    }

    async fn open(&self, token: &str) -> Listener {
        let uris = self.uris(token).await;
        self.0.listen(listen(token, &uris)).await
    }

    fn connect(&self, to: &Commander, roles: &[&str]) -> (Arc<CommanderGrant>, String) {
        let commanders = self.0.agents.commanders();
        let roles: Vec<Name> = roles.iter().map(|role| (*role).into()).collect();
        let grant = commanders.connect(&self.0.surface, &ann(), &to.id, &roles).unwrap();
        let (token, _) = commanders.issue(&grant, Duration::from_secs(3600));
        (grant, token.reveal().to_owned())
    }
}

/// §17: an owner's message is told to the commander that it is for, and to no other commander of the same owner. Every
/// credential has its own addresses, and somebody else's are as good as none.
#[tokio::test]
async fn only_the_affected_credential_is_told() {
    let roster = Roster::new();
    let (first, second) = (roster.add(&["ground"]), roster.add(&["ground"]));
    let (own, others) = (roster.uris(&first.token).await, roster.uris(&second.token).await);
    assert!(own.len() == 1 && others.len() == 1 && own != others);

    let asked = [own[0].clone(), others[0].clone(), own[0].clone(), "playerthree://seat/none".into()];
    let mut one = roster.0.listen(listen(&first.token, &asked)).await;
    assert_eq!(one.accepted, json!({ "resourceSubscriptions": [own[0], own[0]] }));
    let mut two = roster.open(&second.token).await;

    roster.tell(&first);
    assert_eq!(one.updated().await.as_ref(), Some(&own[0]));
    roster.tell(&second);
    assert_eq!(two.updated().await.as_ref(), Some(&others[0]));
    // Each was told once, or one of these would not be the end.
    for to in [&first, &second] {
        roster.0.agents.commanders().rotate(&roster.0.surface, &ann(), &to.id).unwrap();
    }
    assert_eq!((one.updated().await, two.updated().await), (None, None));
}

/// §17: a status is no wait: it says how much is unread, and whoever reads it takes nothing. What nobody read meanwhile is
/// one notification.
#[tokio::test]
async fn reading_a_status_takes_nothing_from_the_wait() {
    let roster = Roster::new();
    let commander = roster.add(&["air", "ground"]);
    let uris = roster.uris(&commander.token).await;
    assert_eq!(uris.len(), 2);
    let mut stream = roster.open(&commander.token).await;
    roster.tell(&commander);
    roster.tell(&commander);
    let mut told = vec![stream.updated().await.unwrap(), stream.updated().await.unwrap()];
    told.sort();
    let mut both = uris.clone();
    both.sort();
    assert_eq!(told, both);
    let unread = json!({ "phase": "lobby", "tick": 0, "unreadOwnerMessages": 2 });
    for _ in 0..3 {
        assert_eq!(roster.status(&commander.token, &uris[0]).await, unread);
    }
    let wait = json!({ "name": "game_wait", "arguments": { "seconds": 30, "role": "air" } });
    let waited = roster.0.send(Post::new(&commander.token, "tools/call", wait)).await.structured();
    assert_eq!(waited["messages"].as_array().unwrap().len(), 2);
    let of_air = stream.updated().await.unwrap();
    assert_eq!(roster.status(&commander.token, &of_air).await["unreadOwnerMessages"], 0);
}

/// §4, §17: a commander's status goes with its lane: into a match, to its end, and back once the end was told.
#[tokio::test]
async fn a_status_follows_its_lane_into_a_match_and_out_again() {
    let surface = Arc::new(Surface::new(Arc::new(TicTacToe)).unwrap());
    let actor = Actor::start(&surface, ["x", "o"]);
    let roster = Roster(Table::new(Arc::new(TicTacToe), "x", actor.clone(), Limits::default()));
    let commander = roster.add(&["player"]);
    let (token, uri) = (&commander.token, roster.uris(&commander.token).await.remove(0));
    let mut stream = roster.open(token).await;

    let (commanders, surface) = (roster.0.agents.commanders(), &roster.0.surface);
    let (seat, door) = (Seat::new("x", "player"), actor as Arc<dyn MatchDoor>);
    commanders.seat(surface, (&ann(), "Ann"), &commander.id, &seat, &"one".into(), door).unwrap();
    commanders.seated(surface, &commander.id, &seat);
    assert_eq!(stream.updated().await.as_ref(), Some(&uri));
    let playing = roster.status(token, &uri).await;
    assert_eq!((&playing["phase"], &playing["team"]), (&json!("match"), &json!("x")));
    assert_eq!(playing["outcome"], "running");

    let resign = json!({ "name": "game_act", "arguments": { "intents": [{ "kind": "resign" }] } });
    roster.0.send(Post::new(token, "tools/call", resign)).await.structured();
    assert_eq!(stream.updated().await.as_ref(), Some(&uri));
    commanders.finished(surface, &commander.id, &seat, "one");
    let over = roster.status(token, &uri).await;
    assert_eq!((&over["phase"], &over["outcome"]), (&json!("match"), &json!("loss")));

    let wait = json!({ "name": "game_wait", "arguments": { "seconds": 0 } });
    loop {
        let waited = roster.0.send(Post::new(token, "tools/call", wait.clone())).await.structured();
        if waited["wake"] == "ended" {
            break;
        }
    }
    assert_eq!(stream.updated().await.as_ref(), Some(&uri));
    assert_eq!(roster.status(token, &uri).await["phase"], "lobby");
}

/// §17: rotation, revocation and the end of a commander stop delivery at once, and what is open ends.
#[tokio::test]
async fn a_stream_ends_with_its_credential() {
    let roster = Roster::new();
    let (rotated, removed) = (roster.add(&["air"]), roster.add(&["air"]));
    let connected = roster.add(&["air", "ground"]);
    let (grant, access) = roster.connect(&connected, &["air"]);
    let mut streams =
        [roster.open(&rotated.token).await, roster.open(&removed.token).await, roster.open(&access).await];
    let (commanders, surface) = (roster.0.agents.commanders(), &roster.0.surface);
    commanders.rotate(surface, &ann(), &rotated.id).unwrap();
    commanders.remove(surface, &ann(), &removed.id).unwrap();
    grant.revoke();
    roster.tell(&rotated);
    for stream in &mut streams {
        assert_eq!(stream.updated().await, None);
    }
}

/// §17: a stream of a role that was taken away ends; streams of roles that stay go on.
#[tokio::test]
async fn a_stream_ends_with_its_role() {
    let roster = Roster::new();
    let commander = roster.add(&["air", "ground"]);
    let (grant, access) = roster.connect(&commander, &["air", "ground"]);
    let uris = roster.uris(&access).await;
    let mut both = roster.0.listen(listen(&access, &uris)).await;
    let mut ground = roster.0.listen(listen(&access, &uris[..1])).await;
    grant.set_roles(&["ground".into()]).unwrap();
    assert_eq!(both.updated().await, None);
    assert_eq!(roster.uris(&access).await, uris[..1]);
    let read = Post::new(&access, "resources/read", json!({ "uri": uris[1] }));
    assert_eq!(roster.0.send(read).await.code(), Some(-32602));
    roster.tell(&commander);
    assert_eq!(ground.updated().await.as_ref(), Some(&uris[0]));
    assert_eq!(
        roster.0.listen(listen(&access, &uris)).await.accepted,
        json!({ "resourceSubscriptions": uris[..1] })
    );
}

/// §15: so many streams for each credential; a client that goes away gives its place back.
#[tokio::test]
async fn streams_of_one_credential_are_bounded() {
    let roster = Roster::new();
    let (commander, other) = (roster.add(&["air"]), roster.add(&["air"]));
    let uris = roster.uris(&commander.token).await;
    let mut open = Vec::new();
    for _ in 0..Limits::default().streams_in_flight {
        open.push(roster.open(&commander.token).await);
    }
    let refused = roster.0.send(listen(&commander.token, &uris)).await;
    assert_eq!((refused.status, refused.code()), (StatusCode::TOO_MANY_REQUESTS, Some(-32000)));
    roster.open(&other.token).await;
    open.pop();
    while roster.0.send_head(listen(&commander.token, &uris)).await != StatusCode::OK {
        tokio::task::yield_now().await;
    }
}

/// §20: listening claims a seat token like any other request that is carried out.
#[tokio::test]
async fn listening_claims_a_seat_token() {
    let table = Table::scripted(Script::acks());
    let response = table.head(listen(&table.token, &[])).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.headers().contains_key("mcp-session-id"));
    let refused = table.send(listen(&table.token, &[])).await;
    assert_eq!((refused.status, refused.code()), (StatusCode::NOT_FOUND, Some(-32001)));
}
