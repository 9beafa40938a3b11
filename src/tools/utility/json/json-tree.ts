import { MusterError } from '../../../base/errors.ts';

/**
 * JSON as it was written. Numbers and strings keep every digit and escape, and objects keep all members in their order,
 * while `JSON.parse` rounds large numbers and drops members with the same name.
 */
export type JsonNode =
  /** A string, number, `true`, `false` or `null`. */
  | { readonly kind: 'scalar'; readonly raw: string }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] };

/** A member of an object. */
export interface JsonMember {
  readonly name: string;
  /** The name as it was written, with its quotes. */
  readonly raw: string;
  readonly value: JsonNode;
}

/** The deepest nesting that is read, because each level takes a frame of the call stack. */
const MAX_DEPTH = 500;
const MAX_SHOWN = 20;

const BLANKS = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex -- what JSON forbids in strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
// oxlint-disable-next-line no-control-regex -- what JSON forbids in strings
const STRING_BODY = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/**
 * Parses JSON. Throws INVALID_PARAM with line and column for other text, and LIMIT_EXCEEDED for text that is nested
 * too deeply.
 */
export function parseJson(text: string): JsonNode {
  const reader = new JsonReader(text.startsWith('\uFEFF') ? text.slice(1) : text);
  const node = reader.value(0);
  reader.end();
  return node;
}

class JsonReader {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  value(depth: number): JsonNode {
    if (depth > MAX_DEPTH) {
      throw new MusterError('LIMIT_EXCEEDED', `text: is nested deeper than ${MAX_DEPTH} levels`);
    }
    this.take(BLANKS);
    if (this.skip('{')) return this.object(depth);
    if (this.skip('[')) return this.array(depth);
    const raw = this.take(STRING) ?? this.take(NUMBER) ?? this.take(WORD);
    if (raw === undefined) throw this.problem('a value');
    return { kind: 'scalar', raw };
  }

  end(): void {
    this.take(BLANKS);
    if (this.at < this.text.length) throw this.problem('the end');
  }

  private object(depth: number): JsonNode {
    const members: JsonMember[] = [];
    this.take(BLANKS);
    if (this.skip('}')) return { kind: 'object', members };
    for (;;) {
      this.take(BLANKS);
      const raw = this.take(STRING);
      if (raw === undefined) throw this.problem('a name in double quotes');
      this.take(BLANKS);
      if (!this.skip(':')) throw this.problem('`:`');
      members.push({ name: String(JSON.parse(raw)), raw, value: this.value(depth + 1) });
      this.take(BLANKS);
      if (this.skip('}')) return { kind: 'object', members };
      if (!this.skip(',')) throw this.problem('`,` or `}`');
    }
  }

  private array(depth: number): JsonNode {
    const items: JsonNode[] = [];
    this.take(BLANKS);
    if (this.skip(']')) return { kind: 'array', items };
    for (;;) {
      items.push(this.value(depth + 1));
      this.take(BLANKS);
      if (this.skip(']')) return { kind: 'array', items };
      if (!this.skip(',')) throw this.problem('`,` or `]`');
    }
  }

  private skip(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  private problem(wanted: string): MusterError {
    const isBrokenString = this.intoBrokenString();
    const isEnd = this.at >= this.text.length;
    const found = this.text.slice(this.at, this.at + MAX_SHOWN).split('\n')[0] ?? '';
    const there = isEnd ? 'the text ends' : `there is ${JSON.stringify(found)}`;
    const expected = isBrokenString ? 'the end of a string, or a valid escape,' : wanted;
    return new MusterError(
      'INVALID_PARAM',
      `text: is not JSON: ${this.position()}: ${expected} is expected, and ${there}`,
    );
  }

  /**
   * Moves to the error in a string that begins here. Returns false when there is no string, or one without an error.
   */
  private intoBrokenString(): boolean {
    const start = this.at;
    if (this.take(STRING) === undefined) return this.take(STRING_BODY) !== undefined;
    this.at = start;
    return false;
  }

  private position(): string {
    const lines = this.text.slice(0, this.at).split('\n');
    return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  }
}
