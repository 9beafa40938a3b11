/** By then a start is over, and a process that lives on asks a model and waits. */
const AFTER_MS = 250;
/** Calls of a function before the middle compiler takes it up, V8's own figure is 400, … */
const MAGLEV_CALLS = 800;
/** … and before the last one does; V8's own figure is 3,000. */
const TURBOFAN_CALLS = 60_000;
/** Where it was measured. Another version may not know the flags, and says so on stderr. */
const MEASURED = /^13\.6\./;

/**
 * Leaves more code to V8's simpler compilers (docs/decisions/0018): what runs for a thousand tasks is much code
 * that runs a few thousand times, and compiling it once more took more of the processor than that gave back.
 */
export function compileLessSoon(): void {
  if (!MEASURED.test(process.versions.v8)) return;
  setTimeout(() => {
    const v8 = process.getBuiltinModule('node:v8');
    v8.setFlagsFromString(`--invocation-count-for-maglev=${MAGLEV_CALLS}`);
    v8.setFlagsFromString(`--invocation-count-for-turbofan=${TURBOFAN_CALLS}`);
  }, AFTER_MS).unref();
}
