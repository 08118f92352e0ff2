//! An example policy in WebAssembly: it commands the army of a side of agent-command (§11).
//!
//! This file is the ABI: bytes come in through `alloc`, `init` and `think`, and go out as a packed place and length.
//! What the policy does with them is in `army`, how it reads them in `json`. Nothing here follows a pointer: the host writes into a buffer that this
//! module owns, and is told where the answer lies.
//!
//! `rustup target add wasm32-unknown-unknown` once, then build it with
//! `cargo build --profile policy --target wasm32-unknown-unknown --package playerthree-agent-command-policy`.

pub mod army;
pub mod json;

use army::orders;
use json::Json;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sections that this policy reads beside its own: gunships are a danger to an army.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "the ABI asks for a section of this name, and nothing else claims it")]
#[unsafe(link_section = "playerthree.detail")]
#[used]
static DETAIL: [u8; 7] = *br#"["air"]"#;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<String> = Mutex::new(String::new());
/// The match data, as text.
static FIELD: Mutex<String> = Mutex::new(String::new());

/// An instance has one thread, so nobody ever waits here.
fn hold<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the host may write `len` bytes. They stay until the next call.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "the ABI names its functions"))]
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn alloc(len: u32) -> u32 {
    let mut input = hold(&INPUT);
    input.clear();
    input.resize(len as usize, 0);
    address(&input)
}

/// Learns the match data that the host wrote.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "the ABI names its functions"))]
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn init(_at: u32, _len: u32) {
    *hold(&FIELD) = text(&hold(&INPUT)).to_owned();
}

/// Answers the observation that the host wrote with a list of intents: its place in the high half, its length in the low.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "the ABI names its functions"))]
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn think(_at: u32, _len: u32) -> u64 {
    let (input, field) = (hold(&INPUT), hold(&FIELD));
    let mut output = hold(&OUTPUT);
    *output = match (Json::read(&field), Json::read(text(&input))) {
        (Some(field), Some(observation)) => orders(&field, &observation),
        _ => "[]".to_owned(),
    };
    u64::from(address(output.as_bytes())) << 32 | output.len() as u64
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Where bytes lie in the module's memory, whose addresses have 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "a place in the memory of a 32-bit module")]
fn address(bytes: &[u8]) -> u32 {
    bytes.as_ptr() as usize as u32
}
