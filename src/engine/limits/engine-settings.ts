import type { TaskLimits } from '../../protocol/task.ts';
import type { ToolCaps } from '../../protocol/tool.ts';

/** What configuration says to the engine, in its own units. */
export interface EngineSettings {
  /** False: no Task tools in any request. */
  readonly taskTools: boolean;
  readonly maxDepth: number;
  readonly nested: boolean;
  readonly maxTasks: number;
  readonly maxParallel: number;
  /** For delegated tasks. */
  readonly taskLimits: TaskLimits;
  /** For the main agent. */
  readonly rootLimits: TaskLimits;
  /** Of a whole tree; 0: none. */
  readonly treeTokens: number;
  readonly treeCostUsd: number;
  readonly treeTurns: number;
  readonly treeToolBytes: number;
  /** Of a whole tree, from when its top sets to work. Null: none. */
  readonly treeWallMs: number | null;
  /** Commands of one tree at a time. */
  readonly maxProcesses: number;
  /** How long a call waits for its child before that goes on in the background. */
  readonly foregroundMs: number;
  /** Tries of one request after the first, rate-limit waits not counted. */
  readonly retries: number;
  /** Of those, how many may follow a silence of a server that took the request. */
  readonly silentRetries: number;
  /** The longest time that a request waits for rate limits in all; 0 for no limit. */
  readonly maxWaitMs: number;
  /** Calls that repeat each other before a task is ended. */
  readonly noProgressCalls: number;
  /** How long siblings wait for the first of them to write the prompt cache; 0: never. */
  readonly cacheHoldMs: number;
  /** Whether results are reused, of agents whose definition does not say. */
  readonly reusesResults: boolean;
  readonly caps: ToolCaps;
  /** Names of further environment variables that commands see. */
  readonly commandVariables: readonly string[];
}
