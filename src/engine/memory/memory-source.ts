import { dirname } from 'node:path';
import { agentId } from '../../agents/find-agent.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import {
  type MemoryLocation,
  type MemoryScope,
  MEMORY_SCOPES,
  type MemoryPort,
} from '../../protocol/memory.ts';
import { locateMemoryDirectory } from '../../sys/files/memory-directories.ts';
import { projectRoot } from '../../sys/files/project-directories.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { MusterError } from '../../base/errors.ts';
import type { TaskSpec } from '../../protocol/task.ts';

/** The directories of notes, and the trust in those of a project. */
export interface MemorySource {
  /** The user's own directory: absolute, without links. It may be missing. */
  readonly userDirectory: string;
  /** Returns true when the index of an agent's notes (an absolute path in a project) may enter its prompt. */
  trusts(index: string): boolean;
}

/** Finds the notes that tasks in `cwd` (absolute, real) share. Searches for the root of the project. */
function findSharedNotes(source: MemorySource, scope: MemoryScope, cwd: string): MemoryLocation {
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

interface PortParts {
  readonly source: MemorySource;
  readonly spec: Pick<TaskSpec, 'agent' | 'cwd'>;
  /** Waits; rejects when the call is stopped. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** The scope of a call that names none, by an agent without notes of its own. */
const DEFAULT_SCOPE = 'project';

/**
 * Returns the port through which calls of a task pathAccess notes. An agent has notes of its own when its definition
 * sets `memory`. Shared notes are open to the tools that its definition lists by name.
 */
export function createMemoryPort({ source, spec, sleep }: PortParts): MemoryPort {
  const { agent, cwd } = spec;
  return {
    locate(tool, requestedScope): MemoryLocation {
      const own = findOwnNotes(source, agent, cwd);
      const name = requestedScope?.trim().toLowerCase() ?? '';
      if (name === '') return own ?? findSharedNotes(source, DEFAULT_SCOPE, cwd);
      const scope = MEMORY_SCOPES.find((each) => each === name);
      if (scope === undefined) {
        const valid = `${MEMORY_SCOPES.join(', ')}${own === null ? '' : ', or leave it out for your own notes'}`;
        throw new MusterError('INVALID_PARAM', `scope: is unknown; valid: ${valid}`);
      }
      if (own === null) return findSharedNotes(source, scope, cwd);
      const isListed = agent.tools.mode === 'allow' && agent.tools.names.includes(tool);
      if (isListed) return findSharedNotes(source, scope, cwd);
      if (scope === own.scope) return own;
      const message = `scope: you may use only your own notes, so leave scope out. (To use the ${scope} notes that agents share, the definition would have to list ${tool}.)`;
      throw new MusterError('PERMISSION_DENIED', message);
    },
    async runLocked(directory, work) {
      const { withDirectoryLock: lockedDirectory } =
        await import('../../store/locks/directory-lock.ts');
      return await lockedDirectory(directory, sleep, work);
    },
  };
}
