//! Carries operations out on a real match and judges everything that comes back.

mod judging;
mod modes;
mod replaying;

use crate::common::{agent_command, config, surface};
use crate::model::{Finals, NAMES, SeatModel, occupant, owner_id};
use crate::plan::{Holder, Intent, Op, Speaker};
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Controller, Runtime, Seat};
use playerthree_session::{
    Ack, Activation, Approved, Artifact, CallError, Code, Config, Deploy, Match, Observe, PolicyError, Right,
    Said, Tell, Thought, WAITS_MAX, Wait, WaitId, Waiting,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The mark of every text that somebody typed; it may appear in messages and nowhere else.
pub(crate) const TYPED: &str = "typed-by-somebody-";
/// Most open signals of a sender in this game, and its share of the board.
const MAX_OPEN: usize = 3;
const CONTROLLERS: [Controller; 5] =
    [Controller::Human, Controller::Agent, Controller::Policy, Controller::Bot, Controller::None];

/// What happened at least once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(BTreeMap<String, u32>);

impl Seen {
    fn saw(&mut self, what: &str) {
        *self.0.entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn assert_broad(&self) {
        let wanted = [
            "ok",
            "invalid",
            "forbidden_role",
            "out_of_scope",
            "not_controller",
            "game_over",
            "rate_limited",
            "unknown_signal",
            "not_recipient",
            "closed",
            "unsupported",
            "too_many_open",
            "message",
            "told",
            "said",
            "wake owner_message",
            "wake signal",
            "wake approval",
            "wake ended",
            "approval",
            "approval_not_found",
            "activated",
            "lost seat",
            "expired",
            "plan",
            "plan rejected",
            "planned signal",
            "pushed",
            "declared",
            "declared badly",
            "coached neither side",
            "paused",
            "absent bot",
            "absent policy",
            "absent held",
            "replayed",
            "replayed to its end",
        ];
        for what in wanted {
            assert!(self.0.contains_key(what), "never: {what}; seen: {:?}", self.0);
        }
    }
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }
}

pub(crate) struct Driver {
    game: Match,
    now: u64,
    seats: Vec<(Seat, SeatModel)>,
    finals: Finals,
    waits: HashMap<WaitId, (usize, Right)>,
    ended: BTreeSet<String>,
    texts: u32,
    probes: Vec<(usize, Activation)>,
    ranks: Option<Value>,
    reading: replaying::Reading,
    pub(crate) seen: Seen,
}

impl Driver {
    /// A duel.
    pub(crate) fn new() -> Self {
        Self::over(agent_command(config()))
    }

    /// Red with an ally whom nobody plays, against blue.
    fn allied() -> Self {
        let alliances: [(&str, &[&str]); 2] = [("pair", &["red", "green"]), ("lone", &["blue"])];
        let names = |list: &[&str]| list.iter().map(|name| (*name).into()).collect();
        let alliances = alliances.iter().map(|(name, sides)| ((*name).to_owned(), names(sides))).collect();
        let teams = Some(names(&["red", "blue", "green"]));
        let config = Config { teams, alliances: Some(alliances), ..config() };
        Self::over(Match::new(surface(AgentCommand), config, 0).unwrap())
    }

    fn over(mut game: Match) -> Self {
        let seats =
            ["red", "blue"].into_iter().flat_map(|team| ["ground", "air"].map(|role| Seat::new(team, role)));
        game.subscribe("red").unwrap();
        Self {
            game,
            now: 0,
            seats: seats.map(|seat| (seat, SeatModel::default())).collect(),
            finals: Finals::default(),
            waits: HashMap::new(),
            ended: BTreeSet::new(),
            texts: 0,
            probes: Vec::new(),
            ranks: None,
            reading: replaying::Reading::default(),
            seen: Seen::default(),
        }
    }

    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Allied => *self = Self::allied(),
            Op::Sequence { seat, speaker, planned } => self.sequence(usize::from(*seat), *speaker, *planned),
            Op::Stream { seat, speaker, every } => self.stream(usize::from(*seat), *speaker, *every),
            Op::End { declared } => self.end(*declared),
            Op::Assign { seat, holder } => self.assign(usize::from(*seat), *holder),
            Op::Controller { seat, controller } => {
                self.controller(usize::from(*seat), CONTROLLERS[usize::from(*controller)]);
            }
            Op::Scopes { seat, mask } => self.scopes(usize::from(*seat), *mask),
            Op::Mandate { seat, supervised, when_absent } => {
                self.mandate(usize::from(*seat), *supervised, *when_absent);
            }
            Op::Act { seat, speaker, intent } => self.act(usize::from(*seat), *speaker, *intent),
            Op::Flood { seat, speaker } => self.flood(usize::from(*seat), *speaker),
            Op::Observe { seat, speaker } => self.observe(usize::from(*seat), *speaker),
            Op::Wait { seat, speaker, millis } => {
                self.wait(usize::from(*seat), right(*speaker), u64::from(*millis));
            }
            Op::CancelWait { number } => self.cancel_wait(usize::from(*number)),
            Op::CallStarts { seat } => self.call_starts(usize::from(*seat)),
            Op::CallEnds { seat } => self.call_ends(usize::from(*seat)),
            Op::Tell { owner, blue, roles } => self.tell(*owner, *blue, *roles),
            Op::Say { seat, speaker } => self.say(usize::from(*seat), *speaker),
            Op::Deploy { seat } => self.deploy(usize::from(*seat)),
            Op::Rollback { seat, version } => self.rollback(usize::from(*seat), u32::from(*version)),
            Op::Probed { good } => self.probed(*good),
            Op::Resolve { seat, current, approve } => self.resolve(usize::from(*seat), *current, *approve),
            Op::Forfeit { blue } => self.forfeit(*blue),
            Op::Hold => self.game.hold_start().unwrap(),
            Op::Start => self.game.start(self.now),
            Op::Tick { ticks } => self.tick(*ticks),
            Op::Pass { millis } => {
                self.now += u64::from(*millis);
                self.game.heartbeat(self.now);
            }
            Op::BreakARule => {
                self.seats[0].1.told("a message that nobody sent");
                self.observe(0, Speaker::Agent);
            }
        }
        self.take_changes();
        self.judge();
        self.judge_replay();
    }

    // --- operations --------------------------------------------------------------------------------------------------

    fn assign(&mut self, seat: usize, holder: Holder) {
        let (name, model) = &mut self.seats[seat];
        if self.game.assign(name, occupant(holder)).is_ok() {
            let before = model.owner;
            if model.assign(holder) {
                self.probes.retain(|(of, _)| *of != seat);
            }
            if before.is_some() && before != model.owner {
                self.seen.saw("lost seat");
            }
        }
    }

    fn controller(&mut self, seat: usize, controller: Controller) {
        let (name, model) = &mut self.seats[seat];
        if self.game.set_controller(name, controller).is_ok() {
            model.controller = controller;
            model.planned &= model.may_act(Speaker::Agent);
        }
    }

    fn scopes(&mut self, seat: usize, mask: u8) {
        let all = ["act", "policy", "say"];
        let scopes: Vec<&str> = (0..3).filter(|bit| mask & (1 << bit) != 0).map(|bit| all[bit]).collect();
        let (name, model) = &mut self.seats[seat];
        self.game.set_scopes(name, &json!(scopes)).unwrap();
        model.may_act = scopes.contains(&"act");
        model.may_say = scopes.contains(&"say");
        model.planned &= model.may_act(Speaker::Agent);
    }

    fn mandate(&mut self, seat: usize, supervised: bool, when_absent: u8) {
        let (name, _) = &self.seats[seat];
        let (_, mut mandate) = self.game.terms(name).unwrap();
        mandate["autonomy"] = json!(if supervised { "supervised" } else { "autonomous" });
        mandate["whenAbsent"] = json!(["policy", "bot", "hold"][usize::from(when_absent)]);
        self.game.set_mandate(name, &mandate).unwrap();
        self.seats[seat].1.when_absent = when_absent;
    }

    fn call_starts(&mut self, seat: usize) {
        let (name, model) = &mut self.seats[seat];
        self.game.agent_call_started(name, self.now);
        model.in_flight += 1;
        model.last_call = Some(self.now);
    }

    fn call_ends(&mut self, seat: usize) {
        let (name, model) = &mut self.seats[seat];
        self.game.agent_call_ended(name, self.now);
        if model.in_flight > 0 {
            model.in_flight -= 1;
            model.last_call = Some(self.now);
        }
    }

    /// A side concedes in a match that runs.
    fn forfeit(&mut self, blue: bool) {
        let before = (self.game.debug_view(), self.boards());
        if let Err(error) = self.game.forfeit(team(blue), self.now) {
            assert_eq!((error.code, self.game.is_held()), (Code::Paused, true));
            assert_eq!((self.game.debug_view(), self.boards()), before);
        }
    }

    /// No act without authority: a refused intent changes neither the game nor a board, and one that needs a right that
    /// the speaker lacks is refused.
    fn act(&mut self, seat: usize, speaker: Speaker, intent: Intent) {
        let (name, model) = self.seats[seat].clone();
        let before = (self.game.debug_view(), self.boards());
        let acks = match self.game.act(&name, right(speaker), &[intent.to_json(&name)], self.now) {
            Ok(acks) => acks,
            Err(error) => {
                assert_eq!((error.code, self.game.is_held()), (Code::Paused, true));
                assert_eq!((self.game.debug_view(), self.boards()), before);
                return self.seen.saw("paused");
            }
        };
        assert!(!self.game.is_held(), "nobody acts before the start");
        let [ack] = &acks[..] else { panic!("one ack for one intent") };
        self.seen.saw(ack.code());
        assert!(!ack.to_json().to_string().contains(TYPED), "no echo");
        if *ack == Ack::Ok {
            assert!(model.may_act(speaker), "{name} acted as {speaker:?} without authority: {model:?}");
            assert!(!self.finals.is_out(&name.team), "{name} acted although it is out");
        } else {
            assert_eq!((self.game.debug_view(), self.boards()), before, "a refused intent changes nothing");
        }
        if let Intent::Garbage = intent {
            assert_eq!(ack.code(), "invalid");
        }
    }

    /// Whoever sends without end is told so, and a full bucket is all that passes at once (§15).
    fn flood(&mut self, seat: usize, speaker: Speaker) {
        let burst = self.game.surface().manifest.control.intents.burst as usize;
        let (name, model) = self.seats[seat].clone();
        let stop = vec![Intent::Stop.to_json(&name); burst + 20];
        let Ok(acks) = self.game.act(&name, right(speaker), &stop, self.now) else {
            return assert!(self.game.is_held());
        };
        let limited = acks.iter().filter(|ack| **ack == Ack::RateLimited).count();
        if model.may_act(speaker) && !self.finals.is_out(&name.team) {
            assert!(limited >= 20);
            self.seen.saw("rate_limited");
        } else {
            assert_eq!(limited, 0, "whoever may not act has no bucket to empty");
        }
    }

    fn observe(&mut self, seat: usize, speaker: Speaker) {
        let (name, _) = self.seats[seat].clone();
        let observation = self.game.observe(&name, right(speaker), &Observe::default()).unwrap();
        assert!(!observation.to_string().contains(TYPED), "text of people is in an observation");
        let messages = self.game.take_messages(&name, right(speaker)).unwrap();
        self.read(seat, right(speaker), messages.as_ref());
    }

    fn wait(&mut self, seat: usize, right: Right, millis: u64) {
        let (name, _) = self.seats[seat].clone();
        let in_flight = self.waits.values().filter(|wait| **wait == (seat, right)).count();
        match self.game.wait(&name, right, Wait { millis, until: vec!["attacked".into()] }, self.now) {
            Ok(Waiting::Done(answer)) => self.waited(seat, right, &answer),
            Ok(Waiting::Pending(id)) => assert_eq!(self.waits.insert(id, (seat, right)), None),
            Err(error) if error.code == Code::Busy => assert_eq!(in_flight, WAITS_MAX),
            Err(error) => {
                assert_eq!(error.code, Code::NotInMatch);
                assert!(self.game.outcome(&name.team).is_final(), "the end was told before");
            }
        }
    }

    fn cancel_wait(&mut self, number: usize) {
        if let Some(id) = self.waits.keys().copied().nth(number) {
            self.game.cancel_wait(id);
            self.waits.remove(&id);
        }
    }

    fn tell(&mut self, owner: u8, blue: bool, roles: u8) {
        let named: Vec<&str> = [(1, "ground"), (2, "air")]
            .iter()
            .filter(|(bit, _)| roles & bit != 0)
            .map(|(_, role)| *role)
            .collect();
        let to = if named.is_empty() { json!("all") } else { json!(named) };
        self.texts += 1;
        let text = format!("{TYPED}{}-{}", NAMES[usize::from(owner)], self.texts);
        let message = Tell::parse(self.game.surface(), json!({ "roles": to, "text": text })).unwrap();
        let addressed: Vec<usize> = (0..self.seats.len())
            .filter(|seat| {
                let (name, model) = &self.seats[*seat];
                let wanted = named.is_empty() || named.contains(&&*name.role);
                &*name.team == team(blue) && wanted && model.owner == Some(owner)
            })
            .collect();
        let elsewhere =
            self.seats.iter().any(|(name, model)| &*name.team != team(blue) && model.owner == Some(owner));
        let theirs = if named.is_empty() { !addressed.is_empty() } else { addressed.len() == named.len() };
        if theirs && elsewhere {
            self.seen.saw("coached neither side");
        }
        let whole = theirs && !elsewhere;
        match self.game.tell(&owner_id(owner), team(blue), &message, self.now) {
            Ok(()) => {
                assert!(whole, "a message reached a seat that is not its sender's");
                self.seen.saw("told");
                addressed.into_iter().for_each(|seat| self.seats[seat].1.told(&text));
            }
            Err(CallError { code: Code::Forbidden, .. }) => assert!(!whole),
            Err(error) => assert_eq!((error.code, whole), (Code::RateLimited, true)),
        }
    }

    fn say(&mut self, seat: usize, speaker: Speaker) {
        let (name, model) = self.seats[seat].clone();
        self.texts += 1;
        let text = format!("{TYPED}agent-{}", self.texts);
        let said = self.game.say(&name, right(speaker), &text, self.now);
        let changes = self.game.take_changes();
        self.end_waits(changes.waits);
        if said.is_err() {
            assert!(changes.said.is_empty());
            return;
        }
        assert!(speaker == Speaker::Agent && model.may_say && model.owner.is_some());
        let [Said { owner, seat: from, text: heard, .. }] = &changes.said[..] else { panic!("said once") };
        assert_eq!((Some(owner), from, heard), (model.owner.map(owner_id).as_ref(), &name, &text));
        self.seen.saw("said");
    }

    fn deploy(&mut self, seat: usize) {
        let (name, _) = self.seats[seat].clone();
        let artifact =
            Artifact { runtime: Runtime::Js, code: b"function think() { return [] }".as_slice().into() };
        let deploy = self.game.deploy(&name, artifact);
        self.deployed(seat, deploy);
    }

    fn rollback(&mut self, seat: usize, version: u32) {
        let (name, _) = self.seats[seat].clone();
        let deploy = self.game.rollback(&name, version);
        self.deployed(seat, deploy);
    }

    /// One pending approval a lane; the newest replaces it (§7).
    fn deployed(&mut self, seat: usize, deploy: Result<Deploy, CallError>) {
        match deploy {
            Ok(Deploy::Probe(activation)) => self.probes.push((seat, activation)),
            Ok(Deploy::Approval(request)) => {
                self.seen.saw("approval");
                self.seats[seat].1.approval = Some(request["approval"]["id"].as_str().unwrap().to_owned());
            }
            Err(_) => {}
        }
    }

    fn probed(&mut self, good: bool) {
        let Some((seat, activation)) = self.probes.pop() else { return };
        let (name, _) = self.seats[seat].clone();
        let failed = || Err(PolicyError::of("threw"));
        let probe = if good { Ok(Thought::default()) } else { failed() };
        self.game.activated(&name, &activation, &probe);
        if good {
            self.seen.saw("activated");
        }
    }

    fn resolve(&mut self, seat: usize, current: bool, approve: bool) {
        let (name, model) = self.seats[seat].clone();
        let id = model.approval.clone().filter(|_| current).unwrap_or_else(|| "ap_never".to_owned());
        match self.game.resolve_approval(&name, &id, approve) {
            Ok(approved) => {
                assert_eq!(model.approval, Some(id), "only the newest request can be resolved");
                self.seats[seat].1.approval = None;
                if let Some(Approved::Probe(activation)) = approved {
                    self.probes.push((seat, activation));
                }
            }
            Err(error) => self.seen.saw(error.code.as_str()),
        }
    }

    fn tick(&mut self, ticks: u16) {
        for _ in 0..ticks {
            if !self.game.wants_round() {
                return;
            }
            let signals = self.signals();
            let thinks = self.game.begin_round(self.now, &|_| Some(Vec::new()));
            for think in thinks {
                assert!(!think.observation.to_string().contains(TYPED), "a policy is shown text of people");
                let intents = vec![json!({ "kind": "stop", "units": [] }), json!({ "kind": TYPED })];
                self.game.thought(&think.seat, Ok(Thought { intents, ..Thought::default() }));
            }
            self.game.end_round(self.now);
            self.judge_planned(&signals);
            self.now += 100;
        }
    }

    // --- what must hold ----------------------------------------------------------------------------------------------

    fn take_changes(&mut self) {
        let changes = self.game.take_changes();
        assert!(changes.said.is_empty());
        self.end_waits(changes.waits);
        self.pushed(changes.observations);
        for (_, message) in changes.views {
            assert!(!format!("{message:?}").contains(TYPED), "text of people is in a view");
        }
        for seat in changes.policies_ended {
            self.probes.retain(|(of, _)| self.seats[*of].0 != seat);
        }
    }

    /// A wait ends once, in its own lane.
    fn end_waits(&mut self, waits: Vec<(WaitId, Result<Value, CallError>)>) {
        for (id, answer) in waits {
            let (seat, right) = self.waits.remove(&id).expect("a wait in flight");
            assert!(self.ended.insert(format!("{id:?}")), "a wait ended twice");
            match answer {
                Ok(answer) => self.waited(seat, right, &answer),
                Err(error) => assert_eq!(error.code, Code::BadToken),
            }
        }
    }

    fn waited(&mut self, seat: usize, right: Right, answer: &Value) {
        if let Some(wake) = answer["wake"].as_str() {
            self.seen.saw(&format!("wake {wake}"));
        }
        let mut rest = answer.clone();
        let messages = rest.as_object_mut().unwrap().remove("messages");
        assert!(!rest.to_string().contains(TYPED), "text of people is beside the messages");
        self.read(seat, right, messages.as_ref());
    }

    /// Exactly what was told and not read, in order, once, and to the agent alone.
    fn read(&mut self, seat: usize, right: Right, messages: Option<&Value>) {
        let read: Vec<String> = messages
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|message| message["text"].as_str().unwrap().to_owned())
            .collect();
        if right == Right::Owner {
            assert!(read.is_empty(), "an owner reads no messages of their own");
            return;
        }
        if !read.is_empty() {
            self.seen.saw("message");
        }
        assert_eq!(read, Vec::from(std::mem::take(&mut self.seats[seat].1.unread)), "{}", self.seats[seat].0);
    }

    fn boards(&self) -> [Value; 2] {
        ["red", "blue"].map(|team| self.game.signal_board(team).unwrap().to_json())
    }
}

fn team(blue: bool) -> &'static str {
    if blue { "blue" } else { "red" }
}

fn right(speaker: Speaker) -> Right {
    match speaker {
        Speaker::Owner => Right::Owner,
        Speaker::Agent => Right::Agent,
    }
}
