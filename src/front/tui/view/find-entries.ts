import type { Block } from './block.ts';
import { visitDropped, type ScanLog } from './earlier.ts';
import { entryText } from './entry-text.ts';
import { countMatches } from './search-pattern.ts';
import type { Transcript } from './transcript.ts';

/** An entry in which something stands that is looked for, and how often. */
export interface Found {
  readonly key: number;
  readonly count: number;
}

/** In what is at hand, from the first entry on. */
export function findAtHand({ earlier, blocks }: Transcript, pattern: RegExp): readonly Found[] {
  return [...(earlier?.blocks ?? []), ...blocks].flatMap((block) => foundIn(block, pattern));
}

/** In all that there is: what was dropped is read again, which takes as long as reading the log. */
export function findInAll(
  transcript: Transcript,
  scan: ScanLog,
  pattern: RegExp,
): readonly Found[] {
  const found: Found[] = [];
  visitDropped(transcript, scan, (block) => found.push(...foundIn(block, pattern)));
  return [...found, ...transcript.blocks.flatMap((block) => foundIn(block, pattern))];
}

function foundIn(block: Block, pattern: RegExp): readonly Found[] {
  const count = countMatches(pattern, entryText(block));
  return count === 0 ? [] : [{ key: block.key, count }];
}
