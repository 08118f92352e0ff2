//! Meadow: a small world of one side and one seat that goes on for ever, and claims at once that it is won. It keeps no log,
//! and what it grows depends on every tick and every seed that was ever sown.

use playerthree_game::{
    Bot, CannotCreate, Clock, Context, Control, Game, GameMatch, IntentKind, IntentLimits, Manifest, Name,
    NoForfeit, Outcome, Seat, SeatInfo, Setup, ViewKind, t,
};
use serde_json::{Value, json};

/// The game. `grafts` says whether a match of it can be copied.
#[derive(Clone, Copy, Debug)]
pub struct Meadow {
    pub clock: Clock,
    pub grafts: bool,
}

pub fn gardener() -> Seat {
    Seat::new("garden", "gardener")
}

pub fn sow(n: u64) -> Value {
    json!({ "kind": "sow", "n": n })
}

impl Game for Meadow {
    fn manifest(&self) -> Manifest {
        let seen = || t::obj([("tick", t::int(0, 1 << 40)), ("sown", t::int(0, 1 << 40))]);
        Manifest {
            id: "meadow".into(),
            version: "1".into(),
            title: "Meadow".into(),
            doc: "A world for tests.".into(),
            tick_rate: 10,
            teams: vec!["garden".into()],
            roles: vec!["gardener".into()],
            role_docs: [("gardener".into(), "Sows.".into())].into(),
            topics: Vec::new(),
            intents: vec![IntentKind {
                name: "sow".into(),
                roles: vec!["gardener".into()],
                params: vec![("n".into(), t::int(0, 1000))],
                doc: "Sows seeds.".into(),
            }],
            observation: seen(),
            view: seen(),
            observation_scope: None,
            match_data: None,
            lobby: None,
            observer: None,
            directive: t::obj([]),
            limits: None,
            errors: vec!["no".into()],
            event: t::obj([("tick", t::int(0, 1 << 40)), ("kind", t::literals(["rain"]))]),
            opponents: vec!["nobody".into()],
            report: seen(),
            match_options: None,
            skills: Vec::new(),
            control: Control {
                intents: IntentLimits { per_second: 1000.0, burst: 10_000 },
                sequence: None,
                policy: None,
                stream: None,
                practice: None,
                pool: None,
                chat: None,
                pausable: None,
                signals: None,
            },
            signals: None,
        }
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Ok(Box::new(Plot { grafts: self.grafts, tick: 0, sown: 0, grass: u64::from(setup.seed) }))
    }

    fn create_bot(&self, _: &Seat, _: &str) -> Option<Box<dyn Bot>> {
        None
    }
}

#[derive(Clone)]
struct Plot {
    grafts: bool,
    tick: u64,
    sown: u64,
    grass: u64,
}

impl Plot {
    fn seen(&self) -> Value {
        json!({ "tick": self.tick, "sown": self.sown })
    }
}

impl GameMatch for Plot {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn step(&mut self) {
        self.tick += 1;
        self.grass = self.grass.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(2 * self.sown + 1);
    }

    fn outcome(&self, _: &str) -> Outcome {
        Outcome::Win
    }

    fn view(&self, _: &str, _: ViewKind) -> Value {
        self.seen()
    }

    fn observe(&self, _: &Seat, _: i64, _: &[Name]) -> Value {
        self.seen()
    }

    fn apply(&mut self, _: &Seat, intent: &Value, _: &Context) -> Result<(), &'static str> {
        self.sown += intent["n"].as_u64().unwrap();
        Ok(())
    }

    fn report(&self, _: &str) -> Value {
        self.seen()
    }

    fn events(&self, _: &Seat, _: i64) -> Vec<Value> {
        Vec::new()
    }

    fn set_seat_info(&mut self, _: &Seat, _: &SeatInfo) {}

    fn debug_view(&self) -> Option<Value> {
        Some(json!({ "tick": self.tick, "sown": self.sown, "grass": self.grass.to_string() }))
    }

    fn clone_match(&self) -> Option<Box<dyn GameMatch>> {
        self.grafts.then(|| Box::new(self.clone()) as Box<dyn GameMatch>)
    }

    fn forfeit(&mut self, _: &str) -> Result<(), NoForfeit> {
        Ok(())
    }
}
