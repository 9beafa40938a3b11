import { receiptFacts } from '../../../../report/receipt-facts.ts';
import { turnLines } from '../../../../report/turn-lines.ts';
import type { TaskReport } from '../../../../report/task-report.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';

/** Items of one kind, and turns, that are printed. */
const SHOWN_ITEMS = 20;
const NAME_WIDTH = 9;

/** What really happened, as the log has it: the name of a kind once, its items below one another. */
export function receiptLines({ receipt }: TaskReport): readonly string[] {
  return receiptFacts(receipt).flatMap(({ name, items }) => {
    // Where nothing went wrong, nothing is said of it.
    if (items.length === 0 && (name === 'faults' || name === 'claims')) return [];
    const shown = items.slice(0, SHOWN_ITEMS).map(exactLine);
    const more = items.length - shown.length;
    const all = [
      ...(items.length === 0 ? ['none'] : shown),
      ...(more === 0 ? [] : [`… and ${more} more: --json and --html FILE show them`]),
    ];
    return all.map((item, at) => `${(at === 0 ? name : '').padEnd(NAME_WIDTH)}${item}`);
  });
}

/** The newest turns, from the first to the last. */
export function shownTurns({ turns }: TaskReport, from: number): readonly string[] {
  const shown = turns.slice(-SHOWN_ITEMS);
  const more = turns.length - shown.length;
  const head = more === 0 ? [] : [`(${plural(more, 'turn')} before these: --json shows them)`];
  return [...head, ...turnLines(shown, from).map(exactLine)];
}
