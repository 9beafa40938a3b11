import { plural } from '../../../base/text.ts';
import type { Block } from '../model/block.ts';
import { endOf } from '../model/cut-text.ts';
import { gapOf, olderThan } from '../model/earlier-entries.ts';
import type { Transcript } from '../model/transcript.ts';
import { answerLines, blockLines, thinkingLines, type BlockLook } from './block-lines.ts';
import { fit } from './fit.ts';
import type { LineCache } from './line-cache.ts';
import { foundLines } from './search-marks.ts';
import type { Pen } from './pen.ts';
import type { Parts } from './viewport.ts';

/** Of an answer that is being written: drawn anew with each piece. */
const MOST_DRAWN = 16 * 1024;

/** What a person has done to a conversation that is looked at. */
export interface ConversationLook extends BlockLook {
  /** What stands above the first entry. */
  readonly above: readonly string[];
  /** Keys of entries that are unfolded where the others are folded, or the other way around. */
  readonly toggled: ReadonlySet<number>;
  /** The key of the entry that the next key unfolds; null: keys are for something else. */
  readonly chosen: number | null;
  /** What is looked for; null: nothing is. `here`: the entry, and its line, that was gone to. */
  readonly search: {
    readonly pattern: RegExp;
    readonly here: { readonly key: number; readonly line: number } | null;
  } | null;
}

interface Tools {
  readonly pen: Pen;
  readonly cache: LineCache;
}

/**
 * A conversation as parts: what stands above, entries that were read again, those kept, what is being written,
 * and what was said meanwhile.
 */
export function conversationParts(
  transcript: Transcript,
  look: ConversationLook,
  tools: Tools,
): Parts {
  const { blocks, earlier, stream, waiting, nextKey } = transcript;
  const read = earlier?.blocks ?? [];
  const last = read.at(-1);
  const gap = gapOf(transcript);
  const gapLines =
    gap === 0 ? [] : [countLine(gap, 'entry between', 'entries between', look, tools)];
  // Each is drawn once a picture, and only when it is in sight.
  const drawBefore = once(() => linesAbove(transcript, look, tools));
  const drawStream = once(() => streamLines(stream, look, tools.pen));
  const between = read.length + 1;
  const end = between + 1 + blocks.length;
  const blockAt = (index: number) =>
    index < between ? read[index - 1] : blocks[index - between - 1];
  const blockBefore = (index: number) => {
    if (index !== between + 1) return blockAt(index - 1);
    return gap === 0 ? last : undefined;
  };
  return {
    count: end + 1 + waiting.length,
    part: (index) => {
      if (index === 0) return { key: -1, lines: drawBefore() };
      if (index === end) return { key: nextKey, lines: drawStream() };
      const said = index > end ? waiting[index - end - 1] : undefined;
      if (said !== undefined) {
        return {
          key: nextKey + index - end,
          lines: blockLines({ key: 0, ...said }, look, tools.pen),
        };
      }
      if (index === between)
        return { key: last === undefined ? -0.5 : last.key + 0.5, lines: gapLines };
      const block = blockAt(index);
      if (block === undefined) throw new RangeError(`a conversation has no part ${index}`);
      const isReply = blockBefore(index)?.kind === 'said';
      return { key: block.key, lines: entryLines(block, { ...look, isReply }, tools) };
    },
  };
}

/** Whether an entry shows more than a line. */
export function isUnfolded(
  key: number,
  { isExpanded, toggled, search }: Pick<ConversationLook, 'isExpanded' | 'toggled' | 'search'>,
): boolean {
  return search?.here?.key === key || isExpanded !== toggled.has(key);
}

/** The line that was gone to, and the entry that is chosen, have a sign: not every terminal has colours. */
function entryLines(
  block: Block,
  look: ConversationLook & { readonly isReply: boolean },
  { pen, cache }: Tools,
): readonly string[] {
  const { key } = block;
  const { search } = look;
  const isExpanded = isUnfolded(key, look);
  const here = search?.here?.key === key ? search.here.line : null;
  const isSigned = here !== null || look.chosen === key;
  const width = isSigned ? Math.max(1, look.width - 2) : look.width;
  const how = `${width} ${isExpanded} ${pen.coloursCode}`;
  const own = cache.get(block, how, () => blockLines(block, { width, isExpanded }, pen));
  // What was said stands apart from what comes of it.
  const drawn = look.isReply && own[0] !== '' ? ['', ...own] : own;
  const lines = search === null ? drawn : foundLines(drawn, search.pattern, here, pen);
  if (!isSigned) return lines;
  const signed = here ?? lines.findIndex((line) => line !== '');
  return lines.map((line, index) => `${mark(index === signed, pen)}${line}`);
}

function mark(isHere: boolean, pen: Pen): string {
  return isHere ? `${pen.paint('accent', '▶')} ` : '  ';
}

function linesAbove(
  transcript: Transcript,
  look: ConversationLook,
  tools: Tools,
): readonly string[] {
  const older = olderThan(transcript);
  const { lost } = transcript;
  if (older > 0) return [countLine(older + lost, 'older entry', 'older entries', look, tools)];
  if (lost === 0) return look.above;
  return [countLine(lost, 'older entry, in the logs', 'older entries, in the logs', look, tools)];
}

function countLine(
  count: number,
  one: string,
  many: string,
  { width }: Pick<ConversationLook, 'width'>,
  { pen }: Pick<Tools, 'pen'>,
): string {
  return fit(pen.prose('dim', `… ${plural(count, one, many)}`), width);
}

function streamLines(
  { text, thinking }: Transcript['stream'],
  { width, isExpanded }: BlockLook,
  pen: Pen,
): readonly string[] {
  const look = { width, isExpanded };
  const thoughts =
    thinking === '' || text !== ''
      ? []
      : thinkingLines(isExpanded ? thinking : endOf(thinking, width * 2), look, pen);
  const answer =
    text === '' ? [] : ['', ...answerLines(endOf(text, MOST_DRAWN), { width, isOpen: true }, pen)];
  return [...thoughts, ...answer];
}

function once(draw: () => readonly string[]): () => readonly string[] {
  let lines: readonly string[] | null = null;
  return () => (lines ??= draw());
}
