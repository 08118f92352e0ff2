//! One tool call from its arguments to its result (§4, §15): rate, consent, place in flight, role, the match's answer, the check
//! of our own output. A failed call is a result too, with a closed code and nothing of the input.

use crate::consent::{self, Consent};
use crate::lease::Lease;
use crate::quota::Place;
use crate::render::{self, Answer, Paging};
use crate::reply::Reply;
use crate::surface::{Offer, Offered};
use crate::tool_call::ToolCall;
use playerthree_game::Name;
use playerthree_host::Ticks;
use playerthree_schema::{Invalid, PathPart, SchemaCode};
use playerthree_session::{Call, CallError, Code};
use serde_json::{Map, Value, json};

/// Carries out a call of a tool that the contract has.
///
/// Cancel safe: a call that is dropped gives its place back, and the match drops it.
pub(crate) async fn call(lease: &Lease, offer: &Offer, call: ToolCall) -> Reply {
    if !lease.quota.within_rate() {
        return Reply::failed(Code::RateLimited);
    }
    match consent::of(lease, &call) {
        Consent::Given => carry_out(lease, offer, call).await.into(),
        Consent::Asked => Reply::Ask(consent::question_of(lease)),
        Consent::Declined => Reply::Failed(json!({ "error": "consent_declined" })),
    }
}

async fn carry_out(lease: &Lease, offer: &Offer, call: ToolCall) -> Result<Answer, CallError> {
    let ToolCall { name, mut arguments, ticks, .. } = call;
    let tool = offer.tool(&name).ok_or(Code::ModeUnavailable)?;
    let role = take_role(lease, tool.method, &mut arguments)?;
    let place = if tool.method == "wait" { Place::Wait(&role) } else { Place::Call };
    let _place = lease.quota.place(place).ok_or(Code::Busy)?;
    let arguments = Value::Object(arguments);
    let answer = match later_page(lease, &role, tool.method, &arguments)? {
        Some(answer) => answer,
        None => fresh(lease, &role, tool.method, arguments, ticks).await?,
    };
    checked(lease, tool, answer)
}

/// Takes the role out of the arguments (§4). A credential with one role needs not name it; one with several has to, but
/// for a briefing, which is then the first one's.
fn take_role(lease: &Lease, method: &str, arguments: &mut Map<String, Value>) -> Result<Name, CallError> {
    let held: Vec<Name> = lease.agent.commands().into_iter().map(|(role, _)| role).collect();
    // A commander that was removed meanwhile holds nothing.
    let first = held.first().cloned().ok_or(Code::BadToken)?;
    // A skill belongs to no role, so the match refuses the argument like any other that is not declared.
    if method == "skill" {
        return Ok(first);
    }
    let wrong = |code: SchemaCode| Err(Invalid::at(code, [PathPart::Field("role".into())]).into());
    match arguments.remove("role") {
        None if held.len() == 1 || method == "briefing" => Ok(first),
        None => wrong(SchemaCode::MissingField),
        Some(Value::String(named)) => match held.into_iter().find(|role| **role == *named) {
            Some(role) => Ok(role),
            None if lease.agent.surface().manifest.role(&named).is_some() => Err(Code::Forbidden.into()),
            None => wrong(SchemaCode::Enum),
        },
        Some(_) => wrong(SchemaCode::Type),
    }
}

/// A later page of the last observation, if that is what the call asks for.
fn later_page(
    lease: &Lease,
    role: &Name,
    method: &str,
    arguments: &Value,
) -> Result<Option<Answer>, CallError> {
    if method != "observe" || arguments.get("page").is_none() {
        return Ok(None);
    }
    let Call::Observe(observe) = Call::parse(lease.agent.surface(), method, arguments)? else {
        return Ok(None);
    };
    let Some(page) = observe.page.filter(|page| *page > 1).and_then(|page| usize::try_from(page).ok()) else {
        return Ok(None);
    };
    let answer = lease.snapshot(role).and_then(|snapshot| render::later_page(&snapshot, page));
    answer.map(Some).ok_or_else(|| Code::Invalid.into())
}

/// What the match answers now.
async fn fresh(
    lease: &Lease,
    role: &Name,
    method: &str,
    arguments: Value,
    ticks: Ticks,
) -> Result<Answer, CallError> {
    let mut result = lease.agent.call(role, method, arguments, ticks).await?;
    if method == "briefing" && result.get("topic").is_none() && result.get("commands").is_none() {
        result["commands"] = commands(lease, role, &result["phase"]);
    }
    let rendered = render::render(method, result, &lease.agent.surface().manifest.observation);
    let (answer, paging) = rendered.map_err(|_| faulty(lease, method, "is too long"))?;
    if let Paging::Replaced(snapshot) = paging {
        lease.keep(role, snapshot);
    }
    Ok(answer)
}

/// The roles that this credential commands (§4), each with its phase. A commander's seats are all in one match, so that
/// seated roles share a phase: the briefed one's, if that one is seated, else what the status of another shows. Reading
/// that is no call, by which nobody becomes present (§17).
fn commands(lease: &Lease, briefed: &Name, phase: &Value) -> Value {
    let commands = lease.agent.commands();
    let mut seated = commands.iter().filter(|(_, team)| team.is_some()).map(|(role, _)| role);
    let shown = match seated.clone().find(|role| *role == briefed).or_else(|| seated.next()) {
        Some(role) if role != briefed => lease.agent.status(role).map(|status| status["phase"].clone()),
        _ => None,
    };
    let phase = shown.unwrap_or_else(|| phase.clone());
    let command = |(role, team): (Name, Option<Name>)| match team {
        Some(team) => json!({ "role": role, "phase": phase, "team": team }),
        None => json!({ "role": role, "phase": "lobby" }),
    };
    commands.into_iter().map(command).collect()
}

/// Lets an answer out only if it is of its tool's output schema (§4).
fn checked(lease: &Lease, tool: &Offered, answer: Answer) -> Result<Answer, CallError> {
    if tool.allows(&answer.structured) {
        Ok(answer)
    } else {
        Err(faulty(lease, tool.method, "is not of its output schema"))
    }
}

/// Reports a result that may not leave; nothing of it goes into the log either.
fn faulty(lease: &Lease, method: &str, what: &str) -> CallError {
    tracing::error!(game = %lease.agent.surface().manifest.id, method, "a tool result {what}");
    Code::Internal.into()
}
