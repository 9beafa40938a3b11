import { lstatSync, rmdirSync, statSync, unlinkSync, type BigIntStats, type Stats } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import type { FileForm, RewoundFile } from '../../protocol/events/rewound.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { readEntryStats, withHeldEntry } from '../../sys/files/entry-in-roots.ts';
import { describeFileType } from '../../sys/files/file-errors.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import type { OpenScope } from '../../sys/files/open-in-roots.ts';
import { findRoot } from '../../sys/files/paths.ts';
import { readFullFile, withFile } from '../../sys/files/read-file.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { isSameFile, syncDirectory, writeFileInRoots } from '../../sys/files/write-file.ts';
import { fileFingerprint, MAX_EDIT_BYTES } from '../../tools/shared/file-content.ts';
import { permissionBits } from '../../tools/shared/previous-content.ts';

/** What is at a path just now. */
export type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'file'; readonly form: FileForm; readonly stats: BigIntStats }
  /** In words. */
  | { readonly kind: 'other'; readonly what: string };

const NEVER = new AbortController().signal;

/** Looks at a path of a log: absolute, and free of links when it was written. Throws MusterError. */
export async function lookAt(path: string, roots: readonly string[]): Promise<Found> {
  const place = placeOf(path, roots);
  const { real, exists, problem } = resolveInRoots(path, place.roots);
  // Where a file lies in the place of its directory, it is as good as gone.
  if (real !== path) return { kind: 'other', what: 'reached through a link' };
  if (!exists && (problem === undefined || problem === 'not_a_directory'))
    return { kind: 'nothing' };
  if (!exists) return { kind: 'other', what: 'not to be looked at' };
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return { kind: 'nothing' };
  if (!stats.isFile()) return { kind: 'other', what: describeFileType(stats) };
  return withFile(path, place, async (file) => {
    const form = { hash: await fileFingerprint(file, NEVER), mode: permissionBits(file.stats) };
    return { kind: 'file', form, stats: file.stats };
  });
}

/** Nothing is followed to another place than the path names. One beyond the roots was allowed by a person. */
function placeOf(path: string, roots: readonly string[]): OpenScope {
  const judged = new Map([[path, { real: path, mayHaveOtherNames: false }]]);
  if (findRoot(path, roots) !== undefined) return { roots, judged };
  let directory = dirname(path);
  while (directory !== sep && statOf(directory)?.isDirectory() !== true) {
    directory = dirname(directory);
  }
  return { roots: [directory], judged };
}

/** Undefined: it is missing, or not to be looked at. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

/** Keeps what a file holds now, so that it can be put back again. Throws CONFLICT for one that has changed. */
export async function keepCurrent(
  store: TaskStore,
  { path, from }: RewoundFile,
  roots: readonly string[],
): Promise<void> {
  if (from === null) return;
  const options = { maxBytes: MAX_EDIT_BYTES, signal: NEVER };
  const { bytes, hash } = await readFullFile(path, placeOf(path, roots), options);
  if (hash !== from.hash) throw changed(path);
  await store.keepFormer(bytes);
}

/**
 * Puts a file to what a rewind has for it. Once it is so, doing it again does nothing. Throws MusterError;
 * CONFLICT where it is neither as the rewind found it nor as that leaves it.
 */
export async function putBack(
  store: TaskStore,
  { path, from, to }: RewoundFile,
  roots: readonly string[],
): Promise<void> {
  const found = await lookAt(path, roots);
  if (isAs(found, to, { modeToo: true })) return;
  if (!isAs(found, from, { modeToo: false }) && !isAs(found, to, { modeToo: false })) {
    throw changed(path);
  }
  if (to !== null) {
    const bytes = store.former(to.hash);
    if (bytes === null)
      throw new MusterError('NOT_FOUND', `what ${path} held is not kept any more`);
    const expected = found.kind === 'file' ? found.stats : 'nothing';
    await writeFileInRoots(path, placeOf(path, roots), bytes, expected, { mode: to.mode });
  } else if (found.kind === 'file') {
    await remove(path, found.stats, roots);
  }
}

export function isAs(
  found: Found,
  form: FileForm | null,
  { modeToo }: { readonly modeToo: boolean },
): boolean {
  if (form === null) return found.kind === 'nothing';
  if (found.kind !== 'file' || found.form.hash !== form.hash) return false;
  return !modeToo || found.form.mode === form.mode;
}

async function remove(path: string, stats: BigIntStats, roots: readonly string[]): Promise<void> {
  await withHeldEntry(path, placeOf(path, roots), async ({ directory, name, stats: now }) => {
    if (now === undefined || !isSameFile(now, stats)) throw changed(path);
    unlinkSync(directory.at(name));
    await syncDirectory(directory.at('.'));
  });
}

/** Removes the directories above a file that are empty now that it is gone, but never a root. */
export function removeEmptyAbove(path: string, roots: readonly string[]): void {
  for (let at = dirname(path); ; at = dirname(at)) {
    const root = findRoot(at, roots);
    if (root === undefined || roots.some((each) => isInside(at, each))) return;
    try {
      const above = holdDirectory(root, dirname(at));
      try {
        if (readEntryStats(above, basename(at)) !== undefined) rmdirSync(above.at(basename(at)));
      } finally {
        above.close();
      }
    } catch (thrown) {
      // Not empty, or not ours to remove: it stays, with those above it.
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return;
    }
  }
}

function changed(path: string): MusterError {
  return new MusterError('CONFLICT', `${path} was changed by somebody else just now`);
}

/** What lies, and is no directory, where one of the directories above a path should be; null: nothing. */
export function fileAbove(path: string): string | null {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    const stats = statOf(at);
    if (stats !== undefined) return stats.isDirectory() ? null : at;
  }
  return null;
}
