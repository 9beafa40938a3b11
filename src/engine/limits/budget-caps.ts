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
