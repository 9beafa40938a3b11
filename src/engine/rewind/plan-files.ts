import { errorMessage, MusterError } from '../../base/errors.ts';
import type { FileForm, FileLeft, RewoundFile } from '../../protocol/events/rewound.ts';
import type { FileChange } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { MAX_EDIT_BYTES } from '../../tools/shared/file-content.ts';
import { fileAbove, isAs, lookAt, type Found } from './disk.ts';
import type { ChangeSince, TreeSince } from './tree-since.ts';

/** Of a file that is made anew, where an older log does not say. */
const USUAL_MODE = 0o644;

export interface FilePlan {
  readonly files: readonly RewoundFile[];
  /** Files that can't be put back, and logs that can't be read. */
  readonly refused: readonly FileLeft[];
}

/** What is to be done to the files that a tree has changed since, and what stands against it. */
export async function planFiles(
  store: Pick<TaskStore, 'hasFormer'>,
  since: Pick<TreeSince, 'changes' | 'roots' | 'lost'>,
): Promise<FilePlan> {
  const refused: FileLeft[] = [...since.lost];
  const files: RewoundFile[] = [];
  for (const [path, changes] of Map.groupBy(since.changes, ({ change }) => change.path)) {
    const found = await foundAt(path, since.roots);
    const file = fileOf(path, changes, found);
    if (isAs(found, file.to, { modeToo: true })) continue;
    const because = whyNot(file, changes, found);
    if (because === null) files.push(file);
    else refused.push({ path, because });
  }
  for (const file of files) {
    const because = whyNotWithOthers(store, file, files);
    if (because !== null) refused.push({ path: file.path, because });
  }
  return { files, refused };
}

async function foundAt(path: string, roots: readonly string[]): Promise<Found> {
  try {
    return await lookAt(path, roots);
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return { kind: 'other', what: `not to be looked at (${errorMessage(thrown)})` };
  }
}

function fileOf(path: string, changes: readonly ChangeSince[], found: Found): RewoundFile {
  const mode = found.kind === 'file' ? found.form.mode : USUAL_MODE;
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

/** Of what was there before all of them. Undefined: it has it still. */
function modeBefore(changes: readonly FileChange[]): number | undefined {
  for (const { mode, after, movedFrom } of changes) {
    if (mode !== undefined) return mode;
    // The file that had it is gone, and an older log does not say how it was.
    if (after === null || movedFrom !== undefined) return USUAL_MODE;
  }
  return undefined;
}

function whyNot(
  { path, from, to }: RewoundFile,
  changes: readonly ChangeSince[],
  found: Found,
): string | null {
  if (changes.some(({ isForeign }) => isForeign)) {
    return 'was changed before its task was brought here from elsewhere';
  }
  if (isSecretPath(path)) return 'usually holds secrets: no copy of it is kept';
  if (found.kind === 'other') return `is ${found.what} now`;
  if (!isAs(found, from, { modeToo: false })) {
    const what = found.kind === 'nothing' ? 'is gone' : 'was changed since';
    return `${what}, by other hands or by a command`;
  }
  if (found.kind === 'nothing') return null;
  if (to !== null && (found.form.mode & 0o222) === 0) return 'is read-only';
  if (isTooLarge(found.form)) return `is larger than ${MAX_EDIT_BYTES} bytes: it is not kept`;
  return null;
}

/** What is put back may lie in a file that is to be taken away, and is kept then. */
function whyNotWithOthers(
  store: Pick<TaskStore, 'hasFormer'>,
  { path, from, to }: RewoundFile,
  files: readonly RewoundFile[],
): string | null {
  if (to === null) return null;
  if (isTooLarge(to)) return `held more than ${MAX_EDIT_BYTES} bytes: that was not kept`;
  const isThere = store.hasFormer(to.hash) || files.some((each) => each.from?.hash === to.hash);
  if (!isThere) return 'was changed without what it held being kept (by an older version?)';
  const above = from === null ? fileAbove(path) : null;
  if (above === null || files.some((each) => each.path === above && each.to === null)) return null;
  return `can't be put back: ${above} is no directory now`;
}

/** As `fileFingerprint` says it. */
function isTooLarge({ hash }: FileForm): boolean {
  return hash.startsWith('stat:');
}
