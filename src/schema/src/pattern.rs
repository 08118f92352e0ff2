//! The safe pattern subset of §3: a concatenation of one-character sets with fixed counts, of which only the last
//! may vary. Such a pattern needs no backtracking, so a match is one pass over the text and allocates nothing.
//!
//! The meaning is ECMAScript's with the `u` flag, and a match always consumes the whole text.

/// Longest pattern, in ASCII characters.
const MAX_PATTERN: usize = 256;
/// Largest bound of an explicit repetition.
const MAX_REPEAT: u32 = 100_000;

/// Why a pattern is outside the subset, in words for its author.
pub(crate) type PatternFault = &'static str;

/// One character set and how often it is repeated.
struct Piece<'p> {
    set: Set<'p>,
    repeat: Repeat,
}

/// How often a piece is repeated.
#[derive(Clone, Copy)]
struct Repeat {
    min: u32,
    max: u32,
    /// Written as one number, or not at all: what an inner piece may have.
    fixed: bool,
}

impl Repeat {
    fn exactly(count: u32) -> Self {
        Self { min: count, max: count, fixed: true }
    }

    fn varying(min: u32, max: u32) -> Self {
        Self { min, max, fixed: false }
    }
}

/// What one character must be.
#[derive(Clone, Copy)]
enum Set<'p> {
    Literal(char),
    /// Any character but a line terminator.
    Dot,
    /// `\d`, `\W` and the like.
    Shorthand(char),
    /// The text between the brackets.
    Class(&'p str),
}

/// Judges a pattern: inside the subset, and compiled by an ECMAScript engine in Unicode mode.
pub(crate) fn check(pattern: &str) -> Result<(), PatternFault> {
    let mut pieces = Pieces::of(pattern)?;
    while let Some(piece) = pieces.next() {
        let piece = piece?;
        if !piece.repeat.fixed && !pieces.rest.is_empty() {
            return Err("only the last atom may have a varying repetition");
        }
    }
    match regress::Regex::with_flags(pattern, "u") {
        Ok(_) => Ok(()),
        Err(_) => Err("the pattern does not compile with the u flag"),
    }
}

/// Whether a checked pattern consumes the whole text. A pattern outside the subset matches nothing.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Ok(pieces) = Pieces::of(pattern) else {
        return false;
    };
    let mut rest = text.chars();
    for piece in pieces {
        let Ok(piece) = piece else {
            return false;
        };
        for _ in 0..piece.repeat.min {
            if !rest.next().is_some_and(|found| piece.set.contains(found)) {
                return false;
            }
        }
        for _ in piece.repeat.min..piece.repeat.max {
            if !rest.clone().next().is_some_and(|found| piece.set.contains(found)) {
                break;
            }
            rest.next();
        }
    }
    rest.next().is_none()
}

/// The pieces of a pattern between its anchors.
struct Pieces<'p> {
    rest: &'p str,
}

impl<'p> Pieces<'p> {
    fn of(pattern: &'p str) -> Result<Self, PatternFault> {
        if !(2..=MAX_PATTERN).contains(&pattern.len()) {
            return Err("a pattern has 2 to 256 characters");
        }
        if !pattern.bytes().all(|byte| (0x20..=0x7e).contains(&byte)) {
            return Err("a pattern is printable ASCII");
        }
        let body = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
        body.map(|rest| Self { rest }).ok_or("a pattern starts with ^ and ends with $")
    }

    fn take(&mut self) -> Option<char> {
        let first = self.rest.chars().next()?;
        self.rest = &self.rest[first.len_utf8()..];
        Some(first)
    }

    fn set(&mut self, first: char) -> Result<Set<'p>, PatternFault> {
        match first {
            '.' => Ok(Set::Dot),
            '[' => self.class(),
            '\\' => {
                let escaped = self.take().ok_or("the last $ is an anchor, not an escape")?;
                escape(escaped, false)
            }
            '^' | '$' | '*' | '+' | '?' | '(' | ')' | '{' | '}' | ']' | '|' => {
                Err("groups, alternation, inner anchors and stacked repetitions are outside the subset")
            }
            literal => Ok(Set::Literal(literal)),
        }
    }

    fn class(&mut self) -> Result<Set<'p>, PatternFault> {
        let mut end = None;
        let mut escaped = false;
        for (position, found) in self.rest.char_indices() {
            match found {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                ']' => {
                    end = Some(position);
                    break;
                }
                _ => {}
            }
        }
        let end = end.ok_or("a character class is not closed")?;
        let body = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        let atoms = ClassItems { rest: body.strip_prefix('^').unwrap_or(body) };
        if atoms.rest.is_empty() {
            return Err("a character class names at least one character");
        }
        for item in atoms {
            item?;
        }
        Ok(Set::Class(body))
    }

    fn repeat(&mut self) -> Result<Repeat, PatternFault> {
        match self.rest.chars().next() {
            Some('?') => {
                self.take();
                Ok(Repeat::varying(0, 1))
            }
            Some('*') => {
                self.take();
                Ok(Repeat::varying(0, u32::MAX))
            }
            Some('+') => {
                self.take();
                Ok(Repeat::varying(1, u32::MAX))
            }
            Some('{') => {
                let end = self.rest.find('}').ok_or("a repetition is not closed")?;
                let inside = &self.rest[1..end];
                self.rest = &self.rest[end + 1..];
                bounds(inside)
            }
            _ => Ok(Repeat::exactly(1)),
        }
    }
}

impl<'p> Iterator for Pieces<'p> {
    type Item = Result<Piece<'p>, PatternFault>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.take()?;
        let piece = self.set(first).and_then(|set| Ok(Piece { set, repeat: self.repeat()? }));
        Some(piece)
    }
}

fn bounds(inside: &str) -> Result<Repeat, PatternFault> {
    let Some((min, max)) = inside.split_once(',') else {
        return count(inside).map(Repeat::exactly);
    };
    let min = count(min)?;
    let max = if max.is_empty() { u32::MAX } else { count(max)? };
    if min <= max { Ok(Repeat::varying(min, max)) } else { Err("a repetition's bounds are in order") }
}

fn count(digits: &str) -> Result<u32, PatternFault> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = if plain { digits.parse::<u32>().ok() } else { None };
    number.filter(|number| *number <= MAX_REPEAT).ok_or("a repetition's bounds are integers of 0 to 100000")
}

/// What an escape stands for. Unicode mode allows only syntax characters to be escaped, and `-` inside a class.
fn escape(escaped: char, in_class: bool) -> Result<Set<'static>, PatternFault> {
    match escaped {
        'd' | 'D' | 'w' | 'W' | 's' | 'S' => Ok(Set::Shorthand(escaped)),
        'n' => Ok(Set::Literal('\n')),
        'r' => Ok(Set::Literal('\r')),
        't' => Ok(Set::Literal('\t')),
        '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
            Ok(Set::Literal(escaped))
        }
        '-' if in_class => Ok(Set::Literal('-')),
        _ => Err("this escape is outside the subset"),
    }
}

/// The members of a character class: single sets and inclusive ranges.
struct ClassItems<'p> {
    rest: &'p str,
}

enum ClassItem {
    One(Set<'static>),
    Range(char, char),
}

impl ClassItems<'_> {
    fn atom(&mut self) -> Option<Result<Set<'static>, PatternFault>> {
        let mut found = self.rest.chars();
        let first = found.next()?;
        let atom = match first {
            '\\' => found.next().map_or(Err("this escape is outside the subset"), |next| escape(next, true)),
            literal => Ok(Set::Literal(literal)),
        };
        self.rest = found.as_str();
        Some(atom)
    }

    fn item(&mut self, first: Result<Set<'static>, PatternFault>) -> Result<ClassItem, PatternFault> {
        let first = first?;
        let Some(after) = self.rest.strip_prefix('-').filter(|after| !after.is_empty()) else {
            return Ok(ClassItem::One(first));
        };
        self.rest = after;
        let last = self.atom().unwrap_or(Err("a range has two ends"))?;
        match (first, last) {
            (Set::Literal(low), Set::Literal(high)) if low <= high => Ok(ClassItem::Range(low, high)),
            _ => Err("a range joins two characters in order"),
        }
    }
}

impl Iterator for ClassItems<'_> {
    type Item = Result<ClassItem, PatternFault>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.atom()?;
        Some(self.item(first))
    }
}

impl Set<'_> {
    fn contains(self, found: char) -> bool {
        match self {
            Self::Literal(literal) => found == literal,
            Self::Dot => !matches!(found, '\n' | '\r' | '\u{2028}' | '\u{2029}'),
            Self::Shorthand(name) => shorthand(name, found),
            Self::Class(body) => class_contains(body, found),
        }
    }
}

fn class_contains(body: &str, found: char) -> bool {
    let positive = body.strip_prefix('^');
    let mut items = ClassItems { rest: positive.unwrap_or(body) };
    let named = items.any(|item| match item {
        Ok(ClassItem::One(set)) => set.contains(found),
        Ok(ClassItem::Range(low, high)) => (low..=high).contains(&found),
        Err(_) => false,
    });
    named != positive.is_some()
}

fn shorthand(name: char, found: char) -> bool {
    match name {
        'd' => found.is_ascii_digit(),
        'D' => !found.is_ascii_digit(),
        'w' => found.is_ascii_alphanumeric() || found == '_',
        'W' => !(found.is_ascii_alphanumeric() || found == '_'),
        's' => is_space(found),
        _ => !is_space(found),
    }
}

/// ECMAScript's WhiteSpace and LineTerminator.
fn is_space(found: char) -> bool {
    matches!(
        found,
        '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}'
            | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}
