import { formatUsage, formatShortDuration, formatElapsed } from '../../report/figures.ts';
import { listReceiptRows } from '../../report/receipt-rows.ts';
import { SPAN_NAMES, type Span } from '../../report/span.ts';
import type { TaskReport } from '../../report/task-report.ts';
import type { TreeRow } from '../../report/tree-report.ts';
import { formatTurnLines } from '../../report/turn-lines.ts';
import { sanitizeLine, type TerminalContext } from '../../base/terminal-text.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import { formatWorkspaceMark } from '../../protocol/state/workspace-view.ts';
import type { TaskDiff } from './task-diffs.ts';
import type { EventLines } from './event-lines.ts';
import { html } from '../../base/html.ts';

/** The maximum length of a prompt or answer, in code points. */
const MAX_TEXT_LENGTH = 10_000;
/** The maximum number of lines in each list of a task. */
const MAX_LINES = 1_000;
const MAX_INDENT = 4;

/** The parts of the details of a task that its report does not have. */
interface TaskExtras {
  readonly events: EventLines;
  /** The start of the time scale. */
  readonly from: number;
  /** The changes that the task left in its workspace; null if it left none, or if they are not known. */
  readonly diff: TaskDiff | null;
}

/**
 * Writes the details of a task. `at` is the index of its row, which links use.
 */
export function taskDetails(
  { id, level, report, problem }: TreeRow,
  at: number,
  { events, from, diff }: TaskExtras,
): string {
  const indent = `l${Math.min(level, MAX_INDENT)}`;
  if (report === null) {
    return `<details class="task ${indent}"><summary><span class="id">${html(id)}</span> <span class="status">its log is missing</span></summary><div><p id="t${at}" tabindex="-1">${html(problem ?? '')}</p></div></details>\n`;
  }
  const parts = [
    part('Prompt', cut(report.prompt), 'prose'),
    part(report.end === null ? 'What it said last' : 'Answer', cut(report.result), 'prose'),
    part('Turns', shownLines(formatTurnLines(report.turns, from), 'turns')),
    part('Receipt', receiptText(report)),
    part('Warnings', shownLines(report.warnings.map(sanitizeLine), 'warnings')),
    ...(diff === null ? [] : [folded(diffTitle(diff, report), diff.text)]),
    folded('Where its time went', spanText(report.spans, from)),
    folded(plural(report.events, 'event'), events.text(id, from)),
  ];
  const facts = [
    report.end === null ? report.status : `${report.status}: ${report.end.because}`,
    report.model,
    report.tools.map(({ tool, count }) => `${tool} × ${count}`).join(', ') || 'no tools',
  ];
  return `<details class="task ${indent} ${report.status}"><summary>${summary(report)}</summary><div><h3 id="t${at}" tabindex="-1">${html(facts.map(collapseWhitespace).join(' · '))}</h3>${parts.join('')}</div></details>\n`;
}

function diffTitle({ hasLanded }: TaskDiff, { workspace }: TaskReport): string {
  const place = workspace === null ? 'its workspace' : formatWorkspaceMark(workspace);
  return hasLanded ? `What has landed ${place}` : `What it changed ${place}`;
}

/** The description and the agent of a task, on one line. */
export function detailsTitle({ description, agent }: TaskReport): string {
  return collapseWhitespace(`${description} (${agent})`);
}

function summary(report: TaskReport): string {
  const { tokens, cost } = formatUsage(report);
  const numbers = [
    plural(report.turns.length, 'turn'),
    plural(report.toolCalls, 'tool call'),
    `${tokens} tokens`,
    cost,
    formatShortDuration(report.until - report.createdAt),
  ];
  const flags = report.receipt.claims.length;
  const flag = flags === 0 ? '' : ` <span class="flag">⚑ ${html(plural(flags, 'flag'))}</span>`;
  return `${html(detailsTitle(report))} <span class="status">${report.status}</span>${flag} <span class="figures">${html(numbers.join(' · '))} · <span class="id">${html(report.id)}</span></span>`;
}

/** Writes a heading and its text; returns an empty text if there is no text. */
function part(title: string, text: string, context: TerminalContext = 'exact'): string {
  if (text.trim() === '') return '';
  const attribute = context === 'prose' ? ' class="words"' : '';
  return `<h3>${html(title)}</h3><pre${attribute} tabindex="0">${html(text, context)}</pre>`;
}

/** Writes a heading and its text, which is folded until the reader opens it. */
function folded(title: string, text: string): string {
  if (text === '') return '';
  return `<details><summary>${html(title)}</summary><div><pre tabindex="0">${html(text)}</pre></div></details>`;
}

function cut(text: string): string {
  const shown = truncate(text, MAX_TEXT_LENGTH);
  const omitted = text.length - shown.length;
  return omitted === 0 ? text : `${shown}\n… cut here: ${omitted} more characters`;
}

function shownLines(lines: readonly string[], what: string): string {
  const omitted = lines.length - MAX_LINES;
  const more = omitted > 0 ? [`… and ${omitted} more ${what}`] : [];
  return [...lines.slice(0, MAX_LINES).map(sanitizeLine), ...more].join('\n');
}

function receiptText({ receipt }: TaskReport): string {
  const lines = listReceiptRows(receipt).map(({ name, items }) => {
    const text = shownLines(items, name).replaceAll('\n', `\n${' '.repeat(10)}`);
    return items.length === 0 ? '' : `${name.padEnd(10)}${text}`;
  });
  return lines.filter((line) => line !== '').join('\n');
}

function spanText(spans: readonly Span[], from: number): string {
  const lines = spans.map((span) => {
    const took = formatShortDuration(span.to - span.from).padStart(9);
    const what = `${SPAN_NAMES[span.kind]}${span.detail === '' ? '' : `: ${span.detail}`}`;
    return `${formatElapsed(span.from - from).padStart(11)} ${took}  ${collapseWhitespace(what)}`;
  });
  return shownLines(lines, 'stretches of time');
}
