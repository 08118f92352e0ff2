//! `scripted`: each client goes through the steps of a script, again and again. What is measured is how long it waits
//! for what it expects, from the message that it sent last.

use crate::load::context::{Context, Seat};
use crate::load::script::Step;
use crate::load::window::{Phase, Window};
use playerthree_client::Event;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long a client waits for what it expects before it gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// One client in a round of its script.
struct Player<'a> {
    context: &'a Context,
    seat: Seat<'a>,
    window: Window,
    /// Messages of this round that no step has waited for yet, by name. Only names that the script expects.
    heard: HashMap<String, u32>,
    /// When the last message was sent.
    asked: Instant,
}

/// Why a client goes on no further.
enum Over {
    /// Its connection is gone, which is counted.
    Lost,
    /// It gave up, which is counted, or the run is done.
    Done,
}

pub(super) async fn run(context: &Context, index: usize) {
    let Some(mut seat) = context.ramp_up(index).await else { return };
    if !seat.stay_while(|phase| phase == Phase::Ramp).await {
        return;
    }
    let Some(window) = context.phase.borrow().window() else {
        seat.leave().await;
        return;
    };
    let mut player = Player { context, seat, window, heard: HashMap::new(), asked: Instant::now() };
    while context.phase.borrow().is_running() {
        match player.round().await {
            Ok(()) => {}
            Err(Over::Lost) => return,
            Err(Over::Done) => break,
        }
    }
    player.seat.leave().await;
}

impl Player<'_> {
    async fn round(&mut self) -> Result<(), Over> {
        self.heard.clear();
        let begun = Instant::now();
        let context = self.context;
        for step in &context.plan.script.steps {
            match step {
                Step::Send(message) => {
                    let sent = self.seat.room.send(&message.kind, &message.payload).await;
                    self.seat.count(Some(self.window));
                    self.asked = Instant::now();
                    if let Err(error) = sent {
                        context.board.shard(self.seat.index).error(&error);
                        return Err(Over::Lost);
                    }
                }
                Step::Expect(name) => self.expect(name).await?,
                Step::PauseMs(pause) => {
                    // The pause ends by its time; what comes meanwhile is heard.
                    if let Ok(Err(over)) = timeout(Duration::from_millis(*pause), self.listen()).await {
                        return Err(over);
                    }
                }
            }
        }
        if self.window.contains(begun) {
            context.board.shard(self.seat.index).rounds += 1;
        }
        Ok(())
    }

    async fn expect(&mut self, name: &str) -> Result<(), Over> {
        let is_measured = self.window.contains(self.asked);
        let waiting = async {
            while !self.take(name) {
                self.hear().await?;
            }
            Ok(())
        };
        let met = timeout(PATIENCE, waiting).await;
        let mut tally = self.context.board.shard(self.seat.index);
        // A wait that the end of the run cut short says nothing of the server.
        let is_cut_short = matches!(met, Ok(Err(Over::Done)));
        tally.expected += u64::from(is_measured && !is_cut_short);
        match met {
            Ok(Ok(())) => {
                if is_measured {
                    tally.arrive(self.asked.elapsed());
                }
                Ok(())
            }
            Ok(Err(over)) => Err(over),
            Err(_) => {
                tally.fault("no_answer");
                Err(Over::Done)
            }
        }
    }

    fn take(&mut self, name: &str) -> bool {
        match self.heard.get_mut(name) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Hears until the connection ends.
    async fn listen(&mut self) -> Result<(), Over> {
        loop {
            self.hear().await?;
        }
    }

    async fn hear(&mut self) -> Result<(), Over> {
        let mut phase = self.context.phase.clone();
        let event = tokio::select! {
            event = self.seat.next(Some(self.window)) => event,
            _ = phase.wait_for(|phase| *phase == Phase::Done) => return Err(Over::Done),
        };
        match event {
            Event::Closed { .. } => Err(Over::Lost),
            Event::Message { kind, .. } => {
                if let Some(name) = kind.name().filter(|name| self.context.plan.script.expects(name)) {
                    *self.heard.entry(name.to_owned()).or_default() += 1;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
