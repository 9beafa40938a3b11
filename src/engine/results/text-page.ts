import { prefixLengthWithin, estimateTokensUnrounded } from '../../base/token-estimate.ts';

/** A page of a text. */
export interface TextPage {
  readonly text: string;
  /** The offset of the rest; null if nothing remains. */
  readonly next: number | null;
}

/** The most characters that a token holds in any language; no more of a text need be read. */
const MAX_CHARACTERS_PER_TOKEN = 20;

/** The boundaries at which a text may be cut, the best first: paragraph, line, sentence, word, value. */
const BOUNDARIES = ['\n\n', '\n\r\n', '\n', '. ', '\u3002', ' ', ','];

/**
 * Returns the part of a text from `offset` that fits into `maxTokens` (estimated). It ends at a paragraph if
 * possible, or else at a line, a sentence or a word. It holds at least one code point, so that paging always ends;
 * an offset within a code point counts from its start.
 */
export function cutPage(whole: string, offset: number, maxTokens: number): TextPage {
  const start = splitsPair(whole, offset) ? offset - 1 : offset;
  const remaining = whole.length - start;
  const window = whole.slice(start, start + maxTokens * MAX_CHARACTERS_PER_TOKEN);
  if (window.length === remaining && estimateTokensUnrounded(window) <= maxTokens) {
    return { text: window, next: null };
  }
  const length = findBoundary(window, findFittingLength(window, maxTokens));
  return { text: window.slice(0, length).trimEnd(), next: start + length };
}

/** Returns the length of the beginning that fits; at least 1. */
function findFittingLength(text: string, maxTokens: number): number {
  let length = prefixLengthWithin(text, maxTokens);
  // A part of a run can take more than its share of the tokens.
  while (length > 1) {
    const tokens = estimateTokensUnrounded(text.slice(0, length));
    if (tokens <= maxTokens) return length;
    length = Math.floor((length * maxTokens) / tokens);
  }
  return 1;
}

function findBoundary(text: string, limit: number): number {
  for (const boundary of BOUNDARIES) {
    const at = text.lastIndexOf(boundary, limit - boundary.length);
    // A boundary in the first half would give away too much of what fits.
    if (at > limit / 2) return at + boundary.length;
  }
  if (!splitsPair(text, limit)) return limit;
  return limit === 1 ? 2 : limit - 1;
}

function splitsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
