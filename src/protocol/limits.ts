import type { ModelOutputLimit } from './model.ts';

/** A limit that a task has reached, for the event and for error messages. */
export interface LimitHit {
  /** The name by which the user sets the limit: `max_turns`, `tree_tokens`, … */
  readonly limit: string;
  readonly value: number;
  readonly used: number;
  /** The maximum amount that the next request could use. Set if this amount exceeded the rest of the limit. */
  readonly needed?: number;
  /**
   * True if the rest of the limit suffices for one last answer without calls, which `needed` then includes. Absent in
   * older logs.
   */
  readonly lastAnswerFits?: true;
  /** The model whose output limit makes up most of `needed`. Absent if other parts make up most of it, and in older logs. */
  readonly output?: ModelOutputLimit;
  /** The model without a known price, as `provider/id`, if a limit on cost cannot be checked because of it. */
  readonly unpriced?: string;
}

/** One limit that a user can set on the work of tasks. */
export interface LimitRow {
  /** `task`: the limit applies to one task with all tasks below it. `tree`: it applies to a whole tree. */
  readonly scope: 'task' | 'tree';
  /** The kind of amount that the limit bounds. */
  readonly measure: 'tokens' | 'costUsd' | 'turns' | 'toolBytes' | 'wallMs' | 'tasks' | 'commands';
  /** The field that holds the limit: of `TaskLimits` for a task, of `EngineSettings` for a tree. */
  readonly field: string;
  /** The configuration key that sets the limit. */
  readonly key: string;
  /** The command-line flag that sets the limit, if there is one. */
  readonly flag?: string;
}

/** All limits that a user can set, by the name under which events and messages report them. */
export const LIMITS = {
  max_turns: createLimitRow('task', 'turns', 'maxTurns', 'task_tool.max_turns'),
  max_tokens: createLimitRow('task', 'tokens', 'maxTokens', 'task_tool.max_tokens'),
  max_cost_usd: createLimitRow('task', 'costUsd', 'maxCostUsd', 'task_tool.max_cost_usd'),
  max_tool_bytes: createLimitRow('task', 'toolBytes', 'maxToolBytes', 'task_tool.max_tool_bytes'),
  task_wall_seconds: createLimitRow('task', 'wallMs', 'wallMs', 'task_tool.task_wall_seconds'),
  tree_tokens: createLimitRow('tree', 'tokens', 'treeTokens', 'budget.tree_tokens', 'max-tokens'),
  tree_cost_usd: createLimitRow(
    'tree',
    'costUsd',
    'treeCostUsd',
    'budget.tree_cost_usd',
    'max-cost-usd',
  ),
  tree_turns: createLimitRow('tree', 'turns', 'treeTurns', 'budget.tree_turns'),
  tree_tool_bytes: createLimitRow('tree', 'toolBytes', 'treeToolBytes', 'budget.tree_tool_bytes'),
  tree_wall_seconds: createLimitRow(
    'tree',
    'wallMs',
    'treeWallMs',
    'budget.tree_wall_seconds',
    'max-wall-seconds',
  ),
  max_tasks: createLimitRow('tree', 'tasks', 'maxTasks', 'task_tool.max_tasks', 'max-tasks'),
  max_processes: createLimitRow('tree', 'commands', 'maxProcesses', 'budget.max_processes'),
};

/** Creates a row whose fields have literal types. */
function createLimitRow<
  Scope extends LimitRow['scope'],
  Measure extends LimitRow['measure'],
  Field extends string,
>(scope: Scope, measure: Measure, field: Field, key: string, flag?: string) {
  return { scope, measure, field, key, ...(flag === undefined ? {} : { flag }) } satisfies LimitRow;
}

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

/** Collects the optional limits that have a value. `getValue`: returns the value for a field; null and undefined: no limit. */
export function collectOptionalLimits(
  getValue: (field: OptionalLimitField) => number | null | undefined,
): Readonly<Partial<Record<OptionalLimitField, number>>> {
  const fields = OPTIONAL_TASK_LIMITS.map((name) => LIMITS[name].field);
  const values = fields.map((field) => [field, getValue(field)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== null && value !== undefined));
}
