//! §5, §20 "start-mode primitives", §20.9: human, spectator and observer tokens, with time handed in.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use playerthree_agent_command::AgentCommand;
use playerthree_game::{Controller, Name, Seat};
use playerthree_host::{Account, Credentials, Grant, Holder, Sight, TOKENS_WAITING_MAX, Token, Ttl};
use playerthree_session::{
    CallError, Code, Config, Match, Millis, ObserverPolicy, Occupant, OwnerId, Surface,
};
use std::sync::Arc;

const NOBODY: [u32; 0] = [];

/// A duel in which Ann holds red's ground in person, and connections that are plain numbers.
struct House {
    game: Match,
    credentials: Credentials<u32>,
}

fn account(name: &str) -> Account {
    Account { owner: OwnerId(name.into()), display: name.to_owned() }
}

fn human(name: &str) -> Occupant {
    Occupant::Human { owner: OwnerId(name.into()), display: name.to_owned() }
}

fn agent(name: &str) -> Occupant {
    Occupant::Agent { owner: OwnerId(name.into()), display: name.to_owned() }
}

fn ground() -> Seat {
    Seat::new("red", "ground")
}

fn red() -> Name {
    "red".into()
}

fn seconds(seconds: u64) -> Ttl {
    Ttl::of(Some(seconds)).unwrap()
}

fn code<T>(answer: Result<T, CallError>) -> Option<Code> {
    answer.err().map(|error| error.code)
}

impl House {
    fn new() -> Self {
        let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
        let config = Config {
            teams: Some(vec![red(), "blue".into()]),
            observers: ObserverPolicy::Private(0),
            ..Config::of(7)
        };
        let mut house =
            Self { game: Match::new(surface, config, 0).unwrap(), credentials: Credentials::default() };
        house.assign(&ground(), human("ann"));
        house
    }

    fn assign(&mut self, seat: &Seat, occupant: Occupant) {
        self.game.assign(seat, occupant).unwrap();
    }

    fn mint_as(&mut self, name: &str, sight: Sight, seat: &Seat) -> Result<Token, CallError> {
        let holder = Holder { account: &account(name), sight };
        self.credentials.mint_human(&self.game, holder, seat, Ttl::default(), 0)
    }

    /// A human token of Ann's seat.
    fn human(&mut self, ttl: Ttl, now: Millis) -> String {
        let holder = Holder { account: &account("ann"), sight: Sight::OwnSide };
        let token = self.credentials.mint_human(&self.game, holder, &ground(), ttl, now);
        token.unwrap().reveal().to_owned()
    }

    /// A spectator token of red.
    fn spectator(&mut self, now: Millis) -> String {
        let token = self.credentials.mint_spectator(&self.game, &red(), Ttl::default(), now);
        token.unwrap().reveal().to_owned()
    }

    /// A ticket for an observer.
    fn observer(&mut self, inviter: &str, now: Millis) -> String {
        let sight = self.game.observer_grant(None).unwrap();
        let token = self.credentials.mint_observer(&OwnerId(inviter.into()), sight, Ttl::default(), now);
        token.unwrap().reveal().to_owned()
    }

    fn claim(&mut self, token: &str, lease: u32, now: Millis) -> Result<Grant, CallError> {
        self.credentials.claim(token, lease, &self.game, now)
    }

    fn renew(&mut self, sight: Sight, ttl: Ttl, now: Millis) -> Result<(), CallError> {
        let holder = Holder { account: &account("ann"), sight };
        self.credentials.renew_human(&self.game, holder, &ground(), ttl, now)
    }

    fn settle(&mut self, now: Millis) -> Vec<u32> {
        self.credentials.settle(&self.game, now)
    }
}

#[test]
fn a_time_to_live_is_120_seconds_and_never_out_of_bounds() {
    assert_eq!(Ttl::of(None).unwrap().duration().as_secs(), 120);
    for good in [5, 600] {
        assert_eq!(Ttl::of(Some(good)).unwrap().duration().as_secs(), good);
    }
    for bad in [0, 4, 601, u64::MAX] {
        assert_eq!(code(Ttl::of(Some(bad))), Some(Code::Invalid), "{bad}");
    }
}

#[test]
fn a_human_token_is_for_a_seat_that_its_owner_holds_in_person() {
    let mut house = House::new();
    assert_eq!(code(house.mint_as("bob", Sight::OwnSide, &ground())), Some(Code::Forbidden));
    let open = Seat::new("red", "air");
    for seat in [&open, &Seat::new("green", "ground")] {
        assert_eq!(code(house.mint_as("ann", Sight::OwnSide, seat)), Some(Code::Forbidden));
    }
    house.assign(&open, agent("ann"));
    assert_eq!(code(house.mint_as("ann", Sight::OwnSide, &open)), Some(Code::Forbidden), "only an agent's");
    // Handing the controller over does not end the hold.
    house.game.set_controller(&ground(), Controller::Agent).unwrap();
    assert!(house.mint_as("ann", Sight::OwnSide, &ground()).is_ok());
}

#[test]
fn a_broader_view_or_a_second_side_in_person_forbids_a_human_token_and_an_agent_there_does_not() {
    let mut house = House::new();
    assert_eq!(code(house.mint_as("ann", Sight::Broader, &ground())), Some(Code::Forbidden));
    let blue = Seat::new("blue", "ground");
    house.assign(&blue, agent("ann"));
    let token = house.mint_as("ann", Sight::OwnSide, &ground()).unwrap();
    house.claim(token.reveal(), 1, 0).unwrap();
    assert_eq!(code(house.renew(Sight::Broader, Ttl::default(), 1)), Some(Code::Forbidden));
    // The match itself gives nobody a second side in person.
    assert_eq!(code(house.game.assign(&blue, human("ann"))), Some(Code::Forbidden));
    assert_eq!(house.settle(1), NOBODY, "what was refused changed nothing");
}

#[test]
fn one_connection_claims_a_token_and_every_other_claim_is_refused_alike() {
    let (mut house, mut other) = (House::new(), House::new());
    let token = house.human(Ttl::default(), 0);
    let foreign = other.human(Ttl::default(), 0);
    assert!(house.credentials.claimable(&token, &house.game, 0).is_some());
    assert!(house.credentials.claimable(&token, &house.game, 0).is_some(), "asking claims nothing");
    let granted = house.claim(&token, 1, 0).unwrap();
    assert_eq!(granted, Grant::Human { account: account("ann"), seat: ground() });
    let observer = house.observer("ann", 0);
    for bad in [token.as_str(), foreign.as_str(), &observer, "", "no token of anybody's"] {
        assert_eq!(house.credentials.claimable(bad, &house.game, 0), None);
        assert_eq!(code(house.claim(bad, 2, 0)), Some(Code::BadToken));
    }
    // One connection has one lease, and a refused claim leaves its token good for another.
    let spectator = house.spectator(0);
    assert_eq!(code(house.claim(&spectator, 1, 0)), Some(Code::BadToken));
    assert_eq!(house.claim(&spectator, 2, 0).unwrap(), Grant::Spectator { team: red() });
    assert_eq!(code(house.credentials.claim_observer(&observer, 2, 0)), Some(Code::BadToken));
    assert!(house.credentials.claim_observer(&observer, 3, 0).is_ok());
}

#[test]
fn a_token_expires_unclaimed_and_a_lease_expires_under_its_client() {
    let mut house = House::new();
    let late = house.human(seconds(5), 0);
    assert_eq!(code(house.claim(&late, 1, 5_000)), Some(Code::BadToken));
    let token = house.human(seconds(5), 5_000);
    house.claim(&token, 1, 9_999).unwrap();
    assert_eq!(house.settle(9_999), NOBODY);
    assert_eq!(house.settle(10_000), [1]);
    assert_eq!(house.settle(10_000), NOBODY, "an end is told once");
    let spectator = house.spectator(0);
    house.claim(&spectator, 2, 0).unwrap();
    assert_eq!(house.settle(119_999), NOBODY);
    assert_eq!(house.settle(120_000), [2]);
}

#[test]
fn renewal_moves_the_expiry_of_a_credential_that_is_claimed_and_connected() {
    let mut house = House::new();
    assert_eq!(code(house.renew(Sight::OwnSide, seconds(600), 0)), Some(Code::BadToken), "none");
    let token = house.human(seconds(5), 0);
    assert_eq!(code(house.renew(Sight::OwnSide, seconds(600), 0)), Some(Code::BadToken), "unclaimed");
    house.claim(&token, 1, 0).unwrap();
    house.renew(Sight::OwnSide, seconds(600), 4_000).unwrap();
    assert_eq!(house.settle(603_999), NOBODY);
    assert_eq!(code(house.renew(Sight::OwnSide, seconds(600), 604_000)), Some(Code::BadToken), "expired");
    assert_eq!(house.settle(604_000), [1]);
    let token = house.human(seconds(5), 0);
    house.claim(&token, 2, 0).unwrap();
    house.credentials.disconnect(2);
    assert_eq!(code(house.renew(Sight::OwnSide, seconds(600), 0)), Some(Code::BadToken), "dropped");
}

#[test]
fn disconnection_consumes_the_lease() {
    let mut house = House::new();
    let token = house.spectator(0);
    house.claim(&token, 1, 0).unwrap();
    house.credentials.disconnect(1);
    assert_eq!(code(house.claim(&token, 1, 0)), Some(Code::BadToken));
    house.credentials.end_match();
    assert_eq!(house.settle(0), NOBODY, "nobody is left to be told");
}

#[test]
fn a_new_human_token_of_a_seat_replaces_the_earlier_one_joined_or_not() {
    let mut house = House::new();
    let first = house.human(Ttl::default(), 0);
    let second = house.human(Ttl::default(), 0);
    assert_eq!(code(house.claim(&first, 1, 0)), Some(Code::BadToken));
    house.claim(&second, 2, 0).unwrap();
    let third = house.human(Ttl::default(), 0);
    assert_eq!(house.settle(0), [2]);
    house.claim(&third, 3, 0).unwrap();
    assert_eq!(house.settle(0), NOBODY);
}

#[test]
fn revoking_a_seat_ends_its_credential_and_no_other() {
    let mut house = House::new();
    house.assign(&Seat::new("red", "air"), human("cat"));
    let air = house.mint_as("cat", Sight::OwnSide, &Seat::new("red", "air")).unwrap();
    let (token, spectator) = (house.human(Ttl::default(), 0), house.spectator(0));
    for (lease, token) in [(1, &*token), (2, &*spectator), (3, air.reveal())] {
        house.claim(token, lease, 0).unwrap();
    }
    house.credentials.revoke_seat(&ground());
    assert_eq!(house.settle(0), [1]);
    let unclaimed = house.human(Ttl::default(), 0);
    house.credentials.revoke_seat(&ground());
    assert_eq!(code(house.claim(&unclaimed, 4, 0)), Some(Code::BadToken));
}

#[test]
fn a_seat_that_is_nobodys_in_person_any_more_ends_its_credential() {
    for next in [Occupant::Nobody, human("bob"), agent("bob")] {
        let mut house = House::new();
        let token = house.human(Ttl::default(), 0);
        house.claim(&token, 1, 0).unwrap();
        house.assign(&ground(), next.clone());
        assert_eq!(house.settle(0), [1], "{next:?}");
        let mut house = House::new();
        let token = house.human(Ttl::default(), 0);
        house.assign(&ground(), next);
        assert_eq!(code(house.claim(&token, 1, 0)), Some(Code::BadToken));
    }
}

#[test]
fn the_end_of_the_match_ends_every_token_and_none_is_minted_after_it() {
    let mut house = House::new();
    let (token, spectator) = (house.human(Ttl::default(), 0), house.spectator(0));
    let unclaimed = house.spectator(0);
    let (observing, observer) = (house.observer("ann", 0), house.observer("ann", 0));
    house.claim(&token, 1, 0).unwrap();
    house.claim(&spectator, 2, 0).unwrap();
    house.credentials.claim_observer(&observing, 3, 0).unwrap();
    house.credentials.end_match();
    assert!(house.credentials.claim_observer(&observer, 4, 0).is_ok(), "what observers see is still to come");
    assert_eq!(house.settle(0), [1, 2]);
    assert_eq!(code(house.claim(&unclaimed, 5, 0)), Some(Code::BadToken));
    house.game.forfeit("blue", 0).unwrap();
    while !house.game.is_over() {
        house.game.begin_round(0, &|_| None);
        house.game.end_round(0);
    }
    assert_eq!(code(house.mint_as("ann", Sight::OwnSide, &ground())), Some(Code::NotInMatch));
    let spectator = house.credentials.mint_spectator(&house.game, &red(), Ttl::default(), 0);
    assert_eq!(code(spectator), Some(Code::NotInMatch));
}

#[test]
fn waiting_tokens_are_bounded_by_side_and_kind_and_expired_ones_make_room() {
    let mut house = House::new();
    for _ in 0..TOKENS_WAITING_MAX {
        house.spectator(0);
        house.observer("ann", 0);
    }
    let past = |house: &mut House, now| {
        code(house.credentials.mint_spectator(&house.game, &red(), Ttl::default(), now))
    };
    assert_eq!(past(&mut house, 0), Some(Code::Busy));
    let sight = house.game.observer_grant(Some("red")).unwrap();
    let observer = house.credentials.mint_observer(&OwnerId("bob".into()), sight, Ttl::default(), 0);
    assert_eq!(code(observer), Some(Code::Busy), "one bound for all who invite");
    let blue = house.credentials.mint_spectator(&house.game, &"blue".into(), Ttl::default(), 0);
    assert!(blue.is_ok(), "one side's tokens leave the other's alone");
    house.human(Ttl::default(), 0);
    assert_eq!(past(&mut house, 120_000), None);
    let green = house.credentials.mint_spectator(&house.game, &"green".into(), Ttl::default(), 0);
    assert_eq!(code(green), Some(Code::Invalid));
}

/// §20.9: the time of an observer's token is the time to claim it, and it is good once.
#[test]
fn an_observer_token_is_good_once_and_for_observers_alone() {
    let mut house = House::new();
    let token = house.observer("ann", 0);
    assert!(house.credentials.claim_observer(&token, 1, 119_999).is_ok());
    assert_eq!(code(house.credentials.claim_observer(&token, 2, 119_999)), Some(Code::BadToken));
    assert_eq!(house.settle(u64::MAX), NOBODY, "who observes already is not cut off");
    let late = house.observer("ann", 0);
    assert_eq!(code(house.credentials.claim_observer(&late, 2, 120_000)), Some(Code::BadToken));
    let human = house.human(Ttl::default(), 0);
    assert_eq!(code(house.credentials.claim_observer(&human, 2, 0)), Some(Code::BadToken));
    assert!(house.claim(&human, 2, 0).is_ok(), "the attempt did not use it up");
}

/// §20.9: a claimed lease of an observer ends with its connection or by explicit revocation, and nobody takes it up again.
#[test]
fn an_observer_is_let_go_on_the_word_of_whoever_invited_them() {
    let mut house = House::new();
    let (ann, bob) = (OwnerId("ann".into()), OwnerId("bob".into()));
    let [first, second, third] = ["ann", "ann", "bob"].map(|inviter| house.observer(inviter, 0));
    for (token, lease) in [(&first, 1), (&third, 3)] {
        house.credentials.claim_observer(token, lease, 0).unwrap();
    }
    for (inviter, token) in [(&bob, first.as_str()), (&ann, third.as_str()), (&ann, "nobody's"), (&ann, "")] {
        let refused = house.credentials.revoke_observer(inviter, token);
        assert_eq!(code(refused), Some(Code::BadToken));
    }
    assert_eq!(house.settle(0), NOBODY);
    house.credentials.revoke_observer(&ann, &first).unwrap();
    assert_eq!(house.settle(0), [1]);
    assert_eq!(code(house.credentials.revoke_observer(&ann, &first)), Some(Code::BadToken));
    house.credentials.revoke_observer(&ann, &second).unwrap();
    for token in [&first, &second] {
        assert_eq!(code(house.credentials.claim_observer(token, 4, 0)), Some(Code::BadToken));
    }
    assert!(house.credentials.disconnect(3));
    assert_eq!(code(house.credentials.claim_observer(&third, 3, 0)), Some(Code::BadToken));
    assert_eq!(code(house.credentials.revoke_observer(&bob, &third)), Some(Code::BadToken));
}
