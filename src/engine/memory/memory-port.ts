import { MusterError } from '../../base/errors.ts';
import { MEMORY_SCOPES, type MemoryLocation, type MemoryPort } from '../../protocol/memory.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { ownPlace, sharedPlace, type MemorySource } from './memory-source.ts';

interface PortParts {
  readonly source: MemorySource;
  readonly spec: Pick<TaskSpec, 'agent' | 'cwd'>;
  /** Rejects where the call is to end. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** Scope of the calls that name none, of those that have no directory of their own. */
const DEFAULT_SCOPE = 'project';

/**
 * The notes that calls of a task reach. An agent's own directory comes with `memory` in its definition;
 * what all share is for the tools that its definition lists by name.
 */
export function memoryPort({ source, spec, sleep }: PortParts): MemoryPort {
  const { agent, cwd } = spec;
  return {
    place(tool, said): MemoryLocation {
      const own = ownPlace(source, agent, cwd);
      const word = said?.trim().toLowerCase() ?? '';
      if (word === '') return own ?? sharedPlace(source, DEFAULT_SCOPE, cwd);
      const scope = MEMORY_SCOPES.find((each) => each === word);
      if (scope === undefined) {
        const valid = `${MEMORY_SCOPES.join(', ')}${own === null ? '' : ', or leave it out for your own notes'}`;
        throw new MusterError('INVALID_PARAM', `scope: is not known; valid: ${valid}`);
      }
      if (own === null) return sharedPlace(source, scope, cwd);
      const isListed = agent.tools.mode === 'allow' && agent.tools.names.includes(tool);
      if (isListed) return sharedPlace(source, scope, cwd);
      if (scope === own.scope) return own;
      throw new MusterError(
        'PERMISSION_DENIED',
        `scope: you have notes of your own alone; leave it out. (The definition would have to list ${tool} for the ${scope} notes that agents share.)`,
      );
    },
    async locked(directory, work) {
      const { lockedDirectory } = await import('../../store/directory-lock.ts');
      return await lockedDirectory(directory, sleep, work);
    },
  };
}
