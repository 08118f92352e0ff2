//! §4 "Agent sessions", §5, §20.3: commander tokens, their lanes between matches, and what reaches whom.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

use playerthree_agent_command::AgentCommand;
use playerthree_game::{Name, Seat};
use playerthree_host::{
    AgentCall, Agents, Answer, CommanderGrant, MatchDoor, PolicyPlaces, SaidInLobby, StatusBoard, Token,
};
use playerthree_sandbox::Workers;
use playerthree_session::{
    CallError, Code, CommanderId, CommanderKind, Draft, Isolation, Message, Metadata, OwnerId, Reservation,
    Settings, StartKind, StartsWhen, Surface, TellCommanders,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// A way into a match that the test answers for.
struct Desk {
    calls: mpsc::UnboundedSender<AgentCall>,
    followed: mpsc::UnboundedSender<(CommanderId, Settings)>,
    told: mpsc::UnboundedSender<(CommanderId, Seat, Message)>,
    said: mpsc::UnboundedSender<SaidInLobby>,
}

impl MatchDoor for Desk {
    fn call(&self, call: AgentCall) -> Result<(), CallError> {
        self.calls.send(call).map_err(|_| Code::BadToken.into())
    }

    fn follow(&self, commander: CommanderId, settings: Settings) -> Result<(), CallError> {
        self.followed.send((commander, settings)).map_err(|_| Code::BadToken.into())
    }

    fn tell(&self, commander: CommanderId, seat: Seat, message: Message) -> Result<(), CallError> {
        self.told.send((commander, seat, message)).map_err(|_| Code::BadToken.into())
    }

    fn said(&self, said: SaidInLobby) -> Result<(), CallError> {
        self.said.send(said).map_err(|_| Code::BadToken.into())
    }

    fn board(&self) -> Arc<StatusBoard> {
        Arc::default()
    }
}

struct House {
    agents: Agents,
    surface: Arc<Surface>,
    calls: mpsc::UnboundedReceiver<AgentCall>,
    followed: mpsc::UnboundedReceiver<(CommanderId, Settings)>,
    told: mpsc::UnboundedReceiver<(CommanderId, Seat, Message)>,
    said: mpsc::UnboundedReceiver<SaidInLobby>,
    door: Arc<Desk>,
}

fn ann() -> OwnerId {
    OwnerId("ann".into())
}

fn ground() -> Seat {
    Seat::new("red", "ground")
}

impl House {
    fn new() -> Self {
        let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
        let (to_calls, calls) = mpsc::unbounded_channel();
        let (to_followed, followed) = mpsc::unbounded_channel();
        let (to_told, told) = mpsc::unbounded_channel();
        let (to_said, said) = mpsc::unbounded_channel();
        let door = Desk { calls: to_calls, followed: to_followed, told: to_told, said: to_said };
        let agents = Agents::new(PolicyPlaces::new(8, Workers::of_this_program()));
        Self { agents, surface, calls, followed, told, said, door: Arc::new(door) }
    }

    fn add(&self, name: &str) -> (CommanderId, Token) {
        let draft = Draft {
            name: name.into(),
            roles: vec!["ground".into(), "air".into()],
            isolation: Isolation::Independent,
            kind: CommanderKind::Agent,
            metadata: Metadata::default(),
        };
        self.agents.commanders().add(&self.surface, &ann(), draft).unwrap()
    }

    fn grant(&self, token: &Token) -> Arc<CommanderGrant> {
        self.agents.commanders().find(token.reveal()).unwrap()
    }

    fn reserve(&self, id: &CommanderId, team: Option<&str>) {
        let start = StartsWhen { kind: StartKind::Host, at: None };
        let wanted = team.map(|team| Reservation { team: team.into(), summary: None, start });
        self.agents.commanders().reserve(&self.surface, &ann(), id, "ground", wanted).unwrap();
    }

    fn seat(&self, id: &CommanderId, match_id: &str) -> Result<(), CallError> {
        let door = Arc::clone(&self.door) as Arc<dyn MatchDoor>;
        let commanders = self.agents.commanders();
        commanders.seat(&self.surface, (&ann(), "Ann"), id, &ground(), &match_id.into(), door)?;
        commanders.seated(&self.surface, id, &ground());
        Ok(())
    }

    /// The next call that reaches the match.
    async fn arrived(&mut self) -> AgentCall {
        self.calls.recv().await.unwrap()
    }
}

/// Starts a call of the lane `ground` and lets it run up to its first wait.
async fn begin(
    grant: &Arc<CommanderGrant>,
    method: &'static str,
    args: Value,
) -> tokio::task::JoinHandle<Answer> {
    let grant = Arc::clone(grant);
    let call = tokio::spawn(async move { grant.call(&Name::from("ground"), method, args).await });
    tokio::task::yield_now().await;
    call
}

async fn ask(grant: &Arc<CommanderGrant>, method: &'static str, args: Value) -> Answer {
    begin(grant, method, args).await.await.unwrap()
}

/// §4 "Agent sessions": what answers between matches, and with which codes the rest is refused.
#[tokio::test(start_paused = true)]
async fn between_matches_a_commander_reads_and_waits() {
    let house = House::new();
    let (_, token) = house.add("Falcon");
    let grant = house.grant(&token);
    let briefing = ask(&grant, "briefing", json!({})).await.unwrap();
    assert_eq!((&briefing["phase"], briefing["seat"].get("team")), (&json!("lobby"), None));
    assert_eq!(briefing["teams"].as_array().unwrap().len(), house.surface.manifest.teams.len());
    for method in ["observe", "ready"] {
        let state = ask(&grant, method, json!({})).await.unwrap();
        assert_eq!((&state["phase"], &state["seat"]), (&json!("lobby"), &Value::Null), "{method}");
    }
    let skill = json!({ "name": "playerthree-commander", "path": "SKILL.md" });
    assert!(ask(&grant, "skill", skill).await.unwrap()["text"].is_string());
    let acts = ask(&grant, "act", json!({ "intents": [{}] })).await;
    assert_eq!(acts.unwrap_err().code, Code::NotInMatch);
    assert_eq!(ask(&grant, "wait", json!({ "seconds": 61 })).await.unwrap_err().code, Code::Invalid);
    let timed_out = ask(&grant, "wait", json!({ "seconds": 20 })).await.unwrap();
    assert_eq!(timed_out["startsWhen"]["kind"], "seat");
    let no_such = grant.call(&Name::from("pope"), "observe", json!({})).await;
    assert_eq!(no_such.unwrap_err().code, Code::Forbidden);
}

/// §4 "Lobby phase": a new seat ends a wait at once, and is told once.
#[tokio::test(start_paused = true)]
async fn a_reservation_ends_a_lobby_wait() {
    let house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    house.reserve(&id, Some("red"));
    let state = wait.await.unwrap().unwrap();
    assert_eq!(state["seat"], json!({ "team": "red", "role": "ground" }));
    let again = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(!again.is_finished());
    house.reserve(&id, None);
    assert_eq!(again.await.unwrap().unwrap()["seat"], Value::Null);
}

/// §4: a wait that began in the lobby goes on in the match that seats its lane, with the time it has left.
#[tokio::test(start_paused = true)]
async fn a_lobby_wait_goes_on_in_the_match() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    tokio::time::advance(Duration::from_secs(20)).await;
    house.seat(&id, "one").unwrap();
    let call = house.arrived().await;
    assert_eq!((call.method.as_str(), &call.seat), ("wait", &ground()));
    assert!(call.args["seconds"].as_f64().unwrap() <= 40.0);
    call.reply.send(Ok(json!({ "phase": "match" }))).unwrap();
    assert_eq!(wait.await.unwrap().unwrap()["phase"], "match");
}

/// §4 "Mid-match seat assignment": the wait of a lane that loses its seat returns the unseated lobby state; other calls
/// are in no match.
#[tokio::test(start_paused = true)]
async fn a_lost_seat_returns_its_agent_to_the_lobby() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    house.seat(&id, "one").unwrap();
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    let act = begin(&grant, "act", json!({ "intents": [{}] })).await;
    let calls = [house.arrived().await, house.arrived().await];
    house.agents.commanders().release(&house.surface, &id, &ground(), "one", None);
    for call in calls {
        assert!(call.revoked.is_cancelled(), "a call in the mailbox is not carried out any more");
        call.reply.send(Err(Code::BadToken.into())).unwrap();
    }
    assert_eq!(wait.await.unwrap().unwrap()["seat"], Value::Null);
    assert_eq!(act.await.unwrap().unwrap_err().code, Code::NotInMatch);
    house.seat(&id, "two").unwrap();
}

/// §4: the terminal result waits for the next wait, once, and the commander may be seated elsewhere meanwhile.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_match_waits_for_its_agent() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    house.seat(&id, "one").unwrap();
    house.agents.commanders().finished(&house.surface, &id, &ground(), "one");
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    let call = house.arrived().await;
    assert_eq!(call.args["seconds"], 0, "it has nothing to wait for");
    call.reply.send(Ok(json!({ "phase": "match", "wake": "ended" }))).unwrap();
    assert_eq!(wait.await.unwrap().unwrap()["wake"], "ended");
    assert_eq!(ask(&grant, "wait", json!({ "seconds": 0 })).await.unwrap()["phase"], "lobby");
    house.seat(&id, "two").unwrap();
}

/// §5: rotation ends the old token at once, in the lobby and in the middle of a match; the new one has the same lanes.
#[tokio::test(start_paused = true)]
async fn rotation_ends_the_old_token_at_once() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let old = house.grant(&token);
    let waits = begin(&old, "wait", json!({ "seconds": 60 })).await;
    house.seat(&id, "one").unwrap();
    let in_match = house.arrived().await;
    let act = begin(&old, "act", json!({ "intents": [{}] })).await;
    let queued = house.arrived().await;
    let fresh = house.agents.commanders().rotate(&house.surface, &ann(), &id).unwrap();
    assert_eq!(waits.await.unwrap().unwrap_err().code, Code::BadToken);
    assert_eq!(act.await.unwrap().unwrap_err().code, Code::BadToken);
    assert!(queued.revoked.is_cancelled() && in_match.reply.is_closed());
    assert!(house.agents.commanders().find(token.reveal()).is_none());
    assert_eq!(ask(&old, "observe", json!({})).await.unwrap_err().code, Code::BadToken);
    let grant = house.grant(&fresh);
    assert_eq!(grant.commands()[0].1, Some("red".into()));
    let observe = begin(&grant, "observe", json!({})).await;
    let call = house.arrived().await;
    assert!(!call.revoked.is_cancelled());
    call.reply.send(Ok(json!({}))).unwrap();
    observe.await.unwrap().unwrap();
}

/// §5: nobody rotates or removes somebody else's commander, and a removed one's token is dead.
#[tokio::test(start_paused = true)]
async fn tokens_end_with_their_commander_and_only_by_its_owner() {
    let house = House::new();
    let (id, token) = house.add("Falcon");
    let bob = OwnerId("bob".into());
    let commanders = house.agents.commanders();
    for who in [id.clone(), CommanderId("cmd_none".into())] {
        let rotated = commanders.rotate(&house.surface, &bob, &who).map(|_| ());
        assert_eq!(rotated.unwrap_err(), Code::Forbidden.into());
        assert_eq!(commanders.remove(&house.surface, &bob, &who).unwrap_err(), Code::Forbidden.into());
    }
    assert!(commanders.find(token.reveal()).is_some());
    house.seat(&id, "one").unwrap();
    assert_eq!(commanders.remove(&house.surface, &ann(), &id).unwrap_err().code, Code::Busy);
    commanders.release(&house.surface, &id, &ground(), "one", None);
    commanders.remove(&house.surface, &ann(), &id).unwrap();
    assert!(commanders.find(token.reveal()).is_none());
    assert!(!format!("{:?}", house.agents).contains(token.reveal()), "no token prints itself");
}

/// §4, §20.3: commanders of one owner and one role share nothing: neither seats nor waits nor routing.
#[tokio::test(start_paused = true)]
async fn commanders_of_the_same_role_are_apart() {
    let mut house = House::new();
    let ((one, token_one), (_, token_two)) = (house.add("Falcon"), house.add("Heron"));
    let (first, second) = (house.grant(&token_one), house.grant(&token_two));
    let idle = begin(&second, "wait", json!({ "seconds": 60 })).await;
    house.seat(&one, "one").unwrap();
    let observe = begin(&first, "observe", json!({})).await;
    house.arrived().await.reply.send(Ok(json!({ "observation": {} }))).unwrap();
    assert!(observe.await.unwrap().is_ok());
    assert_eq!(ask(&second, "observe", json!({})).await.unwrap()["phase"], "lobby");
    assert!(!idle.is_finished(), "somebody else's seat wakes nobody");
}

/// §15.5: at most two lobby waits a lane; a third is busy until one ends.
#[tokio::test(start_paused = true)]
async fn lobby_waits_are_bounded() {
    let house = House::new();
    let (_, token) = house.add("Falcon");
    let grant = house.grant(&token);
    let first = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    let _second = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    assert_eq!(ask(&grant, "wait", json!({ "seconds": 60 })).await.unwrap_err().code, Code::Busy);
    first.abort();
    _ = first.await;
    let third = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    assert!(!third.is_finished());
}

/// A room that vanished holds nobody: the commander can be seated again.
#[tokio::test(start_paused = true)]
async fn a_match_that_is_gone_frees_its_commanders() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    house.seat(&id, "one").unwrap();
    house.calls.close();
    assert_eq!(ask(&grant, "wait", json!({ "seconds": 9 })).await.unwrap()["phase"], "lobby");
    house.seat(&id, "two").unwrap();
}

/// §7: a patch reaches the match that the commander plays, and its briefing in the lobby.
#[tokio::test(start_paused = true)]
async fn changed_settings_reach_the_live_seat_and_the_next_briefing() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    let patch = json!({ "scopes": ["policy"] });
    let commanders = house.agents.commanders();
    commanders.patch(&house.surface, &ann(), &id, &patch).unwrap();
    assert!(house.followed.try_recv().is_err(), "it plays nowhere");
    assert_eq!(ask(&grant, "briefing", json!({})).await.unwrap()["scopes"], json!(["policy"]));
    house.seat(&id, "one").unwrap();
    house.agents.commanders().patch(&house.surface, &ann(), &id, &json!({ "scopes": [] })).unwrap();
    let (who, settings) = house.followed.try_recv().unwrap();
    assert_eq!((who, settings.scopes().len()), (id, 0));
}

impl House {
    fn tell(&self, id: &CommanderId, text: &str) {
        let message = json!({ "commanders": [id.0], "text": text });
        let tell = TellCommanders::parse(&self.surface, message).unwrap();
        self.agents.commanders().tell(&self.surface, &ann(), &tell).unwrap();
    }
}

fn texts(answer: &Value) -> Vec<&str> {
    let messages = answer["messages"].as_array().into_iter().flatten();
    messages.map(|message| message["text"].as_str().unwrap()).collect()
}

/// §4, §12: between matches a message ends a wait of each addressed lane, is read once, and is read by an observation too.
#[tokio::test(start_paused = true)]
async fn a_message_ends_a_lobby_wait_and_comes_once() {
    let house = House::new();
    let ((id, token), (_, other)) = (house.add("Falcon"), house.add("Heron"));
    let (grant, stranger) = (house.grant(&token), house.grant(&other));
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    let elsewhere = begin(&stranger, "wait", json!({ "seconds": 60 })).await;
    house.tell(&id, "look north");
    let told = wait.await.unwrap().unwrap();
    assert_eq!(
        (&told["phase"], &told["wake"], texts(&told)),
        (&json!("lobby"), &json!("owner_message"), vec!["look north"])
    );
    assert!(!elsewhere.is_finished(), "nobody else's wait ends");
    assert_eq!(ask(&grant, "wait", json!({ "seconds": 1 })).await.unwrap().get("messages"), None);
    house.tell(&id, "look south");
    assert_eq!(ask(&grant, "ready", json!({})).await.unwrap().get("messages"), None);
    let observed = ask(&grant, "observe", json!({})).await.unwrap();
    assert_eq!((texts(&observed), observed.get("wake")), (vec!["look south"], None));
}

/// §12: a lane that plays hears of it from its match; one that is seated takes along what it has not read.
#[tokio::test(start_paused = true)]
async fn messages_follow_a_commander_into_its_match() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    house.tell(&id, "before");
    let door = Arc::clone(&house.door) as Arc<dyn MatchDoor>;
    let commanders = house.agents.commanders();
    commanders.seat(&house.surface, (&ann(), "Ann"), &id, &ground(), &"one".into(), door).unwrap();
    let unread = commanders.seated(&house.surface, &id, &ground()).take().unwrap();
    assert_eq!(unread[0]["text"], "before");
    house.tell(&id, "within");
    let (who, seat, _) = house.told.try_recv().unwrap();
    assert_eq!((who, seat), (id.clone(), ground()));
    assert!(house.told.try_recv().is_err(), "the other lane is in the lobby");
    let air = grant.call(&Name::from("air"), "observe", json!({})).await.unwrap();
    assert_eq!(texts(&air), ["before", "within"]);
}

/// §4: a message comes before the retained end of a match, and neither swallows the other.
#[tokio::test(start_paused = true)]
async fn a_message_comes_before_the_retained_end() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    house.seat(&id, "one").unwrap();
    house.agents.commanders().finished(&house.surface, &id, &ground(), "one");
    house.tell(&id, "well played");
    let told = ask(&grant, "wait", json!({ "seconds": 60 })).await.unwrap();
    assert_eq!((&told["wake"], texts(&told)), (&json!("owner_message"), vec!["well played"]));
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    house.arrived().await.reply.send(Ok(json!({ "phase": "match", "wake": "ended" }))).unwrap();
    assert_eq!(wait.await.unwrap().unwrap()["wake"], "ended");
}

/// §12: what a commander says between matches reaches its owner in the matches where they are, and nobody else.
#[tokio::test(start_paused = true)]
async fn what_is_said_in_the_lobby_reaches_the_owner_where_they_are() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    let say = json!({ "text": "ready when you are" });
    assert_eq!(ask(&grant, "say", say.clone()).await.unwrap(), json!({ "ok": true, "tick": 0 }));
    let door = Arc::clone(&house.door) as Arc<dyn MatchDoor>;
    let commanders = house.agents.commanders();
    commanders.listen(&house.surface, &OwnerId("bob".into()), &"one".into(), Arc::clone(&door));
    ask(&grant, "say", say.clone()).await.unwrap();
    assert!(house.said.try_recv().is_err(), "nobody but its owner hears it, and nobody later");
    let commanders = house.agents.commanders();
    commanders.listen(&house.surface, &ann(), &"one".into(), door);
    ask(&grant, "say", say.clone()).await.unwrap();
    let said = house.said.try_recv().unwrap();
    assert_eq!(
        (said.owner, said.commander, &*said.role, &*said.text),
        (ann(), id, "ground", "ready when you are")
    );
    commanders.unlisten(&house.surface, &ann(), "one");
    tokio::time::advance(Duration::from_secs(2)).await;
    ask(&grant, "say", say).await.unwrap();
    assert!(house.said.try_recv().is_err());
}

/// §4: where the end was told to somebody who never read it, the lane is in its lobby like any other: it waits there, and
/// new seats wake it.
#[tokio::test(start_paused = true)]
async fn an_end_that_was_told_already_holds_no_lane() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    house.seat(&id, "one").unwrap();
    house.agents.commanders().finished(&house.surface, &id, &ground(), "one");
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    house.arrived().await.reply.send(Err(Code::NotInMatch.into())).unwrap();
    tokio::task::yield_now().await;
    assert!(!wait.is_finished());
    house.reserve(&id, Some("blue"));
    assert_eq!(wait.await.unwrap().unwrap()["seat"]["team"], "blue");
}

/// §4: the end that nobody was told stays for one wait although the commander plays its next match already.
#[tokio::test(start_paused = true)]
async fn a_retained_end_survives_the_next_seat() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    house.seat(&id, "one").unwrap();
    house.agents.commanders().finished(&house.surface, &id, &ground(), "one");
    house.seat(&id, "two").unwrap();
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    let call = house.arrived().await;
    assert_eq!(call.args["seconds"], 0);
    call.reply.send(Ok(json!({ "phase": "match", "wake": "ended" }))).unwrap();
    assert_eq!(wait.await.unwrap().unwrap()["wake"], "ended");
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    let call = house.arrived().await;
    assert_eq!(call.args["seconds"], 60, "the next one is the new match's");
    call.reply.send(Ok(json!({ "phase": "match" }))).unwrap();
    assert!(wait.await.unwrap().is_ok());
}

/// §4: a lobby wait whose lane was seated in a match that ended before it could look tells that end, and sleeps on no match.
#[tokio::test(start_paused = true)]
async fn a_lobby_wait_hears_of_a_match_that_came_and_went() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    house.seat(&id, "one").unwrap();
    house.agents.commanders().finished(&house.surface, &id, &ground(), "one");
    let call = house.arrived().await;
    assert_eq!(call.args["seconds"], 0);
    call.reply.send(Ok(json!({ "phase": "match", "wake": "ended" }))).unwrap();
    assert_eq!(wait.await.unwrap().unwrap()["wake"], "ended");
}

/// §4 "once each": two matches that end between two waits are told by one wait each, the first one first.
#[tokio::test(start_paused = true)]
async fn each_wait_tells_one_end() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    for match_id in ["one", "two"] {
        house.seat(&id, match_id).unwrap();
        house.agents.commanders().finished(&house.surface, &id, &ground(), match_id);
    }
    for outcome in ["win", "loss"] {
        let wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
        let call = house.arrived().await;
        call.reply.send(Ok(json!({ "phase": "match", "wake": "ended", "outcome": outcome }))).unwrap();
        assert_eq!(wait.await.unwrap().unwrap()["outcome"], outcome);
    }
    assert_eq!(ask(&grant, "wait", json!({ "seconds": 0 })).await.unwrap()["phase"], "lobby");
}

/// §7, §15: settings that a match cannot take over are not taken at all.
#[tokio::test(start_paused = true)]
async fn settings_are_patched_everywhere_or_nowhere() {
    let house = House::new();
    let (id, _) = house.add("Falcon");
    let busy: Arc<dyn MatchDoor> = Arc::new(Busy);
    let commanders = house.agents.commanders();
    commanders.seat(&house.surface, (&ann(), "Ann"), &id, &ground(), &"one".into(), busy).unwrap();
    let before = commanders.list(&house.surface, &ann());
    let patched = commanders.patch(&house.surface, &ann(), &id, &json!({ "scopes": [] }));
    assert_eq!(patched.unwrap_err().code, Code::Busy);
    assert_eq!(commanders.list(&house.surface, &ann()), before);
}

/// A match that has too much to do.
struct Busy;

impl MatchDoor for Busy {
    fn call(&self, _: AgentCall) -> Result<(), CallError> {
        Err(Code::Busy.into())
    }

    fn follow(&self, _: CommanderId, _: Settings) -> Result<(), CallError> {
        Err(Code::Busy.into())
    }

    fn tell(&self, _: CommanderId, _: Seat, _: Message) -> Result<(), CallError> {
        Err(Code::Busy.into())
    }

    fn said(&self, _: SaidInLobby) -> Result<(), CallError> {
        Err(Code::Busy.into())
    }

    fn board(&self) -> Arc<StatusBoard> {
        Arc::default()
    }
}

/// §4: a late answer of an earlier hold takes nothing from a later one of the same seat.
#[tokio::test(start_paused = true)]
async fn a_late_answer_of_an_earlier_hold_ends_no_later_one() {
    let mut house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    house.seat(&id, "one").unwrap();
    let _wait = begin(&grant, "wait", json!({ "seconds": 60 })).await;
    let late = house.arrived().await;
    house.agents.commanders().release(&house.surface, &id, &ground(), "one", None);
    house.seat(&id, "one").unwrap();
    late.reply.send(Err(Code::BadToken.into())).unwrap();
    tokio::task::yield_now().await;
    assert_eq!(grant.commands()[0].1, Some("red".into()), "the lane leads to its seat still");
    let observe = begin(&grant, "observe", json!({})).await;
    house.arrived().await.reply.send(Ok(json!({ "observation": {} }))).unwrap();
    assert!(observe.await.unwrap().is_ok());
}

/// §4: a new seat ends every wait of its lane, whichever of them is first and whoever looks meanwhile.
#[tokio::test(start_paused = true)]
async fn a_new_seat_ends_every_wait_of_its_lane() {
    let house = House::new();
    let (id, token) = house.add("Falcon");
    let grant = house.grant(&token);
    let waits = [
        begin(&grant, "wait", json!({ "seconds": 60 })).await,
        begin(&grant, "wait", json!({ "seconds": 60 })).await,
    ];
    house.reserve(&id, Some("red"));
    ask(&grant, "observe", json!({})).await.unwrap();
    for wait in waits {
        assert_eq!(wait.await.unwrap().unwrap()["seat"]["team"], "red");
    }
}
