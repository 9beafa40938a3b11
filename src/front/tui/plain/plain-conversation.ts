import { endText, retryText, workedText } from '../view/entry-lines.ts';
import { formatDuration, plural } from '../../../base/text.ts';
import type { ThinkingDisplay } from '../../../protocol/terminal-settings.ts';
import type { TodoItem } from '../../../protocol/tool.ts';
import { hasFailedCommand } from '../view/call-lines.ts';
import { plainLines, type Pen } from '../view/pen.ts';
import type { Entry, CallEntry, CallState } from '../model/entry.ts';
import type { Transcript } from '../model/transcript.ts';
import { shortTime } from '../view/numbers.ts';
import { hasEnded, type TreeTask } from '../model/task-row.ts';
import type { DisplayedTree } from '../model/task-tree.ts';

/** The duration from which a call is also reported when it ends. */
const LONG_CALL_MS = 5_000;

/** The shortest time between two lines about the progress of a call. */
const PROGRESS_MS = 5_000;

/**
 * Writes a conversation as lines. Every line is written once: the lines of an answer when they are complete, and a call
 * when it starts, and again when it fails or took long.
 */
export class PlainConversation {
  private readonly pen: Pen;
  private nextKey = 0;
  /** The number of failed tries that was reported last for the newest repeated request, by its key. */
  private readonly retries = new Map<number, number>();
  /** The calls that have not ended, by key, with the state that was reported last. */
  private readonly open = new Map<number, CallState>();
  /** The progress of running calls that was reported last, by key, with its time. */
  private readonly progress = new Map<number, { readonly line: string; readonly at: number }>();
  /** The part of the streamed answer that has been written. */
  private written = '';
  /** Whether the thinking before the streamed answer has been written. */
  private isThinkingWritten = false;
  /** The amount of thinking that the user wants to see. */
  private thinking: ThinkingDisplay = 'short';
  /** The messages that the user typed in this terminal, which need not be written again. */
  private readonly typed: string[] = [];

  constructor(pen: Pen) {
    this.pen = pen;
  }

  /** Notes a message that the user typed in this terminal. */
  noteTyped(text: string): void {
    this.typed.push(text);
  }

  /**
   * Returns the lines that are new since the last call. `now`: a time in milliseconds that only goes forward. `thinking`:
   * what is shown of it; only `full` shows any in plain lines.
   */
  newLines(
    transcript: Transcript,
    now: number,
    thinking: ThinkingDisplay = 'short',
  ): readonly string[] {
    const { entries, nextKey } = transcript;
    this.thinking = thinking;
    const lines = [...this.callLines(entries, now), ...this.retryLines(entries)];
    const first = entries.findLastIndex(({ key }) => key < this.nextKey) + 1;
    for (const entry of entries.slice(first)) lines.push(...this.entryLines(entry));
    this.nextKey = nextKey;
    lines.push(...this.streamLines(transcript.stream));
    return lines;
  }

  private callLines(entries: readonly Entry[], now: number): string[] {
    const lines: string[] = [];
    for (const [key, reported] of this.open) {
      const entry = entries.findLast((each) => each.key === key);
      if (entry?.kind !== 'call') this.open.delete(key);
      else if (entry.state !== reported) lines.push(...this.reportCall(entry));
      else lines.push(...this.progressLines(entry, now));
      if (!this.open.has(key)) this.progress.delete(key);
    }
    return lines;
  }

  /** Reports the progress of a running call of a server's tool, unless it was reported a moment ago. */
  private progressLines({ key, tool, tail }: CallEntry & { key: number }, now: number): string[] {
    const line = tail.at(-1);
    const last = this.progress.get(key);
    if (line === undefined || !tool.startsWith('mcp__') || line === last?.line) return [];
    if (last !== undefined && now - last.at < PROGRESS_MS) return [];
    this.progress.set(key, { line, at: now });
    return [this.pen.prose('text', `${tool}: ${line}`)];
  }

  /** Reports each further try of a request, because a line cannot be changed. */
  private retryLines(entries: readonly Entry[]): readonly string[] {
    const last = entries.at(-1);
    if (last?.kind !== 'retry' || last.nextAt === null) return [];
    if (!this.retries.has(last.key) || this.retries.get(last.key) === last.failed) return [];
    this.retries.clear();
    return this.entryLines(last);
  }

  private entryLines(entry: Entry): readonly string[] {
    const { pen } = this;
    switch (entry.kind) {
      case 'message':
        return [
          ...this.messageLines(entry.text),
          ...(entry.prompt === undefined ? [] : indented('The prompt says: ', entry.prompt)),
        ];
      case 'answer':
        return this.answerLines(entry.text);
      case 'thinking':
        return this.thinkingLines(entry.text);
      case 'call':
        return this.reportCall(entry);
      case 'note':
        return [pen.prose('text', `${NOTE_WORDS[entry.level]}${entry.text}`)];
      case 'retry':
        this.retries.set(entry.key, entry.failed);
        return [pen.prose('text', `Warning: ${retryText(entry, null)}`)];
      case 'worked':
        return [pen.prose('text', `It ${workedText(entry)}.`)];
      case 'ended':
        return [pen.prose('text', `It ${endText(entry)}`)];
      // The lines about tasks report the end of a task.
      case 'child':
        return [];
      // The output of a shell command is written when the command has ended.
      case 'shell':
        return [];
      case 'page':
        return [
          pen.prose('text', entry.title),
          ...entry.lines.map((line) => `  ${pen.exact('text', line)}`),
        ];
      default:
        return entry satisfies never;
    }
  }

  private messageLines(text: string): readonly string[] {
    const at = this.typed.indexOf(text);
    if (at === -1) return indented('You: ', text);
    this.typed.splice(0, at + 1);
    return [];
  }

  private answerLines(text: string): readonly string[] {
    const rest = text.startsWith(this.written) ? text.slice(this.written.length) : text;
    this.written = '';
    this.isThinkingWritten = false;
    return rest.trim() === '' ? [] : plainLines(rest.trimEnd()).split('\n');
  }

  /** Returns thinking, unless it was written when the answer began to stream. */
  private thinkingLines(text: string): readonly string[] {
    if (this.thinking !== 'full' || this.isThinkingWritten || text.trim() === '') return [];
    return indented('Thinking: ', text.trim());
  }

  /** Returns the complete lines of a streamed answer, and the thinking before them. */
  private streamLines({ text, thinking }: Transcript['stream']): readonly string[] {
    if (text === '') return [];
    // The answer was requested again, or its beginning is no longer kept. Then it is written in full at its end.
    if (!text.startsWith(this.written)) return [];
    const end = text.lastIndexOf('\n') + 1;
    const more = text.slice(this.written.length, end);
    if (more === '') return [];
    this.written = text.slice(0, end);
    const thought = this.thinkingLines(thinking);
    this.isThinkingWritten ||= thought.length > 0;
    return [...thought, ...plainLines(more.slice(0, -1)).split('\n')];
  }

  private reportCall(call: CallEntry & { readonly key: number }): readonly string[] {
    const isOver = call.state !== 'requested' && call.state !== 'running';
    const wasReported = this.open.get(call.key) === 'running';
    if (isOver) this.open.delete(call.key);
    else this.open.set(call.key, call.state);
    // Calls of Task are reported by the lines about tasks.
    const isTask = call.tool === 'Task' && call.state !== 'refused';
    if (call.state === 'requested' || isTask) return [];
    if (call.todos !== null) return isOver ? [this.pen.prose('text', todoText(call.todos))] : [];
    const name = `${call.tool}${call.subject === '' ? '' : `: ${call.subject}`}`;
    if (!isOver) return [this.pen.exact('text', name)];
    const isBrief =
      call.state === 'done' && !hasFailedCommand(call) && (call.ms ?? 0) < LONG_CALL_MS;
    if (isBrief) return wasReported ? [] : [this.pen.exact('text', name)];
    return [this.pen.exact('text', `${endWords(call)}: ${name}`), ...this.why(call)];
  }

  private why(call: CallEntry): readonly string[] {
    const lines = hasFailedCommand(call) ? call.tail : call.output.trimStart().split('\n', 1);
    if (call.state === 'done' && !hasFailedCommand(call)) return [];
    return lines.map((line) => `  ${this.pen.prose('text', line)}`);
  }
}

const NOTE_WORDS = { info: '', warning: 'Warning: ', error: 'Error: ' } as const;

const END_WORDS: Readonly<Partial<Record<CallState, string>>> = {
  failed: 'Failed',
  stopped: 'Stopped',
  refused: 'Refused',
};

function endWords(call: CallEntry): string {
  const { state, ms, outputLines, exitCode } = call;
  const word = END_WORDS[state];
  if (word !== undefined) return word;
  if (hasFailedCommand(call)) return `Exit code ${exitCode} after ${formatDuration(ms ?? 0)}`;
  return `Done after ${formatDuration(ms ?? 0)}, ${plural(outputLines, 'line')}`;
}

function todoText(todos: readonly TodoItem[]): string {
  const done = todos.filter(({ status }) => status === 'completed').length;
  const current = todos.find(({ status }) => status === 'in_progress');
  const rest = current === undefined ? '' : `, now: ${current.content}`;
  return `To do: ${done} of ${todos.length} done${rest}`;
}

function indented(head: string, text: string): readonly string[] {
  return plainLines(text)
    .split('\n')
    .map((line, index) => (index === 0 ? `${head}${line}` : `  ${line}`));
}

/** The minimum time in the queue for a report. A task that waits for a shorter time is reported when it starts. */
const SHORT_WAIT_MS = 1_000;

/** The number of known tasks from which those that are no longer in the tree are forgotten. */
const MAX_KNOWN = 2_000;

/**
 * Returns a function that writes a line for each task that has started, waited, continued or ended since the last call.
 */
export function createTaskLines(pen: Pen): (ui: DisplayedTree, now: number) => readonly string[] {
  const known = new Map<string, string>();
  return (ui, now) => {
    const lines: string[] = [];
    for (const row of ui.rows.values()) {
      if (row.id === ui.root) continue;
      const reported = known.get(row.id);
      const state = describeState(row);
      if (reported === state || (state === 'queued' && now - row.since < SHORT_WAIT_MS)) continue;
      known.set(row.id, state);
      const what = reported === undefined ? beginText(row, ui) : changeText(row, reported, now);
      lines.push(pen.prose('text', `Task ${row.id.slice(0, 6)} ${row.agent} ${what}`));
    }
    if (known.size <= MAX_KNOWN) return lines;
    for (const id of known.keys()) if (!ui.rows.has(id)) known.delete(id);
    return lines;
  };
}

function describeState({ status, activity }: TreeTask): string {
  return status === 'running' && activity.kind === 'held' ? 'held' : status;
}

function beginText(row: TreeTask, ui: DisplayedTree): string {
  const where = ui.background.has(row.id) ? ' in the background' : '';
  const below = row.depth > 1 ? ` below ${row.parent?.slice(0, 6) ?? ''}` : '';
  const how = row.status === 'queued' ? 'is waiting for its turn' : 'begins';
  const begun = `${how}${where}${below}: ${row.description}`;
  return hasEnded(row) ? `${begun}. It ${taskEndText(row, row.since)}` : begun;
}

function changeText(row: TreeTask, reported: string, now: number): string {
  if (hasEnded(row)) return taskEndText(row, now);
  if (row.activity.kind === 'held') return `is waiting for ${row.activity.because}`;
  if (row.status === 'parked') return 'is waiting for an answer';
  return reported === 'queued' ? 'begins' : 'continues';
}

function taskEndText(row: TreeTask, now: number): string {
  const why = row.endReason === null ? '' : `: ${row.endReason}`;
  const said = row.lastLine === '' || row.endReason !== null ? '' : `: ${row.lastLine}`;
  const took = shortTime((row.endedAt ?? now) - row.since);
  const refused = row.refusedCount === 0 ? '' : `, ${plural(row.refusedCount, 'call')} refused`;
  const posted = row.findingCount === 0 ? '' : `, ${plural(row.findingCount, 'finding')} posted`;
  return `${row.status}${refused}${posted} after ${took}, ${plural(row.turns, 'turn')}${why}${said}`;
}
