import type { EngineDeps } from '../task/deps.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** That of the process that made a task: any other one knows of its prompt only what its log keeps. */
const FIRST_EPOCH = 1;

/** Whether an earlier result is looked for before a task begins: where that is wanted, and once. */
export function canReuseResult(
  { reuse, settings }: Pick<EngineDeps, 'reuse' | 'settings'>,
  { answer, conversation, epoch, openTurn, spec, turns }: TaskState,
): boolean {
  // Its log says so.
  if (reuse !== undefined) return true;
  if (!(spec.agent.cache ?? settings.reusesResults)) return false;
  const isUntouched = turns === 0 && openTurn === null && answer === null;
  return (
    isUntouched && spec.parent !== null && epoch === FIRST_EPOCH && hasOnlyPrompt(conversation)
  );
}

/** Whether nothing but its prompt was ever said to a task. */
export function hasOnlyPrompt({ inputIds }: TaskState['conversation']): boolean {
  return inputIds.size === 1;
}
