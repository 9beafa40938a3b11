import type { TaskSpec } from '../../protocol/task.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskEnding } from '../task/endings.ts';
import { answerCheck } from './check-answer.ts';
import { outputSchemaOf } from '../task/output-schema.ts';

/**
 * Whether a task that has a schema came to its result on another way than by an answer that was checked: a
 * limit ended it, with what may be a whole answer, or an earlier result was reused.
 */
export function isUnchecked(spec: TaskSpec, { end, structured }: TaskEnding): boolean {
  const hasResult = end.status === 'partial' || end.status === 'completed';
  return hasResult && structured === undefined && outputSchemaOf(spec) !== null;
}

/** Such an ending with what its result is as JSON, where it is valid: there is nobody to mend it. */
export async function withStructured(
  { onFault }: Pick<EngineDeps, 'onFault'>,
  spec: TaskSpec,
  ending: TaskEnding,
): Promise<TaskEnding> {
  try {
    const schema = outputSchemaOf(spec);
    const check = schema === null ? null : await answerCheck(schema);
    if (check === null || typeof check === 'string') return ending;
    const verdict = check(ending.result);
    return verdict.kind === 'valid' ? { ...ending, structured: verdict.value } : ending;
  } catch (thrown) {
    // A fault in the check takes nobody's answer away.
    onFault(spec.id, thrown);
    return ending;
  }
}
