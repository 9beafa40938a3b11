import type { AgentLimits } from '../protocol/agent.ts';
import type { LimitHit } from '../protocol/stint.ts';
import type { TaskLimits } from '../protocol/task.ts';

/** What configuration, definition and call each ask for; the smallest of each wins. */
export interface LimitWishes {
  readonly config: TaskLimits;
  readonly definition: AgentLimits;
  readonly call: { readonly maxTurns?: number };
}

export function combineLimits({ config, definition, call }: LimitWishes): TaskLimits {
  const wallMs = definition.wallSeconds === undefined ? null : definition.wallSeconds * 1000;
  return {
    maxTurns: smallest(config.maxTurns, definition.maxTurns, call.maxTurns),
    maxTokens: smallest(config.maxTokens, definition.maxTokens),
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

export function limitMessage({ limit, value, used, needed }: LimitHit): string {
  if (needed === undefined) return `the limit ${limit} = ${value} is reached (${used} used)`;
  return `the limit ${limit} = ${value} leaves no room for the next request (${used} used, up to ${needed} needed)`;
}
