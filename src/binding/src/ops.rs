//! The operations that a client may send (§4 "The optional game transport"), read from untrusted bodies.
//!
//! Reading decides shape alone. Who may do what is decided where the operation is carried out.

use playerthree_rooms::Payload;
use playerthree_session::Code;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Longest body of a client's message, in bytes (§15.5). A server's limit of whole messages has to leave room for their
/// names beside it.
pub const BODY_BYTES_MAX: usize = 1_048_576;

/// The body of a message. One that is too long or no value is null, which no operation is.
pub(crate) fn body(payload: &Payload<'_>) -> Value {
    let bounded = Some(payload).filter(|payload| payload.size() <= BODY_BYTES_MAX);
    bounded.and_then(|payload| payload.decode().ok()).unwrap_or_default()
}

/// One operation of a client.
#[derive(Debug)]
pub(crate) enum Op {
    /// The one operation that spectators have too.
    View,
    Player(PlayerOp),
}

/// One operation of a player.
#[derive(Debug)]
pub(crate) enum PlayerOp {
    Call(Call),
    ResolveApproval(Resolve),
    CommanderApproval(CommanderApproval),
    Prompt(Prompt),
}

/// The operations of a player that wait for nothing.
#[derive(Debug)]
pub(crate) enum Prompt {
    Report,
    Mandate(SeatValue),
    Scopes(SeatValue),
    Controller(SeatValue),
    Stream(Stream),
    Mint(SeatTtl),
    Tell(Tell),
    InviteObserver(TeamTtl),
    RevokeObserver {
        ticket: String,
    },
    Assign {
        wish: SeatWish,
        assignment: Assignment,
    },
    Revoke(SeatWish),
    Commander(CommanderOp),
    /// What to list of the pool, unread.
    Pool(Value),
    Unpublish(OnePolicy),
    Ready {
        wish: SeatWish,
        ready: bool,
    },
    Start {
        in_seconds: u64,
    },
    Readiness,
    Cards,
    MintHuman(SeatTtl),
    RenewHuman(SeatTtl),
    MintSpectator(TeamTtl),
}

/// Who is put into a seat.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) kind: AssignKind,
    /// The named commander: the agent, or whose library the policy is from.
    pub(crate) commander: Option<String>,
    /// The version of that library.
    pub(crate) version: Option<u32>,
    /// The policy of the pool.
    pub(crate) policy_id: Option<String>,
    pub(crate) owner_control: bool,
}

/// The kinds of an assignment that a person can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AssignKind {
    Human,
    Agent,
    Policy,
    Bot,
    Hold,
}

/// What a person does with their roster of commanders.
#[derive(Debug)]
pub(crate) enum CommanderOp {
    List,
    Add(Value),
    Remove { commander: String },
    Rotate { commander: String },
    Tell(Value),
    Settings { commander: String, settings: Value },
}

/// A published policy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OnePolicy {
    pub(crate) policy_id: String,
}

/// An owner's answer to a request that their commander made between matches.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommanderApproval {
    pub(crate) commander: String,
    pub(crate) id: String,
    pub(crate) approve: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneCommander {
    commander: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommanderSettings {
    commander: String,
    settings: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Assign {
    team: Option<String>,
    role: String,
    kind: AssignKind,
    commander: Option<String>,
    version: Option<u32>,
    policy_id: Option<String>,
    #[serde(default)]
    owner_control: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    team: Option<String>,
    role: String,
    ready: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RevokeObserver {
    ticket: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Start {
    #[serde(default)]
    in_seconds: u64,
}

/// A seat, of the sender's own side where no side is named, and how long a credential for it is good.
#[derive(Debug)]
pub(crate) struct SeatTtl {
    pub(crate) wish: SeatWish,
    pub(crate) ttl_seconds: Option<u64>,
}

/// A side that may go unnamed, and how long a credential for it is good.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TeamTtl {
    pub(crate) team: Option<String>,
    pub(crate) ttl_seconds: Option<u64>,
}

/// A stream of a seat of the sender's own side; what it asks for is checked against the game.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) role: String,
    pub(crate) request: Value,
}

/// An observer's request for frames.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObserverRequest {
    pub(crate) perspective: String,
    pub(crate) after: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) role: String,
    pub(crate) method: String,
    pub(crate) args: Value,
}

/// A seat and what its owner sets on it.
#[derive(Debug)]
pub(crate) struct SeatValue {
    pub(crate) wish: SeatWish,
    pub(crate) value: Value,
}

/// A seat, of the sender's own side where no side is named.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeatWish {
    pub(crate) team: Option<String>,
    pub(crate) role: String,
}

/// An owner's message to agents on a side, of the sender's own where none is named.
#[derive(Debug)]
pub(crate) struct Tell {
    pub(crate) team: Option<String>,
    /// Roles, text and ping, unread.
    pub(crate) message: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resolve {
    pub(crate) team: Option<String>,
    pub(crate) role: String,
    pub(crate) id: String,
    pub(crate) approve: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// An operation and the number that its answer carries.
pub(crate) struct Numbered {
    pub(crate) seq: u32,
    pub(crate) op: Op,
}

/// Reads the body of a `playerthree:<name>` message. The error carries the number where the body had a usable one.
pub(crate) fn parse(name: &str, body: Value) -> Result<Numbered, (Option<u32>, Code)> {
    let Value::Object(mut members) = body else { return Err((None, Code::BadMessage)) };
    let seq = members.remove("seq").and_then(|seq| seq.as_u64()).and_then(|seq| u32::try_from(seq).ok());
    let bad = (seq, Code::BadMessage);
    let seq = seq.ok_or(bad)?;
    if members.remove("op").is_none_or(|op| op != name) {
        return Err(bad);
    }
    let op = match name {
        "view" => read::<Nothing>(members.into()).map(|_| Op::View),
        name => player_op(name, members).map(Op::Player),
    };
    op.map(|op| Numbered { seq, op }).ok_or(bad)
}

/// Reads an operation of a player from what is left of its body.
fn player_op(name: &str, mut members: Map<String, Value>) -> Option<PlayerOp> {
    let prompt = match name {
        "call" => return read(members.into()).map(PlayerOp::Call),
        "resolveApproval" => return read(members.into()).map(PlayerOp::ResolveApproval),
        "commanderApproval" => return read(members.into()).map(PlayerOp::CommanderApproval),
        "report" => read::<Nothing>(members.into()).map(|_| Prompt::Report),
        "mandate" | "scopes" | "controller" => {
            let value = members.remove(name)?;
            let set = SeatValue { wish: read(members.into())?, value };
            Some(match name {
                "mandate" => Prompt::Mandate(set),
                "scopes" => Prompt::Scopes(set),
                _ => Prompt::Controller(set),
            })
        }
        "stream" => {
            let role = members.remove("role")?.as_str()?.to_owned();
            Some(Prompt::Stream(Stream { role, request: members.into() }))
        }
        "mint" => seat_ttl(members).map(Prompt::Mint),
        "tell" => {
            let team = match members.remove("team") {
                None => None,
                Some(team) => Some(read(team)?),
            };
            Some(Prompt::Tell(Tell { team, message: members.into() }))
        }
        "mintHuman" => seat_ttl(members).map(Prompt::MintHuman),
        "renewHuman" => seat_ttl(members).map(Prompt::RenewHuman),
        "mintSpectator" => read(members.into()).map(Prompt::MintSpectator),
        "inviteObserver" => read(members.into()).map(Prompt::InviteObserver),
        "revokeObserver" => {
            read(members.into()).map(|RevokeObserver { ticket }| Prompt::RevokeObserver { ticket })
        }
        "assign" => read(members.into()).map(assign),
        "revoke" => read(members.into()).map(Prompt::Revoke),
        "ready" => read(members.into()).map(ready),
        "start" => read(members.into()).map(|Start { in_seconds }| Prompt::Start { in_seconds }),
        "readiness" => read::<Nothing>(members.into()).map(|_| Prompt::Readiness),
        "cards" => read::<Nothing>(members.into()).map(|_| Prompt::Cards),
        "pool" => Some(Prompt::Pool(members.into())),
        "unpublish" => read(members.into()).map(Prompt::Unpublish),
        _ => commander(name, members.into()).map(Prompt::Commander),
    };
    prompt.map(PlayerOp::Prompt)
}

fn assign(assign: Assign) -> Prompt {
    let Assign { team, role, kind, commander, version, policy_id, owner_control } = assign;
    Prompt::Assign {
        wish: SeatWish { team, role },
        assignment: Assignment { kind, commander, version, policy_id, owner_control },
    }
}

fn ready(Ready { team, role, ready }: Ready) -> Prompt {
    Prompt::Ready { wish: SeatWish { team, role }, ready }
}

fn commander(name: &str, body: Value) -> Option<CommanderOp> {
    match name {
        "commanders" => read::<Nothing>(body).map(|_| CommanderOp::List),
        // What a draft has to look like depends on the game.
        "addCommander" => Some(CommanderOp::Add(body)),
        // So does what may be told.
        "tellCommanders" => Some(CommanderOp::Tell(body)),
        "removeCommander" => read(body).map(|OneCommander { commander }| CommanderOp::Remove { commander }),
        "rotate" => read(body).map(|OneCommander { commander }| CommanderOp::Rotate { commander }),
        "commanderSettings" => read(body)
            .map(|CommanderSettings { commander, settings }| CommanderOp::Settings { commander, settings }),
        _ => None,
    }
}

fn seat_ttl(mut members: Map<String, Value>) -> Option<SeatTtl> {
    let ttl_seconds = members.remove("ttlSeconds").map_or(Some(None), read)?;
    Some(SeatTtl { wish: read(members.into())?, ttl_seconds })
}

/// Reads an observer's request, which carries no number.
pub(crate) fn parse_observer(body: Value) -> Option<ObserverRequest> {
    read(body)
}

/// The parser's words could repeat the input, so only success or failure leaves here.
fn read<T: DeserializeOwned>(body: Value) -> Option<T> {
    serde_json::from_value(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(name: &str, body: Value) -> Option<u32> {
        let (seq, code) = parse(name, body).err().unwrap();
        assert_eq!(code, Code::BadMessage);
        seq
    }

    #[test]
    fn a_body_out_of_shape_is_refused_and_its_number_is_kept_where_it_has_one() {
        assert_eq!(refused("call", json!(null)), None);
        assert_eq!(refused("call", json!({ "op": "call", "seq": -1 })), None);
        assert_eq!(refused("call", json!({ "op": "call", "seq": 1.5 })), None);
        assert_eq!(refused("call", json!({ "op": "mint", "seq": 4 })), Some(4));
        assert_eq!(refused("nonsense", json!({ "op": "nonsense", "seq": 4 })), Some(4));
        assert_eq!(refused("view", json!({ "op": "view", "seq": 4, "extra": 1 })), Some(4));
        let call = json!({ "op": "call", "seq": 4, "role": "player", "method": "act" });
        assert_eq!(refused("call", call), Some(4));
        assert_eq!(refused("mandate", json!({ "op": "mandate", "seq": 4, "role": "player" })), Some(4));
    }

    #[test]
    fn a_whole_body_is_read() {
        let body = json!({ "op": "mint", "seq": 7, "team": "o", "role": "player" });
        let numbered = parse("mint", body).ok().unwrap();
        assert_eq!(numbered.seq, 7);
        assert!(
            matches!(numbered.op, Op::Player(PlayerOp::Prompt(Prompt::Mint(SeatTtl { wish: SeatWish { team: Some(team), role }, ttl_seconds: None }))) if team == "o" && role == "player")
        );
    }
}
