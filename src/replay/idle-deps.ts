import { systemClock } from '../base/clock.ts';
import { Deadlines } from '../base/deadlines.ts';
import type { AnyTool } from '../protocol/tool.ts';
import type { TaskStore } from '../store/task-store.ts';
import { createUnavailableSandbox } from '../sys/sandbox/sandbox.ts';
import type { EngineDeps } from '../engine/task/deps.ts';
import { Inbox } from '../engine/task/inbox.ts';
import { LoopQueue } from '../base/loop-queue.ts';
import { PrefixCache } from '../engine/prompt/prefix.ts';
import { RunningTasks } from '../engine/task/running-tasks.ts';
import { taskTools } from '../engine/task-tools/index.ts';
import type { EngineSettings } from '../engine/limits/engine-settings.ts';

interface IdleParts {
  readonly store: TaskStore;
  readonly settings: EngineSettings;
}

const NOTHING_RUNS = 'a rerun asks nobody and runs nothing';

/** An engine's ports that lead nowhere. */
export function idleDeps({ store, settings }: IdleParts): EngineDeps {
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
      facts: async () => ({ contextWindow: null, maxOutput: null, price: null }),
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

/** These tools and those of the engine itself, by name: for what they are, not to be run. */
export function toolsByName(
  parts: IdleParts,
  tools: readonly AnyTool[],
): ReadonlyMap<string, AnyTool> {
  const deps = idleDeps(parts);
  const engine = {
    deps,
    prefixes: new PrefixCache(parts.store),
    running: new RunningTasks(),
    beginnings: new LoopQueue(),
    driveItems: () => Promise.reject(new Error(NOTHING_RUNS)),
    startLoop: () => {},
  };
  const own = taskTools(engine, () => Promise.reject(new Error(NOTHING_RUNS)));
  return new Map([...tools, ...own].map((tool) => [tool.name, tool]));
}
