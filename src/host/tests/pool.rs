//! §4 "Agent sessions", §7, §11, §13, §20.5: policies between matches, in the pool and in seats, with real sandboxes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

use playerthree_agent_command::AgentCommand;
use playerthree_game::{Name, Seat};
use playerthree_host::{
    AgentCall, Agents, Answer, BLAME_MAX, CommanderGrant, Live, MatchDoor, OWNER_PLACES, PolicyPlaces,
    SaidInLobby, StatusBoard, Ticks,
};
use playerthree_sandbox::Workers;
use playerthree_session::{
    CallError, Code, CommanderId, CommanderKind, Config, Draft, Ending, Isolation, Match, Message, Metadata,
    Millis, Occupant, OwnerId, PolicyCode, PolicyId, PoolQuery, Right, SeatedPolicy, Settings, Surface,
};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Far longer than any budget of the sandbox: reached only when an answer is lost.
const LOST: Duration = Duration::from_secs(30);

const IDLE: &str = "function think() { log('a secret of ann'); return [] }";
const HANGS_LATER: &str = "var n = 0; function think(obs) { n += 1; if (obs.tick > 0) for (;;); return [] }";

/// The workers of these tests are this test program, started with this test's name as its filter.
#[test]
fn sandbox_worker() {
    playerthree_sandbox::serve_if_worker();
}

fn owner(name: &str) -> OwnerId {
    OwnerId(name.into())
}

fn red() -> Seat {
    Seat::new("red", "ground")
}

fn blue() -> Seat {
    Seat::new("blue", "ground")
}

/// What one process shares: its games, its places and pools, its agents.
struct House {
    surface: Arc<Surface>,
    places: PolicyPlaces,
    agents: Agents,
}

impl House {
    fn with_places(places: usize) -> Self {
        Self::of(PolicyPlaces::new(places, Workers::of_this_program()))
    }

    fn of(places: PolicyPlaces) -> Self {
        let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
        let agents = Agents::new(places.clone());
        Self { surface, places, agents }
    }

    fn new() -> Self {
        Self::with_places(16)
    }

    /// A duel without bots.
    fn table(&self) -> Table {
        let config = Config { teams: Some(vec!["red".into(), "blue".into()]), ..Config::of(7) };
        let game = Match::new(Arc::clone(&self.surface), config, 0).unwrap();
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        let live = Live::new(game, self.places.clone(), Arc::new(move || _ = wake.lock().unwrap().send(())));
        Table { live, woken, now: 0 }
    }

    fn commander(&self, name: &str, kind: CommanderKind) -> (CommanderId, Arc<CommanderGrant>) {
        let roles: Vec<Name> = vec!["ground".into(), "air".into()];
        let draft = Draft {
            name: "Falcon".into(),
            roles,
            isolation: Isolation::Independent,
            kind,
            metadata: Metadata::default(),
        };
        let (id, token) = self.agents.commanders().add(&self.surface, &owner(name), draft).unwrap();
        (id, self.agents.commanders().find(token.reveal()).unwrap())
    }

    fn settle(&self, id: &CommanderId, patch: Value) {
        self.agents.commanders().patch(&self.surface, &owner("ann"), id, &patch).unwrap();
    }

    /// What bob may know of the pool.
    fn listing(&self) -> Value {
        self.places.pools().list(&self.surface, &owner("bob"), &PoolQuery::default())
    }

    /// A policy of the pool as bob's.
    fn drafted(&self, id: &str) -> Occupant {
        let id = PolicyId::parse(id).unwrap();
        let code = PolicyCode::Pool(self.places.pools().draft(&self.surface, &"ground".into(), id).unwrap());
        let policy = SeatedPolicy { owner: owner("bob"), display: "Bob".into(), code, bot: None };
        Occupant::Policy(Box::new(policy))
    }

    /// Ann publishes code from a match of hers.
    fn publish(&self, code: &str) -> String {
        let mut table = self.table();
        table.agent(&red(), "ann");
        assert_eq!(table.deploy(&red(), code)["ok"], true);
        table.call(&red(), "publish", json!({})).unwrap()["policyId"].as_str().unwrap().to_owned()
    }
}

/// A live match.
struct Table {
    live: Live<&'static str>,
    woken: Receiver<()>,
    now: Millis,
}

impl Table {
    fn agent(&mut self, seat: &Seat, name: &str) {
        let occupant = Occupant::Agent { owner: owner(name), display: name.into() };
        self.live.assign(seat, occupant, self.now).unwrap();
    }

    fn call(&mut self, seat: &Seat, method: &str, args: Value) -> Answer {
        self.live.call(seat, Right::Agent, method, &args, "the call", self.now);
        self.answer()
    }

    /// The answer that comes next.
    fn answer(&mut self) -> Answer {
        loop {
            if let Some((_, answer)) = self.live.take_answers().pop() {
                return answer;
            }
            self.woken.recv_timeout(LOST).expect("the sandbox answers");
            self.live.take_in(self.now);
        }
    }

    fn deploy(&mut self, seat: &Seat, code: &str) -> Value {
        self.call(seat, "policyDeploy", json!({ "runtime": "js", "code": code })).unwrap()
    }

    /// Waits until the readiness of a seat is this.
    fn until_ready(&mut self, seat: &Seat, state: &str) {
        while self.state_of(seat) != state {
            self.woken.recv_timeout(LOST).expect("the sandbox answers");
            self.live.take_in(self.now);
        }
    }

    fn state_of(&self, seat: &Seat) -> String {
        let readiness = self.live.game().readiness(self.now);
        let seats = readiness["seats"].as_array().unwrap();
        let found =
            seats.iter().find(|info| info["team"] == *seat.team && info["role"] == *seat.role).unwrap();
        found["state"].as_str().unwrap().to_owned()
    }

    /// One tick, with every policy's answer waited for.
    fn tick(&mut self) {
        self.now += 100;
        let before = self.live.game().tick();
        self.live.heartbeat(self.now);
        self.live.tick(self.now);
        while self.live.game().tick() == before {
            self.woken.recv_timeout(LOST).expect("the sandbox answers");
            self.live.take_in(self.now);
        }
        self.live.take_changes(self.now);
    }

    /// Ticks until the policy of a seat has thought.
    fn until_it_thinks(&mut self, seat: &Seat) {
        let calls = |table: &Self| table.live.game().policy_status(seat).unwrap()["calls"].as_u64();
        while calls(self).is_none_or(|calls| calls == 0) {
            // A policy that is not up misses its turn.
            self.tick();
            std::thread::yield_now();
        }
    }
}

/// §13, §20.1: published in one match, drafted in another, it plays there; how its side ended is its record, and nothing
/// that it wrote reaches its drafter.
#[test]
fn a_policy_is_published_in_one_match_and_plays_in_another() {
    let house = House::new();
    let id = house.publish(IDLE);
    assert_eq!(house.publish(IDLE), id, "the same policy again");
    let mut table = house.table();
    table.live.assign(&blue(), house.drafted(&id), 0).unwrap();
    table.until_ready(&blue(), "ready");
    table.until_it_thinks(&blue());
    let status = table.live.game().policy_status(&blue()).unwrap();
    assert_eq!(
        (&status["policyId"], &status["errors"], &status["logs"]),
        (&json!(id), &json!(0), &json!([]))
    );
    let seen = [status, json!(table.live.game().seats_json_for(&owner("bob"), table.now)), house.listing()];
    assert!(!json!(seen).to_string().contains("ann"), "{seen:?}");
    let blue_wins = [("red", playerthree_game::Outcome::Loss), ("blue", playerthree_game::Outcome::Win)];
    let ending = Ending::Outcomes(blue_wins.map(|(side, outcome)| (side.into(), outcome)).into());
    table.live.game_mut().end(&ending, table.now).unwrap();
    table.live.take_changes(table.now);
    let entry = &house.listing()["entries"][0];
    assert_eq!((&entry["wins"], &entry["losses"], &entry["draws"]), (&json!(1), &json!(0), &json!(0)));
}

/// §6, §7, §13: without the scope nothing is published; under supervision the owner decides, and a full pool fails it.
#[test]
fn publishing_needs_its_scope_and_a_supervising_owner() {
    let house = House::new();
    let mut table = house.table();
    table.agent(&red(), "ann");
    assert_eq!(
        table.call(&red(), "publish", json!({})).unwrap_err().code,
        Code::Invalid,
        "nothing is active"
    );
    table.deploy(&red(), IDLE);
    assert_eq!(table.call(&red(), "publish", json!({ "more": 1 })).unwrap_err().code, Code::Invalid);
    table.live.game_mut().set_scopes(&red(), &json!(["act", "policy"])).unwrap();
    assert_eq!(table.call(&red(), "publish", json!({})).unwrap_err().code, Code::OutOfScope);
    table.live.game_mut().set_scopes(&red(), &json!(["policy", "publish"])).unwrap();
    let (_, mut mandate) = table.live.game().terms(&red()).unwrap();
    mandate["autonomy"] = json!("supervised");
    table.live.game_mut().set_mandate(&red(), &mandate).unwrap();
    let asked = table.call(&red(), "publish", json!({})).unwrap();
    assert_eq!((&asked["ok"], &asked["approval"]["kind"]), (&json!(false), &json!("publish")));
    assert_eq!(house.listing()["entries"], json!([]));
    let id = asked["approval"]["id"].as_str().unwrap().to_owned();
    table.live.resolve_approval(&red(), &id, true, "the owner", table.now);
    let answer = table.answer().unwrap();
    assert_eq!(answer, json!({ "id": id, "status": "approved", "version": 1, "policyId": "pol_1" }));
    assert_eq!(house.listing()["entries"].as_array().unwrap().len(), 1);

    let most = house.surface.manifest.control.pool.unwrap().max_published_per_principal;
    for number in 1..most {
        house.publish(&format!("{IDLE} // {number}"));
    }
    mandate["autonomy"] = json!("autonomous");
    table.live.game_mut().set_mandate(&red(), &mandate).unwrap();
    table.deploy(&red(), "function think() { return [] }");
    assert_eq!(table.call(&red(), "publish", json!({})).unwrap_err().code, Code::Busy);
    mandate["autonomy"] = json!("supervised");
    table.live.game_mut().set_mandate(&red(), &mandate).unwrap();
    let asked = table.call(&red(), "publish", json!({})).unwrap();
    table.live.resolve_approval(
        &red(),
        asked["approval"]["id"].as_str().unwrap(),
        true,
        "the owner",
        table.now,
    );
    assert_eq!(table.answer().unwrap_err().code, Code::ApprovalFailed);
    let status = table.live.game().policy_status(&red()).unwrap();
    assert_eq!(status["approval"]["status"], "failed");
}

/// §20.5: what was given is tried on what the seat sees; where there is no place it waits for one.
#[test]
fn a_drafted_policy_waits_for_a_place() {
    let house = House::with_places(1);
    let id = house.publish(IDLE);
    let mut other = house.table();
    other.agent(&red(), "eve");
    assert_eq!(other.deploy(&red(), IDLE)["ok"], true);
    let mut table = house.table();
    table.live.assign(&blue(), house.drafted(&id), 0).unwrap();
    table.live.heartbeat(1);
    assert_eq!(table.state_of(&blue()), "waiting");
    drop(other);
    table.live.heartbeat(2);
    table.until_ready(&blue(), "ready");
}

/// §13, §15: a drafted policy takes a place of whoever drafted it. Its author has theirs for themselves, and others may play
/// it while one has no place left for it.
#[test]
fn a_drafted_policy_takes_a_place_of_its_drafter() {
    let house = House::with_places(2 * OWNER_PLACES as usize);
    let id = house.publish(IDLE);
    let mut tables: Vec<Table> = (0..OWNER_PLACES / 2).map(|_| house.table()).collect();
    for table in &mut tables {
        for seat in [red(), blue()] {
            table.live.assign(&seat, house.drafted(&id), 0).unwrap();
            table.until_ready(&seat, "ready");
        }
    }
    let mut full = house.table();
    full.live.assign(&blue(), house.drafted(&id), 0).unwrap();
    full.live.heartbeat(1);
    assert_eq!(full.state_of(&blue()), "waiting", "its drafter has no place left");
    full.agent(&red(), "ann");
    assert_eq!(full.deploy(&red(), IDLE)["ok"], true, "its author has");
}

/// §20.5: a published policy that has no answer to this match's observation fails its trial.
#[test]
fn a_drafted_policy_that_fails_its_trial_does_not_play() {
    let house = House::new();
    let id = house
        .publish("function think(obs) { if (obs.tick > 0) throw new Error('a secret of ann'); return [] }");
    let mut table = house.table();
    table.tick();
    table.live.assign(&blue(), house.drafted(&id), 0).unwrap();
    table.until_ready(&blue(), "policy_failed");
    let seen = [
        table.live.game().policy_status(&blue()).unwrap(),
        json!(table.live.game().seats_json_for(&owner("bob"), 0)),
        table.live.game().readiness(0),
    ];
    assert!(!json!(seen).to_string().contains("secret"), "{seen:?}");
}

/// §13, §15.5: calls that run out of time are held against whoever wrote them, not whoever drafted them.
#[test]
fn an_author_answers_for_a_drafted_policy_that_hangs() {
    let house = House::new();
    let id = house.publish(HANGS_LATER);
    let mut table = house.table();
    table.live.assign(&blue(), house.drafted(&id), 0).unwrap();
    table.until_ready(&blue(), "ready");
    while table.live.game().policy_status(&blue()).unwrap()["timeouts"].as_u64().unwrap()
        < u64::try_from(BLAME_MAX).unwrap()
    {
        table.now += 60_000;
        table.tick();
    }
    let mut after = house.table();
    after.agent(&red(), "bob");
    assert_eq!(after.deploy(&red(), "function think() { return [] }")["ok"], true, "the drafter may go on");
    after.agent(&blue(), "ann");
    let code = json!({ "runtime": "js", "code": IDLE });
    assert_eq!(after.call(&blue(), "policyDeploy", code).unwrap_err().code, Code::RateLimited);
}

/// §13, §19: what the operator disables or takes out is drafted by nobody any more; a seat that runs it runs on.
#[test]
fn an_operator_disables_and_removes_policies() {
    let house = House::new();
    let id = house.publish(IDLE);
    let policy = PolicyId::parse(&id).unwrap();
    let mut table = house.table();
    table.live.assign(&blue(), house.drafted(&id), 0).unwrap();
    table.until_ready(&blue(), "ready");
    let pools = house.places.pools();
    pools.set_disabled(&house.surface, policy, true);
    assert_eq!(house.listing()["entries"], json!([]));
    let drafted = pools.draft(&house.surface, &"ground".into(), policy);
    assert_eq!(drafted.unwrap_err().code, Code::Invalid);
    table.until_it_thinks(&blue());
    pools.set_disabled(&house.surface, policy, false);
    assert_eq!(house.listing()["entries"].as_array().unwrap().len(), 1);
    pools.remove(&house.surface, policy);
    assert_eq!(house.listing()["entries"], json!([]));
}

// --- between matches ---------------------------------------------------------------------------------------------------

async fn ask(grant: &CommanderGrant, method: &str, args: Value) -> Answer {
    grant.call(&Name::from("ground"), method, args).await
}

async fn deploy(grant: &CommanderGrant, code: &str) -> Answer {
    ask(grant, "policyDeploy", json!({ "runtime": "js", "code": code })).await
}

/// §4, §11, §13: between matches a commander deploys, looks, rolls back and publishes; broken code replaces nothing, and
/// its own author alone reads what the engine says.
#[tokio::test]
async fn a_commander_works_on_its_library_between_matches() {
    let house = House::new();
    let (_, grant) = house.commander("ann", CommanderKind::Agent);
    assert_eq!(ask(&grant, "policyStatus", json!({})).await.unwrap(), json!({ "policy": null }));
    assert_eq!(ask(&grant, "publish", json!({})).await.unwrap_err().code, Code::Invalid);
    let first = deploy(&grant, "function think(o) { log(o.role); return [] }").await.unwrap();
    assert_eq!((&first["ok"], &first["version"]), (&json!(true), &json!(1)));
    assert_eq!(first["probe"]["logs"], json!(["ground"]), "it saw what its role sees");
    assert_eq!(deploy(&grant, IDLE).await.unwrap()["version"], 2);
    for (broken, code) in
        [("function think() { throw new Error('mine') }", "threw"), ("nonsense(", "compile")]
    {
        let refused = deploy(&grant, broken).await.unwrap();
        assert_eq!((&refused["ok"], &refused["error"]["code"]), (&json!(false), &json!(code)));
        assert!(refused["error"]["message"].is_string());
    }
    let status = ask(&grant, "policyStatus", json!({})).await.unwrap();
    assert_eq!((&status["policy"]["version"], &status["policy"]["runtime"]), (&json!(2), &json!("js")));
    let back = ask(&grant, "policyRollback", json!({ "version": 1 })).await.unwrap();
    assert_eq!((&back["ok"], &back["version"]), (&json!(true), &json!(1)));
    assert_eq!(ask(&grant, "policyRollback", json!({ "version": 9 })).await.unwrap_err().code, Code::Invalid);
    assert_eq!(ask(&grant, "publish", json!({})).await.unwrap(), json!({ "policyId": "pol_1" }));
    assert_eq!(house.listing()["entries"][0]["role"], "ground");
}

/// §7: between matches, too, a supervised commander's owner decides; its waits wake for that and its status says it.
#[tokio::test]
async fn an_owner_approves_what_a_commander_deploys_between_matches() {
    let house = House::new();
    let (id, grant) = house.commander("ann", CommanderKind::Agent);
    house.settle(&id, json!({ "mandate": { "autonomy": "supervised" } }));
    let commanders = house.agents.commanders();
    let resolve = |who: &'static str, approval: String, approve: bool| {
        let (id, surface) = (id.clone(), Arc::clone(&house.surface));
        async move { commanders.resolve_approval(&surface, &owner(who), &id, &approval, approve).await }
    };
    for (code, approve, told) in [
        (IDLE, false, Ok("rejected")),
        ("function think() { throw 1 }", true, Err(Code::ApprovalFailed)),
        (IDLE, true, Ok("approved")),
    ] {
        let asked = deploy(&grant, code).await.unwrap();
        let approval = asked["approval"]["id"].as_str().unwrap().to_owned();
        assert_eq!(resolve("bob", approval.clone(), true).await.unwrap_err().code, Code::Forbidden);
        let (resolved, waited) = tokio::join!(
            resolve("ann", approval.clone(), approve),
            ask(&grant, "wait", json!({ "seconds": 60 }))
        );
        let resolved = resolved.map(|answer| answer["status"].clone()).map_err(|error| error.code);
        assert_eq!(resolved, told.map(|status| json!(status)));
        let waited = waited.unwrap();
        assert_eq!((&waited["phase"], &waited["wake"]), (&json!("lobby"), &json!("approval")));
        assert_eq!(resolve("ann", approval, true).await.unwrap_err().code, Code::ApprovalNotFound);
    }
    let status = ask(&grant, "policyStatus", json!({})).await.unwrap();
    assert_eq!(
        (&status["policy"]["version"], &status["policy"]["approval"]["status"]),
        (&json!(1), &json!("approved"))
    );
    let asked = ask(&grant, "publish", json!({})).await.unwrap();
    let published = resolve("ann", asked["approval"]["id"].as_str().unwrap().to_owned(), true).await.unwrap();
    assert_eq!(published["policyId"], "pol_1");
}

/// §15.5: trials between matches take the same places and count against the same owner; one at a time for each lane.
#[tokio::test]
async fn trials_between_matches_are_bounded() {
    let house = House::with_places(1);
    let (_, grant) = house.commander("ann", CommanderKind::Agent);
    let (first, second) = tokio::join!(deploy(&grant, IDLE), deploy(&grant, IDLE));
    assert_eq!((first.unwrap()["version"].clone(), second.unwrap_err().code), (json!(1), Code::Busy));
    let mut table = house.table();
    table.agent(&red(), "eve");
    assert_eq!(table.deploy(&red(), IDLE)["ok"], true);
    assert_eq!(deploy(&grant, IDLE).await.unwrap_err().code, Code::Busy);
    drop(table);
    for _ in 0..BLAME_MAX {
        assert_eq!(deploy(&grant, "for (;;);").await.unwrap()["error"]["code"], "timeout");
    }
    assert_eq!(deploy(&grant, IDLE).await.unwrap_err().code, Code::RateLimited);
}

/// §11, §15.5: a trial that finds no worker is `busy`, and is held against nobody.
#[tokio::test]
async fn a_trial_between_matches_without_room_is_busy() {
    let house = House::of(PolicyPlaces::new(1, Workers::of("/nonexistent")));
    let (_, grant) = house.commander("ann", CommanderKind::Agent);
    for _ in 0..=BLAME_MAX {
        assert_eq!(deploy(&grant, IDLE).await.unwrap_err().code, Code::Busy);
    }
}

/// A way into a match that nobody answers.
struct Shut;

impl MatchDoor for Shut {
    fn call(&self, _: AgentCall) -> Result<(), CallError> {
        Err(Code::Busy.into())
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

/// §4, §20.5: what was deployed between matches plays in the next one, once the seat has tried it; what is deployed there
/// is in the library afterwards.
#[tokio::test]
async fn a_library_goes_with_its_commander_into_a_match_and_back() {
    let house = House::new();
    let (id, grant) = house.commander("ann", CommanderKind::Agent);
    deploy(&grant, IDLE).await.unwrap();
    let commanders = house.agents.commanders();
    let mut table = house.table();
    let seated = commanders
        .seat(&house.surface, (&owner("ann"), "Ann"), &id, &red(), &"room".into(), Arc::new(Shut))
        .unwrap();
    table.live.assign(&red(), Occupant::Commander(Box::new(seated)), 0).unwrap();
    table.until_it_thinks(&red());
    assert_eq!(table.live.game().policy_status(&red()).unwrap()["version"], 1);
    assert_eq!(table.deploy(&red(), "function think() { return [] }")["version"], 2);
    table.live.assign(&red(), Occupant::Nobody, table.now).unwrap();
    commanders.release(&house.surface, &id, &red(), "room", None);
    let status = ask(&grant, "policyStatus", json!({})).await.unwrap();
    assert_eq!(status["policy"]["version"], 2);
}

/// §20.1: a version of a commander of the kind `policy` plays without any agent.
#[tokio::test]
async fn a_version_of_a_library_plays_a_seat_of_the_kind_policy() {
    let house = House::new();
    let (id, grant) = house.commander("ann", CommanderKind::Policy);
    deploy(&grant, IDLE).await.unwrap();
    deploy(&grant, "function think() { return [] }").await.unwrap();
    let commanders = house.agents.commanders();
    let version = commanders.version(&house.surface, &owner("ann"), &id, "ground", Some(1)).unwrap();
    let mut table = house.table();
    let code = PolicyCode::Library(version);
    let policy = SeatedPolicy { owner: owner("ann"), display: "Ann".into(), code, bot: None };
    table.live.assign(&red(), Occupant::Policy(Box::new(policy)), 0).unwrap();
    table.until_it_thinks(&red());
    let status = table.live.game().policy_status(&red()).unwrap();
    assert_eq!(
        (&status["version"], &status["logs"][0]),
        (&json!(1), &json!("a secret of ann")),
        "it is one's own"
    );
    assert_eq!(table.live.game().cards(table.now)[0]["policy"], json!({ "source": "library", "version": 1 }));
}

/// §4, §13: a commander practises between matches, with given code or its active version, within its scopes, and counts as
/// one principal there and in a match.
#[tokio::test]
async fn a_commander_practises_between_matches() {
    let house = House::new();
    let (id, grant) = house.commander("ann", CommanderKind::Agent);
    let practise =
        async |grant: &CommanderGrant, args: Value| grant.call(&Name::from("ground"), "practice", args).await;
    let bare = json!({ "opponent": "recruit", "ticks": 3 });
    let given = json!({ "opponent": "recruit", "ticks": 3, "artifact": { "runtime": "js", "code": IDLE } });
    assert_eq!(practise(&grant, bare.clone()).await.unwrap_err().code, Code::Invalid, "nothing to try");
    let result = practise(&grant, given.clone()).await.unwrap();
    assert_eq!(
        (&result["ok"], &result["ticks"], &result["policy"]["version"]),
        (&json!(true), &json!(3), &json!(0))
    );
    let ticks = Ticks::default();
    grant.call_counting(&Name::from("ground"), "practice", given.clone(), ticks.clone()).await.unwrap();
    assert_eq!(ticks.played(), 3, "whoever waits sees its ticks pass");
    deploy(&grant, IDLE).await.unwrap();
    assert_eq!(practise(&grant, bare.clone()).await.unwrap()["policy"]["version"], 1);
    let told = |house: &House| {
        house.agents.commanders().list(&house.surface, &owner("ann"))[0]["lastPractice"].clone()
    };
    assert_eq!((&told(&house)["version"], &told(&house)["ticks"]), (&json!(1), &json!(3)));
    let broken = json!({ "opponent": "recruit", "ticks": 5, "artifact": { "runtime": "js", "code": "(" } });
    assert_eq!(practise(&grant, broken).await.unwrap()["ok"], false);
    assert_eq!(told(&house)["ticks"], 3, "a failed one is not recorded");
    let unknown = json!({ "opponent": "recruit", "ticks": 3, "options": { "no": "such" } });
    assert_eq!(practise(&grant, unknown).await.unwrap_err().code, Code::Invalid);

    let most = house.surface.manifest.control.practice.as_ref().unwrap().concurrent;
    let long =
        json!({ "opponent": "recruit", "ticks": 1_000, "artifact": { "runtime": "js", "code": IDLE } });
    let tasks: Vec<_> = (0..most)
        .map(|_| {
            let (grant, long) = (Arc::clone(&grant), long.clone());
            tokio::spawn(async move { grant.call(&Name::from("air"), "practice", long).await })
        })
        .collect();
    tokio::task::yield_now().await;
    assert_eq!(practise(&grant, given.clone()).await.unwrap_err().code, Code::Busy);
    for task in tasks {
        task.abort();
    }
    let commanders = house.agents.commanders();
    commanders.patch(&house.surface, &owner("ann"), &id, &json!({ "scopes": ["act"] })).unwrap();
    assert_eq!(practise(&grant, given).await.unwrap_err().code, Code::OutOfScope);
}
