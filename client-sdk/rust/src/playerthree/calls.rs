//! Which answer belongs to which operation. Pure: numbers operations, reads answers, and accepts one only for an
//! operation that waits.

use crate::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;

/// Most operations of one connection that wait for their answers.
pub const MAX_PENDING_CALLS: usize = 64;

/// Longest code of a refusal, in bytes.
const MAX_CODE_BYTES: usize = 64;

/// The numbered operations of one connection.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    last: u32,
    waiting: HashSet<u32>,
    /// Operations whose answers nobody waits for any more. They may still come.
    given_up: HashSet<u32>,
}

/// An operation as it goes over the wire.
#[derive(Debug, Serialize)]
pub(crate) struct Operation<'a, F: ?Sized> {
    op: &'a str,
    pub(crate) seq: u32,
    #[serde(flatten)]
    fields: &'a F,
}

/// The fields of the operation `call`.
#[derive(Debug, Serialize)]
pub(crate) struct CallFields<'a, A: ?Sized> {
    pub(crate) role: &'a str,
    pub(crate) method: &'a str,
    pub(crate) args: &'a A,
}

/// An answer, with the number of its operation.
#[derive(Debug)]
pub struct Answer {
    /// The operation's number.
    pub seq: u32,
    /// The host's data, or [`Error::Call`].
    pub result: Result<Value>,
}

impl Calls {
    /// Numbers an operation. It waits until its answer is read, or until [`Calls::forget`].
    ///
    /// # Errors
    /// [`Error::Busy`] while [`MAX_PENDING_CALLS`] are not answered.
    pub(crate) fn begin<'a, F: ?Sized>(&mut self, op: &'a str, fields: &'a F) -> Result<Operation<'a, F>> {
        if self.waiting.len() + self.given_up.len() >= MAX_PENDING_CALLS {
            return Err(Error::Busy);
        }
        let seq = self.free_number();
        self.waiting.insert(seq);
        Ok(Operation { op, seq, fields })
    }

    /// Takes back an operation that was never sent.
    pub(crate) fn forget(&mut self, seq: u32) {
        self.waiting.remove(&seq);
    }

    /// Waits for the answer to an operation no longer. Its number is free again once the answer came.
    pub(crate) fn give_up(&mut self, seq: u32) {
        if self.waiting.remove(&seq) {
            self.given_up.insert(seq);
        }
    }

    /// Reads an answer; nothing for one that comes too late.
    ///
    /// # Errors
    /// [`Error::Answer`] for what is no answer, or answers no call that was made; nothing changes then.
    pub(crate) fn settle(&mut self, answer: Value) -> Result<Option<Answer>> {
        let seq = answer.get("seq").and_then(Value::as_u64).and_then(|seq| u32::try_from(seq).ok());
        let is_known = |seq: &u32| self.waiting.contains(seq) || self.given_up.contains(seq);
        let seq = seq.filter(is_known).ok_or(Error::Answer)?;
        let result = read(answer)?;
        let is_late = self.given_up.remove(&seq);
        self.waiting.remove(&seq);
        Ok((!is_late).then_some(Answer { seq, result }))
    }

    /// The next number, from 1, that no waiting call has. There always is one among so few.
    fn free_number(&mut self) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1).max(1);
            if !self.waiting.contains(&self.last) && !self.given_up.contains(&self.last) {
                return self.last;
            }
        }
    }
}

/// The outcome of an answer. A broken answer is the outer error, a refusal the inner one.
fn read(mut answer: Value) -> Result<Result<Value>> {
    if answer["op"] != "result" {
        return Err(Error::Answer);
    }
    match answer["ok"] {
        Value::Bool(true) => Ok(Ok(answer["data"].take())),
        Value::Bool(false) => {
            let code = answer["code"].as_str().filter(|code| is_code(code)).ok_or(Error::Answer)?.to_owned();
            Ok(Err(Error::Call { code, answer: Box::new(answer) }))
        }
        _ => Err(Error::Answer),
    }
}

/// Whether a text can be a closed code.
pub(crate) fn is_code(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=MAX_CODE_BYTES).contains(&text.len()) && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ask(calls: &mut Calls) -> Result<u32> {
        calls.begin("report", &json!({})).map(|message| message.seq)
    }

    #[test]
    fn a_call_has_the_members_of_the_binding() {
        // §4: {op:"call",seq,role,method,args}
        let mut calls = Calls::default();
        let args = json!({ "since": 3 });
        let fields = CallFields { role: "player", method: "observe", args: &args };
        let message = calls.begin("call", &fields).unwrap();
        let expected =
            json!({ "op": "call", "seq": 1, "role": "player", "method": "observe", "args": { "since": 3 } });
        assert_eq!(serde_json::to_value(message).unwrap(), expected);
    }

    #[test]
    fn answers_find_their_calls_in_any_order() {
        // §4: {op:"result",seq,ok:true,data} or {op:"result",seq,ok:false,code}
        let mut calls = Calls::default();
        let (first, second) = (ask(&mut calls).unwrap(), ask(&mut calls).unwrap());
        let refused = json!({ "op": "result", "seq": second, "ok": false, "code": "invalid", "path": ["a"] });
        let Answer { seq, result: Err(Error::Call { code, answer }) } =
            calls.settle(refused).unwrap().unwrap()
        else {
            panic!()
        };
        assert_eq!((seq, code.as_str(), &answer["path"]), (second, "invalid", &json!(["a"])));
        let done = calls
            .settle(json!({ "op": "result", "seq": first, "ok": true, "data": { "n": 1 } }))
            .unwrap()
            .unwrap();
        assert_eq!((done.seq, done.result.unwrap()), (first, json!({ "n": 1 })));
    }

    #[test]
    fn an_answer_that_nobody_waits_for_is_an_error_and_changes_nothing() {
        let mut calls = Calls::default();
        let seq = ask(&mut calls).unwrap();
        for answer in [
            json!({ "op": "result", "seq": seq + 1, "ok": true, "data": 1 }),
            json!({ "op": "result", "seq": -1, "ok": true }),
            json!({ "op": "call", "seq": seq, "ok": true }),
            json!({ "op": "result", "seq": seq, "ok": "yes" }),
            json!({ "op": "result", "seq": seq, "ok": false }),
            json!({ "op": "result", "seq": seq, "ok": false, "code": "Not A Code" }),
            json!({ "op": "result", "seq": seq, "ok": false, "code": "a".repeat(65) }),
            json!([seq]),
            json!(null),
        ] {
            assert_eq!(calls.settle(answer).unwrap_err().code(), "answer");
        }
        let answer = json!({ "op": "result", "seq": seq, "ok": true });
        assert!(calls.settle(answer.clone()).is_ok());
        assert_eq!(calls.settle(answer).unwrap_err().code(), "answer", "an answer counts once");
    }

    #[test]
    fn an_answer_that_comes_too_late_is_nobodys_and_frees_its_number() {
        let mut calls = Calls::default();
        let numbers: Vec<u32> = (0..MAX_PENDING_CALLS).map(|_| ask(&mut calls).unwrap()).collect();
        calls.give_up(numbers[0]);
        assert_eq!(ask(&mut calls).unwrap_err().code(), "busy", "what is given up may still be answered");
        let late = json!({ "op": "result", "seq": numbers[0], "ok": true });
        assert!(calls.settle(late.clone()).unwrap().is_none());
        assert_eq!(calls.settle(late).unwrap_err().code(), "answer");
        assert!(ask(&mut calls).is_ok());
    }

    #[test]
    fn only_so_many_calls_wait_and_numbers_wrap_around_them() {
        let mut calls = Calls { last: u32::MAX - 1, ..Calls::default() };
        let numbers: Vec<u32> = (0..MAX_PENDING_CALLS).map(|_| ask(&mut calls).unwrap()).collect();
        assert_eq!(numbers[..3], [u32::MAX, 1, 2]);
        assert_eq!(ask(&mut calls).unwrap_err().code(), "busy");
        calls.forget(numbers[0]);
        calls.last = 0;
        let last = u32::try_from(MAX_PENDING_CALLS).unwrap();
        assert_eq!(ask(&mut calls).unwrap(), last, "the numbers that wait are skipped");
    }
}
