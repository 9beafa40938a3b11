import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { byteLength, truncate } from '../../base/text.ts';

/** Names of the directories that lie in the user's own and in a project's `.muster`. */
const SHARED = 'memory';
const OWN = 'agent-memory';
const LOCAL = '-local';

/** An agent's directory has a name of so many bytes at most, whatever the agent is called. */
const MAX_NAME_BYTES = 100;

/** Whose notes; the same words as in the protocol, which is no neighbour to import from. */
type Scope = 'user' | 'project' | 'local';

export interface MemoryBases {
  /** The user's configuration directory. Absolute, without links. */
  readonly user: string;
  /** The root of the project. Absolute, without links. */
  readonly project: string;
}

/**
 * The directory of notes of a scope, or there of an agent by the word that is typed for it; `base` is
 * the one of `bases` that it lies in. Pure.
 */
export function locateMemoryDirectory(
  scope: Scope,
  agent: string | null,
  bases: MemoryBases,
): MemoryDirectory {
  const owner = agent === null ? null : ownerName(agent);
  const kind = `${owner === null ? SHARED : OWN}${scope === 'local' ? LOCAL : ''}`;
  const base = scope === 'user' ? bases.user : bases.project;
  const top = scope === 'user' ? join(base, kind) : join(base, '.muster', kind);
  return { scope, owner, base, top, directory: owner === null ? top : join(top, owner) };
}

interface MemoryDirectory {
  readonly scope: Scope;
  readonly owner: string | null;
  readonly base: string;
  /** Holds all directories of this kind and scope, or is the one. */
  readonly top: string;
  readonly directory: string;
}

/** Where a project keeps the directories of agents, below its root; not all are there. */
export const PROJECT_MEMORY_DIRECTORIES: readonly string[] = [OWN, `${OWN}${LOCAL}`].map((name) =>
  join('.muster', name),
);

/**
 * One name for all spellings of an agent, who are one whatever the case; a `:` is no character of a
 * name everywhere, and `+` is none of an agent's word.
 */
function ownerName(agent: string): string {
  const name = agent.normalize('NFC').toLowerCase().replaceAll(':', '+').replaceAll('/', '+');
  if (byteLength(name) <= MAX_NAME_BYTES && !name.startsWith('.')) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return `${truncate(name.replaceAll(/[^a-z0-9_-]/g, ''), 40)}+${hash}`;
}
