//! The closed grammars of developer-written names (§3), and the units that documents are counted in.

/// The largest safe integer, 2^53 - 1 (§3): what every JSON reader can hold exactly.
pub const MAX_SAFE: i64 = 9_007_199_254_740_991;

/// Whether a name matches `^[A-Za-z_][A-Za-z0-9_]{0,47}$`: fields and union tags (§3).
pub fn is_field_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= 48
        && bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a name matches `^[A-Za-z][A-Za-z0-9_.<>]{0,47}$`: intent kinds, enum values and union variants (§3).
pub fn is_literal(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= 48
        && bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'<' | b'>'))
}

/// Whether an id prefix matches `^[a-z]{1,8}$` (§3).
pub fn is_id_prefix(prefix: &str) -> bool {
    (1..=8).contains(&prefix.len()) && prefix.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Length in UTF-16 code units, which the contract counts documents in.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §3: the grammars of names, at and past each edge.
    #[test]
    fn names_follow_their_grammars() {
        let longest = "a".repeat(48);
        let too_long = "a".repeat(49);
        for good in ["a", "Z", "_", "__identifier", "a1_B", &longest] {
            assert!(is_field_name(good), "{good}");
        }
        for bad in ["", "1a", "a-b", "a.b", "é", "a b", &too_long] {
            assert!(!is_field_name(bad), "{bad}");
        }
        for good in ["Surface", "C2", "Array<Int>", "a.b_c", &longest] {
            assert!(is_literal(good), "{good}");
        }
        for bad in ["", "2C", "_a", "a-b", "é", "a b", &too_long] {
            assert!(!is_literal(bad), "{bad}");
        }
        assert!(is_id_prefix("e") && is_id_prefix("abcdefgh"));
        for bad in ["", "E", "a1", "abcdefghi"] {
            assert!(!is_id_prefix(bad), "{bad}");
        }
    }

    /// §3: documents are counted in UTF-16 code units, so a surrogate pair counts twice.
    #[test]
    fn documents_are_counted_in_utf16_units() {
        assert_eq!(utf16_len("aé😀"), 4);
    }
}
