//! The policy's `log(...args)` (§11).
//!
//! It must never spend work on a line that would be dropped.

use std::rc::Rc;

use rquickjs::function::Rest;
use rquickjs::{Coerced, Ctx, Function, Result, Value};

use crate::call::Call;

/// The function that the policy sees as the global `log`.
pub(super) fn function<'js>(ctx: &Ctx<'js>, call: Rc<Call>) -> Result<Function<'js>> {
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, args: Rest<Value<'js>>| log(&ctx, &call, &args.0))?
        .with_name("log")
}

fn log<'js>(ctx: &Ctx<'js>, call: &Call, args: &[Value<'js>]) -> Result<()> {
    if call.log_is_full() {
        return Ok(());
    }
    let mut line = String::new();
    for (index, arg) in args.iter().enumerate() {
        if line.len() >= call.max_log_line_bytes() {
            break;
        }
        if index > 0 {
            line.push(' ');
        }
        line.push_str(&text(ctx, arg)?);
    }
    call.log(&line);
    Ok(())
}

/// Strings as they are, objects as JSON, everything else as the language writes it.
fn text<'js>(ctx: &Ctx<'js>, arg: &Value<'js>) -> Result<String> {
    if arg.is_object()
        && !arg.is_function()
        && !arg.is_error()
        && let Some(json) = ctx.json_stringify(arg.clone())?
    {
        return json.to_string();
    }
    if let Some(Ok(string)) = arg.as_string().map(rquickjs::String::to_string) {
        return Ok(string);
    }
    if arg.is_string() {
        // A string with half a surrogate pair has no UTF-8 form; its JSON form escapes the half.
        return ctx.json_stringify(arg.clone())?.map_or(Ok(String::new()), |json| json.to_string());
    }
    if arg.is_symbol() {
        return Ok("Symbol()".to_owned());
    }
    arg.get::<Coerced<String>>().map(|text| text.0)
}
