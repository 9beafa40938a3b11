import { createContext, Script } from 'node:vm';
import { lazy } from '../../base/lazy.ts';

/** What was to be done took too long. */
export class CheckTimeout extends Error {}

const room = lazy(() => {
  const inside: { work?: () => void } = {};
  return { inside, context: createContext(inside), script: new Script('work()') };
});

/**
 * Does something that holds nothing and waits for nothing, and ends it after `ms`, in the middle of a
 * pattern, too: nothing else in the process goes on meanwhile. Throws `CheckTimeout`, and what `work` does.
 */
export function withinTime<T>(ms: number, work: () => T): T {
  // Only a script's run is ended by the clock; what it calls is ended with it.
  const { inside, context, script } = room();
  let done: { readonly result: T } | null = null;
  inside.work = () => {
    done = { result: work() };
  };
  try {
    script.runInContext(context, { timeout: ms });
  } catch (thrown) {
    throw isTimeout(thrown) ? new CheckTimeout() : thrown;
  } finally {
    delete inside.work;
  }
  return resultOf<T>(done);
}

function resultOf<T>(done: { readonly result: T } | null): T {
  if (done === null) throw new Error('the script did nothing');
  return done.result;
}

/** An error of the script's own world, which is no `Error` of this one. */
function isTimeout(thrown: unknown): boolean {
  return (
    typeof thrown === 'object' &&
    thrown !== null &&
    'code' in thrown &&
    thrown.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
