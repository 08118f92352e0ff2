//! The YAML between the `---` lines at the start of a `SKILL.md` (§3). Skills clients compare it with what the host says
//! of the file, so it is read once and never written anew.

use crate::Skill;
use serde_json::{Map, Value};

/// Most UTF-8 bytes of a frontmatter, so that reading it is cheap.
const MAX_BYTES: usize = 16_384;

impl Skill {
    /// Everything that the frontmatter of `SKILL.md` says. Nothing where the file is missing, its frontmatter is longer
    /// than 16384 bytes, or is no YAML mapping with texts for keys.
    pub fn frontmatter(&self) -> Option<Map<String, Value>> {
        read(self.files.get("SKILL.md")?)
    }
}

/// The frontmatter of a file's text.
fn read(text: &str) -> Option<Map<String, Value>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let rest = text.strip_prefix("---\n")?;
    let end = rest.find("\n---\n").or_else(|| rest.ends_with("\n---").then(|| rest.len() - 4))?;
    let yaml = rest.get(..end).filter(|yaml| yaml.len() <= MAX_BYTES)?;
    yaml_serde::from_str(yaml).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // §3: YAML 1.2 typing, in which `on` is a text.
    #[test]
    fn every_member_is_read_with_the_types_of_yaml_1_2() {
        let text = "---\nname: a\ndescription: \"b: c\"\nwhen: on\nmetadata:\n  level: 3\n---\n# Body\n---\n";
        let read = read(text).unwrap();
        assert_eq!(
            Value::Object(read),
            json!({ "name": "a", "description": "b: c", "when": "on", "metadata": { "level": 3 } })
        );
    }

    #[test]
    fn what_is_no_bounded_mapping_is_nothing() {
        let long = format!("---\nname: {}\n---\n", "n".repeat(MAX_BYTES));
        for text in ["", "# Body\n", "---\nname: a\n", "---\n- a\n---\n", "---\na: [\n---\n", &long] {
            assert_eq!(read(text), None);
        }
    }
}
