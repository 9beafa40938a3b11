import type { EngineDeps } from '../task/deps.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The epoch of the process that created a task. A later owner knows the prompt only as the log has it, redacted. */
const FIRST_EPOCH = 1;

/** Returns true if an earlier result is to be looked for before a task starts. This happens once for a task. */
export function canReuseResult(
  { reuse, settings }: Pick<EngineDeps, 'reuse' | 'settings'>,
  { answer, conversation, epoch, openTurn, spec, turns }: TaskState,
): boolean {
  // A rerun takes the outcome from the log.
  if (reuse !== undefined) return true;
  if (!(spec.agent.cache ?? settings.reusesResults)) return false;
  const isUntouched = turns === 0 && openTurn === null && answer === null;
  return (
    isUntouched && spec.parent !== null && epoch === FIRST_EPOCH && hasOnlyPrompt(conversation)
  );
}

/** Returns true if a task never got a message besides its prompt. */
export function hasOnlyPrompt({ inputIds }: TaskState['conversation']): boolean {
  return inputIds.size === 1;
}
