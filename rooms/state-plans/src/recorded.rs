//! The mutations of which recordings of the official encoders exist, made with this one. `tests/state/recorded` has
//! what they said and what their clients held.

use playerthree_rooms_state::{
    Dialect, Joining, List, Map, Number, Shared, State, Synced, Synchronized as _, View, ViewMap,
};
use serde_json::{Value, json};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A state, and the views of the clients `A` and `B` of it.
struct Stage<S: State> {
    state: Synced<S>,
    views: [(&'static str, View); 2],
}

impl<S: State> Stage<S> {
    fn new(state: S) -> Self {
        let state = Synced::new(state);
        let reflection = |dialect| hex(&state.reflection(dialect).unwrap());
        println!("{}", json!({ "joined": reflection(Dialect::Joined), "apart": reflection(Dialect::Apart) }));
        let mut stage = Self { state, views: [("A", View::default()), ("B", View::default())] };
        stage.step(|_, _| {});
        stage
    }

    /// Changes something, and prints what each client is sent.
    fn step(&mut self, change: impl FnOnce(&mut S, &mut [(&'static str, View); 2])) {
        change(&mut self.state, &mut self.views);
        let (patch, full) = self.state.full(Joining::New).unwrap();
        let clients: Value = self
            .views
            .iter_mut()
            .map(|(name, view)| {
                let own = patch.restricted(view, Some(&full));
                let (patch, full) =
                    ([patch.shared(), &own].concat(), [full.shared(), &full.restricted(view)].concat());
                ((*name).to_owned(), json!({ "patch": hex(&patch), "full": hex(&full) }))
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        println!(
            "{}",
            json!({ "patch": hex(patch.shared()), "full": hex(full.shared()), "clients": clients })
        );
    }
}

macro_rules! many_fields {
    ($($field:ident)*) => {
        #[derive(State, Default)]
        struct Many { $($field: Option<u8>),* }
    };
}

many_fields! {
    f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24 f25 f26 f27 f28 f29 f30
    f31 f32 f33 f34 f35 f36 f37 f38 f39 f40 f41 f42 f43 f44 f45 f46 f47 f48 f49 f50 f51 f52 f53 f54 f55 f56 f57 f58 f59
}

pub(crate) fn many_fields(_: u64, _: u32) {
    let mut stage =
        Stage::new(Many { f0: Some(1), f31: Some(2), f32: Some(3), f59: Some(4), ..Many::default() });
    stage.step(|many, _| (many.f32, many.f1, many.f59) = (Some(9), Some(8), Some(7)));
    stage.step(|many, _| (many.f59, many.f0) = (None, None));
}

#[derive(State)]
struct Entity {
    x: Number,
    y: Number,
}

#[derive(State)]
struct Player {
    #[state(extends)]
    entity: Entity,
    name: Option<String>,
}

/// The recorded places hold any of the three classes. A Rust field has one type: that of the last, with the fields of
/// its own left out where the recorded instance is of another.
#[derive(State)]
struct Bot {
    #[state(extends)]
    player: Player,
    power: Option<u8>,
}

#[derive(State)]
struct Bots {
    /// Shared, because another instance takes the place of the first.
    one: Shared<Bot>,
    all: Map<Bot>,
    list: List<Bot>,
}

fn bot(at: f64, name: Option<&str>, power: Option<u8>) -> Bot {
    let entity = Entity { x: Number(at), y: Number(at) };
    Bot { player: Player { entity, name: name.map(str::to_owned) }, power }
}

pub(crate) fn inheritance(_: u64, _: u32) {
    let mut stage = Stage::new(Bots { one: bot(1.0, None, None).into(), all: Map::new(), list: List::new() });
    stage.step(|bots, _| bots.one = bot(2.0, Some("p"), None).into());
    stage.step(|bots, _| {
        bots.all.insert("e", bot(3.0, None, None));
        bots.all.insert("b", bot(4.0, Some("bot"), Some(9)));
    });
    stage.step(|bots, _| bots.list.extend([bot(5.0, Some("b"), Some(1)), bot(6.0, None, None)]));
    stage.step(|bots, _| bots.all.get_mut("b").unwrap().power = Some(10));
}

#[derive(State)]
struct Item {
    name: String,
    qty: u8,
}

fn item(name: &str, qty: u8) -> Item {
    Item { name: name.to_owned(), qty }
}

#[derive(State)]
struct Lists {
    items: List<Item>,
    nums: List<Number>,
}

pub(crate) fn array_splice_insert(_: u64, _: u32) {
    let items = [item("a", 1), item("b", 2), item("c", 3)].into_iter().collect();
    let mut stage = Stage::new(Lists { items, nums: [1.0, 2.0, 3.0].map(Number).into_iter().collect() });
    stage.step(|lists, _| lists.items.insert(1, item("m", 13)));
    stage.step(|lists, _| lists.nums.insert(2, Number(99.0)));
    stage.step(|lists, _| {
        lists.nums.remove(0);
        lists.nums.insert(0, Number(7.0));
        lists.nums.insert(1, Number(8.0));
    });
}

#[derive(State)]
struct Hand {
    cards: List<Number>,
}

#[derive(State)]
struct Unit {
    hp: u8,
    #[state(view)]
    hidden: String,
    #[state(view = 1)]
    tagged: String,
}

#[derive(State)]
struct Game {
    r#pub: Number,
    #[state(view)]
    secret: String,
    hands: ViewMap<Hand>,
    all: Map<Unit>,
}

pub(crate) fn views(_: u64, _: u32) {
    let hand = |cards: &[f64]| Hand { cards: cards.iter().map(|card| Number(*card)).collect() };
    let (hidden, tagged) = ("h".to_owned(), "t".to_owned());
    let mut stage = Stage::new(Game {
        r#pub: Number(1.0),
        secret: "s".to_owned(),
        hands: [("a", hand(&[1.0, 2.0])), ("b", hand(&[3.0]))].into_iter().collect(),
        all: [("u", Unit { hp: 10, hidden, tagged })].into_iter().collect(),
    });
    stage.step(|game, [(_, a), _]| assert!(a.add(game.hands.id("a").unwrap())));
    stage.step(|game, _| {
        game.hands.get_mut("a").unwrap().cards.push(Number(9.0));
        game.hands.get_mut("b").unwrap().cards.push(Number(8.0));
    });
    stage.step(|game, [_, (_, b)]| {
        // The official server shows the default tag with any other.
        b.add(game.all.id("u").unwrap());
        b.add_tag(game.all.id("u").unwrap(), 1);
    });
    let change = |game: &mut Game, hp, hidden: &str, tagged: &str| {
        let unit = game.all.get_mut("u").unwrap();
        *unit = Unit { hp, hidden: hidden.to_owned(), tagged: tagged.to_owned() };
    };
    stage.step(|game, _| change(game, 5, "h2", "t2"));
    stage.step(|game, [(_, a), _]| assert!(a.add(game.all.id("u").unwrap())));
    stage.step(|game, _| change(game, 5, "h3", "t3"));
    stage.step(|game, [(_, a), _]| a.remove(game.hands.id("a").unwrap()));
    stage.step(|game, _| game.hands.get_mut("a").unwrap().cards.push(Number(77.0)));
    stage.step(|game, _| game.r#pub = Number(2.0));
}

#[derive(State)]
struct Figure {
    x: Number,
    y: Number,
    name: String,
    items: List<Item>,
}

#[derive(State)]
struct Round {
    round: i32,
    title: String,
    open: bool,
    players: Map<Figure>,
    scores: List<Number>,
    boss: Figure,
}

fn figure(x: f64, y: f64, name: &str) -> Figure {
    Figure { x: Number(x), y: Number(y), name: name.to_owned(), items: List::new() }
}

pub(crate) fn late_join(_: u64, _: u32) {
    let mut stage = Stage::new(Round {
        round: 1,
        title: "hello".to_owned(),
        open: true,
        players: Map::new(),
        scores: List::new(),
        boss: figure(7.0, 8.0, ""),
    });
    stage.step(|round, _| {
        round.players.insert("alice", figure(1.0, 2.0, "Alice"));
        round.scores.extend([5.0, 6.0].map(Number));
        round.players.get_mut("alice").unwrap().items.push(item("sword", 3));
    });
    stage.step(|round, _| {
        let alice = round.players.get_mut("alice").unwrap();
        (alice.x, alice.y) = (Number(9.0), Number(9.0));
    });
}
