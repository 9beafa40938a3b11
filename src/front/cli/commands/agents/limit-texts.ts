import { plural } from '../../../../base/text.ts';
import type { TaskLimits } from '../../../../protocol/task.ts';

interface LimitText {
  readonly field: keyof TaskLimits;
  /** The unit after a number: `no limit of turns`. */
  readonly unit: string;
  /** The number to show with the unit. Default: the value of the limit. */
  readonly inUnit?: (value: number) => number;
  /** Formats the limit for a short list, such as `5 turns`. */
  readonly format: (value: number) => string;
}

/** The texts about the limits of an agent, in the order in which the limits are shown. */
export const LIMIT_TEXTS: readonly LimitText[] = [
  { field: 'maxTurns', unit: 'turns', format: (turns) => plural(turns, 'turn') },
  {
    field: 'maxTokens',
    unit: 'tokens, including its subagents',
    format: (tokens) => plural(tokens, 'token'),
  },
  {
    field: 'maxCostUsd',
    unit: 'US dollars, including its subagents',
    format: (cost) => `${cost} USD`,
  },
  {
    field: 'maxToolBytes',
    unit: 'bytes of tool results, including its subagents',
    format: (bytes) => `${plural(bytes, 'byte')} of tool results`,
  },
  {
    field: 'wallMs',
    unit: 'seconds',
    inUnit: (ms) => ms / 1000,
    format: (ms) => plural(ms / 1000, 'second'),
  },
  {
    field: 'resultMaxTokens',
    unit: 'tokens of its answer for its parent',
    format: (tokens) => `${plural(tokens, 'token')} of its answer`,
  },
];
