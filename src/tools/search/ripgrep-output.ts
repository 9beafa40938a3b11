import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import {
  BINARY_SAMPLE_BYTES,
  LONG_LINE_CHARACTERS,
  MAX_SPANS,
  type FileHits,
  type SearchLine,
  type SearchLimits,
  type SearchScope,
  type TextSpan,
} from './search-types.ts';

/**
 * Collects the hits from ripgrep's JSON lines. The hits of a file are added after its last line, and only if the file
 * is text.
 */
export class HitCollector {
  readonly files: FileHits[] = [];
  /** Whether ripgrep has written its summary. It writes none for a pattern that it cannot use. */
  hasSummary = false;
  readonly #scope: SearchScope;
  readonly #limits: SearchLimits;
  #matches = 0;
  #path = '';
  #accepted = false;
  #lines: SearchLine[] = [];
  #fileMatches = 0;

  constructor(scope: SearchScope, limits: SearchLimits) {
    this.#scope = scope;
    this.#limits = limits;
  }

  get isFull(): boolean {
    const { maxFiles, maxMatches } = this.#limits;
    return this.files.length >= maxFiles || this.#matches >= maxMatches;
  }

  /** Reads one JSON line. Returns false if no more lines are needed. */
  readRecord(record: string): boolean {
    if (record === '') return true;
    const event: unknown = JSON.parse(record);
    if (!isJsonObject(event) || !isJsonObject(event['data'])) return true;
    const data = event['data'];
    switch (event['type']) {
      case 'begin':
        // The path of text that is piped in is `<stdin>`.
        this.#begin(this.#scope.file ?? decodeField(data['path']).replace(/^\.\//, ''));
        return true;
      case 'match':
        this.#fileMatches += 1;
        this.#add(data, { matches: true });
        return true;
      case 'context':
        this.#add(data, { matches: false });
        return true;
      case 'end':
        this.#end(data['binary_offset']);
        return !this.isFull;
      case 'summary':
        this.hasSummary = true;
        return true;
      default:
        return true;
    }
  }

  #begin(path: string): void {
    this.#path = path;
    this.#accepted = this.#scope.accepts(path);
    this.#lines = [];
    this.#fileMatches = 0;
  }

  #add(data: JsonObject, kind: { readonly matches: boolean }): void {
    const first = data['line_number'];
    if (!this.#accepted || typeof first !== 'number') return;
    this.#lines.push(...parseRecordLines(data, { first, matches: kind.matches }));
  }

  #end(binaryOffset: JsonValue | undefined): void {
    const binary = typeof binaryOffset === 'number' && binaryOffset < BINARY_SAMPLE_BYTES;
    if (!this.#accepted || binary || this.#fileMatches === 0) return;
    this.#matches += this.#fileMatches;
    this.files.push({ path: this.#path, lines: this.#lines, matches: this.#fileMatches });
  }
}

/**
 * Returns the lines of a `match` or `context` record of ripgrep.
 *
 * @param first the number of the first line
 */
function parseRecordLines(
  data: JsonObject,
  { first, matches }: { readonly first: number; readonly matches: boolean },
): readonly SearchLine[] {
  const all = decodeField(data['lines']);
  const lines: SearchLine[] = [];
  let spans: readonly TextSpan[] | undefined;
  let start = 0;
  for (const [index, rawLine] of all.replace(/\n$/, '').split('\n').entries()) {
    const text = rawLine.replace(/\r$/, '');
    const line = { number: first + index, text, matches };
    if (matches && text.length > LONG_LINE_CHARACTERS) {
      spans ??= parseSubmatches(data, all);
      lines.push({ ...line, spans: clipSpans(spans, start, start + text.length) });
    } else {
      lines.push(line);
    }
    start += rawLine.length + 1;
  }
  return lines;
}

/** Returns the parts of spans between two positions, relative to the first position. */
function clipSpans(spans: readonly TextSpan[], start: number, end: number): readonly TextSpan[] {
  return spans
    .filter(([from, to]) => from <= end && to >= start)
    .map(([from, to]): TextSpan => [Math.max(from, start) - start, Math.min(to, end) - start])
    .slice(0, MAX_SPANS);
}

/** Returns the matches in a record as positions in its text. The record itself gives positions in bytes. */
function parseSubmatches(data: JsonObject, text: string): readonly TextSpan[] {
  const all: unknown = data['submatches'];
  if (!Array.isArray(all)) return [];
  const bytes = decodeBytes(data['lines']) ?? Buffer.from(text);
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

/** Decodes a field of a record. The field has plain text, or base64 if the text is not UTF-8. */
function decodeField(value: JsonValue | undefined): string {
  if (isJsonObject(value) && typeof value['text'] === 'string') return value['text'];
  return decodeBytes(value)?.toString('utf8') ?? '';
}

function decodeBytes(value: JsonValue | undefined): Buffer | undefined {
  const bytes = isJsonObject(value) ? value['bytes'] : undefined;
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : undefined;
}
