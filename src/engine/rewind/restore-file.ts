import { lstatSync, rmdirSync, statSync, unlinkSync, type BigIntStats, type Stats } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { escapeTags } from '../../base/control-tags.ts';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import type { FileForm, RewoundFile, UnrestoredFile } from '../../protocol/events/rewound.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { readEntryStats, withHeldEntry } from '../../sys/files/entry-in-roots.ts';
import { describeFileType } from '../../sys/files/file-errors.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import type { OpenScope } from '../../sys/files/open-in-roots.ts';
import { displayPath, findRoot } from '../../sys/files/paths.ts';
import { readFullFile, withFile } from '../../sys/files/read-file.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { isSameFile, syncDirectory, writeFileInRoots } from '../../sys/files/write-file.ts';
import { fileFingerprint, MAX_EDIT_BYTES } from '../../tools/shared/file-text.ts';
import { newId } from '../../base/ids.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { NO_AMOUNT } from '../../protocol/model.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import type { Journal } from '../task/journal.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** A task whose log this process owns. */
export interface OwnedLog {
  readonly state: TaskState;
  record(...events: readonly EventBody[]): void;
}

/** The options of `finishRewind`. */
export interface FinishOptions {
  /** The directories in which files may be restored, absolute and real. Default: the roots of the task. */
  readonly roots?: readonly string[];
  /** Restores a file. Tests replace this function to simulate failures. */
  readonly restore?: typeof restoreFile;
}

/**
 * Finishes the newest rewind of a task, including one whose process died in the middle. Returns the files that could
 * not be restored because another program changed them. Throws MusterError for an error of the disk; the rewind is
 * then still unfinished.
 */
export async function finishRewind(
  store: TaskStore,
  task: OwnedLog,
  options: FinishOptions = {},
): Promise<readonly UnrestoredFile[]> {
  const { state } = task;
  const { rewinding, spec } = state;
  if (rewinding === null) return [];
  const { roots = spec.rights.roots, restore = restoreFile } = options;
  const isImported = rewinding.seq <= (store.importedUpTo(spec.id) ?? -1);
  const unrestored: UnrestoredFile[] = [];
  for (const file of removalsFirst(rewinding.files)) {
    const reason = isImported
      ? 'its task was imported'
      : await restoreOrReason(() => restore(store, file, roots));
    if (reason !== null) unrestored.push({ path: file.path, because: reason });
  }
  for (const { path, to } of rewinding.files) {
    if (to === null && unrestored.every((each) => each.path !== path))
      removeEmptyParents(path, roots);
  }
  task.record(
    ...rewinding.dropped.flatMap((child) =>
      state.openChildren.has(child) ? dropChildEvents(child) : [],
    ),
    ...restoredFilesEvents(rewinding, unrestored, spec.cwd),
    ...unrestored.map(({ path, because }): EventBody => {
      return { type: 'warning', message: `${path} could not be restored: ${because}` };
    }),
    { type: 'files.restored', rewind: rewinding.seq, left: unrestored },
  );
  return unrestored;
}

/** The prefix of the ids of notices about files that were put back. */
const NOTICE_ID_PREFIX = 'rewind-';

/** The maximum number of files that a notice names. The other files are only counted. */
const MAX_NAMED_FILES = 10;

/**
 * Returns the event that tells the model which files were put back, if the conversation stays as it is: otherwise the
 * model would rely on its changes. The id is the same when an interrupted rewind is finished again.
 */
function restoredFilesEvents(
  { seq, only, files }: NonNullable<TaskState['rewinding']>,
  unrestored: readonly UnrestoredFile[],
  cwd: string,
): readonly EventBody[] {
  const restored = files.filter(({ path }) => unrestored.every((each) => each.path !== path));
  if (only !== 'files' || restored.length === 0) return [];
  const named = restored.slice(0, MAX_NAMED_FILES).map(({ path, to }) => {
    const name = escapeTags(JSON.stringify(displayPath(path, cwd)));
    return to === null ? `${name} (removed)` : name;
  });
  const rest = restored.length > named.length ? ` and ${restored.length - named.length} more` : '';
  const text = `<notice>The user put back files to an earlier state, so later changes of them are undone: ${named.join(', ')}${rest}. Read them before you go on with them.</notice>`;
  const input = { id: `${NOTICE_ID_PREFIX}${seq}`, kind: 'notice', from: 'muster', text } as const;
  return [{ type: 'input.queued', input }];
}

/** Returns true for the id of a notice about files that were put back. It is still delivered when a task is resumed. */
export function isRewindNotice(id: string): boolean {
  return id.startsWith(NOTICE_ID_PREFIX);
}

/** Finishes the unfinished rewinds of recovered tasks before the tasks run. */
export async function finishRewinds(
  store: TaskStore,
  opened: readonly { readonly state: TaskState; readonly journal: Pick<Journal, 'record'> }[],
): Promise<void> {
  for (const { state, journal } of opened) {
    await finishRewind(store, { state, record: (...events) => journal.record(...events) });
  }
}

/**
 * Sorts removals before other changes, because a file may have to make room for a directory, or a directory for a
 * file.
 */
function removalsFirst(files: readonly RewoundFile[]): readonly RewoundFile[] {
  return files.toSorted((a, b) => Number(a.to !== null) - Number(b.to !== null));
}

/** Runs `restore`. Returns the reason why the file could not be restored, or null. */
async function restoreOrReason(restore: () => Promise<void>): Promise<string | null> {
  try {
    await restore();
    return null;
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || !CHANGED_MEANWHILE.has(thrown.code)) throw thrown;
    return thrown.message;
  }
}

/** The error codes for a file that another program has changed since the rewind was planned. */
const CHANGED_MEANWHILE: ReadonlySet<string> = new Set(['CONFLICT', 'INVALID_PARAM', 'NOT_FOUND']);

/** Returns the events that end the wait of a rewound conversation for a child, with a notice for the model. */
function dropChildEvents(child: string): readonly EventBody[] {
  const text = `- Task ${child} was running at this point, to which this conversation was rewound. Its later file changes were undone too, and it is not waited for any more. Its outcome is unknown: look before you start it again.`;
  const end = { child, status: 'stopped', changed: [], spent: NO_AMOUNT, below: [] } as const;
  const nonce = drawNonce(text);
  const input = { id: newId(), kind: 'result', from: 'muster', text, nonce } as const;
  return [
    { type: 'child.ended', ...end },
    { type: 'input.queued', input },
  ];
}

/** The present content of a path. */
export type PathContent =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'file'; readonly form: FileForm; readonly stats: BigIntStats }
  /** Anything else, described in words that follow "is". */
  | { readonly kind: 'other'; readonly what: string };

/** The permission bits with the setuid, setgid and sticky bits. */
const PERMISSION_AND_SPECIAL_BITS = 0o7777n;
const NEVER_ABORTED = new AbortController().signal;

/**
 * Reads the present content of a path from a log. The path was absolute and without links when it was written. Throws
 * MusterError.
 */
export async function readPathContent(
  path: string,
  roots: readonly string[],
): Promise<PathContent> {
  const location = toOpenScope(path, roots);
  const { real, exists, problem } = resolveInRoots(path, location.roots);
  if (real !== path) return { kind: 'other', what: 'reached through a link' };
  // A file whose directory was replaced by a file counts as deleted.
  if (!exists && (problem === undefined || problem === 'not_a_directory'))
    return { kind: 'nothing' };
  if (!exists) return { kind: 'other', what: 'not readable' };
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return { kind: 'nothing' };
  if (!stats.isFile()) return { kind: 'other', what: describeFileType(stats) };
  return withFile(path, location, async (file) => {
    const hash = await fileFingerprint(file, NEVER_ABORTED);
    const form = { hash, mode: Number(file.stats.mode & PERMISSION_AND_SPECIAL_BITS) };
    return { kind: 'file', form, stats: file.stats };
  });
}

/**
 * Returns the scope in which a path can be opened without following links. A path outside the roots is allowed,
 * because a person allowed the call that changed it.
 */
function toOpenScope(path: string, roots: readonly string[]): OpenScope {
  const judged = new Map([[path, { real: path, mayHaveOtherNames: false }]]);
  if (findRoot(path, roots) !== undefined) return { roots, judged };
  let directory = dirname(path);
  while (directory !== sep && statIfPresent(directory)?.isDirectory() !== true) {
    directory = dirname(directory);
  }
  return { roots: [directory], judged };
}

/** Returns the stats of a path, or undefined if it does not exist or can't be read. */
function statIfPresent(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

/**
 * Stores a backup of the present content of a file, so that the rewind can be undone. Throws `CONFLICT` if the file
 * has changed since the rewind was planned.
 */
export async function backUpContent(
  store: TaskStore,
  { path, from }: RewoundFile,
  roots: readonly string[],
): Promise<void> {
  if (from === null) return;
  const options = { maxBytes: MAX_EDIT_BYTES, signal: NEVER_ABORTED };
  const { bytes, hash } = await readFullFile(path, toOpenScope(path, roots), options);
  if (hash !== from.hash) throw changedError(path);
  await store.putBackup(bytes);
}

/**
 * Restores a file to its earlier content. Does nothing if the file is restored already. Throws MusterError:
 * `CONFLICT` if the file has neither the content that the plan found nor the earlier one.
 */
export async function restoreFile(
  store: TaskStore,
  { path, from, to }: RewoundFile,
  roots: readonly string[],
): Promise<void> {
  const found = await readPathContent(path, roots);
  if (hasForm(found, to, { comparesMode: true })) return;
  const isExpected = [from, to].some((form) => hasForm(found, form, { comparesMode: false }));
  if (!isExpected) {
    throw changedError(path);
  }
  if (to !== null) {
    const bytes = store.getBackup(to.hash);
    if (bytes === null)
      throw new MusterError(
        'NOT_FOUND',
        `there is no longer a backup of the earlier content of ${path}`,
      );
    const expected = found.kind === 'file' ? found.stats : 'nothing';
    await writeFileInRoots(path, toOpenScope(path, roots), bytes, expected, { mode: to.mode });
  } else if (found.kind === 'file') {
    await removeFile(path, found.stats, roots);
  }
}

/** Returns true if a path has the given form: content and, if `comparesMode` is set, permission bits. */
export function hasForm(
  found: PathContent,
  form: FileForm | null,
  { comparesMode }: { readonly comparesMode: boolean },
): boolean {
  if (form === null) return found.kind === 'nothing';
  if (found.kind !== 'file' || found.form.hash !== form.hash) return false;
  return !comparesMode || found.form.mode === form.mode;
}

async function removeFile(
  path: string,
  stats: BigIntStats,
  roots: readonly string[],
): Promise<void> {
  await withHeldEntry(path, toOpenScope(path, roots), async ({ directory, name, stats: now }) => {
    if (now === undefined || !isSameFile(now, stats)) throw changedError(path);
    unlinkSync(directory.at(name));
    await syncDirectory(directory.at('.'));
  });
}

/** Removes the directories above a deleted file that are empty now, but never a root. */
function removeEmptyParents(path: string, roots: readonly string[]): void {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const root = findRoot(directory, roots);
    if (root === undefined || roots.some((each) => isInside(directory, each))) return;
    try {
      using parent = holdDirectory(root, dirname(directory));
      const name = basename(directory);
      if (readEntryStats(parent, name) !== undefined) rmdirSync(parent.at(name));
    } catch (thrown) {
      // The directory is not empty or can't be removed: keep it, and the directories above it.
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return;
    }
  }
}

function changedError(path: string): MusterError {
  return new MusterError('CONFLICT', `${path} was changed by another program just now`);
}

/**
 * Returns the path of a file that stands where a directory above the given path should be, or null if there is none.
 */
export function findFileAbove(path: string): string | null {
  for (let ancestor = dirname(path); ancestor !== dirname(ancestor); ancestor = dirname(ancestor)) {
    const stats = statIfPresent(ancestor);
    if (stats !== undefined) return stats.isDirectory() ? null : ancestor;
  }
  return null;
}
