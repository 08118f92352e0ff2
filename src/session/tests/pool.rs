//! §13, §7: the pool, publications and drafted policies, and §20.5 for what a seat is given.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, Controller, Name, Outcome, PoolLimits, Runtime, Seat};
use playerthree_session::{
    Activated, Approved, Artifact, Call, Code, Config, Match, Millis, ObserverPolicy, Occupant, OwnerControl,
    POOL_BYTES_PER_OWNER, POOL_ENTRIES, POOL_PAGE, PolicyCode, PolicyId, Pool, PoolQuery, Publication,
    Publish, Right, SeatedPolicy, Surface,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What must reach nobody but its author: code, its log and the engine's words about it.
const SECRETS: [&str; 3] = ["the code of ann", "its own log", "the engine's own words"];

fn pooled(most: u32) -> Drill {
    let mut game = Drill::new(Clock::Realtime);
    game.control.pool = Some(PoolLimits { max_published_per_principal: most });
    game
}

fn of_sides(surface: &Arc<Surface>, sides: &[&str], bots: Option<&str>) -> Match {
    let teams = sides.iter().map(|side| Name::from(*side)).collect();
    let config = Config { teams: Some(teams), bots: bots.map(Into::into), ..config() };
    Match::new(Arc::clone(surface), config, 0).unwrap()
}

fn role() -> Name {
    "lead".into()
}

fn query(surface: &Surface, value: Value) -> PoolQuery {
    PoolQuery::parse(surface, &value).unwrap()
}

fn ids(listing: &Value) -> Vec<String> {
    let entries = listing["entries"].as_array().unwrap().iter();
    entries.map(|entry| entry["policyId"].as_str().unwrap().to_owned()).collect()
}

/// A policy of ann's in the pool.
fn published(surface: &Surface) -> (Pool, PolicyId) {
    let mut pool = Pool::default();
    let id = pool.publish(surface, &owner("ann"), &role(), js(SECRETS[0])).unwrap();
    (pool, id)
}

fn drafted(name: &str, pool: &Pool, id: PolicyId, bot: Option<&str>) -> Occupant {
    let code = PolicyCode::Pool(pool.draft(&role(), id).unwrap());
    let (owner, display) = (owner(name), format!("{name} in person"));
    Occupant::Policy(Box::new(SeatedPolicy { owner, display, code, bot: bot.map(Into::into) }))
}

/// Tries what the seats were given.
fn try_given(
    game: &mut Match,
    probe: &Result<playerthree_session::Thought, playerthree_session::PolicyError>,
) {
    for (seat, activation) in game.due_activations() {
        game.activated(&seat, &activation, probe);
    }
}

fn state_of(game: &Match, seat: &Seat, now: Millis) -> String {
    let readiness = game.readiness(now);
    let seats = readiness["seats"].as_array().unwrap();
    let found = seats.iter().find(|info| info["team"] == *seat.team && info["role"] == *seat.role).unwrap();
    found["state"].as_str().unwrap().to_owned()
}

fn to_publish(publish: Publish) -> Publication {
    match publish {
        Publish::Now(publication) => publication,
        Publish::Approval(request) => panic!("waits for its owner: {request}"),
    }
}

/// §13: the active policy is what is published, under a name of the shape `pol_<digits>`.
#[test]
fn the_active_policy_is_what_is_published() {
    let surface = surface(pooled(8));
    let mut game = of_sides(&surface, &["a", "b"], None);
    game.assign(&lead("a"), agent("ann")).unwrap();
    assert_eq!(game.publish(&lead("a")).unwrap_err().code, Code::Invalid, "nothing is active");
    deploy(&mut game, &lead("a"), "one");
    deploy(&mut game, &lead("a"), "two");
    let rollback = to_probe(game.rollback(&lead("a"), 1).unwrap());
    game.activated(&lead("a"), &rollback, &thought(&[]));
    let publication = to_publish(game.publish(&lead("a")).unwrap());
    assert_eq!((publication.version, &publication.artifact), (1, &js("one")));
    let mut pool = Pool::default();
    let id = pool.publish(&surface, &owner("ann"), &role(), publication.artifact).unwrap();
    assert_eq!(id.to_string(), "pol_1");
    let listing = pool.list(&surface, &owner("bob"), &PoolQuery::default());
    let entry = json!({ "policyId": "pol_1", "game": "drill", "role": "lead", "runtime": "js",
        "wins": 0, "losses": 0, "draws": 0, "mine": false });
    assert_eq!(listing, json!({ "entries": [entry] }));
}

/// §4: without the mode nothing of the pool is there.
#[test]
fn a_game_without_a_pool_has_no_mode_for_it() {
    let without = surface(Drill::new(Clock::Realtime));
    let mut game = of_sides(&without, &["a", "b"], None);
    game.assign(&lead("a"), agent("ann")).unwrap();
    deploy(&mut game, &lead("a"), "one");
    assert_eq!(game.publish(&lead("a")).unwrap_err().code, Code::ModeUnavailable);
    let call = Call::parse(&without, "publish", &json!({}));
    assert_eq!(call.unwrap_err().code, Code::ModeUnavailable, "as an operation of the transport too");
    assert!(matches!(Call::parse(&surface(pooled(1)), "publish", &json!({})), Ok(Call::Publish)));
    let refused = PoolQuery::parse(&without, &json!({})).unwrap_err();
    assert_eq!(refused.code, Code::ModeUnavailable);
    let refused = Pool::default().publish(&without, &owner("ann"), &role(), js("one")).unwrap_err();
    assert_eq!(refused.code, Code::ModeUnavailable);
    assert!(without.tools.iter().all(|tool| tool.name != "pool_publish"));
    assert!(surface(pooled(1)).tools.iter().any(|tool| tool.name == "pool_publish"));
}

/// §7: under supervision a publication waits for its owner, pins its version, and each of the outcomes is told.
#[test]
fn a_supervised_publication_waits_for_its_owner() {
    let surface = surface(pooled(8));
    let mut game = of_sides(&surface, &["a", "b"], None);
    game.assign(&lead("a"), agent("ann")).unwrap();
    deploy(&mut game, &lead("a"), "one");
    game.set_mandate(
        &lead("a"),
        &json!({ "autonomy": "supervised", "directive": {}, "whenAbsent": "policy" }),
    )
    .unwrap();
    done(wait_for(&mut game, &lead("a"), Right::Agent, 0, &[], 0));
    let ask = |game: &mut Match| {
        let Publish::Approval(request) = game.publish(&lead("a")).unwrap() else { panic!("published") };
        assert_eq!((&request["ok"], &request["approval"]["kind"]), (&json!(false), &json!("publish")));
        assert_eq!(request["approval"]["version"], 1);
        request["approval"]["id"].as_str().unwrap().to_owned()
    };
    let status = |game: &Match| game.policy_status(&lead("a")).unwrap()["approval"]["status"].clone();

    let first = ask(&mut game);
    let second = ask(&mut game);
    let replaced = game.resolve_approval(&lead("a"), &first, true).unwrap_err();
    assert_eq!(replaced.code, Code::ApprovalNotFound);
    assert!(game.resolve_approval(&lead("a"), &second, false).unwrap().is_none());
    assert_eq!(status(&game), "rejected");
    assert_eq!(done(wait_for(&mut game, &lead("a"), Right::Agent, 9, &[], 0))["wake"], "approval");

    for (works, told) in [(true, "approved"), (false, "failed")] {
        let id = ask(&mut game);
        let approved = game.resolve_approval(&lead("a"), &id, true).unwrap().unwrap();
        let Approved::Publish(publication) = approved else { panic!("a probe") };
        assert_eq!(publication.artifact, js("one"));
        let again = game.resolve_approval(&lead("a"), &id, true).unwrap_err();
        assert_eq!(again.code, Code::ApprovalPending);
        game.published(&lead("a"), &publication, works);
        assert_eq!(status(&game), told);
        assert_eq!(done(wait_for(&mut game, &lead("a"), Right::Agent, 9, &[], 0))["wake"], "approval");
    }
}

/// §3, §13, §15: one owner's policies are bounded in number and bytes, and so is the pool; past a bound it is `busy` and
/// nothing changes.
#[test]
fn publications_past_a_bound_are_refused_and_change_nothing() {
    let two = surface(pooled(2));
    let (mut pool, _) = published(&two);
    pool.publish(&two, &owner("ann"), &role(), js("two")).unwrap();
    let before = pool.list(&two, &owner("ann"), &PoolQuery::default());
    let third = pool.publish(&two, &owner("ann"), &role(), js("three")).unwrap_err();
    assert_eq!(third.code, Code::Busy);
    assert_eq!(pool.list(&two, &owner("ann"), &PoolQuery::default()), before);
    pool.publish(&two, &owner("bob"), &role(), js("three")).expect("another owner's quota is their own");

    let many = surface(pooled(1000));
    let mut pool = Pool::default();
    let large =
        |fill: u8| Artifact { runtime: Runtime::Js, code: vec![fill; POOL_BYTES_PER_OWNER / 2].into() };
    for fill in [1, 2] {
        pool.publish(&many, &owner("ann"), &role(), large(fill)).unwrap();
    }
    assert_eq!(pool.publish(&many, &owner("ann"), &role(), js("x")).unwrap_err().code, Code::Busy);

    let mut pool = Pool::default();
    for number in 0..POOL_ENTRIES {
        pool.publish(&many, &owner(&format!("o{}", number % 2)), &role(), js(&number.to_string())).unwrap();
    }
    assert_eq!(pool.publish(&many, &owner("late"), &role(), js("x")).unwrap_err().code, Code::Busy);

    // §15.5: all owners together are bounded in bytes, too.
    let mut pool = Pool::default();
    for fill in 0..16 {
        let owner = owner(&format!("o{fill}"));
        for part in [0, 1] {
            pool.publish(&many, &owner, &role(), large(2 * fill + part)).unwrap();
        }
    }
    assert_eq!(pool.publish(&many, &owner("late"), &role(), js("x")).unwrap_err().code, Code::Busy);
}

/// §13: what is in the pool already keeps its name and record.
#[test]
fn publishing_the_same_policy_again_changes_nothing() {
    let surface = surface(pooled(1));
    let (mut pool, id) = published(&surface);
    pool.record(id, Outcome::Win);
    assert_eq!(pool.publish(&surface, &owner("ann"), &role(), js(SECRETS[0])).unwrap(), id);
    assert_eq!(pool.list(&surface, &owner("ann"), &PoolQuery::default())["entries"][0]["wins"], 1);
}

/// §13, §19 "players see only draftable entries": who sees what, in bounded pages, and never whose it is.
#[test]
fn a_listing_shows_what_can_be_drafted_in_pages_and_never_whose_it_is() {
    let surface = surface(pooled(1000));
    let (mut pool, first) = published(&surface);
    for number in 0..2 * POOL_PAGE {
        pool.publish(&surface, &owner("ann"), &role(), js(&number.to_string())).unwrap();
    }
    let wing = pool.publish(&surface, &owner("bob"), &"wing".into(), js("bob's")).unwrap();
    pool.set_disabled(first, true);

    let mut seen = Vec::new();
    let mut asked = json!({});
    loop {
        let listing = pool.list(&surface, &owner("bob"), &query(&surface, asked));
        assert!(listing["entries"].as_array().unwrap().len() <= POOL_PAGE);
        let text = listing.to_string();
        assert!(!text.contains("ann") && SECRETS.iter().all(|secret| !text.contains(secret)), "{text}");
        seen.extend(ids(&listing));
        match listing.get("next") {
            Some(next) => asked = json!({ "after": next }),
            None => break,
        }
    }
    assert_eq!(seen.len(), 2 * POOL_PAGE + 1);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
    assert!(!seen.contains(&first.to_string()), "a disabled one can be drafted by nobody");
    assert_eq!(
        ids(&pool.list(&surface, &owner("bob"), &query(&surface, json!({ "role": "wing" })))),
        [wing.to_string()]
    );
    let mine = pool.list(&surface, &owner("ann"), &query(&surface, json!({ "mine": true })));
    assert_eq!(
        (&mine["entries"][0]["state"], &mine["entries"][1]["state"]),
        (&json!("disabled"), &json!("open"))
    );
    // §20.10.1: what its author may compare with a version of theirs, and nobody else.
    let hash = mine["entries"][0]["artifactHash"].as_str().unwrap();
    assert!(hash.len() == 64 && hash != mine["entries"][1]["artifactHash"]);
    assert_eq!(
        ids(&pool.list(&surface, &owner("bob"), &query(&surface, json!({ "mine": true })))),
        [wing.to_string()]
    );

    for bad in [
        json!({ "after": "pol_01" }),
        json!({ "after": "x" }),
        json!({ "role": "cook" }),
        json!({ "limit": 10_000 }),
        json!([]),
    ] {
        assert_eq!(PoolQuery::parse(&surface, &bad).unwrap_err().code, Code::Invalid, "{bad}");
    }
}

/// §13: a name is `pol_<digits>`, read back as it is written and no other way.
#[test]
fn a_policys_name_has_one_spelling() {
    let surface = surface(pooled(1));
    let (_, id) = published(&surface);
    assert_eq!(PolicyId::parse("pol_1"), Some(id));
    for bad in ["pol_", "pol_01", "pol_+1", "pol_-1", "POL_1", "pol_1 ", "1", "", "pol_1234567890123456"] {
        assert_eq!(PolicyId::parse(bad), None, "{bad}");
    }
}

/// §13, §15: an unknown, a disabled and an unpublished policy, and one for another role, are refused alike; only its
/// author takes one back.
#[test]
fn what_cannot_be_drafted_is_invalid_whatever_the_reason() {
    let surface = surface(pooled(8));
    let (mut pool, id) = published(&surface);
    assert!(pool.draft(&role(), id).is_ok());
    assert_eq!(pool.draft(&"wing".into(), id).unwrap_err().code, Code::Invalid);
    assert_eq!(pool.draft(&role(), PolicyId::parse("pol_7").unwrap()).unwrap_err().code, Code::Invalid);
    pool.set_disabled(id, true);
    assert_eq!(pool.draft(&role(), id).unwrap_err().code, Code::Invalid);
    pool.set_disabled(id, false);
    assert!(pool.draft(&role(), id).is_ok());
    assert_eq!(pool.unpublish(&owner("bob"), id).unwrap_err().code, Code::Forbidden);
    let never = PolicyId::parse("pol_7").unwrap();
    assert_eq!(pool.unpublish(&owner("bob"), never).unwrap_err().code, Code::Forbidden);
    pool.unpublish(&owner("ann"), id).unwrap();
    assert_eq!(pool.draft(&role(), id).unwrap_err().code, Code::Invalid);
    let again = pool.publish(&surface, &owner("ann"), &role(), js(SECRETS[0])).unwrap();
    assert_ne!(again, id, "a name is never given twice");
    pool.remove(again);
    assert_eq!(pool.draft(&role(), again).unwrap_err().code, Code::Invalid);
}

/// §13, §20.1: a drafted policy plays as controller `policy`, through the gates of every policy.
#[test]
fn a_drafted_policy_plays_as_controller_policy() {
    let game = pooled(8);
    let surface = surface(game.clone());
    let (pool, id) = published(&surface);
    let mut live = of_sides(&surface, &["a", "b"], None);
    live.assign(&lead("b"), drafted("bob", &pool, id, None)).unwrap();
    try_given(&mut live, &thought(&[mark(1)]));
    let card = &live.cards(0)[0];
    assert_eq!(
        (&card["kind"], &card["aiPlayer"], &card["mode"]),
        (&json!("policy"), &json!(true), &json!("policy"))
    );
    assert_eq!(card["policy"], json!({ "source": "pool", "policyId": "pol_1" }));
    let thinks = live.begin_round(0, &|_| Some(Vec::new()));
    assert_eq!(thinks.iter().map(|think| &think.seat).collect::<Vec<_>>(), [&lead("b")]);
    live.thought(&lead("b"), thought(&[mark(7), json!({ "kind": "fly" })]));
    live.end_round(0);
    assert!(
        game.told()
            .iter()
            .any(|told| matches!(told, common::drill::Told::Applied { seat, intent, context, .. }
        if *seat == lead("b") && intent["n"] == 7 && context.source == playerthree_game::Source::Policy))
    );
    assert_eq!(
        live.policy_status(&lead("b")).unwrap()["intentsRejected"],
        json!([{ "code": "invalid", "count": 1 }])
    );
}

/// §13, §15: code, log and engine messages of a drafted policy are in nothing that its drafter can read.
#[test]
fn nothing_that_a_drafted_policy_wrote_reaches_its_drafter() {
    let surface = surface(pooled(8));
    let (pool, id) = published(&surface);
    let mut game = of_sides(&surface, &["a", "b"], None);
    game.assign(&lead("b"), drafted("bob", &pool, id, None)).unwrap();
    try_given(&mut game, &thought(&[]));
    let mut read = Vec::new();
    for answer in [thought(&[]), failure()] {
        for _ in 0..2 {
            game.begin_round(0, &|_| Some(Vec::new()));
            game.thought(&lead("b"), answer.clone());
            game.end_round(0);
        }
        read.push(game.policy_status(&lead("b")).unwrap());
        read.push(json!(game.seats_json_for(&owner("bob"), 0)));
        read.push(json!(game.cards(0)));
        read.push(game.readiness(0));
    }
    let status = &read[4];
    assert_eq!((&status["version"], &status["policyId"]), (&Value::Null, &json!("pol_1")));
    assert_eq!((&status["logs"], &status["lastError"]), (&json!([]), &json!({ "code": "threw" })));
    let all = json!(read).to_string();
    for secret in SECRETS.iter().chain(&["ann"]) {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}

/// §13: what one drafted is neither one's own to publish nor to practise with, nor a version to take back.
#[test]
fn a_drafted_policy_is_not_its_drafters_to_use_otherwise() {
    let surface = surface(pooled(8));
    let (pool, id) = published(&surface);
    let mut game = of_sides(&surface, &["a", "b"], None);
    game.assign(&lead("b"), drafted("bob", &pool, id, None)).unwrap();
    try_given(&mut game, &thought(&[]));
    assert_eq!(game.publish(&lead("b")).unwrap_err().code, Code::Invalid);
    assert_eq!(game.practice_artifact(&lead("b"), None).unwrap_err().code, Code::Invalid);
    for version in [0, 1] {
        assert_eq!(game.rollback(&lead("b"), version).unwrap_err().code, Code::Invalid);
    }
    deploy(&mut game, &lead("b"), "bob's own");
    assert_eq!(game.policy_status(&lead("b")).unwrap()["version"], 1);
    assert_eq!(to_publish(game.publish(&lead("b")).unwrap()).artifact, js("bob's own"));
}

/// §20.5: what a seat is given has to think without a fault on what the seat sees, with valid intents alone. Until then,
/// and where it fails, the seat is not ready, says why, and a bot stands in once the match runs.
#[test]
fn a_policy_that_fails_its_trial_is_policy_failed_and_a_bot_stands_in() {
    let game = pooled(8);
    let surface = surface(game.clone());
    let (pool, id) = published(&surface);
    let bad = [failure(), thought(&[json!({ "kind": "fly" })]), thought(&[mark(1), mark(2000)])];
    for probe in bad {
        let mut live = of_sides(&surface, &["a", "b"], None);
        live.check_ready(60, 0).unwrap();
        live.assign(&lead("a"), drafted("bob", &pool, id, Some("dummy"))).unwrap();
        assert_eq!(state_of(&live, &lead("a"), 0), "waiting");
        let (seat, activation) = live.due_activations().pop().unwrap();
        assert!(live.due_activations().is_empty(), "it is tried once");
        assert!(matches!(live.activated(&seat, &activation, &probe), Activated::Failed(_)));
        assert!(live.due_activations().is_empty());
        live.heartbeat(1_000);
        assert_eq!(state_of(&live, &lead("a"), 1_000), "policy_failed");
        assert!(live.is_held(), "who failed is not ready");
        let told = |who: &str| live.seats_json_for(&owner(who), 1_000)[0].get("policyState").cloned();
        assert_eq!((told("bob"), told("eve")), (Some(json!("policy_failed")), None), "its owner sees why");
        live.heartbeat(60_000);
        assert!(!live.is_held(), "at the deadline it is waited for no longer");
        assert_eq!(live.cards(60_000)[0]["mode"], "bot");
        assert!(live.cards(60_000)[0].get("policy").is_none());
        tick(&mut live, 60_000);
    }
    let stood_in = game.told().iter().any(|told| {
        matches!(told, common::drill::Told::Applied { seat, context, .. }
        if *seat == lead("a") && context.source == playerthree_game::Source::Fallback)
    });
    assert!(stood_in);

    let mut live = of_sides(&surface, &["a", "b"], None);
    live.check_ready(60, 0).unwrap();
    live.assign(&lead("a"), drafted("bob", &pool, id, None)).unwrap();
    try_given(&mut live, &failure());
    live.start(0);
    assert_eq!(live.cards(0)[0]["mode"], "held", "nobody stands in where there is no bot");
}

/// §20.5: a trial that found no place is due again, and one that works makes the seat ready.
#[test]
fn a_policy_that_works_makes_its_seat_ready() {
    let surface = surface(pooled(8));
    let (pool, id) = published(&surface);
    let mut game = of_sides(&surface, &["a", "b"], None);
    game.check_ready(60, 0).unwrap();
    game.assign(&lead("a"), drafted("bob", &pool, id, None)).unwrap();
    let (seat, activation) = game.due_activations().pop().unwrap();
    game.not_tried(&seat, &activation);
    assert_eq!(state_of(&game, &lead("a"), 0), "waiting");
    try_given(&mut game, &thought(&[mark(1)]));
    assert_eq!(state_of(&game, &lead("a"), 0), "ready");
    game.heartbeat(1);
    assert!(!game.is_held(), "everybody is ready");
}

/// §20.5: a policy that was published for another surface does not activate, and its seat says so.
#[test]
fn a_policy_of_another_surface_is_stale() {
    let (before, after) = (surface(pooled(8)), surface(pooled(9)));
    assert_ne!(before.hash, after.hash);
    let (pool, id) = published(&before);
    assert!(ids(&pool.list(&after, &owner("bob"), &PoolQuery::default())).is_empty());
    let mine = pool.list(&after, &owner("ann"), &query(&after, json!({ "mine": true })));
    assert_eq!(mine["entries"][0]["state"], "stale");

    let mut game = of_sides(&after, &["a", "b"], None);
    game.check_ready(60, 0).unwrap();
    game.assign(&lead("a"), drafted("bob", &pool, id, Some("dummy"))).unwrap();
    assert!(game.due_activations().is_empty(), "it is not even tried");
    game.heartbeat(1);
    assert_eq!((state_of(&game, &lead("a"), 1).as_str(), game.is_held()), ("stale_policy", true));
    game.start(1);
    assert_eq!(
        (&game.cards(1)[0]["mode"], state_of(&game, &lead("a"), 1).as_str()),
        (&json!("bot"), "stale_policy")
    );
}

/// §13, §10: a drafted policy's record counts how its side ended, once for each side, as soon as the side is final.
#[test]
fn a_record_counts_how_the_side_of_a_drafted_policy_ended() {
    let surface = surface(pooled(8));
    let (mut pool, id) = published(&surface);
    let mut game = of_sides(&surface, &["a", "b", "c"], None);
    game.assign(&lead("a"), drafted("bob", &pool, id, None)).unwrap();
    game.assign(&wing("a"), human("bob")).unwrap();
    game.assign(&lead("b"), drafted("eve", &pool, id, None)).unwrap();
    game.assign(&lead("c"), drafted("cid", &pool, id, None)).unwrap();
    let due = game.due_activations();
    for (seat, activation) in due.into_iter().filter(|(seat, _)| &*seat.team != "c") {
        game.activated(&seat, &activation, &thought(&[]));
    }
    game.take_changes();
    let mut end = |game: &mut Match, side: &str, how: &str| {
        let settle = json!({ "kind": "settle", "side": side, "as": how });
        act(game, &wing("a"), Right::Owner, settle);
        tick(game, 0);
        let fared = game.take_changes().fared;
        fared.iter().for_each(|(id, outcome)| pool.record(*id, *outcome));
        fared
    };
    assert_eq!(end(&mut game, "b", "loss"), [(id, Outcome::Loss)], "while the others play on");
    assert_eq!(end(&mut game, "c", "draw"), [], "what never played has no record");
    assert_eq!(end(&mut game, "a", "win"), [(id, Outcome::Win)]);
    assert!(game.is_over());
    let entry = pool.list(&surface, &owner("bob"), &PoolQuery::default())["entries"][0].clone();
    assert_eq!((&entry["wins"], &entry["losses"], &entry["draws"]), (&json!(1), &json!(1), &json!(0)));
}

/// §20.9: a record is told no sooner than observers are told the outcome, unless nobody is left who could observe.
#[test]
fn a_record_waits_for_the_release_of_its_outcome() {
    for (observed, told) in [(true, 1_000), (false, 0)] {
        let surface = surface(pooled(8));
        let (pool, id) = published(&surface);
        let teams = Some(vec!["a".into(), "b".into()]);
        let config = Config { teams, observers: ObserverPolicy::Private(1_000), ..config() };
        let mut game = Match::new(surface, config, 0).unwrap();
        game.assign(&lead("a"), drafted("bob", &pool, id, None)).unwrap();
        try_given(&mut game, &thought(&[]));
        game.end(&playerthree_session::Ending::Draw, 0).unwrap();
        assert_eq!(game.take_changes().fared, []);
        if observed {
            game.heartbeat(told - 1);
            assert_eq!(game.take_changes().fared, []);
            game.heartbeat(told);
        } else {
            game.end_watching();
        }
        assert_eq!(game.take_changes().fared, [(id, Outcome::Draw)]);
    }
}

/// §4 "Same-owner opposition": one owner's practice against themselves counts for nothing.
#[test]
fn a_match_of_one_owner_against_themselves_makes_no_record() {
    let surface = surface(pooled(8));
    let (pool, id) = published(&surface);
    let mut game = of_sides(&surface, &["a", "b"], None);
    game.assign(&lead("a"), drafted("bob", &pool, id, None)).unwrap();
    assert!(!game.same_owner_opposed());
    game.assign(&lead("b"), drafted("bob", &pool, id, None)).unwrap();
    assert!(game.same_owner_opposed(), "policies are played seats");
    try_given(&mut game, &thought(&[]));
    game.end(&playerthree_session::Ending::Draw, 0).unwrap();
    assert!(game.is_over() && game.take_changes().fared.is_empty());
}

/// §4: the same policy again changes nothing; another one is another occupant, whose predecessor's code ends.
#[test]
fn another_policy_takes_the_seat_and_the_same_one_changes_nothing() {
    let surface = surface(pooled(8));
    let (mut pool, first) = published(&surface);
    let second = pool.publish(&surface, &owner("ann"), &role(), js("another")).unwrap();
    let mut game = of_sides(&surface, &["a", "b"], None);
    let seat = lead("a");
    game.assign(&seat, drafted("bob", &pool, first, None)).unwrap();
    try_given(&mut game, &thought(&[]));
    assert_eq!(
        game.assign(&seat, drafted("bob", &pool, first, None)).unwrap(),
        playerthree_session::Handover::SameOccupant
    );
    assert_eq!(game.policy_status(&seat).unwrap()["policyId"], "pol_1");
    game.assign_with(&seat, drafted("bob", &pool, second, None), OwnerControl::Kept).unwrap();
    assert_eq!(game.policy_status(&seat).unwrap(), Value::Null, "until it has shown that it works");
    try_given(&mut game, &thought(&[]));
    assert_eq!(game.policy_status(&seat).unwrap()["policyId"], "pol_2");
    game.set_controller(&seat, Controller::Bot).unwrap();
    game.assign(&seat, Occupant::Nobody).unwrap();
    assert_eq!(game.policy_status(&seat).unwrap(), Value::Null);
}
