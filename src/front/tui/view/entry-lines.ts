import { collapseWhitespace, plural } from '../../../base/text.ts';
import { markdownLines } from './markdown.ts';
import type { Entry, MessageEntry, RetryEntry, ShellEntry } from '../model/entry.ts';
import { backgroundStartLine, childEndLine, isBackgroundStart } from './delegation-lines.ts';
import {
  callLines,
  INDENT,
  MAX_WIDTH,
  omissionLine,
  UNFOLDED_OUTPUT,
  type EntryStyle,
} from './call-lines.ts';
import { linesIn } from '../model/cut-text.ts';
import { joinEnds, fitLine, SEPARATOR, wrapText } from './fit.ts';
import { shortCost, shortTokens } from './numbers.ts';
import { plainLines, type Pen } from './pen.ts';

/** Whether an entry can show more or less in the conversation. */
export function isFoldable({ kind }: Entry): boolean {
  return kind === 'call' || kind === 'thinking' || kind === 'shell';
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
      return isBackgroundStart(entry) && style.level !== 'unfolded'
        ? [backgroundStartLine(entry, style)]
        : callLines(entry, style);
    case 'child':
      return [childEndLine(entry, style)];
    case 'shell':
      return ['', ...shellLines(entry, style)];
    case 'note':
      return wrapText(noteText(entry, pen), Math.max(1, width - INDENT.length), '').map(
        (line, index) => (index === 0 ? line : `${INDENT}${line}`),
      );
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
  { pen, width }: Pick<EntryStyle, 'pen' | 'width'>,
  state: 'open' | 'complete',
): readonly string[] {
  const isOpen = state === 'open';
  const style = { width: Math.min(width, MAX_WIDTH), isOpen, hidesTargets: true };
  return markdownLines(plainLines(text), style, pen);
}

function messageLines(
  { text, unread, attachments = [], prompt }: MessageEntry,
  { pen, width, level }: EntryStyle,
): readonly string[] {
  const lines = plainLines(text)
    .split('\n')
    .flatMap((line) => wrapText(pen.paint('message', line), Math.min(width, MAX_WIDTH) - 2, ''));
  const mark = (index: number) => pen.paint('message', index === 0 ? '>' : ' ');
  const all = [
    ...lines.map((line, index) => `${mark(index)} ${line}`),
    ...(prompt === undefined ? [] : promptLines(prompt, { pen, width, level })),
    ...attachments.map((line) => fitLine(pen.exact('dim', `  + ${line}`), width)),
  ];
  return unread ? [...all, pen.prose('dim', '  … waits for the next turn')] : all;
}

/** The number of lines that are shown of a folded prompt of a server. */
const FOLDED_PROMPT = 8;

/** Draws the text of a prompt of an MCP server, which the user sends without having written it. */
function promptLines(
  prompt: string,
  { pen, width, level }: Pick<EntryStyle, 'pen' | 'width' | 'level'>,
): readonly string[] {
  const lines = plainLines(prompt)
    .split('\n')
    .flatMap((line) => wrapText(pen.prose('dim', line), Math.min(width, MAX_WIDTH) - 4, ''));
  const shown = level === 'unfolded' ? lines : lines.slice(0, FOLDED_PROMPT);
  const more = lines.length - shown.length;
  const note = more === 0 ? [] : [pen.prose('dim', `… ${plural(more, 'more line')}`)];
  return [...shown, ...note].map((line) => `${pen.paint('dim', '  │')} ${line}`);
}

/** The number of lines of a folded output. They are the last lines of the output. */
const FOLDED_OUTPUT = 8;

function shellLines(
  { command, isShared, output, outputLines: all, outcome }: ShellEntry,
  style: EntryStyle,
): readonly string[] {
  const { pen, width, level } = style;
  const lines = output === '' ? [] : output.trimEnd().split('\n');
  const shown = lines.slice(level === 'unfolded' ? -UNFOLDED_OUTPUT : -FOLDED_OUTPUT);
  const more = all - shown.length;
  const state = outcome ?? 'running';
  const end = isShared || outcome === null ? state : `${state} · shown only`;
  const head = `${pen.paint('accent', isShared ? '!' : '!!')} ${pen.exact('strong', command)}`;
  const role = outcome === null || outcome.startsWith('exit code 0') ? 'dim' : 'bad';
  return [
    joinEnds(head, pen.prose(role, end), width),
    ...(more <= 0 ? [] : [omissionLine(`${plural(more, 'line')} before`, style)]),
    ...shown.flatMap((line) => wrapText(pen.exact('dim', line), width, INDENT)),
  ];
}

export function thinkingLines(text: string, style: EntryStyle): readonly string[] {
  const { pen, width, level } = style;
  if (level === 'unfolded') return wrapText(pen.paint('dim', plainLines(text)), width, INDENT);
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

/**
 * Says how often a request was sent, and when it is sent again. `now`: milliseconds of the monotonic clock; null: the time
 * to the next try is not shown.
 */
export function retryText(
  { because, failed, maxTries, nextAt }: RetryEntry,
  now: number | null,
): string {
  const reason = collapseWhitespace(because);
  if (nextAt === null) return `${reason}: asked again ${failed === 1 ? 'once' : `${failed} times`}`;
  const seconds = now === null ? 0 : Math.ceil((nextAt - now) / 1_000);
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
