import type { AgentLimits } from '../../protocol/agent.ts';
import {
  collectOptionalLimits,
  LIMITS,
  OPTIONAL_TASK_LIMITS,
  TREE_BUDGET_LIMITS,
  type LimitName,
  type TreeBudget,
} from '../../protocol/limits.ts';
import type { TaskLimits } from '../../protocol/task.ts';
import type { BudgetCaps } from './budget.ts';
import type { ToolCaps } from '../../protocol/tool.ts';

const TASK_BUDGET = ['max_tokens', ...OPTIONAL_TASK_LIMITS] as const;

/** The names of the limits that a budget enforces. */
export const BUDGET_LIMITS: readonly LimitName[] = [...TASK_BUDGET, ...TREE_BUDGET_LIMITS];

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
export function treeCaps(settings: TreeBudget): BudgetCaps {
  const caps = TREE_BUDGET_LIMITS.flatMap((limit) => {
    const { field, measure } = LIMITS[limit];
    const value = settings[field];
    return value === 0 ? [] : [[measure, { limit, value }] as const];
  });
  return Object.fromEntries(caps);
}

/** The limits of one run, which also bound all tasks below it. Default of each: no limit by the run. */
export interface RunLimits {
  readonly maxTurns?: number;
  /** Paid tokens. */
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  readonly wallSeconds?: number;
}

/** The limits that the configuration, the agent's definition and the Task call ask for. */
interface RequestedLimits {
  readonly config: TaskLimits;
  readonly definition: AgentLimits;
  readonly call: RunLimits;
}

/** Returns the limits of a new task: for each limit, the smallest requested value. */
export function combineLimits({ config, definition, call }: RequestedLimits): TaskLimits {
  const ofCall: AgentLimits = call;
  const wallSeconds = findSmallest(definition.wallSeconds, call.wallSeconds);
  return {
    maxTurns: findSmallest(config.maxTurns, definition.maxTurns, call.maxTurns),
    maxTokens: findSmallest(config.maxTokens, definition.maxTokens, call.maxTokens),
    ...collectOptionalLimits((field) =>
      findSmallest(config[field], definition[field], ofCall[field]),
    ),
    wallMs: findSmallest(config.wallMs, wallSeconds === null ? null : wallSeconds * 1000),
    resultMaxTokens: Math.min(
      config.resultMaxTokens,
      definition.resultMaxTokens ?? config.resultMaxTokens,
    ),
  };
}

/** Returns the limits of a new conversation. `run`: the limits that whoever starts it asks for. */
export function combineRootLimits(
  { rootLimits }: Pick<EngineSettings, 'rootLimits'>,
  agent: { readonly limits: AgentLimits },
  run: RunLimits = {},
): TaskLimits {
  return combineLimits({ config: rootLimits, definition: agent.limits, call: run });
}

function findSmallest(...requested: readonly (number | null | undefined)[]): number | null {
  const numbers = requested.filter((value) => value !== null && value !== undefined);
  return numbers.length === 0 ? null : Math.min(...numbers);
}

/** The configuration of the engine, in the units that it computes with. */
export interface EngineSettings extends TreeBudget {
  /** False if no task gets the Task tools. */
  readonly taskTools: boolean;
  readonly maxDepth: number;
  /** The size in bytes up to which requests list the tools of MCP servers. */
  readonly listedServerToolBytes: number;
  /** The family whose form of tools all models get; `auto`: that of the family to which the model belongs. */
  readonly modelFamily: string;
  readonly nested: boolean;
  readonly maxTasks: number;
  readonly maxParallel: number;
  /** The limits of a delegated task. */
  readonly taskLimits: TaskLimits;
  /** The limits of the main agent. */
  readonly rootLimits: TaskLimits;
  /** The wall time of a whole tree, counted from the start of its main agent; null for no limit. */
  readonly treeWallMs: number | null;
  /** The number of commands of one tree that run at the same time. */
  readonly maxProcesses: number;
  /** The time that a Task call waits for its child. After it the child runs in the background. */
  readonly foregroundMs: number;
  /** The maximum number of retries of one request. Waits for rate limits do not count. */
  readonly retries: number;
  /** The maximum number of these retries after a server accepted the request and then sent nothing. */
  readonly silentRetries: number;
  /** The maximum total time that a request waits for rate limits; 0 for no limit. */
  readonly maxWaitMs: number;
  /** The number of repeated calls with repeated results at which a task is ended. */
  readonly noProgressCalls: number;
  /** The time that siblings wait for the first of them to fill the prompt cache; 0 if they don't wait. */
  readonly cacheHoldMs: number;
  /** True if results are reused for agents whose definition does not set `reuse`. */
  readonly reusesResults: boolean;
  readonly caps: ToolCaps;
  /** The names of further environment variables that commands see. */
  readonly commandVariables: readonly string[];
}
