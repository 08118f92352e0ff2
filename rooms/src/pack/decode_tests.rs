//! Tests of the MessagePack reader: against recorded client bytes, against another implementation, and past each bound.

use super::*;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;

fn value(bytes: &[u8]) -> Option<Value> {
    from_slice(bytes, DecodeLimits::default()).ok()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn what_the_clients_send_decodes() {
    let table = [
        (
            "93 d47240 92 a178 a179 01 02 40 03 04 d47241 92 a179 a178 05 06",
            json!([{"x":1,"y":2},{"x":3,"y":4},{"y":5,"x":6}]),
        ),
        ("d47240 90", json!({})),
        ("d47240 91 a161 d47241 91 a162 cc64", json!({"a": {"b": 100}})),
        // A later definition under a used id replaces it, as after 64 shapes.
        ("93 d47240 91 a161 01 d47240 91 a162 02 40 03", json!([{"a":1},{"b":2},{"b":3}])),
        // Without a definition in this message 0x40 is the integer.
        ("92 40 7f", json!([64, 127])),
        ("92 d40000 c0", json!([null, null])),
        ("d6ff 00000001", json!(1000)),
        ("d7ff 7735940000000002", json!(2500)),
        ("c40301 02ff", json!([1, 2, 255])),
        ("82 01 a161 a162 02", json!({"1": "a", "b": 2})),
        ("cb41f0000000000000", json!(4_294_967_296_u64)),
        ("cbc1e0000000200000", json!(-2_147_483_649_i64)),
        ("cb3ff8000000000000", json!(1.5)),
        ("cb7ff8000000000000", json!(null)),
        ("d3ffffffffffffffff", json!(-1)),
        ("", json!(null)),
    ];
    for (hex, expected) in table {
        assert_eq!(value(&bytes(hex)), Some(expected), "{hex}");
    }
}

#[test]
fn records_decode_into_types() {
    #[derive(Deserialize, Debug, PartialEq)]
    struct Move {
        unit: u32,
        to: (i32, i32),
        at: Option<u64>,
    }
    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "camelCase")]
    enum Order {
        Stop,
        Go(Move),
        Say { text: String },
    }
    let typed = |hex: &str| from_slice::<Order>(&bytes(hex), DecodeLimits::default()).ok();
    assert_eq!(typed("a473746f70"), Some(Order::Stop));
    assert_eq!(
        typed("d47240 91 a2676f d47241 93 a4756e6974 a2746f a26174 07 92 01 ff cb4270000000000000"),
        Some(Order::Go(Move { unit: 7, to: (1, -1), at: Some(1 << 40) }))
    );
    assert_eq!(typed("81 a3736179 d47240 91 a474657874 a26869"), Some(Order::Say { text: "hi".into() }));
    assert_eq!(typed("a4666c6565"), None);
    let keyed: HashMap<u8, bool> = from_slice(&bytes("82 01 c3 a132 c2"), DecodeLimits::default()).unwrap();
    assert_eq!(keyed, HashMap::from([(1, true), (2, false)]));
}

#[test]
fn text_and_binary_are_borrowed_where_asked() {
    let wire = bytes("92 a26869 c4020102");
    let (text, raw): (&str, &[u8]) = from_slice(&wire, DecodeLimits::default()).unwrap();
    assert_eq!((text, raw), ("hi", &[1, 2][..]));
}

#[test]
fn what_is_no_payload_is_refused() {
    let table = [
        "c1",
        "d5ff0000",
        "d40100",
        "d4723f90",
        "d47240 01",
        "d47240 91 01 02",
        "d6fe00000001",
        "c70bff",
        "a2ff00",
        "a1",
        "c4",
        "c405aa",
        "dc",
        "dd7fffffff",
        "dfffffffff",
        "9201",
        "82a16101",
        "d47240 92a161a162 01",
        // A whole value with more behind it, field report U50.
        "0100",
        "c000",
        "d47240 90 00",
    ];
    for hex in table {
        assert_eq!(value(&bytes(hex)), None, "{hex}");
    }
}

#[test]
fn depth_is_bounded_on_every_container() {
    for open in [&[0x91][..], &[0x81, 0xa1, b'k'], &[0xd4, 0x72, 0x40, 0x91, 0xa1, b'k']] {
        let nested = |depth: usize| [open.repeat(depth), vec![0xc0]].concat();
        assert!(value(&nested(64)).is_some());
        assert!(value(&nested(65)).is_none());
        assert!(value(&nested(100_000)).is_none());
    }
}

#[test]
fn elements_are_bounded_and_lengths_cost_nothing() {
    let list = |count: u32| [&[0xdd][..], &count.to_be_bytes(), &vec![0xc0; count as usize]].concat();
    assert!(value(&list(65_535)).is_some());
    assert!(value(&list(65_536)).is_none());
    let binary = |count: u32| [&[0xc6][..], &count.to_be_bytes(), &vec![0; count as usize]].concat();
    assert!(value(&binary(65_535)).is_some());
    assert!(value(&binary(65_536)).is_none());
    assert!(value(&[0xdd, 0xff, 0xff, 0xff, 0xff]).is_none());
}

#[test]
fn a_long_key_cannot_be_repeated_without_end() {
    let key = "k".repeat(30_000);
    let mut wire = vec![0xdc, 0x10, 0x00, 0xd4, 0x72, 0x40, 0x91, 0xda, 0x75, 0x30];
    wire.extend(key.as_bytes());
    wire.push(0);
    wire.extend([0x40, 0].repeat(0x0fff));
    assert!(value(&wire).is_none());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("integers are integers", |float| float.fract() != 0.0).prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::hash_map(".{0,8}", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_another_implementation_writes_reads_the_same(expected in any_json()) {
        let wire = rmp_serde::to_vec_named(&expected).unwrap();
        // An integer from 64 to 127 may be one byte or two; here records never interfere, for none is defined.
        prop_assert_eq!(value(&wire), Some(expected));
    }

    #[test]
    fn no_prefix_of_a_payload_decodes_or_panics(expected in any_json(), cut in any::<prop::sample::Index>()) {
        let wire = rmp_serde::to_vec_named(&expected).unwrap();
        let cut = cut.index(wire.len());
        if cut > 0 {
            prop_assert_eq!(value(&wire[..cut]), None);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(wire in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = value(&wire);
    }
}
