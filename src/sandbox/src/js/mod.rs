//! A policy in JavaScript: one QuickJS engine, alone in its worker process (§11).
//!
//! It must never be entered again after an interrupt, never run a job after the call that queued it, and
//! never read a policy's values except through the engine's own JSON writer.

mod log;
mod thrown;

use std::rc::Rc;

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{CString, Context, Ctx, Function, Persistent, Runtime, Value};

use crate::call::Call;
use crate::detail::Detail;
use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::{JS_STACK_BYTES, Limits, MAX_OUTPUT_BYTES};
use crate::output::{bad, too_long};

/// The name of the policy's script in the engine's texts.
const SCRIPT_NAME: &str = "policy.js";

const PRELUDE: &str = include_str!("prelude.js");

/// The language without clocks, weak references, host bindings and module loading.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// A loaded policy. The fields are dropped in this order: values, then the context, then the engine.
pub(crate) struct JsEngine {
    think: Persistent<Function<'static>>,
    context: Context,
    call: Rc<Call>,
}

impl JsEngine {
    /// Compiles and runs the script, reads `detail`, and calls `init` with the match data (§§10, 11).
    pub(crate) fn load(
        script: &[u8],
        match_data: &[u8],
        seed: u64,
        limits: &Limits,
        call: Rc<Call>,
    ) -> Result<(Self, Detail), PolicyError> {
        let source = std::str::from_utf8(script)
            .map_err(|_| PolicyError::with_text(PolicyErrorCode::Compile, "the source is not UTF-8"))?;
        let (runtime, context) = new_engine(limits, seed, &call)?;
        let (think, detail) = context.with(|ctx| {
            let started = start(&ctx, &call, source, match_data);
            run_jobs(&ctx, &call);
            started
        })?;
        drop(runtime);
        Ok((Self { think, context, call }, detail))
    }

    /// Calls `think` with a fresh copy of the observation, and gives the JSON of the array that it returned.
    pub(crate) fn think(&mut self, observation: Vec<u8>) -> Result<String, PolicyError> {
        self.context.with(|ctx| {
            let json = self.think_in(&ctx, observation);
            run_jobs(&ctx, &self.call);
            json
        })
    }

    fn think_in(&self, ctx: &Ctx<'_>, observation: Vec<u8>) -> Result<String, PolicyError> {
        let threw = |error| thrown::failure(ctx, &self.call, &error, PolicyErrorCode::Threw);
        let observation = ctx.json_parse(observation).map_err(threw)?;
        let think = self.think.clone().restore(ctx).map_err(threw)?;
        let returned: Value<'_> = think.call((observation,)).map_err(threw)?;
        if !returned.is_array() && !returned.is_proxy() {
            return Err(bad("think did not return an array"));
        }
        let json = to_json(ctx, &self.call, returned)?;
        if json.len() > MAX_OUTPUT_BYTES {
            return Err(too_long());
        }
        Ok(json.as_str().to_owned())
    }
}

fn new_engine(limits: &Limits, seed: u64, call: &Rc<Call>) -> Result<(Runtime, Context), PolicyError> {
    let broken = |_| PolicyError::from(PolicyErrorCode::MemoryLimit);
    let runtime = Runtime::new().map_err(broken)?;
    runtime.set_max_stack_size(JS_STACK_BYTES);
    let context = Context::custom::<Intrinsics>(&runtime).map_err(broken)?;
    context.with(|ctx| prepare(&ctx, seed, call)).map_err(broken)?;
    // The engine's own start does not survive a failed allocation, so the limits begin with the policy's code.
    runtime.set_memory_limit(limits.memory_bytes.max(1));
    let polled = Rc::clone(call);
    runtime.set_interrupt_handler(Some(Box::new(move || polled.poll())));
    Ok((runtime, context))
}

fn prepare(ctx: &Ctx<'_>, seed: u64, call: &Rc<Call>) -> rquickjs::Result<()> {
    let prelude: Function<'_> = ctx.eval(PRELUDE)?;
    let [low, high] = [seed & 0xffff_ffff, seed >> 32];
    prelude.call::<_, ()>((low as f64, high as f64, 0x9e37_79b9_u32, 1))?;
    ctx.globals().set("log", log::function(ctx, Rc::clone(call))?)
}

type Started = (Persistent<Function<'static>>, Detail);

fn start(ctx: &Ctx<'_>, call: &Call, source: &str, match_data: &[u8]) -> Result<Started, PolicyError> {
    run_script(ctx, source).map_err(|error| thrown::script_failure(ctx, call, &error))?;
    run_jobs(ctx, call);
    call.check()?;
    let think = global(ctx, call, "think")?
        .into_function()
        .ok_or_else(|| PolicyError::with_text(PolicyErrorCode::MissingExport, "think is not a function"))?;
    let detail = match global(ctx, call, "detail")? {
        undeclared if undeclared.is_undefined() => Detail::Undeclared,
        declared => Detail::from_json(to_json(ctx, call, declared)?.as_ref())?,
    };
    if let Some(init) = global(ctx, call, "init")?.into_function() {
        let threw = |error| thrown::failure(ctx, call, &error, PolicyErrorCode::Threw);
        let data = ctx.json_parse(match_data).map_err(threw)?;
        init.call::<_, ()>((data,)).map_err(threw)?;
    }
    Ok((Persistent::save(ctx, think), detail))
}

fn run_script(ctx: &Ctx<'_>, source: &str) -> rquickjs::Result<()> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(SCRIPT_NAME.to_owned());
    ctx.eval_with_options(source, options)
}

/// A global of the policy, whether it was declared with `function`, `var`, `let` or `const`.
fn global<'js>(ctx: &Ctx<'js>, call: &Call, name: &str) -> Result<Value<'js>, PolicyError> {
    ctx.eval(format!("typeof {name} === 'undefined' ? undefined : {name}"))
        .map_err(|error| thrown::failure(ctx, call, &error, PolicyErrorCode::Threw))
}

/// Writes a value with the engine's own JSON writer, which no change to the language's prototypes can replace.
fn to_json<'js>(ctx: &Ctx<'js>, call: &Call, value: Value<'js>) -> Result<CString<'js>, PolicyError> {
    let unreadable = |error| thrown::failure(ctx, call, &error, PolicyErrorCode::BadOutput);
    let text = ctx.json_stringify(value).map_err(unreadable)?;
    text.ok_or_else(|| bad("the value has no JSON form"))?.to_cstring().map_err(unreadable)
}

/// Runs what promises have queued, inside the budget of the call that queued it, so that nothing outlives it.
fn run_jobs(ctx: &Ctx<'_>, call: &Call) {
    while !call.interrupted() && !call.poll() && ctx.execute_pending_job() {}
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::limits::Budget;

    /// Never comes to an end, with promises of every kind pending.
    const PENDING: &str = "
        const never = new Promise(() => {});
        async function wait() { await never; }
        async function* numbers() { for (let i = 0; ; i++) { yield i; await null; } }
        async function count() {
            for await (const n of numbers()) { log(n); wait(); if (n % 7 == 0) await Promise.all([null, n]); }
        }
        function begin() {
            for (let i = 0; i < 50; i++) { count(); wait(); Promise.race([never, i]).finally(() => {}); }
            return [];
        }";

    /// How deep a function calls itself before the engine throws.
    const DEPTH: &str = "(() => { let depth = 0; const down = () => { depth++; down(); };
        try { down(); } catch (thrown) { if (!(thrown instanceof RangeError)) throw thrown; } return depth; })()";

    /// The same in an engine with a stack of so many bytes.
    fn depth_in(stack_bytes: usize) -> f64 {
        let runtime = Runtime::new().unwrap();
        runtime.set_max_stack_size(stack_bytes);
        Context::full(&runtime).unwrap().with(|ctx| ctx.eval::<f64, _>(DEPTH)).unwrap()
    }

    // §11: the stack of a script is 256 KiB, whatever the build makes of each call.
    #[test]
    fn a_script_has_a_stack_of_256_kib() {
        let limits = limits();
        let call = Rc::new(Call::new(&limits, Arc::default()));
        let script = format!("function think() {{ return [{DEPTH}]; }}");
        let (mut engine, _) = JsEngine::load(script.as_bytes(), b"null", 1, &limits, call).unwrap();
        let thought = engine.think(b"{}".to_vec()).unwrap();
        let depth: f64 = thought.trim_matches(['[', ']']).parse().unwrap();
        assert!(depth_in(192 << 10) < depth && depth < depth_in(320 << 10), "{depth} deep");
        let exact = depth_in(256 << 10);
        assert!((depth - exact).abs() < exact / 10.0, "{depth} deep, and {exact} in a bare engine");
    }

    fn limits() -> Limits {
        Limits {
            ms_per_call: 1000,
            memory_bytes: 64 << 20,
            max_artifact_bytes: 1,
            max_intents_per_call: 1,
            max_log_lines: 20,
            max_log_line_bytes: 20,
            runtimes: vec![],
        }
    }

    // Field report U88: an engine that is interrupted anywhere, with promises pending, is freed without an abort.
    #[test]
    fn an_engine_that_runs_out_of_time_anywhere_is_freed() {
        let limits = limits();
        let wall = Duration::from_secs(3600);
        let load = |script: &str, cpu: Duration| {
            let call = Rc::new(Call::new(&limits, Arc::default()));
            let loaded = call.run(Budget::alone(cpu, wall), || {
                JsEngine::load(script.as_bytes(), b"null", 1, &limits, Rc::clone(&call))
            });
            (loaded.result, call)
        };
        let at_load = format!("{PENDING} begin(); function think() {{ return []; }}");
        let at_think = format!("{PENDING} function think() {{ return begin(); }}");
        for cpu in (0..40).map(|step| Duration::from_micros(step * step * 5)) {
            let (loaded, _) = load(&at_load, cpu);
            assert_eq!(loaded.map(|_| ()).unwrap_err().code, PolicyErrorCode::Timeout);
            let (loaded, call) = load(&at_think, wall);
            let (mut engine, _) = loaded.unwrap();
            let thought = call.run(Budget::alone(cpu, wall), || engine.think(b"{}".to_vec()));
            assert_eq!(thought.result.unwrap_err().code, PolicyErrorCode::Timeout);
        }
    }
}
