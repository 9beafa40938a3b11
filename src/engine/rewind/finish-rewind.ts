import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { NOTHING } from '../../protocol/model.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import type { FileLeft, RewoundFile } from '../../protocol/events/rewound.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Journal } from '../task/journal.ts';
import { restoreFile, removeEmptyParents } from './restore-file.ts';
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
): Promise<readonly FileLeft[]> {
  const { state } = task;
  const { rewinding, spec } = state;
  if (rewinding === null) return [];
  const { roots = spec.rights.roots, restore = restoreFile } = options;
  const isImported = rewinding.seq <= (store.importedUpTo(spec.id) ?? -1);
  const left: FileLeft[] = [];
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

/** Closes a child that the rewound conversation no longer waits for, and tells the model. */
function drop(child: string): readonly EventBody[] {
  const text = `- Task ${child} was running at this point, to which this conversation was rewound. Its later file changes were undone too, and it is not waited for any more. Its outcome is unknown: look before you start it again.`;
  const end = { child, status: 'stopped', changed: [], spent: NOTHING, below: [] } as const;
  const nonce = drawNonce(text);
  const input = { id: newId(), kind: 'result', from: 'muster', text, nonce } as const;
  return [
    { type: 'child.ended', ...end },
    { type: 'input.queued', input },
  ];
}
