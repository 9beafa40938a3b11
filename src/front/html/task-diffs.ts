import { errorMessage, MusterError } from '../../base/errors.ts';
import type { TreeReport } from '../../report/tree-report.ts';

/** The maximum length of the diff of one task, and of the diffs of all tasks together, in UTF-16 units. */
const MAX_DIFF_LENGTH = 200_000;
const MAX_TOTAL_LENGTH = 4_000_000;

/** The changes that a task left in its workspace, as a unified diff or with the reason why there is none. */
export interface TaskDiff {
  readonly text: string;
  /** True if the diff shows what a landing has changed in the files of the user. */
  readonly hasLanded: boolean;
}

/** The part of the workspaces that is read. */
interface DiffSource {
  leftDiff(id: string, maxLength: number): Promise<TaskDiff | null>;
}

/**
 * Reads the diffs of the tasks of a tree that left changes, by task. Opens the workspaces only if there is such a task. A
 * diff that cannot be read, or is over a limit, is replaced by a sentence that says so.
 */
export async function readTaskDiffs(
  { rows }: TreeReport,
  open: () => Promise<DiffSource>,
): Promise<ReadonlyMap<string, TaskDiff>> {
  const ids = rows.flatMap(({ id, report }) => (report?.workspace?.hasLeftChanges ? [id] : []));
  const diffs = new Map<string, TaskDiff>();
  if (ids.length === 0) return diffs;
  const source = await open();
  let total = 0;
  for (const id of ids) {
    if (total > MAX_TOTAL_LENGTH) {
      const text = `(not shown: the limit of ${MAX_TOTAL_LENGTH} characters for all diffs is reached; muster tasks diff ${id} shows it)`;
      diffs.set(id, { text, hasLanded: false });
      continue;
    }
    const diff = await readDiff(source, id);
    if (diff === null) continue;
    total += diff.text.length;
    diffs.set(id, diff);
  }
  return diffs;
}

async function readDiff(source: DiffSource, id: string): Promise<TaskDiff | null> {
  try {
    return await source.leftDiff(id, MAX_DIFF_LENGTH);
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return { text: `(not shown: ${errorMessage(thrown)})`, hasLanded: false };
  }
}
