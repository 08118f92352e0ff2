//! The topic `signals`: kinds, role cards and life of a signal (§22).

use super::describe;
use crate::{Checked, SIGNAL_STATES, SignalSkill, Signals};
use std::fmt::Write;

const LIFE: &str = "\
A signal is a typed request to a teammate. Send it with the intent signal, answer or cancel with signal_update. Address \
a role, or team for everybody whose card answers it.
Its life: submitted; working once a recipient sends ack (and becomes by); then completed (done), rejected (decline; a \
broadcast only once everybody declined), failed (fail), canceled (the sender's cancel) or expired. Only recipients \
answer, only the sender cancels, and a closed signal takes no update.
Your observation has signals.inbox (to you, oldest first) and signals.sent. game_wait ends with wake \"signal\" when they \
change. Answer what reaches you, even with decline: an unanswered request makes a teammate wait.
A refused signal has the code signal and a signalCode: disabled, unsupported, unknown_signal, not_recipient, closed, \
too_many_open.
";

pub(super) fn text(manifest: &Checked, signals: &Signals) -> String {
    let mut text = LIFE.to_owned();
    let _ = writeln!(text, "States: {}.", SIGNAL_STATES.join(", "));
    if let Some(limits) = &manifest.control.signals {
        let _ = writeln!(
            text,
            "Limits of a sender: {} a second of game time, burst {}, {} open; a signal expires after {} ticks and stays \
             visible for {} ticks once closed. A match may be stricter.",
            limits.per_second, limits.burst, limits.max_open, limits.ttl_ticks, limits.keep_ticks
        );
    }
    text.push_str("\nKinds:\n");
    for kind in &signals.kinds {
        let roles: Vec<&str> = kind.roles.iter().map(|role| &**role).collect();
        let _ = write!(
            text,
            "\n## {} (from {})\n{}\n{}",
            kind.name,
            roles.join(", "),
            kind.doc,
            describe::fields(&kind.params)
        );
    }
    text.push_str("\nCards, what each role answers:\n");
    for (role, card) in &signals.cards {
        let skills: Vec<String> = card.iter().map(skill).collect();
        let _ = writeln!(
            text,
            "- {role}: {}",
            if skills.is_empty() { "nothing".into() } else { skills.join("; ") }
        );
    }
    text
}

fn skill(skill: &SignalSkill) -> String {
    let conditions: Vec<String> = skill
        .only
        .iter()
        .map(|(param, values)| {
            let values: Vec<&str> = values.iter().map(|value| &**value).collect();
            format!("{param} {}", values.join(" or "))
        })
        .collect();
    if conditions.is_empty() {
        skill.kind.to_string()
    } else {
        format!("{} with {}", skill.kind, conditions.join(", "))
    }
}
