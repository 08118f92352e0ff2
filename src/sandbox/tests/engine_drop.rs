//! Field report U88: an engine that is interrupted anywhere, with promises pending, is freed without an abort.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::{Context, Runtime};

const PENDING: &str = "
    const never = new Promise(() => {});
    async function wait() { await never; }
    async function* numbers() { for (let i = 0; ; i++) { yield i; await null; } }
    async function count() { for await (const n of numbers()) { wait(); if (n % 7 == 0) await Promise.all([null, n]); } }
    for (let i = 0; i < 50; i++) { count(); wait(); Promise.race([never, i]).finally(() => {}); }
";

#[test]
fn an_engine_interrupted_at_any_poll_is_freed() {
    for polls in 1..=30 {
        let runtime = Runtime::new().unwrap();
        let left = Rc::new(Cell::new(polls));
        let interrupted = Rc::new(Cell::new(false));
        let (counter, flag) = (Rc::clone(&left), Rc::clone(&interrupted));
        runtime.set_interrupt_handler(Some(Box::new(move || {
            counter.set(counter.get() - 1);
            flag.set(flag.get() || counter.get() <= 0);
            flag.get()
        })));
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| {
            let _ = ctx.eval::<(), _>(PENDING);
            ctx.catch();
            while !interrupted.get() && ctx.execute_pending_job() {}
        });
        assert!(interrupted.get(), "poll {polls} was never reached");
    }
}
