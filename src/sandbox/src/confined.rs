//! What a worker process gives up before it meets its script (§11): the second wall, around an engine that a script broke.
//!
//! It must never let a worker go on that could not give something up.

use std::hash::RandomState;
use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Address space beyond what the process has when it is ready and what its policy may use: the engine doubles a block
/// before it frees the smaller one.
const SPARE_ADDRESS_SPACE: u64 = 256 << 20;

/// What the kernel still does for a worker with a script, beside what [`rules`] bounds: its socket, memory, locks and its end.
/// No file, socket, process or signal is made or reached by these.
const SYSTEM_CALLS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_futex,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_gettid,
    // A thread of the worker that is only now starting must find these.
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Closes what the host's own parent has left open across two starts of a program, such as a shell's pipes. Called before
/// anything of this process is opened.
pub(crate) fn close_inherited() -> io::Result<()> {
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

/// Gives up new files, new processes, file growth and core dumps.
pub(crate) fn give_up_resources() -> io::Result<Room> {
    let room = Room { used: address_space()? };
    for resource in [Resource::Nofile, Resource::Nproc, Resource::Fsize, Resource::Core] {
        lower(resource, 0)?;
    }
    rustix::thread::set_no_new_privs(true)?;
    Ok(room)
}

/// The address space of a worker that is ready.
pub(crate) struct Room {
    used: u64,
}

impl Room {
    /// Leaves what a policy with this memory limit may need, and no more.
    pub(crate) fn leave(self, memory_bytes: usize) -> io::Result<()> {
        let policy_bytes = 2 * memory_bytes as u64;
        lower(Resource::As, self.used.saturating_add(policy_bytes).saturating_add(SPARE_ADDRESS_SPACE))
    }
}

/// The clocks that say how long a call has taken, and not what time it is. The processor's own counter, which some kernels
/// let every process read with the time of day beside it, is out of a filter's reach: scripts see neither (§11).
const CLOCKS: [libc::clockid_t; 3] =
    [libc::CLOCK_PROCESS_CPUTIME_ID, libc::CLOCK_THREAD_CPUTIME_ID, libc::CLOCK_MONOTONIC];

/// System calls with bounds on their arguments: memory that holds no code, and [`CLOCKS`].
fn rules() -> Result<Vec<(libc::c_long, Vec<SeccompRule>)>, BackendError> {
    let rule = |argument, is: SeccompCmpOp, value: u64| {
        SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is, value)?])
    };
    let no_code = || rule(2, SeccompCmpOp::MaskedEq(u64::from(libc::PROT_EXEC.unsigned_abs())), 0);
    let clocks = CLOCKS.iter().map(|clock| rule(0, SeccompCmpOp::Eq, u64::from(clock.unsigned_abs())));
    Ok(vec![
        (libc::SYS_mmap, vec![no_code()?]),
        (libc::SYS_mprotect, vec![no_code()?]),
        (libc::SYS_clock_gettime, clocks.collect::<Result<_, _>>()?),
    ])
}

/// Gives up every system call but [`SYSTEM_CALLS`] and those of [`rules`], in all threads; the others fail `EPERM` from now
/// on. Privileges of the user that the server runs as do not bring them back.
pub(crate) fn give_up_system_calls() -> io::Result<()> {
    // The engine's binding keeps hash maps. Each thread draws the keys of all of its own once: now or never.
    _ = RandomState::new();
    let unbounded = SYSTEM_CALLS.iter().map(|call| (*call, Vec::new()));
    let allowed = unbounded.chain(rules().map_err(io::Error::other)?).collect();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter =
        SeccompFilter::new(allowed, refused, SeccompAction::Allow, arch).map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other)
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

#[cfg(test)]
mod tests {
    use super::*;
    use libc::c_long;
    use std::io::Write as _;
    use std::process::Command;
    use std::sync::mpsc::channel;

    /// Set for the test that is a confined process.
    const CONFINED: &str = "PLAYERTHREE_TEST_CONFINED";

    /// A name, a system call and its arguments.
    type Attempt = (&'static str, c_long, [c_long; 6]);

    /// What a broken engine would do. Without the filter each succeeds, or fails otherwise than `EPERM`.
    fn forbidden(page: c_long) -> Vec<Attempt> {
        let exec = c_long::from(libc::PROT_READ | libc::PROT_EXEC);
        let private = c_long::from(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let none = [0; 6];
        vec![
            ("socket", libc::SYS_socket, [1, 1, 0, 0, 0, 0]),
            ("connect", libc::SYS_connect, [0, page, 16, 0, 0, 0]),
            ("sendmsg", libc::SYS_sendmsg, none),
            ("openat", libc::SYS_openat, [c_long::from(libc::AT_FDCWD), page, 0, 0, 0, 0]),
            ("unlinkat", libc::SYS_unlinkat, [c_long::from(libc::AT_FDCWD), page, 0, 0, 0, 0]),
            ("memfd_create", libc::SYS_memfd_create, [page, 0, 0, 0, 0, 0]),
            ("ioctl", libc::SYS_ioctl, none),
            // Signal 0 to the own group only asks whether it may be sent.
            ("kill", libc::SYS_kill, none),
            ("tgkill", libc::SYS_tgkill, none),
            // Flags that contradict each other, should the kernel look at them.
            ("clone", libc::SYS_clone, [c_long::from(libc::CLONE_SIGHAND), 0, 0, 0, 0, 0]),
            ("clone3", libc::SYS_clone3, none),
            ("execve", libc::SYS_execve, none),
            ("ptrace", libc::SYS_ptrace, none),
            ("process_vm_readv", libc::SYS_process_vm_readv, none),
            ("prlimit64", libc::SYS_prlimit64, none),
            ("setpriority", libc::SYS_setpriority, none),
            ("unshare", libc::SYS_unshare, none),
            ("prctl", libc::SYS_prctl, none),
            ("seccomp", libc::SYS_seccomp, none),
            ("getrandom", libc::SYS_getrandom, [page, 8, 0, 0, 0, 0]),
            ("time of day", libc::SYS_clock_gettime, [c_long::from(libc::CLOCK_REALTIME), page, 0, 0, 0, 0]),
            (
                "clock of boot",
                libc::SYS_clock_gettime,
                [c_long::from(libc::CLOCK_BOOTTIME), page, 0, 0, 0, 0],
            ),
            ("memory with code", libc::SYS_mmap, [0, 4096, exec, private, -1, 0]),
            ("code in memory", libc::SYS_mprotect, [page, 4096, exec, 0, 0, 0]),
        ]
    }

    /// What an engine and its guard need.
    fn allowed(page: c_long) -> Vec<Attempt> {
        let data = c_long::from(libc::PROT_READ | libc::PROT_WRITE);
        let private = c_long::from(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let mut attempts = vec![
            ("memory", libc::SYS_mmap, [0, 4096, data, private, -1, 0]),
            ("data in memory", libc::SYS_mprotect, [page, 4096, data, 0, 0, 0]),
            ("yield", libc::SYS_sched_yield, [0; 6]),
        ];
        let clock = |clock: libc::clockid_t| [c_long::from(clock), page, 0, 0, 0, 0];
        attempts.extend(CLOCKS.map(|id| ("clock", libc::SYS_clock_gettime, clock(id))));
        attempts
    }

    /// The error number of a system call, 0 for one that succeeded.
    fn errno((_, call, [a, b, c, d, e, f]): &Attempt) -> i32 {
        #[expect(unsafe_code, reason = "what the kernel answers is what is tested")]
        // SAFETY: the attempts write to their own page alone, and those that would change the process are made in the last
        // moments of one that does nothing else.
        let answer = unsafe { libc::syscall(*call, *a, *b, *c, *d, *e, *f) };
        if answer == -1 { io::Error::last_os_error().raw_os_error().unwrap_or(-1) } else { 0 }
    }

    /// A page of memory that nothing else uses.
    fn page() -> c_long {
        let layout = std::alloc::Layout::from_size_align(4096, 4096).unwrap();
        #[expect(unsafe_code, reason = "a whole page has no safe owner")]
        // SAFETY: the layout has a size; the page is never given back.
        let page = unsafe { std::alloc::alloc_zeroed(layout) };
        c_long::try_from(page.addr()).unwrap()
    }

    /// What each attempt came to, one a line.
    fn report(page: c_long) -> String {
        let lines = |attempts: Vec<Attempt>| -> String {
            attempts.iter().map(|attempt| format!("{}: {}\n", attempt.0, errno(attempt))).collect()
        };
        lines(allowed(page)) + &lines(forbidden(page))
    }

    /// The confined process: it gives up what a worker gives up, and tells what two of its threads can do then, one of them
    /// older than the filter.
    #[test]
    fn confined_process() {
        if std::env::var_os(CONFINED).is_none() {
            return;
        }
        let page = page();
        let (confined, begin) = channel();
        let older = std::thread::spawn(move || begin.recv().map(|()| report(page)));
        give_up_resources().unwrap().leave(16 << 20).unwrap();
        give_up_system_calls().unwrap();
        let own = report(page);
        confined.send(()).unwrap();
        let older = older.join().unwrap().unwrap();
        std::io::stdout().write_all(format!("<{own}|{older}>").as_bytes()).unwrap();
        std::process::exit(0);
    }

    // §11: no files, network, other process, clock or entropy: the kernel refuses them to a whole worker, and goes on to do
    // what an engine needs.
    #[test]
    fn a_confined_process_is_refused_everything_else() {
        let program = std::env::current_exe().unwrap();
        let mut confined = Command::new(program);
        confined.args(["confined::tests::confined_process", "--exact", "--nocapture"]).env(CONFINED, "1");
        let output = confined.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let told = text.split_once('<').and_then(|(_, told)| told.split_once('>')).map(|(told, _)| told);
        let (own, older) = told.and_then(|told| told.split_once('|')).expect(&text);
        let (worked, refused) = (allowed(0), forbidden(0));
        let expected: String = worked
            .iter()
            .map(|(name, ..)| format!("{name}: 0\n"))
            .chain(refused.iter().map(|(name, ..)| format!("{name}: {}\n", libc::EPERM)))
            .collect();
        assert_eq!((own, older), (expected.as_str(), expected.as_str()));
    }
}
