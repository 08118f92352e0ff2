//! The sandbox instances of one match: the one that thinks for each seat, and the ones that a deploy tries out.
//!
//! Answers come on other threads; they queue here, at most one an instance, and `wake` tells the match's actor.
//! A failure inside one instance touches no other.

use crate::places::{Place, PolicyPlaces};
use crate::sandboxed::{self, Crashes, RESTART_FIRST, Ready};
use playerthree_game::{Name, Seat};
use playerthree_sandbox as sandbox;
use playerthree_session::{Activation, Match, Millis, OwnerId, PolicyError, Surface, Thought};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, mpsc};

/// Why an artifact is not tried.
pub(crate) enum NoProbe {
    /// It breaks a limit.
    Refused(PolicyError),
    /// Every place is taken, or as many as whoever holds the seat may have.
    NoPlace,
    /// Its author's policies cost workers too often.
    Barred,
}

/// What came back from the sandbox.
pub(crate) enum Answered {
    /// A probe's instance is loaded and must be given something to think about.
    Probing(Seat),
    /// There was no room to try the probe in.
    NotProbed(Seat),
    /// A probe ended.
    Probed(Seat, Result<Thought, PolicyError>),
    /// A seat's policy thought.
    Thought(Seat, Result<Thought, PolicyError>),
    /// A seat's policy failed when it was started.
    NotStarted(Seat, PolicyError),
    /// The instance that was asked to think for the seat found no core.
    Withdrawn(Seat),
}

/// Whether a probe goes on.
pub(crate) enum Probe {
    /// Its answer will come.
    Thinking,
    /// It is over.
    Failed(PolicyError),
}

enum Reply {
    Loaded(sandbox::Answer<sandbox::Loaded>),
    Thought(sandbox::Answer<sandbox::Thought>),
}

/// Which instance answered. `run` tells an instance from the ones before it in the same place.
struct From {
    seat: Seat,
    probe: bool,
    run: u64,
    author: OwnerId,
    reply: Reply,
}

/// Most instances that are let go while they compute. Past it the oldest is ended before its answer.
const LEAVING_MAX: usize = 16;

/// Who has to do with an instance.
#[derive(Clone)]
pub(crate) struct Parties {
    /// Who holds the seat: it takes a place of theirs, and what it compiles is theirs.
    pub(crate) holder: OwnerId,
    /// Who wrote the code, and answers for what it does.
    pub(crate) author: OwnerId,
}

/// An instance in its place.
struct Slot {
    run: u64,
    parties: Parties,
    instance: sandbox::Instance,
    artifact: Arc<sandbox::Artifact>,
    /// The sections that it reads, once it is loaded.
    detail: Option<Vec<Name>>,
    /// What it logged while it was loaded, for the statistics of its first think.
    logs: Vec<String>,
    /// An answer of its instance is to come.
    computes: bool,
    /// Given back when the slot goes.
    place: Place,
}

/// The policy of a seat across its crashes.
struct Running {
    slot: Slot,
    match_data: Arc<str>,
    crashes: Crashes,
    restart_at: Option<Millis>,
}

/// Every instance of one match.
pub(crate) struct Policies {
    surface: Arc<Surface>,
    match_seed: u32,
    limits: Option<sandbox::Limits>,
    places: PolicyPlaces,
    running: HashMap<Seat, Running>,
    probes: HashMap<Seat, Slot>,
    /// Instances that nobody waits for any more and that have not answered yet, by run, oldest first.
    leaving: VecDeque<(u64, sandbox::Instance)>,
    runs: u64,
    sender: mpsc::Sender<From>,
    receiver: mpsc::Receiver<From>,
    wake: Arc<dyn Fn() + Send + Sync>,
    now: Millis,
}

impl Policies {
    /// Those of this match, which has none yet.
    pub(crate) fn new(game: &Match, places: PolicyPlaces, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let (sender, receiver) = mpsc::channel();
        let surface = Arc::clone(game.surface());
        let limits = surface.manifest.control.policy.as_ref().map(sandboxed::limits);
        Self {
            surface,
            match_seed: game.seed(),
            limits,
            places,
            running: HashMap::new(),
            probes: HashMap::new(),
            leaving: VecDeque::new(),
            runs: 0,
            sender,
            receiver,
            wake,
            now: 0,
        }
    }

    /// Loads an artifact to try it out. The match refuses a second probe of the seat meanwhile.
    pub(crate) fn probe(
        &mut self,
        seat: &Seat,
        parties: Parties,
        activation: &Activation,
        match_data: &Value,
    ) -> Result<(), NoProbe> {
        if self.places.is_barred(&parties.author) {
            return Err(NoProbe::Barred);
        }
        let limits = self.limits.as_ref().ok_or(NoProbe::Refused(sandboxed::no_runtime()))?;
        let artifact = sandboxed::artifact(limits, &activation.artifact).map_err(NoProbe::Refused)?;
        let place = self.places.take(&parties.holder).ok_or(NoProbe::NoPlace)?;
        let slot = self.load(seat, true, parties, artifact, sandboxed::text(match_data), place);
        self.probes.extend(slot.map(|slot| (seat.clone(), slot)));
        Ok(())
    }

    /// What the loaded probe declared that it reads.
    pub(crate) fn probe_detail(&self, seat: &Seat) -> Vec<Name> {
        self.probes.get(seat).and_then(|slot| slot.detail.clone()).unwrap_or_default()
    }

    /// Lets the loaded probe think.
    pub(crate) fn think_probe(&mut self, seat: &Seat, observation: &Value) -> Probe {
        let failed = || Probe::Failed(PolicyError::of("timeout"));
        let Some(slot) = self.probes.get(seat) else { return failed() };
        let done = self.reporter(seat, true, slot.run, &slot.parties.author, Reply::Thought);
        let Some(slot) = self.probes.get_mut(seat) else { return failed() };
        if slot.instance.think(sandboxed::text(observation), done).is_err() {
            return failed();
        }
        slot.computes = true;
        Probe::Thinking
    }

    /// Ends a probe and gives its place back.
    pub(crate) fn end_probe(&mut self, seat: &Seat) {
        let ended = self.probes.remove(seat);
        self.let_go(ended);
    }

    /// Starts a fresh instance of a version that its probe found working, in the probe's place (§10: every instance is
    /// initialized anew).
    pub(crate) fn start(&mut self, seat: &Seat, match_data: &Value) {
        let Some(Slot { artifact, place, parties, .. }) = self.probes.remove(seat) else { return };
        let match_data: Arc<str> = sandboxed::text(match_data);
        if let Some(slot) = self.load(seat, false, parties, artifact, Arc::clone(&match_data), place) {
            let running = Running { slot, match_data, crashes: Crashes::default(), restart_at: None };
            let replaced = self.running.insert(seat.clone(), running);
            self.let_go(replaced.map(|running| running.slot));
        }
    }

    /// Ends a seat's policy and whatever it was trying out.
    pub(crate) fn end(&mut self, seat: &Seat) {
        let running = self.running.remove(seat).map(|running| running.slot);
        self.let_go(running);
        let probe = self.probes.remove(seat);
        self.let_go(probe);
    }

    /// An instance has no seat any more, and gives its place back. If it computes it is left to answer: whether the call runs
    /// away is not known before, and whoever wrote it answers for that although nobody waits for it.
    fn let_go(&mut self, slot: Option<Slot>) {
        let Some(slot) = slot.filter(|slot| slot.computes) else { return };
        if self.leaving.len() == LEAVING_MAX {
            self.leaving.pop_front();
        }
        self.leaving.push_back((slot.run, slot.instance));
        // What waited for it goes on without it.
        (self.wake)();
    }

    /// The sections that the seat's policy reads, if it is loaded and idle.
    pub(crate) fn idle_detail(&self, seat: &Seat) -> Option<Vec<Name>> {
        let slot = &self.running.get(seat)?.slot;
        if slot.computes || slot.instance.is_dead() { None } else { slot.detail.clone() }
    }

    /// Lets a seat's idle policy think.
    pub(crate) fn think(&mut self, seat: &Seat, observation: &Value, now: Millis) -> Result<(), PolicyError> {
        self.now = now;
        let unready = || PolicyError::of("timeout");
        let slot = self.running.get(seat).map(|running| &running.slot).ok_or_else(unready)?;
        let done = self.reporter(seat, false, slot.run, &slot.parties.author, Reply::Thought);
        let running = self.running.get_mut(seat).ok_or_else(unready)?;
        running.slot.instance.think(sandboxed::text(observation), done).map_err(|_busy| unready())?;
        running.slot.computes = true;
        Ok(())
    }

    /// The next answer, if one came.
    pub(crate) fn next_answer(&mut self) -> Option<Answered> {
        while let Ok(from) = self.receiver.try_recv() {
            self.blame(&from);
            self.leaving.retain(|(run, _)| *run != from.run);
            let answered = if from.probe { self.probe_answered(from) } else { self.policy_answered(from) };
            if answered.is_some() {
                return answered;
            }
        }
        None
    }

    /// Starts crashed policies again whose time has come. Those of an owner who is refused are over instead: their seats
    /// come back, to be played otherwise.
    pub(crate) fn restart_due(&mut self, now: Millis, game: &Match) -> Vec<Seat> {
        self.now = now;
        let mut stopped = Vec::new();
        let is_due = |running: &Running| {
            running
                .restart_at
                .is_some_and(|at| at <= now || self.places.is_barred(&running.slot.parties.author))
        };
        let due: Vec<Seat> = self
            .running
            .iter()
            .filter(|(_, running)| is_due(running))
            .map(|(seat, _)| seat.clone())
            .collect();
        for seat in due {
            let Some(Running { slot, match_data, crashes, .. }) = self.running.remove(&seat) else {
                continue;
            };
            if game.outcome(&seat.team).is_final() {
                continue;
            }
            if self.places.is_barred(&slot.parties.author) {
                stopped.push(seat);
                continue;
            }
            let fresh =
                self.load(&seat, false, slot.parties, slot.artifact, Arc::clone(&match_data), slot.place);
            let running = fresh.map(|slot| Running { slot, match_data, crashes, restart_at: None });
            self.running.extend(running.map(|running| (seat, running)));
        }
        stopped
    }

    /// Counts a call that cost a worker against the author.
    fn blame(&self, from: &From) {
        let cost_a_worker = match &from.reply {
            Reply::Loaded(answer) => sandboxed::cost_a_worker(answer),
            Reply::Thought(answer) => sandboxed::cost_a_worker(answer),
        };
        if cost_a_worker {
            self.places.blame(&from.author);
        }
    }

    fn probe_answered(&mut self, from: From) -> Option<Answered> {
        let slot = self.probes.get_mut(&from.seat).filter(|slot| slot.run == from.run)?;
        slot.computes = false;
        let probe = match from.reply {
            Reply::Loaded(answer) if sandboxed::is_without_room(&answer) => {
                return Some(Answered::NotProbed(from.seat));
            }
            Reply::Thought(answer) if sandboxed::is_without_room(&answer) => {
                return Some(Answered::NotProbed(from.seat));
            }
            Reply::Loaded(answer) => match sandboxed::ready(&self.surface, answer) {
                Ok(ready) => {
                    slot.is_ready(ready);
                    return Some(Answered::Probing(from.seat));
                }
                Err(error) => Err(error),
            },
            Reply::Thought(answer) => slot.thought(answer),
        };
        Some(Answered::Probed(from.seat, probe))
    }

    fn policy_answered(&mut self, from: From) -> Option<Answered> {
        let is_current = self.running.get(&from.seat).is_some_and(|running| running.slot.run == from.run);
        match from.reply {
            _ if !is_current => None,
            Reply::Loaded(answer) => {
                let no_room = sandboxed::is_without_room(&answer);
                let ready = sandboxed::ready(&self.surface, answer);
                let running = self.running.get_mut(&from.seat)?;
                running.slot.computes = false;
                match ready {
                    Ok(ready) => running.slot.is_ready(ready),
                    Err(_) if no_room => running.restart_at = Some(self.now + RESTART_FIRST),
                    Err(error) => {
                        running.crashed(self.now);
                        return Some(Answered::NotStarted(from.seat, error));
                    }
                }
                None
            }
            Reply::Thought(answer) => {
                let now = self.now;
                let running = self.running.get_mut(&from.seat)?;
                if sandboxed::is_without_room(&answer) {
                    running.slot.computes = false;
                    if running.slot.instance.is_dead() {
                        running.restart_at = Some(now + RESTART_FIRST);
                    }
                    return Some(Answered::Withdrawn(from.seat));
                }
                if running.slot.instance.is_dead() {
                    running.crashed(now);
                } else {
                    running.crashes.answered();
                }
                Some(Answered::Thought(from.seat, running.slot.thought(answer)))
            }
        }
    }

    fn load(
        &mut self,
        seat: &Seat,
        probe: bool,
        parties: Parties,
        artifact: Arc<sandbox::Artifact>,
        match_data: Arc<str>,
        place: Place,
    ) -> Option<Slot> {
        self.runs += 1;
        let run = self.runs;
        let limits = self.limits.clone()?;
        let setup = sandbox::Setup {
            artifact: Arc::clone(&artifact),
            limits,
            match_data,
            seed: self.places.seed(self.match_seed, seat, &parties.holder),
        };
        let done = self.reporter(seat, probe, run, &parties.author, Reply::Loaded);
        let instance = sandbox::Instance::load(&self.places.workers(&parties.holder), setup, done);
        Some(Slot { run, parties, instance, artifact, detail: None, logs: Vec::new(), computes: true, place })
    }

    /// What the sandbox calls with an answer, on a thread of its own.
    fn reporter<T>(
        &self,
        seat: &Seat,
        probe: bool,
        run: u64,
        author: &OwnerId,
        reply: fn(sandbox::Answer<T>) -> Reply,
    ) -> impl FnOnce(sandbox::Answer<T>) + Send + 'static
    where
        T: Send + 'static,
    {
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        let (seat, author) = (seat.clone(), author.clone());
        move |answer| {
            // The match may be gone; then nobody waits for this.
            _ = sender.send(From { seat, probe, run, author, reply: reply(answer) });
            wake();
        }
    }
}

impl Slot {
    fn is_ready(&mut self, ready: Ready) {
        self.detail = Some(ready.detail);
        self.logs = ready.logs;
    }

    fn thought(&mut self, answer: sandbox::Answer<sandbox::Thought>) -> Result<Thought, PolicyError> {
        self.computes = false;
        sandboxed::thought(answer, std::mem::take(&mut self.logs))
    }
}

impl Running {
    fn crashed(&mut self, now: Millis) {
        self.restart_at = Some(now + self.crashes.one_more());
    }
}
