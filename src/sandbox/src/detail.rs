//! The observation detail that a policy declares it reads (§11, §3 "Observation scope").
//!
//! It must never judge whether a section exists: only the game's manifest knows, and the host compares.

use std::collections::HashSet;

use crate::error::{PolicyError, PolicyErrorCode};

/// Most UTF-8 bytes of a declaration.
pub const MAX_DETAIL_BYTES: usize = 16 * 1024;

/// Most names that fit into a declaration.
pub(crate) const MAX_SECTIONS: usize = MAX_DETAIL_BYTES / "\"\",".len();

/// What an artifact declares about the observations that it wants.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Detail {
    /// Nothing is declared: the role's defaults.
    Undeclared,
    /// The string `"all"`.
    All,
    /// These sections, without duplicates, in the order of the declaration.
    Sections(#[serde(deserialize_with = "crate::wire::first::<_, MAX_SECTIONS>")] Vec<String>),
}

impl Detail {
    /// Reads a declaration: the string `"all"` or a list of distinct strings.
    pub(crate) fn from_json(json: &[u8]) -> Result<Self, PolicyError> {
        Self::read(json).ok_or_else(|| {
            PolicyError::with_text(
                PolicyErrorCode::BadOutput,
                "detail must be \"all\" or a list of distinct section names",
            )
        })
    }

    fn read(json: &[u8]) -> Option<Self> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Declared {
            Word(String),
            Sections(Vec<String>),
        }
        if json.len() > MAX_DETAIL_BYTES {
            return None;
        }
        match serde_json::from_slice(json).ok()? {
            Declared::Word(word) => (word == "all").then_some(Self::All),
            Declared::Sections(names) => {
                let mut seen = HashSet::new();
                names.iter().all(|name| seen.insert(name)).then_some(())?;
                Some(Self::Sections(names))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Option<&Detail>) {
        assert_eq!(Detail::from_json(json.as_bytes()).ok().as_ref(), expected, "{json}");
    }

    // §11: "all" or a list of section names; malformed and duplicate ones fail.
    #[test]
    fn a_declaration_is_all_or_distinct_names() {
        check("\"all\"", Some(&Detail::All));
        check("[]", Some(&Detail::Sections(vec![])));
        check("[\"b\",\"a\"]", Some(&Detail::Sections(vec!["b".into(), "a".into()])));
        for bad in
            ["", "null", "\"some\"", "[\"a\",\"a\"]", "[1]", "{}", "[[\"a\"]]", "\"all\" 1", "\u{feff}[]"]
        {
            check(bad, None);
        }
        check(&format!("[\"{}\"]", "x".repeat(MAX_DETAIL_BYTES)), None);
        assert!(Detail::from_json(b"\"\xff\"").is_err());
    }
}
