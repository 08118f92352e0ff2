//! The manifest and everything that random games send out agree (§3, §10, §15).

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::random::Random;
use common::{Headless, MANIFEST, ROLES, SIDES, all_sections, build, context, seats, setup, start};
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Checked, Game, GameMatch, Outcome, Seat, Setup, SignalBoard, ViewKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Every value that can leave the match conforms to its schema.
fn assert_conforms(manifest: &Checked, game: &dyn GameMatch, seats: &[Seat]) {
    // The members `signals` are the host's (§22.3).
    let board = SignalBoard::new(manifest, game.signal_limits()).unwrap();
    for seat in seats {
        for detail in [vec![], vec!["ground".into()], all_sections()] {
            let mut observation = game.observe(seat, -1, &detail);
            observation["signals"] = board.slice(&seat.role);
            manifest.observation.validate(&observation).unwrap();
        }
        for kind in [ViewKind::Snapshot, ViewKind::Periodic] {
            let mut view = game.view(&seat.team, kind);
            view["signals"] = board.to_json();
            manifest.view.validate(&view).unwrap();
        }
        for event in game.events(seat, -1) {
            manifest.event.validate(&event).unwrap();
        }
        manifest.match_data.as_ref().unwrap().validate(&game.match_data(seat).unwrap()).unwrap();
        manifest.report.validate(&game.report(&seat.team)).unwrap();
    }
    manifest.observer.as_ref().unwrap().validate(&game.observer_view().unwrap()).unwrap();
}

/// An intent of the manifest's shape that names real and invented things.
fn random_intent(game: &dyn GameMatch, random: &mut Random) -> Value {
    let truth = game.debug_view().unwrap();
    let sides = truth["sides"].as_array().unwrap();
    let entity = |random: &mut Random| {
        let side = &sides[random.below(sides.len() as u64) as usize];
        let list = if random.below(3) == 0 { &side["buildings"] } else { &side["units"] };
        let list = list.as_array().unwrap();
        let chosen = list.get(random.below(list.len() as u64 + 1) as usize);
        chosen.map_or(json!("e_1"), |thing| thing["id"].clone())
    };
    let units: Vec<Value> = (0..random.below(4)).map(|_| entity(random)).collect();
    let (x, y) = (random.below(4000), random.below(4000));
    let unit_kind = ["worker", "soldier", "tank", "scout", "gunship"][random.below(5) as usize];
    let building_kind = ["base", "factory", "airfield", "reactor", "turret"][random.below(5) as usize];
    match random.below(7) {
        0 => json!({ "kind": "move", "units": units, "x": x, "y": y }),
        1 => json!({ "kind": "advance", "units": units, "x": x, "y": y }),
        2 => json!({ "kind": "attack", "units": units, "target": entity(random) }),
        3 => json!({ "kind": "stop", "units": units }),
        4 => json!({ "kind": "gather", "units": units, "patch": format!("p_{}", random.below(50)) }),
        5 => {
            json!({ "kind": "build", "unit": entity(random), "building": building_kind, "col": x / 100, "row": y / 100 })
        }
        _ => json!({ "kind": "produce", "building": entity(random), "unit": unit_kind }),
    }
}

/// §3: the manifest passes every check of the vocabulary, the documents and the limits.
#[test]
fn the_manifest_is_accepted() {
    assert_eq!(AgentCommand.manifest().faults(), []);
}

/// §15: whatever bots do, every output validates, in every way to seat a match.
#[test]
fn outputs_of_bot_games_validate() {
    let manifest = &*MANIFEST;
    let seatings: [&[&str]; 4] = [&["red", "blue"], &["green", "gold"], &["red", "green", "gold"], &SIDES];
    for (seed, teams) in (0..).zip(seatings) {
        let tiers = ["recruit", "veteran", "commander"];
        let tier =
            |team: &str| tiers[(SIDES.iter().position(|side| *side == team).unwrap() + seed as usize) % 3];
        let options = json!({ "size": 24, "maxTicks": 900, "start": { "alloy": 1500, "energy": 500 } });
        let mut game = Headless::new(&setup(seed, teams, Some(options)), tier);
        while !game.is_over() {
            game.step();
            if game.game.tick() % 50 == 1 || game.is_over() {
                assert_conforms(manifest, &*game.game, &seats(&game.teams));
            }
        }
    }
}

/// §3: every declared kind of event comes to happen.
#[test]
fn every_declared_event_happens() {
    let mut happened: BTreeSet<String> = BTreeSet::new();
    let options = json!({ "size": 24, "maxTicks": 6_000, "start": { "alloy": 60, "workers": 6 } });
    let mut game = Headless::new(&setup(2, &SIDES, Some(options)), |_| "veteran");
    while !game.is_over() {
        let since = game.game.tick() as i64 - 1;
        game.step();
        for seat in seats(&game.teams) {
            let events = game.game.events(&seat, since);
            happened.extend(events.iter().map(|event| event["kind"].as_str().unwrap().to_owned()));
        }
    }
    let declared: BTreeSet<String> = MANIFEST.event_kinds().iter().map(ToString::to_string).collect();
    assert_eq!(happened, declared);
}

/// §10: a refused intent changes nothing, and every refusal is a declared error; accepted ones keep outputs valid.
#[test]
fn refused_intents_change_nothing() {
    let manifest = &*MANIFEST;
    let mut random = Random::new(11);
    let mut refusals = BTreeSet::new();
    for seed in 0..3 {
        let setup = setup(
            seed,
            &["red", "blue"],
            Some(json!({ "size": 24, "start": { "alloy": 3000, "energy": 900 } })),
        );
        let mut game = start(&setup);
        for _ in 0..250 {
            for seat in seats(&setup.teams) {
                let intent = random_intent(&*game, &mut random);
                let before = game.debug_view();
                if let Err(code) = game.apply(&seat, &intent, &context()) {
                    assert_eq!(game.debug_view(), before, "{code}");
                    assert!(manifest.errors.iter().any(|error| &**error == code), "{code}");
                    refusals.insert(code);
                }
            }
            game.step();
        }
        assert_conforms(manifest, &*game, &seats(&setup.teams));
    }
    assert!(refusals.len() >= 8, "{refusals:?}");
}

/// §10: values that miss the manifest's shape are refused as malformed and change nothing.
#[test]
fn malformed_intents_are_refused() {
    let mut game = start(&setup(1, &["red", "blue"], None));
    let seat = Seat::new("red", "ground");
    let before = game.debug_view();
    let huge = json!({ "kind": "move", "units": vec!["e_1"; 10_000], "x": 1, "y": 1 });
    assert_eq!(game.apply(&seat, &huge, &context()), Err("no_such_unit"));
    for intent in [
        json!(null),
        json!([]),
        json!({ "kind": "fly" }),
        json!({ "kind": "move", "units": ["e_1"], "x": "1", "y": 1 }),
        json!({ "kind": "move", "units": [7], "x": 1, "y": 1 }),
        json!({ "kind": "move", "units": ["e_99999999999999999999"], "x": 1, "y": 1 }),
        json!({ "kind": "move", "units": ["e_1"], "x": i64::MAX, "y": 1 }),
        json!({ "kind": "gather", "units": ["e_1"], "patch": "p_-1" }),
    ] {
        assert_eq!(game.apply(&seat, &intent, &context()), Err("malformed"), "{intent}");
    }
    assert_eq!(game.debug_view(), before);
}

/// §10: a side set or options that the game cannot play fail creation.
#[test]
fn unplayable_setups_are_refused() {
    let allied = |groups: &[(&str, &[&str])]| Setup {
        alliances: Some(
            groups
                .iter()
                .map(|(name, sides)| ((*name).into(), sides.iter().map(|side| (*side).into()).collect()))
                .collect(),
        ),
        ..setup(1, &["red", "blue"], None)
    };
    assert!(AgentCommand.create(&setup(1, &["red"], None)).is_err());
    assert!(AgentCommand.create(&allied(&[("all", &["red", "blue"])])).is_err());
    assert!(AgentCommand.create(&allied(&[("a", &["red"]), ("b", &["gold"])])).is_err());
    let left_out = Setup {
        teams: ["red", "blue", "green"].map(Into::into).to_vec(),
        ..allied(&[("a", &["red"]), ("b", &["blue"])])
    };
    assert!(AgentCommand.create(&left_out).is_err());
    for options in [
        json!({ "size": 23 }),
        json!({ "size": 41 }),
        json!({ "maxTicks": 99 }),
        json!({ "maxTicks": 36_001 }),
        json!({ "start": { "alloy": 5001 } }),
        json!({ "start": { "workers": 0 } }),
        json!({ "size": "32" }),
        json!({ "seed": -1 }),
        json!({ "seed": 4_294_967_296_u64 }),
        json!({ "signals": "some" }),
    ] {
        assert!(
            AgentCommand.create(&setup(1, &["red", "blue"], Some(options.clone()))).is_err(),
            "{options}"
        );
    }
}

/// §10: the map's seed can be another than the match's, and every other thing stays the match's own.
#[test]
fn an_option_draws_the_map_of_another_seed() {
    let terrain = |seed, options| {
        start(&setup(seed, &["red", "blue"], options)).observer_view().unwrap()["map"]["terrain"].clone()
    };
    assert_eq!(terrain(1, Some(json!({ "seed": 2 }))), terrain(2, None));
    assert_ne!(terrain(1, None), terrain(2, None));
}

/// §3: starting stock is one object in layers of options: a later layer replaces the whole of it.
#[test]
fn starting_stock_is_replaced_as_a_whole() {
    let options = MANIFEST.match_options.clone().unwrap();
    let host = json!({ "size": 40, "start": { "alloy": 900, "workers": 6 } });
    let merged = playerthree_schema::merge(&options, &host, &json!({ "start": { "energy": 300 } }));
    assert_eq!(merged, json!({ "size": 40, "start": { "energy": 300 } }));
}

/// §10, §22: a match narrows how freely teammates may signal, or turns signals off.
#[test]
fn an_option_narrows_signals_or_turns_them_off() {
    use playerthree_game::Name;
    let manifest = &*MANIFEST;
    let look = json!({ "kind": "signal", "signal": { "kind": "look", "x": 1, "y": 1, "to": "air" } });
    let answers = |signals| {
        let game = start(&setup(1, &["red", "blue"], Some(json!({ "signals": signals }))));
        let mut board = SignalBoard::new(manifest, game.signal_limits()).unwrap();
        [0, 1].map(|_| board.apply(&Name::from("ground"), &look, 0).is_ok())
    };
    assert_eq!(answers("all"), [true, true]);
    assert_eq!(answers("one"), [true, false]);
    assert_eq!(answers("none"), [false, false]);
}

/// §10: allies see, win and rank together, and a forfeit of one leaves the other in play.
#[test]
fn allies_share_outcome_rank_and_sight() {
    let mut alliances = std::collections::BTreeMap::new();
    alliances.insert("east".to_owned(), vec!["red".into(), "gold".into()]);
    alliances.insert("west".to_owned(), vec!["blue".into(), "green".into()]);
    let setup = Setup { alliances: Some(alliances), ..setup(3, &SIDES, None) };
    let mut game = start(&setup);
    let observed = game.observe(&Seat::new("red", "ground"), -1, &all_sections());
    assert_eq!(observed["ground"]["allyBuildings"].as_array().unwrap().len(), 2);
    game.forfeit("blue").unwrap();
    game.step();
    assert_eq!(game.outcome("blue"), Outcome::Running);
    game.forfeit("green").unwrap();
    game.step();
    let standing = |team: &str| (game.outcome(team), game.rank(team));
    for team in ["red", "gold"] {
        assert_eq!(standing(team), (Outcome::Win, Some(1)));
    }
    for team in ["blue", "green"] {
        assert_eq!(standing(team), (Outcome::Loss, Some(2)));
    }
    assert_conforms(&MANIFEST, &*game, &seats(&setup.teams));
}

/// §10: what the host declares is what the game itself shows from then on, and everybody hears that it is over.
#[test]
fn declared_outcomes_are_the_games_own() {
    let setup = setup(3, &SIDES[..3], None);
    let mut game = start(&setup);
    game.step();
    let ends = [("red", Outcome::Win, 1), ("blue", Outcome::Loss, 3), ("green", Outcome::Loss, 2)];
    let outcomes = ends.iter().map(|(side, outcome, _)| ((*side).into(), *outcome)).collect();
    let ranks = ends.iter().map(|(side, _, rank)| ((*side).into(), *rank)).collect();
    game.end(&outcomes, &ranks);
    for (side, outcome, rank) in ends {
        assert_eq!((game.outcome(side), game.rank(side)), (outcome, Some(rank)));
        let [view, report] = [game.view(side, ViewKind::Periodic), game.report(side)];
        assert_eq!((&view["outcome"], &report["outcome"]), (&json!(outcome), &json!(outcome)));
        let events = game.events(&Seat::new(side, "air"), 0);
        assert_eq!(events.last().unwrap()["kind"], "ended");
    }
    game.step();
    assert_eq!(game.outcome("red"), Outcome::Win);
    assert_conforms(&MANIFEST, &*game, &seats(&setup.teams));
}

/// §10: ranks count those still placed better; the time limit draws those still standing.
#[test]
fn ranks_follow_the_order_of_defeat_and_time_draws() {
    let setup = setup(3, &SIDES, Some(json!({ "maxTicks": 100 })));
    let mut game = start(&setup);
    game.forfeit("gold").unwrap();
    game.step();
    game.forfeit("green").unwrap();
    while game.outcome("red") == Outcome::Running {
        game.step();
    }
    let ranks: Vec<_> = SIDES.iter().map(|side| (game.outcome(side), game.rank(side).unwrap())).collect();
    let expected = [(Outcome::Draw, 1), (Outcome::Draw, 1), (Outcome::Loss, 3), (Outcome::Loss, 4)];
    assert_eq!(ranks, expected);
    assert_eq!(game.tick(), 100);
}

/// §7, §10: a mandate's limits bind agents, and not the owner.
#[test]
fn mandate_limits_are_enforced() {
    use playerthree_game::{Context, Controller, SeatInfo, Source};
    let mut game = start(&setup(1, &["red", "blue"], Some(json!({ "start": { "alloy": 500 } }))));
    let observed = game.observe(&Seat::new("red", "ground"), -1, &all_sections());
    let worker = observed["economy"]["units"][0]["id"].clone();
    let soldier = observed["ground"]["units"][0]["id"].clone();
    let base = observed["buildings"][0]["id"].clone();
    let limits = json!({ "maxAttackers": 0, "reserveAlloy": 500, "noBuild": true });
    let info = SeatInfo { controller: Controller::Agent, mandate: json!({ "limits": limits }) };
    let intents = [
        ("ground", json!({ "kind": "advance", "units": [soldier], "x": 900, "y": 900 })),
        ("economy", json!({ "kind": "produce", "building": base, "unit": "worker" })),
        ("economy", build(&*game, "red", &worker, "factory", (9, 9))),
    ];
    for (role, intent) in intents {
        let seat = Seat::new("red", role);
        game.set_seat_info(&seat, &info);
        let owner = Context { source: Source::Owner, owner_roles: Some(vec![role.into()]) };
        assert_eq!(game.apply(&seat, &intent, &context()), Err("limit"), "{intent}");
        assert_eq!(game.apply(&seat, &intent, &owner), Ok(()), "{intent}");
    }
    let shown = &game.view("blue", ViewKind::Periodic)["sides"][0];
    assert_eq!((&shown["side"], &shown["controllers"]["ground"]), (&json!("red"), &json!("agent")));
}

/// §7: a reserve stays untouched when a building is paid for, too: workers ordered while there was enough for one pay once.
#[test]
fn a_reserve_holds_until_a_building_is_paid() {
    use playerthree_game::{Controller, SeatInfo};
    let mut game = start(&setup(1, &["red", "blue"], Some(json!({ "start": { "alloy": 400 } }))));
    let seat = Seat::new("red", "economy");
    let mandate = json!({ "limits": { "reserveAlloy": 250 } });
    game.set_seat_info(&seat, &SeatInfo { controller: Controller::Agent, mandate });
    let workers = game.observe(&seat, -1, &all_sections())["economy"]["units"].clone();
    for (index, tile) in [(8, 8), (8, 10)].into_iter().enumerate() {
        let factory = build(&*game, "red", &workers[index]["id"], "factory", tile);
        game.apply(&seat, &factory, &context()).unwrap();
    }
    for _ in 0..150 {
        game.step();
    }
    let observed = game.observe(&seat, -1, &all_sections());
    assert_eq!((&observed["alloy"], observed["buildings"].as_array().unwrap().len()), (&json!(250), 3));
    assert_eq!(observed["events"][0]["kind"], "blocked");
}

/// §4 "Owner control": an owner of several roles commands all of them; nobody else leaves their own.
#[test]
fn units_and_buildings_belong_to_their_roles() {
    use playerthree_game::{Context, Source};
    let mut game = start(&setup(1, &["red", "blue"], None));
    let [economy, ground, air] = ROLES.map(|role| Seat::new("red", role));
    let scout = game.observe(&air, -1, &all_sections())["air"]["units"][0]["id"].clone();
    let fly = json!({ "kind": "move", "units": [scout], "x": 900, "y": 900 });
    assert_eq!(game.apply(&ground, &fly, &context()), Err("wrong_role"));
    let owner = |roles: &[&str]| Context {
        source: Source::Owner,
        owner_roles: Some(roles.iter().map(|role| (*role).into()).collect()),
    };
    assert_eq!(game.apply(&ground, &fly, &owner(&["ground"])), Err("wrong_role"));
    assert_eq!(game.apply(&ground, &fly, &owner(&["ground", "air"])), Ok(()));
    assert_eq!(game.apply(&air, &fly, &context()), Ok(()));
    let buildings = game.observe(&economy, -1, &[])["buildings"].clone();
    let [base, airfield] = [0, 1].map(|place| buildings[place]["id"].clone());
    let produce = |maker: &Value, unit| json!({ "kind": "produce", "building": maker, "unit": unit });
    assert_eq!(game.apply(&ground, &produce(&base, "worker"), &context()), Err("wrong_role"));
    assert_eq!(game.apply(&economy, &produce(&airfield, "scout"), &context()), Err("wrong_role"));
    assert_eq!(game.apply(&economy, &produce(&base, "worker"), &context()), Ok(()));
    assert_eq!(game.apply(&air, &produce(&airfield, "scout"), &context()), Ok(()));
}
