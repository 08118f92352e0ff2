//! The inside of a worker process: it confines itself, loads one script and thinks until its socket
//! closes.
//!
//! It must never do more than one policy's work, and it ends itself when that work cannot be interrupted otherwise.

use std::io::{self, BufReader};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::call::Call;
use crate::confined;
use crate::instance::Answer;
use crate::js::JsEngine;
use crate::limits::{Awaited, Budget, Limits, MATCH_DATA_MAX_BYTES};
use crate::stuck::ThreadId;
use crate::wire::{self, Ask, Told};

/// Set in a worker's environment and nowhere else.
pub(crate) const WORKER_VARIABLE: &str = "PLAYERTHREE_SANDBOX_WORKER";

/// The exit status of a worker that found its own call past the budget.
pub(crate) const OUT_OF_TIME: i32 = 3;

/// Most bytes of an observation, or of a script with its match data.
pub(crate) const MAX_ASK_BYTES: usize = 16 << 20;

const MAX_ASK_HEAD_BYTES: usize = 4096;

/// Serves as a worker process, if this process was started as one: then it ends with the process. Otherwise it returns
/// at once, and has done nothing.
///
/// A program that runs JavaScript policies calls this when its only argument is [`WORKER_ARGUMENT`], before anything
/// else: the worker is the same program once more.
///
/// [`WORKER_ARGUMENT`]: crate::WORKER_ARGUMENT
pub fn serve_if_worker() {
    if std::env::var_os(WORKER_VARIABLE).is_some() {
        // Whatever went wrong, the other side sees the socket close.
        std::process::exit(i32::from(serve().is_err()));
    }
}

/// Most bytes that one read takes: an observation of the usual size arrives in one.
const READ_BYTES: usize = 32 << 10;

/// The two ways of the worker's one socket.
struct Socket<'a> {
    from: BufReader<&'a UnixStream>,
    to: &'a UnixStream,
}

fn serve() -> io::Result<()> {
    confined::close_inherited()?;
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut socket = Socket { from: BufReader::with_capacity(READ_BYTES, &socket), to: &socket };
    let guard = Guard::start()?;
    // The guard goes on as it is: it has to see the end of a call in time.
    ThreadId::current().yield_to_the_server();
    let room = confined::give_up_resources()?;
    wire::send(&mut socket.to, &Told::default(), &[])?;
    let First { limits, awaited, seed, script_bytes, body } = first_load(&mut socket)?;
    room.leave(limits.memory_bytes)?;
    confined::give_up_system_calls()?;
    let (script, match_data) = body.split_at_checked(script_bytes).ok_or(io::ErrorKind::InvalidData)?;
    let call = Rc::new(Call::new(&limits, Arc::default()));
    let loaded = guard.call(&call, Budget::load(&limits, awaited), || {
        JsEngine::load(script, match_data, seed, &limits, Rc::clone(&call))
    });
    let Some(mut engine) = answer_load(&mut socket, loaded)? else { return Ok(()) };
    drop(body);
    think(&mut socket, &mut engine, &guard, &call, Budget::think(&limits, awaited))
}

/// What a worker is given to load: the body is the script, then the match data.
struct First {
    limits: Limits,
    awaited: Awaited,
    seed: u64,
    script_bytes: usize,
    body: Vec<u8>,
}

/// Waits for its script. Whoever keeps it as a spare one asks before that whether it is still there.
fn first_load(socket: &mut Socket<'_>) -> io::Result<First> {
    loop {
        match wire::receive(&mut socket.from, MAX_ASK_HEAD_BYTES, MAX_ASK_BYTES + MATCH_DATA_MAX_BYTES)? {
            (Ask::Ready, _) => wire::send(&mut socket.to, &Told::default(), &[])?,
            (Ask::Load { limits, awaited, seed, script_bytes }, body) => {
                return Ok(First { limits, awaited, seed, script_bytes, body });
            }
            (Ask::Think, _) => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Sends the answer of a load, and keeps the engine of a successful one.
fn answer_load(
    socket: &mut Socket<'_>,
    loaded: Answer<(JsEngine, crate::Detail)>,
) -> io::Result<Option<JsEngine>> {
    let mut told = told(&loaded);
    let engine = loaded.result.ok().map(|(engine, detail)| {
        told.detail = Some(detail);
        engine
    });
    wire::send(&mut socket.to, &told, &[])?;
    Ok(engine)
}

/// Terminates when the socket closes, or with an error that ends the process.
fn think(
    socket: &mut Socket<'_>,
    engine: &mut JsEngine,
    guard: &Guard,
    call: &Rc<Call>,
    budget: Budget,
) -> io::Result<()> {
    loop {
        let (Ask::Think, observation) = wire::receive(&mut socket.from, MAX_ASK_HEAD_BYTES, MAX_ASK_BYTES)?
        else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let thought = guard.call(call, budget, || engine.think(observation));
        let json = thought.result.as_ref().map_or("", String::as_str);
        wire::send(&mut socket.to, &told(&thought), &[json.as_bytes()])?;
    }
}

fn told<T>(answer: &Answer<T>) -> Told {
    let failure = answer.result.as_ref().err();
    Told {
        failure: failure.map(|error| (error.code.as_str().to_owned(), error.message.clone())),
        detail: None,
        logs: answer.logs.clone(),
        cpu_nanos: u64::try_from(answer.cpu.as_nanos()).unwrap_or(u64::MAX),
    }
}

/// Ends the process when a call is past its budget and the engine does not look: some loops inside the engine never do.
struct Guard {
    watched: Arc<Mutex<Watched>>,
    thread: thread::Thread,
}

#[derive(Default)]
struct Watched {
    running: Option<Running>,
    /// When the guard looks next by itself; nothing while it sleeps until it is told.
    looks_at: Option<Instant>,
}

/// A call's end, in CPU time of the process and in wall time.
#[derive(Clone, Copy)]
struct Running {
    cpu_until: Duration,
    wall_until: Instant,
}

impl Guard {
    fn start() -> io::Result<Self> {
        let watched = Arc::new(Mutex::new(Watched::default()));
        let shared = Arc::clone(&watched);
        let guard = thread::Builder::new().stack_size(64 << 10).spawn(move || watch(&shared))?;
        Ok(Self { watched, thread: guard.thread().clone() })
    }

    /// Runs one call under its budget. The engine gets a little more before the process ends, since an engine that
    /// looks at its budget answers with more than a code.
    fn call<T>(
        &self,
        call: &Call,
        budget: Budget,
        work: impl FnOnce() -> Result<T, crate::PolicyError>,
    ) -> Answer<T> {
        let cpu = budget.cpu + budget.cpu / 4 + Duration::from_millis(5);
        let now = Instant::now();
        let running = Running {
            cpu_until: process_cpu() + cpu,
            wall_until: now + budget.wall + Duration::from_millis(5),
        };
        let mut watched = lock(&self.watched);
        watched.running = Some(running);
        // An earlier call's end is early enough to look again.
        let looks_too_late = watched.looks_at.is_none_or(|at| now + cpu < at);
        drop(watched);
        if looks_too_late {
            self.thread.unpark();
        }
        let answer = call.run(budget, work);
        lock(&self.watched).running = None;
        answer
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Terminates with the process.
fn watch(watched: &Mutex<Watched>) {
    loop {
        let mut state = lock(watched);
        let left = state.running.map(|Running { cpu_until, wall_until }| {
            // A thread that computes uses CPU time no faster than wall time passes.
            let left = cpu_until.saturating_sub(process_cpu());
            left.min(wall_until.saturating_duration_since(Instant::now()))
        });
        if left == Some(Duration::ZERO) {
            // Still under the lock: the call cannot end meanwhile, and the next one cannot begin.
            std::process::exit(OUT_OF_TIME);
        }
        state.looks_at = left.map(|left| Instant::now() + left);
        drop(state);
        match left {
            Some(left) => thread::park_timeout(left),
            None => thread::park(),
        }
    }
}

fn process_cpu() -> Duration {
    // The kernel never reports a negative time for this clock.
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
