import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';
import type { ResultEnvelope } from '../../../../protocol/result.ts';
import { printAnswer } from '../../../../sys/print.ts';
import { printLines } from './print.ts';
import { isTaskAtWork } from './rows.ts';
import { summaryFacts } from './show-facts.ts';
import { timeLines, timelineLines } from './show-timeline.ts';
import { treeLines } from './show-tree.ts';
import { treeJson } from './tree-json.ts';
import { receiptRows } from '../../../../report/receipt-rows.ts';
import type { TaskReport } from '../../../../report/task-report.ts';
import type { TreeReport } from '../../../../report/tree-report.ts';
import { turnLines } from '../../../../report/turn-lines.ts';
import type { TaskState } from '../../../../protocol/state/task-state.ts';

/** The limit of the printed items of one kind, and of the printed turns. */
const SHOWN_ITEMS = 20;
const NAME_WIDTH = 9;

interface ShownTask {
  readonly envelope: ResultEnvelope;
  readonly state: TaskState;
  readonly tree: TreeReport;
}

/** Returns what `muster tasks show --json` prints. */
export function reportJson({ envelope, state, tree }: ShownTask): object {
  const { chain } = state.spec.model;
  const ended_by = state.end?.by ?? null;
  const activity = isTaskAtWork(state) ? state.activity : null;
  return { ...envelope, activity, ended_by, model_chain: chain, tree: treeJson(tree) };
}

/** Prints a task in the order of the usual questions: what it is, what came of it, how. */
export function printTaskReport({ envelope, state, tree }: ShownTask): void {
  const facts = summaryFacts(envelope, state, tree);
  printLines(...facts.map(([name, value]) => `${name.padEnd(NAME_WIDTH)}${sanitizeLine(value)}`));
  const [top] = tree.rows;
  if (top !== undefined && top.report !== null) printWork(top.report, tree);
  // Last, so that nothing in it can be taken for one of the parts above.
  printSection('Answer', ['']);
  printAnswer(`${envelope.data.result}\n`);
}

function printWork(report: TaskReport, tree: TreeReport): void {
  if (tree.rows.length > 1) printSection('Tree', treeLines(tree));
  printSection('Timeline', [...timelineLines(tree), ...timeLines(report)]);
  printSection('Turns', newestTurns(report, tree.from));
  printSection('Receipt', receiptLines(report));
}

function printSection(title: string, lines: readonly string[]): void {
  printLines('', title, ...lines);
}

/** Lists what really happened, according to the log: the name of a kind once, its items below one another. */
function receiptLines({ receipt }: TaskReport): readonly string[] {
  return receiptRows(receipt).flatMap(({ name, items }) => {
    // If nothing went wrong, the receipt does not mention it.
    if (items.length === 0 && (name === 'faults' || name === 'claims')) return [];
    const shown = items.slice(0, SHOWN_ITEMS).map(sanitizeLine);
    const more = items.length - shown.length;
    const all = [
      ...(items.length === 0 ? ['none'] : shown),
      ...(more === 0 ? [] : [`… and ${more} more: --json and --html FILE show them`]),
    ];
    return all.map((item, at) => `${(at === 0 ? name : '').padEnd(NAME_WIDTH)}${item}`);
  });
}

function newestTurns({ turns }: TaskReport, from: number): readonly string[] {
  const shown = turns.slice(-SHOWN_ITEMS);
  const more = turns.length - shown.length;
  const head = more === 0 ? [] : [`(${plural(more, 'turn')} before these: --json shows them)`];
  return [...head, ...turnLines(shown, from).map(sanitizeLine)];
}
