//! `playerthree serve`: the shipped games, rooms, agents' endpoint and page on one port, until a signal stops them.

use crate::homes::Homes;
use crate::pipes_mcp::PipesTools;
use crate::pipes_room::PipesRooms;
use crate::replays::Replays;
use crate::{demo, open_files, page};
use anyhow::Context as _;
use axum::Router;
use axum::routing::get;
use playerthree_agent_command::AgentCommand;
use playerthree_auth::{AuthConfig, AuthorizationServer, Fetcher, Site};
use playerthree_binding::{BODY_BYTES_MAX, GameRooms, Matches};
use playerthree_dots::Dots;
use playerthree_game::Game;
use playerthree_host::{Accounts, Agents, POLICY_PLACES, PolicyPlaces};
use playerthree_mcp::{Legacy, Limits, McpConfig, SignIn};
use playerthree_pipes::Pipes;
use playerthree_rooms::builtin::{Lobby, Relay};
use playerthree_rooms::{Config, Origins, Server, ServerBuilder};
use playerthree_sandbox::Workers;
use playerthree_session::Surface;
use playerthree_tic_tac_toe::TicTacToe;
use std::future::Future;
use std::io::IsTerminal as _;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How long the process takes to end after a signal, at most. A second signal ends it at once.
pub(crate) const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(10);

/// One whole message: a body of the longest kind, and what the room protocol adds to it.
const MESSAGE_BYTES: usize = BODY_BYTES_MAX + 1_024;

/// What `--allow-origin` says for the pages of every origin.
const EVERY_ORIGIN: &str = "*";

/// Where to listen.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// Address to listen on; 0.0.0.0 for every interface
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    host: IpAddr,
    /// Port to listen on; 0 picks a free one
    #[arg(long, default_value_t = 2567)]
    port: u16,
    /// Directory for the inboxes and agents of games over pipes; one server at a time may use it
    #[arg(long, default_value = "playerthree-data", value_name = "DIR")]
    data: PathBuf,
    /// A web origin whose pages may use the rooms, /mcp and /pipes/mcp, such as https://game.example; may be repeated.
    /// Pages of the server's own address and of loopback with its port always may. '*' lets every page use the rooms,
    /// and nothing else
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// A Host that /mcp and /pipes/mcp may be called under, such as game.example; may be repeated. Owners sign their
    /// agents in under it over HTTPS. Loopback names with the server's port are always allowed
    #[arg(long = "allow-host", value_name = "HOST:PORT")]
    hosts: Vec<String>,
    /// Whether MCP clients of the revisions 2025-06-18 and 2025-11-25 are answered too where their credential lasts (a
    /// commander's token, a sign-in, an agent's of the pipes). Seat tokens never speak them
    #[arg(long, value_enum, default_value_t = Switch::On, value_name = "on|off", hide_possible_values = true)]
    mcp_legacy: Switch,
    /// Proxies in front of the server that each add the caller's address to X-Forwarded-For, 0 to 16
    #[arg(long, default_value_t = 0, value_name = "N")]
    trusted_proxies: usize,
    /// Room sockets that one address may have open at once
    #[arg(long, default_value_t = Config::default().connections_per_address, value_name = "N")]
    connections_per_address: usize,
    /// Matchmaking requests that one address may send in a second; ten seconds' worth may come at once
    #[arg(long, default_value_t = Config::default().joins_per_second_per_address, value_name = "N")]
    joins_per_address: u32,
    /// Threads that rooms and their sockets live on, each room on one, 0 to 1024; 0 lets rooms run wherever the process
    /// has time. Default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..=1024))]
    room_threads: Option<u16>,
    /// Directory for the replays of matches whose rooms are gone: the newest 50, for a day, 64 MiB at most. They show what
    /// every side did; only the server's own user may read them. Without it none is written
    #[arg(long, value_name = "DIR")]
    replays: Option<PathBuf>,
}

/// Whether something is done.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// Serves until SIGINT or SIGTERM.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    start_logging();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    runtime.block_on(async {
        let address = SocketAddr::new(args.host, args.port);
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}; choose another with --host and --port"))?;
        let stop = stop_signal()?;
        serve(listener, args, stop).await
    })
}

/// The sockets' own log holds whole messages below this level.
const SOCKET_LOG_DIRECTIVE: &str = "tungstenite=info";

/// Logs go to standard error. What `RUST_LOG` says, MCP's own log stays at errors: below that it holds whole requests.
fn start_logging() {
    let wanted = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let caps = playerthree_mcp::RMCP_LOG_DIRECTIVES
        .into_iter()
        .chain([SOCKET_LOG_DIRECTIVE])
        .filter_map(|directive| directive.parse().ok());
    let filter = caps.fold(wanted, EnvFilter::add_directive);
    let format = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // A second subscriber in one process is a test's; the first one stays.
    _ = tracing_subscriber::registry().with(filter).with(format).try_init();
}

/// Resolves at the first signal. The second one ends the process at once.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()> + Send> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    async fn next(interrupt: &mut Signal, terminate: &mut Signal) {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    Ok(async move {
        next(&mut interrupt, &mut terminate).await;
        tokio::spawn(async move {
            next(&mut interrupt, &mut terminate).await;
            tracing::warn!("second signal: ending at once");
            std::process::exit(1);
        });
    })
}

/// Serves on the listener until `stop`, then closes every socket with a code and returns within the deadline.
pub(crate) async fn serve(
    listener: TcpListener,
    args: &Args,
    stop: impl Future<Output = ()> + Send,
) -> anyhow::Result<()> {
    let address = listener.local_addr().context("the listener has no address")?;
    let accounts = Arc::new(Accounts::default());
    let workers = Workers::of_this_program();
    workers.warm_up();
    let places = PolicyPlaces::new(POLICY_PLACES, workers);
    let agents = Arc::new(Agents::new(places.clone()));
    let pipes = open_pipes(args).await?;
    let config = rooms_config(address, args)?;
    if let Err(error) = open_files::allow(config.max_connections + config.serve.connections) {
        tracing::warn!("fewer connections than configured: {error:#}");
    }
    let surfaces = surfaces()?;
    let replays = args.replays.as_deref().map(Replays::open).transpose()?;
    let matches = match &replays {
        Some(replays) => Matches::archived(Arc::new(replays.clone())),
        None => Matches::default(),
    };
    let homes = Homes::start(room_threads(args))?;
    let server = Server::builder(config).homes(homes.handles());
    let rooms = rooms(server, &surfaces, &matches, &accounts, &agents, &places, &pipes)?;
    let sites = sites(address, args);
    let mcp = mcp_config(address, args, &sites);
    let auth = authorization(sites, args, surfaces.clone(), &accounts, &agents);
    let owners = demo::OwnerApi {
        accounts,
        agents: Arc::clone(&agents),
        surfaces,
        connections: Arc::clone(&auth),
        matches,
        trusted_proxies: args.trusted_proxies,
    };
    let agents_stop = mcp.shutdown.clone();
    let app = Router::new()
        .route("/", rooms.root(get(page::index)))
        .merge(page::routes())
        .merge(demo::routes(owners, rooms.clone()))
        .merge(rooms.operations())
        .merge(playerthree_mcp::router(mcp.clone(), Arc::clone(&agents)))
        .merge(playerthree_auth::router(auth))
        .merge(pipes_mcp(mcp, &pipes)?)
        .merge(playerthree_pipes::router(Arc::clone(&pipes)))
        .merge(rooms.router());
    let sweeping = tokio::spawn(sweep(pipes));
    announce(address);

    let closing = CancellationToken::new();
    let serving =
        playerthree_rooms::serve(listener, app, rooms.config().serve, closing.clone().cancelled_owned());
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = stop => {}
    }
    tracing::info!(seconds = SHUTDOWN_DEADLINE.as_secs(), "stopping");
    // Requests are still answered while rooms say goodbye, so that a health check sees the server drain.
    let goodbye = async {
        agents_stop.cancel();
        agents.revoke_all();
        let late = rooms.shutdown(SHUTDOWN_DEADLINE / 2).await;
        if !late.is_empty() {
            tracing::warn!(?late, "some rooms or sockets did not end in time");
        }
        closing.cancel();
    };
    let ended = async { tokio::join!(serving, goodbye) };
    if tokio::time::timeout(SHUTDOWN_DEADLINE, ended).await.is_err() {
        tracing::warn!("ending with requests still open");
    }
    sweeping.abort();
    if let Some(replays) = replays {
        tokio::task::spawn_blocking(move || replays.finish()).await?;
    }
    tracing::info!("stopped");
    Ok(())
}

/// How many threads the rooms get.
fn room_threads(args: &Args) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
    args.room_threads.map_or_else(processors, usize::from)
}

/// Who may reach the agents' endpoint: loopback names and the address that is listened on, and what the operator adds.
fn mcp_config(address: SocketAddr, args: &Args, sites: &[Site]) -> McpConfig {
    let mut hosts: Vec<String> = public_hosts(args).map(str::to_owned).collect();
    hosts.extend(own_names(address).into_iter().flat_map(|name| own_hosts(&name, address.port())));
    let origins = origins(address, args);
    let sign_in =
        |site: &Site| SignIn { host: site.host().to_owned(), resource_metadata: site.resource_metadata() };
    let sign_in = sites.iter().map(sign_in).collect();
    let legacy = match args.mcp_legacy {
        Switch::On => Legacy::Stateless,
        Switch::Off => Legacy::Off,
    };
    let (limits, shutdown) = (Limits::default(), CancellationToken::new());
    McpConfig { origins, hosts, sign_in, legacy, limits, shutdown }
}

/// The names where owners can sign in: those that the operator adds, over HTTPS, and the own machine's without. Another
/// machine that reaches this one without TLS has no sign-in (§5).
fn sites(address: SocketAddr, args: &Args) -> Vec<Site> {
    let own = LOOPBACK_NAMES.into_iter().flat_map(|name| own_hosts(name, address.port()));
    public_hosts(args).map(Site::https).chain(own.map(|host| Site::loopback(&host))).collect()
}

/// The operator's names as clients write them in `Host`.
fn public_hosts(args: &Args) -> impl Iterator<Item = &str> {
    args.hosts.iter().flat_map(|host| std::iter::once(&**host).chain(host.strip_suffix(":443")))
}

/// A name of this machine as clients write it in `Host`: they leave the scheme's own port out.
fn own_hosts(name: &str, port: u16) -> impl Iterator<Item = String> + use<> {
    let bare = (port == 80).then(|| name.to_owned());
    std::iter::once(format!("{name}:{port}")).chain(bare)
}

fn authorization(
    sites: Vec<Site>,
    args: &Args,
    surfaces: Vec<Arc<Surface>>,
    accounts: &Arc<Accounts>,
    agents: &Arc<Agents>,
) -> Arc<AuthorizationServer> {
    let config = AuthConfig {
        sites,
        trusted_proxies: args.trusted_proxies,
        requests_per_second: playerthree_auth::REQUESTS_PER_SECOND,
        surfaces,
        fetcher: Fetcher::public(),
    };
    let owners = demo::DemoOwners(Arc::clone(accounts));
    Arc::new(AuthorizationServer::new(config, Arc::clone(agents), owners))
}

/// Names of the own machine, whatever address is listened on.
const LOOPBACK_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Names under which the server is reached on its own machine, and the one it listens on.
fn own_names(address: SocketAddr) -> Vec<String> {
    let own = SocketAddr::new(address.ip(), 0).to_string();
    let own = own.trim_end_matches(":0");
    LOOPBACK_NAMES.into_iter().chain([own]).map(str::to_owned).collect()
}

/// The origins of the server's own pages there, as browsers write them.
fn own_origins(address: SocketAddr) -> impl Iterator<Item = String> {
    own_names(address).into_iter().map(move |name| match address.port() {
        80 => format!("http://{name}"),
        port => format!("http://{name}:{port}"),
    })
}

/// The origins whose pages may use the server: its own, and those that the operator names.
fn origins(address: SocketAddr, args: &Args) -> Vec<String> {
    let named = args.origins.iter().filter(|origin| *origin != EVERY_ORIGIN).cloned();
    named.chain(own_origins(address)).collect()
}

/// The limits of the rooms, with what the operator asked for.
fn rooms_config(address: SocketAddr, args: &Args) -> anyhow::Result<Config> {
    let every_page = args.origins.iter().any(|origin| origin == EVERY_ORIGIN);
    let mut config = Config {
        origins: if every_page { Origins::Any } else { Origins::Only(origins(address, args)) },
        max_message_bytes: MESSAGE_BYTES,
        bytes_per_second: 2 * u32::try_from(MESSAGE_BYTES)?,
        trusted_proxies: args.trusted_proxies,
        connections_per_address: args.connections_per_address,
        joins_per_second_per_address: args.joins_per_address,
        ..Config::default()
    };
    if args.trusted_proxies > 0 {
        // All connections come from the proxies then.
        config.serve.connections_per_peer = config.serve.connections;
    }
    Ok(config)
}

async fn open_pipes(args: &Args) -> anyhow::Result<Arc<Pipes>> {
    let directory = args.data.join("pipes");
    let config = playerthree_pipes::Config::new(&directory);
    // Recovery reads every inbox, so it may take a while.
    tokio::task::spawn_blocking(move || Pipes::open(config))
        .await?
        .with_context(|| format!("cannot use {}; choose another directory with --data", directory.display()))
}

/// The pipes' tools for agents, behind the same guard as the games'.
fn pipes_mcp(config: McpConfig, pipes: &Arc<Pipes>) -> anyhow::Result<Router> {
    let tools = PipesTools(Arc::clone(pipes));
    playerthree_mcp::toolbox_router(playerthree_pipes::http::MCP_PATH, config, tools)
        .map_err(|_| anyhow::anyhow!("a tool of the pipes has no valid output schema"))
}

/// Deletes inboxes whose time is over, for as long as the server runs.
async fn sweep(pipes: Arc<Pipes>) {
    let mut minute = tokio::time::interval(Duration::from_secs(60));
    loop {
        minute.tick().await;
        let pipes = Arc::clone(&pipes);
        if tokio::task::spawn_blocking(move || pipes.sweep()).await.is_err() {
            tracing::error!("sweeping the inboxes failed; it goes on in a minute");
        }
    }
}

/// The shipped games, checked.
fn surfaces() -> anyhow::Result<Vec<Arc<Surface>>> {
    let games: [Arc<dyn Game>; 2] = [Arc::new(TicTacToe), Arc::new(AgentCommand)];
    let checked =
        games.into_iter().map(|game| Surface::new(game).map(Arc::new).map_err(|found| faults(&found)));
    checked.collect()
}

/// The rooms of the shipped games, and those beside them.
fn rooms(
    server: ServerBuilder,
    surfaces: &[Arc<Surface>],
    matches: &Matches,
    accounts: &Arc<Accounts>,
    agents: &Arc<Agents>,
    places: &PolicyPlaces,
    pipes: &Arc<Pipes>,
) -> anyhow::Result<Server> {
    let mut server = server
        .define("dots", Dots)
        .define("relay", Relay::default().echo("echo"))
        .define("lobby", Lobby::default())
        .define("pipes", PipesRooms::new(Arc::clone(pipes)));
    for surface in surfaces {
        tracing::info!(game = %surface.manifest.id, surface = %surface.hash, "game ready");
        let rooms = GameRooms::new(
            Arc::clone(surface),
            Arc::clone(accounts),
            Arc::clone(agents),
            matches.clone(),
            places.clone(),
        );
        server = server.define(&surface.manifest.id, rooms);
    }
    Ok(server.build()?)
}

fn faults(faults: &[playerthree_game::Fault]) -> anyhow::Error {
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("the manifest has faults:\n{}", lines.join("\n"))
}

#[expect(clippy::print_stdout, reason = "where to go is the one thing a person who starts the server needs")]
fn announce(address: SocketAddr) {
    // An address that means every interface is no address to visit.
    let host = if address.ip().is_unspecified() { "127.0.0.1".to_owned() } else { address.ip().to_string() };
    let host = if address.is_ipv6() && !address.ip().is_unspecified() { format!("[{host}]") } else { host };
    let port = address.port();
    println!("page       http://{host}:{port}/");
    println!("websocket  ws://{host}:{port}/");
    println!("mcp        http://{host}:{port}/mcp");
    println!("pipes      http://{host}:{port}/pipes/");
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn rooms_have_a_thread_for_each_processor_or_as_many_as_asked_for_within_bounds() {
        let threads = |option: &str| {
            let parsed = Cli::try_parse_from(["serve", option]);
            parsed.map(|cli| room_threads(&cli.args)).ok()
        };
        assert_eq!(threads("--port=0"), std::thread::available_parallelism().ok().map(NonZero::get));
        assert_eq!(threads("--room-threads=0"), Some(0));
        assert_eq!(threads("--room-threads=1024"), Some(1024));
        assert_eq!(threads("--room-threads=1025"), None);
        assert_eq!(threads("--room-threads=-1"), None);
    }
}
