//! The JSON that this game sends, read in place: objects, lists, whole numbers and plain words.
//!
//! A library would read more than the game ever sends, and would make the module five times as large.

/// Deepest nesting that is read; the game's own is four.
const MAX_DEPTH: usize = 16;

/// A value that borrows its words from the text.
#[derive(Debug, PartialEq, Eq)]
pub enum Json<'a> {
    /// `null`, `true`, `false`, and whatever is missing.
    Nothing,
    /// A whole number.
    Number(i64),
    /// A string without escapes.
    Word(&'a str),
    /// An array.
    List(Vec<Json<'a>>),
    /// An object, its members in order.
    Object(Vec<(&'a str, Json<'a>)>),
}

const NOTHING: Json<'static> = Json::Nothing;

impl<'a> Json<'a> {
    /// Reads a text, or nothing when it is more than the game sends.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        let mut reader = Reader { rest: text };
        let value = reader.value(0)?;
        reader.rest.trim_start().is_empty().then_some(value)
    }

    /// A member of an object, or nothing.
    #[must_use]
    pub fn get(&self, name: &str) -> &Self {
        let Self::Object(members) = self else { return &NOTHING };
        members.iter().find(|(other, _)| *other == name).map_or(&NOTHING, |(_, value)| value)
    }

    /// The items of a list; none of anything else.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// A word; the empty one when it is something else.
    #[must_use]
    pub fn word(&self) -> &'a str {
        if let Self::Word(word) = self { word } else { "" }
    }

    /// A number; zero when it is something else.
    #[must_use]
    pub fn number(&self) -> i64 {
        if let Self::Number(number) = self { *number } else { 0 }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(sign)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<Json<'a>> {
        self.rest = self.rest.trim_start();
        match self.rest.bytes().next()? {
            b'{' if depth < MAX_DEPTH => {
                let member = |reader: &mut Self| {
                    let name = reader.word()?;
                    reader.take(':')?;
                    Some((name, reader.value(depth + 1)?))
                };
                Some(Json::Object(self.sequence(['{', '}'], member)?))
            }
            b'[' if depth < MAX_DEPTH => {
                Some(Json::List(self.sequence(['[', ']'], |reader| reader.value(depth + 1))?))
            }
            b'"' => self.word().map(Json::Word),
            b'-' | b'0'..=b'9' => {
                self.until(|sign| !matches!(sign, '-' | '0'..='9')).parse().ok().map(Json::Number)
            }
            _ => {
                let is_known =
                    matches!(self.until(|sign| !sign.is_ascii_alphabetic()), "null" | "true" | "false");
                is_known.then_some(Json::Nothing)
            }
        }
    }

    /// What stands between two brackets, with commas between.
    fn sequence<T>(
        &mut self,
        [open, close]: [char; 2],
        item: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.take(open)?;
        if self.take(close).is_some() {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(close).is_some() {
                return Some(items);
            }
            self.take(',')?;
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        self.take('"')?;
        let word = self.until(|sign| matches!(sign, '"' | '\\'));
        self.rest = self.rest.strip_prefix('"')?;
        Some(word)
    }

    fn until(&mut self, is_end: impl Fn(char) -> bool) -> &'a str {
        let (taken, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn what_the_game_sends_is_read() {
        let read =
            Json::read(r#" {"tick":12,"x":-7,"units":[{"id":"e_1"}, {"id":"e_2"}],"none":[],"ok":true} "#);
        let read = read.unwrap_or(Json::Nothing);
        assert_eq!((read.get("tick").number(), read.get("x").number()), (12, -7));
        let ids: Vec<&str> = read.get("units").items().iter().map(|unit| unit.get("id").word()).collect();
        assert_eq!(ids, ["e_1", "e_2"]);
        assert_eq!(read.get("none").items(), []);
        assert_eq!(read.get("missing"), &Json::Nothing);
    }

    #[test]
    fn what_it_never_sends_is_refused() {
        let deep = "[".repeat(1_000_000);
        for text in [
            "",
            "{",
            "[1,]",
            "[1 2]",
            r#"{"a"}"#,
            r#""\n""#,
            "1.5",
            "1e9",
            "99999999999999999999",
            "[] []",
            &deep,
        ] {
            assert_eq!(Json::read(text), None, "{}", &text[..text.len().min(20)]);
        }
    }
}
