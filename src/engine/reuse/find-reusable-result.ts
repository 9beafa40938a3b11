import { onAbort } from '../../base/async.ts';
import { errorMessage } from '../../base/errors.ts';
import type { EngineDeps, ReuseOutcome } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { hasOnlyPrompt } from './can-reuse.ts';
import { reuseKey } from './reuse-key.ts';
import { ReadRepetition } from './repeat-reads.ts';

/** Maximum number of earlier results that are tried, the newest first. Each may fit another state of the files. */
const MAX_TRIED = 5;
/** Maximum time for all of them together, in milliseconds. After it the task runs. */
const MAX_MS = 5_000;

/**
 * Finds the result of an earlier task that had the same work and read the same. Returns it, or the reason why there
 * is none, or null if the task is not eligible. Rejects when the task is stopped.
 */
export async function findReusableResult(
  deps: EngineDeps,
  run: TaskRun,
): Promise<ReuseOutcome | null> {
  const { spec } = run;
  // A task that can see other tasks depends on their state, which the key does not contain.
  const key = spec.handed.length > 0 ? null : reuseKey(spec, deps.redact);
  if (key === null) return null;
  const missed = (reason: string): ReuseOutcome => ({ type: 'reuse.missed', key, because: reason });
  const controller = new AbortController();
  const deadline = deps.deadlines.after(MAX_MS, () => controller.abort());
  const removeListener = onAbort(run.cancellation.signal, () => controller.abort());
  try {
    const found = await newestValidResult(deps, run, { key, signal: controller.signal });
    run.cancellation.signal.throwIfAborted();
    if (typeof found === 'string') return missed(found);
    // A message may have arrived meanwhile.
    return hasOnlyPrompt(run.state.conversation)
      ? found
      : missed('it was told more than its prompt');
  } catch (thrown) {
    run.cancellation.signal.throwIfAborted();
    // Reuse only saves a run: a fault in it must not end the task.
    deps.onFault(spec.id, thrown);
    return missed(`earlier results could not be looked at: ${errorMessage(thrown)}`);
  } finally {
    deadline.cancel();
    removeListener();
  }
}

async function newestValidResult(
  deps: EngineDeps,
  run: TaskRun,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<ReuseOutcome | string> {
  let reason = 'no earlier task was given the same work';
  for (const [index, of] of deps.store.findReusable(key).slice(0, MAX_TRIED).entries()) {
    const reads = new ReadRepetition(deps, signal);
    const found = await reads.runOf(of, run);
    if (typeof found !== 'string') {
      const { endedAt: at, result: text } = found;
      return { type: 'task.reused', of, at, read: [...reads.read.values()], text };
    }
    // The reason of the newest one is the most useful.
    if (index === 0) reason = `task ${of} ${found}`;
    if (signal.aborted) break;
  }
  return reason;
}
