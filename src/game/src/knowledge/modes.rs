//! The topic `modes`: input modes and limits, opponents, paging, the policy ABI and one line for machines (§4).

use crate::wire::control_to_ordered;
use crate::{Checked, Control, PolicyLimits};
use playerthree_schema::canonical;
use serde_json::{Map, Value, json};
use std::fmt::Write;

pub(super) fn text(manifest: &Checked) -> String {
    let mut text = String::from("Input modes of this game. A mode that is not listed is off.\n");
    modes(&manifest.control, &mut text);
    let opponents: Vec<&str> = manifest.opponents.iter().map(|tier| &**tier).collect();
    let _ = write!(text, "\nBuilt-in opponents, weakest first: {}\n\n{PAGING}", opponents.join(", "));
    if let Some(policy) = &manifest.control.policy {
        let _ = write!(text, "\n{ABI}{}", abi_limits(policy));
        if manifest.observation_scope.is_some() {
            text.push_str(DETAIL);
        }
    }
    let _ = writeln!(text, "\nSurface JSON: {}", canonical(&surface(manifest)));
    text
}

fn modes(control: &Control, text: &mut String) {
    let intents = &control.intents;
    let _ = writeln!(
        text,
        "- intents: game_act, {} a second sustained, burst {}, at most {} a call",
        intents.per_second,
        intents.burst,
        intents.burst.min(64)
    );
    if let Some(sequence) = &control.sequence {
        let _ = writeln!(
            text,
            "- sequence: game_sequence, at most {} steps, up to {} ticks ahead, at least {} ticks apart",
            sequence.max_steps, sequence.max_ticks_ahead, sequence.min_spacing_ticks
        );
    }
    if let Some(policy) = &control.policy {
        let runtimes: Vec<&str> = policy.runtimes.iter().map(|runtime| runtime.as_str()).collect();
        let _ = writeln!(
            text,
            "- policy: policy_deploy, runtimes {}, {} thinks a second",
            runtimes.join(" and "),
            policy.hz
        );
    }
    if let Some(stream) = &control.stream {
        let _ = writeln!(
            text,
            "- stream: pushed observations over the game's own transport, at most {} a second, {} intents a tick",
            stream.max_hz, stream.intents_per_tick
        );
    }
    if let Some(practice) = &control.practice {
        let _ = writeln!(
            text,
            "- practice: practice_run, at most {} ticks, {} at once",
            practice.max_ticks, practice.concurrent
        );
    }
    if let Some(pool) = &control.pool {
        let _ =
            writeln!(text, "- pool: pool_publish, at most {} published", pool.max_published_per_principal);
    }
    if let Some(chat) = &control.chat {
        let _ = writeln!(text, "- chat: game_say to your owner, at most {} units", chat.max_say_chars);
    }
    if let Some(pausable) = &control.pausable {
        let longest =
            pausable.max_pause_seconds.map_or("without end".into(), |seconds| format!("at most {seconds} s"));
        let _ = writeln!(text, "- pausable: whenAbsent may be pause, {longest}");
    }
    if control.signals.is_some() {
        text.push_str("- signals: typed requests between teammates, see topic signals\n");
    }
}

const PAGING: &str = "\
Long results come in pages. A topic: game_briefing {\"topic\":…,\"page\":n}. An observation: game_observe {\"page\":n}, n from 2, \
reads on in the same snapshot; fields picks top-level members. A skill file: game_skill with offset.
";

const ABI: &str = "\
Policy ABI, js: a classic script with a global function think(obs) that returns a list of intents at once. Optional \
global init(matchData), called once before the first think (null without match data); log(...) writes to your own log. \
No imports, files, network or timers. Math.random() is seeded, Date.now() is 0. State lives until the match ends. \
include, js only, names at most 16 served .js skill files as <skill>/<path>; they come before your code.
Policy ABI, wasm: code is base64 of a core module that exports a bounded memory, alloc(i32)->i32 and \
think(i32 ptr,i32 len)->i64; optional init(i32 ptr,i32 len). The host writes the observation as UTF-8 JSON into \
alloc(len); think returns (outPtr << 32) | outLen of a UTF-8 JSON list of intents. The only import allowed is \
env.log(i32 ptr,i32 len).
Errors: runtime_not_allowed, too_large, compile, missing_export, bad_module, imports_not_allowed, memory_limit, timeout, \
threw, bad_output.
";

const DETAIL: &str = "\
A policy declares the sections it reads in full: js as a global detail, wasm as a custom section playerthree.detail with \
JSON; \"all\" or a list of names beside your role's defaults.
";

fn abi_limits(policy: &PolicyLimits) -> String {
    format!(
        "Limits: {} ms CPU a think and ten times that to load, {} bytes of memory, artifact at most {} bytes, {} intents a \
         think, {} log lines of {} bytes a call.\n",
        policy.ms_per_call,
        policy.memory_bytes,
        policy.max_artifact_bytes,
        policy.max_intents_per_call,
        policy.max_log_lines,
        policy.max_log_line_bytes
    )
}

/// `{control,opponents,errors,eventKinds,intentRoles}` (§4).
fn surface(manifest: &Checked) -> Value {
    let roles: Map<String, Value> =
        manifest.intents.iter().map(|intent| (intent.name.to_string(), json!(intent.roles))).collect();
    json!({
        "control": Value::from(control_to_ordered(&manifest.control)),
        "opponents": manifest.opponents,
        "errors": manifest.errors,
        "eventKinds": manifest.event_kinds(),
        "intentRoles": roles,
    })
}
