//! PROTOCOL.md and the README tell what the code says.

use playerthree_rooms::{CloseReason, Config, Retry};

fn policy(reason: CloseReason) -> &'static str {
    match reason.retry() {
        Retry::Never => "never",
        Retry::Rejoin => "rejoin",
        Retry::Reconnect => "reconnect",
    }
}

/// How the table names the code and the policy of a reason.
fn row(reason: CloseReason) -> String {
    let label = reason.label();
    match reason {
        CloseReason::ByClient(_) => {
            format!("| the client's own | `{label}` | reconnect, but for 1000 and 4000 |")
        }
        CloseReason::Application(_) => format!("| the room's own, 3000 to 4999 | `{label}` | never |"),
        _ => format!("| {} | `{label}` | {} |", reason.code(), policy(reason)),
    }
}

#[test]
fn the_table_of_close_codes_is_the_enum() {
    let protocol = include_str!("../../../PROTOCOL.md");
    for reason in CloseReason::ALL {
        let row = row(reason);
        assert!(protocol.contains(&row), "PROTOCOL.md lacks {row}");
    }
    // What the two rows without a code of their own say of all codes.
    for code in 1000..=4999 {
        let by_client = if [1000, 4000].contains(&code) { "never" } else { "reconnect" };
        assert_eq!(policy(CloseReason::ByClient(code)), by_client, "{code}");
        assert_eq!(policy(CloseReason::Application(code)), "never", "{code}");
    }
}

/// The names of a struct's fields and what they hold, as `Debug` writes them.
fn fields(of: &impl std::fmt::Debug) -> Vec<(String, String)> {
    let text = format!("{of:#?}");
    let lines = text.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
    let fields = lines.filter(|(name, _)| !name.starts_with(' '));
    fields
        .map(|(name, value)| (name.to_owned(), value.trim_end_matches([',', ' ', '{']).to_owned()))
        .collect()
}

#[test]
fn the_readme_names_every_limit_and_its_default() {
    let readme = include_str!("../../README.md");
    let config = Config::default();
    let groups = ["decode", "serve"];
    let own = fields(&config).into_iter().filter(|(name, _)| !groups.contains(&&**name));
    let within = |group: &str, fields: Vec<(String, String)>| {
        fields.into_iter().map(|(name, value)| (format!("{group}.{name}"), value)).collect::<Vec<_>>()
    };
    let all =
        own.chain(within("decode", fields(&config.decode))).chain(within("serve", fields(&config.serve)));
    for (name, value) in all {
        let row = format!("| `{name}` | {value} |");
        assert!(readme.contains(&row), "README.md lacks {row}");
    }
}
