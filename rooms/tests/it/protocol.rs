//! PROTOCOL.md tells client authors what `CloseReason` says.

use playerthree_rooms::{CloseReason, Retry};

#[test]
fn the_table_of_close_codes_is_the_enum() {
    let protocol = include_str!("../../../PROTOCOL.md");
    for reason in CloseReason::ALL {
        let retry = match reason.retry() {
            Retry::Never => "never",
            Retry::Rejoin => "rejoin",
            Retry::Reconnect => "reconnect",
        };
        let row = match reason {
            CloseReason::ByClient(_) | CloseReason::Application(_) => format!("| `{}` |", reason.label()),
            _ => format!("| {} | `{}` | {retry} |", reason.code(), reason.label()),
        };
        assert!(protocol.contains(&row), "PROTOCOL.md lacks {row}");
    }
}
