//! What a worker process gives up before it meets its script (§11): the second wall, around an engine that a script broke.
//!
//! It must never let a worker go on that could not give something up.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

/// Address space beyond what the process has when it is ready and what its policy may use: the engine doubles a block
/// before it frees the smaller one.
const SPARE_ADDRESS_SPACE: u64 = 256 << 20;

/// What the kernel still does for a worker with a script: its socket, memory, locks, clocks of its own CPU time, and its
/// end. No file, socket, process or signal is made or reached by these.
const SYSTEM_CALLS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_futex,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_gettid,
    // A thread of the worker that is only now starting must find these.
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_getrandom,
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

/// Gives up every system call but [`SYSTEM_CALLS`], in all threads; the others fail from now on. Privileges of the user
/// that the server runs as do not bring them back.
pub(crate) fn give_up_system_calls() -> io::Result<()> {
    let allowed = SYSTEM_CALLS.iter().map(|call| (*call, Vec::new())).collect();
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
