//! §17 "Replay scrubbing": isolated timelines with checkpoints, their bounds, and never a change of the live match.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use playerthree_agent_command::AgentCommand;
use playerthree_game::{
    Bot, CannotCreate, Clock, Context, Controller, Game, GameMatch, Manifest, Name, Outcome, Seat, SeatInfo,
    Setup, ViewKind,
};
use playerthree_host::*;
use playerthree_session::{
    CHECKPOINT_TICKS, CHECKPOINTS_MAX, Config, Match, Persistent, Replay, ReplayError, Surface, Timeline,
    replay_match,
};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A game that only counts, and can be copied or not.
struct Counter {
    copied: bool,
}

#[derive(Clone)]
struct Counting {
    tick: u64,
    copied: bool,
}

impl Game for Counter {
    fn manifest(&self) -> Manifest {
        let mut manifest = AgentCommand.manifest();
        manifest.observation_scope = None;
        manifest.match_data = None;
        manifest.observer = None;
        manifest.signals = None;
        manifest.control.signals = None;
        manifest.intents.retain(|intent| !intent.name.starts_with("signal"));
        manifest.teams = vec!["red".into()];
        manifest.observation =
            playerthree_game::t::obj([("tick", playerthree_game::t::int(0, 2_147_483_647))]);
        manifest.view = manifest.observation.clone();
        manifest.report = manifest.observation.clone();
        manifest
    }

    fn clock(&self) -> Clock {
        Clock::Realtime
    }

    fn create(&self, _: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Ok(Box::new(Counting { tick: 0, copied: self.copied }))
    }

    fn create_bot(&self, _: &Seat, _: &str) -> Option<Box<dyn Bot>> {
        None
    }
}

impl GameMatch for Counting {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn step(&mut self) {
        self.tick += 1;
    }

    fn outcome(&self, _: &str) -> Outcome {
        Outcome::Running
    }

    fn view(&self, _: &str, _: ViewKind) -> Value {
        json!({ "tick": self.tick })
    }

    fn observe(&self, _: &Seat, _: i64, _: &[Name]) -> Value {
        json!({ "tick": self.tick })
    }

    fn apply(&mut self, _: &Seat, _: &Value, _: &Context) -> Result<(), &'static str> {
        Ok(())
    }

    fn report(&self, _: &str) -> Value {
        json!({ "tick": self.tick })
    }

    fn events(&self, _: &Seat, _: i64) -> Vec<Value> {
        Vec::new()
    }

    fn set_seat_info(&mut self, _: &Seat, _: &SeatInfo) {}

    fn clone_match(&self) -> Option<Box<dyn GameMatch>> {
        self.copied.then(|| Box::new(self.clone()) as Box<dyn GameMatch>)
    }
}

fn config() -> Config {
    Config { epoch: 1_000_000, ..Config::of(7) }
}

fn surface(game: impl Game) -> Arc<Surface> {
    Arc::new(Surface::new(Arc::new(game)).unwrap())
}

/// The replay of a match that stepped so often and recorded nothing but its seats.
fn replay(surface: &Arc<Surface>, ticks: u64) -> Replay {
    let game = Match::new(Arc::clone(surface), config(), 0).unwrap();
    let mut envelope: Value = serde_json::from_str(&game.replay().unwrap().to_text()).unwrap();
    envelope["ticks"] = json!(ticks);
    Replay::read(surface, &envelope.to_string()).unwrap()
}

fn scrub<'a>(source: &'a str, surface: &'a Surface, replay: &'a Replay, target: u64) -> Scrub<'a> {
    Scrub { source, surface, replay, checkpoint: None, target }
}

fn seek(scrubber: &Scrubber, scrub: Scrub<'_>) -> Result<u64, ScrubError> {
    scrubber.seek(scrub, &CancellationToken::new(), playerthree_session::Position::tick)
}

/// A timeline reaches the state of a fresh replay at every tick, in whatever order, and the live match is as it was.
#[test]
fn scrubbing_shows_what_a_fresh_replay_shows_and_leaves_the_match_alone() {
    let surface = surface(AgentCommand);
    let teams = Some(vec!["red".into(), "blue".into()]);
    let bots = Some("standard".into()).filter(|tier| surface.manifest.opponents.contains(tier));
    let bots = bots.or_else(|| surface.manifest.opponents.first().cloned());
    let mut game = Match::new(Arc::clone(&surface), Config { teams, bots, ..config() }, 0).unwrap();
    for now in 0..1_200 {
        assert!(game.begin_round(now * 100, &|_| None).is_empty());
        game.end_round(now * 100);
    }
    let (live, replay) = (game.state_hash().unwrap(), game.replay().unwrap());
    let scrubber = Scrubber::default();
    for target in [1_200, 3, 600, 599, 1_000, 1_001, 0, 1_200] {
        let scrubbed =
            scrubber.seek(scrub("match", &surface, &replay, target), &CancellationToken::new(), |at| {
                at.state_hash(&surface).unwrap()
            });
        let mut go_on = |_| ControlFlow::Continue(());
        let fresh = replay_match(&surface, &replay, target, None, &mut go_on).unwrap();
        assert_eq!(scrubbed.unwrap(), fresh.state_hash(&surface).unwrap(), "tick {target}");
    }
    assert_eq!(game.state_hash().unwrap(), live);
}

/// Checkpoints stand every 500 ticks, and where there are too many the densest go, so that what is left covers the time.
#[test]
fn checkpoints_are_bounded_and_cover_the_timeline() {
    let surface = surface(Counter { copied: true });
    let replay = replay(&surface, SCRUB_TICKS_MAX);
    let mut timeline = Timeline::default();
    let mut go_on = |_| ControlFlow::Continue(());
    timeline.seek(&surface, &replay, 2_700, &mut go_on).unwrap();
    assert_eq!(timeline.checkpoints().collect::<Vec<_>>(), [500, 1_000, 1_500, 2_000, 2_500]);
    timeline.seek(&surface, &replay, SCRUB_TICKS_MAX, &mut go_on).unwrap();
    let kept: Vec<u64> = timeline.checkpoints().collect();
    assert_eq!((kept.len(), kept.last()), (CHECKPOINTS_MAX, Some(&SCRUB_TICKS_MAX)));
    let ends = std::iter::once(0).chain(kept);
    let ends: Vec<u64> = ends.collect();
    assert!(ends.windows(2).all(|two| two[1] - two[0] <= 8 * CHECKPOINT_TICKS), "{ends:?}");
}

/// With checkpoints a seek back plays from the nearest one; without, from the beginning.
#[test]
fn a_seek_back_plays_from_the_nearest_checkpoint_or_from_the_beginning() {
    for (copied, first) in [(true, 1_500), (false, 0)] {
        let surface = surface(Counter { copied });
        let replay = replay(&surface, 3_000);
        let mut timeline = Timeline::default();
        timeline.seek(&surface, &replay, 3_000, &mut |_| ControlFlow::Continue(())).unwrap();
        let mut played = Vec::new();
        let mut watch = |tick| {
            played.push(tick);
            ControlFlow::Continue(())
        };
        timeline.seek(&surface, &replay, 1_700, &mut watch).unwrap();
        assert_eq!(played, (first..1_700).collect::<Vec<u64>>());
        played.clear();
        let mut watch = |tick| {
            played.push(tick);
            ControlFlow::Continue(())
        };
        timeline.seek(&surface, &replay, 1_702, &mut watch).unwrap();
        assert_eq!(played, [1_700, 1_701], "the cursor goes on");
    }
}

/// §17: 36,000 ticks, 20,000 without copies, 100,000 entries.
#[test]
fn targets_and_entries_past_their_bounds_are_refused() {
    let copied = surface(Counter { copied: true });
    let uncopied = surface(Counter { copied: false });
    let scrubber = Scrubber::default();
    let long = replay(&copied, SCRUB_TICKS_MAX + 1);
    assert_eq!(seek(&scrubber, scrub("a", &copied, &long, SCRUB_TICKS_MAX)), Ok(SCRUB_TICKS_MAX));
    let late = seek(&scrubber, scrub("a", &copied, &long, SCRUB_TICKS_MAX + 1));
    assert_eq!(late, Err(ScrubError::TooLate(SCRUB_TICKS_MAX)));
    let last = SCRUB_TICKS_UNCOPIED_MAX;
    assert_eq!(seek(&scrubber, scrub("b", &uncopied, &long, last)), Ok(last));
    assert_eq!(seek(&scrubber, scrub("b", &uncopied, &long, last + 1)), Err(ScrubError::TooLate(last)));
    assert_eq!(
        seek(&scrubber, scrub("a", &copied, &replay(&copied, 9), 10)),
        Err(ScrubError::Replay(ReplayError::PastTheEnd))
    );
    let many: Value = serde_json::from_str(&long.to_text()).unwrap();
    let entry = many["entries"][0].clone();
    let read = |count| {
        let mut many = many.clone();
        many["entries"] = vec![entry.clone(); count].into();
        Replay::read(&copied, &many.to_string()).unwrap()
    };
    assert_eq!(seek(&scrubber, scrub("c", &copied, &read(SCRUB_ENTRIES_MAX), 0)), Ok(0));
    let more = seek(&scrubber, scrub("c", &copied, &read(SCRUB_ENTRIES_MAX + 1), 0));
    assert_eq!(more, Err(ScrubError::TooManyEntries));
}

/// §17: two simulations at once, one of each source, and a place is free again however a seek ended.
#[test]
fn two_simulations_run_at_once_and_one_of_a_source() {
    let surface = surface(Counter { copied: true });
    let replay = replay(&surface, 10);
    let scrubber = Scrubber::default();
    let gone = CancellationToken::new();
    let of = |source| scrub(source, &surface, &replay, 5);
    let outer = scrubber.seek(of("a"), &gone, |_| {
        assert_eq!(seek(&scrubber, of("a")), Err(ScrubError::Busy));
        scrubber.seek(of("b"), &gone, |_| {
            assert_eq!(seek(&scrubber, of("c")), Err(ScrubError::Busy));
        })
    });
    assert_eq!(outer, Ok(Ok(())));
    gone.cancel();
    let cancelled = scrubber.seek(of("d"), &gone, |_| ());
    assert_eq!(cancelled, Err(ScrubError::Replay(ReplayError::Cancelled)));
    for source in ["a", "b", "c", "d", "e", "f"] {
        assert_eq!(seek(&scrubber, of(source)), Ok(5));
    }
}

/// §18: a persistent session is scrubbed from the checkpoint that it kept nearest to the target, everywhere in its window, and
/// the bound on ticks counts from the window's beginning.
#[test]
fn a_window_is_scrubbed_from_its_checkpoints() {
    let surface = surface(Counter { copied: true });
    let persistent = Some(Persistent::new(10, 3).unwrap());
    let mut game = Match::new(Arc::clone(&surface), Config { persistent, ..config() }, 0).unwrap();
    let seat = Seat::new("red", "ground");
    let scrubber = Scrubber::default();
    for now in 0..95 {
        // An input each tick, so that entries are dropped.
        game.set_controller(&seat, Controller::None).unwrap();
        game.begin_round(now, &|_| None);
        game.end_round(now);
        if now % 7 == 0 {
            let replay = game.replay().unwrap();
            let first = replay.window().map_or(0, |window| window.from);
            for target in first..=game.tick() {
                let checkpoint = game.checkpoint(Some(target));
                let scrub = Scrub { checkpoint, ..scrub("world", &surface, &replay, target) };
                assert_eq!(seek(&scrubber, scrub), Ok(target));
            }
        }
    }
    let replay = game.replay().unwrap();
    assert_eq!(replay.window().unwrap().from, 70);
    let early = Scrub { checkpoint: game.checkpoint(None), ..scrub("world", &surface, &replay, 69) };
    assert_eq!(seek(&scrubber, early), Err(ScrubError::Replay(ReplayError::BeforeWindow)));
    let nowhere = seek(&scrubber, scrub("another", &surface, &replay, 80));
    assert_eq!(nowhere, Err(ScrubError::Replay(ReplayError::StartsAtCheckpoint)));
}

/// §18: everything from a session's oldest checkpoint to its present tick is scrubbed, however far both lie apart, because
/// the bound counts from the checkpoint at hand; a young session, which is kept whole, too.
#[test]
fn a_seek_with_a_checkpoint_counts_from_it() {
    let surface = surface(Counter { copied: true });
    let scrubber = Scrubber::default();
    let now = SCRUB_TICKS_MAX + 20_000;
    let young = replay(&surface, now);
    let mut old: Value = serde_json::from_str(&young.to_text()).unwrap();
    old["window"] = json!({ "from": 600, "dropped": young.entries().len() });
    old["entries"] = json!([]);
    let old = Replay::read(&surface, &old.to_string()).unwrap();
    let mut go_on = |_| ControlFlow::Continue(());
    let near = replay_match(&surface, &young, now - 100, None, &mut go_on).unwrap();
    let far = replay_match(&surface, &young, now - SCRUB_TICKS_MAX - 1, None, &mut go_on).unwrap();
    for replay in [&young, &old] {
        let with = |checkpoint: &playerthree_session::Position| {
            let checkpoint = checkpoint.copy();
            seek(&scrubber, Scrub { checkpoint, ..scrub("world", &surface, replay, now) })
        };
        assert_eq!(with(&near), Ok(now));
        assert_eq!(with(&far), Err(ScrubError::TooLate(now - 1)));
    }
}

/// §17: four uploads of at most 5 MiB, of the same game and version, and each bound and fault has its error.
#[test]
fn uploads_are_few_small_and_of_the_same_game() {
    let surface = surface(Counter { copied: true });
    let text = replay(&surface, 30).to_text();
    let uploads = Uploads::default();
    let largest = format!("{text}{}", " ".repeat(UPLOAD_BYTES_MAX - text.len()));
    assert_eq!(uploads.add(&surface, &format!("{largest} ")), Err(UploadError::TooLarge));
    let other = text.replace("\"gameVersion\":\"", "\"gameVersion\":\"0");
    assert_eq!(uploads.add(&surface, &other), Err(UploadError::Replay(ReplayError::GameVersion)));
    let ids: Vec<UploadId> = (0..UPLOADS_MAX).map(|_| uploads.add(&surface, &largest).unwrap()).collect();
    assert_eq!(uploads.add(&surface, &text), Err(UploadError::Full));
    let scrubber = Scrubber::default();
    for id in &ids {
        let replay = uploads.get(*id).unwrap();
        assert_eq!(seek(&scrubber, scrub(&id.source(), &surface, &replay, 30)), Ok(30));
    }
    assert!(uploads.remove(ids[1]) && !uploads.remove(ids[1]));
    assert_eq!(uploads.get(ids[1]), None);
    let again = uploads.add(&surface, &text).unwrap();
    assert!(!ids.contains(&again), "no name comes twice");
}
