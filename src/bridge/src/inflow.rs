//! The client's lines: each is judged in order, each request is carried by a task of its own.

use crate::MESSAGE_BYTES;
use crate::envelope::Incoming;
use crate::fault::Fault;
use crate::forward::Bridge;
use bytes::BytesMut;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::codec::{Decoder as _, LinesCodec, LinesCodecError};
use tokio_util::task::AbortOnDropHandle;

/// Requests in flight at most. The endpoint lets one credential have fewer (§15), streams aside.
pub(crate) const IN_FLIGHT: usize = 32;

/// Requests in flight by their ids. One that is dropped is taken back.
type Flying = HashMap<String, AbortOnDropHandle<()>>;

/// Serves the client's requests.
///
/// Terminates when the input ends; requests in flight are dropped then.
pub(crate) async fn serve<I: AsyncRead + Unpin>(bridge: &Arc<Bridge>, input: I) -> std::io::Result<()> {
    let mut lines = Lines::new(input);
    let mut flying = Flying::new();
    while let Some(line) = lines.next().await? {
        flying.retain(|_, task| !task.is_finished());
        match line {
            Ok(line) => take(bridge, &mut flying, line).await,
            Err(fault) => bridge.tell(fault.answer(None)).await,
        }
    }
    Ok(())
}

async fn take(bridge: &Arc<Bridge>, flying: &mut Flying, line: String) {
    let request = match Incoming::parse(line) {
        Ok(Incoming::Request(request)) => request,
        Ok(Incoming::Cancelled(id)) => {
            flying.remove(&id.to_string());
            return;
        }
        Ok(Incoming::Other) => return,
        Err((fault, id)) => return bridge.tell(fault.answer(id.as_ref())).await,
    };
    let refusal = if flying.contains_key(&request.key()) {
        Some(Fault::NotRequest)
    } else if flying.len() >= IN_FLIGHT {
        Some(Fault::Busy)
    } else {
        None
    };
    if let Some(refusal) = refusal {
        return bridge.tell(refusal.answer(Some(&request.id))).await;
    }
    let (key, bridge) = (request.key(), Arc::clone(bridge));
    flying.insert(key, AbortOnDropHandle::new(tokio::spawn(async move { bridge.carry(request).await })));
}

/// Bounded lines. One that is too long, or no text, is a fault of its own and does not end the others. What the end cuts
/// short is no line.
struct Lines<I> {
    input: I,
    codec: LinesCodec,
    /// What has come and is no whole line yet.
    read: BytesMut,
}

impl<I: AsyncRead + Unpin> Lines<I> {
    fn new(input: I) -> Self {
        Self { input, codec: LinesCodec::new_with_max_length(MESSAGE_BYTES), read: BytesMut::new() }
    }

    /// The next line, nothing at the end.
    async fn next(&mut self) -> std::io::Result<Option<Result<String, Fault>>> {
        loop {
            match self.codec.decode(&mut self.read) {
                Ok(Some(line)) if line.trim().is_empty() => {}
                Ok(Some(line)) => return Ok(Some(Ok(line))),
                Ok(None) if self.input.read_buf(&mut self.read).await? == 0 => return Ok(None),
                Ok(None) => {}
                Err(LinesCodecError::MaxLineLengthExceeded) => return Ok(Some(Err(Fault::TooLong))),
                // The codec itself reads nothing: the line is no text.
                Err(LinesCodecError::Io(_)) => return Ok(Some(Err(Fault::NotJson))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bad_line_does_not_end_the_others() {
        let long = "x".repeat(MESSAGE_BYTES + 1);
        let mut input = format!("first\n{long}\n\nsecond\n").into_bytes();
        input.extend(b"\xff\xfe\nthird\n");
        input.extend(format!("{long}\nlast\n").into_bytes());
        let mut lines = Lines::new(&input[..]);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(line);
        }
        let text = |text: &str| Ok(text.to_owned());
        assert_eq!(
            found,
            [
                text("first"),
                Err(Fault::TooLong),
                text("second"),
                Err(Fault::NotJson),
                text("third"),
                Err(Fault::TooLong),
                text("last")
            ]
        );
    }
}
