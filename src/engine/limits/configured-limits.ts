import type { AgentLimits } from '../../protocol/agent.ts';
import type { TaskLimits } from '../../protocol/task.ts';
import type { BudgetCaps } from './budget.ts';
import type { EngineSettings } from './engine-settings.ts';

/** The caps of one task and all below it. */
export function taskCaps({ maxTokens, maxCostUsd, maxToolBytes }: TaskLimits): BudgetCaps {
  return {
    ...(maxTokens === null ? {} : { tokens: { limit: 'max_tokens', value: maxTokens } }),
    ...(maxCostUsd === undefined ? {} : { costUsd: { limit: 'max_cost_usd', value: maxCostUsd } }),
    ...(maxToolBytes === undefined
      ? {}
      : { toolBytes: { limit: 'max_tool_bytes', value: maxToolBytes } }),
  };
}

/** The caps of a whole tree. */
export function treeCaps({
  treeTokens,
  treeCostUsd,
  treeTurns,
  treeToolBytes,
}: EngineSettings): BudgetCaps {
  return {
    ...(treeTokens > 0 ? { tokens: { limit: 'tree_tokens', value: treeTokens } } : {}),
    ...(treeCostUsd > 0 ? { costUsd: { limit: 'tree_cost_usd', value: treeCostUsd } } : {}),
    ...(treeTurns > 0 ? { turns: { limit: 'tree_turns', value: treeTurns } } : {}),
    ...(treeToolBytes > 0 ? { toolBytes: { limit: 'tree_tool_bytes', value: treeToolBytes } } : {}),
  };
}

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
