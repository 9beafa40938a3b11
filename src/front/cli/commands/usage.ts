import {
  USAGE_KEYS,
  type UsageGroup,
  type UsageReport,
  type UsageSum,
} from '../../../api/index.ts';
import { plural, truncate } from '../../../base/text.ts';
import {
  addUsageTotals,
  knownCost,
  formatUtcDay,
  type UsageTotal,
} from '../../../protocol/state/ledger.ts';
import { formatCost, formatCount } from '../../../report/cost-text.ts';
import { printProse, printJsonDocument } from './tasks/print.ts';
import { UsageError } from '../../../base/errors.ts';
import { columns } from '../layout.ts';
import { TASK_VALUES } from '../completion-values.ts';
import { defineTasksCommand } from './tasks/with-tasks.ts';
import { quoteValue } from '../../../config/message-text.ts';

/** The maximum number of printed rows, which fill a few screens. `--all` prints the others, too. */
const MAX_ROWS = 50;
/** The maximum length of a label in code points. */
const LABEL_LENGTH = 40;
const SHOWN_MODELS = 5;
const DAY_MS = 86_400_000;
const DAYS = /^([1-9]\d{0,4})d$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The first day that counts (`YYYY-MM-DD`), or the number of days that count, today included. Days are those of UTC.
 */
type Since = { readonly day: string } | { readonly days: number };

/** `muster usage`. JSON always has all rows. */
export const usageCommand = defineTasksCommand({
  words: 'usage',
  summary: 'tokens and cost: of all tasks, or of one with all below it',
  operands: [{ name: '[TASK]', completes: TASK_VALUES }],
  flags: ['by', 'since', 'all'],
  examples: [
    'muster usage',
    'muster usage --by day --since 7d',
    'muster usage --by type,model,outcome',
    'muster usage 4f2k9x --by task',
  ],
  parse: ({ operands: [task = null], flags }) => ({
    task,
    by: flags.choiceList('by', USAGE_KEYS, ['model']),
    since: parseSince(flags.text('since')),
    all: flags.has('all'),
  }),
  run: async (tasks, { all, by, since, task, json }) => {
    const first = since === null ? null : firstDay(since, Date.now());
    const [only] = by;
    const isOne = only !== undefined && by.length === 1;
    const report = await tasks.usage({ by: isOne ? only : by, since: first, task });
    if (json) printJsonDocument(reportJson(report));
    else printReport(report, all ? null : MAX_ROWS);
  },
});

function parseSince(text: string | null): Since | null {
  if (text === null) return null;
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return { days: Number(days) };
  if (isDay(text)) return { day: text };
  throw new UsageError(
    `--since must be a day like 2026-03-01, or a number of days like 7d, not ${quoteValue(text)}`,
  );
}

/** Whether the calendar has such a day. `Date` alone does not tell, because it reads 30 February as a day in March. */
function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

function firstDay(since: Since, now: number): string {
  return 'day' in since ? since.day : formatUtcDay(now - (since.days - 1) * DAY_MS);
}

function printReport(report: UsageReport, maxRows: number | null): void {
  const { by, rows, since, total } = report;
  if (rows.length === 0) {
    printProse(
      `Nothing used${since === null ? ' yet' : ` since ${since}`}.`,
      ...unknownLine(report),
    );
    return;
  }
  const shown = maxRows === null ? rows : rows.slice(0, maxRows);
  const keys = [by].flat();
  const heading = [...keys, 'tasks', 'answers', 'input', 'output', 'cache read', 'cache write'];
  const table = [
    [...heading, 'reasoning', 'cost'],
    ...shown.flatMap((row) => cells(row.groups.map(formatLabel), row)),
    ...cells(labelLine('total', keys), total),
  ];
  const lines = columns(table).trimEnd().split('\n');
  const left = rows.length - shown.length;
  if (left > 0) lines.splice(-totalLines(total), 0, `… and ${left} more: --all lists them`);
  printProse(...lines, '', ...notes(report));
}

function totalLines({ estimated }: UsageSum): number {
  return estimated.answers > 0 ? 2 : 1;
}

/**
 * Returns a line for the reported usage, and a second line for estimated usage, which the first line does not contain.
 */
function cells(
  labels: readonly string[],
  { tasks, reported, estimated }: UsageSum,
): readonly string[][] {
  const line = [...labels, formatCount(tasks), ...useCells(reported)];
  if (estimated.answers === 0) return [line];
  return [line, [...labelLine('  estimated', labels), '', ...useCells(estimated)]];
}

/** Returns cells for a line with one label instead of one for each key. */
function labelLine(label: string, { length }: { readonly length: number }): readonly string[] {
  return [label, ...Array.from({ length: length - 1 }, () => '')];
}

function useCells(use: UsageTotal): readonly string[] {
  const { input, output, cacheRead, cacheWrite, reasoning } = use.usage;
  const tokens = [input, output, cacheRead, cacheWrite, reasoning];
  return [use.answers, ...tokens].map(formatCount).concat(formatCost(use));
}

function formatLabel({ by, key, title }: UsageGroup): string {
  const label = by === 'task' || by === 'tree' ? `${key} ${title}` : title;
  return truncate(label.replaceAll(/\s+/g, ' '), LABEL_LENGTH);
}

function notes(report: UsageReport): readonly string[] {
  const { total, unpricedModels, since } = report;
  const { pricedBy } = addUsageTotals(total.reported, total.estimated);
  const priced = pricedBy.length === 0 ? 'none known' : pricedBy.join('; ');
  return [
    `Prices: ${priced}.`,
    ...(unpricedModels.length === 0 ? [] : [unpricedLine(unpricedModels)]),
    ...(total.estimated.answers === 0
      ? []
      : [
          'Estimated: answers that ended without the usage that the provider counted, such as aborted ones.',
        ]),
    ...unknownLine(report),
    `Counted${since === null ? '' : ` from ${since} (UTC)`}: the tasks whose logs are kept.`,
  ];
}

function unpricedLine(models: readonly string[]): string {
  const shown = models.slice(0, SHOWN_MODELS).map((model) => truncate(model, LABEL_LENGTH));
  const more = models.length - shown.length;
  const named = shown.join(', ').replaceAll(/\s+/g, ' ');
  return `No price is known for ${named}${more > 0 ? ` and ${more} more` : ''}: set one in [models.catalogue."PROVIDER/MODEL"].`;
}

function unknownLine({ unknownTasks }: UsageReport): readonly string[] {
  const [first] = unknownTasks;
  if (first === undefined) return [];
  return [
    `Not counted, since the log can't be read: ${plural(unknownTasks.length, 'task')} (${first}…).`,
  ];
}

/** Describes a report for programs. The cost is null if not all of it is known; `knownCostUsd` is the known part. */
function reportJson({ rows, total, ...report }: UsageReport) {
  return {
    ...report,
    total: sumJson(total),
    rows: rows.map(({ groups, key, title, ...sum }) => {
      const keys = Object.fromEntries(groups.map((group) => [group.by, group.key]));
      return { key, title, keys, ...sumJson(sum) };
    }),
  };
}

function sumJson({ tasks, reported, estimated }: UsageSum) {
  return { tasks, reported: useJson(reported), estimated: useJson(estimated) };
}

function useJson(use: UsageTotal) {
  const { costUsd: knownCostUsd, answers, usage, unpriced, pricedBy } = use;
  return { answers, usage, costUsd: knownCost(use), knownCostUsd, unpriced, pricedBy };
}
