//! A seeded random plan of eight clients that connect, drop, come back, leave, are kicked and locked out, several of
//! them at the same moment, with restarts of the server in between. Whenever all is quiet, the rooms' books must
//! balance.

use super::*;
use std::collections::HashMap;
use tokio::time::{Instant, sleep, timeout};

const STEPS: usize = 10_000;
const CLIENTS: usize = 8;

/// Of each room: fewer than there are clients, so that rooms fill.
const SEATS: usize = 5;

/// How long rooms hold the seat of a client that was lost.
const HOLD: Duration = Duration::from_millis(HOLD_MS);
const HOLD_MS: u64 = 3_000;

/// Numbers of messages that no room may hear, for their clients are gone by then.
const UNHEARD: u64 = 1 << 40;

/// What a plan of that many steps does not leave out.
const OPERATIONS: [&str; 16] = [
    "join",
    "expire",
    "abort",
    "leave",
    "vanish",
    "kick",
    "drop",
    "bounce",
    "replace",
    "race",
    "race back",
    "wrong token",
    "too late",
    "lock",
    "visit",
    "say",
];

/// SplitMix64: a plan must be the same on every machine for its seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.next() % sides
    }

    /// Lets others go first, or not.
    async fn pause(&mut self) {
        match self.roll(4) {
            0 => {}
            1 => tokio::task::yield_now().await,
            milliseconds => sleep(Duration::from_millis(milliseconds - 1)).await,
        }
    }
}

#[derive(Default)]
enum Player {
    #[default]
    Away,
    In(Box<Client>),
    Dropped {
        seat: Seat,
        token: String,
        since: Instant,
    },
}

/// What one player does while others do something too.
struct Turn<'w> {
    world: &'w World,
    dice: Dice,
    /// Rooms that were there when the round began.
    rooms: Vec<crate::RoomId>,
    /// The server ends while this happens.
    restarts: bool,
    step: u64,
}

/// What came of it.
struct Outcome {
    operation: &'static str,
    player: Player,
    /// A message that the room heard, if the player is still in.
    said: Option<u64>,
}

impl Outcome {
    fn of(operation: &'static str, player: Player) -> Self {
        Self { operation, player, said: None }
    }
}

impl Turn<'_> {
    async fn run(mut self, player: Player) -> Outcome {
        self.dice.pause().await;
        match player {
            Player::Away => self.join().await,
            Player::In(client) => self.act(client).await,
            Player::Dropped { seat, token, since } => self.come_back(seat, token, since).await,
        }
    }

    /// A refusal is as expected where the server ends.
    fn expect(&self, holds: bool, what: &str) {
        assert!(holds || self.restarts, "step {}: {what}", self.step);
    }

    async fn join(&mut self) -> Outcome {
        let seat = match self.world.seat(Method::JoinOrCreate, "room", options()).await {
            Ok(seat) => seat,
            Err(refusal) => {
                self.expect(false, &format!("joinOrCreate always finds or makes a room: {refusal}"));
                return Outcome::of("refused", Player::Away);
            }
        };
        self.dice.pause().await;
        match self.dice.roll(20) {
            // The seat expires, for nobody comes.
            0 => {
                sleep(Config::default().seat_expiry).await;
                Outcome::of("expire", Player::Away)
            }
            // The socket goes away before it acknowledges.
            1 | 2 => {
                drop(self.world.open(seat, None).await);
                Outcome::of("abort", Player::Away)
            }
            _ => match self.world.connect(seat, None).await {
                Ok(client) => Outcome::of("join", Player::In(Box::new(client))),
                Err(code) => {
                    self.expect(false, &format!("a promised seat is there: {code}"));
                    Outcome::of("refused", Player::Away)
                }
            },
        }
    }

    async fn act(&mut self, client: Box<Client>) -> Outcome {
        match self.dice.roll(14) {
            0 => self.end(client, "leave", 4000).await,
            1 => self.end(client, "kick", 4321).await,
            2 => self.vanish(client).await,
            3 | 4 => {
                let (seat, token) = (client.seat, client.token.clone());
                drop(client);
                Outcome::of("drop", Player::Dropped { seat, token, since: Instant::now() })
            }
            5 => self.replace(client).await,
            6 => self.race(client).await,
            7 => self.lock(client).await,
            8 => self.visit(client).await,
            _ => self.say(client).await,
        }
    }

    /// Ends it by a message; what follows that must not be heard.
    async fn end(&mut self, mut client: Box<Client>, operation: &'static str, code: u16) -> Outcome {
        if operation == "kick" {
            client.send(KICK, 0).await;
        } else {
            client.send_raw(vec![wire::LEAVE_ROOM]).await;
        }
        client.send(SAY, UNHEARD + self.step).await;
        self.dice.pause().await;
        client.send(SAY, UNHEARD + self.step).await;
        let closed = client.closed().await;
        self.expect(closed == code, &format!("{operation}: {closed}"));
        Outcome::of(operation, Player::Away)
    }

    /// Leaves and is gone before it hears of it.
    async fn vanish(&mut self, mut client: Box<Client>) -> Outcome {
        client.send_raw(vec![wire::LEAVE_ROOM]).await;
        client.send(SAY, UNHEARD + self.step).await;
        Outcome::of("vanish", Player::Away)
    }

    /// A second socket takes the seat of a living one.
    async fn replace(&mut self, mut client: Box<Client>) -> Outcome {
        match self.world.connect(client.seat, Some(&client.token)).await {
            Ok(new) => {
                client.send(SAY, UNHEARD + self.step).await;
                let closed = client.closed().await;
                self.expect(closed == 4002, &format!("replaced: {closed}"));
                Outcome::of("replace", Player::In(Box::new(new)))
            }
            Err(code) => {
                self.expect(false, &format!("its token opens the seat: {code}"));
                Outcome::of("refused", Player::Away)
            }
        }
    }

    /// Two sockets want the seat of a living one with the same token: one of them gets it.
    async fn race(&mut self, mut client: Box<Client>) -> Outcome {
        let won = self.two_at_once(client.seat, &client.token).await;
        self.expect(won.is_some(), "one of two gets the seat");
        let Some(new) = won else { return Outcome::of("refused", Player::Away) };
        let closed = client.closed().await;
        self.expect(closed == 4002, &format!("replaced: {closed}"));
        Outcome::of("race", Player::In(Box::new(new)))
    }

    async fn two_at_once(&mut self, seat: Seat, token: &str) -> Option<Client> {
        let mut others = Dice(self.dice.next());
        let first = self.world.connect(seat, Some(token));
        let second = async {
            others.pause().await;
            self.world.connect(seat, Some(token)).await
        };
        match tokio::join!(first, second) {
            (Ok(_), Ok(_)) => panic!("step {}: a token opened a seat twice", self.step),
            (Ok(client), Err(code)) | (Err(code), Ok(client)) => {
                self.expect(code == 4003, &format!("the loser of a race: {code}"));
                Some(client)
            }
            (Err(_), Err(_)) => None,
        }
    }

    async fn lock(&mut self, mut client: Box<Client>) -> Outcome {
        client.send(LOCK, 0).await;
        self.dice.pause().await;
        client.send(UNLOCK, 0).await;
        Outcome::of("lock", Player::In(client))
    }

    /// One more client for a room that was there a moment ago. It stays for a moment.
    async fn visit(&mut self, client: Box<Client>) -> Outcome {
        let place = self.dice.roll(self.rooms.len() as u64);
        let room = self.rooms[usize::try_from(place).unwrap()];
        match self.world.seat(Method::JoinById, room.as_str(), options()).await {
            Ok(seat) => {
                self.dice.pause().await;
                let guest = self.world.connect(seat, None).await;
                self.expect(guest.is_ok(), "a promised seat is there");
                if let Ok(guest) = guest {
                    self.end(Box::new(guest), "leave", 4000).await;
                }
            }
            Err(refusal) => {
                let known = [Refusal::room_full(), Refusal::room_locked(), Refusal::room_not_found()];
                self.expect(known.contains(&refusal), &format!("{refusal}"));
            }
        }
        Outcome::of("visit", Player::In(client))
    }

    async fn say(&mut self, mut client: Box<Client>) -> Outcome {
        client.send(SAY, self.step).await;
        Outcome { said: Some(self.step), ..Outcome::of("say", Player::In(client)) }
    }

    async fn come_back(&mut self, seat: Seat, token: String, since: Instant) -> Outcome {
        match self.dice.roll(5) {
            0 => {
                sleep(HOLD + Duration::from_millis(100)).await;
                assert_eq!(self.world.connect(seat, Some(&token)).await.err(), Some(4003));
                Outcome::of("too late", Player::Away)
            }
            1 => {
                let wrong = self.world.connect(seat, Some("wrong")).await;
                assert!(wrong.is_err(), "step {}: a wrong token opens no seat", self.step);
                Outcome::of("wrong token", Player::Dropped { seat, token, since })
            }
            2 => {
                let won = self.two_at_once(seat, &token).await;
                self.back("race back", won, since)
            }
            _ => {
                let back = self.world.connect(seat, Some(&token)).await;
                self.back("bounce", back.ok(), since)
            }
        }
    }

    /// Who comes back within the hold gets the seat.
    fn back(&self, operation: &'static str, client: Option<Client>, since: Instant) -> Outcome {
        match client {
            Some(client) => Outcome::of(operation, Player::In(Box::new(client))),
            None => {
                self.expect(since.elapsed() >= HOLD, "a held seat is there");
                Outcome::of("missed", Player::Away)
            }
        }
    }
}

struct Plan {
    dice: Dice,
    world: World,
    players: [Player; CLIENTS],
    /// The seats that were joined and not left yet, and whether their client is connected.
    seats: HashMap<SessionId, bool>,
    step: u64,
}

// Field report U23: counts equal live seats and listings. U34: nothing is handled after a close.
#[tokio::test(start_paused = true)]
async fn books_balance_through_a_random_plan() {
    // The runner shows this on a failure: the same SEED gives the same operations at the same times.
    let given = std::env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
    let seed = given.unwrap_or_else(|| getrandom::u64().unwrap());
    println!("SEED={seed}");
    let mut plan = Plan {
        dice: Dice(seed),
        world: new_world(),
        players: Default::default(),
        seats: HashMap::new(),
        step: 0,
    };
    let mut done: HashMap<&str, usize> = HashMap::new();
    let mut restarts = 0;
    while plan.step < STEPS as u64 {
        let ends = plan.dice.roll(150) == 0;
        restarts += usize::from(ends);
        for operation in plan.round(ends).await {
            *done.entry(operation).or_default() += 1;
        }
    }
    plan.round(true).await;
    for operation in OPERATIONS {
        assert!(done.contains_key(operation), "{operation} never happened: {done:?}");
    }
    assert!(restarts > 0);
}

fn new_world() -> World {
    World::new(without_pings())
}

fn options() -> Value {
    json!({ "hold": HOLD_MS, "seats": SEATS })
}

impl Plan {
    /// Some of the players do something at the same time; the server may end meanwhile. Then all is quiet.
    async fn round(&mut self, restarts: bool) -> Vec<&'static str> {
        let began = self.step + 1;
        let rooms: Vec<_> = self.world.server.listing().iter().map(|room| room.room_id).collect();
        let mut turns = Vec::new();
        for (who, player) in self.players.iter_mut().enumerate() {
            if self.dice.roll(3) == 0 {
                continue;
            }
            self.step += 1;
            let dice = Dice(self.dice.next());
            let turn = Turn { world: &self.world, dice, rooms: rooms.clone(), restarts, step: self.step };
            let player = std::mem::take(player);
            turns.push(async move { (who, turn.run(player).await) });
        }
        let mut dice = Dice(self.dice.next());
        let shutdown = async {
            if restarts {
                dice.pause().await;
                assert!(self.world.server.shutdown(Duration::from_secs(5)).await.is_empty(), "stragglers");
            }
        };
        let (outcomes, ()) = tokio::join!(futures_util::future::join_all(turns), shutdown);
        self.world.rest().await;
        let operations: Vec<_> = outcomes.iter().map(|(_, outcome)| outcome.operation).collect();
        let when = format!("steps {began} to {}, restart: {restarts}: {operations:?}", self.step);
        let mut said = Vec::new();
        for (who, outcome) in outcomes {
            if let (Some(number), Player::In(client)) = (outcome.said, &outcome.player) {
                said.push(Heard::Message(client.seat.session, number));
            }
            self.players[who] = outcome.player;
        }
        if restarts {
            self.end(&when).await;
            said.clear();
        } else {
            self.read(&when).await;
        }
        self.check(&when, &said);
        if restarts {
            assert!(self.seats.is_empty(), "{when}: every join has its leave");
            self.world = new_world();
        }
        operations
    }

    /// Reads what came to each player. Nobody who is in was closed.
    async fn read(&mut self, when: &str) {
        for player in &mut self.players {
            let Player::In(client) = player else { continue };
            while let Ok(came) = timeout(Duration::from_millis(1), client.next()).await {
                assert!(came.is_ok(), "{when}: closed with {came:?}");
            }
        }
    }

    /// Everybody who was in is told that the server ends.
    async fn end(&mut self, when: &str) {
        for player in std::mem::take(&mut self.players) {
            if let Player::In(mut client) = player {
                assert_eq!(client.closed().await, 4001, "{when}");
            }
        }
    }

    /// Every seat's story goes on as it must, and the listings say what the stories say.
    fn check(&mut self, when: &str, said: &[Heard]) {
        let log = std::mem::take(&mut *lock(&self.world.rooms.log));
        for heard in &log {
            let seats = &mut self.seats;
            let fits = match heard {
                Heard::Join(session) => seats.insert(*session, true).is_none(),
                Heard::Drop(session, _) => seats.insert(*session, false) == Some(true),
                Heard::Reconnect(session) => seats.insert(*session, true) == Some(false),
                Heard::Leave(session, _) => seats.remove(session).is_some(),
                Heard::Message(session, number) => *number < UNHEARD && seats.get(session) == Some(&true),
                Heard::Event(_) | Heard::Shutdown | Heard::Dispose => true,
            };
            assert!(fits, "{when}: {heard:?}");
        }
        for message in said {
            assert_eq!(log.iter().filter(|heard| *heard == message).count(), 1, "{when}: {message:?}");
        }
        let listing = self.world.server.listing();
        let connected = self.seats.values().filter(|connected| **connected).count();
        assert_eq!(listing.iter().map(|room| room.clients).sum::<usize>(), self.seats.len(), "{when}: seats");
        assert_eq!(listing.iter().map(|room| room.connected).sum::<usize>(), connected, "{when}: connected");
        for room in &listing {
            assert!(room.clients <= SEATS, "{when}: overfull");
            assert_eq!(room.locked, room.clients == SEATS, "{when}: locked");
        }
        let playing = self.players.iter().filter(|player| matches!(player, Player::In(_))).count();
        assert_eq!(connected, playing, "{when}: clients that believe they are in");
    }
}
