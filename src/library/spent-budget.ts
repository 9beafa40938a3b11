import type { Session } from '../api/index.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { paidTokens } from '../protocol/model.ts';
import type { RunBudget } from './options.ts';

type RunLimits = NonNullable<Parameters<Session['start']>[0]['limits']>;

/** Converts a budget to the limits of one piece of work. */
export function toLimits({ tokens, usd, seconds, turns }: RunBudget): RunLimits {
  return {
    ...(tokens === undefined ? {} : { maxTokens: tokens }),
    ...(usd === undefined ? {} : { maxCostUsd: usd }),
    ...(seconds === undefined ? {} : { wallSeconds: seconds }),
    ...(turns === undefined ? {} : { maxTurns: turns }),
  };
}

/** Measures what the messages of one run have used of its budget, because each message is a piece of work with limits of its own. */
export class SpentBudget {
  readonly #main: string;
  readonly #budget: RunBudget;
  readonly #startedAt = performance.now();
  #tokens = 0;
  #usd = 0;
  #turns = 0;

  /** @param main the id of the main task */
  constructor(main: string, budget: RunBudget) {
    this.#main = main;
    this.#budget = budget;
  }

  add(event: TaskEvent): void {
    if (event.type === 'turn.ended' && event.task === this.#main) this.#turns += 1;
    if (!('usage' in event) || !('costUsd' in event)) return;
    this.#tokens += paidTokens(event.usage);
    this.#usd += event.costUsd ?? 0;
  }

  /** Returns what is left of the budget, or the name of the part of it that is used up. */
  left(): RunBudget | keyof RunBudget {
    const used: Required<RunBudget> = {
      tokens: this.#tokens,
      usd: this.#usd,
      seconds: (performance.now() - this.#startedAt) / 1000,
      turns: this.#turns,
    };
    const left: { -readonly [Name in keyof RunBudget]: number } = {};
    for (const name of ['tokens', 'usd', 'seconds', 'turns'] as const) {
      const limit = this.#budget[name];
      if (limit === undefined) continue;
      left[name] = limit - used[name];
      if (left[name] <= 0) return name;
    }
    return left;
  }
}
