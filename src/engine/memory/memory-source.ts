import { dirname } from 'node:path';
import { agentId } from '../../agents/agent-id.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { MemoryLocation, MemoryScope } from '../../protocol/memory.ts';
import { locateMemoryDirectory } from '../../sys/files/memory-directories.ts';
import { projectRoot } from '../../sys/files/project-directories.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';

/** Where notes lie. */
export interface MemorySource {
  /** The user's own directory. Absolute, without links; it may be missing. */
  readonly userDirectory: string;
  /** Whether the index of an agent (absolute path, in a project) may enter its prompt unasked. */
  trusts(index: string): boolean;
}

/** The notes that tasks in `cwd` (absolute, real) share. Looks for the root of the project. */
export function sharedPlace(source: MemorySource, scope: MemoryScope, cwd: string): MemoryLocation {
  return linked(
    locateMemoryDirectory(scope, null, { user: source.userDirectory, project: projectRoot(cwd) }),
  );
}

/** The notes that are an agent's own; null: it has none. */
export function ownPlace(
  source: MemorySource,
  agent: Pick<AgentDefinition, 'memory' | 'name' | 'origin'>,
  cwd: string,
): MemoryLocation | null {
  if (agent.memory === undefined) return null;
  const bases = { user: source.userDirectory, project: projectRoot(cwd) };
  return linked(locateMemoryDirectory(agent.memory, agentId(agent), bases));
}

/** Follows a link in the user's own directories, and refuses one in a project's. */
function linked(place: MemoryLocation): MemoryLocation {
  if (place.scope !== 'user') return place;
  const { real: directory, exists } = resolveInRoots(place.directory, []);
  if (directory === place.directory) return place;
  const { real: top } = resolveInRoots(place.top, []);
  const base = exists ? dirname(directory) : dirname(top);
  return { ...place, base, top, directory };
}
