//! What a process has used, read from `/proc`. Elsewhere than on Linux there is nothing to read.

use anyhow::{Context, bail};
use serde::Serialize;
use std::fs;
use std::time::Duration;

/// A process on this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process(u32);

impl Process {
    /// The process with this id, which must exist.
    pub(super) fn find(pid: u32) -> anyhow::Result<Self> {
        let process = Self(pid);
        process.usage().context("--pid names no process that can be read")?;
        Ok(process)
    }

    /// This process.
    pub(super) fn own() -> Self {
        Self(std::process::id())
    }

    /// What it has used up to now.
    pub(super) fn usage(self) -> anyhow::Result<Usage> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0))?;
        let status = fs::read_to_string(format!("/proc/{}/status", self.0))?;
        let ticks = cpu_ticks(&stat).context("/proc stat is not understood")?;
        let per_second = rustix::param::clock_ticks_per_second();
        if per_second == 0 {
            bail!("the clock does not tick");
        }
        let cpu = Duration::from_secs_f64(ticks as f64 / per_second as f64);
        let rss_bytes = resident_bytes(&status).context("/proc status is not understood")?;
        Ok(Usage { cpu, rss_bytes, children_cpu: self.children_cpu(per_second) })
    }

    /// Processor time of the processes that it started and that still run: a server's policies. None where the system
    /// does not tell. One that ended meanwhile is left out.
    fn children_cpu(self, ticks_per_second: u64) -> Option<Duration> {
        let mut ticks = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.0)).ok()? {
            let children = fs::read_to_string(task.ok()?.path().join("children")).ok()?;
            for child in children.split_ascii_whitespace() {
                let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
                ticks += cpu_ticks(&stat).unwrap_or_default();
            }
        }
        Some(Duration::from_secs_f64(ticks as f64 / ticks_per_second as f64))
    }
}

/// What a process has used.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Usage {
    /// Processor time of all its threads, in user and in kernel mode.
    pub(super) cpu: Duration,
    /// Processor time of the processes that it started, where the system tells.
    pub(super) children_cpu: Option<Duration>,
    /// Resident memory.
    pub(super) rss_bytes: u64,
}

/// User and system time: the 14th and 15th field of `stat`. The second is a name in parentheses that may hold anything.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    user.checked_add(system)
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_behind_any_process_name() {
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194304 100 0 0 0 70 30 0 0 20 0 4 0 12345 1000 200";
        assert_eq!(cpu_ticks(stat), Some(100));
        for broken in ["", "42 (name", "42 (name) S 1 2", "42 (n) S 1 42 42 0 -1 4194304 100 0 0 0 x 30"] {
            assert_eq!(cpu_ticks(broken), None, "{broken}");
        }
    }

    #[test]
    fn resident_memory_is_read_in_bytes() {
        assert_eq!(resident_bytes("VmPeak:\t  900 kB\nVmRSS:\t  512 kB\n"), Some(512 * 1024));
        assert_eq!(resident_bytes("VmRSS:\t  a lot\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_used_something_and_process_zero_does_not_exist() {
        assert!(Process::own().usage().unwrap().rss_bytes > 0);
        assert!(Process::find(0).is_err());
    }
}
