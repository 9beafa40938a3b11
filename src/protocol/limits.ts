import type { ModelOutputLimit } from './model.ts';

/** A limit that a task has reached, for the event and for error messages. */
export interface LimitHit {
  /** The name by which the user sets the limit: `max_turns`, `tree_tokens`, … */
  readonly limit: string;
  /** The limit: a number of tokens, US dollars, turns, bytes, tasks or, for limits on time, milliseconds. */
  readonly value: number;
  /** The amount that was used, in the same unit. */
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

/** One limit that a user can set on the work of tasks. Its configuration key has the name of the limit. */
export interface LimitRow {
  /** `task`: the limit applies to one task with all tasks below it. `tree`: it applies to a whole tree. */
  readonly scope: 'task' | 'tree';
  /** The kind of amount that the limit bounds. */
  readonly measure: 'tokens' | 'costUsd' | 'turns' | 'toolBytes' | 'wallMs' | 'tasks' | 'commands';
  /** The field that holds the limit: of `TaskLimits` for a task, of `EngineSettings` for a tree. */
  readonly field: string;
  /** The section of the configuration that contains the key. */
  readonly section: 'task_tool' | 'budget';
  /** The configured value if the key is not set; null: only the definition of an agent sets a limit. */
  readonly default: number | null;
  /** The minimum and the maximum of the configured value, both valid. Times are configured in seconds. */
  readonly range: readonly [min: number, max: number];
  /** The description of the key in the list of settings. */
  readonly meaning: string;
  /** The command-line flag that sets the key, if there is one. `value`: the name of the value in the help. */
  readonly flag?: {
    readonly name: string;
    /** A name that earlier versions had, and that is still read. */
    readonly formerName?: string;
    readonly value: string;
    readonly help: string;
  };
}

const WEEK_SECONDS = 604_800;
/** The valid values of a time that must not be 0, in seconds. */
export const SECONDS_RANGE = [0.01, WEEK_SECONDS] as const;
const MAX_USD = 1_000_000;
/** One tebibyte. */
const MAX_BYTES = 1_099_511_627_776;

/**
 * All limits that a user can set, by the name under which events and messages report them. Settings and flags are
 * listed in this order.
 */
export const LIMITS = {
  task_wall_seconds: {
    scope: 'task',
    section: 'task_tool',
    measure: 'wallMs',
    field: 'wallMs',
    default: 1800,
    range: SECONDS_RANGE,
    meaning: 'wall time of one delegated task',
  },
  max_tokens: {
    scope: 'task',
    section: 'task_tool',
    measure: 'tokens',
    field: 'maxTokens',
    default: 1_000_000,
    range: [1, 1_000_000_000],
    meaning: 'paid tokens of one delegated task',
  },
  max_cost_usd: {
    scope: 'task',
    section: 'task_tool',
    measure: 'costUsd',
    field: 'maxCostUsd',
    default: 0,
    range: [0, MAX_USD],
    meaning: 'cost of one delegated task in USD; 0: no limit',
  },
  max_tool_bytes: {
    scope: 'task',
    section: 'task_tool',
    measure: 'toolBytes',
    field: 'maxToolBytes',
    default: 0,
    range: [0, MAX_BYTES],
    meaning: 'bytes of all tool results of one delegated task; 0: no limit',
  },
  max_turns: {
    scope: 'task',
    section: 'task_tool',
    measure: 'turns',
    field: 'maxTurns',
    default: null,
    range: [1, 100_000],
    meaning: 'turns of one delegated task, at most',
  },
  tree_tokens: {
    scope: 'tree',
    section: 'budget',
    measure: 'tokens',
    field: 'treeTokens',
    default: 0,
    range: [0, 1_000_000_000_000],
    meaning: 'paid tokens of the whole tree; 0: no limit',
    flag: {
      name: 'max-tokens',
      value: 'N',
      help: 'paid tokens of the whole run, subagents included',
    },
  },
  tree_cost_usd: {
    scope: 'tree',
    section: 'budget',
    measure: 'costUsd',
    field: 'treeCostUsd',
    default: 0,
    range: [0, MAX_USD],
    meaning: 'cost of the whole tree in USD; 0: no limit',
    flag: { name: 'max-cost-usd', value: 'USD', help: 'cost of the whole run, subagents included' },
  },
  tree_turns: {
    scope: 'tree',
    section: 'budget',
    measure: 'turns',
    field: 'treeTurns',
    default: 0,
    range: [0, 100_000_000],
    meaning: 'turns of the whole tree; 0: no limit',
  },
  tree_wall_seconds: {
    scope: 'tree',
    section: 'budget',
    measure: 'wallMs',
    field: 'treeWallMs',
    default: 0,
    range: [0, WEEK_SECONDS],
    meaning: 'wall time of the whole tree; 0: no limit',
    flag: {
      name: 'max-seconds',
      formerName: 'max-wall-seconds',
      value: 'SECONDS',
      help: 'wall time of the whole run, subagents included; then it ends with what it has',
    },
  },
  tree_tool_bytes: {
    scope: 'tree',
    section: 'budget',
    measure: 'toolBytes',
    field: 'treeToolBytes',
    default: 0,
    range: [0, MAX_BYTES],
    meaning: 'bytes of all tool results of the whole tree; 0: no limit',
  },
  max_processes: {
    scope: 'tree',
    section: 'budget',
    measure: 'commands',
    field: 'maxProcesses',
    default: 64,
    range: [1, 100_000],
    meaning: 'shell commands of one tree at a time; the rest queue',
  },
  max_tasks: {
    scope: 'tree',
    section: 'task_tool',
    measure: 'tasks',
    field: 'maxTasks',
    default: 500,
    range: [1, 1_000_000],
    meaning: 'delegated tasks of one tree',
    flag: { name: 'max-tasks', value: 'N', help: 'subagents of the whole run' },
  },
} as const satisfies Readonly<Record<string, LimitRow>>;

/** The name of a limit that a user can set. */
export type LimitName = keyof typeof LIMITS;

/** The name of the limit on the wall time of a tree. */
export const TREE_TIME_LIMIT = 'tree_wall_seconds' satisfies LimitName;

/**
 * The limits of one task that are recorded only if they are set, so that older logs are valid without them. The field
 * has the same name in `TaskLimits`, in `AgentLimits` and in the configuration.
 */
export const OPTIONAL_TASK_LIMITS = [
  'max_cost_usd',
  'max_tool_bytes',
] as const satisfies readonly LimitName[];

/** The fields of these limits. They are written out, because the type is part of the package's interface. */
export type OptionalLimitField = 'maxCostUsd' | 'maxToolBytes';

/** Collects the optional limits that have a value. `getValue`: returns the value for a field; null and undefined: no limit. */
export function collectOptionalLimits(
  getValue: (field: OptionalLimitField) => number | null | undefined,
): Readonly<Partial<Record<OptionalLimitField, number>>> {
  const fields: readonly OptionalLimitField[] = OPTIONAL_TASK_LIMITS.map(
    (name) => LIMITS[name].field,
  );
  const values = fields.map((field) => [field, getValue(field)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== null && value !== undefined));
}

/** The limits of a whole tree that a budget enforces. The field has the same name in the configuration. */
export const TREE_BUDGET_LIMITS = [
  'tree_tokens',
  'tree_cost_usd',
  'tree_turns',
  'tree_tool_bytes',
] as const satisfies readonly LimitName[];

/** The values of the limits of a whole tree that a budget enforces; 0: no limit. */
export type TreeBudget = Readonly<
  Record<(typeof LIMITS)[(typeof TREE_BUDGET_LIMITS)[number]]['field'], number>
>;
