import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { LONG_LINE_CHARACTERS, MAX_SPANS, type FoundLine, type TextSpan } from './search-types.ts';

/** The lines of one of ripgrep's `match` or `context` records, from line `first` on. */
export function foundLines(
  data: JsonObject,
  { first, matches }: { readonly first: number; readonly matches: boolean },
): readonly FoundLine[] {
  const all = textOf(data['lines']);
  const lines: FoundLine[] = [];
  let spans: readonly TextSpan[] | undefined;
  let start = 0;
  for (const [index, whole] of all.replace(/\n$/, '').split('\n').entries()) {
    const text = whole.replace(/\r$/, '');
    const line = { number: first + index, text, matches };
    if (matches && text.length > LONG_LINE_CHARACTERS) {
      spans ??= submatches(data, all);
      lines.push({ ...line, spans: spansWithin(spans, start, start + text.length) });
    } else {
      lines.push(line);
    }
    start += whole.length + 1;
  }
  return lines;
}

/** The parts of spans that lie between two places, counted from the first of them. */
function spansWithin(spans: readonly TextSpan[], start: number, end: number): readonly TextSpan[] {
  return spans
    .filter(([from, to]) => from <= end && to >= start)
    .map(([from, to]): TextSpan => [Math.max(from, start) - start, Math.min(to, end) - start])
    .slice(0, MAX_SPANS);
}

/** ripgrep counts bytes. */
function submatches(data: JsonObject, text: string): readonly TextSpan[] {
  const all: unknown = data['submatches'];
  if (!Array.isArray(all)) return [];
  const bytes = rawBytes(data['lines']) ?? Buffer.from(text);
  let at = 0;
  let index = 0;
  const indexOf = (byte: number): number => {
    index += bytes.toString('utf8', at, byte).length;
    at = byte;
    return index;
  };
  return all.slice(0, MAX_SPANS * 4).flatMap((each: unknown): TextSpan[] => {
    if (!isJsonObject(each)) return [];
    const { start, end } = each;
    if (typeof start !== 'number' || typeof end !== 'number' || start < at) return [];
    return [[indexOf(start), indexOf(end)]];
  });
}

/** ripgrep gives text, or base64 where it is not UTF-8. */
export function textOf(value: JsonValue | undefined): string {
  if (isJsonObject(value) && typeof value['text'] === 'string') return value['text'];
  return rawBytes(value)?.toString('utf8') ?? '';
}

function rawBytes(value: JsonValue | undefined): Buffer | undefined {
  const bytes = isJsonObject(value) ? value['bytes'] : undefined;
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : undefined;
}
