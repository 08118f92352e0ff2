//! Frames against the bytes that the real server and the official clients exchange.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn hex(text: &str) -> Bytes {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn read(text: &str) -> Result<Frame> {
    Frame::read(hex(text))
}

#[test]
fn the_handshakes_of_every_generation_are_read() {
    // Token "xH_LrwSnZ": stateless 0.18, stateless 0.16 and 0.17, and a stateful one whose description is skipped.
    for tail in ["04 6e6f6e65 00", "04 6e6f6e65", "06 736368656d61 cd2001 8001ff01"] {
        let frame = read(&format!("0a 09 78485f4c7277536e5a {tail}")).unwrap();
        assert_eq!(frame, Frame::Joined { token: "xH_LrwSnZ".into() });
    }
}

#[test]
fn a_handshake_that_is_cut_off_is_refused() {
    for text in ["0a", "0a 09 7848", "0a 01 78", "0a 01 78 04 6e6f", "0a 01 ff 00"] {
        assert_eq!(read(text).unwrap_err().code(), "answer", "{text}");
    }
}

#[test]
fn messages_of_every_kind_of_type_are_read() {
    let name =
        |name: &str, payload: &str| Frame::Message { kind: name.into(), payload: Payload::new(hex(payload)) };
    let long = "a".repeat(40);
    let long_hex: String = "61".repeat(40);
    for (text, expected) in [
        ("0d a4 6563686f a2 6869".to_owned(), name("echo", "a26869")),
        ("0d a7 6e6f7468696e67".to_owned(), name("nothing", "")),
        (format!("0d d9 28 {long_hex} 05"), name(&long, "05")),
        ("0d 07 2a".to_owned(), Frame::Message { kind: 7.into(), payload: Payload::new(hex("2a")) }),
        ("0d cd2c01 01".to_owned(), Frame::Message { kind: 300.into(), payload: Payload::new(hex("01")) }),
        (
            "0d ce70110100 01".to_owned(),
            Frame::Message { kind: 70_000.into(), payload: Payload::new(hex("01")) },
        ),
        ("11 a3 62696e 0102ff".to_owned(), Frame::Bytes { kind: "bin".into(), bytes: hex("0102ff") }),
        ("11 09 0405".to_owned(), Frame::Bytes { kind: 9.into(), bytes: hex("0405") }),
    ] {
        assert_eq!(read(&text).unwrap(), expected, "{text}");
    }
}

#[test]
fn an_error_keeps_its_code_and_text() {
    assert_eq!(
        read("0b cd7910 a6 637573746f6d").unwrap(),
        Frame::Fault { code: 4217, message: "custom".into() }
    );
}

#[test]
fn state_and_patches_lose_their_timing() {
    assert_eq!(read("0e 8001").unwrap(), Frame::State(hex("8001")));
    assert_eq!(read("8f 9f000000 00000000").unwrap(), Frame::Patch(Bytes::new()));
    assert_eq!(read("8e 9f000000 00000000 80").unwrap(), Frame::State(hex("80")));
    assert_eq!(read("8f 9f0000").unwrap_err().code(), "answer");
}

#[test]
fn what_is_unknown_is_of_no_concern() {
    for text in ["", "12", "1f 01", "00", "16 00 01"] {
        assert_eq!(read(text).unwrap(), Frame::Other, "{text}");
    }
}

#[test]
fn types_and_lengths_out_of_the_protocol_are_refused() {
    for text in [
        "0d",
        "0d a0",
        "0d d9 00",
        "0d da ffff 61",
        "0d db ffffffff",
        "0d c0",
        "0d a2 ff fe",
        "0b cd79",
        "0b 05 c0",
    ] {
        assert_eq!(read(text).unwrap_err().code(), "answer", "{text}");
    }
}

#[test]
fn what_is_sent_is_what_the_official_clients_send() {
    let named = |name| Called::Name(name);
    let long = "a".repeat(40);
    for (bytes, expected) in [
        (message(named("echo"), "hi").unwrap(), "0d a4 6563686f a2 6869".to_owned()),
        (message(Called::Number(7), &42).unwrap(), "0d 07 2a".to_owned()),
        (signal(named("nothing")).unwrap(), "0d a7 6e6f7468696e67".to_owned()),
        (signal(Called::Number(300)).unwrap(), "0d cd2c01".to_owned()),
        (signal(Called::Number(200)).unwrap(), "0d ccc8".to_owned()),
        (signal(Called::Number(70_000)).unwrap(), "0d ce70110100".to_owned()),
        (signal(named(&long)).unwrap(), format!("0d d928 {}", "61".repeat(40))),
        (super::bytes(named("bin"), &[1, 2, 255]).unwrap(), "11 a3 62696e 0102ff".to_owned()),
        (message(named("m"), &json!({"a": [1, null]})).unwrap(), "0d a1 6d 81 a1 61 92 01 c0".to_owned()),
    ] {
        assert_eq!(bytes, hex(&expected));
    }
}

#[test]
fn a_name_without_letters_or_beyond_255_bytes_is_not_sent() {
    for name in [String::new(), "a".repeat(256)] {
        assert_eq!(signal(Called::Name(&name)).unwrap_err().code(), "encode");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Frame::read(bytes.into());
    }

    #[test]
    fn a_message_reads_back_as_it_was_written(name in "[a-z]{1,255}", number: u32, payload: Vec<u8>) {
        let framed = super::bytes(Called::Name(&name), &payload).unwrap();
        let expected = Frame::Bytes { kind: name.as_str().into(), bytes: payload.clone().into() };
        prop_assert_eq!(Frame::read(framed).unwrap(), expected);
        let framed = super::bytes(Called::Number(number), &payload).unwrap();
        prop_assert_eq!(Frame::read(framed).unwrap(), Frame::Bytes { kind: number.into(), bytes: payload.into() });
    }
}
