//! The shapes in which a log arrives, read as a stream.
//!
//! One document (`inboxes` or `Requests`), a capture a line, or an event body a line; the first line tells which. No
//! more than one capture is in memory at a time, and one that passes its bound ends the reading.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Request;
use super::capture::{Capture, LogError};
use super::event::as_integer;
use super::log::LogReader;
use super::report::{Options, Report};

/// Reads a whole log.
pub(crate) fn read_log(reader: impl Read, request: Request) -> Result<Report, LogError> {
    let bound = request.bounds.capture_bytes.saturating_mul(2);
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let first = first_line(&mut reader, bound)?;
    match shape(&first) {
        Shape::Empty => LogReader::new(request)?.finish(),
        Shape::Lines(kind) => read_lines(Cursor::new(first).chain(reader), kind, request, bound),
        Shape::Document => read_document(Cursor::new(first).chain(reader), request, bound),
        Shape::Unknown => Err(LogError::NotALog),
    }
}

/// The first line that is not blank with its line end; at most `bound` bytes of it.
fn first_line(reader: &mut impl BufRead, bound: usize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    while line.iter().all(u8::is_ascii_whitespace) {
        line.clear();
        if reader.by_ref().take(bound as u64).read_until(b'\n', &mut line)? == 0 {
            break;
        }
    }
    Ok(line)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Captures,
    Bodies,
}

enum Shape {
    Empty,
    Lines(LineKind),
    Document,
    Unknown,
}

fn shape(first: &[u8]) -> Shape {
    let Some(start) = first.iter().find(|b| !b.is_ascii_whitespace()) else { return Shape::Empty };
    let has = |members: &[Box<str>], name: &str| members.iter().any(|member| **member == *name);
    match serde_json::from_slice::<Names>(first) {
        Ok(Names(names)) if has(&names, "Body") => Shape::Lines(LineKind::Captures),
        Ok(Names(names)) if has(&names, "inboxes") || has(&names, "Requests") => Shape::Document,
        Ok(Names(names)) if has(&names, "game") => Shape::Lines(LineKind::Bodies),
        // The line is a whole object that is neither: a capture listed without its body, or something else.
        Ok(Names(names)) if has(&names, "Id") => Shape::Lines(LineKind::Captures),
        Ok(_) => Shape::Unknown,
        Err(error) if error.is_eof() && *start == b'{' => Shape::Document,
        Err(_) => Shape::Unknown,
    }
}

fn read_lines(
    mut reader: impl BufRead,
    kind: LineKind,
    request: Request,
    bound: usize,
) -> Result<Report, LogError> {
    let mut log = LogReader::new(request)?;
    log.begin_inbox()?;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        reader.by_ref().take(bound as u64 + 1).read_until(b'\n', &mut line)?;
        if line.len() > bound {
            return Err(LogError::CaptureTooLarge);
        }
        if line.is_empty() {
            break;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let capture = match kind {
            LineKind::Bodies => {
                Capture { id: format!("line-{number}"), body: text.to_vec(), ..Capture::default() }
            }
            LineKind::Captures => {
                let row: CaptureRow = serde_json::from_slice(text).map_err(|_| LogError::BadLine(number))?;
                row.into_capture(number)?
            }
        };
        log.capture(capture)?;
    }
    log.finish()
}

fn read_document(reader: impl Read, request: Request, bound: usize) -> Result<Report, LogError> {
    let allowance = Cell::new(bound);
    let mut state = Document {
        log: LogReader::new(request)?,
        allowance: &allowance,
        bound,
        rows: 0,
        failed: None,
        has_rows: false,
        has_options: false,
    };
    let reader = Allowed { inner: reader, left: &allowance };
    let mut deserializer = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 12, reader));
    let read = (DocumentSeed(&mut state)).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match (read, state.failed.take()) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(unreadable(error)),
        (Ok(()), None) if !state.has_rows => Err(LogError::NotALog),
        (Ok(()), None) => state.log.finish(),
    }
}

fn unreadable(error: serde_json::Error) -> LogError {
    if !error.is_io() {
        return LogError::NotALog;
    }
    let error = io::Error::from(error);
    if error.kind() == io::ErrorKind::FileTooLarge { LogError::CaptureTooLarge } else { LogError::Io(error) }
}

/// A reader that fails once more bytes passed than one capture may have; each capture read renews the allowance.
struct Allowed<'a, R> {
    inner: R,
    left: &'a Cell<usize>,
}

impl<R: Read> Read for Allowed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.get().checked_sub(read) {
            Some(left) => self.left.set(left),
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        }
        Ok(read)
    }
}

struct Document<'a> {
    log: LogReader,
    allowance: &'a Cell<usize>,
    bound: usize,
    rows: u64,
    failed: Option<LogError>,
    has_rows: bool,
    has_options: bool,
}

impl Document<'_> {
    fn row(&mut self, row: CaptureRow) -> Result<(), LogError> {
        self.allowance.set(self.bound);
        self.rows += 1;
        let capture = row.into_capture(self.rows)?;
        self.log.capture(capture)
    }

    fn options(&mut self, value: &Value) -> Result<(), LogError> {
        let is_first = !std::mem::replace(&mut self.has_options, true);
        let options = Options::from_json(value).filter(|_| is_first).ok_or(LogError::BadOptions)?;
        self.log.log_options(options)
    }

    fn first_rows(&mut self) -> Result<(), LogError> {
        if std::mem::replace(&mut self.has_rows, true) { Err(LogError::NotALog) } else { Ok(()) }
    }

    /// Keeps the error of the log, which the JSON reader has no type for, and stops that reader.
    fn keep<E: serde::de::Error>(&mut self, result: Result<(), LogError>) -> Result<(), E> {
        result.map_err(|error| {
            self.failed = Some(error);
            E::custom("refused")
        })
    }
}

/// The outer object: `inboxes` and `options`, or `Requests`.
struct DocumentSeed<'a, 'b>(&'a mut Document<'b>);

impl<'de> DeserializeSeed<'de> for DocumentSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a log")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "inboxes" => {
                    let first = self.0.first_rows();
                    self.0.keep(first)?;
                    map.next_value_seed(Inboxes(self.0))?;
                }
                "Requests" => {
                    let begun = self.0.first_rows().and_then(|()| self.0.log.begin_inbox());
                    self.0.keep(begun)?;
                    map.next_value_seed(Captures(self.0))?;
                }
                "options" => {
                    let value = map.next_value::<Value>()?;
                    let taken = self.0.options(&value);
                    self.0.keep(taken)?;
                }
                _ => {
                    // Skipping holds nothing in memory, so it may be of any length.
                    self.0.allowance.set(usize::MAX);
                    map.next_value::<IgnoredAny>()?;
                    self.0.allowance.set(self.0.bound);
                }
            }
        }
        Ok(())
    }
}

/// The list of inboxes.
struct Inboxes<'a, 'b>(&'a mut Document<'b>);

impl<'de> DeserializeSeed<'de> for Inboxes<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Inboxes<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of inboxes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(InboxSeed(self.0))?.is_some() {}
        Ok(())
    }
}

/// One inbox: its `captures`.
struct InboxSeed<'a, 'b>(&'a mut Document<'b>);

impl<'de> DeserializeSeed<'de> for InboxSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for InboxSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an inbox")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let begun = self.0.log.begin_inbox();
        self.0.keep(begun)?;
        let mut has_captures = false;
        while let Some(name) = map.next_key::<String>()? {
            if name != "captures" {
                map.next_value::<IgnoredAny>()?;
            } else if std::mem::replace(&mut has_captures, true) {
                return Err(A::Error::custom("repeated member"));
            } else {
                map.next_value_seed(Captures(self.0))?;
            }
        }
        Ok(())
    }
}

/// The rows of one inbox.
struct Captures<'a, 'b>(&'a mut Document<'b>);

impl<'de> DeserializeSeed<'de> for Captures<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Captures<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of captures")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(row) = seq.next_element::<CaptureRow>()? {
            let read = self.0.row(row);
            self.0.keep(read)?;
        }
        Ok(())
    }
}

/// A capture as it is listed.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CaptureRow {
    #[serde(default)]
    seq: Value,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    matched_signing_ref: Option<String>,
    #[serde(default)]
    rejection_reason: Option<IgnoredAny>,
    #[serde(default)]
    body: Option<Bytes>,
    #[serde(default)]
    body_encoding: Option<String>,
}

impl CaptureRow {
    fn into_capture(self, number: u64) -> Result<Capture, LogError> {
        let rejected = self.rejection_reason.is_some();
        let body = match self.body {
            Some(Bytes(body)) => body,
            None if rejected => Vec::new(),
            None => return Err(LogError::MissingBody),
        };
        let body = match self.body_encoding.as_deref() {
            None => body,
            Some("base64") => STANDARD.decode(body).map_err(|_| LogError::BadLine(number))?,
            Some(_) => return Err(LogError::BadLine(number)),
        };
        Ok(Capture {
            seq: as_integer(&self.seq),
            id: self.id.unwrap_or_else(|| format!("row-{number}")),
            signing_ref: self.matched_signing_ref,
            rejected,
            body,
        })
    }
}

/// A JSON string as bytes, so that a body with a lone surrogate is read and then is no event.
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes(bytes.to_vec()))
    }

    fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
        Ok(Bytes(bytes))
    }

    // A list of numbers is no body: without this refusal it would be read as bytes.
    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Bytes, A::Error> {
        Err(A::Error::custom("not a string"))
    }
}

/// The member names of one object.
struct Names(Vec<Box<str>>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry::<Box<str>, IgnoredAny>()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_map(NamesVisitor)
    }
}
