import { MusterError } from '../../base/errors.ts';
import { MEMORY_SCOPES, type MemoryLocation, type MemoryPort } from '../../protocol/memory.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { findOwnNotes, findSharedNotes, type MemorySource } from './memory-source.ts';

interface PortParts {
  readonly source: MemorySource;
  readonly spec: Pick<TaskSpec, 'agent' | 'cwd'>;
  /** Waits; rejects when the call is stopped. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** The scope of a call that names none, by an agent without notes of its own. */
const DEFAULT_SCOPE = 'project';

/**
 * Returns the port through which calls of a task reach notes. An agent has notes of its own when its definition
 * sets `memory`. Shared notes are open to the tools that its definition lists by name.
 */
export function createMemoryPort({ source, spec, sleep }: PortParts): MemoryPort {
  const { agent, cwd } = spec;
  return {
    place(tool, requestedScope): MemoryLocation {
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
      throw new MusterError(
        'PERMISSION_DENIED',
        `scope: you may use only your own notes, so leave scope out. (To use the ${scope} notes that agents share, the definition would have to list ${tool}.)`,
      );
    },
    async locked(directory, work) {
      const { withDirectoryLock: lockedDirectory } =
        await import('../../store/locks/directory-lock.ts');
      return await lockedDirectory(directory, sleep, work);
    },
  };
}
