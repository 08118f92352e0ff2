//! §§5, 15: tokens of seats and commanders under thousands of seeded operations, against a model of which are good. A
//! token that ended is nobody's at once, and whoever calls under it is told so at once.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use playerthree_agent_command::AgentCommand;
use playerthree_game::Seat;
use playerthree_host::{
    AgentCall, Agents, CommanderGrant, MatchDoor, PolicyPlaces, SaidInLobby, SeatGrant, StatusBoard,
    TOKENS_PER_SEAT, Ttl,
};
use playerthree_sandbox::Workers;
use playerthree_session::{
    COMMANDERS_PER_OWNER, CallError, Code, CommanderId, CommanderKind, Draft, Isolation, Message, Metadata,
    OwnerId, Settings, Surface,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

const MATCHES: [&str; 2] = ["first", "second"];
const OPS: usize = 3_000;

type Call = JoinHandle<Result<Value, CallError>>;

/// A match that takes every call and answers none.
#[derive(Default)]
struct Silent(Mutex<Vec<AgentCall>>);

impl MatchDoor for Silent {
    fn call(&self, call: AgentCall) -> Result<(), CallError> {
        self.0.lock().unwrap().push(call);
        Ok(())
    }

    fn follow(&self, _: CommanderId, _: Settings) -> Result<(), CallError> {
        Ok(())
    }

    fn tell(&self, _: CommanderId, _: Seat, _: Message) -> Result<(), CallError> {
        Ok(())
    }

    fn said(&self, _: SaidInLobby) -> Result<(), CallError> {
        Ok(())
    }

    fn board(&self) -> Arc<StatusBoard> {
        Arc::default()
    }
}

/// A token as it should be.
struct Known {
    text: String,
    room: &'static str,
    seat: Seat,
    good: bool,
    claimed: bool,
    grant: Arc<SeatGrant>,
    call: Option<Call>,
}

struct Driver {
    agents: Agents,
    surface: Arc<Surface>,
    door: Arc<Silent>,
    known: Vec<Known>,
    seed: u64,
    done: Vec<String>,
}

impl Driver {
    fn new(seed: u64) -> Self {
        let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
        Self {
            agents: Agents::new(PolicyPlaces::new(8, Workers::of_this_program())),
            surface,
            door: Arc::default(),
            known: Vec::new(),
            seed,
            done: Vec::new(),
        }
    }

    fn mint(&mut self, room: &'static str, seat: Seat) {
        let held: Vec<usize> = (0..self.known.len())
            .filter(|index| {
                let known = &self.known[*index];
                known.good && known.room == room && known.seat == seat
            })
            .collect();
        if held.len() == TOKENS_PER_SEAT {
            self.known[held[0]].good = false;
        }
        let door: Arc<dyn MatchDoor> = self.door.clone();
        let token = self.agents.mint(room.into(), seat.clone(), self.surface.clone(), door, Ttl::default());
        let text = token.reveal().to_owned();
        let grant = self.agents.find(&text).expect("fresh");
        self.known.push(Known { text, room, seat, good: true, claimed: false, grant, call: None });
    }

    fn end(&mut self, ended: impl Fn(&Known) -> bool) {
        self.known.iter_mut().filter(|known| ended(known)).for_each(|known| known.good = false);
    }

    /// Every token is exactly as good as the model says, and nobody waits under one that has ended.
    async fn judge(&mut self) {
        tokio::task::yield_now().await;
        let plan = || format!("seed {}, {} operations: {:?}", self.seed, self.done.len(), self.done);
        for known in &mut self.known {
            assert!(self.agents.commanders().find(&known.text).is_none(), "{}", plan());
            assert_eq!(self.agents.find(&known.text).is_some(), known.good, "{}", plan());
            assert_eq!(known.grant.revoked().is_cancelled(), !known.good, "{}", plan());
            match &known.call {
                Some(call) if known.good => assert!(!call.is_finished(), "{}", plan()),
                Some(_) => {
                    let answer = known.call.take().unwrap().await.unwrap();
                    assert_eq!(answer.unwrap_err().code, Code::BadToken, "{}", plan());
                }
                None => {}
            }
        }
        let calling = self.known.iter().filter(|known| known.good && known.call.is_some()).count();
        let mut queued = self.door.0.lock().unwrap();
        queued.retain(|call| !call.revoked.is_cancelled());
        assert_eq!(
            queued.len(),
            calling,
            "a call in a mailbox is good exactly as long as its token, {}",
            plan()
        );
        drop(queued);
        self.known.retain(|known| known.good);
    }
}

#[tokio::test]
async fn a_token_that_ended_is_dead_at_once() {
    for seed in 1..=3 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut driver = Driver::new(seed);
        let mut ended = 0;
        for _ in 0..OPS {
            let room = MATCHES[random.usize(..2)];
            let seat = Seat::new(["red", "blue"][random.usize(..2)], ["ground", "air"][random.usize(..2)]);
            let index = random.usize(..driver.known.len().max(1));
            let op = random.u8(..20);
            driver.done.push(format!("{op} {room} {seat} {index}"));
            let before = driver.known.len();
            match (op, driver.known.get_mut(index)) {
                (0..8, _) | (_, None) => driver.mint(room, seat),
                (8..12, Some(known)) => {
                    assert_eq!(known.grant.claim().is_none(), known.claimed, "a token is claimed once");
                    known.claimed = true;
                }
                (12..16, Some(known)) if known.call.is_none() => {
                    let grant = Arc::clone(&known.grant);
                    known.call = Some(tokio::spawn(async move { grant.call("wait", json!({})).await }));
                }
                (16 | 17, Some(known)) => {
                    let text = known.text.clone();
                    driver.agents.revoke(&text);
                    driver.end(|known| known.text == text);
                }
                (18, _) => {
                    driver.agents.revoke_seat(room, &seat);
                    driver.end(|known| known.room == room && known.seat == seat);
                }
                (19, _) if random.u8(..8) == 0 => {
                    driver.agents.revoke_match(room);
                    driver.end(|known| known.room == room);
                }
                _ => {}
            }
            driver.judge().await;
            ended += before.saturating_sub(driver.known.len());
        }
        assert!(ended > 100, "a plan that ends no token proves nothing");
    }
}

/// §20: an unclaimed token ends after its time, 120 seconds unless asked otherwise; a claimed one is its seat's.
#[tokio::test(start_paused = true)]
async fn a_seat_token_waits_so_long_for_its_claim_and_no_longer() {
    let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
    let agents = Agents::new(PolicyPlaces::new(1, Workers::of_this_program()));
    let mint = |ttl: Ttl| {
        let door: Arc<dyn MatchDoor> = Arc::new(Silent::default());
        let token = agents.mint("room".into(), Seat::new("red", "air"), surface.clone(), door, ttl);
        token.reveal().to_owned()
    };
    let (usual, longest, claimed) = (mint(Ttl::default()), mint(Ttl::MAX), mint(Ttl::MIN));
    agents.find(&claimed).unwrap().claim().unwrap();
    for (seconds, good) in
        [(120, [true, true]), (1, [false, true]), (479, [false, true]), (1, [false, false])]
    {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        assert_eq!([&usual, &longest].map(|token| agents.find(token).is_some()), good);
        assert!(agents.find(&claimed).is_some());
    }
}

/// A commander's present token.
struct Commanding {
    id: CommanderId,
    owner: &'static str,
    text: String,
    grant: Arc<CommanderGrant>,
    wait: Option<Call>,
}

const OWNERS: [&str; 2] = ["ann", "bob"];

fn owner(name: &str) -> OwnerId {
    OwnerId(name.into())
}

/// Nobody finds, uses or waits under it any more.
async fn assert_dead(agents: &Agents, old: Commanding, plan: &[String]) {
    assert!(agents.commanders().find(&old.text).is_none(), "{plan:?}");
    let late = old.grant.call(&"ground".into(), "observe", json!({})).await;
    assert_eq!(late.unwrap_err().code, Code::BadToken, "{plan:?}");
    if let Some(wait) = old.wait {
        assert_eq!(wait.await.unwrap().unwrap_err().code, Code::BadToken, "{plan:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_commanders_token_that_ended_is_dead_at_once() {
    let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
    for seed in 1..=3 {
        let mut random = fastrand::Rng::with_seed(seed);
        let agents = Agents::new(PolicyPlaces::new(8, Workers::of_this_program()));
        let commanders = agents.commanders();
        let mut present: Vec<Commanding> = Vec::new();
        let mut plan = vec![format!("seed {seed}")];
        let (mut rotated, mut removed) = (0, 0);
        for _ in 0..OPS {
            let who = OWNERS[random.usize(..2)];
            let index = random.usize(..present.len().max(1));
            let op = random.u8(..16);
            plan.push(format!("{op} {who} {index}"));
            let commanding = |id: CommanderId, owner, text: &str| {
                let grant = commanders.find(text).expect("fresh");
                Commanding { id, owner, text: text.to_owned(), grant, wait: None }
            };
            match (op, present.get_mut(index)) {
                (0..6, _) | (_, None) => {
                    let owned = present.iter().filter(|commanding| commanding.owner == who).count();
                    let roles = vec!["ground".into()];
                    let draft = Draft {
                        name: "Falcon".into(),
                        roles,
                        isolation: Isolation::Independent,
                        kind: CommanderKind::Agent,
                        metadata: Metadata::default(),
                    };
                    match commanders.add(&surface, &owner(who), draft) {
                        Ok((id, token)) => present.push(commanding(id, who, token.reveal())),
                        Err(error) => assert_eq!((error.code, owned), (Code::Busy, COMMANDERS_PER_OWNER)),
                    }
                }
                (6..10, Some(waiting)) => {
                    let grant = Arc::clone(&waiting.grant);
                    let role = "ground".into();
                    let wait = async move { grant.call(&role, "wait", json!({ "seconds": 60 })).await };
                    waiting.wait.get_or_insert_with(|| tokio::spawn(wait));
                }
                (10..14, Some(old)) => {
                    let (id, owned) = (old.id.clone(), old.owner == who);
                    let fresh = commanders.rotate(&surface, &owner(who), &id);
                    assert_eq!(fresh.is_ok(), owned, "{plan:?}");
                    if let Ok(token) = fresh {
                        let old = std::mem::replace(old, commanding(id, who, token.reveal()));
                        assert_dead(&agents, old, &plan).await;
                        rotated += 1;
                    }
                }
                (_, Some(old)) => {
                    let (id, owned) = (old.id.clone(), old.owner == who);
                    assert_eq!(commanders.remove(&surface, &owner(who), &id).is_ok(), owned, "{plan:?}");
                    if owned {
                        assert_dead(&agents, present.swap_remove(index), &plan).await;
                        removed += 1;
                    }
                }
            }
            tokio::task::yield_now().await;
            for commanding in &present {
                assert!(commanders.find(&commanding.text).is_some(), "{plan:?}");
                assert!(!commanding.grant.revoked().is_cancelled(), "{plan:?}");
                assert!(commanding.wait.as_ref().is_none_or(|wait| !wait.is_finished()), "{plan:?}");
            }
        }
        assert!(rotated > 100 && removed > 50, "a plan that ends no token proves nothing");
    }
}
