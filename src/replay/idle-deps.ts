import { systemClock } from '../base/clock.ts';
import { Deadlines } from '../base/deadlines.ts';
import type { AnyTool } from '../protocol/tool.ts';
import type { TaskStore } from '../store/task-store.ts';
import { createUnavailableSandbox } from '../sys/sandbox/sandbox.ts';
import type { EngineDeps } from '../engine/task/deps.ts';
import { Inbox } from '../engine/task/inbox.ts';
import { LoopQueue } from '../base/loop-queue.ts';
import { PrefixCache } from '../engine/prompt/prefix.ts';
import type { HookPorts } from '../engine/task/task-run.ts';
import { RunningTasks } from '../engine/task/running-tasks.ts';
import { createTaskTools } from '../engine/task-tools/index.ts';
import type { EngineSettings } from '../engine/limits/configured-limits.ts';

/** The store and settings of a rerun. */
interface IdleParts {
  readonly store: TaskStore;
  readonly settings: EngineSettings;
}

/** The inputs of a rerun. */
export interface RerunSource extends IdleParts {
  /** The tools by canonical name. A rerun only uses their descriptions and never runs them. */
  readonly tools: ReadonlyMap<string, AnyTool>;
}

/** The error of a port that a rerun must never call. */
const NOTHING_RUNS = 'a rerun asks no model and runs nothing';

/** Creates engine ports that have no effect. */
export function createIdleDeps({ store, settings }: IdleParts): EngineDeps {
  return {
    store,
    settings,
    model: {
      stream: () => {
        throw new Error(NOTHING_RUNS);
      },
    },
    models: {
      forTask: ({ parent }) => parent,
      details: async () => ({ contextWindow: null, maxOutput: null, price: null }),
      outputLimit: () => null,
    },
    tools: [],
    agents: { refresh: async () => {}, agents: () => [] },
    skills: { refresh: async () => {}, skills: () => [] },
    clock: systemClock,
    deadlines: new Deadlines(systemClock),
    platform: process.platform,
    home: '/',
    stateDirectories: [],
    availableMemory: () => 0,
    sandboxed: async () => false,
    sandbox: createUnavailableSandbox('a rerun', 'nothing is run'),
    inbox: new Inbox({ onAsk: 'wait', standing: null }),
    onEvent: () => {},
    onFault: () => {},
    onSignal: () => {},
  };
}

/** The ports of hooks in a rerun, in which no hook runs. */
export const NO_HOOK_PORTS: HookPorts = {
  askAgent: () => Promise.reject(new Error(NOTHING_RUNS)),
  callTool: () => Promise.reject(new Error(NOTHING_RUNS)),
  findUrlProblem: () => Promise.reject(new Error(NOTHING_RUNS)),
};

/**
 * Returns the given tools and the tools of the engine, by name. A rerun only uses their descriptions and never runs
 * them.
 */
export function mapToolsByName(
  parts: IdleParts,
  tools: readonly AnyTool[],
): ReadonlyMap<string, AnyTool> {
  const deps = createIdleDeps(parts);
  const engine = {
    deps,
    prefixes: new PrefixCache(parts.store),
    running: new RunningTasks(),
    beginnings: new LoopQueue(),
    driveItems: () => Promise.reject(new Error(NOTHING_RUNS)),
    hookPorts: NO_HOOK_PORTS,
    startLoop: () => {},
  };
  const engineTools = createTaskTools(engine, () => Promise.reject(new Error(NOTHING_RUNS)));
  return new Map([...tools, ...engineTools].map((tool) => [tool.name, tool]));
}
