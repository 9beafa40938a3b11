import {
  LONG_LINE_CHARACTERS,
  MAX_SPANS,
  type FoundLine,
  type TextSpan,
} from '../search/search-types.ts';

/** Characters of the line around each match. */
const AROUND = 60;

/**
 * A line as it is shown: of a long one the parts around its matches, or its beginning where it has none. Says what
 * was cut.
 */
export function excerptOf({ text, spans = [] }: FoundLine): string {
  if (text.length <= LONG_LINE_CHARACTERS) return text;
  const windows = windowsAround(spans, text.length);
  const parts = windows.map(([from, to]) => text.slice(wholeFrom(text, from), wholeFrom(text, to)));
  const shown = spans.filter(([from]) =>
    windows.some((window) => from >= window[0] && from <= window[1]),
  );
  const first = windows[0]?.[0] ?? 0;
  const isEnd = (windows.at(-1)?.[1] ?? 0) >= text.length;
  const all = `${spans.length}${spans.length >= MAX_SPANS ? '+' : ''}`;
  const count = spans.length > shown.length ? `, ${shown.length} of ${all} matches shown` : '';
  const place = first === 0 ? '' : `, shown from character ${first + 1} of ${text.length}`;
  return `${first === 0 ? '' : '… '}${parts.join(' … ')}${isEnd ? ' ' : '… '}[line cut${place}${count}]`;
}

/** Parts of the line in its order, which are as long together as a line may be. */
function windowsAround(spans: readonly TextSpan[], length: number): readonly TextSpan[] {
  const windows: [number, number][] = [];
  let left = LONG_LINE_CHARACTERS;
  for (const [start, end] of spans) {
    const last = windows.at(-1);
    const from = Math.max(start - AROUND, last?.[1] ?? 0, 0);
    const to = Math.min(Math.max(end + AROUND, from), length, from + left);
    if (to <= from || (to < end && windows.length > 0)) break;
    if (last !== undefined && from === last[1]) last[1] = to;
    else windows.push([from, to]);
    left -= to - from;
  }
  const last = windows.at(-1);
  if (last === undefined) return [[0, LONG_LINE_CHARACTERS]];
  const more = Math.min(left, length - last[1]);
  last[1] += more;
  const [first] = windows;
  if (first !== undefined) first[0] = Math.max(first[0] - (left - more), 0);
  return windows;
}

/** No character is cut in half. */
function wholeFrom(text: string, at: number): number {
  const isHalf =
    /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1));
  return isHalf ? at - 1 : at;
}
