import { plural } from '../../../base/text.ts';
import type { Transcript } from '../view/transcript.ts';
import { answerLines, blockLines, thinkingLines, type BlockLook } from './block-lines.ts';
import type { LineCache } from './line-cache.ts';
import { fit } from './fit.ts';
import { endOf } from '../view/cut-text.ts';
import type { Pen } from './pen.ts';
import type { Parts } from './viewport.ts';

/** Of an answer that is being written: drawn anew with each piece. */
const MOST_DRAWN = 16 * 1024;

/** A conversation as parts: what stands `above` or is older than the first block, the blocks, and what is being written. */
export function conversationParts(
  transcript: Transcript,
  look: BlockLook & { readonly above: readonly string[] },
  { pen, cache }: { readonly pen: Pen; readonly cache: LineCache },
): Parts {
  const { blocks, dropped, stream } = transcript;
  const how = `${look.width} ${look.isExpanded}`;
  const before = dropped === 0 ? look.above : [droppedLine(transcript, look.width, pen)];
  const streamed = streamLines(stream, look, pen);
  return {
    count: blocks.length + 2,
    part: (index) => {
      if (index === 0) return { key: -1, lines: before };
      const block = blocks[index - 1];
      if (block === undefined) return { key: transcript.nextKey, lines: streamed };
      const lines = cache.get(block, how, () => blockLines(block, look, pen));
      return { key: block.key, lines };
    },
  };
}

function droppedLine({ dropped, task }: Transcript, width: number, pen: Pen): string {
  const text = `… ${plural(dropped, 'older entry', 'older entries')}: muster tasks log ${task ?? ''}`;
  return fit(pen.prose('dim', text), width);
}

function streamLines(
  { text, thinking }: Transcript['stream'],
  look: BlockLook,
  pen: Pen,
): readonly string[] {
  const thoughts =
    thinking === '' || text !== ''
      ? []
      : thinkingLines(look.isExpanded ? thinking : endOf(thinking, look.width * 2), look, pen);
  const answer = text === '' ? [] : ['', ...answerLines(endOf(text, MOST_DRAWN), look.width, pen)];
  return [...thoughts, ...answer];
}
