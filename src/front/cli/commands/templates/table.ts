import type { ItemRow, TemplateReport } from '../../../../api/index.ts';
import { formatCount } from '../../../../report/cost-text.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { sanitizeLine, sanitizeForTerminal } from '../../../../base/terminal-text.ts';
import { formatDuration, collapseWhitespace, truncate } from '../../../../base/text.ts';
import { columns } from '../../layout.ts';
import type { TemplateFormat } from '../../run-options.ts';

/** The maximum lengths of an item, an outcome and a warning in the table for people, in code points. */
const SHOWN_ITEM = 40;
const SHOWN_OUTCOME = 100;
const SHOWN_WARNING = 500;
/** The maximum length of the first line of a result in JSON and CSV, in code points. */
const MAX_SUMMARY = 500;

/** Writes the outcome of each item as one text that ends with a line end. */
export function reportText(report: TemplateReport, format: TemplateFormat): string {
  switch (format) {
    case 'text':
      return tableText(report.rows);
    case 'json':
      return `${toPrintableJson(reportJson(report), 2)}\n`;
    case 'csv':
      return csvText(report.rows);
    default:
      return format satisfies never;
  }
}

function tableText(rows: readonly ItemRow[]): string {
  const head = ['#', 'status', 'task', 'turns', 'tokens', 'cost', 'time', 'item', 'outcome'];
  const table = columns([
    head,
    ...rows.map((row) => [
      String(row.index),
      row.status,
      row.taskId?.slice(0, 8) ?? '-',
      String(row.turns),
      formatCount(row.tokens),
      row.costUsd === null ? '?' : `$${row.costUsd.toFixed(4)}`,
      formatDuration(row.durationMs),
      shown(itemText(row), SHOWN_ITEM),
      shown(outcome(row), SHOWN_OUTCOME),
    ]),
  ]);
  const warned = rows.flatMap(({ index, warnings }) =>
    warnings.map((each) => `! ${index}: ${shown(each, SHOWN_WARNING)}\n`),
  );
  return `${table}${warned.join('')}`;
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

function reportJson({ id, template, status, rows }: TemplateReport) {
  return {
    task_id: id,
    template,
    status,
    items: rows.map((row) => ({
      index: row.index,
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
    })),
  };
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
];

/** Writes CSV as RFC 4180 defines it: records end with CRLF, and a quote inside quotes is doubled. */
function csvText(rows: readonly ItemRow[]): string {
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
