import type { AgentLimits } from '../../protocol/agent.ts';
import {
  collectOptionalLimits,
  LIMITS,
  OPTIONAL_TASK_LIMITS,
  type LimitName,
} from '../../protocol/limits.ts';
import type { TaskLimits } from '../../protocol/task.ts';
import type { BudgetCaps } from './budget.ts';
import type { EngineSettings } from './engine-settings.ts';

const TASK_BUDGET = ['max_tokens', ...OPTIONAL_TASK_LIMITS] as const;
const TREE_BUDGET = ['tree_tokens', 'tree_cost_usd', 'tree_turns', 'tree_tool_bytes'] as const;

/** The limits that a budget enforces. */
export const BUDGET_LIMITS: readonly LimitName[] = [...TASK_BUDGET, ...TREE_BUDGET];

/** Returns the caps of a task's budget, which also bounds all tasks below it. */
export function taskCaps(limits: TaskLimits): BudgetCaps {
  const caps = TASK_BUDGET.flatMap((limit) => {
    const { field, measure } = LIMITS[limit];
    const value = limits[field] ?? null;
    return value === null ? [] : [[measure, { limit, value }] as const];
  });
  return Object.fromEntries(caps);
}

/** Returns the caps of a tree's budget. A setting of 0 means no limit. */
export function treeCaps(settings: EngineSettings): BudgetCaps {
  const caps = TREE_BUDGET.flatMap((limit) => {
    const { field, measure } = LIMITS[limit];
    const value = settings[field];
    return value === 0 ? [] : [[measure, { limit, value }] as const];
  });
  return Object.fromEntries(caps);
}

/** The limits that the configuration, the agent's definition and the Task call ask for. */
interface RequestedLimits {
  readonly config: TaskLimits;
  readonly definition: AgentLimits;
  readonly call: { readonly maxTurns?: number };
}

/** Returns the limits of a new task: the smallest of those that are requested. */
export function combineLimits({ config, definition, call }: RequestedLimits): TaskLimits {
  const wallMs = definition.wallSeconds === undefined ? null : definition.wallSeconds * 1000;
  return {
    maxTurns: smallest(config.maxTurns, definition.maxTurns, call.maxTurns),
    maxTokens: smallest(config.maxTokens, definition.maxTokens),
    ...collectOptionalLimits((field) => smallest(config[field], definition[field])),
    wallMs: smallest(config.wallMs, wallMs),
    resultMaxTokens: Math.min(
      config.resultMaxTokens,
      definition.resultMaxTokens ?? config.resultMaxTokens,
    ),
  };
}

function smallest(...requested: readonly (number | null | undefined)[]): number | null {
  const numbers = requested.filter((value) => value !== null && value !== undefined);
  return numbers.length === 0 ? null : Math.min(...numbers);
}
