//! The calls of a seat (`SeatControl`, §4): one closed enum, read from the method name and JSON arguments that every
//! binding carries. Reading checks shape and bounds, and admits integers however they are spelled; it decides nothing
//! about rights.

use crate::policy::Artifact;
use crate::practice::{self, Practice};
use crate::sequencing::{Plan, PlanStep};
use crate::{CallError, Code, Surface};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use playerthree_game::{Checked, Detail, Name, PolicyLimits, Runtime, SequenceLimits};
use playerthree_schema::{Schema, t};
use serde_json::Value;

/// Most intents of one call or one step of a sequence (§4 `act`, §9).
pub const INTENTS_MAX: usize = 64;

/// Most skill files that a policy can include (§11).
const INCLUDES_MAX: usize = 16;

/// Most bytes of the text of an artifact: base64 of the largest module that a manifest may allow, 700000 bytes.
const CODE_MAX: usize = 933_336;

/// Most event kinds that one wait or sequence can name.
const KINDS_MAX: usize = 16;

/// A call of a seat, well-formed but not yet authorized.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `game_briefing`: the core briefing or one page of a topic.
    Briefing {
        /// Topic and page, from 1.
        topic: Option<(String, u32)>,
    },
    /// `game_observe`.
    Observe(Observe),
    /// `game_act`: 1 to 64 intents, unchecked.
    Act(Vec<Value>),
    /// `game_sequence`.
    Sequence(Plan),
    /// `game_wait`.
    Wait(Wait),
    /// `game_ready`.
    Ready,
    /// `game_skill`: a window of a skill file.
    Skill {
        /// The skill.
        name: String,
        /// The file within it.
        path: String,
        /// First UTF-16 unit of the window.
        offset: usize,
    },
    /// `policy_deploy`.
    PolicyDeploy(Artifact),
    /// `policy_status`.
    PolicyStatus,
    /// `policy_rollback`: a retained version.
    PolicyRollback(u32),
    /// `practice_run`.
    Practice(Box<Practice>),
    /// `pool_publish`.
    Publish,
    /// `game_say`: a text for the owner, not judged yet.
    Say(String),
}

/// The arguments of an observation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observe {
    /// Only events newer than this tick.
    pub since: Option<i64>,
    /// Sections wanted in full beside the role's defaults.
    pub detail: Detail,
    /// Only these top-level members.
    pub fields: Option<Vec<Name>>,
    /// A later page of the snapshot before.
    pub page: Option<u32>,
}

/// The arguments of a wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Longest wait, in milliseconds.
    pub millis: u64,
    /// Event kinds that end the wait.
    pub until: Vec<Name>,
}

/// The names of the methods that this game offers, in the order of §4.
pub(crate) fn methods(manifest: &Checked) -> Vec<&'static str> {
    let mut methods = vec!["briefing", "observe", "act"];
    if manifest.control.sequence.is_some() {
        methods.push("sequence");
    }
    methods.extend(["wait", "ready", "skill"]);
    if manifest.control.policy.is_some() {
        methods.extend(["policyDeploy", "policyStatus", "policyRollback"]);
    }
    if manifest.control.practice.is_some() {
        methods.push("practice");
    }
    if manifest.control.pool.is_some() {
        methods.push("publish");
    }
    if manifest.control.chat.is_some() {
        methods.push("say");
    }
    methods
}

impl Call {
    /// Reads a call. Fails `bad_message` for an unknown method, `mode_unavailable` for one that this game lacks, and
    /// `invalid` with a path for arguments out of their schema.
    pub fn parse(surface: &Surface, method: &str, args: &Value) -> Result<Self, CallError> {
        let manifest = &surface.manifest;
        match method {
            "briefing" => briefing(args),
            "observe" => observe(manifest, args).map(Self::Observe),
            "act" => act(manifest, args).map(Self::Act),
            "sequence" => sequence(manifest, args).map(Self::Sequence),
            "wait" => wait(manifest, args).map(Self::Wait),
            "ready" => none(args).map(|()| Self::Ready),
            "skill" => skill(args),
            "policyDeploy" => deploy(surface, args).map(Self::PolicyDeploy),
            "policyStatus" => policy_limits(manifest).and_then(|_| none(args)).map(|()| Self::PolicyStatus),
            "policyRollback" => {
                policy_limits(manifest).and_then(|_| rollback(args)).map(Self::PolicyRollback)
            }
            "practice" => practice::read(surface, args).map(|practice| Self::Practice(Box::new(practice))),
            "publish" => {
                manifest.control.pool.ok_or(Code::ModeUnavailable)?;
                none(args).map(|()| Self::Publish)
            }
            "say" => say(manifest, args).map(Self::Say),
            _ => Err(Code::BadMessage.into()),
        }
    }
}

pub(crate) fn policy_limits(manifest: &Checked) -> Result<&PolicyLimits, CallError> {
    manifest.control.policy.as_ref().ok_or_else(|| Code::ModeUnavailable.into())
}

fn none(args: &Value) -> Result<(), CallError> {
    Ok(t::obj([]).validate(args)?)
}

fn briefing(args: &Value) -> Result<Call, CallError> {
    let schema = t::obj([("topic", t::opt(t::str(128))), ("page", t::opt(t::int(1, 10_000)))]);
    let args = schema.admit(args.clone())?;
    let topic = args.get("topic").and_then(Value::as_str);
    let page = args.get("page").and_then(Value::as_u64).and_then(|page| u32::try_from(page).ok());
    match (topic, page) {
        (None, Some(_)) | (Some(""), _) => Err(Code::Invalid.into()),
        (None, None) => Ok(Call::Briefing { topic: None }),
        (Some(topic), page) => Ok(Call::Briefing { topic: Some((topic.to_owned(), page.unwrap_or(1))) }),
    }
}

fn observe(manifest: &Checked, args: &Value) -> Result<Observe, CallError> {
    let mut fields = vec![("since", t::opt(t::int(0, 2_147_483_647))), ("page", t::opt(t::int(1, 10_000)))];
    let keys = manifest.observation_keys();
    if !keys.is_empty() {
        fields
            .push(("fields", t::opt(t::list(t::literals(keys.iter().map(|key| &**key)), keys.len() as u64))));
    }
    fields.extend(detail_field(manifest, args));
    let args = t::obj(fields).admit(args.clone())?;
    Ok(Observe {
        since: args.get("since").and_then(Value::as_i64),
        detail: read_detail(&args),
        fields: args.get("fields").map(distinct).transpose()?,
        page: args.get("page").and_then(Value::as_u64).and_then(|page| u32::try_from(page).ok()),
    })
}

/// The member `detail` of these arguments, where the game has sections: `"all"` or a list of them. Repeats are
/// refused where the detail is resolved, by [`Checked::detail`].
pub(crate) fn detail_field(manifest: &Checked, args: &Value) -> Option<(&'static str, Schema)> {
    let sections = &manifest.observation_scope.as_ref()?.sections;
    let all = args.get("detail").is_some_and(|detail| detail == "all");
    let names = || t::literals(sections.iter().map(|section| &**section));
    let detail = if all { t::literals(["all"]) } else { t::list(names(), sections.len() as u64) };
    Some(("detail", t::opt(detail)))
}

/// The detail of validated arguments.
pub(crate) fn read_detail(args: &Value) -> Detail {
    match args.get("detail") {
        Some(Value::String(_)) => Detail::All,
        Some(Value::Array(names)) => {
            Detail::Sections(names.iter().filter_map(Value::as_str).map(Name::from).collect())
        }
        _ => Detail::default(),
    }
}

/// A validated list of names without repeats.
fn distinct(value: &Value) -> Result<Vec<Name>, CallError> {
    let mut names: Vec<Name> = Vec::new();
    for name in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if names.iter().any(|seen| &**seen == name) {
            return Err(Code::Invalid.into());
        }
        names.push(name.into());
    }
    Ok(names)
}

fn act(manifest: &Checked, args: &Value) -> Result<Vec<Value>, CallError> {
    let object = args.as_object().filter(|object| object.len() == 1).ok_or(Code::Invalid)?;
    intents(manifest, object.get("intents"))
}

/// 1 to as many intents as a call may carry, unchecked.
fn intents(manifest: &Checked, value: Option<&Value>) -> Result<Vec<Value>, CallError> {
    let most = INTENTS_MAX.min(manifest.control.intents.burst as usize);
    let intents = value.and_then(Value::as_array).ok_or(Code::Invalid)?;
    if intents.is_empty() || intents.len() > most {
        return Err(Code::Invalid.into());
    }
    Ok(intents.clone())
}

fn sequence(manifest: &Checked, args: &Value) -> Result<Plan, CallError> {
    let limits = manifest.control.sequence.ok_or(Code::ModeUnavailable)?;
    let object = args.as_object().ok_or(Code::Invalid)?;
    if object.keys().any(|member| !["steps", "cancelOn"].contains(&member.as_str())) {
        return Err(Code::Invalid.into());
    }
    let steps = object.get("steps").and_then(Value::as_array).ok_or(Code::Invalid)?;
    if steps.len() > limits.max_steps as usize {
        return Err(Code::Invalid.into());
    }
    let steps = steps.iter().map(|value| step(manifest, limits, value)).collect::<Result<_, _>>()?;
    let cancel_on = match object.get("cancelOn") {
        None => Vec::new(),
        Some(kinds) => {
            kinds_schema(manifest).validate(kinds)?;
            distinct(kinds)?
        }
    };
    Ok(Plan { steps, cancel_on })
}

fn step(manifest: &Checked, limits: SequenceLimits, value: &Value) -> Result<PlanStep, CallError> {
    let object = value.as_object().filter(|object| object.len() == 2).ok_or(Code::Invalid)?;
    let after = object.get("in").cloned().ok_or(Code::Invalid)?;
    let after = t::int(0, i64::from(limits.max_ticks_ahead)).admit(after)?;
    let after = after.as_u64().and_then(|after| u32::try_from(after).ok()).ok_or(Code::Invalid)?;
    Ok(PlanStep { after, intents: intents(manifest, object.get("intents"))? })
}

/// Declared event kinds; repeats are refused where they are read.
fn kinds_schema(manifest: &Checked) -> Schema {
    t::list(t::literals(manifest.event_kinds().iter().map(|kind| &**kind)), KINDS_MAX as u64)
}

fn wait(manifest: &Checked, args: &Value) -> Result<Wait, CallError> {
    let until = t::opt(kinds_schema(manifest));
    t::obj([("seconds", t::num(0.0, 60.0)), ("until", until)]).validate(args)?;
    let seconds = args["seconds"].as_f64().unwrap_or(0.0);
    // The schema has bounded the seconds to 0..=60, so the product fits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..=60000 by the schema")]
    let millis = (seconds * 1000.0).ceil() as u64;
    Ok(Wait { millis, until: args.get("until").map(distinct).transpose()?.unwrap_or_default() })
}

fn skill(args: &Value) -> Result<Call, CallError> {
    let offset = t::opt(t::int(0, 2_147_483_647));
    let schema = t::obj([("name", t::str(64)), ("path", t::str(200)), ("offset", offset)]);
    let args = schema.admit(args.clone())?;
    let text = |member: &str| args[member].as_str().unwrap_or_default().to_owned();
    let offset = args.get("offset").and_then(Value::as_u64).and_then(|offset| usize::try_from(offset).ok());
    Ok(Call::Skill { name: text("name"), path: text("path"), offset: offset.unwrap_or(0) })
}

/// Reads an artifact (§4). Whether it is within the game's own limit is the sandbox's to say, in a policy error that the
/// author understands.
pub(crate) fn deploy(surface: &Surface, args: &Value) -> Result<Artifact, CallError> {
    policy_limits(&surface.manifest)?;
    let object = args.as_object().ok_or(Code::Invalid)?;
    if object.keys().any(|member| !["runtime", "code", "include"].contains(&member.as_str())) {
        return Err(Code::Invalid.into());
    }
    let code = object.get("code").and_then(Value::as_str).ok_or(Code::Invalid)?;
    if code.len() > CODE_MAX {
        return Err(Code::Invalid.into());
    }
    match (object.get("runtime").and_then(Value::as_str), object.get("include")) {
        (Some("js"), include) => {
            let source = composed(surface, include, code)?;
            Ok(Artifact { runtime: Runtime::Js, code: source.into_bytes().into() })
        }
        (Some("wasm"), None) => {
            let bytes = BASE64.decode(code).map_err(|_| Code::Invalid)?;
            Ok(Artifact { runtime: Runtime::Wasm, code: bytes.into() })
        }
        _ => Err(Code::Invalid.into()),
    }
}

/// The included skill files in order, then the code, joined by newlines (§11 `include`): at most 16 distinct `.js` files.
fn composed(surface: &Surface, include: Option<&Value>, code: &str) -> Result<String, CallError> {
    let Some(include) = include else { return Ok(code.to_owned()) };
    let entries = include.as_array().filter(|entries| entries.len() <= INCLUDES_MAX).ok_or(Code::Invalid)?;
    let mut parts: Vec<&str> = Vec::with_capacity(entries.len() + 1);
    for (index, entry) in entries.iter().enumerate() {
        let repeated = entries.get(..index).is_some_and(|before| before.contains(entry));
        let file = entry.as_str().filter(|path| path.ends_with(".js") && !repeated);
        parts.push(file.and_then(|path| skill_file(surface, path)).ok_or(Code::Invalid)?);
    }
    parts.push(code);
    Ok(parts.join("\n"))
}

/// The text of `<skill>/<path>` among the served skills.
fn skill_file<'a>(surface: &'a Surface, path: &str) -> Option<&'a str> {
    let (name, file) = path.split_once('/')?;
    let skill = surface.knowledge.skills().iter().find(|skill| *skill.name == *name)?;
    skill.files.get(file).map(|text| &**text)
}

fn rollback(args: &Value) -> Result<u32, CallError> {
    let args = t::obj([("version", t::int(1, 2_147_483_647))]).admit(args.clone())?;
    let version = args["version"].as_u64().and_then(|version| u32::try_from(version).ok());
    version.ok_or_else(|| Code::Invalid.into())
}

/// The text alone: nothing that an agent says is disclosed to anybody but its owner (§12).
fn say(manifest: &Checked, args: &Value) -> Result<String, CallError> {
    if manifest.control.chat.is_none() {
        return Err(Code::ModeUnavailable.into());
    }
    let object = args.as_object().filter(|object| object.len() == 1).ok_or(Code::Invalid)?;
    let text = object.get("text").and_then(Value::as_str).ok_or(Code::Invalid)?;
    Ok(text.to_owned())
}
