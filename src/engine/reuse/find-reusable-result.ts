import { onAbort } from '../../base/async.ts';
import { errorMessage } from '../../base/errors.ts';
import type { EngineDeps, ReuseOutcome } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { hasOnlyPrompt } from './can-reuse.ts';
import { reuseKey } from './reuse-key.ts';
import { ReadRepetition } from './repeat-reads.ts';

/** Earlier results of the same work that are tried, the newest first: one for each state of the files. */
const MOST_TRIED = 5;
/** For all of them together. Past it the task is run. */
const MOST_MS = 5_000;

/**
 * The result of an earlier task that this one would come to as well, or why there is none; null: nothing
 * was looked for. Rejects when the task is stopped.
 */
export async function findReusableResult(
  deps: EngineDeps,
  run: TaskRun,
): Promise<ReuseOutcome | null> {
  const { spec } = run;
  // What other tasks say, and what they are at, no hash tells.
  const key = spec.handed.length > 0 ? null : reuseKey(spec, deps.redact);
  if (key === null) return null;
  const missed = (because: string): ReuseOutcome => ({ type: 'reuse.missed', key, because });
  const controller = new AbortController();
  const deadline = deps.deadlines.after(MOST_MS, () => controller.abort());
  const forget = onAbort(run.cancellation.signal, () => controller.abort());
  try {
    const found = await newestThatHolds(deps, run, { key, signal: controller.signal });
    run.cancellation.signal.throwIfAborted();
    if (typeof found === 'string') return missed(found);
    // It may have been told something meanwhile.
    return hasOnlyPrompt(run.state.conversation)
      ? found
      : missed('it was told more than its prompt');
  } catch (thrown) {
    run.cancellation.signal.throwIfAborted();
    // It is a way to save a run, and no reason to lose one.
    deps.onFault(spec.id, thrown);
    return missed(`earlier results could not be looked at: ${errorMessage(thrown)}`);
  } finally {
    deadline.cancel();
    forget();
  }
}

async function newestThatHolds(
  deps: EngineDeps,
  run: TaskRun,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<ReuseOutcome | string> {
  let why = 'no earlier task was given the same work';
  for (const [index, of] of deps.store.endedWithKey(key).slice(0, MOST_TRIED).entries()) {
    const reads = new ReadRepetition(deps, signal);
    const found = await reads.runOf(of, run);
    if (typeof found !== 'string') {
      const { endedAt: at, result: text } = found;
      return { type: 'task.reused', of, at, read: [...reads.read.values()], text };
    }
    // Why the newest one does not do says most.
    if (index === 0) why = `task ${of} ${found}`;
    if (signal.aborted) break;
  }
  return why;
}
