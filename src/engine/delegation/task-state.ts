import { MusterError } from '../../base/errors.ts';
import { foldLog } from '../task/fold-log.ts';
import { interruptionError } from '../results/result.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/**
 * How a task stands, whether it is at work here or not. One without an end that is not at work reads
 * as interrupted. A MusterError where its log can't be read.
 */
export function taskState({ deps, running }: EngineContext, id: string): TaskState | MusterError {
  const run = running.get(id);
  if (run !== undefined) return run.outcome();
  try {
    const state = foldLog(deps.store, id);
    if (state.end !== null) return state;
    const error = interruptionError(state);
    const end = { status: 'failed', error, because: error.message, by: null } as const;
    return { ...state, status: 'interrupted', end };
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}
