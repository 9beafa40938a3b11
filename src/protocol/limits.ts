/** One limit that a user can set on the work of tasks. */
export interface LimitRow {
  /** Whether the limit is on one task with all tasks below it, or on a whole tree. */
  readonly scope: 'task' | 'tree';
  /** The amount that the limit bounds. */
  readonly measure: 'tokens' | 'costUsd' | 'turns' | 'toolBytes' | 'wallMs' | 'tasks' | 'commands';
  /** The field of `TaskLimits` for a task, of `EngineSettings` for a tree. */
  readonly field: string;
  /** The configuration key that sets the limit. */
  readonly key: string;
  /** The command line flag that sets this key, if there is one. */
  readonly flag?: string;
}

/** All limits that a user can set, by the name under which events and messages report them. */
export const LIMITS = {
  max_turns: { scope: 'task', measure: 'turns', field: 'maxTurns', key: 'task_tool.max_turns' },
  max_tokens: { scope: 'task', measure: 'tokens', field: 'maxTokens', key: 'task_tool.max_tokens' },
  max_cost_usd: {
    scope: 'task',
    measure: 'costUsd',
    field: 'maxCostUsd',
    key: 'task_tool.max_cost_usd',
  },
  max_tool_bytes: {
    scope: 'task',
    measure: 'toolBytes',
    field: 'maxToolBytes',
    key: 'task_tool.max_tool_bytes',
  },
  task_wall_seconds: {
    scope: 'task',
    measure: 'wallMs',
    field: 'wallMs',
    key: 'task_tool.task_wall_seconds',
  },
  tree_tokens: {
    scope: 'tree',
    measure: 'tokens',
    field: 'treeTokens',
    key: 'budget.tree_tokens',
    flag: 'max-tokens',
  },
  tree_cost_usd: {
    scope: 'tree',
    measure: 'costUsd',
    field: 'treeCostUsd',
    key: 'budget.tree_cost_usd',
    flag: 'max-cost-usd',
  },
  tree_turns: { scope: 'tree', measure: 'turns', field: 'treeTurns', key: 'budget.tree_turns' },
  tree_tool_bytes: {
    scope: 'tree',
    measure: 'toolBytes',
    field: 'treeToolBytes',
    key: 'budget.tree_tool_bytes',
  },
  tree_wall_seconds: {
    scope: 'tree',
    measure: 'wallMs',
    field: 'treeWallMs',
    key: 'budget.tree_wall_seconds',
    flag: 'max-wall-seconds',
  },
  max_tasks: {
    scope: 'tree',
    measure: 'tasks',
    field: 'maxTasks',
    key: 'task_tool.max_tasks',
    flag: 'max-tasks',
  },
  max_processes: {
    scope: 'tree',
    measure: 'commands',
    field: 'maxProcesses',
    key: 'budget.max_processes',
  },
} as const satisfies Readonly<Record<string, LimitRow>>;

/** The name of a limit that a user can set. */
export type LimitName = keyof typeof LIMITS;

/**
 * The limits of one task that are recorded only if they are set, so that older logs are valid without them. The field
 * has the same name in `TaskLimits`, in `AgentLimits` and in the configuration.
 */
export const OPTIONAL_TASK_LIMITS = [
  'max_cost_usd',
  'max_tool_bytes',
] as const satisfies readonly LimitName[];

export type OptionalLimitField = (typeof LIMITS)[(typeof OPTIONAL_TASK_LIMITS)[number]]['field'];

/** Returns the optional limits that have a value. */
export function collectOptionalLimits(
  valueOf: (field: OptionalLimitField) => number | null | undefined,
): Readonly<Partial<Record<OptionalLimitField, number>>> {
  const fields = OPTIONAL_TASK_LIMITS.map((name) => LIMITS[name].field);
  const values = fields.map((field) => [field, valueOf(field)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== null && value !== undefined));
}
