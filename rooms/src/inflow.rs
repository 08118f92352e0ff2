//! A client's bytes, cut into messages.
//!
//! A message in one frame, as nearly all are, and a pong are unmasked here, out of the bytes as they were read. Every
//! other frame goes whole to tungstenite, which owns the protocol: fragments, pings and closes and their answers, and
//! what is wrong. Nothing here refuses a frame, and between two frames an idle connection keeps no bytes.

use crate::outbox::Outbox;
use bytes::Bytes;
use std::io::{self, Cursor, Read, Write};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{
    CloseFrame, Message, Role, WebSocketConfig, WebSocketContext,
};

/// Bytes that tungstenite takes at a time, beyond a frame whose length it knows.
const PARSE_BUFFER: usize = 128;

/// The most bytes that the payload of a control frame has.
const MAX_CONTROL: usize = 125;

pub(crate) struct Inflow {
    websocket: WebSocketContext,
    /// Whether a message of several frames has begun, which tungstenite puts together.
    fragmented: bool,
    /// The largest message, in bytes.
    largest: usize,
}

impl Inflow {
    pub(crate) fn new(largest: usize) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(PARSE_BUFFER)
            .write_buffer_size(0)
            .max_message_size(Some(largest))
            .max_frame_size(Some(largest));
        let websocket = WebSocketContext::new(Role::Server, Some(config));
        Self { websocket, fragmented: false, largest }
    }

    /// Takes frames off `bytes` until a message is whole. `None` where its end is not there: what is left of `bytes` is
    /// the beginning of a frame, shorter than the largest message and its header.
    ///
    /// # Errors
    /// tungstenite's, after which nothing more can be understood.
    pub(crate) fn next(&mut self, bytes: &mut &[u8], outbox: &Outbox) -> Result<Option<Message>, Error> {
        loop {
            let mut cursor = Cursor::new(*bytes);
            let Some((header, length)) = FrameHeader::parse(&mut cursor)? else { return Ok(None) };
            let as_size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
            let (head, length) = (as_size(cursor.position()), as_size(length));
            if length > self.largest {
                // Its header is enough for it to be refused.
                return self.interpret(std::mem::take(bytes), outbox);
            }
            let Some((frame, rest)) = bytes.split_at_checked(head + length) else { return Ok(None) };
            *bytes = rest;
            if let Some(mask) = mask_of_whole(&header) {
                match header.opcode {
                    OpCode::Data(Data::Binary) if !self.fragmented => {
                        return Ok(Some(Message::Binary(unmasked(&frame[head..], mask))));
                    }
                    OpCode::Control(Control::Pong) if length <= MAX_CONTROL => {
                        return Ok(Some(Message::Pong(unmasked(&frame[head..], mask))));
                    }
                    _ => {}
                }
            }
            if let OpCode::Data(_) = header.opcode {
                self.fragmented = !header.is_final;
            }
            let message = self.interpret(frame, outbox)?;
            if message.is_some() {
                return Ok(message);
            }
        }
    }

    /// Has tungstenite look at a frame.
    fn interpret(&mut self, frame: &[u8], outbox: &Outbox) -> Result<Option<Message>, Error> {
        match self.websocket.read(&mut Adapter { frame, outbox }) {
            Ok(message) => Ok(Some(message)),
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Queues tungstenite's answer to the ping or close that came last.
    pub(crate) fn answer(&mut self, outbox: &Outbox) {
        // After a close it reports that the connection is closed, which is the point.
        let _ = self.websocket.flush(&mut Adapter { frame: &[], outbox });
    }

    /// Queues a close frame.
    pub(crate) fn close(&mut self, frame: CloseFrame, outbox: &Outbox) {
        // Closing writes into the queue alone, which takes everything.
        let _ = self.websocket.close(&mut Adapter { frame: &[], outbox }, Some(frame));
    }
}

/// The mask of a frame that needs no other, and no extension, to be understood.
fn mask_of_whole(header: &FrameHeader) -> Option<[u8; 4]> {
    let reserved = header.rsv1 || header.rsv2 || header.rsv3;
    header.mask.filter(|_| header.is_final && !reserved)
}

fn unmasked(payload: &[u8], mask: [u8; 4]) -> Bytes {
    let mut plain = payload.to_vec();
    let (words, tail) = plain.as_chunks_mut::<4>();
    let key = u32::from_ne_bytes(mask);
    for word in words {
        *word = (u32::from_ne_bytes(*word) ^ key).to_ne_bytes();
    }
    for (byte, key) in tail.iter_mut().zip(mask) {
        *byte ^= key;
    }
    plain.into()
}

/// The socket as tungstenite sees it: it reads one frame, and what it writes is queued.
struct Adapter<'a> {
    frame: &'a [u8],
    outbox: &'a Outbox,
}

impl Read for Adapter<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.frame.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { self.frame.read(into) }
    }
}

impl Write for Adapter<'_> {
    /// Takes one whole frame: tungstenite buffers frames and writes its buffer out in one call.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outbox.control(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Writer;
    use crate::tests::valve::Valve;
    use std::task::{Context, Waker};

    const LARGEST: usize = 70_000;
    const FINAL: u8 = 0x80;

    /// A client's frame.
    fn frame(head: u8, payload: &[u8]) -> Vec<u8> {
        let key = [0x5a, 0xc3, 0x01, 0xff];
        let length = (payload.len() as u64).to_be_bytes();
        let mut frame = vec![head];
        match payload.len() {
            0..=125 => frame.push(0x80 | length[7]),
            126..=0xffff => frame.extend([&[0x80 | 126], &length[6..]].concat()),
            _ => frame.extend([&[0x80 | 127], &length[..]].concat()),
        }
        frame.extend(key);
        frame.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key));
        frame
    }

    fn outbox() -> Outbox {
        Outbox::new(Writer::Other(Box::new(tokio::io::sink())))
    }

    /// All messages of a stream that is read in pieces of `size` bytes, and whether an error ended it.
    fn cut(stream: &[u8], size: usize) -> (Vec<Message>, bool) {
        let (mut inflow, outbox) = (Inflow::new(LARGEST), outbox());
        let (mut unread, mut messages) = (Vec::new(), Vec::new());
        for piece in stream.chunks(size) {
            unread.extend_from_slice(piece);
            let mut rest = &unread[..];
            loop {
                match inflow.next(&mut rest, &outbox) {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(_) => return (messages, true),
                }
            }
            if rest.len() < unread.len() {
                unread = rest.to_vec();
            }
            assert!(unread.len() < LARGEST + 14);
        }
        (messages, false)
    }

    /// The same from tungstenite alone, up to a close.
    fn reference(stream: &[u8]) -> (Vec<Message>, bool) {
        let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
        let mut websocket = WebSocketContext::new(Role::Server, Some(config));
        let outbox = outbox();
        let mut adapter = Adapter { frame: stream, outbox: &outbox };
        let mut messages = Vec::new();
        loop {
            match websocket.read(&mut adapter) {
                Ok(message) => messages.push(message),
                Err(Error::Io(_) | Error::ConnectionClosed) => return (messages, false),
                Err(_) => return (messages, true),
            }
        }
    }

    fn check(frames: &[Vec<u8>], count: usize, fails: bool) {
        let stream = frames.concat();
        let expected = reference(&stream);
        assert_eq!((expected.0.len(), expected.1), (count, fails));
        for size in [1, 2, 3, 5, 7, 13, 14, 100, 127, 4096, stream.len()] {
            assert_eq!(cut(&stream, size), expected, "{size}");
        }
    }

    #[test]
    fn messages_are_those_of_the_protocol_however_they_are_cut_and_read() {
        let long = |length: u32| (0..length).map(|byte| byte.to_le_bytes()[0]).collect::<Vec<_>>();
        let (binary, text, more) = (FINAL | 2, FINAL | 1, 0);
        check(
            &[
                frame(binary, b"one"),
                frame(binary, b""),
                frame(binary, &long(125)),
                frame(binary, &long(126)),
                frame(FINAL | 10, b"pong"),
                frame(text, "für".as_bytes()),
                frame(binary, &long(65_536)),
                frame(2, b"in "),
                frame(FINAL | 10, b""),
                frame(more, b"three "),
                frame(FINAL | 9, b"ping"),
                frame(FINAL | more, b"frames"),
                frame(binary, b"after"),
                frame(FINAL | 8, &1000_u16.to_be_bytes()),
            ],
            12,
            false,
        );
    }

    #[test]
    fn what_the_protocol_refuses_is_refused_wherever_it_stands() {
        let first = frame(FINAL | 2, b"first");
        let begun = frame(2, b"begun");
        for wrong in [
            [0x82, 1, 0].to_vec(),
            frame(FINAL | 0x40 | 2, b"reserved"),
            frame(FINAL | 3, b"opcode"),
            frame(FINAL | 0x10 | 10, b"reserved"),
            frame(10, b"a pong in parts"),
            frame(FINAL | 10, &[0; 126]),
            frame(FINAL, b"the end of nothing"),
            frame(FINAL | 2, &vec![0; LARGEST + 1]),
            frame(FINAL | 1, &[0xff]),
        ] {
            check(&[first.clone(), wrong], 1, true);
        }
        check(&[first.clone(), begun.clone(), frame(FINAL | 2, b"another")], 1, true);
        check(&[first, begun, frame(FINAL, &vec![0; LARGEST])], 1, true);
    }

    #[test]
    fn pings_and_closes_are_answered_through_the_queue() {
        let (writer, valve) = Valve::open(100);
        let (mut inflow, outbox) = (Inflow::new(LARGEST), Outbox::new(writer));
        let stream = [frame(FINAL | 9, b"here?"), frame(FINAL | 8, &[3, 232])].concat();
        let mut rest = &stream[..];
        while let Ok(Some(_)) = inflow.next(&mut rest, &outbox) {
            inflow.answer(&outbox);
        }
        assert!(outbox.poll_write(&mut Context::from_waker(Waker::noop())).is_ready());
        assert_eq!(valve.out().0, [&b"\x8a\x05here?"[..], b"\x88\x02\x03\xe8"].concat());
    }

    #[test]
    fn a_length_beyond_any_memory_is_refused_by_its_header() {
        let header = [&[0x82, 0xff][..], &u64::MAX.to_be_bytes(), &[0; 4]].concat();
        check(&[header], 0, true);
    }
}
