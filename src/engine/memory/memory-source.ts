import { dirname } from 'node:path';
import { agentId } from '../../agents/agent-id.ts';
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

/** The directories of notes, and the user's trust in the notes of projects. */
export interface MemorySource {
  /** The user's own directory for notes: absolute, without links. It may be missing. */
  readonly userDirectory: string;
  /** Returns true if the index of an agent's notes (an absolute path in a project) may become part of its prompt. */
  trusts(index: string): boolean;
}

/** Finds the notes of a scope that all agents share. `cwd` is absolute and real, in the project. */
function findSharedNotes(source: MemorySource, scope: MemoryScope, cwd: string): MemoryLocation {
  return followLink(
    locateMemoryDirectory(scope, null, { user: source.userDirectory, project: projectRoot(cwd) }),
  );
}

/** Finds the notes that belong to one agent, or null if its definition does not set `memory`. */
export function findOwnNotes(
  source: MemorySource,
  agent: Pick<AgentDefinition, 'memory' | 'name' | 'origin'>,
  cwd: string,
): MemoryLocation | null {
  if (agent.memory === undefined) return null;
  const bases = { user: source.userDirectory, project: projectRoot(cwd) };
  return followLink(locateMemoryDirectory(agent.memory, agentId(agent), bases));
}

/**
 * Follows links to the notes in the user's directory. In a project links are not followed, so that tools refuse them.
 */
function followLink(location: MemoryLocation): MemoryLocation {
  if (location.scope !== 'user') return location;
  const { real: directory, exists } = resolveInRoots(location.directory, []);
  if (directory === location.directory) return location;
  const { real: top } = resolveInRoots(location.top, []);
  const base = exists ? dirname(directory) : dirname(top);
  return { ...location, base, top, directory };
}

/** The task whose calls use the port, and the ports that it needs. */
interface PortParts {
  readonly source: MemorySource;
  readonly spec: Pick<TaskSpec, 'agent' | 'cwd'>;
  /** Resolves after so many milliseconds. Rejects when the call is stopped. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** The scope of a call without a scope, if the agent has no notes of its own. */
const DEFAULT_SCOPE = 'project';

/**
 * Creates the port through which the calls of a task use notes. An agent with notes of its own may use shared notes
 * only through tools that its definition lists by name. An agent without notes of its own uses shared notes.
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
