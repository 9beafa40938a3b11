import type { Block } from './block.ts';
import { visitDropped, type ScanLog } from './earlier-entries.ts';
import type { Transcript } from './transcript.ts';
import { terminalText } from '../../../base/terminal-text.ts';
import type { DiffLine } from './text-diff.ts';

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

/** What an entry says, unfolded, as plain text: what a search looks through. */
function entryText(block: Block): string {
  return terminalText(rawText(block), 'prose');
}

function rawText(block: Block): string {
  switch (block.kind) {
    case 'said':
    case 'answer':
    case 'thinking':
    case 'note':
      return block.text;
    case 'ended':
      return `${block.status}: ${block.because}`;
    case 'page':
      return [block.title, ...block.lines].join('\n');
    case 'call': {
      const changed = block.edits.flatMap(({ lines }) => lines.map(lineText));
      return [`${block.tool} ${block.subject}`, ...changed, block.output].join('\n');
    }
    case 'shell':
      return `!${block.command}\n${block.output}`;
    default:
      return block satisfies never;
  }
}

function lineText(line: DiffLine): string {
  return line.sign === '…' ? '' : line.text;
}

/** Of what is looked for, in UTF-16 units. */
const MOST = 200;

/**
 * What finds a text: case does not matter, and where it has white space, any will do, the end of a line,
 * too. Null: there is nothing to look for.
 */
export function searchPattern(typed: string): RegExp | null {
  const words = typed
    .trim()
    .slice(0, MOST)
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length === 0) return null;
  return new RegExp(words.map(escaped).join(String.raw`\s+`), 'giu');
}

/** How often it stands there. */
function countMatches(pattern: RegExp, text: string): number {
  return [...text.matchAll(pattern)].length;
}

function escaped(word: string): string {
  return word.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`);
}
