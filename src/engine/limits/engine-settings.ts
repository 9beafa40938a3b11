import type { TaskLimits } from '../../protocol/task.ts';
import type { ToolCaps } from '../../protocol/tool.ts';

/** The configuration of the engine, in the units that it computes with. */
export interface EngineSettings {
  /** False when the Task tools are not offered at all. */
  readonly taskTools: boolean;
  readonly maxDepth: number;
  readonly nested: boolean;
  readonly maxTasks: number;
  readonly maxParallel: number;
  /** The limits of a delegated task. */
  readonly taskLimits: TaskLimits;
  /** The limits of the main agent. */
  readonly rootLimits: TaskLimits;
  /** The limits of a whole tree; 0 means no limit. */
  readonly treeTokens: number;
  readonly treeCostUsd: number;
  readonly treeTurns: number;
  readonly treeToolBytes: number;
  /** The wall time of a whole tree, counted from when its main agent starts to work; null for no limit. */
  readonly treeWallMs: number | null;
  /** The number of commands of one tree that run at the same time. */
  readonly maxProcesses: number;
  /** The time that a Task call waits for its child before the child goes on in the background. */
  readonly foregroundMs: number;
  /** The tries of one request after the first. Waits for rate limits do not count. */
  readonly retries: number;
  /** The number of these tries that may follow when a server accepted the request and sent nothing. */
  readonly silentRetries: number;
  /** The longest total time that a request waits for rate limits; 0 for no limit. */
  readonly maxWaitMs: number;
  /** The number of repeated calls with repeated results after which a task is ended. */
  readonly noProgressCalls: number;
  /** The time that siblings wait for the first of them to write the prompt cache; 0: they don't wait. */
  readonly cacheHoldMs: number;
  /** True when results of agents whose definition does not decide it are reused. */
  readonly reusesResults: boolean;
  readonly caps: ToolCaps;
  /** The names of further environment variables that commands see. */
  readonly commandVariables: readonly string[];
}
