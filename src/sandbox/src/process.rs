//! Worker processes: one for each JavaScript policy, because some loops inside the engine can be ended only by ending
//! their process (§11), and because an engine that a policy breaks must not be in the host's memory.
//!
//! It must never trust what a worker sends: whatever arrives is bounded and read again here.

use std::fmt;
use std::io::{self, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cores::Cores;
use crate::detail::Detail;
use crate::error::{PolicyError, PolicyErrorCode, cut};
use crate::instance::{Answer, AnsweredBy, Loaded, Setup, Thought};
use crate::limits::{Awaited, Limits, MAX_JS_OUTPUT_DEPTH, MAX_OUTPUT_BYTES};
use crate::output::{Intents, read_intents};
use crate::served::{MAX_ASK_BYTES, OUT_OF_TIME, WORKER_VARIABLE};
use crate::stuck::Tenant;
use crate::wire::{self, Ask, Told};
use crate::{wasm, watchdog};

/// The only argument of a program that is started as a worker; see [`serve_if_worker`](crate::serve_if_worker).
pub const WORKER_ARGUMENT: &str = "sandbox_worker";

/// Workers that wait for their policy, so that a policy need not wait for its worker.
pub const SPARE_WORKERS: usize = 2;

/// How long a worker may take from its start until it is ready.
pub(crate) const START_GUARD: Duration = Duration::from_secs(10);

/// Where worker processes come from, and the cores that policies share. Clones share the spare workers and the cores.
#[derive(Clone, Debug)]
pub struct Workers {
    source: Arc<Source>,
    awaited: Awaited,
    cores: Cores,
    tenant: Tenant,
}

#[derive(Debug)]
struct Source {
    program: PathBuf,
    spare: Mutex<Spare>,
}

#[derive(Debug, Default)]
struct Spare {
    ready: Vec<Worker>,
    /// A thread is starting more.
    filling: bool,
}

impl Workers {
    /// Workers that are this program, started once more with the argument [`WORKER_ARGUMENT`]. Its `main` must call
    /// [`serve_if_worker`](crate::serve_if_worker) then, or every load of a JavaScript policy fails `timeout`.
    pub fn of_this_program() -> Self {
        // The link names the program that runs, even after its file was replaced by a newer one.
        Self::of("/proc/self/exe")
    }

    /// Workers that are another program, which does the same.
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Self::awaited_by(program.into(), Awaited::ByATick)
    }

    fn awaited_by(program: PathBuf, awaited: Awaited) -> Self {
        // These threads must not inherit the priority of whoever happens to run the first policy.
        watchdog::start();
        wasm::start();
        let source = Source { program, spare: Mutex::default() };
        Self { source: Arc::new(source), awaited, cores: Cores::of_this_machine(), tenant: Tenant::default() }
    }

    /// Workers of the same program for threads that [`yield_to_everything`](crate::yield_to_everything) and whose policies
    /// no tick waits for. They share neither spare ones nor cores with these: a process inherits the priority of the thread
    /// that starts it, a call may take as much wall time as it must for its CPU time, and no tick may wait for such a call.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self::awaited_by(self.source.program.clone(), Awaited::ByNoTick)
    }

    /// The same workers, for policies that this tenant answers for.
    #[must_use]
    pub fn on_behalf_of(&self, tenant: &Tenant) -> Self {
        Self { tenant: tenant.clone(), ..self.clone() }
    }

    /// The same workers, for policies that compute on these cores alone, as many at once as they are. Those that are held
    /// otherwise are not theirs meanwhile.
    #[must_use]
    pub fn on_cores(&self, cores: &Cores) -> Self {
        Self { cores: cores.clone(), ..self.clone() }
    }

    pub(crate) fn awaited(&self) -> Awaited {
        self.awaited
    }

    pub(crate) fn cores(&self) -> &Cores {
        &self.cores
    }

    pub(crate) fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Starts the spare workers, so that the first policies need not wait either.
    pub fn warm_up(&self) {
        self.refill();
    }

    /// A worker that is ready. Blocks for the start of one when no spare is left.
    pub(crate) fn take(&self) -> io::Result<Worker> {
        let spare = self.lock().ready.pop();
        let worker = match spare.filter(Worker::is_ready) {
            Some(spare) => Ok(spare),
            None => Worker::start(&self.source.program),
        };
        self.refill();
        worker
    }

    /// Fills up the spare workers on a thread of its own, one thread at a time. A failure shows when a worker is needed.
    fn refill(&self) {
        let mut spare = self.lock();
        if spare.filling || spare.ready.len() >= SPARE_WORKERS {
            return;
        }
        let workers = self.clone();
        let filling = thread::Builder::new().name("policy-spare".to_owned()).spawn(move || workers.fill());
        spare.filling = filling.is_ok();
    }

    /// Terminates when there are enough spare workers, or one could not be started.
    fn fill(&self) {
        loop {
            let started = Worker::start(&self.source.program);
            let mut spare = self.lock();
            let failed = started.is_err();
            spare.ready.extend(started);
            if failed || spare.ready.len() >= SPARE_WORKERS {
                spare.filling = false;
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Spare> {
        self.source.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One worker process. It ends when this is dropped.
pub(crate) struct Worker {
    socket: UnixStream,
    child: Mutex<Child>,
}

impl Worker {
    fn start(program: &PathBuf) -> io::Result<Self> {
        let (mut socket, theirs) = UnixStream::pair()?;
        let child = Command::new(program)
            .arg(WORKER_ARGUMENT)
            .env_clear()
            .env(WORKER_VARIABLE, "1")
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        socket.set_read_timeout(Some(START_GUARD))?;
        let ready = wire::receive::<Told>(&mut socket, 1024, 0);
        let worker = Self { socket, child: Mutex::new(child) };
        ready?;
        worker.socket.set_read_timeout(None)?;
        Ok(worker)
    }

    /// Ends the process, and whoever waits for its answer. It may have ended already. Never blocks: whoever holds the
    /// child has killed it, and may be waiting until nothing of it is left.
    pub(crate) fn kill(&self) {
        if let Ok(mut child) = self.child.try_lock() {
            _ = child.kill();
        }
        // A process that the worker left behind would keep the socket open.
        _ = self.socket.shutdown(std::net::Shutdown::Both);
    }

    /// Ends the process and waits until nothing of it is left.
    pub(crate) fn end(&self) {
        self.kill();
        _ = self.child().wait();
    }

    /// Whether a spare worker answers: the kernel may still know one that is dying.
    fn is_ready(&self) -> bool {
        let mut socket = &self.socket;
        socket.set_read_timeout(Some(START_GUARD)).is_ok()
            && wire::send(&mut socket, &Ask::Ready, &[]).is_ok()
            && wire::receive::<Told>(&mut socket, 1024, 0).is_ok()
            && socket.set_read_timeout(None).is_ok()
    }

    /// Why a worker went away without an answer: it had used up its budget, or its engine broke.
    fn last_word(&self) -> PolicyErrorCode {
        let mut child = self.child();
        _ = child.kill();
        match child.wait().map(|status| status.code()) {
            Ok(Some(OUT_OF_TIME)) => PolicyErrorCode::Timeout,
            _ => PolicyErrorCode::Threw,
        }
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&self.child().id()).finish()
    }
}

/// What a worker sends.
struct Sent(Arc<Worker>);

impl io::Read for Sent {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (&self.0.socket).read(into)
    }
}

/// A JavaScript policy in its worker process.
pub(crate) struct JsProcess {
    /// Buffered, so that an answer of the usual length is one read.
    from: BufReader<Sent>,
    worker: Arc<Worker>,
    limits: Limits,
    awaited: Awaited,
    gone: bool,
}

impl JsProcess {
    pub(crate) fn new(worker: Arc<Worker>, limits: Limits, awaited: Awaited) -> Self {
        Self { from: BufReader::new(Sent(Arc::clone(&worker))), worker, limits, awaited, gone: false }
    }

    /// Whether the process ended or broke the protocol.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    pub(crate) fn load(&mut self, setup: &Setup) -> Answer<Loaded> {
        let code = setup.artifact.code();
        let ask = Ask::Load {
            limits: setup.limits.clone(),
            awaited: self.awaited,
            seed: setup.seed,
            script_bytes: code.len(),
        };
        let body = [code, setup.match_data.as_bytes()];
        self.ask(&ask, &body, 0, |told, _| {
            Ok(Loaded { detail: told.detail.take().unwrap_or(Detail::Undeclared) })
        })
    }

    pub(crate) fn think(&mut self, observation: &str) -> Answer<Thought> {
        if observation.len() > MAX_ASK_BYTES {
            return Answer::unheard(PolicyErrorCode::TooLarge, AnsweredBy::Sandbox);
        }
        let max_intents = self.limits.max_intents_per_call;
        self.ask(&Ask::Think, &[observation.as_bytes()], MAX_OUTPUT_BYTES, |_, json| {
            let Intents { kept, dropped } = read_intents(json, max_intents, MAX_JS_OUTPUT_DEPTH)?;
            Ok(Thought { intents: kept, dropped })
        })
    }

    fn ask<T>(
        &mut self,
        ask: &impl Serialize,
        body: &[&[u8]],
        max_body_bytes: usize,
        read: impl FnOnce(&mut Told, &[u8]) -> Result<T, PolicyError>,
    ) -> Answer<T> {
        let most = max_head_bytes(&self.limits);
        let asked = Instant::now();
        let told = wire::send(&mut &self.worker.socket, ask, body)
            .and_then(|()| wire::receive::<Told>(&mut self.from, most, max_body_bytes));
        let Ok((mut told, json)) = told else {
            self.gone = true;
            return Answer::unheard(self.worker.last_word(), AnsweredBy::Sandbox);
        };
        let result = match told.failure.take() {
            Some((code, text)) => Err(failure(&code, text.as_deref())),
            None => read(&mut told, &json),
        };
        Answer {
            result,
            logs: logs(told.logs, &self.limits),
            // One thread uses no more than the time that passes.
            cpu: Duration::from_nanos(told.cpu_nanos).min(asked.elapsed()),
            by: AnsweredBy::Engine,
        }
    }
}

fn failure(code: &str, text: Option<&str>) -> PolicyError {
    // A code that is none comes only from a worker that its policy took over.
    let known = PolicyErrorCode::ALL.into_iter().find(|known| known.as_str() == code);
    PolicyError::with_text(known.unwrap_or(PolicyErrorCode::Threw), text.unwrap_or_default())
}

fn logs(mut lines: Vec<String>, limits: &Limits) -> Vec<String> {
    lines.truncate(limits.max_log_lines);
    for line in &mut lines {
        line.truncate(cut(line, limits.max_log_line_bytes).len());
    }
    lines
}

/// The largest head of an honest answer: JSON writes a byte of text as six at most.
fn max_head_bytes(limits: &Limits) -> usize {
    let line = 6 * limits.max_log_line_bytes + 3;
    (64 << 10) + limits.max_log_lines * line
}
