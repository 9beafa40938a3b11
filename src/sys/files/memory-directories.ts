import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { byteLength, truncate } from '../../base/text.ts';

/**
 * Parts of the names of memory directories, both in the user's configuration directory and in a project's `.muster`.
 */
const SHARED = 'memory';
const OWN = 'agent-memory';
const LOCAL = '-local';

/** The maximum length of the name of an agent's directory in bytes. */
const MAX_NAME_BYTES = 100;

/** The owner of the notes. The protocol defines the same names, but this module cannot import it. */
type Scope = 'user' | 'project' | 'local';

/** The directories that contain the directories of notes. */
export interface MemoryBases {
  /** The user's configuration directory. Absolute, without links. */
  readonly user: string;
  /** The root of the project. Absolute, without links. */
  readonly project: string;
}

/**
 * Returns the directory for the notes of a scope, or for the notes of an agent in that scope. `agent` is the name of
 * the agent as it was typed; null for the notes of the scope itself.
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
  /** The entry of `bases` that contains the directory. */
  readonly base: string;
  /** The directory of all notes of this kind and scope. It equals `directory` if there is no agent. */
  readonly top: string;
  readonly directory: string;
}

/** The directories of agents' notes in a project, relative to its root. They may not exist. */
export const PROJECT_MEMORY_DIRECTORIES: readonly string[] = [OWN, `${OWN}${LOCAL}`].map((name) =>
  join('.muster', name),
);

/**
 * Returns the directory name for an agent. All spellings of an agent's name give the same directory name. `:` becomes
 * `+`, because some systems do not allow `:` in file names, and `+` does not occur in names of agents.
 */
function ownerName(agent: string): string {
  const name = agent.normalize('NFC').toLowerCase().replaceAll(':', '+').replaceAll('/', '+');
  if (byteLength(name) <= MAX_NAME_BYTES && !name.startsWith('.')) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return `${truncate(name.replaceAll(/[^a-z0-9_-]/g, ''), 40)}+${hash}`;
}
