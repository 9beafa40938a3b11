import { dirname } from 'node:path';
import { agentId } from '../../agents/find-agent.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { MemoryLocation, MemoryScope } from '../../protocol/memory.ts';
import { locateMemoryDirectory } from '../../sys/files/memory-directories.ts';
import { projectRoot } from '../../sys/files/project-directories.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';

/** The directories of notes, and the trust in those of a project. */
export interface MemorySource {
  /** The user's own directory: absolute, without links. It may be missing. */
  readonly userDirectory: string;
  /** Returns true when the index of an agent's notes (an absolute path in a project) may enter its prompt. */
  trusts(index: string): boolean;
}

/** Finds the notes that tasks in `cwd` (absolute, real) share. Searches for the root of the project. */
export function findSharedNotes(
  source: MemorySource,
  scope: MemoryScope,
  cwd: string,
): MemoryLocation {
  return followLink(
    locateMemoryDirectory(scope, null, { user: source.userDirectory, project: projectRoot(cwd) }),
  );
}

/** Finds the notes that are an agent's own, or null when it keeps none. */
export function findOwnNotes(
  source: MemorySource,
  agent: Pick<AgentDefinition, 'memory' | 'name' | 'origin'>,
  cwd: string,
): MemoryLocation | null {
  if (agent.memory === undefined) return null;
  const bases = { user: source.userDirectory, project: projectRoot(cwd) };
  return followLink(locateMemoryDirectory(agent.memory, agentId(agent), bases));
}

/** Resolves a link when the notes are in the user's directory. A link in a project is left to be refused. */
function followLink(place: MemoryLocation): MemoryLocation {
  if (place.scope !== 'user') return place;
  const { real: directory, exists } = resolveInRoots(place.directory, []);
  if (directory === place.directory) return place;
  const { real: top } = resolveInRoots(place.top, []);
  const base = exists ? dirname(directory) : dirname(top);
  return { ...place, base, top, directory };
}
