/** The maximum duration of a start. A process that is still alive after this time is waiting for a model. */
const START_MS = 250;
/** The flags, which the benchmark gives to programs with the library, too. */
export const V8_FLAGS = [
  // Calls of a function before the middle compiler compiles it; the default of V8 is 400.
  '--invocation-count-for-maglev=50',
  // Calls since the function last saw values of a new type; the default of V8 is 500.
  '--minimum-invocations-after-ic-update=50',
  // Calls before the last compiler compiles it; the default of V8 is 3,000.
  '--invocation-count-for-turbofan=60000',
];
/** The versions of V8 for which the flags were measured. Another version may not know the flags and would print an error. */
const MEASURED_VERSIONS = /^13\.6\./;

/**
 * Makes V8's middle compiler start early and the last one late (docs/decisions/0018). A run of a thousand tasks
 * executes much code a few thousand times: the middle compiler is cheap and makes it much faster, while the last
 * one costs more than it saves.
 */
export function tuneCompilersSoon(): void {
  if (!MEASURED_VERSIONS.test(process.versions.v8)) return;
  setTimeout(() => {
    const v8 = process.getBuiltinModule('node:v8');
    for (const flag of V8_FLAGS) v8.setFlagsFromString(flag);
  }, START_MS).unref();
}
