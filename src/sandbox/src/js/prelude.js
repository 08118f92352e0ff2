// Runs once in every fresh engine, before the policy: replaces the engine's clock and randomness (§11).
// It must leave nothing reachable through which a policy could read the real ones.
(function (a, b, c, d) {
  "use strict";

  // sfc32, seeded by the host.
  const random = function random() {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4294967296;
  };
  for (let i = 0; i < 15; i++) random();

  const EngineDate = Date;
  const { construct } = Reflect;
  const FixedDate = function Date(...args) {
    if (new.target === undefined) return new EngineDate(0).toString();
    return construct(EngineDate, args.length === 0 ? [0] : args, new.target);
  };
  const hidden = (value) => ({ value, writable: true, enumerable: false, configurable: true });
  Object.defineProperties(FixedDate, {
    length: { value: 7, configurable: true },
    prototype: { value: EngineDate.prototype, writable: false, enumerable: false, configurable: false },
    now: hidden(function now() { return 0; }),
    parse: hidden(EngineDate.parse),
    UTC: hidden(EngineDate.UTC),
  });
  Object.defineProperty(EngineDate.prototype, "constructor", hidden(FixedDate));
  // A hook over stack frames would hand out the functions on them, and with a valueOf that makes an error one of them is
  // the engine's own Date.
  delete Error.prepareStackTrace;
  Object.defineProperty(EngineDate, "now", { value: FixedDate.now, writable: false, configurable: false });

  Object.defineProperty(Math, "random", hidden(random));
  Object.defineProperty(globalThis, "Date", hidden(FixedDate));
  for (const name of ["Atomics", "SharedArrayBuffer", "WeakRef", "FinalizationRegistry", "performance"]) {
    delete globalThis[name];
  }
})
