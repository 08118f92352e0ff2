//! The inside of a worker process: it gives up what a process can reach, loads one script and thinks until its socket
//! closes.
//!
//! It must never do more than one policy's work, and it ends itself when that work cannot be interrupted otherwise.

use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::call::Call;
use crate::instance::Answer;
use crate::js::JsEngine;
use crate::limits::{Budget, Limits, MATCH_DATA_MAX_BYTES};
use crate::wire::{self, Ask, Told};

/// Set in a worker's environment and nowhere else.
pub(crate) const WORKER_VARIABLE: &str = "PLAYERTHREE_SANDBOX_WORKER";

/// The exit status of a worker that found its own call past the budget.
pub(crate) const OUT_OF_TIME: i32 = 3;

/// Most bytes of an observation, or of a script with its match data.
pub(crate) const MAX_ASK_BYTES: usize = 16 << 20;

const MAX_ASK_HEAD_BYTES: usize = 4096;

/// Address space beyond what the process has when it is ready and what its policy may use: the engine doubles a block
/// before it frees the smaller one.
const SPARE_ADDRESS_SPACE: u64 = 256 << 20;

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

fn serve() -> io::Result<()> {
    close_inherited()?;
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let guard = Guard::start()?;
    let address_space = address_space()?;
    confine()?;
    wire::send(&mut socket, &Told::default(), &[])?;
    let (limits, seed, script_bytes, body) = first_load(&mut socket)?;
    let policy_bytes = 2 * limits.memory_bytes as u64;
    lower(Resource::As, address_space.saturating_add(policy_bytes).saturating_add(SPARE_ADDRESS_SPACE))?;
    let (script, match_data) = body.split_at_checked(script_bytes).ok_or(io::ErrorKind::InvalidData)?;
    let call = Rc::new(Call::new(&limits, Arc::default()));
    let loaded = guard.call(&call, Budget::load(&limits), || {
        JsEngine::load(script, match_data, seed, &limits, Rc::clone(&call))
    });
    let Some(mut engine) = answer_load(&mut socket, loaded)? else { return Ok(()) };
    drop(body);
    think(&mut socket, &mut engine, &guard, &call, &limits)
}

/// Waits for its script. Whoever keeps it as a spare one asks before that whether it is still there.
fn first_load(socket: &mut UnixStream) -> io::Result<(Limits, u64, usize, Vec<u8>)> {
    loop {
        match wire::receive(socket, MAX_ASK_HEAD_BYTES, MAX_ASK_BYTES + MATCH_DATA_MAX_BYTES)? {
            (Ask::Ready, _) => wire::send(socket, &Told::default(), &[])?,
            (Ask::Load { limits, seed, script_bytes }, body) => {
                return Ok((limits, seed, script_bytes, body));
            }
            (Ask::Think, _) => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Sends the answer of a load, and keeps the engine of a successful one.
fn answer_load(
    socket: &mut UnixStream,
    loaded: Answer<(JsEngine, crate::Detail)>,
) -> io::Result<Option<JsEngine>> {
    let mut told = told(&loaded);
    let engine = loaded.result.ok().map(|(engine, detail)| {
        told.detail = Some(detail);
        engine
    });
    wire::send(socket, &told, &[])?;
    Ok(engine)
}

/// Terminates when the socket closes, or with an error that ends the process.
fn think(
    socket: &mut UnixStream,
    engine: &mut JsEngine,
    guard: &Guard,
    call: &Rc<Call>,
    limits: &Limits,
) -> io::Result<()> {
    loop {
        let (Ask::Think, observation) = wire::receive(socket, MAX_ASK_HEAD_BYTES, MAX_ASK_BYTES)? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let thought = guard.call(call, Budget::think(limits), || engine.think(observation));
        let json = thought.result.as_ref().map_or("", String::as_str);
        wire::send(socket, &told(&thought), &[json.as_bytes()])?;
        socket.flush()?;
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

/// Closes what the host's own parent has left open across two starts of a program, such as a shell's pipes.
fn close_inherited() -> io::Result<()> {
    let names: Vec<_> = std::fs::read_dir("/proc/self/fd")?.flatten().map(|entry| entry.path()).collect();
    // The directory itself is listed, and closed by now.
    let open = names.iter().filter(|name| name.symlink_metadata().is_ok());
    let numbers = open.filter_map(|name| name.file_name()?.to_str()?.parse::<i32>().ok());
    for number in numbers.filter(|number| *number > 2).collect::<Vec<_>>() {
        #[expect(unsafe_code, reason = "no safe call closes a descriptor that nothing in this process owns")]
        // SAFETY: the process has only begun, and owns no descriptor but its three standard ones.
        unsafe {
            rustix::io::close(number);
        }
    }
    Ok(())
}

/// Gives up what the kernel takes back without privilege: new files, new processes, file growth, core dumps.
fn confine() -> io::Result<()> {
    for resource in [Resource::Nofile, Resource::Nproc, Resource::Fsize, Resource::Core] {
        lower(resource, 0)?;
    }
    rustix::thread::set_no_new_privs(true)?;
    Ok(())
}

fn lower(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// Bytes of address space that the process has now.
fn address_space() -> io::Result<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages = pages.split(' ').next().and_then(|pages| pages.parse::<u64>().ok());
    Ok(pages.ok_or(io::ErrorKind::InvalidData)? * rustix::param::page_size() as u64)
}

/// Ends the process when a call is past its budget and the engine does not look: some loops inside the engine never do.
struct Guard {
    running: Arc<Mutex<Option<Running>>>,
    thread: thread::Thread,
}

/// A call's end, in CPU time of the process and in wall time.
#[derive(Clone, Copy)]
struct Running {
    cpu_until: Duration,
    wall_until: Instant,
}

impl Guard {
    fn start() -> io::Result<Self> {
        let running = Arc::new(Mutex::new(None));
        let watched = Arc::clone(&running);
        let guard = thread::Builder::new().stack_size(64 << 10).spawn(move || watch(&watched))?;
        Ok(Self { running, thread: guard.thread().clone() })
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
        self.set(Some(Running {
            cpu_until: process_cpu() + cpu,
            wall_until: Instant::now() + budget.wall + Duration::from_millis(5),
        }));
        self.thread.unpark();
        let answer = call.run(budget, work);
        self.set(None);
        answer
    }

    fn set(&self, running: Option<Running>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = running;
    }
}

/// Terminates with the process.
fn watch(running: &Mutex<Option<Running>>) {
    loop {
        let call = *running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Running { cpu_until, wall_until }) = call else {
            thread::park();
            continue;
        };
        let left = cpu_until.saturating_sub(process_cpu());
        let left = left.min(wall_until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            std::process::exit(OUT_OF_TIME);
        }
        // A thread that computes uses CPU time no faster than wall time passes.
        thread::park_timeout(left);
    }
}

fn process_cpu() -> Duration {
    // The kernel never reports a negative time for this clock.
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
