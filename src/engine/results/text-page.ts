import { prefixLengthWithin, estimateTokensUnrounded } from '../../base/token-estimate.ts';

export interface Cut {
  readonly text: string;
  /** Where the rest begins; null when nothing is left. */
  readonly next: number | null;
}

/** No language packs more characters than this into a token; more of a text need not be looked at. */
const MOST_CHARACTERS_A_TOKEN = 20;

/** Where a text may be cut, the best first: behind a paragraph, a line, a sentence, a word, a value. */
const BOUNDARIES = ['\n\n', '\n\r\n', '\n', '. ', '\u3002', ' ', ','];

/**
 * The part of a text from `offset` that fits into `maxTokens` (estimated), ended at a paragraph,
 * else a line, a sentence, a word. At least one code point, so that paging always comes to an end; an
 * offset in the middle of one counts from its beginning.
 */
export function cutAtParagraph(whole: string, offset: number, maxTokens: number): Cut {
  const start = splitsPair(whole, offset) ? offset - 1 : offset;
  const left = whole.length - start;
  const window = whole.slice(start, start + maxTokens * MOST_CHARACTERS_A_TOKEN);
  if (window.length === left && estimateTokensUnrounded(window) <= maxTokens) {
    return { text: window, next: null };
  }
  const length = goodEnd(window, fittingLength(window, maxTokens));
  return { text: window.slice(0, length).trimEnd(), next: start + length };
}

/** At least 1. */
function fittingLength(text: string, maxTokens: number): number {
  let length = prefixLengthWithin(text, maxTokens);
  // A part of a run can take more than its share of the whole.
  while (length > 1) {
    const tokens = estimateTokensUnrounded(text.slice(0, length));
    if (tokens <= maxTokens) return length;
    length = Math.floor((length * maxTokens) / tokens);
  }
  return 1;
}

function goodEnd(text: string, limit: number): number {
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
