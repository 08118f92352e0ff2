//! Every test that `tests/CHECKLIST.md` names exists, and every row names one.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The cells of every row: section, rule, tests.
fn rows(text: &str) -> Vec<[String; 3]> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    let lines = text.lines().filter(|line| line.starts_with('|'));
    let rows: Vec<Vec<String>> = lines.map(cells).collect();
    assert_eq!(rows[0], ["§", "rule", "test"]);
    // Each table opens with its head and a line of dashes.
    let is_head = |row: &[String]| row[0] == "§" || row[0].starts_with("---");
    rows.into_iter().filter(|row| !is_head(row)).map(|row| row.try_into().expect("three cells")).collect()
}

/// `file::name`, each in backticks.
fn named(cell: &str) -> Vec<(&str, &str)> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.map(|test| test.split_once("::").unwrap_or_else(|| panic!("no file::name: {test}"))).collect()
}

fn exists(file: &str, name: &str) -> bool {
    let text = fs::read_to_string(root().join(file)).unwrap_or_default();
    let declaration = if file.ends_with(".rs") { format!("fn {name}(") } else { format!("test(\"{name}\"") };
    text.contains(&declaration)
}

#[test]
fn every_test_of_the_checklist_exists() {
    let rows = rows(&fs::read_to_string(root().join("tests/CHECKLIST.md")).unwrap());
    for [section, rule, tests] in &rows {
        let named = named(tests);
        assert!(!named.is_empty(), "§{section} {rule}: no test");
        for (file, name) in named {
            assert!(exists(file, name), "§{section} {rule}: there is no {file}::{name}");
        }
    }
    let sections: BTreeSet<&str> =
        rows.iter().map(|[section, ..]| section.split('.').next().unwrap()).collect();
    for section in ["1", "4", "5", "6", "7", "8", "9", "10", "12", "15", "18", "20", "22"] {
        assert!(sections.contains(section), "§{section} has no row");
    }
}
