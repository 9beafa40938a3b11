import type { ThinkingDisplay } from '../../../protocol/thinking-display.ts';
import { plural } from '../../../base/text.ts';
import type { Search } from '../model/app-state.ts';
import type { Entry } from '../model/entry.ts';
import { textEnd } from '../model/cut-text.ts';
import { gapCount, olderCount } from '../model/earlier-entries.ts';
import type { Transcript } from '../model/transcript.ts';
import { answerLines, entryLines, thinkingLines, type EntryStyle } from './entry-lines.ts';
import { fitLine } from './fit.ts';
import type { Pen } from './pen.ts';
import { markMatches } from './search-marks.ts';
import type { Parts } from './viewport.ts';

/** The maximum length of the drawn end of an answer that is being written, because it is drawn again with each piece. */
const MAX_DRAWN = 16 * 1024;

/** The way in which a conversation is shown. */
export interface ConversationStyle extends EntryStyle {
  /** The lines above the first entry. */
  readonly above: readonly string[];
  /** The keys of the entries for which `isExpanded` is reversed. */
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
  const read = earlier?.entries ?? [];
  const lastRead = read.at(-1);
  const gap = gapCount(transcript);
  const entryParts = (list: readonly Entry[], before?: Entry) =>
    list.map((entry, index) => {
      const isReply = (list[index - 1] ?? before)?.kind === 'message';
      return { key: entry.key, draw: () => framedEntry(entry, { ...style, isReply }) };
    });
  const parts: readonly { readonly key: number; readonly draw: () => readonly string[] }[] = [
    { key: -1, draw: once(() => linesAbove(transcript, style)) },
    ...entryParts(read),
    {
      key: lastRead === undefined ? -0.5 : lastRead.key + 0.5,
      draw: () => countLine(gap, 'entry between', 'entries between', style),
    },
    ...entryParts(entries, gap === 0 ? lastRead : undefined),
    { key: nextKey, draw: once(() => streamLines(stream, style)) },
    ...waiting.map((message, index) => ({
      key: nextKey + index + 1,
      draw: () => entryLines({ key: 0, ...message }, style),
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

/** Whether an entry shows more than one line. */
export function isUnfolded(
  key: number,
  { isExpanded, toggled, search }: Pick<ConversationStyle, 'isExpanded' | 'toggled' | 'search'>,
): boolean {
  return search?.current?.key === key || isExpanded !== toggled.has(key);
}

/** Whether the user looks at an entry: it is the current match, is selected, or was unfolded. */
function isMarked(key: number, { chosen, search, toggled }: ConversationStyle): boolean {
  return search?.current?.key === key || chosen === key || toggled.has(key);
}

/** Draws an entry. The current match and the selected entry get a sign, because not every terminal has colors. */
function framedEntry(
  entry: Entry,
  style: ConversationStyle & { readonly isReply: boolean },
): readonly string[] {
  const { pen } = style;
  const { key } = entry;
  const pattern = style.search?.pattern ?? null;
  const current = style.search?.current ?? null;
  const isThinking = entry.kind === 'thinking';
  // A thought that a search finds, or that the user has chosen, is shown in any case.
  if (isThinking && style.thinking === 'hidden' && !isMarked(key, style)) return [];
  const isExpanded =
    isThinking && style.thinking === 'full' ? !style.toggled.has(key) : isUnfolded(key, style);
  const line = current?.key === key ? current.line : null;
  const isSigned = line !== null || style.chosen === key;
  const width = isSigned ? Math.max(1, style.width - 2) : style.width;
  const how = `${width} ${isExpanded}`;
  const own = pen.keep(entry, how, () => entryLines(entry, { pen, width, isExpanded }));
  // An empty line separates a message from the reply.
  const drawn = style.isReply && own[0] !== '' ? ['', ...own] : own;
  const lines = pattern === null ? drawn : markMatches(drawn, pattern, line, pen);
  if (!isSigned) return lines;
  const signed = line ?? lines.findIndex((each) => each !== '');
  return lines.map((each, index) => `${sign(index === signed, pen)}${each}`);
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
  style: ConversationStyle,
): readonly string[] {
  const { width } = style;
  const isExpanded = style.thinking === 'full' || style.isExpanded;
  const thoughts =
    thinking === '' || text !== '' || style.thinking === 'hidden'
      ? []
      : thinkingLines(isExpanded ? thinking : textEnd(thinking, width * 2), {
          ...style,
          isExpanded,
        });
  const answer = text === '' ? [] : ['', ...answerLines(textEnd(text, MAX_DRAWN), style, 'open')];
  return [...thoughts, ...answer];
}

/** Returns a function that calls `draw` only once, since the same part is requested several times for a frame. */
function once(draw: () => readonly string[]): () => readonly string[] {
  let lines: readonly string[] | null = null;
  return () => (lines ??= draw());
}
