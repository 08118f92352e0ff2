//! What an instance and its worker process say to each other: length-prefixed frames over one socket.
//!
//! Either side must never read more than the bound it asks for: a worker may be in the hands of its policy.

use std::io::{self, Read, Write};

use serde::de::{DeserializeOwned, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::detail::Detail;
use crate::limits::{Awaited, Limits, MAX_LOG_LINES};

/// What a worker is asked to do. The bytes that belong to it follow as the frame's body.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// Say whether it is still there, before it is given a script.
    Ready,
    /// Load the script; the body is the script, then the match data.
    Load { limits: Limits, awaited: Awaited, seed: u64, script_bytes: usize },
    /// Think about the observation in the body.
    Think,
}

/// What a worker answers, or that it is ready for its first call. A think's body is the returned JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The code and text of a failure.
    pub(crate) failure: Option<(String, Option<String>)>,
    /// What a loaded script declares.
    pub(crate) detail: Option<Detail>,
    #[serde(deserialize_with = "first::<_, MAX_LOG_LINES>")]
    pub(crate) logs: Vec<String>,
    pub(crate) cpu_nanos: u64,
}

/// Reads a list of texts and keeps the first so many, all that an honest worker sends: empty ones without an end would take up
/// far more memory than their bytes.
pub(crate) fn first<'de, D: Deserializer<'de>, const MOST: usize>(from: D) -> Result<Vec<String>, D::Error> {
    struct First<const MOST: usize>;

    impl<'de, const MOST: usize> Visitor<'de> for First<MOST> {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of texts")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
            let mut texts = Vec::new();
            while texts.len() < MOST {
                match seq.next_element()? {
                    Some(text) => texts.push(text),
                    None => return Ok(texts),
                }
            }
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(texts)
        }
    }

    from.deserialize_seq(First::<MOST>)
}

/// Sends one frame in one write.
pub(crate) fn send(to: &mut impl Write, head: &impl Serialize, body: &[&[u8]]) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    let body_bytes = body.iter().map(|part| part.len()).sum::<usize>();
    let mut frame = Vec::with_capacity(8 + head.len() + body_bytes);
    frame.extend(length(head.len())?);
    frame.extend(length(body_bytes)?);
    frame.extend(&head);
    body.iter().for_each(|part| frame.extend_from_slice(part));
    to.write_all(&frame)
}

/// Receives one frame whose head and body are within these bounds. A broken frame is `InvalidData`.
pub(crate) fn receive<T: DeserializeOwned>(
    from: &mut impl Read,
    max_head_bytes: usize,
    max_body_bytes: usize,
) -> io::Result<(T, Vec<u8>)> {
    let head = length_within(from, max_head_bytes)?;
    let body = length_within(from, max_body_bytes)?;
    let head = bytes(from, head)?;
    let body = bytes(from, body)?;
    Ok((serde_json::from_slice(&head)?, body))
}

fn length(bytes: usize) -> io::Result<[u8; 4]> {
    u32::try_from(bytes).map(u32::to_le_bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn length_within(from: &mut impl Read, max: usize) -> io::Result<usize> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > max { Err(io::ErrorKind::InvalidData.into()) } else { Ok(length) }
}

fn bytes(from: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::MAX_SECTIONS;

    #[test]
    fn a_frame_arrives_as_it_was_sent() {
        let mut wire = Vec::new();
        send(&mut wire, &Told { cpu_nanos: 7, ..Told::default() }, &[b"ab", b"c"]).unwrap();
        let (told, body): (Told, _) = receive(&mut wire.as_slice(), 1000, 3).unwrap();
        assert_eq!((told.cpu_nanos, body.as_slice()), (7, &b"abc"[..]));
    }

    // A worker that its policy took over may send lines without an end: no more are kept than any policy may log.
    #[test]
    fn lines_past_the_most_of_any_policy_are_not_kept() {
        let told = |lines: usize| {
            let mut wire = Vec::new();
            send(&mut wire, &Told { logs: vec![String::new(); lines], ..Told::default() }, &[]).unwrap();
            receive::<Told>(&mut wire.as_slice(), 1 << 20, 0).unwrap().0.logs
        };
        assert_eq!(told(MAX_LOG_LINES).len(), MAX_LOG_LINES);
        let kept = told(50_000);
        assert!(kept.len() == MAX_LOG_LINES && kept.capacity() < 2 * MAX_LOG_LINES + 8);
    }

    // The same of the sections that it declares.
    #[test]
    fn sections_past_the_most_of_any_declaration_are_not_kept() {
        let mut wire = Vec::new();
        let detail = Some(Detail::Sections(vec![String::new(); 50_000]));
        send(&mut wire, &Told { detail, ..Told::default() }, &[]).unwrap();
        let told = receive::<Told>(&mut wire.as_slice(), 1 << 20, 0).unwrap().0;
        let Some(Detail::Sections(kept)) = told.detail else { panic!("no sections") };
        assert_eq!(kept.len(), MAX_SECTIONS);
    }

    // A worker that its policy took over can send anything: it costs no more than the bounds.
    #[test]
    fn frames_past_their_bounds_are_refused_unread() {
        let mut wire = Vec::new();
        send(&mut wire, &Told::default(), &[b"abc"]).unwrap();
        assert!(receive::<Told>(&mut wire.as_slice(), 1000, 2).is_err());
        assert!(receive::<Told>(&mut wire.as_slice(), 2, 3).is_err());
        assert!(receive::<Told>(&mut &wire[..wire.len() - 1], 1000, 3).is_err());
        assert!(receive::<Told>(&mut &[2, 0, 0, 0, 0, 0, 0, 0, b'{', b'{'][..], 9, 9).is_err());
    }
}
