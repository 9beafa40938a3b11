import { resolve } from 'node:path';
import type { UsageReport, UsageRow, UsageSum } from '../../../api/index.ts';
import { openTasks } from '../../../api/tasks/tasks.ts';
import { plural, truncate } from '../../../base/text.ts';
import { addUse, knownCost, utcDay, type Use } from '../../../protocol/state/ledger.ts';
import { costText, countText } from '../../../report/cost-text.ts';
import type { Since, UsageCommand } from '../command.ts';
import { stderrNotice } from '../stderr.ts';
import { columns } from './columns.ts';
import { printJson, printProse } from './tasks/print.ts';

/** What fits into a few screens; `--all` shows the rest. */
const MOST_ROWS = 50;
/** Code points. */
const LABEL_LENGTH = 40;
const SHOWN_MODELS = 5;
const DAY_MS = 86_400_000;

/** `muster usage`. JSON: all rows. */
export async function usageCommand(command: UsageCommand): Promise<number> {
  const { by, task, json, all, dataDir } = command;
  const tasks = openTasks({
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    onNotice: stderrNotice,
  });
  try {
    const since = command.since === null ? null : firstDay(command.since, Date.now());
    const report = await tasks.usage({ by, since, task });
    if (json) printJson(reportJson(report));
    else printReport(report, all ? null : MOST_ROWS);
    return 0;
  } finally {
    await tasks.close();
  }
}

function firstDay(since: Since, now: number): string {
  return 'day' in since ? since.day : utcDay(now - (since.days - 1) * DAY_MS);
}

function printReport(report: UsageReport, most: number | null): void {
  const { by, rows, since, total } = report;
  if (rows.length === 0) {
    printProse(
      `Nothing used${since === null ? ' yet' : ` since ${since}`}.`,
      ...unknownLine(report),
    );
    return;
  }
  const shown = most === null ? rows : rows.slice(0, most);
  const heading = [by, 'tasks', 'answers', 'input', 'output', 'cache read', 'cache write'];
  const table = [
    [...heading, 'reasoning', 'cost'],
    ...shown.flatMap((row) => cells(labelOf(row, by), row)),
    ...cells('total', total),
  ];
  const lines = columns(table).trimEnd().split('\n');
  const left = rows.length - shown.length;
  if (left > 0) lines.splice(-totalLines(total), 0, `… and ${left} more: --all lists them`);
  printProse(...lines, '', ...notes(report));
}

function totalLines({ estimated }: UsageSum): number {
  return estimated.answers > 0 ? 2 : 1;
}

/** One line, or two where something was estimated: that is not in the first. */
function cells(label: string, { tasks, reported, estimated }: UsageSum): readonly string[][] {
  const line = [label, countText(tasks), ...useCells(reported)];
  if (estimated.answers === 0) return [line];
  return [line, ['  estimated', '', ...useCells(estimated)]];
}

function useCells(use: Use): readonly string[] {
  const { input, output, cacheRead, cacheWrite, reasoning } = use.usage;
  const tokens = [input, output, cacheRead, cacheWrite, reasoning];
  return [use.answers, ...tokens].map(countText).concat(costText(use));
}

function labelOf({ key, title }: UsageRow, by: UsageReport['by']): string {
  const label = by === 'task' || by === 'tree' ? `${key} ${title}` : title;
  return truncate(label.replaceAll(/\s+/g, ' '), LABEL_LENGTH);
}

function notes(report: UsageReport): readonly string[] {
  const { total, unpricedModels, since } = report;
  const { pricedBy } = addUse(total.reported, total.estimated);
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

/** Cost null: not all of it is known; `knownCostUsd` is the part that is. */
function reportJson({ rows, total, ...report }: UsageReport) {
  return {
    ...report,
    total: sumJson(total),
    rows: rows.map(({ key, title, ...sum }) => ({ key, title, ...sumJson(sum) })),
  };
}

function sumJson({ tasks, reported, estimated }: UsageSum) {
  return { tasks, reported: useJson(reported), estimated: useJson(estimated) };
}

function useJson(use: Use) {
  const { costUsd: knownCostUsd, answers, usage, unpriced, pricedBy } = use;
  return { answers, usage, costUsd: knownCost(use), knownCostUsd, unpriced, pricedBy };
}
