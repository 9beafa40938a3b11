import type { ItemRow, TemplateReport } from '../../../../api/index.ts';
import { formatCount } from '../../../../report/cost-text.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { sanitizeLine, sanitizeForTerminal } from '../../../../base/terminal-text.ts';
import { formatDuration, collapseWhitespace, plural, truncate } from '../../../../base/text.ts';
import { describeOutcome, outcomeJson, type OneLanding } from '../tasks/landing-outcome.ts';
import { columns } from '../../layout.ts';
import type { TemplateFormat } from '../../run-options.ts';

/** The maximum lengths of an item, an outcome and a warning in the table for people, in code points. */
const SHOWN_ITEM = 40;
const SHOWN_OUTCOME = 100;
const SHOWN_WARNING = 500;
/** The maximum length of the first line of a result in JSON and CSV, in code points. */
const MAX_SUMMARY = 500;

/**
 * Writes the outcome of each item as one text that ends with a line end.
 *
 * @param landings the outcomes of the attempts that have landed, or could not
 */
export function reportText(
  report: TemplateReport,
  format: TemplateFormat,
  landings: readonly OneLanding[] = [],
): string {
  switch (format) {
    case 'text':
      return `${tableText(report)}${describeNext(report, landings)}`;
    case 'json':
      return `${toPrintableJson(reportJson(report, landings), 2)}\n`;
    case 'csv':
      return csvText(report);
    default:
      return format satisfies never;
  }
}

/** A column of the table for people. */
interface Column {
  readonly head: string;
  readonly cell: (row: ItemRow) => string;
  /** Whether a report needs the column. Default: each does. */
  readonly isNeeded?: (report: TemplateReport) => boolean;
}

const COLUMNS: readonly Column[] = [
  { head: '#', cell: ({ index }) => String(index) },
  {
    head: 'attempt',
    cell: ({ attempt }) => String(attempt),
    isNeeded: ({ comparison }) => comparison !== undefined && comparison.attempts > 1,
  },
  { head: 'status', cell: ({ status }) => status },
  { head: 'task', cell: ({ taskId }) => taskId?.slice(0, 8) ?? '-' },
  {
    head: 'model',
    cell: ({ model }) => (model === null ? '-' : shown(model, SHOWN_ITEM)),
    isNeeded: ({ comparison }) => comparison !== undefined,
  },
  {
    head: 'score',
    cell: ({ score }) => scoreText(score),
    isNeeded: ({ comparison }) => (comparison?.score ?? null) !== null,
  },
  {
    head: 'changes',
    cell: ({ changes }) => changesText(changes),
    isNeeded: ({ rows }) => rows.some(({ changes }) => changes !== null),
  },
  { head: 'turns', cell: ({ turns }) => String(turns) },
  { head: 'tokens', cell: ({ tokens }) => formatCount(tokens) },
  { head: 'cost', cell: ({ costUsd }) => (costUsd === null ? '?' : `$${costUsd.toFixed(4)}`) },
  { head: 'time', cell: ({ durationMs }) => formatDuration(durationMs) },
  { head: 'item', cell: (row) => shown(itemText(row), SHOWN_ITEM) },
  { head: 'outcome', cell: (row) => shown(outcome(row), SHOWN_OUTCOME) },
];

/** Writes a score for people: the number, and the exit code if the command failed or printed no number. */
function scoreText(score: ItemRow['score']): string {
  if (score === null || score.problem !== null) return '-';
  const { value, exitCode } = score;
  if (value === null) return `exit ${exitCode}`;
  return exitCode === 0 ? String(value) : `${value} (exit ${exitCode})`;
}

function changesText(changes: ItemRow['changes']): string {
  if (changes === null) return '-';
  const { fileCount, addedLines, deletedLines } = changes;
  if (fileCount === 0) return 'none';
  return `${plural(fileCount, 'file')} +${addedLines} −${deletedLines}`;
}

function tableText(report: TemplateReport): string {
  const { rows } = report;
  const needed = COLUMNS.filter(({ isNeeded }) => isNeeded?.(report) ?? true);
  const table = columns([
    needed.map(({ head }) => head),
    ...rows.map((row) => needed.map(({ cell }) => cell(row))),
  ]);
  const warned = rows.flatMap((row) => {
    const { warnings, score } = row;
    const problem = score?.problem ?? null;
    const all = [...warnings, ...(problem === null ? [] : [`no score: ${problem}`])];
    return all.map((each) => `! ${rowName(row, report)}: ${shown(each, SHOWN_WARNING)}\n`);
  });
  return `${table}${warned.join('')}`;
}

/** Returns the number of an item, with that of the attempt if there are several. */
function rowName({ index, attempt }: ItemRow, { comparison }: TemplateReport): string {
  return (comparison?.attempts ?? 1) === 1 ? String(index) : `${index}, attempt ${attempt}`;
}

/** Describes what has landed, and what the user can still land. */
function describeNext(report: TemplateReport, landings: readonly OneLanding[]): string {
  const { rows, comparison } = report;
  const landed = landings.flatMap((outcome) => describeOutcome(outcome, 'applied'));
  const { attempts = 1, best = [], score = null } = comparison ?? {};
  if (attempts === 1) {
    const waiting = rows.filter(({ changes }) => (changes?.fileCount ?? 0) > 0).length;
    if (waiting === 0) return '';
    return `${plural(waiting, 'task')} left changes: \`muster tasks diff TASK\` shows them, and \`muster tasks apply TASK\` merges them into your files\n`;
  }
  const isOneItem = rows.length === attempts;
  const lines = best.map(({ index, attempt, taskId, changes }) => {
    const isChanged = changes !== null && changes.fileCount > 0;
    const next = isChanged ? `muster tasks apply ${taskId}` : 'it changed nothing';
    const which = isOneItem ? 'best' : `best for item ${index}`;
    return `${which}: attempt ${attempt} (task ${taskId}): ${next}`;
  });
  if (best.length === 0) {
    lines.push(score === null ? 'no attempt was completed' : 'no completed attempt has a score');
  }
  return [...lines, ...landed].map((line) => `${line}\n`).join('');
}

function shown(text: string, maxLength: number): string {
  const line = collapseWhitespace(sanitizeLine(truncate(text, maxLength * 4)));
  return line.length <= maxLength ? line : `${truncate(line, maxLength - 1)}…`;
}

/** Writes an item: its text, or an object as JSON. */
function itemText({ item }: ItemRow): string {
  return typeof item === 'string' ? item : toPrintableJson(item);
}

/** Writes the error, or the first line of the result. */
function outcome({ error, result }: ItemRow): string {
  return error === null ? firstLine(result) : `${error.code}: ${error.message}`;
}

function firstLine(text: string): string {
  const line = truncate(text.trimStart(), MAX_SUMMARY * 2).split(/\r?\n/, 1)[0] ?? '';
  return truncate(line.trim(), MAX_SUMMARY);
}

function reportJson(report: TemplateReport, landings: readonly OneLanding[]) {
  const { id, template, status, rows, comparison } = report;
  const best = new Set(comparison?.best);
  return {
    task_id: id,
    template,
    status,
    ...(comparison === undefined
      ? {}
      : {
          attempts: comparison.attempts,
          score: comparison.score,
          best: comparison.best.map(({ taskId }) => taskId),
          landed: landings.map(outcomeJson),
        }),
    items: rows.map((row) => ({
      index: row.index,
      attempt: row.attempt,
      item: row.item,
      status: row.status,
      task_id: row.taskId,
      turns: row.turns,
      tokens: row.tokens,
      cost_usd: row.costUsd,
      duration_ms: row.durationMs,
      summary: firstLine(row.result),
      result: row.result,
      error: row.error,
      warnings: row.warnings,
      model: row.model,
      score: scoreJson(row.score),
      changes: changesJson(row.changes),
      is_best: best.has(row),
    })),
  };
}

function scoreJson(score: ItemRow['score']) {
  if (score === null) return null;
  const { value, exitCode, problem, output, ms } = score;
  return { value, exit_code: exitCode, problem, output, duration_ms: ms };
}

function changesJson(changes: ItemRow['changes']) {
  if (changes === null) return null;
  const { fileCount, addedLines, deletedLines } = changes;
  return { files: fileCount, added_lines: addedLines, deleted_lines: deletedLines };
}

const CSV_HEAD = [
  'index',
  'item',
  'status',
  'task_id',
  'turns',
  'tokens',
  'cost_usd',
  'duration_ms',
  'summary',
  'error',
  'warnings',
  'attempt',
  'model',
  'score',
  'score_exit_code',
  'files',
  'added_lines',
  'deleted_lines',
  'is_best',
];

/** Writes CSV as RFC 4180 defines it: records end with CRLF, and a quote inside quotes is doubled. */
function csvText({ rows, comparison }: TemplateReport): string {
  const best = new Set(comparison?.best);
  const records = rows.map((row) => [
    row.index,
    textCell(itemText(row)),
    row.status,
    row.taskId ?? '',
    row.turns,
    row.tokens,
    row.costUsd ?? '',
    row.durationMs,
    textCell(firstLine(row.result)),
    textCell(row.error === null ? '' : `${row.error.code}: ${row.error.message}`),
    textCell(row.warnings.map(collapseWhitespace).join('; ')),
    row.attempt,
    textCell(row.model ?? ''),
    row.score?.value ?? '',
    row.score?.exitCode ?? '',
    row.changes?.fileCount ?? '',
    row.changes?.addedLines ?? '',
    row.changes?.deletedLines ?? '',
    String(best.has(row)),
  ]);
  return [CSV_HEAD, ...records].map((record) => `${record.map(csvCell).join(',')}\r\n`).join('');
}

/** Matches text that a spreadsheet would evaluate as a formula. */
const FORMULA = /^[\s\u00a0]*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/;

/** Makes outside text harmless: removes control characters, and puts a quote before a formula. */
function textCell(text: string): string {
  const plain = sanitizeForTerminal(text, 'plain');
  return FORMULA.test(plain) ? `'${plain}` : plain;
}

function csvCell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
