/** A part of a text, in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Longer lines are not looked into. */
const MOST = 400;
/** Of the longer line, that must be the same: else it is another line, and no change of that one. */
const SAME_SHARE = 1 / 3;

let words: Intl.Segmenter | null = null;

/** What two lines differ in, whole words and whole characters; null: in too much to point at. */
export function changedWords(
  before: string,
  after: string,
): { readonly before: Span; readonly after: Span } | null {
  if (before.length > MOST || after.length > MOST) return null;
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const most = Math.min(old.length, now.length);
  let start = 0;
  let from = 0;
  while (start < most && old[start] === now[start]) {
    from += old[start]?.length ?? 0;
    start += 1;
  }
  let end = 0;
  let behind = 0;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) {
    behind += old.at(-1 - end)?.length ?? 0;
    end += 1;
  }
  const same = (before.slice(0, from) + before.slice(before.length - behind)).trim().length;
  if (same < Math.max(before.trim().length, after.trim().length) * SAME_SHARE) return null;
  return {
    before: { from, to: before.length - behind },
    after: { from, to: after.length - behind },
  };
}

function wordsOf(line: string): readonly string[] {
  words ??= new Intl.Segmenter('en', { granularity: 'word' });
  return Array.from(words.segment(line), ({ segment }) => segment);
}
