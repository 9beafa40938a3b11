/** By then a start is over, and a process that lives on asks a model and waits. */
const AFTER_MS = 250;
const FLAGS = [
  // Calls of a function before the middle compiler takes it up; V8's own figure is 400, …
  '--invocation-count-for-maglev=50',
  // … and since the last time that it met values of a new kind; V8's own figure is 500.
  '--minimum-invocations-after-ic-update=50',
  // Calls before the last compiler takes it up; V8's own figure is 3,000.
  '--invocation-count-for-turbofan=60000',
];
/** Where it was measured. Another version may not know the flags, and says so on stderr. */
const MEASURED = /^13\.6\./;

/**
 * Has V8's middle compiler take functions up early and the last one late (docs/decisions/0018): what runs for a
 * thousand tasks is much code that runs a few thousand times. The middle one costs little and makes it a good
 * deal faster; the last one costs more than it gives back.
 */
export function tuneCompilersSoon(): void {
  if (!MEASURED.test(process.versions.v8)) return;
  setTimeout(() => {
    const v8 = process.getBuiltinModule('node:v8');
    for (const flag of FLAGS) v8.setFlagsFromString(flag);
  }, AFTER_MS).unref();
}
