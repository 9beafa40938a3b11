import { catchMusterError, MusterError } from '../../base/errors.ts';
import { mergeFindings, type BoardFinding } from '../../protocol/board.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { foldLog } from './fold-log.ts';

/**
 * The board of a tree, in memory. The findings from before this process are read from the logs when the board is first
 * used.
 */
export class TreeBoard {
  private findings: readonly BoardFinding[] = [];
  private readLogs: (() => readonly BoardFinding[]) | null = null;

  /** Sets the function that reads the findings from before this process. It is called once. */
  setEarlierFindings(readLogs: () => readonly BoardFinding[]): void {
    this.readLogs = readLogs;
  }

  /** Returns the findings in the order in which they were posted. */
  list(): readonly BoardFinding[] {
    const { readLogs } = this;
    this.readLogs = null;
    if (readLogs !== null) this.add(readLogs());
    return this.findings;
  }

  /** Adds findings that are in a log. Those that the board has already are left out. */
  add(findings: readonly BoardFinding[]): void {
    if (findings.length > 0) this.findings = mergeFindings([this.findings, findings]);
  }
}

/**
 * Reads the board of a tree from the logs of tasks and of all tasks below them. A task that a rewind has cut off is not
 * below another task any more. A log that is missing or damaged is left out.
 *
 * @param tops the ids of the root task and of further tasks of the tree
 */
export function readBoard(
  store: Pick<TaskStore, 'scan' | 'logPath'>,
  tops: readonly string[],
): readonly BoardFinding[] {
  const lists: (readonly BoardFinding[])[] = [];
  const ids = new Set(tops);
  // The set grows while it is visited. Damaged logs may name each other as children.
  for (const id of ids) {
    const state = catchMusterError(() => foldLog(store, id));
    if (state instanceof MusterError) continue;
    lists.push(state.findings);
    for (const child of state.children.keys()) ids.add(child);
  }
  return mergeFindings(lists);
}
