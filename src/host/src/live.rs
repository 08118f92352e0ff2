//! A live match: the rules of a session joined to the policies that think for it.
//!
//! Still one owner and no clock of its own: the actor that holds it hands time in and delivers what comes out. Answers
//! of policies arrive on other threads; they queue here (at most one an instance) and a wake-up tells the actor.

use crate::answers;
use crate::places::PolicyPlaces;
use crate::policies::{Answered, NoProbe, Parties, Policies, Probe};
use crate::pools::Pools;
use crate::practice::{PracticeId, Practices, Principal};
use crate::status::StatusBoard;
use crate::ticks::Ticks;
use crate::trial::Trial;
use playerthree_game::{Clock, Outcome, Phase, Seat, SeatFacts};
use playerthree_session::{
    Activated, Activation, Approved, Call, CallError, Changes, Code, Deploy, Handover, Match, Millis,
    Occupant, OwnerControl, PolicyError, PolicyId, Practice, Publication, Publish, Right, Scope, Thought,
    WaitId, Waiting,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Ticks that a stalled realtime match makes up for. Later ones are dropped: the game slows down instead of racing.
pub const TICKS_OWED_MAX: u32 = 5;

/// Most ticks that an engine may ask for at once.
pub const STEP_MAX: u32 = 10_000;

/// Rounds that a game of turns plays without giving its actor a turn.
const ROUNDS_PER_TURN: usize = 16;

/// What an operation leads to, for whoever asked.
pub type Answer = Result<Value, CallError>;

/// Who makes a call, and where a practice that it starts counts the ticks that it has played.
pub struct Asker<R> {
    /// Who gets the answer.
    pub who: R,
    /// The count, which whoever waits for the answer may read.
    pub ticks: Ticks,
}

impl<R> From<R> for Asker<R> {
    /// Somebody who does not ask how far a practice has come.
    fn from(who: R) -> Self {
        Self { who, ticks: Ticks::default() }
    }
}

/// A live match whose callers are named by `R`: a socket and its sequence number, or an agent's channel.
pub struct Live<R> {
    game: Match,
    policies: Policies,
    waits: HashMap<WaitId, (R, Option<Seat>)>,
    probes: HashMap<Seat, Trying<R>>,
    practices: Practices,
    practising: HashMap<PracticeId, (R, Seat, Right)>,
    pools: Pools,
    answers: Vec<(R, Answer)>,
    owed: u32,
    board: Arc<StatusBoard>,
    /// What an engine that owns the clock asked for: ticks left, and who waits.
    stepping: Option<(u32, R)>,
}

impl<R> Live<R> {
    /// Joins a match to its sandbox, whose instances take `places`. `wake` is called on other threads when a policy answered; it must not block.
    pub fn new(game: Match, places: PolicyPlaces, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let practices = Practices::new(places.clone(), Arc::clone(&wake));
        let pools = places.pools().clone();
        let policies = Policies::new(&game, places, wake);
        let board = Arc::new(StatusBoard::of(&game));
        Self {
            game,
            board,
            policies,
            waits: HashMap::new(),
            practices,
            practising: HashMap::new(),
            pools,
            probes: HashMap::new(),
            answers: Vec::new(),
            owed: 0,
            stepping: None,
        }
    }

    /// What the match shows of its seats to whoever may read it, as of the last [`Self::take_changes`].
    pub fn board(&self) -> Arc<StatusBoard> {
        Arc::clone(&self.board)
    }

    /// The match, to read.
    pub fn game(&self) -> &Match {
        &self.game
    }

    /// The match, for operations that involve no policy and no wait.
    pub fn game_mut(&mut self) -> &mut Match {
        &mut self.game
    }

    /// Answers that are ready to be sent.
    pub fn take_answers(&mut self) -> Vec<(R, Answer)> {
        std::mem::take(&mut self.answers)
    }

    /// What everybody must be told, after waits and policies that it ends have been settled here.
    pub fn take_changes(&mut self, now: Millis) -> Changes {
        let mut changes = match self.stepping {
            Some(_) => self.game.take_changes_amid_ticks(),
            None => self.game.take_changes(),
        };
        for (id, answer) in changes.waits.drain(..) {
            if let Some((caller, agent)) = self.waits.remove(&id) {
                self.answered(agent, now);
                self.answers.push((caller, answer));
            }
        }
        for seat in changes.policies_ended.drain(..) {
            self.end_policies(&seat, Code::NotInMatch, now);
        }
        self.record_fortunes(changes.fared.drain(..));
        self.board.show(&self.game);
        changes
    }

    /// The match is over for good, its observers are gone: what waited for them is told.
    pub fn end_watching(&mut self) {
        self.game.end_watching();
        let fared = self.game.take_changes_amid_ticks().fared;
        self.record_fortunes(fared);
    }

    fn record_fortunes(&self, fared: impl IntoIterator<Item = (PolicyId, Outcome)>) {
        for (policy, outcome) in fared {
            self.pools.record(self.game.surface(), policy, outcome);
        }
    }

    /// Gives a seat to an occupant. What the one before had running or waiting there ends with `bad_token`.
    pub fn assign(&mut self, seat: &Seat, occupant: Occupant, now: Millis) -> Result<Handover, CallError> {
        self.assign_with(seat, occupant, OwnerControl::Kept, now)
    }

    /// [`Self::assign`], with the owner's hold of an automated seat (§4 "Owner control").
    pub fn assign_with(
        &mut self,
        seat: &Seat,
        occupant: Occupant,
        control: OwnerControl,
        now: Millis,
    ) -> Result<Handover, CallError> {
        let handover = self.game.assign_with(seat, occupant, control)?;
        if handover != Handover::SameOccupant {
            self.end_policies(seat, Code::BadToken, now);
            self.end_practices(seat, handover);
            self.try_given(now);
        }
        self.seats_changed(now);
        Ok(handover)
    }

    /// Ends whatever runs or is tried out for a seat. Whoever waits for a trial learns why there will be none.
    fn end_policies(&mut self, seat: &Seat, why: Code, now: Millis) {
        self.policies.end(seat);
        self.game.withdraw(seat);
        if let Some(trying) = self.probes.remove(seat) {
            self.tried(seat, trying, Err(why.into()), now);
        }
    }

    /// Ends the practices of a seat's earlier occupant. The same owner's own go on.
    fn end_practices(&mut self, seat: &Seat, handover: Handover) {
        let ends = |right: Right| handover == Handover::NewOwner || right == Right::Agent;
        for (id, (caller, ..)) in self.practising.extract_if(|_, (_, of, right)| of == seat && ends(*right)) {
            self.practices.cancel(id);
            self.answers.push((caller, Err(Code::BadToken.into())));
        }
    }

    // --- calls ---------------------------------------------------------------------------------------------------

    /// Carries out a call of a seat's agent or owner. The answer comes out of [`Self::take_answers`], now or later.
    pub fn call(
        &mut self,
        seat: &Seat,
        right: Right,
        method: &str,
        args: &Value,
        asker: impl Into<Asker<R>>,
        now: Millis,
    ) {
        let Asker { who: caller, ticks } = asker.into();
        let agent = (right == Right::Agent).then(|| seat.clone());
        if agent.is_some() {
            self.game.agent_call_started(seat, now);
        }
        let call = Call::parse(self.game.surface(), method, args);
        match call.and_then(|call| self.carry_out(seat, right, call, ticks, now)) {
            Ok(Step::Done(value)) => self.finish(agent, caller, Ok(value), now),
            Ok(Step::Waiting(id)) => _ = self.waits.insert(id, (caller, agent)),
            Ok(Step::Practising(id)) => _ = self.practising.insert(id, (caller, seat.clone(), right)),
            Ok(Step::Probing(activation)) => {
                let asked = Trying { activation, caller: Some(caller), agent: agent.is_some() };
                self.probe(seat, asked, now);
            }
            Err(error) => self.finish(agent, caller, Err(error), now),
        }
        self.play_turns(now);
    }

    /// Drops the waits of callers that went away.
    pub fn cancel_waits(&mut self, gone: impl Fn(&R) -> bool, now: Millis) {
        let ended: Vec<WaitId> =
            self.waits.iter().filter(|(_, (caller, _))| gone(caller)).map(|(id, _)| *id).collect();
        for id in ended {
            self.game.cancel_wait(id);
            if let Some((_, agent)) = self.waits.remove(&id) {
                self.answered(agent, now);
            }
        }
        let ended: Vec<_> = self.practising.extract_if(|_, (caller, ..)| gone(caller)).collect();
        for (id, (_, seat, right)) in ended {
            self.practices.cancel(id);
            self.answered((right == Right::Agent).then_some(seat), now);
        }
    }

    /// The owner's answer to an approval request (§7). Agreeing tries the artifact first.
    pub fn resolve_approval(&mut self, seat: &Seat, id: &str, approve: bool, caller: R, now: Millis) {
        match self.game.resolve_approval(seat, id, approve) {
            Ok(Some(Approved::Probe(activation))) => {
                let trying = Trying { activation, caller: Some(caller), agent: false };
                self.probe(seat, trying, now);
            }
            Ok(Some(Approved::Publish(publication))) => {
                let answer = self.publish(seat, &publication);
                self.answers.push((caller, answer));
            }
            Ok(None) => self.answers.push((caller, Ok(json!({ "id": id, "status": "rejected" })))),
            Err(error) => self.answers.push((caller, Err(error))),
        }
    }

    fn finish(&mut self, agent: Option<Seat>, caller: R, answer: Answer, now: Millis) {
        self.answered(agent, now);
        self.answers.push((caller, answer));
    }

    fn answered(&mut self, agent: Option<Seat>, now: Millis) {
        if let Some(seat) = agent {
            self.game.agent_call_ended(&seat, now);
        }
    }

    fn carry_out(
        &mut self,
        seat: &Seat,
        right: Right,
        call: Call,
        ticks: Ticks,
        now: Millis,
    ) -> Result<Step, CallError> {
        match call {
            Call::Briefing { topic } => self.briefing(seat, topic).map(Step::Done),
            Call::Observe(request) => self.game.observed(seat, right, &request, now).map(Step::Done),
            Call::Ready => self.game.agent_ready(seat, right, now).map(Step::Done),
            Call::Act(intents) => {
                let acks = self.game.act(seat, right, &intents, now)?;
                Ok(Step::Done(Value::from_iter([("acks", Match::acks_json(&acks))])))
            }
            Call::Sequence(plan) => Ok(Step::Done(self.game.sequence(seat, right, plan, now)?.to_json())),
            Call::Wait(wait) => match self.game.wait(seat, right, wait, now)? {
                Waiting::Done(answer) => Ok(Step::Done(answer)),
                Waiting::Pending(id) => Ok(Step::Waiting(id)),
            },
            Call::Skill { name, path, offset } => self.skill(&name, &path, offset).map(Step::Done),
            Call::PolicyDeploy(artifact) => {
                self.allowed(seat, right, Scope::Policy)?;
                self.deployed(seat, |game, seat| game.deploy(seat, artifact))
            }
            Call::PolicyRollback(version) => {
                self.allowed(seat, right, Scope::Policy)?;
                self.deployed(seat, |game, seat| game.rollback(seat, version))
            }
            Call::Publish => {
                self.allowed(seat, right, Scope::Publish)?;
                match self.game.publish(seat)? {
                    Publish::Now(publication) => self.publish(seat, &publication).map(Step::Done),
                    Publish::Approval(request) => Ok(Step::Done(request)),
                }
            }
            Call::Say(text) => self.game.say(seat, right, &text, now).map(Step::Done),
            Call::Practice(practice) => {
                self.allowed(seat, right, Scope::Practice)?;
                self.practise(seat, right, *practice, ticks).map(Step::Practising)
            }
            Call::PolicyStatus => Ok(Step::Done(json!({ "policy": self.game.policy_status(seat)? }))),
        }
    }

    /// Scopes bind agents (§6); an owner needs none.
    fn allowed(&self, seat: &Seat, right: Right, scope: Scope) -> Result<(), CallError> {
        if right == Right::Owner || self.game.grants(seat, scope)? {
            Ok(())
        } else {
            Err(Code::OutOfScope.into())
        }
    }

    /// Starts a practice of the seat: the game and options of this match, and nothing else of it (§13).
    fn practise(
        &mut self,
        seat: &Seat,
        right: Right,
        practice: Practice,
        ticks: Ticks,
    ) -> Result<PracticeId, CallError> {
        let owner = self.game.owner(seat).cloned().ok_or(Code::BadToken)?;
        let commander = self.game.commander(seat).filter(|_| right == Right::Agent).cloned();
        let principal = Principal { owner, commander };
        let (artifact, version) = self.game.practice_artifact(seat, practice.artifact)?;
        let trial = Trial {
            teams: Some(self.game.teams().to_vec()),
            alliances: self.game.alliances().cloned(),
            seat: seat.clone(),
            artifact,
            version,
            opponent: practice.opponent,
            allies: practice.allies,
            ticks: practice.ticks,
            seed: practice.seed,
            options: self.game.practice_options(practice.options),
            surface: Arc::clone(self.game.surface()),
        };
        self.practices.start(principal, trial, ticks)
    }

    fn deployed(
        &mut self,
        seat: &Seat,
        deploy: impl FnOnce(&mut Match, &Seat) -> Result<Deploy, CallError>,
    ) -> Result<Step, CallError> {
        Ok(match deploy(&mut self.game, seat)? {
            Deploy::Probe(activation) => Step::Probing(activation),
            Deploy::Approval(request) => Step::Done(request),
        })
    }

    /// Puts a seat's policy into the pool, in its owner's name (§13).
    fn publish(&mut self, seat: &Seat, publication: &Publication) -> Answer {
        let owner = self.game.owner(seat).ok_or(Code::BadToken)?;
        let artifact = publication.artifact.clone();
        let published = self.pools.publish(self.game.surface(), owner, &seat.role, artifact);
        self.game.published(seat, publication, published.is_ok());
        answers::publication(publication, published)
    }

    /// The core briefing, or one page of a topic (§4).
    fn briefing(&self, seat: &Seat, topic: Option<(String, u32)>) -> Result<Value, CallError> {
        let surface = self.game.surface();
        if let Some((topic, page)) = topic {
            // Before the start the topic documents the data's fields (§4).
            let data = if self.game.is_held() { Value::Null } else { self.game.match_data(seat)? };
            let page = surface.knowledge.topic(&topic, page, Some(&data).filter(|data| !data.is_null()));
            return page.map(|page| page.to_json()).ok_or_else(|| Code::Invalid.into());
        }
        let (scopes, mandate) = self.game.terms(seat)?;
        let (phase, teams) = match self.game.is_held() {
            true => (Phase::Lobby, &surface.manifest.teams[..]),
            false => (Phase::Match, self.game.teams()),
        };
        let facts = SeatFacts {
            phase,
            role: &seat.role,
            team: Some(&seat.team),
            teams,
            alliances: self.game.alliances().filter(|_| phase == Phase::Match),
            scopes: &scopes,
            mandate: &mandate,
        };
        Ok(surface.knowledge.briefing(&facts, &surface.hash))
    }

    fn skill(&self, name: &str, path: &str, offset: usize) -> Result<Value, CallError> {
        let window = self.game.surface().knowledge.skill_window(name, path, offset);
        window.map(|window| window.to_json()).ok_or_else(|| Code::Invalid.into())
    }

    // --- policies ------------------------------------------------------------------------------------------------

    /// Tries what seats were given and nobody tried yet (§20.5). One that finds no place is tried later.
    fn try_given(&mut self, now: Millis) {
        for (seat, activation) in self.game.due_activations() {
            self.probe(&seat, Trying { activation, caller: None, agent: false }, now);
        }
    }

    fn probe(&mut self, seat: &Seat, trying: Trying<R>, now: Millis) {
        let Some(holder) = self.game.owner(seat).cloned() else {
            return self.not_tried(seat, trying, Code::BadToken, now);
        };
        // Whoever wrote the code answers for it.
        let author = trying.activation.author().unwrap_or(&holder).clone();
        let parties = Parties { holder, author };
        // Without the data that the game has for the seat nothing is tried and nothing started (§10).
        let Ok(match_data) = self.game.match_data(seat) else {
            return self.not_tried(seat, trying, Code::Internal, now);
        };
        match self.policies.probe(seat, parties, &trying.activation, &match_data) {
            Ok(()) => _ = self.probes.insert(seat.clone(), trying),
            Err(NoProbe::Refused(error)) => self.probed(seat, trying, &Err(error), now),
            Err(NoProbe::NoPlace) => self.not_tried(seat, trying, Code::Busy, now),
            Err(NoProbe::Barred) => self.not_tried(seat, trying, Code::RateLimited, now),
        }
    }

    /// The activation could not be tried. The seat may ask again.
    fn not_tried(&mut self, seat: &Seat, trying: Trying<R>, why: Code, now: Millis) {
        self.game.not_tried(seat, &trying.activation);
        self.tried(seat, trying, Err(why.into()), now);
    }

    /// Whoever asked for the trial learns what came of it.
    fn tried(&mut self, seat: &Seat, trying: Trying<R>, answer: Answer, now: Millis) {
        self.answered(trying.agent.then(|| seat.clone()), now);
        self.answers.extend(trying.caller.map(|caller| (caller, answer)));
    }

    fn probed(&mut self, seat: &Seat, trying: Trying<R>, probe: &Result<Thought, PolicyError>, now: Millis) {
        let match_data = self.game.match_data(seat);
        if probe.is_ok() && match_data.is_err() {
            // Each instance is started from what the game has for its seat now; without it nothing is activated (§10).
            self.policies.end_probe(seat);
            return self.not_tried(seat, trying, Code::Internal, now);
        }
        if trying.agent && self.allowed(seat, Right::Agent, Scope::Policy).is_err() {
            // The owner took the scope away while it was tried.
            self.policies.end_probe(seat);
            return self.not_tried(seat, trying, Code::OutOfScope, now);
        }
        let activated = self.game.activated(seat, &trying.activation, probe);
        if matches!(activated, Activated::Active(_))
            && let Ok(match_data) = match_data
        {
            self.policies.start(seat, &match_data);
        }
        self.policies.end_probe(seat);
        let answer = answers::trial(self.game.surface(), &seat.role, &trying.activation, probe, activated);
        self.tried(seat, trying, answer, now);
    }

    /// Takes in what policies answered since the last call, and goes on with a round that waited for them.
    pub fn take_in(&mut self, now: Millis) {
        while let Some(answered) = self.policies.next_answer() {
            match answered {
                Answered::Probing(seat) => self.probe_loaded(&seat, now),
                Answered::NotProbed(seat) => {
                    self.policies.end_probe(&seat);
                    if let Some(trying) = self.probes.remove(&seat) {
                        self.not_tried(&seat, trying, Code::Busy, now);
                    }
                }
                Answered::Probed(seat, probe) => {
                    if let Some(trying) = self.probes.remove(&seat) {
                        self.probed(&seat, trying, &probe, now);
                    }
                }
                Answered::Thought(seat, thought) => self.game.thought(&seat, thought),
                Answered::NotStarted(seat, error) => self.game.policy_failed(&seat, error),
                Answered::Withdrawn(seat) => self.game.withdraw(&seat),
            }
        }
        while let Some((id, result)) = self.practices.next_ended() {
            if let Some((caller, seat, right)) = self.practising.remove(&id) {
                self.finish((right == Right::Agent).then_some(seat), caller, result, now);
            }
        }
        self.close_round(now);
        self.play_turns(now);
        while self.owed > 0 && self.game.wants_round() {
            self.owed -= 1;
            self.round(now);
        }
        self.step_on(now);
    }

    /// A probe's instance is up: let it think about what its seat sees.
    fn probe_loaded(&mut self, seat: &Seat, now: Millis) {
        let declared = self.policies.probe_detail(seat);
        let probe = match self.game.probe_observation(seat, &declared) {
            Ok(observation) => self.policies.think_probe(seat, &observation),
            Err(_) => Probe::Failed(PolicyError::of("bad_output")),
        };
        let Probe::Failed(error) = probe else { return };
        if let Some(trying) = self.probes.remove(seat) {
            self.probed(seat, trying, &Err(error), now);
        }
    }

    // --- the clock -----------------------------------------------------------------------------------------------

    /// One tick of a realtime match is due. A match whose policies still think owes it for later; one that is paused owes
    /// nothing, so that it goes on at its own pace.
    pub fn tick(&mut self, now: Millis) {
        if self.game.is_paused() {
            self.owed = 0;
        } else if self.game.wants_round() {
            self.round(now);
        } else if !self.game.is_over() && !self.game.is_held() {
            self.owed = (self.owed + 1).min(TICKS_OWED_MAX);
        }
    }

    /// Steps for an engine that owns the clock (§10), which calls this instead of [`Self::tick`]: so many ticks, each with
    /// the answers of its policies. `{tick}` comes out of [`Self::take_answers`] once they are stepped or the match is
    /// over.
    ///
    /// # Errors
    /// The answer is `invalid` in a game of turns, which steps by its moves, and past [`STEP_MAX`]; `paused` while the
    /// match is held before its start (§20.10), at the call or at the first tick that finds the session paused (§18); `busy`
    /// while an earlier call is under way.
    pub fn step(&mut self, ticks: u32, caller: R, now: Millis) {
        self.game.settle_pause(now);
        let refused = if self.game.surface().game.clock() == Clock::Turns || ticks > STEP_MAX {
            Some(Code::Invalid)
        } else if self.game.is_held() || self.game.is_paused() {
            Some(Code::Paused)
        } else {
            self.stepping.is_some().then_some(Code::Busy)
        };
        if let Some(code) = refused {
            self.answers.push((caller, Err(code.into())));
            return;
        }
        self.stepping = Some((ticks, caller));
        self.step_on(now);
    }

    /// Goes on with an engine's ticks until policies have to be waited for.
    fn step_on(&mut self, now: Millis) {
        while let Some((left, _)) = &mut self.stepping {
            let between_ticks = self.game.wants_round();
            if self.game.is_over() || (between_ticks && *left == 0) {
                let tick = self.game.tick();
                let done = self.stepping.take();
                self.answers.extend(done.map(|(_, caller)| (caller, Ok(json!({ "tick": tick })))));
                return;
            }
            if self.game.is_paused() {
                let stopped = self.stepping.take();
                self.answers.extend(stopped.map(|(_, caller)| (caller, Err(Code::Paused.into()))));
                return;
            }
            if !between_ticks {
                return;
            }
            *left -= 1;
            self.round(now);
        }
    }

    /// Wall time passed.
    pub fn heartbeat(&mut self, now: Millis) {
        self.take_in(now);
        for seat in self.policies.restart_due(now, &self.game) {
            self.game.policy_stopped(&seat);
        }
        self.try_given(now);
        self.game.heartbeat(now);
        self.play_turns(now);
    }

    fn round(&mut self, now: Millis) {
        let policies = &self.policies;
        let thinks = self.game.begin_round(now, &|seat| policies.idle_detail(seat));
        for think in thinks {
            if let Err(error) = self.policies.think(&think.seat, &think.observation, now) {
                self.game.thought(&think.seat, Err(error));
            }
        }
        self.close_round(now);
    }

    fn close_round(&mut self, now: Millis) {
        if self.game.round_is_complete() {
            self.game.end_round(now);
        }
    }

    /// Lets bots and policies of a game of turns move for as long as moves lead to moves.
    fn play_turns(&mut self, now: Millis) {
        if self.game.surface().game.clock() != Clock::Turns {
            return;
        }
        for _ in 0..ROUNDS_PER_TURN {
            if !self.game.wants_round() {
                return;
            }
            self.round(now);
        }
    }

    /// A seat changed hands or settings, or a match began: what holds the session is decided anew, and a game of turns may
    /// have somebody to move.
    pub fn seats_changed(&mut self, now: Millis) {
        self.game.settle_pause(now);
        self.play_turns(now);
    }
}

/// How far a call got.
enum Step {
    Done(Value),
    Waiting(WaitId),
    Practising(PracticeId),
    Probing(Activation),
}

/// An activation that is tried out, who waits for what comes of it, and whether that is the seat's agent, which is present
/// meanwhile (§8).
struct Trying<R> {
    activation: Activation,
    caller: Option<R>,
    agent: bool,
}
