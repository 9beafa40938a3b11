/** By then a start is over, and a process that lives on asks a model and waits. */
const AFTER_MS = 250;
/** Calls of a function before the last compiler takes it up; V8's own figure is 3,000. */
const CALLS = 12_000;
/** Where it was measured. Another version may not know the flag, and says so on stderr. */
const MEASURED = /^13\.6\./;

/**
 * Leaves more code to V8's middle compiler (docs/decisions/0018): what runs for a thousand tasks is much code
 * that runs a few thousand times, and compiling it once more took more of the processor than that gave back.
 */
export function compileLessSoon(): void {
  if (!MEASURED.test(process.versions.v8)) return;
  setTimeout(() => {
    const v8 = process.getBuiltinModule('node:v8');
    v8.setFlagsFromString(`--invocation-count-for-turbofan=${CALLS}`);
  }, AFTER_MS).unref();
}
