import { MusterError } from '../../../base/errors.ts';
import { sortByNearness } from '../../../base/name-suggestions.ts';
import { plural, truncate } from '../../../base/text.ts';

/**
 * A JSON value as it was written. Numbers and strings keep every digit and escape, and objects keep all members in
 * order. `JSON.parse` would round large numbers and drop members with the same name.
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

/** The maximum depth of nested values, because each level needs a frame of the call stack. */
const MAX_DEPTH = 500;
const MAX_SHOWN_LENGTH = 20;

const BLANKS = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids control characters in strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids control characters in strings
const STRING_BODY = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;

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

/** A parser that reads a JSON text from its beginning to its end. */
class JsonReader {
  /** The current position in the text. */
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
    const raw = this.take(STRING) ?? this.take(NUMBER) ?? this.take(LITERAL);
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

  private problem(expectedPart: string): MusterError {
    const isBrokenString = this.skipToStringError();
    const isEnd = this.at >= this.text.length;
    const found = this.text.slice(this.at, this.at + MAX_SHOWN_LENGTH).split('\n')[0] ?? '';
    const actual = isEnd ? 'the text ends' : `there is ${JSON.stringify(found)}`;
    const expected = isBrokenString ? 'the end of a string, or a valid escape,' : expectedPart;
    const message = `text: is not JSON: ${this.position()}: ${expected} is expected, and ${actual}`;
    return new MusterError('INVALID_PARAM', message);
  }

  /**
   * Moves to the error in the string that begins at the current position. Returns false if no string begins there, or
   * if the string has no error.
   */
  private skipToStringError(): boolean {
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

/** The layout of printed JSON. */
interface PrintOptions {
  /** The number of spaces for each level. With 0, everything is on one line without spaces. */
  readonly indent: number;
  /** Whether members are sorted by name. */
  readonly sorted: boolean;
  /**
   * The maximum number of UTF-16 code units that are printed. The limit is needed, because in deeply nested lists the
   * indentation can be a thousand times as long as the values.
   */
  readonly max: number;
}

/** The result of printing JSON. */
export interface PrintedJson {
  /** The complete text, or its beginning. */
  readonly text: string;
  readonly isComplete: boolean;
  /** The number of lines of the complete text. */
  readonly lines: number;
}

/** Prints a tree as JSON. Scalars are printed as they were written. */
export function printJsonTree(root: JsonNode, options: PrintOptions): PrintedJson {
  const { indent, sorted, max } = options;
  const pieces: string[] = [];
  let length = 0;
  let lines = 1;
  const write = (piece: string): void => {
    length += piece.length;
    if (length <= max) pieces.push(piece);
  };
  const startLine = (level: number): void => {
    if (indent === 0) return;
    lines += 1;
    if (length <= max) write(`\n${' '.repeat(indent * level)}`);
  };
  const printAll = <T>(parts: readonly T[], level: number, print: (part: T) => void): void => {
    for (const [index, part] of parts.entries()) {
      if (index > 0) write(',');
      startLine(level + 1);
      print(part);
    }
    if (parts.length > 0) startLine(level);
  };
  const printNode = (node: JsonNode, level: number): void => {
    if (node.kind === 'scalar') return write(node.raw);
    write(node.kind === 'array' ? '[' : '{');
    if (node.kind === 'array')
      printAll(node.items, level, (findItem) => printNode(findItem, level + 1));
    else {
      printAll(
        sorted ? node.members.toSorted(compareNames) : node.members,
        level,
        ({ raw, value }) => {
          write(raw);
          write(indent === 0 ? ':' : ': ');
          printNode(value, level + 1);
        },
      );
    }
    write(node.kind === 'array' ? ']' : '}');
  };
  printNode(root, 0);
  return { text: pieces.join(''), isComplete: length <= max, lines };
}

function compareNames(a: JsonMember, b: JsonMember): number {
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}

/** Matches one step of a path: `name`, `.name`, `[0]`, `["any name"]`. */
const STEP = /(?:^|\.)([^.[\]"]+)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
const MAX_NAMED_MEMBERS = 10;
const MAX_NAME_LENGTH = 60;

/**
 * Finds the part of a tree that a path like `a.b[0]["c.d"]` names. A leading `$` is the root, and `[-1]` is the last
 * item. If several members have the same name, the last one is used. Throws INVALID_PARAM for text that is not a path,
 * and NOT_FOUND for a path that leads nowhere.
 */
export function findJsonNode(root: JsonNode, path: string): JsonNode {
  let node = root;
  let at = path.startsWith('$') ? 1 : 0;
  while (at < path.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (found === null) throw syntaxError(path, at);
    const [step, name, index, quoted] = found;
    node =
      index === undefined
        ? findMember(node, name ?? unquoteName(quoted, path, at), path.slice(0, at))
        : findItem(node, Number(index), path.slice(0, at));
    at += step.length;
  }
  return node;
}

function syntaxError(path: string, at: number): MusterError {
  const message = `path: is not understood at character ${at + 1}: ${JSON.stringify(truncate(path, MAX_NAME_LENGTH))}; valid: a.b[0]["c"]`;
  return new MusterError('INVALID_PARAM', message);
}

function unquoteName(quoted: string | undefined, path: string, at: number): string {
  try {
    return String(JSON.parse(quoted ?? ''));
  } catch {
    // The name has an escape that JSON does not have.
    throw syntaxError(path, at);
  }
}

function findMember(node: JsonNode, name: string, before: string): JsonNode {
  if (node.kind !== 'object')
    throw notFoundError(before, `${describeKind(node)}, which has no names`);
  const found = node.members.findLast((each) => each.name === name);
  if (found !== undefined) return found.value;
  const names = sortByNearness(name, [...new Set(node.members.map((each) => each.name))]);
  const shown = names
    .slice(0, MAX_NAMED_MEMBERS)
    .map((each) => JSON.stringify(truncate(each, MAX_NAME_LENGTH)));
  const more =
    names.length > MAX_NAMED_MEMBERS ? ` and ${names.length - MAX_NAMED_MEMBERS} more` : '';
  const has = shown.length === 0 ? 'it is empty' : `it has ${shown.join(', ')}${more}`;
  const message = `an object without ${JSON.stringify(truncate(name, MAX_NAME_LENGTH))}: ${has}`;
  throw notFoundError(before, message);
}

function findItem(node: JsonNode, index: number, before: string): JsonNode {
  if (node.kind !== 'array')
    throw notFoundError(before, `${describeKind(node)}, which has no items`);
  const found = node.items.at(index);
  if (found !== undefined) return found;
  const message = `a list of ${plural(node.items.length, 'item')}: there is no [${index}]`;
  throw notFoundError(before, message);
}

function describeKind(node: JsonNode): string {
  if (node.kind !== 'scalar') return node.kind === 'array' ? 'a list' : 'an object';
  if (node.raw.startsWith('"')) return 'a string';
  return /^[-\d]/.test(node.raw) ? 'a number' : node.raw;
}

function notFoundError(before: string, description: string): MusterError {
  const parent = before === '' || before === '$' ? 'the root' : before;
  return new MusterError(
    'NOT_FOUND',
    `path: ${truncate(parent, MAX_NAME_LENGTH)} is ${description}`,
  );
}
