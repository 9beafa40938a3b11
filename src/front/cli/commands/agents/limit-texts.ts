import { plural } from '../../../../base/text.ts';
import { LIMITS, type LimitName } from '../../../../protocol/limits.ts';
import type { TaskLimits } from '../../../../protocol/task.ts';

interface LimitText {
  /** The unit after a number: `no limit of turns`. */
  readonly unit: string;
  /** The number to show with the unit. Default: the value of the limit. */
  readonly inUnit?: (value: number) => number;
  /** Formats the limit for a short list, such as `5 turns`. */
  readonly format: (value: number) => string;
}

type TaskLimitRow = Extract<(typeof LIMITS)[LimitName], { readonly scope: 'task' }>;

/** The texts about limits of one task by what the limit measures, in the order in which the limits are shown. */
const TEXTS: Readonly<Record<TaskLimitRow['measure'], LimitText>> = {
  turns: { unit: 'turns', format: (turns) => plural(turns, 'turn') },
  tokens: {
    unit: 'tokens, including its subagents',
    format: (tokens) => plural(tokens, 'token'),
  },
  costUsd: {
    unit: 'US dollars, including its subagents',
    format: (cost) => `${cost} USD`,
  },
  toolBytes: {
    unit: 'bytes of tool results, including its subagents',
    format: (bytes) => `${plural(bytes, 'byte')} of tool results`,
  },
  wallMs: {
    unit: 'seconds',
    inUnit: (ms) => ms / 1000,
    format: (ms) => plural(ms / 1000, 'second'),
  },
};

const TASK_ROWS = Object.values(LIMITS).filter((row) => row.scope === 'task');

/** The texts about all limits of an agent. */
export const LIMIT_TEXTS: ReadonlyMap<keyof TaskLimits, LimitText> = new Map([
  ...Object.entries(TEXTS).flatMap(([measure, text]) =>
    TASK_ROWS.filter((row) => row.measure === measure).map(({ field }) => [field, text] as const),
  ),
  [
    'resultMaxTokens',
    {
      unit: 'tokens of its answer for its parent',
      format: (tokens) => `${plural(tokens, 'token')} of its answer`,
    },
  ],
]);
