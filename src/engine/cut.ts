import { estimateTokenCount, sliceByTokens } from 'tokenx';

export interface Cut {
  readonly text: string;
  /** Where the rest begins; null when nothing is left. */
  readonly next: number | null;
}

/** No language packs more characters than this into a token; more of a text need not be looked at. */
const MOST_CHARACTERS_A_TOKEN = 20;

/**
 * The part of a text from `offset` that fits into `maxTokens` (estimated), ended at a paragraph,
 * else a line, else a word. At least one code point, so that paging always comes to an end.
 */
export function cutAtParagraph(whole: string, offset: number, maxTokens: number): Cut {
  const left = whole.length - offset;
  const window = whole.slice(offset, offset + maxTokens * MOST_CHARACTERS_A_TOKEN);
  if (window.length === left && estimateTokenCount(window) <= maxTokens) {
    return { text: window, next: null };
  }
  const fitting = sliceByTokens(window, 0, maxTokens).length;
  const length = goodEnd(window, Math.max(fitting, 1));
  return { text: window.slice(0, length).trimEnd(), next: offset + length };
}

function goodEnd(text: string, limit: number): number {
  for (const boundary of ['\n\n', '\n', ' ']) {
    const at = text.lastIndexOf(boundary, limit - boundary.length);
    // A boundary in the first half would give away too much of what fits.
    if (at > limit / 2) return at + boundary.length;
  }
  const splitsPair = (text.codePointAt(limit - 1) ?? 0) > 0xffff;
  return splitsPair ? limit + 1 : limit;
}
