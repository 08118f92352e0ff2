//! `playerthree mcp`: the bridge from an agent's program that speaks MCP over standard input and output to a server's
//! endpoint. Standard output carries the protocol and nothing else.

use crate::credential;
use anyhow::Context as _;
use playerthree_bridge::{Config, Wake};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::runtime::{Handle, Runtime};

/// Bytes on their way between a standard stream and the bridge.
const PIPE_BYTES: usize = 65_536;

/// How long the last answers may take to be written.
const GOODBYE: Duration = Duration::from_secs(2);

/// Plays at a server's MCP endpoint for a program that speaks MCP over standard input and output alone.
///
/// Reads the token of a seat, a commander or a sign-in from a file or from the variable PLAYERTHREE_TOKEN, never from
/// the command line, where others could read it. A seat token is claimed by the first request that is more than
/// server/discover, and given up when the program closes its end; it is good for one process. The endpoint has to be
/// https, or http on this machine. `playerthree connect` prints how common agents are given this command.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// The endpoint
    #[arg(long, default_value = "http://127.0.0.1:2567/mcp", value_name = "URL")]
    pub(crate) url: String,
    /// The file that holds the token; without it the variable PLAYERTHREE_TOKEN is read
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Also sends notifications/claude/channel when you are seated, when your match ends, and when your owner answers
    /// or writes, for programs that are woken by them (an experiment of Claude Code)
    #[arg(long)]
    pub(crate) channel: bool,
}

/// Forwards until the program that started this one closes its end.
pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let token = credential::read(args.token_file, "PLAYERTHREE_TOKEN")?;
    let wake = if args.channel { Wake::Channel } else { Wake::Never };
    let config = Config::new(&args.url, &token, wake)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime")?;
    let (input, output, written) = streams(&runtime)?;
    let ended = runtime.block_on(playerthree_bridge::run(config, input, output));
    // The last answers may still be on their way, but the process waits for nobody who does not take them, nor for a
    // standard input that stays open.
    _ = written.recv_timeout(GOODBYE);
    ended.context("standard input cannot be read")
}

/// The standard streams, each read or written by a thread of its own as no other way is open to every kind of them. The
/// last part fires when everything is written.
fn streams(runtime: &Runtime) -> anyhow::Result<(DuplexStream, DuplexStream, mpsc::Receiver<()>)> {
    let (input, feeding) = tokio::io::duplex(PIPE_BYTES);
    let (output, draining) = tokio::io::duplex(PIPE_BYTES);
    let (reader, writer) = (runtime.handle().clone(), runtime.handle().clone());
    let (done, written) = mpsc::sync_channel(1);
    std::thread::Builder::new().name("stdin".into()).spawn(move || feed(&reader, feeding))?;
    let write = move || {
        drain(&writer, draining);
        // Nobody waits any more where the process has waited long enough.
        _ = done.send(());
    };
    std::thread::Builder::new().name("stdout".into()).spawn(write)?;
    Ok((input, output, written))
}

/// Terminates at the end of standard input, or when the bridge has ended.
fn feed(runtime: &Handle, mut bridge: DuplexStream) {
    let mut stdin = std::io::stdin().lock();
    let mut buffer = vec![0; PIPE_BYTES];
    while let Ok(read @ 1..) = stdin.read(&mut buffer) {
        if runtime.block_on(bridge.write_all(&buffer[..read])).is_err() {
            return;
        }
    }
}

/// Terminates when the bridge has ended, or nobody takes what it writes.
fn drain(runtime: &Handle, mut bridge: DuplexStream) {
    let mut stdout = std::io::stdout().lock();
    let mut buffer = vec![0; PIPE_BYTES];
    while let Ok(read @ 1..) = runtime.block_on(bridge.read(&mut buffer)) {
        if stdout.write_all(&buffer[..read]).and_then(|()| stdout.flush()).is_err() {
            return;
        }
    }
}
