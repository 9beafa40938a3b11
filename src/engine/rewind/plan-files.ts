import { errorMessage, MusterError } from '../../base/errors.ts';
import type { FileForm, FileLeft, RewoundFile } from '../../protocol/events/rewound.ts';
import type { FileChange } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { MAX_EDIT_BYTES } from '../../tools/shared/file-text.ts';
import { findFileAbove, hasForm, readPathContent, type PathContent } from './restore-file.ts';
import type { ChangeSince, TreeSince } from './tree-since.ts';

/** The permission bits of a recreated file if an older log does not have them. */
const DEFAULT_MODE = 0o644;

/** The file changes of a rewind. */
export interface FilePlan {
  readonly files: readonly RewoundFile[];
  /** Files that can't be restored, and logs that can't be read. */
  readonly refused: readonly FileLeft[];
}

/** Plans how the files that a tree has changed since an event are restored, and finds the ones that can't be. */
export async function planFiles(
  store: Pick<TaskStore, 'hasBackup'>,
  since: Pick<TreeSince, 'changes' | 'roots' | 'unreadableLogs'>,
): Promise<FilePlan> {
  const refused: FileLeft[] = [...since.unreadableLogs];
  const files: RewoundFile[] = [];
  for (const [path, changes] of Map.groupBy(since.changes, ({ change }) => change.path)) {
    const found = await contentAt(path, since.roots);
    const file = fileOf(path, changes, found);
    if (hasForm(found, file.to, { comparesMode: true })) continue;
    const reason = refusalReason(file, changes, found);
    if (reason === null) files.push(file);
    else refused.push({ path, because: reason });
  }
  for (const file of files) {
    const reason = restoreObstacle(store, file, files);
    if (reason !== null) refused.push({ path: file.path, because: reason });
  }
  return { files, refused };
}

async function contentAt(path: string, roots: readonly string[]): Promise<PathContent> {
  try {
    return await readPathContent(path, roots);
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return { kind: 'other', what: `not readable (${errorMessage(thrown)})` };
  }
}

function fileOf(path: string, changes: readonly ChangeSince[], found: PathContent): RewoundFile {
  const mode = found.kind === 'file' ? found.form.mode : DEFAULT_MODE;
  const all = changes.map(({ change }) => change);
  return {
    path,
    from: formOf(all.at(-1)?.after ?? null, mode),
    to: formOf(all[0]?.before ?? null, modeBefore(all) ?? mode),
  };
}

function formOf(hash: string | null, mode: number): FileForm | null {
  return hash === null ? null : { hash, mode };
}

/** Returns the permission bits from before all changes; undefined if they never changed. */
function modeBefore(changes: readonly FileChange[]): number | undefined {
  for (const { mode, after, movedFrom } of changes) {
    if (mode !== undefined) return mode;
    // The file is gone, and an older log does not have its permission bits.
    if (after === null || movedFrom !== undefined) return DEFAULT_MODE;
  }
  return undefined;
}

/** Returns the reason why a file can't be restored from its present form, or null. */
function refusalReason(
  { path, from, to }: RewoundFile,
  changes: readonly ChangeSince[],
  found: PathContent,
): string | null {
  if (changes.some(({ isImported: isForeign }) => isForeign)) {
    return 'was changed before its task was imported';
  }
  if (isSecretPath(path)) return 'usually contains secrets: no copy of it is kept';
  if (found.kind === 'other') return `is ${found.what} now`;
  if (!hasForm(found, from, { comparesMode: false })) {
    const change = found.kind === 'nothing' ? 'was deleted' : 'was changed since';
    return `${change}, by another program or by a command`;
  }
  if (found.kind === 'nothing') return null;
  if (to !== null && (found.form.mode & 0o222) === 0) return 'is read-only';
  if (isTooLarge(found.form)) return `is larger than ${MAX_EDIT_BYTES} bytes: it is not kept`;
  return null;
}

/**
 * Returns the reason why the earlier content of a file is not available or has no directory, or null. The other files
 * of the plan count: their present content is kept, and a file in the way may be removed.
 */
function restoreObstacle(
  store: Pick<TaskStore, 'hasBackup'>,
  { path, from, to }: RewoundFile,
  files: readonly RewoundFile[],
): string | null {
  if (to === null) return null;
  if (isTooLarge(to)) return `had more than ${MAX_EDIT_BYTES} bytes, which were not kept`;
  const isKept = store.hasBackup(to.hash) || files.some((each) => each.from?.hash === to.hash);
  if (!isKept) return 'was changed without a copy of its earlier content (by an older version?)';
  const above = from === null ? findFileAbove(path) : null;
  if (above === null || files.some((each) => each.path === above && each.to === null)) return null;
  return `can't be restored: ${above} is not a directory now`;
}

/** Returns true for a file too large to hash, whose fingerprint `fileFingerprint` makes from its metadata. */
function isTooLarge({ hash }: FileForm): boolean {
  return hash.startsWith('stat:');
}
