//! Drill: a small game whose every outcome, event and hook a test chooses, and which keeps what the host told it.
//!
//! `mark` is recorded; `refuse` is refused by the rules; `cry` makes an event that one side sees; `settle` makes a side's
//! outcome final; `break` answers with a code that the manifest does not have.

use playerthree_game::{
    Bot, CannotCreate, Clock, Context, Control, Game, GameMatch, IntentKind, IntentLimits, Manifest, Name,
    NoForfeit, ObservationScope, Outcome, PauseLimits, PolicyLimits, Runtime, Seat, SeatInfo, SequenceLimits,
    Setup, Source, StreamLimits, ViewKind, t,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// What the host told the game.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Created(Setup),
    Applied { tick: u64, seat: Seat, intent: Value, context: Context },
    Stepped(u64),
    SeatInfo(Seat, SeatInfo),
    Ended(BTreeMap<Name, Outcome>, BTreeMap<Name, u32>),
    Forfeited(u64, Name),
}

/// An output of the game that does not keep to its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    Observation,
    View,
    Report,
    Event,
    World,
    MatchData,
    NoMatchData,
    LongMatchData,
}

/// What a broken output shows and nobody may ever see.
pub const LEAK: &str = "Leak7Leak7";

/// The game, and how its matches behave.
#[derive(Clone)]
pub struct Drill {
    pub clock: Clock,
    /// Ticks a second.
    pub tick_rate: u32,
    pub control: Control,
    /// What `rank` says, by side.
    pub ranks: BTreeMap<&'static str, u32>,
    /// Whether the game knows how to concede; a side that conceded has lost with the next step.
    pub forfeits: bool,
    /// Whether a side that concedes has lost before the next step already.
    pub loses_at_once: bool,
    /// Hundreds of thousands of letters in the observer view, which are others after each tick.
    pub banners: usize,
    pub told: Arc<Mutex<Vec<Told>>>,
    pub broken: Arc<Mutex<Option<Broken>>>,
    /// What the match data say.
    pub note: Arc<Mutex<Option<&'static str>>>,
}

impl Drill {
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            tick_rate: 10,
            control: control(),
            ranks: BTreeMap::new(),
            forfeits: true,
            loses_at_once: false,
            banners: 0,
            told: Arc::default(),
            broken: Arc::default(),
            note: Arc::default(),
        }
    }

    /// From now on this output breaks its schema.
    pub fn breaks(&self, output: Option<Broken>) {
        *self.broken.lock().unwrap() = output;
    }

    /// The output as it should be, unless it is the broken one.
    fn shown(&self, output: Broken, good: Value) -> Value {
        if *self.broken.lock().unwrap() == Some(output) {
            json!({ "tick": LEAK, "kind": LEAK })
        } else {
            good
        }
    }

    pub fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    /// Tick, role and number of every `mark` of a person or agent that reached the game.
    pub fn marks(&self) -> Vec<(u64, String, i64)> {
        let mark = |told: &Told| match told {
            Told::Applied { tick, seat, intent, context }
                if intent["kind"] == "mark" && matches!(context.source, Source::Owner | Source::Agent) =>
            {
                Some((*tick, seat.role.to_string(), intent["n"].as_i64().unwrap()))
            }
            _ => None,
        };
        self.told.lock().unwrap().iter().filter_map(mark).collect()
    }
}

fn control() -> Control {
    Control {
        intents: IntentLimits { per_second: 1000.0, burst: 10_000 },
        sequence: Some(SequenceLimits { max_steps: 4, max_ticks_ahead: 20, min_spacing_ticks: 2 }),
        policy: Some(PolicyLimits {
            runtimes: vec![Runtime::Js],
            hz: 10.0,
            ms_per_call: 10,
            memory_bytes: 1 << 24,
            max_artifact_bytes: 10_000,
            max_intents_per_call: 8,
            max_log_lines: 8,
            max_log_line_bytes: 80,
        }),
        stream: Some(StreamLimits { max_hz: 5.0, intents_per_tick: 2 }),
        practice: None,
        pool: None,
        chat: None,
        pausable: None::<PauseLimits>,
        signals: None,
    }
}

fn names(list: &[&str]) -> Vec<Name> {
    list.iter().map(|name| (*name).into()).collect()
}

pub const SIDES: [&str; 4] = ["a", "b", "c", "d"];

impl Game for Drill {
    fn manifest(&self) -> Manifest {
        let kind = |name: &str, roles: &[&str], params: Vec<(&str, playerthree_game::Schema)>| IntentKind {
            name: name.into(),
            roles: names(roles),
            params: params.into_iter().map(|(name, schema)| (name.into(), schema)).collect(),
            doc: "A drill.".into(),
        };
        let both = ["lead", "wing"];
        let side = || t::literals(SIDES);
        Manifest {
            id: "drill".into(),
            version: "1".into(),
            title: "Drill".into(),
            doc: "A game for tests.".into(),
            tick_rate: self.tick_rate,
            teams: names(&SIDES),
            roles: names(&both),
            role_docs: both.iter().map(|role| ((*role).into(), "A role.".into())).collect(),
            topics: Vec::new(),
            intents: vec![
                kind("mark", &both, vec![("n", t::int(0, 1000))]),
                kind("refuse", &both, vec![]),
                kind("cry", &["lead"], vec![("to", side()), ("what", t::literals(["alarm", "calm"]))]),
                kind("settle", &both, vec![("side", side()), ("as", t::literals(["win", "loss", "draw"]))]),
                kind("break", &both, vec![]),
            ],
            observation: t::obj([
                ("tick", t::int(0, 1_000_000)),
                ("full", t::list(t::literals(["near", "far"]), 2)),
            ]),
            view: t::obj([("tick", t::int(0, 1_000_000))]),
            observation_scope: Some(ObservationScope {
                sections: names(&["near", "far"]),
                defaults: both.iter().map(|role| ((*role).into(), names(&["near"]))).collect(),
            }),
            match_data: Some(t::obj([("note", t::opt(t::str(100_000))), ("more", t::opt(t::str(100_000)))])),
            lobby: None,
            observer: Some(t::obj([
                ("tick", t::int(0, 1_000_000)),
                ("banners", t::list(t::str(100_000), 10)),
            ])),
            directive: t::obj([]),
            limits: None,
            errors: names(&["no"]),
            event: t::obj([("tick", t::int(0, 1_000_000)), ("kind", t::literals(["alarm", "calm"]))]),
            opponents: names(&["dummy"]),
            report: t::obj([("tick", t::int(0, 1_000_000))]),
            match_options: None,
            skills: Vec::new(),
            control: self.control.clone(),
            signals: None,
        }
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        self.told.lock().unwrap().push(Told::Created(setup.clone()));
        Ok(Box::new(DrillMatch {
            game: self.clone(),
            tick: 0,
            outcomes: BTreeMap::new(),
            conceded: BTreeSet::new(),
            events: Vec::new(),
        }))
    }

    fn create_bot(&self, _: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
        (opponent == "dummy").then(|| Box::new(Dummy) as Box<dyn Bot>)
    }
}

/// Marks 999 whenever it thinks.
struct Dummy;

impl Bot for Dummy {
    fn think(&mut self, _: &Value) -> Vec<Value> {
        vec![json!({ "kind": "mark", "n": 999 })]
    }
}

struct DrillMatch {
    game: Drill,
    tick: u64,
    outcomes: BTreeMap<Name, Outcome>,
    conceded: BTreeSet<Name>,
    events: Vec<(Name, Value)>,
}

impl DrillMatch {
    fn tell(&self, told: Told) {
        self.game.told.lock().unwrap().push(told);
    }
}

impl GameMatch for DrillMatch {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn step(&mut self) {
        self.tell(Told::Stepped(self.tick));
        self.tick += 1;
        for team in std::mem::take(&mut self.conceded) {
            self.outcomes.entry(team).or_insert(Outcome::Loss);
        }
    }

    fn outcome(&self, team: &str) -> Outcome {
        self.outcomes.get(team).copied().unwrap_or(Outcome::Running)
    }

    fn view(&self, _: &str, _: ViewKind) -> Value {
        self.game.shown(Broken::View, json!({ "tick": self.tick }))
    }

    fn observe(&self, _: &Seat, _: i64, detail: &[Name]) -> Value {
        self.game.shown(Broken::Observation, json!({ "tick": self.tick, "full": detail }))
    }

    fn match_data(&self, _: &Seat) -> Option<Value> {
        match *self.game.broken.lock().unwrap() {
            Some(Broken::MatchData) => Some(json!({ "note": [LEAK] })),
            Some(Broken::NoMatchData) => None,
            // Each text is within its schema; together they pass 131072 bytes by one.
            Some(Broken::LongMatchData) => {
                let around = json!({ "note": "", "more": "" }).to_string().len();
                let more = "m".repeat(131_073 - around - 100_000);
                Some(json!({ "note": "n".repeat(100_000), "more": more }))
            }
            _ => Some(self.game.note.lock().unwrap().map_or(json!({}), |note| json!({ "note": note }))),
        }
    }

    fn observer_view(&self) -> Option<Value> {
        let letter = if self.tick.is_multiple_of(2) { "x" } else { "o" };
        let banners = vec![letter.repeat(100_000); self.game.banners];
        let world = json!({ "tick": self.tick, "banners": banners });
        Some(self.game.shown(Broken::World, world))
    }

    fn apply(&mut self, seat: &Seat, intent: &Value, context: &Context) -> Result<(), &'static str> {
        let (tick, seat, context) = (self.tick, seat.clone(), context.clone());
        self.tell(Told::Applied { tick, seat, intent: intent.clone(), context });
        match intent["kind"].as_str().unwrap() {
            "refuse" => return Err("no"),
            "break" => return Err("undeclared"),
            "cry" => {
                let event = json!({ "tick": self.tick, "kind": intent["what"] });
                self.events.push((intent["to"].as_str().unwrap().into(), event));
            }
            "settle" => {
                let outcome = serde_json::from_value(intent["as"].clone()).unwrap();
                self.outcomes.insert(intent["side"].as_str().unwrap().into(), outcome);
            }
            _ => {}
        }
        Ok(())
    }

    fn report(&self, _: &str) -> Value {
        self.game.shown(Broken::Report, json!({ "tick": self.tick }))
    }

    fn events(&self, seat: &Seat, since: i64) -> Vec<Value> {
        let visible =
            |(team, event): &&(Name, Value)| *team == seat.team && event["tick"].as_i64().unwrap() > since;
        let seen = self.events.iter().filter(visible);
        seen.map(|(_, event)| self.game.shown(Broken::Event, event.clone())).collect()
    }

    fn set_seat_info(&mut self, seat: &Seat, info: &SeatInfo) {
        self.tell(Told::SeatInfo(seat.clone(), info.clone()));
    }

    fn rank(&self, team: &str) -> Option<u32> {
        self.game.ranks.get(team).copied()
    }

    fn end(&mut self, outcomes: &BTreeMap<Name, Outcome>, ranks: &BTreeMap<Name, u32>) {
        self.tell(Told::Ended(outcomes.clone(), ranks.clone()));
    }

    fn forfeit(&mut self, team: &str) -> Result<(), NoForfeit> {
        if !self.game.forfeits {
            return Err(NoForfeit);
        }
        self.tell(Told::Forfeited(self.tick, team.into()));
        if self.game.loses_at_once {
            self.outcomes.insert(team.into(), Outcome::Loss);
        } else {
            self.conceded.insert(team.into());
        }
        Ok(())
    }
}
