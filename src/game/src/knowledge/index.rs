//! The index of topics: the game's own in its order, then one line for each generated family (§4).

use crate::Checked;

/// Index lines `name — summary`.
pub(super) fn lines(manifest: &Checked) -> Vec<String> {
    let own = manifest.topics.iter().map(crate::Topic::index_line);
    own.chain(families(manifest)).collect()
}

/// One line for each generated family that this game has.
pub(super) fn families(manifest: &Checked) -> Vec<String> {
    let has_data = manifest.match_data.is_some();
    let lines = [
        (true, "role/<role>", "the role's document and what it may send"),
        (true, "intents", "every intent with its roles, and all ack and error codes"),
        (true, "intent/<kind>", "one intent: rules, fields and shape"),
        (true, "observation", "the members of what you observe"),
        (true, "observation/<field>", "one member with its nested fields"),
        (has_data, "match-data", "in a match: its fixed data for your seat; before: the fields"),
        (has_data, "match-data/fields", "the fields of match data"),
        (true, "events", "event kinds and fields"),
        (true, "report", "the after-action report"),
        (true, "mandate", "how your owner instructs you: autonomy, directive, limits"),
        (true, "modes", "input modes and their limits, opponents, paging, policy ABI"),
        (manifest.signals.is_some(), "signals", "typed requests between teammates"),
        (
            true,
            "schema/<name>",
            "exact JSON Schema of observation, event, report, directive, intent/<kind> …",
        ),
    ];
    lines.into_iter().filter(|(on, ..)| *on).map(|(_, name, summary)| format!("{name} — {summary}")).collect()
}
