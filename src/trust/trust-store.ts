import { join } from 'node:path';
import type { ProjectFileKind, ProjectFileName } from '../sys/files/project-file.ts';
import type { ListFormat } from '../store/state/state-list.ts';
import { APPROVE_AGAIN } from './approval-list.ts';

/** The user's approval of one file with one content. */
export interface TrustEntry extends ProjectFileName {
  /** The SHA-256 hash of the approved content, in hexadecimal. */
  readonly sha256: string;
  /** The root of the file's project, without links. */
  readonly project: string;
  /** The time of the approval, in ISO 8601. */
  readonly trustedOn: string;
}

const FILE_NAME = 'trust.json';

/** Returns the path of the file with the approvals in a state directory. */
export function trustFile(directory: string): string {
  return join(directory, FILE_NAME);
}

const KINDS: ReadonlySet<string> = new Set<ProjectFileKind>([
  'config',
  'permissions',
  'agent',
  'skill',
  'template',
  'command',
  'memory',
  'mcp',
  'hooks',
]);

/** Returns the key of an approval: the kind and the path of the file. */
export function entryKey({ kind, path }: ProjectFileName): string {
  return `${kind} ${path}`;
}

/** The format of the file with the approvals of all projects. */
export const TRUSTED_FILES: ListFormat<TrustEntry> = {
  fileName: FILE_NAME,
  remedy: APPROVE_AGAIN,
  listName: 'files',
  keyOf: entryKey,
  describeInvalid: (position) => `entry ${position} is not a valid approval`,
  read({ kind, path, sha256, project, trustedOn }) {
    if (
      !isKind(kind) ||
      typeof path !== 'string' ||
      typeof sha256 !== 'string' ||
      typeof project !== 'string' ||
      typeof trustedOn !== 'string' ||
      !/^[0-9a-f]{64}$/.test(sha256) ||
      !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(trustedOn)
    ) {
      return undefined;
    }
    return { kind, path, sha256, project, trustedOn };
  },
};

function isKind(value: unknown): value is ProjectFileKind {
  return typeof value === 'string' && KINDS.has(value);
}
