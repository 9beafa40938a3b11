import type { EngineDeps } from '../task/deps.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/**
 * The epoch of the process that created a task. Later owners know the prompt only in its redacted form from the log.
 */
const CREATOR_EPOCH = 1;

/**
 * Returns true if the engine must search for an earlier result before it starts a task. It searches at most once for
 * each task.
 */
export function canReuseResult(
  { reuse, settings }: Pick<EngineDeps, 'reuse' | 'settings'>,
  { answer, conversation, epoch, openTurn, spec, turns }: TaskState,
): boolean {
  // In a rerun, the outcome of the search comes from the log.
  if (reuse !== undefined) return true;
  // What the program or server of a remote agent has read is not known.
  if (spec.agent.remote !== undefined) return false;
  if (spec.accept !== undefined || !(spec.agent.cache ?? settings.reusesResults)) return false;
  const isUntouched = turns === 0 && openTurn === null && answer === null;
  return (
    isUntouched && spec.parent !== null && epoch === CREATOR_EPOCH && hasOnlyPrompt(conversation)
  );
}

/** Returns true if a task has never received a message besides its prompt. */
export function hasOnlyPrompt({ inputIds }: TaskState['conversation']): boolean {
  return inputIds.size === 1;
}
