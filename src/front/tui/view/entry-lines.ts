import { collapseWhitespace, formatDuration, plural } from '../../../base/text.ts';
import { markdownLines } from './markdown.ts';
import type {
  Entry,
  CallEntry,
  CallState,
  MessageEntry,
  RetryEntry,
  ShellEntry,
} from '../model/entry.ts';
import { diffLines, diffSize } from './diff-lines.ts';
import { linesIn } from '../model/cut-text.ts';
import { joinEnds, fitLine, SEPARATOR, wrapText } from './fit.ts';
import { shortCost, shortTokens } from './numbers.ts';
import { plainLines, type Pen } from './pen.ts';
import type { TextRole } from './theme.ts';

export interface EntryStyle {
  readonly pen: Pen;
  readonly width: number;
  /** Whether calls and thoughts show more than one line. */
  readonly isExpanded: boolean;
  /** Milliseconds of the monotonic clock, for the time to the next try. Default: it is not shown. */
  readonly now?: number;
}

const INDENT = '  ';

/** The maximum width of a line of text. Longer lines are hard to read. */
const MAX_WIDTH = 120;

/** The maximum number of lines of an unfolded result. */
const UNFOLDED_OUTPUT = 40;

/** Whether an entry can be folded to one line. */
export function isFoldable({ kind }: Entry): boolean {
  return kind === 'call' || kind === 'thinking';
}

/** Draws an entry, with an empty line above it if it starts something new. */
export function entryLines(entry: Entry, style: EntryStyle): readonly string[] {
  const { pen, width } = style;
  switch (entry.kind) {
    case 'message':
      return ['', ...messageLines(entry, style)];
    case 'answer':
      return ['', ...answerLines(entry.text, style, 'complete')];
    case 'thinking':
      return thinkingLines(entry.text, style);
    case 'call':
      return callLines(entry, style);
    case 'shell':
      return ['', ...shellLines(entry, style)];
    case 'note':
      return wrapText(noteText(entry, pen), width, '');
    case 'retry':
      return wrapText(pen.prose('warn', `! ${retryText(entry, style.now)}`), width, '');
    case 'worked':
      return ['', fitLine(pen.prose('dim', `· ${workedText(entry)}`), width)];
    case 'ended':
      return ['', ...wrapText(pen.prose('bad', `■ ${endText(entry)}`), width, '')];
    case 'page':
      return [
        '',
        fitLine(pen.prose('strong', entry.title), width),
        ...entry.lines.flatMap((line) => pageLines(line, width, pen)),
      ];
    default:
      return entry satisfies never;
  }
}

/** Wraps a line of a page. Text after a name and a gap is kept in a column of its own, if the terminal is wide enough. */
function pageLines(line: string, width: number, pen: Pen): readonly string[] {
  const name = /^ *\S.*? {2,}(?=\S)/.exec(line)?.[0] ?? '';
  const isColumn = name !== '' && name.length <= width / 2;
  const indent = isColumn ? INDENT + ' '.repeat(name.length) : INDENT;
  const text = isColumn ? line.slice(name.length) : line;
  const [first = '', ...rest] = wrapText(pen.exact('text', text), width, indent);
  if (!isColumn) return [first, ...rest];
  return [INDENT + pen.exact('text', name) + first.slice(indent.length), ...rest];
}

/** Draws an answer. An `open` answer is still being written. */
export function answerLines(
  text: string,
  { pen, width }: EntryStyle,
  state: 'open' | 'complete',
): readonly string[] {
  const isOpen = state === 'open';
  return markdownLines(plainLines(text), { width: Math.min(width, MAX_WIDTH), isOpen }, pen);
}

function messageLines(
  { text, unread, attachments = [] }: MessageEntry,
  { pen, width }: EntryStyle,
): readonly string[] {
  const lines = plainLines(text)
    .split('\n')
    .flatMap((line) => wrapText(pen.paint('message', line), Math.min(width, MAX_WIDTH) - 2, ''));
  const mark = (index: number) => pen.paint('message', index === 0 ? '>' : ' ');
  const all = [
    ...lines.map((line, index) => `${mark(index)} ${line}`),
    ...attachments.map((line) => fitLine(pen.exact('dim', `  + ${line}`), width)),
  ];
  return unread ? [...all, pen.prose('dim', '  … waits for the next turn')] : all;
}

/** The number of lines of a folded output. They are the last lines of the output. */
const FOLDED_OUTPUT = 8;

function shellLines(
  { command, isShared, output, outputLines: all, outcome }: ShellEntry,
  { pen, width, isExpanded }: EntryStyle,
): readonly string[] {
  const lines = output === '' ? [] : output.trimEnd().split('\n');
  const shown = lines.slice(isExpanded ? -UNFOLDED_OUTPUT : -FOLDED_OUTPUT);
  const more = all - shown.length;
  const state = outcome ?? 'running';
  const end = isShared || outcome === null ? state : `${state} · shown only`;
  const head = `${pen.paint('accent', isShared ? '!' : '!!')} ${pen.exact('strong', command)}`;
  const role = outcome === null || outcome.startsWith('exit code 0') ? 'dim' : 'bad';
  return [
    joinEnds(head, pen.prose(role, end), width),
    ...(more <= 0
      ? []
      : [fitLine(pen.prose('dim', `${INDENT}… ${plural(more, 'line')} before`), width)]),
    ...shown.flatMap((line) => wrapText(pen.exact('dim', line), width, INDENT)),
  ];
}

export function thinkingLines(text: string, style: EntryStyle): readonly string[] {
  const { pen, width, isExpanded } = style;
  if (isExpanded) return wrapText(pen.paint('dim', plainLines(text)), width, INDENT);
  const all = text.trim();
  const words = `${pen.paint('dim', '∴')} ${pen.prose('dim', all.slice(0, width * 4))}`;
  const count = pen.prose('dim', plural(linesIn(all), 'line'));
  return [joinEnds(words, count, Math.min(width, MAX_WIDTH))];
}

const NOTE_MARKS = { info: '·', warning: '! warning:', error: '✗ error:' } as const;
const NOTE_ROLES = { info: 'dim', warning: 'warn', error: 'bad' } as const;

function noteText({ level, text }: Extract<Entry, { kind: 'note' }>, pen: Pen): string {
  return pen.prose(NOTE_ROLES[level], `${NOTE_MARKS[level]} ${text}`);
}

const CALL_SIGNS: Readonly<Record<CallState, readonly [string, TextRole]>> = {
  requested: ['○', 'dim'],
  running: ['●', 'accent'],
  done: ['✓', 'good'],
  failed: ['✗', 'bad'],
  stopped: ['■', 'dim'],
  refused: ['⊘', 'bad'],
};

function callLines(call: CallEntry, style: EntryStyle): readonly string[] {
  const { pen, width, isExpanded } = style;
  const [sign, role] = CALL_SIGNS[call.state];
  const head = `${pen.paint(role, sign)} ${pen.prose('strong', call.tool)} ${pen.exact('text', call.subject)}`;
  return [
    joinEnds(head, pen.prose('dim', outcome(call)), Math.min(width, MAX_WIDTH)),
    ...(isExpanded
      ? [...changeLines(call, style), ...outputLines(call, style)]
      : failureLine(call, style)),
  ];
}

/** Says how often a request was sent, and when it is sent again. `now` is steady time. */
export function retryText(
  { because, failed, maxTries, nextAt }: RetryEntry,
  now: number | undefined,
): string {
  const reason = collapseWhitespace(because);
  if (nextAt === null) return `${reason}: asked again ${failed === 1 ? 'once' : `${failed} times`}`;
  const seconds = now === undefined ? 0 : Math.ceil((nextAt - now) / 1_000);
  const of = maxTries === null ? '' : ` of ${maxTries}`;
  return `${reason}: try ${failed + 1}${of}${seconds > 0 ? ` in ${workTime(seconds * 1_000)}` : ''}`;
}

/** Says how long a piece of work took, and what it used. */
export function workedText({ ms, tokens, costUsd }: Extract<Entry, { kind: 'worked' }>): string {
  return [
    `worked for ${workTime(ms)}`,
    ...(tokens === 0 ? [] : [`${shortTokens(tokens)} tok`]),
    ...(costUsd === null || costUsd === 0 ? [] : [shortCost(costUsd)]),
  ].join(SEPARATOR);
}

/** Formats a duration in whole seconds or minutes: `42 s`, `3 min 5 s`, `2 h 7 min`. */
export function workTime(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function endText({ status, reason }: Extract<Entry, { kind: 'ended' }>): string {
  return reason === null ? status : `${status}: ${reason}`;
}

function outcome({ state, ms, outputLines, edits }: CallEntry): string {
  const size = edits.length === 0 ? [] : [diffSize(edits)];
  if (state === 'requested') return size.join('');
  if (state === 'running' || state === 'refused') return [...size, state].join(', ');
  const isDone = state === 'done';
  const came = isDone ? plural(outputLines, 'line') : state;
  const took = ms === null ? [] : [formatDuration(ms)];
  return [...(size.length === 0 || !isDone ? [...size, came] : size), ...took].join(', ');
}

/** Draws the reason why a call failed. It is shown even if the entry is folded. */
function failureLine({ state, output }: CallEntry, { pen, width }: EntryStyle): readonly string[] {
  if (state !== 'failed' && state !== 'stopped' && state !== 'refused') return [];
  const [first = ''] = output.trimStart().split('\n', 1);
  return [fitLine(`${INDENT}${pen.prose(state === 'stopped' ? 'dim' : 'bad', first)}`, width)];
}

function outputLines(
  { output, outputLines: all }: CallEntry,
  { pen, width }: EntryStyle,
): readonly string[] {
  if (output === '') return [];
  const shown = output.trimEnd().split('\n').slice(0, UNFOLDED_OUTPUT);
  const more = all - shown.length;
  return [
    ...shown.flatMap((line) => wrapText(pen.exact('dim', line), width, INDENT)),
    ...(more <= 0 ? [] : [pen.prose('dim', `${INDENT}… ${plural(more, 'more line')}, in the log`)]),
  ];
}

function changeLines({ edits }: CallEntry, { pen, width }: EntryStyle): readonly string[] {
  const more = edits.reduce((all, each) => all + each.dropped, 0);
  return [
    ...edits.flatMap((edit) => diffLines(edit, pen)),
    ...(more === 0 ? [] : [pen.prose('dim', `… ${plural(more, 'more line')}, in the log`)]),
  ].map((line) => fitLine(`${INDENT}${line}`, width));
}
