import { homedir } from 'node:os';
import { discoverAgents } from '../agents/discover.ts';
import { listAgents, type AgentListings } from '../agents/listing.ts';
import { foldLog } from '../engine/fold-log.ts';
import { resultEnvelope } from '../engine/result.ts';
import { effectiveMode } from '../policy/modes.ts';
import type { TaskEvent } from '../protocol/event.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { TaskSummary } from '../store/task-store.ts';
import { readEnvironment, type Environment } from '../sys/env.ts';
import { dataDir } from './config/paths.ts';
import { loadConfig } from './config/load.ts';
import { openDataDir } from './data-dir.ts';
import { workspaceRoots } from './workspace.ts';

export interface ListAgentsOptions {
  readonly cwd: string;
  readonly trustProject: boolean;
  readonly environment?: Environment;
}

/** The agents that could be used in a directory, with what each asks for and what it would get. */
export async function listAgentsIn(options: ListAgentsOptions): Promise<AgentListings> {
  const environment = options.environment ?? readEnvironment();
  const [cwd] = workspaceRoots(options.cwd, []);
  const { trustProject } = options;
  const home = environment['HOME'] || homedir();
  const { config } = await loadConfig({ environment, home, cwd, trustProject, flags: [] });
  const found = await discoverAgents({ cwd, environment, trustedProject: trustProject });
  return listAgents(found, {
    effectiveMode: (agent) => effectiveMode(agent, config.permissions.mode),
  });
}

/** The tasks of a data directory, to be read; whoever owns them goes on. */
export interface TaskReader {
  /** Newest first. */
  list(): readonly TaskSummary[];
  /** `id` may be a unique prefix. Throws MusterError NOT_FOUND or INVALID_PARAM. */
  show(id: string): ResultEnvelope;
  /** What of a log could not be used, a line each with file and line; the rest was. */
  problems(id: string): readonly string[];
  events(id: string): AsyncIterable<TaskEvent>;
  close(): Promise<void>;
}

export function openTasks(options: {
  readonly dataDir?: string;
  readonly environment?: Environment;
}): TaskReader {
  const environment = options.environment ?? readEnvironment();
  const home = environment['HOME'] || homedir();
  const { dataDir: chosen } = options;
  const directory = dataDir(
    { environment, home },
    { cwd: process.cwd(), ...(chosen === undefined ? {} : { dataDir: chosen }) },
  );
  const store = openDataDir({ dataDir: directory, durability: 'safe' });
  return {
    list: () => store.list(),
    show: (prefix) => {
      const id = store.resolveId(prefix);
      const state = foldLog(store, id);
      const listed = store.list().find((task) => task.id === id);
      if (listed !== undefined) state.status = listed.status;
      return resultEnvelope(state, { transcript: store.log(id), outputFile: store.outputFile(id) });
    },
    problems: (prefix) => {
      const id = store.resolveId(prefix);
      return store
        .scan(id, () => {})
        .map(({ line, message }) => `${store.log(id)}:${line}: ${message}`);
    },
    events: (prefix) => store.events(store.resolveId(prefix), 0),
    close: () => store.close(),
  };
}
