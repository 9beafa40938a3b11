import type { Tasks } from '../../../../api/index.ts';
import type { TaskReport } from '../../../../report/task-report.ts';
import type { TreeReport } from '../../../../report/tree-report.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import type { ResultEnvelope } from '../../../../protocol/result.ts';
import { printAnswer } from '../../../../sys/print.ts';
import { printJson, printLines } from './print.ts';
import { factsOf, isAtWork } from './show-facts.ts';
import { receiptLines, shownTurns } from './show-receipt.ts';
import { timeLines, timelineLines } from './show-timeline.ts';
import { treeLines } from './show-tree.ts';
import { treeJson } from './tree-json.ts';
import type { TaskState } from '../../../../protocol/state/task-state.ts';

interface TaskShow {
  readonly id: string;
  readonly json: boolean;
  /** A file, or `-` for stdout; null: the report is printed. */
  readonly html: string | null;
  readonly force: boolean;
}

/**
 * `muster tasks show`. JSON: the result envelope, with what the task is doing, who ended it, how its
 * model was chosen, and the tree below it.
 */
export async function showTask(tasks: Tasks, command: TaskShow): Promise<number> {
  const { id, json, html, force } = command;
  if (html !== null) {
    const { writePage } = await import('./show-html.ts');
    return writePage(tasks, { id, file: html, force, json });
  }
  const state = tasks.state(id);
  const envelope = tasks.envelope(state);
  const tree = await tasks.report(state.spec.id);
  if (json) {
    const { chain } = state.spec.model;
    const ended_by = state.end?.by ?? null;
    const activity = isAtWork(state) ? state.activity : null;
    printJson({ ...envelope, activity, ended_by, model_chain: chain, tree: treeJson(tree) });
    return 0;
  }
  printReport({ envelope, state, tree });
  return 0;
}

interface Shown {
  readonly envelope: ResultEnvelope;
  readonly state: TaskState;
  readonly tree: TreeReport;
}

/** The parts in the order in which they are asked for: what it is, what came of it, how. */
function printReport({ envelope, state, tree }: Shown): void {
  const facts = factsOf(envelope, state, tree);
  printLines(...facts.map(([name, value]) => `${name.padEnd(9)}${exactLine(value)}`));
  const [top] = tree.rows;
  if (top !== undefined && top.report !== null) printHow(top.report, tree);
  // Last, so that nothing in it can be taken for one of the parts above.
  printSection('Answer', ['']);
  printAnswer(`${envelope.data.result}\n`);
}

/** What it did, and when. */
function printHow(report: TaskReport, tree: TreeReport): void {
  if (tree.rows.length > 1) printSection('Tree', treeLines(tree));
  printSection('Timeline', [...timelineLines(tree), ...timeLines(report)]);
  printSection('Turns', shownTurns(report, tree.from));
  printSection('Receipt', receiptLines(report));
}

function printSection(title: string, lines: readonly string[]): void {
  printLines('', title, ...lines);
}
