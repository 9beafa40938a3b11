import { MusterError } from '../../../base/errors.ts';
import { lazy } from '../../../base/lazy.ts';

/** A part of the glob for a single name (a file or directory name without `/`). */
export type GlobNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'star' }
  /** `[a-z]` matches one character. It also matches the text itself, because a directory may have the name `[id]`. */
  | { readonly kind: 'class'; readonly text: string; readonly has: (character: string) => boolean }
  | GroupNode;

/** A group with alternatives, such as `+(a|b)` or `{a,b}`. */
export interface GroupNode {
  readonly kind: 'group';
  /**
   * The character before the parenthesis in `+(a|b)`. Braces, and parentheses without such a character, count as `@`.
   */
  readonly mark: '@' | '?' | '*' | '+' | '!';
  readonly alternatives: readonly GlobSequence[];
  /** The group read as plain text, because a directory may have the name `(a)` or `{a,b}`. */
  readonly asText: GlobSequence;
}

/** Parts of a glob that follow each other. */
export type GlobSequence = readonly GlobNode[];

const MAX_GROUP_DEPTH = 4;
const MAX_RANGE_LENGTH = 1000;

/** Parses the glob for a single name. Throws INVALID_PARAM for groups that are nested too deeply. */
export function parseName(glob: string, depth = 0): GlobSequence {
  if (depth > MAX_GROUP_DEPTH) {
    throw new MusterError(
      'INVALID_PARAM',
      `glob: groups are nested more than ${MAX_GROUP_DEPTH} deep`,
    );
  }
  const nodes: GlobNode[] = [];
  let text = '';
  const add = (node: GlobNode): void => {
    if (text !== '') nodes.push({ kind: 'text', text });
    text = '';
    nodes.push(node);
  };
  for (let at = 0; at < glob.length;) {
    const special = parseSpecial(glob, at, depth);
    if (special === undefined) {
      const isEscape = glob[at] === '\\' && at + 1 < glob.length;
      text += isEscape ? glob[at + 1] : glob[at];
      at += isEscape ? 2 : 1;
    } else {
      add(special.node);
      at = special.end;
    }
  }
  if (text !== '') nodes.push({ kind: 'text', text });
  return nodes;
}

/** A part of a glob that is not plain text, and the position after it. */
interface Special {
  readonly node: GlobNode;
  readonly end: number;
}

/** Parses the group, wildcard or class that begins at a position. Returns undefined if there is a plain character. */
function parseSpecial(glob: string, at: number, depth: number): Special | undefined {
  const group = findGroup(glob, at);
  if (group !== undefined) return { node: createGroupNode(group, depth), end: group.end };
  switch (glob[at]) {
    case '*': {
      let end = at + 1;
      while (glob[end] === '*' && glob[end + 1] !== '(') end += 1;
      return { node: { kind: 'star' }, end };
    }
    case '?':
      return { node: { kind: 'one' }, end: at + 1 };
    case '[':
      return parseClass(glob, at);
    default:
      return undefined;
  }
}

/** A group with alternatives, as it is written in a glob. */
export interface GlobGroup {
  readonly mark: GroupNode['mark'];
  /** The mark as it is written, or an empty text without a mark. */
  readonly lead: string;
  /** The opening bracket, which follows the mark if there is one. */
  readonly bracket: '(' | '{';
  /** The text between the brackets. */
  readonly inside: string;
  readonly alternatives: readonly string[];
  /** The position after the group. */
  readonly end: number;
}

const MARKS: readonly string[] = ['@', '?', '*', '+', '!'] satisfies readonly GroupNode['mark'][];

function isMark(character: string | undefined): character is GroupNode['mark'] {
  return character !== undefined && MARKS.includes(character);
}

/**
 * Finds the group that begins at a position: `+(a|b)`, `(a|b)`, `{a,b}` or `{1..3}`. An `(a)` without a mark is text,
 * not a group.
 */
export function findGroup(glob: string, at: number): GlobGroup | undefined {
  const first = glob[at];
  const mark = isMark(first) && glob[at + 1] === '(' ? first : undefined;
  const open = mark === undefined ? at : at + 1;
  const bracket = glob[open];
  if (bracket !== '(' && bracket !== '{') return undefined;
  const close = findClosingBracket(glob, open);
  if (close === -1) return undefined;
  const inside = glob.slice(open + 1, close);
  const listed = splitOutsideBrackets(inside, bracket === '(' ? '|' : ',');
  const alternatives = bracket === '{' && listed.length === 1 ? expandRange(inside) : listed;
  if (mark === undefined && alternatives.length < 2) return undefined;
  return { mark: mark ?? '@', lead: mark ?? '', bracket, inside, alternatives, end: close + 1 };
}

/** Finds the bracket that closes the bracket at `open`. Returns -1 if there is none. */
function findClosingBracket(glob: string, open: number): number {
  const expectedBrackets: string[] = [];
  for (let at = open; at < glob.length; at += 1) {
    const character = glob[at];
    if (character === '\\') at += 1;
    else if (character === '(') expectedBrackets.push(')');
    else if (character === '{') expectedBrackets.push('}');
    else if (character === expectedBrackets.at(-1)) expectedBrackets.pop();
    if (expectedBrackets.length === 0) return at;
  }
  return -1;
}

/** Splits a text at separators that are not inside brackets. */
export function splitOutsideBrackets(text: string, separators: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\') at += 1;
    else if (character === '(' || character === '{')
      at = Math.max(at, findClosingBracket(text, at));
    else if (character === '[') at = Math.max(at, (parseClass(text, at)?.end ?? 0) - 1);
    else if (separators.includes(character)) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** Expands `1..3` and `a..c`. Returns an empty list for anything else. */
function expandRange(inside: string): readonly string[] {
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})$/.exec(inside);
  const letters = /^([a-z])\.\.([a-z])$/i.exec(inside);
  const ends = numbers ?? letters;
  if (ends === null) return [];
  const asNumber = (text = ''): number => (numbers === null ? text.charCodeAt(0) : Number(text));
  const [from, to] = [asNumber(ends[1]), asNumber(ends[2])].toSorted((a, b) => a - b);
  if (from === undefined || to === undefined || to - from >= MAX_RANGE_LENGTH) return [];
  const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return all.map((each) => (numbers === null ? String.fromCharCode(each) : String(each)));
}

function createGroupNode(group: GlobGroup, depth: number): GroupNode {
  const { mark, lead, bracket, inside, alternatives } = group;
  const [open, close] = bracket === '(' ? ['(', ')'] : ['{', '}'];
  const asText: GlobSequence = [
    ...parseName(lead, depth),
    { kind: 'text', text: open },
    ...parseName(inside, depth + 1),
    { kind: 'text', text: close },
  ];
  return {
    kind: 'group',
    mark,
    alternatives: alternatives.map((each) => parseName(each, depth + 1)),
    asText,
  };
}

const NAMED_CLASSES = lazy((): Readonly<Record<string, RegExp>> => ({
  alnum: /[\p{L}\p{N}]/u,
  alpha: /\p{L}/u,
  digit: /\d/,
  lower: /\p{Ll}/u,
  punct: /[\p{P}\p{S}]/u,
  space: /\s/,
  upper: /\p{Lu}/u,
  xdigit: /[0-9a-f]/i,
}));

/** Parses `[a-z]`, `[!a]`, `[^a]` or `[[:digit:]]`. Returns undefined if no bracket closes the class. */
function parseClass(glob: string, at: number): Special | undefined {
  const parts = /^\[([!^]?)((?:\]|\[:[a-z]+:\]|\\.|[^\]\\])(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]/su.exec(
    glob.slice(at),
  );
  if (parts === null) return undefined;
  const [text, negation, inside = ''] = parts;
  const tests = [...inside.matchAll(/\[:([a-z]+):\]|(\\.|[^\\])-(\\.|[^\\])|\\?(.)/gsu)].map(
    ([, named, from, to, single]) => {
      const known = named === undefined ? undefined : NAMED_CLASSES()[named];
      if (known !== undefined) return (character: string) => known.test(character);
      if (from === undefined || to === undefined)
        return (character: string) => character === single;
      const ends = [from, to].map((each) => each.replace(/^\\/, '').codePointAt(0) ?? 0);
      return (character: string) => {
        const code = character.codePointAt(0) ?? 0;
        return code >= (ends[0] ?? 0) && code <= (ends[1] ?? 0);
      };
    },
  );
  const has = (character: string): boolean =>
    tests.some((test) => test(character)) === (negation === '');
  return { node: { kind: 'class', text, has }, end: at + text.length };
}
