import { escapeTags } from '../../../base/control-tags.ts';
import { MusterError } from '../../../base/errors.ts';
import { cutPage } from '../../results/text-page.ts';
import { findVisibleTask } from '../visible-tasks.ts';
import { fullResult } from '../../results/result.ts';
import { taskState } from '../task-state.ts';
import type { EngineContext } from '../engine-context.ts';
import type { TransferRequest } from './transferred-context.ts';
import type { QuotedText } from '../../compaction/last-turns.ts';

/** Tokens of one result; of a longer one its beginning, with where the rest is. */
const RESULT_TOKENS = 8_000;
const FIELD = 'context.results';

/** The answer of an ended task that the caller can reach, from its log. */
export function transferredResult(
  engine: EngineContext,
  { caller, plan }: TransferRequest,
  word: string,
): { readonly id: string; readonly quoted: QuotedText } | MusterError {
  const found = findVisibleTask(caller, engine.running, { field: FIELD, word });
  if (found instanceof MusterError) return found;
  const { id } = found;
  if (found.kind === 'shell') {
    return new MusterError('INVALID_PARAM', `${FIELD}: ${id} is a shell; only tasks have results`);
  }
  const state = taskState(engine, id);
  if (state instanceof MusterError) {
    return new MusterError(state.code, `${FIELD}: ${id}: ${state.message}`);
  }
  if (state.end === null || state.status === 'interrupted') {
    const what = state.end === null ? 'wait for it with TaskOutput' : 'let it go on with `resume`';
    return new MusterError('CONFLICT', `${FIELD}: task ${id} has not ended: ${what} first`);
  }
  const whole = fullResult(state);
  const { text, next } = cutPage(whole, 0, RESULT_TOKENS);
  const mayReadOn = plan.setup.tools.some(({ name }) => name === 'TaskOutput');
  const rest = mayReadOn
    ? `The rest: TaskOutput(task_id: "${id}", offset: ${next})`
    : 'You have no tool for the rest';
  const { error } = state.end;
  const how = error === null ? state.status : `${state.status}: ${error.code}: ${error.message}`;
  return {
    id,
    quoted: {
      label: escapeTags(`Result of task ${id} (${state.spec.agent.name}, ${how}):`),
      text,
      ...(next === null
        ? {}
        : {
            note: `[Cut at ${next} of ${whole.length} characters. ${rest}]`,
          }),
    },
  };
}
