//! Our bytes beside recordings of the official encoder (schema 5): single values, and one whole game.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

use playerthree_rooms_state::{
    BigInt, BigUint, Joining, List, Map, Number, State, Synced, Synchronized as _,
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn patch<S: State>(state: &mut Synced<S>) -> String {
    hex(state.patch().unwrap().shared())
}

#[derive(State, Default)]
struct Primitives {
    f_string: Option<String>,
    f_boolean: Option<bool>,
    f_int8: Option<i8>,
    f_uint8: Option<u8>,
    f_int16: Option<i16>,
    f_uint16: Option<u16>,
    f_int32: Option<i32>,
    f_uint32: Option<u32>,
    f_int64: Option<i64>,
    f_uint64: Option<u64>,
    f_float32: Option<f32>,
    f_float64: Option<f64>,
    f_number: Option<Number>,
    f_bigint64: Option<BigInt>,
    f_biguint64: Option<BigUint>,
}

// Recordings `schema-primitives`.
#[test]
fn every_primitive_is_written_as_recorded() {
    const SAFE: i64 = 9_007_199_254_740_991;
    let mut state = Synced::new(Primitives::default());
    assert_eq!(patch(&mut state), "", "nothing is set");
    *state = Primitives {
        f_string: Some("hi".to_owned()),
        f_boolean: Some(true),
        f_int8: Some(i8::MIN),
        f_uint8: Some(u8::MAX),
        f_int16: Some(i16::MIN),
        f_uint16: Some(u16::MAX),
        f_int32: Some(i32::MIN),
        f_uint32: Some(u32::MAX),
        f_int64: Some(-SAFE),
        f_uint64: Some(SAFE.unsigned_abs()),
        f_float32: Some(1.5),
        f_float64: Some(0.1),
        f_number: Some(Number(300.0)),
        f_bigint64: Some(BigInt(-5)),
        f_biguint64: Some(BigUint(u64::MAX)),
    };
    assert_eq!(
        patch(&mut state),
        "80a268698101828083ff84008085ffff860000008087ffffffff88010000000000e0ff89ffffffffffff1f008a0000c03f8b9a99\
         99999999b93f8ccd2c018dfbffffffffffffff8effffffffffffffff"
    );
    state.f_boolean = Some(false);
    state.f_int8 = Some(i8::MAX);
    state.f_int16 = Some(i16::MAX);
    state.f_int32 = Some(i32::MAX);
    state.f_float32 = Some(-0.25);
    state.f_float64 = Some(1e300);
    assert_eq!(patch(&mut state), "8100827f84ff7f86ffffff7f8a000080be8b9c7500883ce4377e");
    state.f_int8 = Some(i8::MAX);
    assert_eq!(patch(&mut state), "", "an equal value is no change");
    state.f_string = None;
    state.f_number = None;
    assert_eq!(patch(&mut state), "404c");
    state.f_string = Some("back".to_owned());
    state.f_number = Some(Number(1.0));
    assert_eq!(patch(&mut state), "80a46261636b8c01");
    state.f_string = None;
    assert_eq!(patch(&mut state), "40");
    assert_eq!(
        hex(state.full(Joining::New).unwrap().1.shared()),
        "8100827f83ff84ff7f85ffff86ffffff7f87ffffffff88010000000000e0ff89ffffffffffff1f008a000080be8b9c7500883ce4\
         377e8c018dfbffffffffffffff8effffffffffffffff"
    );
}

#[derive(State, Default)]
struct Text {
    s: String,
}

// Recordings `schema-strings`: what stands before the text.
#[test]
fn strings_are_written_as_recorded() {
    let table = [
        ("a".to_owned(), "80a1"),
        ("b".repeat(31), "80bf"),
        ("c".repeat(32), "80d920"),
        ("d".repeat(254), "80d9fe"),
        ("e".repeat(256), "80da0001"),
        ("f".repeat(1000), "80dae803"),
        ("é".to_owned(), "80a2"),
        ("日本".to_owned(), "80a6"),
        ("😀".to_owned(), "80a4"),
        (String::new(), "80a0"),
    ];
    let mut state = Synced::new(Text::default());
    assert_eq!(patch(&mut state), "80a0");
    for (text, recorded) in table {
        state.s.clone_from(&text);
        assert_eq!(patch(&mut state), format!("{recorded}{}", hex(text.as_bytes())));
    }
}

#[derive(State, Default)]
struct One {
    v: Number,
}

// Recordings `schema-number-varint`: whole numbers of 32 bits and fractions that a float32 holds exactly. The official
// encoder rounds other fractions, and writes NaN as 0 and infinities as the safest integer; ours arrive as they are.
#[test]
fn numbers_are_written_as_recorded_where_the_recorded_form_is_exact() {
    let table = [
        (0.0, "8000"),
        (1.0, "8001"),
        (127.0, "807f"),
        (128.0, "80cc80"),
        (255.0, "80ccff"),
        (256.0, "80cd0001"),
        (65_535.0, "80cdffff"),
        (65_536.0, "80ce00000100"),
        (2_147_483_647.0, "80ceffffff7f"),
        (4_294_967_296.0, "80ca0000804f"),
        (9_007_199_254_740_991.0, "80cbffffffffffff3f43"),
        (-1.0, "80ff"),
        (-32.0, "80e0"),
        (-33.0, "80d0df"),
        (-128.0, "80d080"),
        (-129.0, "80d17fff"),
        (-32_768.0, "80d10080"),
        (-32_769.0, "80d2ff7fffff"),
        (-2_147_483_648.0, "80d200000080"),
        (-2_147_483_649.0, "80cb000020000000e0c1"),
        (0.5, "80ca0000003f"),
        (1.5, "80ca0000c03f"),
        (1e39, "80cb1d4a9cf487820748"),
    ];
    let mut state = Synced::new(One { v: Number(5.0) });
    assert_eq!(patch(&mut state), "8005");
    for (value, recorded) in table {
        *state.v = value;
        assert_eq!(patch(&mut state), recorded, "{value}");
    }
}

#[derive(State, Default)]
struct Game {
    round: i32,
    title: String,
    open: bool,
    players: Map<Player>,
    scores: List<Number>,
    boss: Player,
}

#[derive(State, Default)]
struct Player {
    x: Number,
    y: Number,
    name: String,
    items: List<Item>,
}

#[derive(State, Default)]
struct Item {
    name: String,
    qty: u8,
}

fn player(x: f64, y: f64, name: &str) -> Player {
    Player { x: Number(x), y: Number(y), name: name.to_owned(), items: List::new() }
}

fn game() -> Synced<Game> {
    let (title, boss) = ("hello".to_owned(), player(7.0, 8.0, ""));
    Synced::new(Game { round: 1, title, open: true, boss, ..Game::default() })
}

// Recordings `game-state`, against the official server 0.18. Where it removes an item by its reference, which older
// decoders do not count, ours does by its index.
#[test]
fn a_whole_game_says_what_the_official_server_said() {
    const WHOLE: &str = "800100000081a568656c6c6f8201830184028503ff038007810882a08304";
    let mut game = game();
    assert_eq!(patch(&mut game), WHOLE);
    assert_eq!(hex(game.full(Joining::New).unwrap().1.shared()), WHOLE);
    game.players.insert("alice", player(1.0, 2.0, "Alice"));
    assert_eq!(patch(&mut game), "ff018000a5616c69636505ff058001810282a5416c6963658306");
    let alice = game.players.get_mut("alice").unwrap();
    (*alice.x, *alice.y) = (3.0, 4.5);
    assert_eq!(patch(&mut game), "ff05800381ca00009040");
    game.players.insert("bob", player(-1.0, 1000.0, "Bob"));
    assert_eq!(patch(&mut game), "ff018001a3626f6207ff0780ff81cde80382a3426f628308");
    game.title = "new title".to_owned();
    assert_eq!(patch(&mut game), "81a96e6577207469746c65");
    game.scores.extend([10.0, 20.0, 30.0].map(Number));
    assert_eq!(patch(&mut game), "ff0280000a80011480021e");
    game.scores.remove(0);
    assert_eq!(patch(&mut game), "ff024000");
    for (name, qty, recorded) in [
        ("sword", 1, "ff06800009ff0980a573776f72648101"),
        ("potion", 200, "ff0680010aff0a80a6706f74696f6e81c8"),
    ] {
        game.players.get_mut("alice").unwrap().items.push(Item { name: name.to_owned(), qty });
        assert_eq!(patch(&mut game), recorded);
    }
    game.players.get_mut("alice").unwrap().items.remove(0);
    assert_eq!(patch(&mut game), "ff064000");
    game.players.remove("alice");
    assert_eq!(patch(&mut game), "ff014000");
    game.round = 2;
    assert_eq!(patch(&mut game), "8002000000");
    game.players.clear();
    assert_eq!(patch(&mut game), "ff010a");
}
