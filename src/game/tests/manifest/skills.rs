//! Developer skills and their frontmatter (§3).

use super::check;
use crate::common::{manifest, texts};
use playerthree_game::*;

/// §3: skills, their paths and the frontmatter of SKILL.md, read with YAML 1.2 typing.
#[test]
fn skills_are_checked() {
    fn skill(m: &mut Manifest) -> &mut Skill {
        &mut m.skills[0]
    }
    fn with_front(m: &mut Manifest, text: &str) {
        skill(m).files = texts([("SKILL.md", text)]);
    }
    const FRONT: &str = "skills.outpost-strategy.files.SKILL.md";
    check(|m| m.skills.push(m.skills[0].clone()), &[("skills", "repeated")]);
    check(
        |m| skill(m).name = "CANARY".into(),
        &[("skills[0]", "grammar"), ("skills[0].files.SKILL.md", "not the skill's name")],
    );
    for (name, path) in
        [("playerthree-x", "skills.playerthree-x"), ("outpost-reference", "skills.outpost-reference")]
    {
        let mut broken = manifest();
        broken.skills[0].name = name.into();
        let found = broken.faults();
        assert!(found[0].path == path && found[0].what.contains("reserved"), "{found:?}");
    }
    check(|m| skill(m).description = "".into(), &[("skills.outpost-strategy.description", "1 to 1024")]);
    check(
        |m| skill(m).description = "d".repeat(1025).into(),
        &[("skills.outpost-strategy.description", "1 to 1024")],
    );
    for path in ["/a.md", "a//b", "../x", "a/.b", "a.", "a b", "CANARY\\x", "", &"p".repeat(201)] {
        let mut broken = manifest();
        broken.skills[0].files.insert(path.into(), "x".into());
        let found = broken.faults();
        assert!(found.len() == 1 && found[0].path == "skills.outpost-strategy.files", "{path} {found:?}");
    }
    check(
        |m| drop(skill(m).files.insert("a.md".into(), "x".repeat(1_048_577).into())),
        &[("skills.outpost-strategy.files", "larger than 1048576")],
    );
    check(
        |m| drop(skill(m).files.remove("SKILL.md")),
        &[("skills.outpost-strategy.files", "SKILL.md is missing")],
    );
    check(|m| with_front(m, "# CANARY"), &[(FRONT, "not YAML")]);
    check(|m| with_front(m, "---\nname: outpost-strategy\n---\nx"), &[(FRONT, "not YAML")]);
    check(|m| with_front(m, "---\nname: [CANARY\n---\nx"), &[(FRONT, "not YAML")]);
    check(|m| with_front(m, "---\nname: CANARY\ndescription: d\n---\n"), &[(FRONT, "not the skill's name")]);
    check(
        |m| with_front(m, "---\nname: outpost-strategy\ndescription: \"\"\n---\n"),
        &[(FRONT, "description is empty")],
    );
    check(
        |m| {
            with_front(
                m,
                &format!("---\nname: outpost-strategy\ndescription: d\nx: {}\n---\n", "y".repeat(16_384)),
            );
        },
        &[(FRONT, "not YAML")],
    );
    for good in [
        "---\nname: outpost-strategy\ndescription: on\n---\nx",
        "---\r\nname: outpost-strategy\r\ndescription: d\r\n---\r\nx",
        "---\nname: \"outpost-strategy\"\ndescription: >\n  a folded\n  text\nlicense: MIT\n---",
    ] {
        let mut manifest = manifest();
        with_front(&mut manifest, good);
        assert_eq!(manifest.faults(), vec![], "{good}");
    }
}

/// §4 "Skills": a skill is no larger than every host of skills has to take.
#[test]
fn a_skill_is_no_larger_than_hosts_have_to_take() {
    let faults = |count: usize, bytes: usize| {
        let mut broken = manifest();
        let text: std::sync::Arc<str> = "x".repeat(bytes).into();
        let files = &mut broken.skills[0].files;
        while files.len() < count {
            files.insert(format!("f{}.md", files.len()).into(), text.clone());
        }
        broken.faults().into_iter().map(|fault| fault.what).collect::<Vec<_>>()
    };
    let too_large = ["the skill has more than 512 files or 16777216 bytes"];
    assert_eq!(faults(513, 1), too_large);
    assert_eq!(faults(18, 1_048_576), too_large);
    assert!(faults(512, 1).is_empty());
}
