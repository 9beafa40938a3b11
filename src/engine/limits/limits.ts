import type { AgentLimits } from '../../protocol/agent.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { TaskLimits } from '../../protocol/task.ts';

/** What configuration, definition and call each ask for; the smallest of each wins. */
export interface RequestedLimits {
  readonly config: TaskLimits;
  readonly definition: AgentLimits;
  readonly call: { readonly maxTurns?: number };
}

export function combineLimits({ config, definition, call }: RequestedLimits): TaskLimits {
  const wallMs = definition.wallSeconds === undefined ? null : definition.wallSeconds * 1000;
  const maxCostUsd = smallest(config.maxCostUsd, definition.maxCostUsd);
  const maxToolBytes = smallest(config.maxToolBytes, definition.maxToolBytes);
  return {
    maxTurns: smallest(config.maxTurns, definition.maxTurns, call.maxTurns),
    maxTokens: smallest(config.maxTokens, definition.maxTokens),
    ...(maxCostUsd === null ? {} : { maxCostUsd }),
    ...(maxToolBytes === null ? {} : { maxToolBytes }),
    wallMs: smallest(config.wallMs, wallMs),
    resultMaxTokens: Math.min(
      config.resultMaxTokens,
      definition.resultMaxTokens ?? config.resultMaxTokens,
    ),
  };
}

function smallest(...wishes: readonly (number | null | undefined)[]): number | null {
  const numbers = wishes.filter((wish) => wish !== null && wish !== undefined);
  return numbers.length === 0 ? null : Math.min(...numbers);
}

export function limitMessage({
  limit,
  value,
  used,
  needed,
  lastAnswerFits,
  output,
  unpriced,
}: LimitHit): string {
  if (unpriced !== undefined) {
    return `the limit ${limit} = ${value} can't be kept: no price is known for ${unpriced}. Give it in the configuration ([models.catalogue."${unpriced}"], price_input and price_output), or limit tokens instead`;
  }
  if (limit === 'context_window') {
    return `the next request would take about ${used} tokens of the model's context window of ${value} (limit context_window), and nothing of it is left that could be cleared or summarised. A model with a larger window, or smaller steps, gets further`;
  }
  const so = `the limit ${limit} = ${value}`;
  const spent = shown(used);
  if (needed === undefined) return `${so} is reached (${spent} used)`;
  const what = lastAnswerFits === true ? 'another turn and a last answer' : 'the next request';
  const most = `${so} leaves no room for ${what} (${spent} used, up to ${shown(needed)} needed`;
  if (output === undefined) return `${most})`;
  return `${most}, most of it for an answer of ${output.limit} tokens, the output limit of ${output.model}). A lower output_limit in [models.catalogue."${output.model}"] of your configuration needs less`;
}

/** Sums of dollars have digits that nobody reads. */
export function shown(used: number): number {
  return Number.isInteger(used) ? used : Number(used.toPrecision(4));
}
