import { realpathSync, statSync } from 'node:fs';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { readNamedAgentFile } from '../../agents/named-file.ts';
import { systemErrorCode, UsageError } from '../../base/errors.ts';
import { toAbsolutePath } from '../../sys/files/paths.ts';
import type { AgentDefinition, AgentProblem } from '../../protocol/agent.ts';
import { requireAgent } from './load-agents.ts';

export interface ChosenAgents {
  readonly agents: readonly AgentDefinition[];
  /** The problems of files that contain no usable agent. */
  readonly problems: readonly AgentProblem[];
}

/**
 * Checks whether an argument is the path of a file and not the name of an agent: it contains a `/` or ends with the
 * suffix of an agent file.
 */
function isAgentFile(name: string): boolean {
  return (
    name === '.' || name === '..' || name.includes('/') || /\.(?:md|toml|jsonc?|ya?ml)$/i.test(name)
  );
}

/** Makes those arguments absolute that are paths of files. Names of agents stay as they are. */
export function resolveAgentFiles(names: readonly string[], cwd: string): readonly string[] {
  return names.map((name) => (isAgentFile(name) ? toAbsolutePath(name, cwd) : name));
}

/**
 * Returns the agents for arguments that are names of discovered agents or absolute paths of files. Without arguments,
 * returns all discovered agents, shadowed agents last. Throws UsageError for an unknown name and for a directory.
 */
export async function chooseAgents(
  names: readonly string[],
  discovery: DiscoveryResult<AgentDefinition>,
): Promise<ChosenAgents> {
  const all = [...discovery.items, ...discovery.shadowed.map(({ item }) => item)];
  if (names.length === 0) return { agents: all, problems: discovery.problems };
  const chosen = await Promise.all(names.map((name) => chooseByName(name, all, discovery)));
  return {
    agents: [...new Set(chosen.flatMap(({ agents }) => agents))],
    problems: chosen.flatMap(({ problems }) => problems),
  };
}

/**
 * Returns the agents for one argument. For a file that discovery has read already, returns the discovered agents.
 */
async function chooseByName(
  name: string,
  all: readonly AgentDefinition[],
  discovery: DiscoveryResult<AgentDefinition>,
): Promise<ChosenAgents> {
  if (!isAgentFile(name)) return { agents: [requireAgent(name, discovery)], problems: [] };
  if (isDirectory(name)) {
    throw new UsageError(`${name} is a directory: use --dir ${name} for all agents below it`);
  }
  const real = resolveLinks(name);
  const known = all.filter(({ origin }) => resolveLinks(origin.path) === real);
  if (known.length > 0) return { agents: known, problems: [] };
  const { items, problems } = await readNamedAgentFile(name);
  return { agents: items, problems };
}

/** Returns the real path, or the path itself if it does not exist. */
function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return path;
  }
}

/**
 * Checks whether a path is a directory. Returns false if the path cannot be inspected: reading it reports the reason.
 */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}
