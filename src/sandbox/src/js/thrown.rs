//! From an engine failure to the code of §11 and its bounded text.
//!
//! Reading an exception may run the policy's own getters; they run under the same call's budget.

use rquickjs::{Ctx, Error, Value};

use super::SCRIPT_NAME;
use crate::call::Call;
use crate::error::{PolicyError, PolicyErrorCode};

/// How the engine's own errors about a refused allocation begin.
const OUT_OF_MEMORY: &str = "out of memory";

/// A failure while the policy's code ran; `otherwise` unless the budget or the memory limit is the reason.
pub(super) fn failure(ctx: &Ctx<'_>, call: &Call, error: &Error, otherwise: PolicyErrorCode) -> PolicyError {
    let thrown = Thrown::catch(ctx, call, error);
    thrown.describe(call, otherwise)
}

/// A failure of the script itself: `compile` when it does not parse, `threw` when its top-level code throws.
pub(super) fn script_failure(ctx: &Ctx<'_>, call: &Call, error: &Error) -> PolicyError {
    if matches!(error, Error::InvalidString(_)) {
        return PolicyError::with_text(PolicyErrorCode::Compile, "the source contains a NUL character");
    }
    let thrown = Thrown::catch(ctx, call, error);
    let otherwise = if thrown.is_parse_error() { PolicyErrorCode::Compile } else { PolicyErrorCode::Threw };
    thrown.describe(call, otherwise)
}

/// What is known of an exception. All of it is the policy's word, so it decides no more than a code.
#[derive(Default)]
struct Thrown {
    /// There is no error object: the engine had no memory for one, and failed with null or with nothing at all.
    /// A policy that throws null itself cannot be told apart, and is reported the same.
    without_object: bool,
    name: Option<String>,
    message: Option<String>,
    stack: Option<String>,
}

impl Thrown {
    fn catch(ctx: &Ctx<'_>, call: &Call, error: &Error) -> Self {
        if call.interrupted() {
            // Reading the exception could run more of the policy.
            return Self::default();
        }
        if !matches!(error, Error::Exception) {
            return Self { without_object: true, ..Self::default() };
        }
        let value = ctx.catch();
        if value.is_null() {
            return Self { without_object: true, ..Self::default() };
        }
        let text_of = |name: &str| {
            let text = value.as_object()?.get::<_, Value<'_>>(name).ok()?.into_string()?.to_string().ok();
            // A getter that threw leaves its own exception behind.
            ctx.catch();
            text
        };
        match value.as_string() {
            Some(text) => Self { message: text.to_string().ok(), ..Self::default() },
            None => Self {
                name: text_of("name"),
                message: text_of("message"),
                stack: text_of("stack"),
                ..Self::default()
            },
        }
    }

    fn describe(&self, call: &Call, otherwise: PolicyErrorCode) -> PolicyError {
        if call.interrupted() {
            PolicyErrorCode::Timeout.into()
        } else if self.is_out_of_memory() {
            PolicyErrorCode::MemoryLimit.into()
        } else {
            PolicyError::with_text(otherwise, &self.to_text())
        }
    }

    fn is_out_of_memory(&self) -> bool {
        let is_refusal = |text: &str| text.starts_with(OUT_OF_MEMORY);
        self.without_object
            || self.name.as_deref() == Some("InternalError")
                && self.message.as_deref().is_some_and(is_refusal)
    }

    /// The engine names a place in the script, and no function, only for a script that it could not parse.
    fn is_parse_error(&self) -> bool {
        let place = format!("at {SCRIPT_NAME}:");
        self.name.as_deref() == Some("SyntaxError")
            && self.stack.as_ref().is_some_and(|stack| stack.trim_start().starts_with(&place))
    }

    fn to_text(&self) -> String {
        let head: Vec<&str> = [&self.name, &self.message].into_iter().flatten().map(String::as_str).collect();
        match &self.stack {
            Some(stack) => format!("{}\n{}", head.join(": "), stack.trim_end()),
            None => head.join(": "),
        }
    }
}
