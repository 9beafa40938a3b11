import { MODEL_FAMILIES } from '../src/protocol/model-families/model-families.ts';
import type { EvalTask } from './tasks.ts';

/** One run of the agent on one task. */
export interface PlannedRun {
  /** The id of the run, such as `csv-quotes.on.openai.1`. It names the directory of the run, too. */
  readonly id: string;
  readonly task: EvalTask;
  /** Whether the agent may delegate to subagents. */
  readonly delegation: boolean;
  /** The form of tools: a value of the setting `models.family`. */
  readonly shape: string;
}

/** The variants in which each task runs. */
export interface Variants {
  readonly delegation: 'on' | 'off' | 'both';
  readonly shapes: readonly string[];
  readonly repeat: number;
}

/** All forms of tools: Muster's own and those of each family. */
export const ALL_SHAPES: readonly string[] = ['muster', ...MODEL_FAMILIES.map(({ name }) => name)];

/** Lists the runs. The variants of one task follow each other, so that an early end leaves pairs to compare. */
export function planRuns(
  tasks: readonly EvalTask[],
  { delegation, shapes, repeat }: Variants,
): readonly PlannedRun[] {
  const settings = delegation === 'both' ? [true, false] : [delegation === 'on'];
  const rounds = Array.from({ length: repeat }, (_, index) => index + 1);
  return rounds.flatMap((round) =>
    tasks.flatMap((task) =>
      settings.flatMap((delegates) =>
        shapes.map((shape) => ({
          id: [task.name, delegates ? 'on' : 'off', shape, round].join('.'),
          task,
          delegation: delegates,
          shape,
        })),
      ),
    ),
  );
}
