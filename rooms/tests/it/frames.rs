//! What leaves for many clients at once, over real sockets and threads.

use crate::support::{self, Running, Socket};
use futures_util::SinkExt;
use playerthree_rooms::Config;
use tokio_tungstenite::tungstenite::Message;

const CLIENTS: u8 = 8;
const MESSAGES: usize = 500;

/// An echo message of one client: its letter, again and again.
fn message(letter: u8, length: usize) -> Vec<u8> {
    let mut message = b"\x0d\xa4echo\xda".to_vec();
    message.extend_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
    message.resize(message.len() + length, letter);
    message
}

async fn talk(mut socket: Socket, letter: u8) {
    // Lengths go down, so that whatever was written before is longer than what is written next.
    for length in (1000..1000 + MESSAGES).rev() {
        let sent = message(letter, length);
        socket.send(Message::Binary(sent.clone().into())).await.unwrap();
        assert!(support::next(&mut socket).await.unwrap().into_data() == sent, "{letter}: {length}");
    }
}

// Field report U43.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_message_holds_bytes_of_another_client() {
    let server = Running::start(Config {
        messages_per_second: 1_000_000,
        bytes_per_second: u32::MAX,
        ..Config::default()
    })
    .await;
    let mut talks = Vec::new();
    for client in 0..CLIENTS {
        let socket = server.open(&server.seat("{}").await, &[]).await.unwrap();
        talks.push(tokio::spawn(talk(socket, b'a' + client)));
    }
    for talk in talks {
        talk.await.unwrap();
    }
}
