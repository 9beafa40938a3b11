import { lstatSync } from 'node:fs';
import { relative } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { FileChange } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { readNamedFile } from '../../sys/files/named-file.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import type { PathDifference, PathState } from '../../workspaces/difference.ts';
import { formatDiff } from '../../workspaces/format-diff.ts';
import type { StoredWorkspaces } from '../workspaces/contract.ts';
import type { TaskDirectory } from './ask-process.ts';

/** The changes of a task as a unified diff. */
export interface ChangesDiff {
  readonly text: string;
  /** True if the changes have landed in the files of the user, from the workspace of the task. */
  readonly hasLanded: boolean;
  /** The reason why something or everything is missing; null if the diff is complete. */
  readonly note: string | null;
}

/** The maximum size of a file whose change is shown. */
const MAX_FILE_BYTES = 1_000_000;

interface ReadDiffOptions {
  /** UTF-16 units. */
  readonly maxLength: number;
  readonly redact: (text: string) => string;
  readonly openWorkspaces: () => Promise<Pick<StoredWorkspaces, 'leftDiff'>>;
}

/**
 * Reads what a task has changed: in its workspace, or else in the files of the user, from the backups of their contents. The
 * present content of a file is used only if the task has left the file like that.
 */
export async function readTaskDiff(
  { store }: TaskDirectory,
  state: TaskState,
  { maxLength, redact, openWorkspaces }: ReadDiffOptions,
): Promise<ChangesDiff> {
  const { id, workspace } = state.spec;
  if (workspace !== undefined) {
    const left = await (await openWorkspaces()).leftDiff(id, maxLength);
    const note =
      left === null ? 'the changes in the workspace of the task are not known any more' : null;
    return { text: redact(left?.text ?? ''), hasLanded: left?.hasLanded ?? false, note };
  }
  // The paths in an imported log are of another machine, or are made up.
  if (store.isImported(id)) {
    return { text: '', hasLanded: false, note: 'the log was imported, without the files' };
  }
  const differences: PathDifference[] = [];
  const missing: string[] = [];
  for (const change of state.filesChanged.values()) {
    const path = relative(state.spec.cwd, change.path);
    const sides = await readSides(store, change);
    if (typeof sides === 'string') missing.push(`${path} (${sides})`);
    else differences.push({ path, ...sides });
  }
  return {
    text: redact(formatDiff(differences, maxLength)),
    hasLanded: false,
    note: missing.length === 0 ? null : `not shown: ${missing.join(', ')}`,
  };
}

/** Reads the contents before and after a change, or returns the reason why they are not known. */
async function readSides(
  store: TaskStore,
  change: FileChange,
): Promise<Pick<PathDifference, 'before' | 'after'> | string> {
  const before = readBackup(store, change.before);
  if (before === undefined) return 'its former content was not kept';
  const after =
    readBackup(store, change.after) ?? (await readPresent(change.path, change.after ?? ''));
  return after === undefined ? 'it has changed since' : { before, after };
}

/** Returns the content with a hash; undefined if there is no backup of it. */
function readBackup(store: TaskStore, hash: string | null): PathState | undefined {
  if (hash === null) return null;
  const bytes = HASH.test(hash) ? store.getBackup(hash) : null;
  return bytes === null || bytes.length > MAX_FILE_BYTES
    ? undefined
    : { kind: 'file', executable: false, bytes };
}

const HASH = /^[0-9a-f]{64}$/;

/** Returns the present content of a file if it has this hash, otherwise undefined. */
async function readPresent(path: string, hash: string): Promise<PathState | undefined> {
  try {
    if (!lstatSync(path).isFile()) return undefined;
    const bytes = await readNamedFile(path, { maxBytes: MAX_FILE_BYTES });
    return hashContent(bytes) === hash ? { kind: 'file', executable: false, bytes } : undefined;
  } catch (thrown) {
    if (!(thrown instanceof MusterError) && systemErrorCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}
