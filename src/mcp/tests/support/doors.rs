//! Ways into a match: one that answers by a script, and one to a real match in an actor of its own.

use playerthree_game::{Clock, Name, Seat};
use playerthree_host::{
    AgentCall, Answer, Live, MatchDoor, POLICY_PLACES, PolicyPlaces, SaidInLobby, StatusBoard,
};
use playerthree_sandbox::Workers;
use playerthree_session::{
    CallError, Code, CommanderId, Config, Match, Message, Millis, ObserverPolicy, Occupant, OwnerId, Right,
    Settings, Surface,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

type Scripted = Box<dyn Fn(&str, &Value) -> Option<Answer> + Send + Sync>;

/// Answers by a function, or keeps a call and hands it to the test.
pub struct Script {
    answer: Scripted,
    kept: mpsc::UnboundedSender<AgentCall>,
}

impl Script {
    /// A door, and the calls for which `answer` gives nothing.
    pub fn new(
        answer: impl Fn(&str, &Value) -> Option<Answer> + Send + Sync + 'static,
    ) -> (Self, mpsc::UnboundedReceiver<AgentCall>) {
        let (kept, calls) = mpsc::unbounded_channel();
        (Self { answer: Box::new(answer), kept }, calls)
    }

    /// A door that answers everything with no acks.
    pub fn acks() -> Self {
        Self::new(|_, _| Some(Ok(json!({ "acks": [] })))).0
    }

    /// A door that answers every call the same.
    pub fn always(value: Value) -> Self {
        Self::new(move |_, _| Some(Ok(value.clone()))).0
    }
}

impl MatchDoor for Script {
    fn call(&self, call: AgentCall) -> Result<(), CallError> {
        match (self.answer)(&call.method, &call.args) {
            Some(answer) => _ = call.reply.send(answer),
            None => _ = self.kept.send(call),
        }
        Ok(())
    }

    fn follow(&self, _: CommanderId, _: Settings) -> Result<(), CallError> {
        Ok(())
    }

    fn tell(&self, _: CommanderId, _: Seat, _: Message) -> Result<(), CallError> {
        Ok(())
    }

    fn said(&self, _: SaidInLobby) -> Result<(), CallError> {
        Ok(())
    }

    fn board(&self) -> Arc<StatusBoard> {
        Arc::default()
    }
}

/// The way into a real match.
pub struct Actor {
    calls: mpsc::Sender<AgentCall>,
    board: Arc<StatusBoard>,
}

impl Actor {
    /// Starts a match in which both tic-tac-toe sides, or two agent-command sides, are held by agents.
    pub fn start(surface: &Arc<Surface>, teams: [&str; 2]) -> Arc<Self> {
        let teams: Vec<Name> = teams.into_iter().map(Into::into).collect();
        let config = Config {
            teams: Some(teams.clone()),
            observers: ObserverPolicy::public(180_000),
            ..Config::of(1)
        };
        let mut game = Match::new(Arc::clone(surface), config, 0).unwrap();
        for team in &teams {
            for role in &surface.manifest.roles {
                let owner = OwnerId(format!("owner-{team}").into());
                let occupant = Occupant::Agent { owner, display: "agent".into() };
                game.assign(&Seat::new(team, role), occupant).unwrap();
            }
        }
        let (calls, inbox) = mpsc::channel(64);
        let wake = Arc::new(tokio::sync::Notify::new());
        let waker = Arc::clone(&wake);
        let places = PolicyPlaces::new(POLICY_PLACES, Workers::of_this_program());
        let live = Live::new(game, places, Arc::new(move || waker.notify_one()));
        let board = live.board();
        tokio::spawn(run(live, wake, inbox));
        Arc::new(Self { calls, board })
    }
}

impl MatchDoor for Actor {
    fn call(&self, call: AgentCall) -> Result<(), CallError> {
        self.calls.try_send(call).map_err(|_| Code::Busy.into())
    }

    fn follow(&self, _: CommanderId, _: Settings) -> Result<(), CallError> {
        Ok(())
    }

    fn tell(&self, _: CommanderId, _: Seat, _: Message) -> Result<(), CallError> {
        Ok(())
    }

    fn said(&self, _: SaidInLobby) -> Result<(), CallError> {
        Ok(())
    }

    fn board(&self) -> Arc<StatusBoard> {
        Arc::clone(&self.board)
    }
}

/// Terminates when nobody can call any more.
async fn run(
    mut live: Live<oneshot::Sender<Answer>>,
    wake: Arc<tokio::sync::Notify>,
    mut inbox: mpsc::Receiver<AgentCall>,
) {
    let surface = Arc::clone(live.game().surface());
    let realtime = surface.game.clock() == Clock::Realtime;
    let every = Duration::from_secs(1) / surface.manifest.tick_rate;
    let started = Instant::now();
    let mut ticks = tokio::time::interval(every);
    loop {
        let now = |started: Instant| Millis::try_from(started.elapsed().as_millis()).unwrap();
        tokio::select! {
            call = inbox.recv() => {
                let Some(call) = call else { return };
                live.call(&call.seat, Right::Agent, &call.method, &call.args, call.reply, now(started));
            }
            () = wake.notified() => live.take_in(now(started)),
            _ = ticks.tick() => {
                if realtime {
                    live.tick(now(started));
                }
                live.heartbeat(now(started));
            }
        }
        live.cancel_waits(oneshot::Sender::is_closed, now(started));
        live.take_changes(now(started));
        for (caller, answer) in live.take_answers() {
            let _ = caller.send(answer);
        }
    }
}
