import type { Detail, ThinkingDisplay } from '../../../protocol/terminal-settings.ts';
import { plural } from '../../../base/text.ts';
import type { Search } from '../model/app-state.ts';
import { groupCalls, type CallGroup } from '../model/call-groups.ts';
import type { Entry } from '../model/entry.ts';
import { textEnd } from '../model/cut-text.ts';
import { gapCount, olderCount } from '../model/earlier-entries.ts';
import type { Transcript } from '../model/transcript.ts';
import type { EntryStyle } from './call-lines.ts';
import { answerLines, entryLines, thinkingLines } from './entry-lines.ts';
import { groupLine, memberLine } from './delegation-lines.ts';
import { fitLine } from './fit.ts';
import type { Pen } from './pen.ts';
import { markMatches } from './search-marks.ts';
import type { Parts } from './viewport.ts';

/** The maximum length of the drawn end of an answer that is being written, because it is drawn again with each piece. */
const MAX_DRAWN = 24 * 1024;
/** The length by which the beginning is dropped, so that the rest begins at the same place for many pieces. */
const DROP_STEP = 8 * 1024;

/** The way in which a conversation is shown. */
export interface ConversationStyle extends Pick<
  EntryStyle,
  'pen' | 'width' | 'fullTextKeys' | 'now' | 'tasksKey'
> {
  /** How much the entries show that are not unfolded. */
  readonly detail: Detail;
  /** The lines above the first entry. */
  readonly above: readonly string[];
  /** The keys of the unfolded entries. */
  readonly toggled: ReadonlySet<number>;
  /** The key of the selected entry; null if entries don't have the focus. */
  readonly chosen: number | null;
  readonly search: Pick<Search, 'pattern' | 'current'> | null;
  readonly thinking: ThinkingDisplay;
}

/**
 * Splits a conversation into parts: the lines above it, the entries read back from the log, the entries in memory, the
 * answer that is being written, and the messages that no request contains yet.
 */
export function conversationParts(transcript: Transcript, style: ConversationStyle): Parts {
  const { entries, earlier, stream, waiting, nextKey } = transcript;
  const newestTodos = newestTodoCall(entries);
  const folded: EntryStyle = { ...style, level: style.detail, newestTodos };
  const read = earlier?.entries ?? [];
  const lastRead = read.at(-1);
  const gap = gapCount(transcript);
  const entryParts = (list: readonly Entry[], before?: Entry) => {
    const groups = groupCalls(list);
    return list.map((entry, index) => {
      const isReply = (list[index - 1] ?? before)?.kind === 'message';
      const group = groups.get(entry.key);
      const framed = { ...style, newestTodos, isReply, group };
      return { key: entry.key, draw: () => framedEntry(entry, framed) };
    });
  };
  const parts: readonly { readonly key: number; readonly draw: () => readonly string[] }[] = [
    { key: -1, draw: once(() => linesAbove(transcript, style)) },
    ...entryParts(read),
    {
      key: lastRead === undefined ? -0.5 : lastRead.key + 0.5,
      draw: () => countLine(gap, 'entry between', 'entries between', style),
    },
    ...entryParts(entries, gap === 0 ? lastRead : undefined),
    { key: nextKey, draw: once(() => streamLines(stream, { ...folded, shows: style.thinking })) },
    ...waiting.map((message, index) => ({
      key: nextKey + index + 1,
      draw: () => entryLines({ key: 0, ...message }, folded),
    })),
  ];
  return {
    count: parts.length,
    part: (index) => {
      const part = parts[index];
      if (part === undefined) throw new RangeError(`a conversation has no part ${index}`);
      return { key: part.key, lines: part.draw() };
    },
  };
}

/** Returns the id of the newest call that set a todo list; null if there is none in memory. */
function newestTodoCall(entries: readonly Entry[]): string | null {
  const call = entries.findLast((entry) => entry.kind === 'call' && entry.todos !== null);
  return call?.kind === 'call' ? call.callId : null;
}

/** Whether an entry shows everything that is kept of it. */
export function isUnfolded(
  key: number,
  { toggled, search }: Pick<ConversationStyle, 'toggled' | 'search'>,
): boolean {
  return search?.current?.key === key || toggled.has(key);
}

/** Whether the user looks at an entry: it is the current match, is selected, or was unfolded. */
function isMarked(key: number, { chosen, search, toggled }: ConversationStyle): boolean {
  return search?.current?.key === key || chosen === key || toggled.has(key);
}

/** Draws an entry. The current match and the selected entry get a sign, because not every terminal has colors. */
function framedEntry(
  entry: Entry,
  style: ConversationStyle &
    Pick<EntryStyle, 'newestTodos'> & {
      readonly isReply: boolean;
      readonly group: CallGroup | undefined;
    },
): readonly string[] {
  const { pen, group } = style;
  const { key } = entry;
  const pattern = style.search?.pattern ?? null;
  const current = style.search?.current ?? null;
  const isThinking = entry.kind === 'thinking';
  // A thought that a search finds, or that the user has chosen, is shown in any case.
  if (isThinking && style.thinking === 'hidden' && !isMarked(key, style)) return [];
  const isOpen =
    isThinking && style.thinking === 'full' ? !style.toggled.has(key) : isUnfolded(key, style);
  const level = isOpen ? 'unfolded' : style.detail;
  const line = current?.key === key ? current.line : null;
  const isSigned = line !== null || style.chosen === key;
  const width = isSigned ? Math.max(1, style.width - 2) : style.width;
  const { newestTodos } = style;
  const isNewest = entry.kind === 'call' && entry.callId === newestTodos;
  const how = `${width} ${level} ${isNewest}`;
  const draw = () => entryLines(entry, { ...style, width, level });
  const single = isLive(entry) ? draw : () => pen.keep(entry, how, draw);
  const own = group === undefined ? single() : groupedLines(entry, group, { ...style, width });
  // An empty line separates a message from the reply.
  const drawn = style.isReply && own[0] !== '' ? ['', ...own] : own;
  const lines = pattern === null ? drawn : markMatches(drawn, pattern, line, pen);
  if (!isSigned) return lines;
  const signed = line ?? lines.findIndex((each) => each !== '');
  return lines.map((each, index) => `${sign(index === signed, pen)}${each}`);
}

/**
 * Draws a call of a block of equal calls: the first call with the line of the block, the others only if the block is
 * unfolded or if they are unfolded themselves.
 */
function groupedLines(
  entry: Entry,
  group: CallGroup,
  style: ConversationStyle & Pick<EntryStyle, 'newestTodos'>,
): readonly string[] {
  const { pen, width, toggled, search } = style;
  if (entry.kind !== 'call') return [];
  const [first] = group.calls;
  const isFirst = entry.key === first?.key;
  const isOpen = first !== undefined && isUnfolded(first.key, style);
  const isFound = search?.current?.key === entry.key;
  const isDetailed = isFound || (!isFirst && toggled.has(entry.key));
  const head = isFirst ? pen.keep(group, `${width}`, () => [groupLine(group, style)]) : [];
  if (!isOpen && !isDetailed) return head;
  const how = `member ${width} ${isDetailed}`;
  const own = pen.keep(entry, how, () => [
    memberLine(entry, group, style),
    ...(isDetailed ? entryLines(entry, { ...style, level: 'unfolded' }).slice(1) : []),
  ]);
  return [...head, ...own];
}

/** Whether an entry shows the time to come, so that it is drawn anew for each frame. */
function isLive(entry: Entry): boolean {
  return entry.kind === 'retry' && entry.nextAt !== null;
}

function sign(isHere: boolean, pen: Pen): string {
  return isHere ? `${pen.paint('accent', '▶')} ` : '  ';
}

function linesAbove(transcript: Transcript, style: ConversationStyle): readonly string[] {
  const older = olderCount(transcript);
  const { unreadable: lost } = transcript;
  if (older > 0) return countLine(older + lost, 'older entry', 'older entries', style);
  if (lost === 0) return style.above;
  return countLine(lost, 'older entry, in the logs', 'older entries, in the logs', style);
}

function countLine(
  count: number,
  one: string,
  many: string,
  { pen, width }: ConversationStyle,
): readonly string[] {
  if (count === 0) return [];
  return [fitLine(pen.prose('dim', `… ${plural(count, one, many)}`), width)];
}

function streamLines(
  { text, thinking }: Transcript['stream'],
  { shows, ...style }: EntryStyle & { readonly shows: ThinkingDisplay },
): readonly string[] {
  const { width } = style;
  const isFull = shows === 'full';
  const thoughts =
    thinking === '' || text !== '' || shows === 'hidden'
      ? []
      : thinkingLines(isFull ? thinking : textEnd(thinking, width * 2), {
          ...style,
          level: isFull ? 'unfolded' : style.level,
        });
  const answer = text === '' ? [] : ['', ...answerLines(drawnEnd(text), style, 'open')];
  return [...thoughts, ...answer];
}

/** Returns the end of an answer that is being written. */
function drawnEnd(text: string): string {
  const extra = Math.max(0, text.length - MAX_DRAWN);
  return textEnd(text, text.length - Math.ceil(extra / DROP_STEP) * DROP_STEP);
}

/** Returns a function that calls `draw` only once, since the same part is requested several times for a frame. */
function once(draw: () => readonly string[]): () => readonly string[] {
  let lines: readonly string[] | null = null;
  return () => (lines ??= draw());
}
