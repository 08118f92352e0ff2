//! §11: 64 policies in one process, some of which mean harm. Time is handed in; only answers are waited for.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "common/crowd.rs"]
mod crowd;

use crowd::{MATCHES, Policy, policies, surface};
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Bot, CannotCreate, Clock, Game, GameMatch, Manifest, Seat, Setup};
use playerthree_host::{Live, POLICY_PLACES, PolicyPlaces};
use playerthree_sandbox::{
    Artifact, Instance, Limits, PolicyErrorCode, Runtime, Setup as Sandboxed, Workers,
};
use playerthree_session::{Millis, Right, Surface};
use serde_json::Value;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Far longer than any budget of the sandbox: reached only when an answer is lost.
const LOST: Duration = Duration::from_secs(60);

/// The workers of these tests are this test program, started with this test's name as its filter.
#[test]
fn sandbox_worker() {
    playerthree_sandbox::serve_if_worker();
}

/// The game with budgets that no honest policy reaches in an unoptimized build on a busy machine.
struct Patient;

impl Game for Patient {
    fn manifest(&self) -> Manifest {
        let mut manifest = AgentCommand.manifest();
        if let Some(policy) = &mut manifest.control.policy {
            policy.ms_per_call = 300;
        }
        manifest
    }

    fn clock(&self) -> Clock {
        AgentCommand.clock()
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        AgentCommand.create(setup)
    }

    fn create_bot(&self, seat: &Seat, level: &str) -> Option<Box<dyn Bot>> {
        AgentCommand.create_bot(seat, level)
    }
}

struct Table {
    live: Live<()>,
    policies: Vec<Policy>,
    woken: Receiver<()>,
    now: Millis,
}

impl Table {
    fn new(surface: &Arc<Surface>, places: &PolicyPlaces, number: usize) -> Self {
        let policies = policies(surface, number);
        let game = crowd::game(surface, number, &policies);
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        let wake = Arc::new(move || _ = wake.lock().unwrap().send(()));
        Self { live: Live::new(game, places.clone(), wake), policies, woken, now: 0 }
    }

    fn take_in(&mut self) {
        self.woken.recv_timeout(LOST).expect("the sandbox answers");
        self.live.take_in(self.now);
    }

    /// Deploys every policy at once.
    fn deploy(&mut self) {
        for policy in &self.policies {
            self.live.call(&policy.seat, Right::Agent, "policyDeploy", &policy.artifact, (), 0);
        }
        let mut deployed = 0;
        while deployed < self.policies.len() {
            for (_, answer) in self.live.take_answers() {
                let answer = answer.unwrap();
                assert_eq!(answer["ok"], true, "{answer}");
                deployed += 1;
            }
            if deployed < self.policies.len() {
                self.take_in();
            }
        }
    }

    /// One tick, with every policy's answer waited for.
    fn tick(&mut self) {
        self.now += 100;
        let before = self.live.game().tick();
        self.live.heartbeat(self.now);
        self.live.tick(self.now);
        while self.live.game().tick() == before {
            self.take_in();
        }
        self.live.take_changes(self.now);
    }

    fn status(&self, policy: &Policy) -> Value {
        self.live.game().policy_status(&policy.seat).unwrap()
    }

    /// Ticks until every policy has been up and asked.
    fn until_all_think(&mut self) {
        while self.policies.iter().any(|policy| self.status(policy)["calls"] == 0) {
            self.tick();
        }
    }
}

// Issue "Policies": every honest policy of 64 answers each time it is asked, whatever the others are killed for.
#[test]
fn sixty_four_policies_keep_answering_while_hostile_ones_are_killed() {
    const THINKS: u64 = 12;
    let surface = surface(Patient);
    let places = PolicyPlaces::new(POLICY_PLACES, Workers::of_this_program());
    let mut tables: Vec<Table> = (0..MATCHES).map(|number| Table::new(&surface, &places, number)).collect();
    for table in &mut tables {
        table.deploy();
        table.until_all_think();
    }
    let calls = |table: &Table, policy: &Policy| table.status(policy)["calls"].as_u64().unwrap();
    for table in &mut tables {
        let before: Vec<u64> = table.policies.iter().map(|policy| calls(table, policy)).collect();
        // Policies think every other tick here.
        for _ in 0..2 * THINKS {
            table.tick();
        }
        for (policy, before) in table.policies.iter().zip(before) {
            let status = table.status(policy);
            if policy.is_honest() {
                assert_eq!(
                    (calls(table, policy) - before, &status["errors"]),
                    (THINKS, &0.into()),
                    "{status}"
                );
            } else {
                assert!(status["errors"].as_u64().unwrap() > 0, "{}: {status}", policy.kind);
            }
        }
    }
    assert_eq!(tables.iter().map(|table| table.policies.len()).sum::<usize>(), 64);
}

// Field report U92: a policy that spins takes nothing from the one thread of a runtime, whose timers fire as before.
#[tokio::test(flavor = "current_thread")]
async fn a_spinning_policy_leaves_a_runtime_of_one_thread_its_timers() {
    const MODULE: &str = r#"(module (memory (export "memory") 1 1)
        (func (export "alloc") (param i32) (result i32) (i32.const 0))
        (func (export "think") (param i32 i32) (result i64) (loop $l (br $l)) unreachable))"#;
    let scripts = Artifact::from_stored(Runtime::Js, b"function think() { for (;;); }".to_vec());
    let modules = Artifact::from_stored(Runtime::Wasm, wat::parse_str(MODULE).unwrap());
    for artifact in [scripts, modules] {
        let limits = Limits {
            ms_per_call: 500,
            memory_bytes: 16 << 20,
            max_artifact_bytes: 10_000,
            max_intents_per_call: 8,
            max_log_lines: 1,
            max_log_line_bytes: 1,
            runtimes: vec![artifact.runtime()],
        };
        let setup = Sandboxed { artifact: Arc::new(artifact), limits, match_data: "null".into(), seed: 0 };
        let (policy, _) = Instance::load_blocking(&Workers::of_this_program(), setup);
        let (done, mut answered) = tokio::sync::oneshot::channel();
        policy.think("{}".into(), move |answer| _ = done.send(answer)).unwrap();
        let mut beats = 0;
        let mut timer = tokio::time::interval(Duration::from_millis(5));
        let answer = loop {
            tokio::select! {
                answer = &mut answered => break answer.unwrap(),
                _ = timer.tick() => beats += 1,
            }
        };
        assert_eq!(answer.result.unwrap_err().code, PolicyErrorCode::Timeout);
        assert!(beats > 1, "no timer fired in half a second of CPU time");
    }
}
