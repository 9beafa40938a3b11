import { lstatSync, rmdirSync, statSync, unlinkSync, type BigIntStats, type Stats } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import type { FileForm, RewoundFile, UnrestoredFile } from '../../protocol/events/rewound.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { readEntryStats, withHeldEntry } from '../../sys/files/entry-in-roots.ts';
import { describeFileType } from '../../sys/files/file-errors.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import type { OpenScope } from '../../sys/files/open-in-roots.ts';
import { findRoot } from '../../sys/files/paths.ts';
import { readFullFile, withFile } from '../../sys/files/read-file.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { isSameFile, syncDirectory, writeFileInRoots } from '../../sys/files/write-file.ts';
import { fileFingerprint, MAX_EDIT_BYTES } from '../../tools/shared/file-text.ts';
import { permissionBits } from '../../tools/shared/change-file.ts';
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
  /** Directories in which files may be restored, absolute and real. Default: the roots of the task. */
  readonly roots?: readonly string[];
  /** Restores a file; tests replace it to fail there. */
  readonly restore?: typeof restoreFile;
}

/**
 * Carries out the newest rewind of a task as far as it was not done yet, also after a process died in the middle.
 * Returns the files that could not be restored because they were changed meanwhile. Throws MusterError if the disk
 * refuses; then the rewind is still unfinished.
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
  const left: UnrestoredFile[] = [];
  for (const file of removalsFirst(rewinding.files)) {
    const reason = isImported
      ? 'its task was imported'
      : await restoreProblem(() => restore(store, file, roots));
    if (reason !== null) left.push({ path: file.path, because: reason });
  }
  for (const { path, to } of rewinding.files) {
    if (to === null && left.every((each) => each.path !== path)) removeEmptyParents(path, roots);
  }
  task.record(
    ...rewinding.dropped.flatMap((child) => (state.openChildren.has(child) ? drop(child) : [])),
    ...left.map(({ path, because }): EventBody => {
      return { type: 'warning', message: `${path} could not be restored: ${because}` };
    }),
    { type: 'files.restored', rewind: rewinding.seq, left },
  );
  return left;
}

/** Finishes the rewinds of recovered tasks before they run. */
export async function finishRewinds(
  store: TaskStore,
  opened: readonly { readonly state: TaskState; readonly journal: Pick<Journal, 'record'> }[],
): Promise<void> {
  for (const { state, journal } of opened) {
    await finishRewind(store, { state, record: (...events) => journal.record(...events) });
  }
}

/** Puts removals first: a directory may have replaced a file, or a file a directory. */
function removalsFirst(files: readonly RewoundFile[]): readonly RewoundFile[] {
  return files.toSorted((a, b) => Number(a.to !== null) - Number(b.to !== null));
}

/** Restores a file. Returns the reason why it could not be restored, or null. */
async function restoreProblem(restore: () => Promise<void>): Promise<string | null> {
  try {
    await restore();
    return null;
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || !CHANGED_MEANWHILE.has(thrown.code)) throw thrown;
    return thrown.message;
  }
}

/** The errors of a file that was changed by others since the rewind was planned. */
const CHANGED_MEANWHILE: ReadonlySet<string> = new Set(['CONFLICT', 'INVALID_PARAM', 'NOT_FOUND']);

/** Closes a child that the rewound conversation no longer waits for, and notifies the model. */
function drop(child: string): readonly EventBody[] {
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
  /** Something else, described in words that follow "is". */
  | { readonly kind: 'other'; readonly what: string };

const NEVER_ABORTED = new AbortController().signal;

/** Reads what is at a path of a log, which was absolute and free of links when it was written. Throws MusterError. */
export async function readPathContent(
  path: string,
  roots: readonly string[],
): Promise<PathContent> {
  const location = locationOf(path, roots);
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
    const form = { hash, mode: permissionBits(file.stats) };
    return { kind: 'file', form, stats: file.stats };
  });
}

/** Returns the location for access without following links. A path outside the roots was allowed by a person. */
function locationOf(path: string, roots: readonly string[]): OpenScope {
  const judged = new Map([[path, { real: path, mayHaveOtherNames: false }]]);
  if (findRoot(path, roots) !== undefined) return { roots, judged };
  let directory = dirname(path);
  while (directory !== sep && statOf(directory)?.isDirectory() !== true) {
    directory = dirname(directory);
  }
  return { roots: [directory], judged };
}

/** Returns undefined for a path that does not exist or can't be read. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

/** Keeps the present content of a file, so that it can be restored. Throws `CONFLICT` if the file has changed. */
export async function keepCurrentContent(
  store: TaskStore,
  { path, from }: RewoundFile,
  roots: readonly string[],
): Promise<void> {
  if (from === null) return;
  const options = { maxBytes: MAX_EDIT_BYTES, signal: NEVER_ABORTED };
  const { bytes, hash } = await readFullFile(path, locationOf(path, roots), options);
  if (hash !== from.hash) throw changed(path);
  await store.putBackup(bytes);
}

/**
 * Restores a file to the content that a rewind gives it. Repeating it does nothing. Throws MusterError: `CONFLICT`
 * if the file is neither as the rewind found it nor as the rewind leaves it.
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
    throw changed(path);
  }
  if (to !== null) {
    const bytes = store.getBackup(to.hash);
    if (bytes === null)
      throw new MusterError('NOT_FOUND', `the earlier content of ${path} is not kept any more`);
    const expected = found.kind === 'file' ? found.stats : 'nothing';
    await writeFileInRoots(path, locationOf(path, roots), bytes, expected, { mode: to.mode });
  } else if (found.kind === 'file') {
    await remove(path, found.stats, roots);
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

async function remove(path: string, stats: BigIntStats, roots: readonly string[]): Promise<void> {
  await withHeldEntry(path, locationOf(path, roots), async ({ directory, name, stats: now }) => {
    if (now === undefined || !isSameFile(now, stats)) throw changed(path);
    unlinkSync(directory.at(name));
    await syncDirectory(directory.at('.'));
  });
}

/** Removes the directories above a deleted file that are empty now, but never a root. */
function removeEmptyParents(path: string, roots: readonly string[]): void {
  for (let at = dirname(path); ; at = dirname(at)) {
    const root = findRoot(at, roots);
    if (root === undefined || roots.some((each) => isInside(at, each))) return;
    try {
      using above = holdDirectory(root, dirname(at));
      if (readEntryStats(above, basename(at)) !== undefined) rmdirSync(above.at(basename(at)));
    } catch (thrown) {
      // The directory is not empty or can't be removed: it stays, with those above it.
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return;
    }
  }
}

function changed(path: string): MusterError {
  return new MusterError('CONFLICT', `${path} was changed by another program just now`);
}

/** Returns the path of a file where a directory above the given path should be, or null if there is none. */
export function findFileAbove(path: string): string | null {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    const stats = statOf(at);
    if (stats !== undefined) return stats.isDirectory() ? null : at;
  }
  return null;
}
