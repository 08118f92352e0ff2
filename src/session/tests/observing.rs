//! §20.9 observers: what they are granted, when each frame leaves, and what becomes of readers that fall behind. Time is
//! stepped by hand.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::{Broken, Drill};
use common::*;
use playerthree_game::Clock;
use playerthree_session::{
    CallError, Code, Config, FrameContent, FrameKey, Match, OBSERVER_BATCH, ObserverFrame,
    ObserverPerspective, ObserverPolicy, ObserverState, PUBLIC_DELAY_MIN, Right,
};
use serde_json::{Value, json};

const EPOCH: u64 = 1_000_000;

/// A match of bots: something to see on every tick.
fn battle(observers: ObserverPolicy) -> Match {
    agent_command(Config { bots: Some("commander".into()), observers, ..config() })
}

/// The smallest match that is another one after each tick.
fn drilling(observers: ObserverPolicy) -> Match {
    drill(Drill::new(Clock::Realtime), Config { observers, ..config() }).0
}

fn red() -> ObserverPerspective {
    ObserverPerspective::Team("red".into())
}

/// A reader as clients are: a keyframe or contiguous deltas, applied strictly.
#[derive(Default)]
struct Reader {
    at: Option<u64>,
    world: Value,
    frames: Vec<ObserverFrame>,
    /// The world after each frame.
    worlds: Vec<(u64, Value)>,
}

impl Reader {
    fn new() -> Self {
        Self::default()
    }

    /// Asks with its cursor and applies what comes.
    fn read(&mut self, game: &Match, perspective: &ObserverPerspective) -> Result<usize, CallError> {
        let keys = game.observer_since(perspective, self.at)?;
        for key in &keys {
            self.take(game.observer_frame(perspective, *key).unwrap());
        }
        Ok(keys.len())
    }

    fn take(&mut self, frame: ObserverFrame) {
        self.world = match &frame.content {
            FrameContent::World(world) => world.clone(),
            FrameContent::Delta(delta) => {
                assert_eq!(Some(frame.sequence), self.at.map(|at| at + 1), "a delta fits its reader");
                let delta = playerthree_delta::Delta::decode(delta.clone()).unwrap();
                playerthree_delta::apply(self.world.take(), &delta).unwrap()
            }
        };
        self.at = Some(frame.sequence);
        self.worlds.push((frame.sequence, self.world.clone()));
        self.frames.push(frame);
    }
}

fn code<T>(result: Result<T, CallError>) -> Code {
    result.err().unwrap().code
}

// --- grants ----------------------------------------------------------------------------------------------------------

/// §20.9: a grant is one side's view, or everything with exactly the sides of the match.
#[test]
fn a_grant_is_of_one_side_of_the_match_or_of_all_its_sides() {
    let game = battle(ObserverPolicy::Public(0));
    let (team, all) = (game.observer_grant(Some("red")).unwrap(), game.observer_grant(None).unwrap());
    assert_eq!(team.to_json(), json!({ "kind": "team", "team": "red", "delayMs": 180_000 }));
    let everything = json!({ "kind": "omniscient", "teams": ["red", "blue"], "delayMs": 180_000 });
    assert_eq!(all.to_json(), everything);
    assert_eq!(code(game.observer_grant(Some("green"))), Code::Invalid, "green does not play");
    let [blue, everything] = [ObserverPerspective::Team("blue".into()), ObserverPerspective::All];
    assert_eq!([&red(), &blue, &everything].map(|seen| team.admits(seen)), [true, false, false]);
    assert_eq!([&red(), &blue, &everything].map(|seen| all.admits(seen)), [true; 3]);
    assert_eq!(game.perspectives(), [everything, blue, red()]);
}

#[test]
fn a_closed_match_grants_nothing_and_keeps_nothing() {
    let mut game = battle(ObserverPolicy::Closed);
    tick(&mut game, 100);
    assert_eq!(code(game.observer_grant(None)), Code::ModeUnavailable);
    assert_eq!(code(game.observer_grant(Some("red"))), Code::ModeUnavailable);
    assert_eq!(game.observer_state(&ObserverPerspective::All), ObserverState::Closed);
    assert_eq!(game.observer_since(&ObserverPerspective::All, None).unwrap(), []);
    assert!(game.perspectives().is_empty());
}

/// §20.9: a public match never shows observers anything within three minutes.
#[test]
fn a_public_delay_is_never_under_three_minutes() {
    for asked in [0, 1, PUBLIC_DELAY_MIN - 1] {
        assert_eq!(ObserverPolicy::public(asked).delay(), Some(PUBLIC_DELAY_MIN));
        assert_eq!(ObserverPolicy::Public(asked).delay(), Some(PUBLIC_DELAY_MIN));
    }
    assert_eq!(ObserverPolicy::public(PUBLIC_DELAY_MIN + 1).delay(), Some(PUBLIC_DELAY_MIN + 1));
}

/// §20.9: a team grant is that side's actual guarded fogged projection, at every frame; everything is more than that.
#[test]
fn a_sides_frames_are_its_own_guarded_views() {
    let mut game = battle(ObserverPolicy::Private(0));
    game.observers_read(0);
    let (mut reader, mut all) = (Reader::new(), Reader::new());
    for step in 1..=150_u64 {
        tick(&mut game, step * 100);
        assert_eq!(reader.read(&game, &red()).unwrap(), 1);
        assert_eq!(reader.world, *game.view("red").unwrap().value(), "at tick {}", game.tick());
        all.read(&game, &ObserverPerspective::All).unwrap();
        game.observers_read(step * 100);
    }
    let units = |world: &Value| world["units"].as_array().unwrap().len();
    assert!(units(&all.world) > units(&reader.world), "blue's units are out of red's sight");
}

// --- release ---------------------------------------------------------------------------------------------------------

/// §20.9: nothing about tick t leaves before its wall time and the delay, from any perspective.
#[test]
fn no_frame_leaves_before_it_is_due() {
    let delay = 5_000;
    let mut game = battle(ObserverPolicy::Private(delay));
    let perspectives = game.perspectives();
    let mut readers: Vec<Reader> = perspectives.iter().map(|_| Reader::new()).collect();
    for now in (50..=12_000_u64).step_by(50) {
        if now.is_multiple_of(100) {
            tick(&mut game, now);
        } else {
            game.heartbeat(now);
        }
        for (perspective, reader) in perspectives.iter().zip(&mut readers) {
            let before = reader.frames.len();
            reader.read(&game, perspective).unwrap();
            if now < delay {
                assert_eq!(game.observer_state(perspective), ObserverState::Buffering);
                assert_eq!((reader.at, game.observer_watermark(perspective)), (None, None));
                for guess in [0, 1, 7] {
                    assert_eq!(code(game.observer_since(perspective, Some(guess))), Code::Invalid);
                    assert_eq!(game.observer_frame(perspective, FrameKey::Next(guess)), None);
                    assert_eq!(game.observer_frame(perspective, FrameKey::Keyframe(guess)), None);
                }
            }
            for frame in &reader.frames[before..] {
                let recorded = frame.recorded_at - EPOCH;
                assert!(recorded + delay <= now, "released at {now} what was recorded at {recorded}");
                assert_eq!(frame.release_at, EPOCH + recorded + delay);
                assert_eq!(recorded, frame.tick * 100, "the tick was live when its frame was made");
            }
        }
    }
    assert!(readers.iter().all(|reader| reader.frames.len() == 71), "one frame a tick, from the first on");
}

/// §20.9: accelerated execution does not shorten a delay, and makes frames near the rate of real time.
#[test]
fn accelerated_ticks_shorten_no_delay() {
    let delay = 10_000;
    let mut game = drilling(ObserverPolicy::Private(delay));
    let mut reader = Reader::new();
    // Minutes of the game within a second of wall time.
    for step in 1..=2_000_u64 {
        tick(&mut game, step / 2);
        assert_eq!(reader.read(&game, &ObserverPerspective::All).unwrap(), 0);
    }
    game.heartbeat(delay + 1_000);
    let seen = game.observer_since(&ObserverPerspective::All, None).unwrap();
    assert!((10..=15).contains(&seen[0].sequence()), "{seen:?} within a second at ten ticks a second");
    let frame = game.observer_frame(&ObserverPerspective::All, seen[0]).unwrap();
    assert!(frame.tick > 1_500);
}

/// §20.9: release is by a clock that never goes back, whatever is handed in.
#[test]
fn a_clock_that_jumps_back_takes_nothing_back_and_releases_nothing_sooner() {
    let mut game = drilling(ObserverPolicy::Private(1_000));
    for step in 1..=20_u64 {
        tick(&mut game, step * 100);
    }
    let released = game.observer_watermark(&ObserverPerspective::All);
    assert_eq!(released, Some(10));
    tick(&mut game, 0);
    game.heartbeat(500);
    assert_eq!(game.observer_watermark(&ObserverPerspective::All), released);
    for (now, tick) in [(2_999, 19), (3_000, 20)] {
        game.heartbeat(now);
        let newest = game.observer_since(&ObserverPerspective::All, None).unwrap()[0];
        let frame = game.observer_frame(&ObserverPerspective::All, newest).unwrap();
        assert_eq!(frame.tick, tick, "tick 20 came at 2000, and no frame of tick 21 can be older");
    }
}

/// §20.9: the real end causes no completion push; the last frame and all that is told elsewhere come with its own time.
#[test]
fn the_outcome_is_told_with_its_own_frame_and_nowhere_sooner() {
    let config = Config { observers: ObserverPolicy::Private(1_000), ..config() };
    let mut game = tic_tac_toe(config);
    game.assign(&x(), human("ann")).unwrap();
    game.assign(&o(), human("bob")).unwrap();
    let resign = json!({ "kind": "resign" });
    game.heartbeat(400);
    let taken = game.act(&o(), Right::Owner, &[resign], 500).unwrap();
    assert_eq!(taken, [playerthree_session::Ack::Ok]);
    assert!(game.is_over() && !game.end_is_released() && !game.outcomes_are_released());
    let mut reader = Reader::new();
    game.heartbeat(1_499);
    reader.read(&game, &ObserverPerspective::All).unwrap();
    assert!(!game.end_is_released());
    assert!(reader.frames.iter().all(|frame| frame.outcomes.is_none()));
    game.heartbeat(1_500);
    assert!(game.end_is_released());
    for perspective in game.perspectives() {
        let key = game.observer_since(&perspective, None).unwrap()[0];
        let last = game.observer_frame(&perspective, key).unwrap();
        assert_eq!(last.outcomes, Some(json!({ "x": "win", "o": "loss" })), "{perspective:?}");
    }
    // Playback stays there, for whoever comes late.
    game.heartbeat(10_000_000);
    assert_eq!(reader.read(&game, &ObserverPerspective::All).unwrap(), 1);
    assert_eq!(game.observer_state(&ObserverPerspective::All), ObserverState::Ready);
}

/// §20.9: the outcome of one side is as late as that of the match.
#[test]
fn the_end_of_one_side_waits_for_its_own_time() {
    let config = Config { observers: ObserverPolicy::Private(1_000), ..config() };
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config);
    game.assign(&lead("a"), human("ann")).unwrap();
    assert!(game.outcomes_are_released(), "there are none");
    let settle = |game: &mut Match, side: &str, now: u64| {
        act(game, &lead("a"), Right::Owner, json!({ "kind": "settle", "side": side, "as": "loss" }));
        tick(game, now);
    };
    settle(&mut game, "b", 100);
    game.heartbeat(1_099);
    assert!(!game.outcomes_are_released() && game.is_out_of_play("b") && !game.is_out_of_play("a"));
    game.heartbeat(1_100);
    assert!(game.outcomes_are_released() && !game.end_is_released());
    settle(&mut game, "c", 1_110);
    assert!(!game.outcomes_are_released(), "too soon for another frame, and made all the same");
    game.heartbeat(2_110);
    assert!(game.outcomes_are_released());
}

/// §20.9: once a second while nobody reads a stream without delay, on every tick while somebody does.
#[test]
fn a_live_stream_is_recorded_in_full_only_while_it_is_read() {
    let mut game = drilling(ObserverPolicy::Private(0));
    let mut frames = |read: bool, from: u64| {
        let before = game.observer_watermark(&ObserverPerspective::All).unwrap();
        for step in from + 1..=from + 50 {
            if read {
                game.observers_read(step * 100);
            }
            tick(&mut game, step * 100);
        }
        game.observer_watermark(&ObserverPerspective::All).unwrap() - before
    };
    assert!((4..=7).contains(&frames(false, 0)));
    assert_eq!(frames(true, 50), 50);
    assert_eq!(frames(false, 100), 49, "it was read within the last few seconds");
    assert!((4..=7).contains(&frames(false, 150)));
}

/// What came too soon after the frame before is shown once the rate allows it, although no tick follows.
#[test]
fn the_last_position_of_a_quick_game_of_turns_is_shown() {
    let mut game = tic_tac_toe(Config { observers: ObserverPolicy::Private(0), ..config() });
    game.assign(&x(), human("ann")).unwrap();
    game.assign(&o(), human("bob")).unwrap();
    game.observers_read(1_000);
    game.act(&x(), Right::Owner, &[place(0, 0)], 1_000).unwrap();
    game.act(&o(), Right::Owner, &[place(1, 1)], 1_001).unwrap();
    let mut reader = Reader::new();
    reader.read(&game, &ObserverPerspective::All).unwrap();
    assert_eq!(reader.frames[0].tick, 1);
    game.heartbeat(1_250);
    reader.read(&game, &ObserverPerspective::All).unwrap();
    assert_eq!(reader.frames.last().unwrap().tick, 2);
}

// --- cursors ---------------------------------------------------------------------------------------------------------

/// §20.9: a cursor within a batch gets every frame since as a delta, in order; one further behind a keyframe; one of a
/// frame that is not released, or retained no more, is refused, and nothing tells which.
#[test]
fn a_cursor_gets_what_follows_it_or_a_keyframe_or_is_refused() {
    let delay = 2_000;
    let mut game = drilling(ObserverPolicy::Private(delay));
    let mut now = 0;
    let mut run = |game: &mut Match, ticks: u64| {
        for _ in 0..ticks {
            now += 100;
            tick(game, now);
        }
    };
    run(&mut game, 120);
    let since = |game: &Match, after: Option<u64>| game.observer_since(&ObserverPerspective::All, after);
    let watermark = game.observer_watermark(&ObserverPerspective::All).unwrap();
    assert_eq!(watermark, 100);
    assert_eq!(since(&game, Some(watermark)).unwrap(), []);
    assert_eq!(since(&game, Some(98)).unwrap(), [FrameKey::Next(99), FrameKey::Next(100)]);
    assert_eq!(since(&game, None).unwrap(), [FrameKey::Keyframe(100)]);
    let batch = since(&game, Some(watermark - OBSERVER_BATCH)).unwrap();
    assert!(batch.iter().all(|key| matches!(key, FrameKey::Next(_))) && batch.len() == 64);
    assert_eq!(since(&game, Some(watermark - OBSERVER_BATCH - 1)).unwrap(), [FrameKey::Keyframe(100)]);
    for ahead in [watermark + 1, watermark + 20, watermark + 21, u64::MAX] {
        assert_eq!(since(&game, Some(ahead)), Err(Code::Invalid.into()), "recorded or not");
    }
    // The delay and a minute later the first frames are out of the history.
    run(&mut game, 1_000);
    assert_eq!(since(&game, Some(0)), Err(Code::Invalid.into()));
    assert_eq!(since(&game, None).unwrap(), [FrameKey::Keyframe(1_100)]);
}

/// §20.9: age bounds what is kept however few frames there are: a frame of a slow game of turns is sent for a minute after
/// its release, and after that the newest one is all that there is.
#[test]
fn frames_of_a_slow_game_grow_old_too() {
    let mut game = tic_tac_toe(Config { observers: ObserverPolicy::Private(0), ..config() });
    game.assign(&x(), human("ann")).unwrap();
    game.assign(&o(), human("bob")).unwrap();
    let since = |game: &Match, after: Option<u64>| game.observer_since(&ObserverPerspective::All, after);
    game.heartbeat(0);
    for (seat, square, now) in
        [(x(), place(0, 0), 10_000), (o(), place(1, 1), 20_000), (x(), place(0, 1), 100_000)]
    {
        game.act(&seat, Right::Owner, &[square], now).unwrap();
    }
    let newest = game.observer_watermark(&ObserverPerspective::All).unwrap();
    assert!(newest >= 2);
    assert_eq!(since(&game, Some(newest - 1)).unwrap(), [FrameKey::Next(newest)]);
    assert_eq!(since(&game, Some(newest - 2)), Err(Code::Invalid.into()), "80 seconds after its release");
    game.heartbeat(160_001);
    assert_eq!(since(&game, Some(newest - 2)), Err(Code::Invalid.into()));
    assert_eq!(since(&game, Some(newest - 1)).unwrap(), [FrameKey::Next(newest)], "the newest one stays");
    assert_eq!(since(&game, None).unwrap(), [FrameKey::Keyframe(newest)]);
    assert!(game.observer_frame(&ObserverPerspective::All, FrameKey::Keyframe(newest)).is_some());
}

/// §20.9: whoever is cut off at random moments ends with exactly the released history, and a late joiner sees what a
/// reader of every frame sees.
#[test]
fn a_reader_that_is_cut_at_random_moments_ends_with_the_released_history() {
    for seed in 0..4 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let delay = rng.u64(0..4_000);
        let mut game = battle(ObserverPolicy::Private(delay));
        let perspective = game.perspectives()[rng.usize(0..3)].clone();
        let (mut whole, mut cut) = (Reader::new(), Reader::new());
        let mut now = 0;
        for _ in 0..150 {
            now += rng.u64(20..300);
            game.observers_read(now);
            tick(&mut game, now);
            whole.read(&game, &perspective).unwrap();
            match rng.u8(0..100) {
                // Away for a while: the cursor stays behind.
                0..=69 => {}
                // Its own copy is lost with it.
                70..=74 => cut = Reader { worlds: std::mem::take(&mut cut.worlds), ..Reader::new() },
                _ => _ = cut.read(&game, &perspective).unwrap(),
            }
        }
        game.heartbeat(now + delay);
        whole.read(&game, &perspective).unwrap();
        cut.read(&game, &perspective).unwrap();
        let sequences: Vec<u64> = whole.frames.iter().map(|frame| frame.sequence).collect();
        assert_eq!(sequences, (sequences[0]..=*sequences.last().unwrap()).collect::<Vec<_>>(), "seed {seed}");
        let history: std::collections::BTreeMap<u64, Value> = whole.worlds.into_iter().collect();
        for (sequence, world) in &cut.worlds {
            assert_eq!(history.get(sequence), Some(world), "seed {seed}, frame {sequence}");
        }
        assert_eq!((cut.at, cut.world), (whole.at, whole.world), "seed {seed}");
    }
}

// --- bounds ----------------------------------------------------------------------------------------------------------

/// §20.9: a history that cannot be retained closes for all its readers, and what is told elsewhere waits all the same.
#[test]
fn a_history_that_outgrows_its_bytes_closes() {
    let loud = Drill { banners: 10, ..Drill::new(Clock::Realtime) };
    let (mut game, _) = drill(loud, Config { observers: ObserverPolicy::Private(60_000), ..config() });
    game.assign(&lead("a"), human("ann")).unwrap();
    let mut step = 0;
    while game.observer_state(&ObserverPerspective::All) != ObserverState::Closed {
        step += 1;
        tick(&mut game, step * 100);
        assert!(step < 80, "64 MiB are not more than 67 times a megabyte");
    }
    assert!(step > 60);
    for perspective in game.perspectives() {
        assert_eq!(game.observer_state(&perspective), ObserverState::Closed);
        assert_eq!(game.observer_since(&perspective, None).unwrap(), []);
    }
    game.end(&playerthree_session::Ending::Draw, step * 100).unwrap();
    game.heartbeat(step * 100 + 59_999);
    assert!(!game.end_is_released());
    game.heartbeat(step * 100 + 60_000);
    assert!(game.end_is_released());
    assert_eq!(game.observer_state(&ObserverPerspective::All), ObserverState::Closed, "for good");
}

/// §20.9: a last frame that cannot be shown is not left out as if the match went on: its history closes. One before it is
/// made up for by the next.
#[test]
fn a_match_whose_end_cannot_be_shown_closes() {
    for (broken, ends) in [(Broken::World, true), (Broken::View, true), (Broken::World, false)] {
        let policy = ObserverPolicy::Private(0);
        let (mut game, told) = drill(Drill::new(Clock::Realtime), Config { observers: policy, ..config() });
        tick(&mut game, 100);
        assert_eq!(game.observer_state(&ObserverPerspective::All), ObserverState::Ready);
        told.breaks(Some(broken));
        if ends {
            game.end(&playerthree_session::Ending::Draw, 1_200).unwrap();
        } else {
            tick(&mut game, 1_200);
        }
        told.breaks(None);
        game.heartbeat(2_400);
        let state = if ends { ObserverState::Closed } else { ObserverState::Ready };
        assert!(game.perspectives().iter().all(|perspective| game.observer_state(perspective) == state));
        if !ends {
            let mut reader = Reader::new();
            reader.read(&game, &ObserverPerspective::All).unwrap();
            assert_eq!(reader.frames[0].tick, 2);
        }
    }
}
