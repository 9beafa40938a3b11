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

/** A task whose log is ours. */
export interface OwnedLog {
  readonly state: TaskState;
  record(...events: readonly EventBody[]): void;
}

export interface FinishOptions {
  /** Absolute and real. Default: those of the task. */
  readonly roots?: readonly string[];
  /** How a file is put back, for tests that fail there. */
  readonly restore?: typeof restoreFile;
}

/**
 * Does what the newest rewind of a task says and was not done yet; where a process died in the middle, what
 * is left of it. Returns the files that could not be put back, since somebody has changed them meanwhile.
 * Throws MusterError where the disk refuses: then it is still to be done.
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
  const isForeign = rewinding.seq <= (store.importedUpTo(spec.id) ?? -1);
  const left: FileLeft[] = [];
  for (const file of removalsFirst(rewinding.files)) {
    const because = isForeign
      ? 'its task was brought here from elsewhere'
      : await whyLeft(() => restore(store, file, roots));
    if (because !== null) left.push({ path: file.path, because });
  }
  for (const { path, to } of rewinding.files) {
    if (to === null && left.every((each) => each.path !== path)) removeEmptyParents(path, roots);
  }
  task.record(
    ...rewinding.dropped.flatMap((child) => (state.openChildren.has(child) ? drop(child) : [])),
    ...left.map(({ path, because }): EventBody => {
      return { type: 'warning', message: `${path} could not be put back: ${because}` };
    }),
    { type: 'files.restored', rewind: rewinding.seq, left },
  );
  return left;
}

/** Of tasks that were opened and are not at work yet: they go on from what their rewinds left. */
export async function finishRewinds(
  store: TaskStore,
  opened: readonly { readonly state: TaskState; readonly journal: Pick<Journal, 'record'> }[],
): Promise<void> {
  for (const { state, journal } of opened) {
    await finishRewind(store, { state, record: (...events) => journal.record(...events) });
  }
}

/** A directory may have taken the place of a file, or a file that of a directory. */
function removalsFirst(files: readonly RewoundFile[]): readonly RewoundFile[] {
  return files.toSorted((a, b) => Number(a.to !== null) - Number(b.to !== null));
}

/** Null: it is put back. */
async function whyLeft(restore: () => Promise<void>): Promise<string | null> {
  try {
    await restore();
    return null;
  } catch (thrown) {
    const isOthers = thrown instanceof MusterError && OTHER_HANDS.has(thrown.code);
    if (!isOthers) throw thrown;
    return thrown.message;
  }
}

const OTHER_HANDS: ReadonlySet<string> = new Set(['CONFLICT', 'INVALID_PARAM', 'NOT_FOUND']);

/** Nobody waits for it any more, and the model is told so. */
function drop(child: string): readonly EventBody[] {
  const text = `- Task ${child} was at work here, before this conversation was put back to this point. What it changed in files since was put back, too, and it was left. Its outcome is unknown: look before you start it again.`;
  const end = { child, status: 'stopped', changed: [], spent: NOTHING, below: [] } as const;
  const nonce = drawNonce(text);
  const input = { id: newId(), kind: 'result', from: 'muster', text, nonce } as const;
  return [
    { type: 'child.ended', ...end },
    { type: 'input.queued', input },
  ];
}
