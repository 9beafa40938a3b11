import { realpathSync, statSync } from 'node:fs';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { readNamedAgentFile } from '../../agents/named-file.ts';
import { systemErrorCode, UsageError } from '../../base/errors.ts';
import { toAbsolutePath } from '../../sys/files/paths.ts';
import type { AgentDefinition, AgentProblem } from '../../protocol/agent.ts';
import { requireAgent } from './load-agents.ts';

export interface ChosenAgents {
  readonly agents: readonly AgentDefinition[];
  /** The problems of files without agents. */
  readonly problems: readonly AgentProblem[];
}

/**
 * Returns whether a name means a file and not an agent: it contains a `/` or ends like a file.
 */
function isAgentFile(name: string): boolean {
  return (
    name === '.' || name === '..' || name.includes('/') || /\.(?:md|toml|jsonc?|ya?ml)$/i.test(name)
  );
}

/** Makes the paths of files among the arguments absolute; the other arguments are names. */
export function resolveAgentFiles(names: readonly string[], cwd: string): readonly string[] {
  return names.map((name) => (isAgentFile(name) ? toAbsolutePath(name, cwd) : name));
}

/**
 * Returns the agents that the arguments name: names of discovered agents, and absolute paths of files; without
 * arguments all discovered agents, shadowed ones last. Throws UsageError for an unknown name and for a directory.
 */
export async function chooseAgents(
  names: readonly string[],
  found: DiscoveryResult<AgentDefinition>,
): Promise<ChosenAgents> {
  const all = [...found.items, ...found.shadowed.map(({ item }) => item)];
  if (names.length === 0) return { agents: all, problems: found.problems };
  const chosen = await Promise.all(names.map((name) => chosenBy(name, all, found)));
  return {
    agents: [...new Set(chosen.flatMap(({ agents }) => agents))],
    problems: chosen.flatMap(({ problems }) => problems),
  };
}

/**
 * Returns the agents that one argument names. A file that was discovered before gives the discovered agent.
 */
async function chosenBy(
  name: string,
  all: readonly AgentDefinition[],
  found: DiscoveryResult<AgentDefinition>,
): Promise<ChosenAgents> {
  if (!isAgentFile(name)) return { agents: [requireAgent(name, found)], problems: [] };
  if (isDirectory(name)) {
    throw new UsageError(`${name} is a directory; for all below it: --dir ${name}`);
  }
  const real = realPath(name);
  const known = all.filter(({ origin }) => realPath(origin.path) === real);
  if (known.length > 0) return { agents: known, problems: [] };
  const { items, problems } = await readNamedAgentFile(name);
  return { agents: items, problems };
}

/** Returns the real path, or the path itself if nothing is there. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return path;
  }
}

/**
 * Returns whether a path is a directory. False if it cannot be inspected; reading it then gives the reason.
 */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}
