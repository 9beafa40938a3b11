import { formatUsage, formatShortDuration } from '../../../../report/figures.ts';
import { flagText } from '../../../../report/receipt-rows.ts';
import { findTreeOverlaps, type TreeReport, type TreeRow } from '../../../../report/tree-report.ts';
import { formatOverlaps } from '../../../../protocol/state/overlaps.ts';
import { formatWorkspaceMark } from '../../../../protocol/state/workspace-view.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { collapseWhitespace, plural } from '../../../../base/text.ts';

/** The maximum number of printed rows; the other tasks are only counted. */
export const SHOWN_TASKS = 50;

const SHOWN_FLAGS = 10;

const ID_WIDTH = 12;
const TITLE_WIDTH = 19;
const STATUS_WIDTH = 11;
const FIGURE_WIDTHS = [5, 5, 6, 8, 7] as const;

/** Draws the tree as a table of 80 columns, with each task below its parent. */
export function treeLines(tree: TreeReport): readonly string[] {
  const { rows } = tree;
  const head = line(['id', 'task', 'status'], ['turns', 'tools', 'tokens', 'cost', 'time']);
  const shown = rows.slice(0, SHOWN_TASKS);
  return [
    head,
    ...shown.flatMap(rowLines),
    ...leftOut(rows.length),
    ...formatOverlaps(findTreeOverlaps(tree), MAX_OVERLAP_BYTES).map(sanitizeLine),
    ...flagged(rows),
  ];
}

const MAX_OVERLAP_BYTES = 4_000;

/** Lists the claims of all answers in the tree that the log does not support. */
function flagged(rows: readonly TreeRow[]): readonly string[] {
  const lines = rows.flatMap(({ id, report }) =>
    (report?.receipt.claims ?? []).map((flag) => `! ${id}: ${flagText(flag)}`),
  );
  const more = lines.length - SHOWN_FLAGS;
  const shown = lines.slice(0, SHOWN_FLAGS).map(sanitizeLine);
  return more > 0 ? [...shown, `! … and ${more} more flags: --json shows them all`] : shown;
}

/** Says how many tasks a list leaves out, and how to see them. */
export function leftOut(tasks: number): readonly string[] {
  if (tasks <= SHOWN_TASKS) return [];
  return [`… and ${tasks - SHOWN_TASKS} more: --json and --html FILE show them all`];
}

/** Draws a task, and below it where it works if that is a workspace of its own, and how much it has posted. */
function rowLines({ id, level, report }: TreeRow): readonly string[] {
  const indent = ' '.repeat(Math.min(level, 6));
  if (report === null) return [line([id, `${indent}(log unusable)`, ''], [])];
  const title = `${indent}${collapseWhitespace(report.description)} (${report.agent})`;
  const { tokens, cost } = formatUsage(report);
  const numbers = [String(report.turns.length), String(report.toolCalls), tokens, cost];
  const time = formatShortDuration(report.until - report.createdAt);
  const { workspace, receipt } = report;
  const posted = receipt.findings?.length ?? 0;
  const marks = [
    ...(workspace === null ? [] : [sanitizeLine(formatWorkspaceMark(workspace))]),
    ...(posted === 0 ? [] : [`[${plural(posted, 'finding')}]`]),
  ].map((mark) => `${' '.repeat(ID_WIDTH + 1)}${indent}${mark}`);
  return [line([id, title, report.status], [...numbers, time]), ...marks];
}

function line(
  [id, title, status]: readonly [string, string, string],
  numbers: readonly string[],
): string {
  const words = [
    fitColumns(id, ID_WIDTH),
    fitColumns(title, TITLE_WIDTH),
    fitColumns(status, STATUS_WIDTH),
  ];
  const aligned = numbers.map((cell, at) => cell.padStart(FIGURE_WIDTHS[at] ?? 0));
  return [...words, ...aligned].join(' ').trimEnd();
}

/** Characters that terminals draw two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Makes a line of exactly `width` columns from any text, which is cut or filled up with blanks. */
export function fitColumns(text: string, width: number): string {
  let fitted = '';
  let used = 0;
  for (const character of sanitizeLine(text)) {
    const columns = WIDE.test(character) ? 2 : 1;
    if (used + columns > width) return `${shortened(fitted, used, width)}…`;
    fitted += character;
    used += columns;
  }
  return fitted + ' '.repeat(width - used);
}

/** Makes room for the `…` of a cut text, which is one column wide. */
function shortened(fitted: string, used: number, width: number): string {
  if (used < width) return fitted + ' '.repeat(width - used - 1);
  const last = [...fitted].at(-1) ?? '';
  const padding = WIDE.test(last) ? ' ' : '';
  return `${fitted.slice(0, fitted.length - last.length)}${padding}`;
}
