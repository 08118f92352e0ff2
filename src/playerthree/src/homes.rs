//! The threads that rooms live on. A room and its sockets stay on one of them, so that a message crosses none.
//!
//! Nothing but rooms and their sockets is put there: requests and agents' calls stay on the process's own runtime.

use anyhow::Context as _;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Runtimes of one thread each, which end when this is dropped.
pub(crate) struct Homes {
    handles: Vec<Handle>,
    _end: DropGuard,
}

impl Homes {
    /// Starts `count` of them.
    ///
    /// # Errors
    /// Where the system gives no thread or no runtime can be made.
    pub(crate) fn start(count: usize) -> anyhow::Result<Self> {
        let end = CancellationToken::new();
        let handles = (0..count)
            .map(|number| {
                let runtime = Builder::new_current_thread().enable_all().build().context("no runtime")?;
                let handle = runtime.handle().clone();
                run(number, runtime, end.clone()).context("no thread for rooms")?;
                Ok(handle)
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { handles, _end: end.drop_guard() })
    }

    /// For the server that spreads its rooms over them. It must be shut down before this is dropped.
    pub(crate) fn handles(&self) -> Vec<Handle> {
        self.handles.clone()
    }
}

fn run(number: usize, runtime: Runtime, end: CancellationToken) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name(format!("rooms-{number}"));
    thread.spawn(move || runtime.block_on(end.cancelled_owned()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn homes_run_tasks_on_threads_of_their_own_until_they_are_dropped() {
        let homes = Homes::start(2).unwrap();
        let mut ends = Vec::new();
        for (number, home) in homes.handles().into_iter().enumerate() {
            let name = home.spawn(async { std::thread::current().name().map(str::to_owned) });
            assert_eq!(name.await.unwrap(), Some(format!("rooms-{number}")));
            let (alive, end) = oneshot::channel::<()>();
            home.spawn(async move {
                std::future::pending::<()>().await;
                drop(alive);
            });
            ends.push(end);
        }
        drop(homes);
        for end in ends {
            assert!(end.await.is_err(), "a task outlives its home");
        }
    }
}
