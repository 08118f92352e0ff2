//! The host's own skills (§3): how to command a seat, which input to use, what an owner may ask, how to write a policy.
//!
//! Their texts stand beside this file. A block between `{{#mode}}` and `{{/mode}}` lines is kept only when the game has
//! the mode (`{{^mode}}`: only when it has not), and `{{name}}` becomes a value of the manifest.

use crate::{Checked, Skill};

/// One default skill.
struct Default {
    name: &'static str,
    description: &'static str,
    text: &'static str,
}

const COMMANDER: Default = Default {
    name: "playerthree-commander",
    description: "Read first: how to take a seat in this game, what to read in which order, and the loop that plays it.",
    text: include_str!("skills/commander.md"),
};
const INPUTS: Default = Default {
    name: "playerthree-inputs",
    description: "Read before acting: the ways to act, what their acks mean, and how to stay within the rate limits.",
    text: include_str!("skills/inputs.md"),
};
const OWNER: Default = Default {
    name: "playerthree-owner",
    description: "Read when your owner's mandate, scopes, approvals or messages matter: what they mean and how to answer.",
    text: include_str!("skills/owner.md"),
};
const POLICY_AUTHOR: Default = Default {
    name: "playerthree-policy-author",
    description: "Read before deploying code: the exact JavaScript and WebAssembly interface, limits, probes and errors.",
    text: include_str!("skills/policy-author.md"),
};

/// The default skills of a game, each one `SKILL.md`.
pub(super) fn skills(manifest: &Checked) -> Vec<Skill> {
    let author = manifest.control.policy.as_ref().map(|_| POLICY_AUTHOR);
    [COMMANDER, INPUTS, OWNER].into_iter().chain(author).map(|skill| render(manifest, &skill)).collect()
}

fn render(manifest: &Checked, skill: &Default) -> Skill {
    let body = fill(&gate(skill.text, |mode| has_mode(manifest, mode)), &values(manifest));
    let text = format!("---\nname: {}\ndescription: \"{}\"\n---\n{body}", skill.name, skill.description);
    Skill {
        name: skill.name.into(),
        description: skill.description.into(),
        files: [("SKILL.md".into(), text.into())].into(),
    }
}

fn has_mode(manifest: &Checked, mode: &str) -> bool {
    let control = &manifest.control;
    match mode {
        "sequence" => control.sequence.is_some(),
        "policy" => control.policy.is_some(),
        "practice" => control.practice.is_some(),
        "pool" => control.pool.is_some(),
        "chat" => control.chat.is_some(),
        "pausable" => control.pausable.is_some(),
        "signals" => control.signals.is_some(),
        "scope" => manifest.observation_scope.is_some(),
        "limits" => manifest.limits.is_some(),
        "matchData" => manifest.match_data.is_some(),
        _ => false,
    }
}

/// Keeps the blocks of the modes that the game has. Blocks do not nest.
fn gate(text: &str, has: impl Fn(&str) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut open = true;
    for line in text.split_inclusive('\n') {
        let mark = line.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        match mark.and_then(|mark| mark.split_at_checked(1)) {
            Some(("#", mode)) => open = has(mode),
            Some(("^", mode)) => open = !has(mode),
            Some(("/", _)) => open = true,
            _ if open => kept.push_str(line),
            _ => {}
        }
    }
    kept
}

fn values(manifest: &Checked) -> Vec<(&'static str, String)> {
    let intents = &manifest.control.intents;
    let mut values = vec![
        ("game", manifest.id.to_string()),
        ("tickRate", manifest.tick_rate.to_string()),
        ("perSecond", intents.per_second.to_string()),
        ("burst", intents.burst.to_string()),
        ("perCall", intents.burst.min(64).to_string()),
        ("scopes", scopes(manifest)),
    ];
    if let Some(sequence) = &manifest.control.sequence {
        values.extend([
            ("maxSteps", sequence.max_steps.to_string()),
            ("maxTicksAhead", sequence.max_ticks_ahead.to_string()),
            ("minSpacingTicks", sequence.min_spacing_ticks.to_string()),
        ]);
    }
    if let Some(policy) = &manifest.control.policy {
        let runtimes: Vec<&str> = policy.runtimes.iter().map(|runtime| runtime.as_str()).collect();
        values.extend([
            ("runtimes", runtimes.join(" and ")),
            ("hz", policy.hz.to_string()),
            ("msPerCall", policy.ms_per_call.to_string()),
            ("loadMs", (u64::from(policy.ms_per_call) * 10).to_string()),
            ("memoryBytes", policy.memory_bytes.to_string()),
            ("maxArtifactBytes", policy.max_artifact_bytes.to_string()),
            ("maxIntentsPerCall", policy.max_intents_per_call.to_string()),
            ("maxLogLines", policy.max_log_lines.to_string()),
            ("maxLogLineBytes", policy.max_log_line_bytes.to_string()),
        ]);
    }
    if let Some(practice) = &manifest.control.practice {
        values.push(("practiceTicks", practice.max_ticks.to_string()));
    }
    if let Some(pool) = &manifest.control.pool {
        values.push(("published", pool.max_published_per_principal.to_string()));
    }
    if let Some(chat) = &manifest.control.chat {
        values.push(("sayChars", chat.max_say_chars.to_string()));
    }
    values
}

/// The scopes that the game has a mode for (§6).
fn scopes(manifest: &Checked) -> String {
    let scopes = [
        ("act", "act"),
        ("policy", "policy"),
        ("practice", "practice"),
        ("publish", "pool"),
        ("say", "chat"),
    ];
    let offered = scopes.iter().filter(|(scope, mode)| *scope == "act" || has_mode(manifest, mode));
    offered.map(|(scope, _)| format!("`{scope}`")).collect::<Vec<_>>().join(", ")
}

fn fill(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
}
