//! Who still owes an answer: the state that an instance's owner, its thread and the watchdog share.
//!
//! It must never run a callback while it holds its lock, and never run one twice.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use crate::cores::{Core, Cores, Work};
use crate::error::PolicyErrorCode;
use crate::instance::{Answer, AnsweredBy, Busy, Loaded, Thought};
use crate::limits::{Budget, Patience, WATCHDOG_GRACE};
use crate::process::Worker;
use crate::stuck::{Stuck, Tenant, ThreadId};
use crate::watchdog::{self, Deadline, Watched};

/// The callback of one call.
pub(crate) enum Done {
    Load(Box<dyn FnOnce(Answer<Loaded>) + Send>),
    Think(Box<dyn FnOnce(Answer<Thought>) + Send>),
}

impl Done {
    fn fail(self, code: PolicyErrorCode, by: AnsweredBy) {
        match self {
            Self::Load(done) => done(Answer::unheard(code, by)),
            Self::Think(done) => done(Answer::unheard(code, by)),
        }
    }
}

enum Phase {
    /// Loaded, and no call runs.
    Idle,
    /// One call runs, or waits for its core, and is owed an answer.
    Called { done: Done, deadline: Deadline, core: Option<Core> },
    /// Never entered again. Calls are answered with this code.
    Dead(PolicyErrorCode),
}

/// Where an engine runs, and so what ends it when it does not end by itself.
pub(crate) enum Place {
    /// A thread of this process: it stops where it looks, and cannot be killed.
    Thread(ThreadId),
    /// A process of its own, which is killed.
    Process(Arc<Worker>),
}

/// Whether a call may compute.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It has a core, until it is answered.
    Now,
    /// None got free in time. It is still owed an answer.
    NoCore,
    /// Nobody waits for it any more.
    Never,
}

/// The state of one instance.
pub(crate) struct Shared {
    phase: Mutex<Phase>,
    /// Tells the engine to stop where it can.
    abandoned: Arc<AtomicBool>,
    /// Where the engine runs, once that is known.
    place: OnceLock<Place>,
    /// Set while the thread runs on although its call has been answered. The thread's end clears it.
    stuck: Mutex<Option<Stuck>>,
    /// For the watchdog.
    this: Weak<Self>,
}

impl Shared {
    /// The state of an instance that starts to load now, and is answered for after this much wall time.
    pub(crate) fn loading(within: Duration, done: Box<dyn FnOnce(Answer<Loaded>) + Send>) -> Arc<Self> {
        let shared = Arc::new_cyclic(|this: &Weak<Self>| Self {
            phase: Mutex::new(Phase::Idle),
            abandoned: Arc::default(),
            place: OnceLock::new(),
            stuck: Mutex::default(),
            this: this.clone(),
        });
        // The watchdog asks for who it watches once: it must find the instance, and the call it answers for.
        let mut phase = shared.lock();
        let deadline = watchdog::watch(shared.this.clone(), within);
        *phase = Phase::Called { done: Done::Load(done), deadline, core: None };
        drop(phase);
        shared
    }

    /// Starts a call: true when the thread has to be told, false when the instance is dead and `done` has run.
    pub(crate) fn begin(&self, budget: Budget, done: Done) -> Result<bool, Busy> {
        let mut phase = self.lock();
        match *phase {
            Phase::Called { .. } => Err(Busy),
            Phase::Idle => {
                let deadline = watchdog::watch(self.this.clone(), budget.wall + WATCHDOG_GRACE);
                *phase = Phase::Called { done, deadline, core: None };
                Ok(true)
            }
            Phase::Dead(code) => {
                drop(phase);
                done.fail(code, AnsweredBy::Sandbox);
                Ok(false)
            }
        }
    }

    /// Takes the running call's callback in order to answer it. Nothing when it has been answered already.
    ///
    /// `ended_by` is the code of a failure after which the instance must not be entered again.
    pub(crate) fn finish(&self, ended_by: Option<PolicyErrorCode>) -> Option<Done> {
        let mut phase = self.lock();
        if let Phase::Dead(_) = *phase {
            return None;
        }
        let next = ended_by.map_or(Phase::Idle, Phase::Dead);
        self.leave(mem::replace(&mut phase, next))
    }

    /// Ends the instance. A running call is answered with `timeout`.
    pub(crate) fn end(&self) {
        self.end_by(AnsweredBy::Sandbox);
    }

    /// The host has no process or thread for the instance, or wants no answer of it any more.
    pub(crate) fn given_up(&self) {
        self.end_by(AnsweredBy::Host);
    }

    fn end_by(&self, by: AnsweredBy) {
        let mut phase = self.lock();
        if let Phase::Dead(_) = *phase {
            return;
        }
        let done = self.abandon(&mut phase);
        drop(phase);
        if let Some(done) = done {
            done.fail(PolicyErrorCode::Timeout, by);
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        matches!(*self.lock(), Phase::Dead(_))
    }

    /// The engine has its place, and the running call's time begins now. False when nobody waits for it any more.
    pub(crate) fn runs_in(&self, place: Place, budget: Budget) -> bool {
        // Only one engine ever runs an instance.
        let _ = self.place.set(place);
        self.is_due_in(budget.wall)
    }

    /// Waits until a core is free for the running call's work of this tenant's, as long as its budget says.
    pub(crate) fn turn(&self, cores: &Cores, tenant: &Tenant, work: Work, budget: Budget) -> Turn {
        let core = match (cores.take_within(Duration::ZERO, tenant, work), budget.patience) {
            (Some(core), _) => core,
            (None, Patience::WithinItsTime(patience)) => match cores.take_within(patience, tenant, work) {
                Some(core) => core,
                None => return Turn::NoCore,
            },
            (None, Patience::BeforeItsTime(patience)) => {
                // Who waits is woken late where everybody waits, and answers all the same.
                if !self.is_due_in(patience * 2) {
                    return Turn::Never;
                }
                let Some(core) = cores.take_within(patience, tenant, work) else { return Turn::NoCore };
                if !self.is_due_in(budget.wall) {
                    return Turn::Never;
                }
                core
            }
        };
        let mut phase = self.lock();
        let Phase::Called { core: held, .. } = &mut *phase else { return Turn::Never };
        *held = Some(core);
        Turn::Now
    }

    /// The watchdog answers the running call this much later, and its grace. False when nobody waits for it any more.
    fn is_due_in(&self, wall: Duration) -> bool {
        let mut phase = self.lock();
        let Phase::Called { deadline, .. } = &mut *phase else { return false };
        watchdog::forget(*deadline);
        *deadline = watchdog::watch(self.this.clone(), wall + WATCHDOG_GRACE);
        true
    }

    /// The thread ends: it is stuck no longer, and its worker goes with it.
    pub(crate) fn thread_ended(&self) {
        self.end();
        self.stuck().take();
        if let Some(Place::Process(worker)) = self.place.get() {
            worker.end();
        }
    }

    /// Set when nobody waits for the engine any more.
    pub(crate) fn abandoned(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.abandoned)
    }

    fn abandon(&self, phase: &mut Phase) -> Option<Done> {
        self.abandoned.store(true, Ordering::Relaxed);
        match (&*phase, self.place.get()) {
            // Without a core it computes nothing, and goes when it has its turn.
            (Phase::Called { core: Some(_), .. }, Some(Place::Thread(thread))) => {
                *self.stuck() = Some(Stuck::count(*thread));
            }
            (_, Some(Place::Process(worker))) => worker.kill(),
            (_, _) => {}
        }
        self.leave(mem::replace(phase, Phase::Dead(PolicyErrorCode::Timeout)))
    }

    fn leave(&self, phase: Phase) -> Option<Done> {
        match phase {
            Phase::Called { done, deadline, core: _ } => {
                watchdog::forget(deadline);
                Some(done)
            }
            Phase::Idle | Phase::Dead(_) => None,
        }
    }

    fn stuck(&self) -> MutexGuard<'_, Option<Stuck>> {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        // Every change of phase is one assignment, so a panic elsewhere leaves a valid one.
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched for Shared {
    fn expire(&self, expired: Deadline) {
        let mut phase = self.lock();
        let Phase::Called { deadline, core, .. } = &*phase else { return };
        if *deadline != expired {
            return;
        }
        // Without a core the engine was not entered: it was the host that took too long.
        let by = if core.is_some() { AnsweredBy::Sandbox } else { AnsweredBy::Host };
        let done = self.abandon(&mut phase);
        drop(phase);
        if let Some(done) = done {
            done.fail(PolicyErrorCode::Timeout, by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(60);
    const NONE: Duration = Duration::ZERO;

    fn budget(wall: Duration, patience: Patience) -> Budget {
        Budget { cpu: LONG, wall, patience }
    }

    /// An instance that loads, and who answers for it.
    fn loading(within: Duration) -> (Arc<Shared>, Receiver<AnsweredBy>) {
        let (send, by) = channel();
        let done = move |answer: Answer<Loaded>| _ = send.send(answer.by);
        (Shared::loading(within, Box::new(done)), by)
    }

    /// When the watchdog answers for the running call.
    fn deadline(shared: &Shared) -> Option<Deadline> {
        match &*shared.lock() {
            Phase::Called { deadline, .. } => Some(*deadline),
            Phase::Idle | Phase::Dead(_) => None,
        }
    }

    // §11: the watchdog answers 50 ms after the hang guard, a think's from when it was asked, a load's from when it has its
    // core.
    #[test]
    fn the_watchdog_answers_at_the_guard_and_its_grace() {
        let budget = budget(LONG, Patience::BeforeItsTime(NONE));
        let check = |shared: &Shared, begin: &dyn Fn()| {
            let before = Instant::now();
            begin();
            let due = deadline(shared).unwrap().at;
            let guard = LONG + Duration::from_millis(50);
            assert!((before + guard..=Instant::now() + guard).contains(&due));
        };
        let (shared, _loaded) = loading(LONG);
        check(&shared, &|| assert!(shared.runs_in(Place::Thread(ThreadId::current()), budget)));
        assert!(shared.finish(None).is_some());
        check(&shared, &|| assert_eq!(shared.begin(budget, Done::Think(Box::new(|_| {}))), Ok(true)));
    }

    // §11: a guard counts against a policy only where the policy ran; before that it was the host that took too long.
    #[test]
    fn whoever_never_had_a_core_is_not_answered_for_as_if_it_hung() {
        let (_shared, by) = loading(NONE);
        assert_eq!(by.recv(), Ok(AnsweredBy::Host), "no worker came");

        let cores = Cores::of(1);
        let (shared, by) = loading(LONG);
        let load = budget(LONG, Patience::BeforeItsTime(NONE));
        assert_eq!(shared.turn(&cores, &Tenant::default(), Work::Load, load), Turn::Now);
        assert!(shared.is_due_in(NONE));
        assert_eq!(by.recv(), Ok(AnsweredBy::Sandbox), "it had its core and did not answer");
        assert!(cores.try_take().is_some());
    }

    // Issue "Policies": what computes on is bounded, and what merely waits for a core takes nobody's place among it.
    #[test]
    fn a_thread_that_waits_for_a_core_is_not_stuck() {
        let (cores, budget) = (Cores::of(1), budget(LONG, Patience::BeforeItsTime(NONE)));
        let ended = |has_a_core: bool| {
            let (shared, _by) = loading(LONG);
            assert!(shared.runs_in(Place::Thread(ThreadId::current()), budget));
            if has_a_core {
                assert_eq!(shared.turn(&cores, &Tenant::default(), Work::Load, budget), Turn::Now);
            }
            shared.end();
            let is_stuck = shared.stuck().is_some();
            shared.thread_ended();
            assert!(shared.stuck().is_none());
            is_stuck
        };
        assert_eq!((ended(false), ended(true)), (false, true));
    }

    // §11: a tick waits no longer for policies that wait for others than for one that hangs.
    #[test]
    fn a_think_waits_for_a_core_within_its_own_time() {
        let (cores, tenant, work) = (Cores::of(1), Tenant::default(), Work::Think { usual: NONE });
        let held = cores.try_take().unwrap();
        let (shared, loaded) = loading(LONG);
        assert!(shared.finish(None).is_some());
        let (send, by) = channel();
        let think = budget(LONG, Patience::WithinItsTime(NONE));
        let done = move |answer: Answer<Thought>| _ = send.send(answer.by);
        assert_eq!(shared.begin(think, Done::Think(Box::new(done))), Ok(true));
        let due = deadline(&shared);
        assert_eq!(shared.turn(&cores, &tenant, work, think), Turn::NoCore);
        drop(held);
        assert_eq!(shared.turn(&cores, &tenant, work, think), Turn::Now);
        assert_eq!(deadline(&shared), due, "its guard is the one from the time when it was asked");
        drop((shared, loaded));
        assert!(by.recv().is_err());
    }
}
