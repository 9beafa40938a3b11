import { formatDuration, plural } from '../../../base/text.ts';
import type { Detail } from '../../../protocol/terminal-settings.ts';
import type { TodoItem } from '../../../protocol/tool.ts';
import type { CallEntry, CallState } from '../model/entry.ts';
import { diffLines, diffSize, languageOf } from './diff-lines.ts';
import { joinEnds, fitLine, visibleWidth, wrapText } from './fit.ts';
import { markdownLines } from './markdown.ts';
import { plainLines, type Pen } from './pen.ts';
import type { TextRole } from './theme.ts';

/** How much an entry shows: one line, its work within limits, or everything that is kept of it. */
export type EntryLevel = Detail | 'unfolded';

export interface EntryStyle {
  readonly pen: Pen;
  readonly width: number;
  readonly level: EntryLevel;
  /** The keys that open the full text of an entry; empty if there are none. */
  readonly fullTextKeys: string;
  /** The name of the key that moves the focus to the tree; empty if there is none. */
  readonly tasksKey: string;
  /** Milliseconds of the monotonic clock. */
  readonly now: number;
  /** The id of the newest call that set a todo list. Earlier calls show one line. */
  readonly newestTodos: string | null;
}

export const INDENT = '  ';

/** The maximum width of a line of text. Longer lines are hard to read. */
export const MAX_WIDTH = 120;

/** The maximum number of lines of an unfolded result. */
export const UNFOLDED_OUTPUT = 40;

/** The maximum numbers of lines that a call shows of its work. */
const MAX_CHANGE_LINES = 20;
const MAX_TAIL_LINES = 5;
const MAX_REMARK_LINES = 4;
const MAX_PLAN_LINES = 40;
const MAX_QUESTION_LINES = 10;
const MAX_ANSWER_LINES = 6;
const MAX_TODO_LINES = 20;

const CALL_SIGNS: Readonly<Record<CallState, readonly [string, TextRole]>> = {
  requested: ['○', 'dim'],
  running: ['●', 'accent'],
  done: ['✓', 'good'],
  failed: ['✗', 'bad'],
  stopped: ['■', 'dim'],
  refused: ['⊘', 'bad'],
};

/** Draws a call: a line with its subject and its outcome, and below it as much of its work as the level allows. */
export function callLines(call: CallEntry, style: EntryStyle): readonly string[] {
  const { pen, width, level } = style;
  const state = hasFailedCommand(call) ? 'failed' : hasRefusedTask(call) ? 'refused' : call.state;
  const [sign, role] = CALL_SIGNS[state];
  const subject = call.todos === null ? call.subject : todoSummary(call, style);
  const head = `${pen.paint(role, sign)} ${pen.prose('strong', call.tool)} ${pen.exact('text', subject)}`;
  return [
    joinEnds(head, pen.prose('dim', outcome(call)), Math.min(width, MAX_WIDTH)),
    ...LEVEL_LINES[level](call, style),
  ];
}

const LEVEL_LINES: Readonly<
  Record<EntryLevel, (call: CallEntry, style: EntryStyle) => readonly string[]>
> = {
  short: failureLine,
  full: workLines,
  unfolded: (call, style) => [
    ...changeLines(call, style, Infinity),
    ...todoLines(call, style, Infinity),
    ...documentLines(call, style, Infinity),
    ...(call.state === 'running' ? tailLines(call, style) : outputLines(call, style)),
    ...answerLines(call, style, Infinity),
  ],
};

/** Draws the work of a call within the limits: its change, the end of its output, its list, its plan and the answer to it. */
function workLines(call: CallEntry, style: EntryStyle): readonly string[] {
  const { state, callId } = call;
  const isEnded = state !== 'requested' && state !== 'running';
  const tail = tailLines(call, style);
  return [
    // Before it runs, a change is shown in the question about it.
    ...(state === 'running' || state === 'done' ? changeLines(call, style, MAX_CHANGE_LINES) : []),
    ...(callId === style.newestTodos ? todoLines(call, style, MAX_TODO_LINES) : []),
    ...(isEnded ? shortDocumentLines(call, style) : []),
    ...(tail.length > 0 ? tail : call.answer === null ? failureLine(call, style) : []),
    ...answerLines(call, style, MAX_ANSWER_LINES),
  ];
}

/** Whether a call has run a command that did not succeed. */
export function hasFailedCommand({ state, exitCode }: CallEntry): boolean {
  return state === 'done' && exitCode !== null && exitCode !== 0;
}

/** Whether a call is done, but the user refused a call of a task that it waited for. */
function hasRefusedTask({ state, tasks = [] }: CallEntry): boolean {
  return state === 'done' && tasks.some(({ hasRefusal }) => hasRefusal === true);
}

function outcome(call: CallEntry): string {
  const { state, ms, outputLines: lines, edits, document } = call;
  const size = edits.length === 0 ? [] : [diffSize(edits)];
  if (state === 'requested') return size.join('');
  if (state === 'running' || state === 'refused') return [...size, state].join(', ');
  const isDone = state === 'done';
  // The time of such a call is the time that the user took to answer.
  if (isDone && (document !== null || call.todos !== null)) return '';
  const exit = hasFailedCommand(call) ? [`exit code ${call.exitCode}`] : [];
  const came = isDone ? plural(lines, 'line') : state;
  const took = ms === null ? [] : [formatDuration(ms)];
  return [...(size.length === 0 || !isDone ? [...size, ...exit, came] : size), ...took].join(', ');
}

/** Draws the reason why a call failed. It is shown even if the entry is folded. */
function failureLine(call: CallEntry, style: EntryStyle): readonly string[] {
  const { state, output, answer } = call;
  const { pen, width } = style;
  // The output of a call that the user refused is written for the model.
  if (state === 'refused' && answer !== null) return answerLines(call, style, 1);
  if (state !== 'failed' && state !== 'stopped' && state !== 'refused') return [];
  const [first = ''] = output.trimStart().split('\n', 1);
  return [fitLine(`${INDENT}${pen.prose(state === 'stopped' ? 'dim' : 'bad', first)}`, width)];
}

/** Draws the line that says how much is left out and which keys show it. */
export function omissionLine(
  text: string,
  { pen, width, fullTextKeys }: Pick<EntryStyle, 'pen' | 'width' | 'fullTextKeys'>,
): string {
  const where = fullTextKeys === '' ? 'in the log' : `${fullTextKeys} shows all`;
  return fitLine(pen.prose('dim', `${INDENT}… ${text}: ${where}`), width);
}

/** Cuts lines to their limit and adds a line that counts the rest. `more` is the number of lines that were cut before. */
function limited(
  lines: readonly string[],
  limit: number,
  style: EntryStyle,
  more = 0,
): readonly string[] {
  const shown = lines.length > limit ? lines.slice(0, limit - 1) : lines;
  const rest = lines.length - shown.length + more;
  return rest === 0 ? shown : [...shown, omissionLine(plural(rest, 'more line'), style)];
}

function outputLines(call: CallEntry, style: EntryStyle): readonly string[] {
  const { output, outputLines: all } = call;
  if (output === '') return [];
  const { pen, width } = style;
  const shown = output.trimEnd().split('\n').slice(0, UNFOLDED_OUTPUT);
  const more = all - shown.length;
  return [
    ...shown.flatMap((line) => wrapText(pen.exact('dim', line), width, INDENT)),
    ...(more <= 0 ? [] : [omissionLine(plural(more, 'more line'), style)]),
  ];
}

/**
 * Draws the last lines of the output of a command. Each takes one line, except a remark in brackets at the end, which may
 * say what the user can do.
 */
function tailLines(call: CallEntry, style: EntryStyle): readonly string[] {
  const { tail, outputLines: all } = call;
  if (tail.length === 0) return [];
  const { pen, width } = style;
  const isRunning = call.state === 'running';
  const fits = !isRunning && all <= MAX_TAIL_LINES;
  const shown = tail.slice(fits ? 0 : -MAX_TAIL_LINES);
  const before = isRunning ? 0 : all - shown.length;
  return [
    ...(before <= 0 ? [] : [omissionLine(`${plural(before, 'line')} before`, style)]),
    ...shown.flatMap((line, index) =>
      !isRunning && index === shown.length - 1 && /^\[.*\]$/.test(line)
        ? wrapText(pen.exact('dim', line), width, INDENT).slice(0, MAX_REMARK_LINES)
        : [fitLine(`${INDENT}${pen.exact('dim', line)}`, width)],
    ),
  ];
}

function changeLines(
  { edits, subject }: CallEntry,
  style: EntryStyle,
  limit: number,
): readonly string[] {
  const { pen, width } = style;
  const more = edits.reduce((all, each) => all + each.dropped, 0);
  const lines = edits
    .flatMap((edit) => diffLines(edit, pen, languageOf(subject)))
    .map((line) => fitLine(`${INDENT}${line}`, width));
  return limited(lines, limit, style, more);
}

const TODO_SIGNS: Readonly<Record<TodoItem['status'], readonly [string, TextRole, TextRole]>> = {
  completed: ['✓', 'good', 'dim'],
  in_progress: ['●', 'accent', 'strong'],
  pending: ['○', 'dim', 'text'],
};

/** Returns the number of completed items, and the current item if the list is not shown. */
function todoSummary({ todos, callId }: CallEntry, { level, newestTodos }: EntryStyle): string {
  const items = todos ?? [];
  const done = items.filter(({ status }) => status === 'completed').length;
  const isShown = level === 'unfolded' || (level === 'full' && callId === newestTodos);
  const current = isShown ? undefined : items.find(({ status }) => status === 'in_progress');
  return `${done} of ${items.length} done${current === undefined ? '' : ` · ${current.content}`}`;
}

function todoLines({ todos }: CallEntry, style: EntryStyle, limit: number): readonly string[] {
  const { pen, width } = style;
  const lines = (todos ?? []).flatMap(({ content, status }) => {
    const [sign, signRole, role] = TODO_SIGNS[status];
    const mark = (index: number) => (index === 0 ? pen.paint(signRole, sign) : ' ');
    return wrapText(pen.prose(role, content), width - INDENT.length - 2, '').map(
      (line, index) => `${INDENT}${mark(index)} ${line}`,
    );
  });
  return limited(lines, limit, style);
}

/** Draws a plan. A question is drawn only if the line of the call does not show all of it. */
function shortDocumentLines(call: CallEntry, style: EntryStyle): readonly string[] {
  const { tool, document } = call;
  if (document === null) return [];
  if (tool === 'ExitPlanMode') return documentLines(call, style, MAX_PLAN_LINES);
  const isShown =
    !document.includes('\n') && visibleWidth(document) + tool.length + 3 < style.width;
  return isShown ? [] : documentLines(call, style, MAX_QUESTION_LINES);
}

function documentLines(
  { document }: CallEntry,
  style: EntryStyle,
  limit: number,
): readonly string[] {
  if (document === null || document === '') return [];
  const { pen } = style;
  const width = Math.max(1, Math.min(style.width, MAX_WIDTH) - INDENT.length);
  const look = { width, isOpen: false, hidesTargets: true };
  const lines = markdownLines(plainLines(document), look, pen);
  return limited(
    lines.map((line) => `${INDENT}${line}`),
    limit,
    style,
  );
}

/** Draws the user's answer to a question of the call, marked as the user's words. */
function answerLines({ answer }: CallEntry, style: EntryStyle, limit: number): readonly string[] {
  if (answer === null) return [];
  const { pen, width } = style;
  const room = Math.min(width, MAX_WIDTH) - 2;
  const lines = plainLines(answer)
    .split('\n')
    .flatMap((line) => wrapText(pen.paint('message', line), room, INDENT));
  const [first = '', ...rest] = limited(lines, limit, style);
  return [
    `${INDENT}${pen.paint('message', '>')} ${first.slice(INDENT.length)}`,
    ...rest.map((line) => `${INDENT}${line}`),
  ];
}
