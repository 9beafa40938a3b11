import { errorMessage, MusterError } from '../../base/errors.ts';
import { plural } from '../../base/text.ts';
import type { FileForm, RewoundFile, UnrestoredFile } from '../../protocol/events/rewound.ts';
import type { FileChange, UnlistedChanges } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { MAX_EDIT_BYTES } from '../../tools/shared/file-text.ts';
import { findFileAbove, hasForm, readPathContent, type PathContent } from './restore-file.ts';
import type { ChangeSince, TreeSince } from './tree-since.ts';

/** The permission bits of a recreated file if its log is from an older version, which did not record them. */
const DEFAULT_MODE = 0o644;
const PERMISSION_BITS = 0o777;

/** The part of a rewind plan that concerns files. */
interface FilePlan {
  readonly files: readonly RewoundFile[];
  /** Files that can't be restored, and logs that can't be read. */
  readonly refused: readonly UnrestoredFile[];
  /** Changes by commands that stay, although the others are undone. */
  readonly left: readonly UnrestoredFile[];
}

/** Finds out whether an earlier content is available. */
type BackupLookup = Pick<TaskStore, 'hasBackup'>;

/**
 * Plans how to restore the files that a tree has changed since an event, and finds the files that can't be restored. A
 * file that a tool has changed prevents the rewind if it can't be restored. A file that only commands have changed is
 * left as it is.
 */
export async function planFiles(
  store: BackupLookup,
  since: Pick<TreeSince, 'changes' | 'unlisted' | 'roots' | 'unreadableLogs'>,
): Promise<FilePlan> {
  const refused: UnrestoredFile[] = [...since.unreadableLogs];
  const left: UnrestoredFile[] = since.unlisted.map(toUnrestored);
  const planned: PlannedFile[] = [];
  const changesByPath = [...Map.groupBy(since.changes, ({ change }) => change.path)];
  const contents = findPresentContents(changesByPath);
  for (const [path, changes] of changesByPath) {
    const first = findFirstUndoable(changes, (hash) => store.hasBackup(hash) || contents.has(hash));
    if (first > 0 || first === -1) left.push({ path, because: describeUnknownContent(first) });
    if (first === -1) continue;
    const unrestorable = describeOtherKind(changes);
    if (unrestorable !== null) {
      left.push({ path, because: unrestorable });
      continue;
    }
    const found = await readContentOrReason(path, since.roots);
    const wanted = planFile(path, changes.slice(first), found);
    if (hasForm(found, wanted.to, { comparesMode: true })) continue;
    const file = dropSpecialBits(wanted);
    if (file.to?.mode !== wanted.to?.mode) {
      const because = 'was changed by a command, and its special permission bits are not restored';
      left.push({ path, because });
    }
    if (hasForm(found, file.to, { comparesMode: true })) continue;
    const isByCommands = changes.every(({ change }) => change.byCommand === true);
    const reason = findRefusalReason(file, changes, found);
    if (reason === null) planned.push({ file, isByCommands });
    else (isByCommands ? left : refused).push({ path, because: reason });
  }
  const files = planned.map(({ file }) => file);
  const stuck = new Set<RewoundFile>();
  for (const { file, isByCommands } of planned) {
    const reason = findRestoreObstacle(store, file, files);
    if (reason === null) continue;
    (isByCommands ? left : refused).push({ path: file.path, because: reason });
    if (isByCommands) stuck.add(file);
  }
  return { files: files.filter((file) => !stuck.has(file)), refused, left };
}

/** A file that will be restored unless there is an obstacle. */
interface PlannedFile {
  readonly file: RewoundFile;
  readonly isByCommands: boolean;
}

/** Returns the hashes of the contents that the files of a plan should have now: these are backed up before the rewind. */
function findPresentContents(
  changesByPath: readonly (readonly [string, readonly ChangeSince[]])[],
): ReadonlySet<string> {
  return new Set(changesByPath.flatMap(([, changes]) => findLatest(changes)?.after ?? []));
}

/**
 * Returns the index of the first change that can be undone, or -1. A change by a command can't be undone if the content
 * before it is not known or not available, or if it is not known which part of it was made before the target.
 */
function findFirstUndoable(
  changes: readonly ChangeSince[],
  isAvailable: (hash: string) => boolean,
): number {
  return changes.findIndex(({ change: { byCommand, before }, isPartlyEarlier }) => {
    if (byCommand !== true) return true;
    return !isPartlyEarlier && (before === null || isAvailable(before));
  });
}

/** Returns the reason why a path is left that commands have made something that cannot be compared, or null. */
function describeOtherKind(changes: readonly ChangeSince[]): string | null {
  const hashes = changes.flatMap(({ change: { before, after } }) => [before ?? '', after ?? '']);
  if (hashes.some((hash) => hash.startsWith('link:'))) {
    return 'was made or changed by a command as a symbolic link, and links are not restored';
  }
  if (findLatest(changes)?.after?.startsWith('unknown:') === true) {
    return 'was changed by a command that changed too much to read it';
  }
  return hashes.some((hash) => hash.startsWith('special:'))
    ? 'was made or changed by a command as a special file, which is not restored'
    : null;
}

function describeUnknownContent(first: number): string {
  const unknown = 'was changed by a command, and its previous content is not known';
  return first === -1 ? unknown : `${unknown}: what the command left is restored`;
}

function toUnrestored({ path, reason, count = 0, detail = '' }: UnlistedChanges): UnrestoredFile {
  switch (reason) {
    case 'dependencies':
      return { path, because: 'was changed by a command: its files are not listed' };
    case 'names':
      return { path, because: 'has files changed by a command whose names are not valid UTF-8' };
    case 'limit':
      return { path, because: `has ${plural(count, 'more file')} that a command changed` };
    case 'untracked':
      return { path, because: `may have been changed by commands: ${detail}` };
  }
}

async function readContentOrReason(path: string, roots: readonly string[]): Promise<PathContent> {
  try {
    return await readPathContent(path, roots);
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return { kind: 'other', what: `not readable (${errorMessage(thrown)})` };
  }
}

function planFile(path: string, changes: readonly ChangeSince[], found: PathContent): RewoundFile {
  const mode = found.kind === 'file' ? found.form.mode : DEFAULT_MODE;
  const all = changes.map(({ change }) => change);
  return {
    path,
    from: toFileForm(findLatest(changes)?.after ?? null, mode),
    to: toFileForm(all[0]?.before ?? null, findModeBefore(all) ?? mode),
  };
}

/** Removes the setuid, setgid and sticky bits, which Muster never sets. */
function dropSpecialBits({ path, from, to }: RewoundFile): RewoundFile {
  const drop = (form: FileForm | null): FileForm | null =>
    form === null ? null : { ...form, mode: form.mode & PERMISSION_BITS };
  return { path, from: drop(from), to: drop(to) };
}

/** Returns the change that was made last. A change by a command in the background may have lasted longer than others. */
function findLatest(changes: readonly ChangeSince[]): FileChange | undefined {
  return changes.reduce<ChangeSince | undefined>(
    (latest, each) => (latest !== undefined && latest.until > each.until ? latest : each),
    undefined,
  )?.change;
}

function toFileForm(hash: string | null, mode: number): FileForm | null {
  return hash === null ? null : { hash, mode };
}

/** Returns the permission bits from before all changes; undefined if they never changed. */
function findModeBefore(changes: readonly FileChange[]): number | undefined {
  for (const { mode, after, movedFrom } of changes) {
    if (mode !== undefined) return mode;
    // The file no longer exists, and a log from an older version does not have its permission bits.
    if (after === null || movedFrom !== undefined) return DEFAULT_MODE;
  }
  return undefined;
}

/** Returns the reason why a file can't be restored from its present form, or null. */
function findRefusalReason(
  { path, from, to }: RewoundFile,
  changes: readonly ChangeSince[],
  found: PathContent,
): string | null {
  if (changes.some(({ isImported }) => isImported)) {
    return 'was changed before its task was imported';
  }
  if (isSecretPath(path)) return 'usually contains secrets: no copy of it was made';
  if (found.kind === 'other') return `is ${found.what} now`;
  if (!hasForm(found, from, { comparesMode: false })) {
    const change = found.kind === 'nothing' ? 'was deleted' : 'was changed since';
    return `${change}, by another program or by a command`;
  }
  if (found.kind === 'nothing') return null;
  if (to !== null && (found.form.mode & 0o222) === 0) return 'is read-only';
  if (isTooLarge(found.form))
    return `is larger than ${MAX_EDIT_BYTES} bytes: no copy of such a file is made`;
  return null;
}

/**
 * Returns the reason why the earlier content of a file is not available, or why its directory can't be created; null
 * if there is no such reason. The other files of the plan are considered: their present content is backed up before
 * the rewind, and a file that is in the way of a directory may be removed.
 */
function findRestoreObstacle(
  store: BackupLookup,
  { path, from, to }: RewoundFile,
  files: readonly RewoundFile[],
): string | null {
  if (to === null) return null;
  if (isTooLarge(to))
    return `had more than ${MAX_EDIT_BYTES} bytes: no copy of such a file is made`;
  const isKept = store.hasBackup(to.hash) || files.some((each) => each.from?.hash === to.hash);
  if (!isKept) return 'was changed without a copy of its earlier content (by an older version?)';
  const above = from === null ? findFileAbove(path) : null;
  if (above === null || files.some((each) => each.path === above && each.to === null)) return null;
  return `can't be restored: ${above} is not a directory now`;
}

/**
 * Returns true for a file that is too large to be hashed. `fileFingerprint` computes the fingerprint of such a file
 * from its metadata.
 */
function isTooLarge({ hash }: FileForm): boolean {
  return hash.startsWith('stat:');
}
