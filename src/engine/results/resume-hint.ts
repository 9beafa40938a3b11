import type { TaskState } from '../../protocol/state/task-state.ts';

/**
 * Tells the reader of a task's result how to resume the task, where it did not complete: '' where it did, where
 * the reader cannot delegate, or where the task is not below it. `child`: a task that has ended.
 */
export function resumeHint(child: TaskState, reader: TaskState): string {
  const { id } = child.spec;
  if (child.status === 'completed' || !reader.spec.tools.includes('Task')) return '';
  if (!isBelow(reader, id)) return '';
  return `[To resume it with all that it knows: Task(resume: "${id}", prompt: "what it is to do next")]`;
}

function isBelow({ children }: TaskState, id: string): boolean {
  return children.has(id) || [...children.values()].some(({ below }) => below.includes(id));
}
