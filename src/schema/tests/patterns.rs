//! The pattern subset beside a JavaScript engine (§3: ECMAScript `u` semantics, whole-value match).

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

use playerthree_schema::{Schema, t};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// Compiles each pattern with the `u` flag and says, for each of its texts, whether the whole text matches.
const JUDGE: &str = "
const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const verdicts = cases.map(([pattern, texts]) => {
  let regex;
  try { regex = new RegExp(pattern, 'u'); } catch { return null; }
  return texts.map((text) => { const found = regex.exec(text); return found !== null && found[0].length === text.length; });
});
process.stdout.write(JSON.stringify(verdicts));
";

fn node(cases: &[(String, Vec<String>)]) -> Vec<Value> {
    let mut child = Command::new("node")
        .args(["-e", JUDGE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the tests need node");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(json!(cases).to_string().as_bytes()).expect("node reads");
    drop(stdin);
    let output = child.wait_with_output().expect("node ends");
    serde_json::from_slice(&output.stdout).expect("node answers")
}

fn accepted(pattern: &str) -> bool {
    t::pattern(100, pattern).check().is_ok()
}

fn matches(schema: &Schema, text: &str) -> bool {
    schema.validate(&json!(text)).is_ok()
}

fn atom() -> impl Strategy<Value = String> {
    let literal = proptest::sample::select(vec![
        "a", "b", "1", " ", "-", "/", "\\.", "\\*", "\\\\", "\\/", "\\n", "\\t",
    ]);
    let shorthand = proptest::sample::select(vec![".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\r"]);
    let item = proptest::sample::select(vec![
        "a", "b-d", "0-9", "\\d", "\\W", "\\s", "\\-", "\\]", "^", "[", ".", "$", "*", "(", "-",
    ]);
    let class = (any::<bool>(), proptest::collection::vec(item, 1..4))
        .prop_map(|(negated, items)| format!("[{}{}]", if negated { "^" } else { "" }, items.concat()));
    prop_oneof![3 => literal.prop_map(str::to_owned), 2 => shorthand.prop_map(str::to_owned), 2 => class]
}

fn pattern() -> impl Strategy<Value = String> {
    let fixed = (atom(), proptest::sample::select(vec!["", "", "", "{2}", "{0}", "{1}"]))
        .prop_map(|(atom, repeat)| atom + repeat);
    let last = (atom(), proptest::sample::select(vec!["", "?", "*", "+", "{1,3}", "{2,}", "{0,0}"]))
        .prop_map(|(atom, repeat)| atom + repeat);
    (proptest::collection::vec(fixed, 0..4), proptest::option::of(last))
        .prop_map(|(fixed, last)| format!("^{}{}$", fixed.concat(), last.unwrap_or_default()))
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let letters = vec![
        'a', 'b', 'c', 'd', '1', '9', ' ', '-', '/', '.', '*', '\\', '\n', '\r', '\t', '_', '^', '[', ']',
        '$', 'é', '😀', '\u{2028}', '\u{a0}', '\u{feff}', '\u{85}', '\u{b}', 'ſ', 'K',
    ];
    let text = proptest::collection::vec(proptest::sample::select(letters), 0..5);
    proptest::collection::vec(text.prop_map(|text| text.into_iter().collect()), 12)
}

/// §3: 1500 random patterns on 18000 random texts: what we accept compiles there, and every verdict is the same.
#[test]
fn accepted_patterns_agree_with_a_javascript_engine() {
    let mut runner = TestRunner::deterministic();
    let mut cases: Vec<(String, Vec<String>)> = Vec::new();
    for _ in 0..1500 {
        let tree = (pattern(), texts()).new_tree(&mut runner).expect("a case");
        cases.push(tree.current());
    }
    let verdicts = node(&cases);
    let mut agreed = 0;
    let mut matched = 0;
    for ((pattern, texts), verdict) in cases.iter().zip(&verdicts) {
        let Some(verdict) = verdict.as_array() else {
            assert!(!accepted(pattern), "{pattern} does not compile");
            continue;
        };
        if !accepted(pattern) {
            continue;
        }
        let schema = t::pattern(100, pattern);
        for (text, expected) in texts.iter().zip(verdict) {
            assert_eq!(json!(matches(&schema, text)), *expected, "{pattern} on {text:?}");
            agreed += 1;
            matched += usize::from(*expected == json!(true));
        }
    }
    assert!(agreed > 9000 && matched > 300, "too few cases judged: {agreed}, matched {matched}");
}

/// §3: any ASCII text that we take for a pattern compiles in a JavaScript engine.
#[test]
fn whatever_is_accepted_compiles_in_a_javascript_engine() {
    let mut runner = TestRunner::deterministic();
    let noise = "\\^[-a-c^$.*+?(){}|/\\\\\\[\\]dwsSn0-3, ]{0,8}\\$";
    let noise = proptest::string::string_regex(noise).expect("a generator");
    let patterns: Vec<String> =
        (0..20_000).map(|_| noise.new_tree(&mut runner).expect("a case").current()).collect();
    let taken: Vec<(String, Vec<String>)> = patterns
        .into_iter()
        .filter(|pattern| accepted(pattern))
        .map(|pattern| (pattern, Vec::new()))
        .collect();
    assert!(taken.len() > 500, "too few patterns accepted: {}", taken.len());
    for ((pattern, _), verdict) in taken.iter().zip(node(&taken)) {
        assert!(!verdict.is_null(), "{pattern} does not compile");
    }
}

/// §3: what the subset leaves out is refused.
#[test]
fn syntax_outside_the_subset_is_refused() {
    let long = format!("^{}$", "a".repeat(255));
    for pattern in [
        "",
        "^",
        "$",
        "a$",
        "^a",
        "^(a)$",
        "^(?:a)$",
        "^a|b$",
        "^a*?$",
        "^a+?$",
        "^a??$",
        "^a{2}?$",
        "^a{2}+$",
        "^a*b$",
        "^a?b$",
        "^a+b$",
        "^a{1,2}b$",
        "^a{2,2}b$",
        "^a{0,0}b$",
        "^a{2,}b$",
        "^^a$",
        "^a$b$",
        "^a$$",
        "^(?=a)$",
        "^(?!a)$",
        "^\\1$",
        "^\\b$",
        "^\\B$",
        "^\\u0041$",
        "^\\x41$",
        "^\\cA$",
        "^\\0$",
        "^\\p{L}$",
        "^\\k$",
        "^\\a$",
        "^\\-$",
        "^\\$",
        "^a\\$",
        "^[]$",
        "^[^]$",
        "^[a$",
        "^a]$",
        "^a}$",
        "^{2}$",
        "^a{$",
        "^a{}$",
        "^a{,2}$",
        "^a{2,1}$",
        "^a{100001}$",
        "^a{0,100001}$",
        "^a{-1}$",
        "^a{ 1}$",
        "^[z-a]$",
        "^[\\d-z]$",
        "^[a-\\d]$",
        "^[\\b]$",
        "^é$",
        "^a\n$",
        "^\u{7f}$",
        &long,
    ] {
        assert!(!accepted(pattern), "{pattern}");
    }
}

/// §3: the edges of the subset are inside it.
#[test]
fn the_edges_of_the_subset_are_accepted() {
    let longest = format!("^{}$", "a".repeat(254));
    for pattern in [
        "^$",
        "^a$",
        "^.$",
        "^a{0}$",
        "^a{100000}$",
        "^a{0,100000}$",
        "^a{3,}$",
        "^ba{2,2}$",
        "^[a-]$",
        "^[-a]$",
        "^[a^]$",
        "^[^^]$",
        "^[\\-\\]]$",
        "^[--/]$",
        "^\\/$",
        "^a{2}b{3}c*$",
        "^[ -~]$",
        "^[\\w-]$",
        &longest,
    ] {
        assert!(accepted(pattern), "{pattern}");
    }
}

/// §3: a hostile text costs one pass, whatever the pattern; nothing backtracks.
#[test]
fn a_long_text_is_judged_in_one_pass() {
    let schema = t::pattern(100_000, "^a{100}a{100}[a]*$");
    assert!(matches(&schema, &"a".repeat(100_000)));
    assert!(!matches(&schema, &format!("{}b", "a".repeat(99_999))));
}
