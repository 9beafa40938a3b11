import type { JsonValue } from '../../base/json.ts';
import type { Field, Fields } from './fields.ts';
import { lazy } from '../../base/lazy.ts';

/** Matches `key: value`. */
const ENTRY = /^([A-Za-z][\w-]*): +(\S.*)$/;
/** Matches `key:`, which must precede a list. */
const LIST_KEY = /^([A-Za-z][\w-]*):$/;
/** Matches `- value` with any indentation. */
const ITEM = /^( *)- +(\S.*)$/;

/** The characters beyond ASCII, except those that YAML treats as control characters, line ends or byte order marks. */
const NON_ASCII = String.raw`\u00A1-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}`;
/** Matches an ASCII value without quotation marks, which must begin with a letter or a digit. */
const PLAIN_ASCII = /^[A-Za-z0-9][ -~]*$/;
/** Matches any value without quotation marks. */
const PLAIN = lazy(() => new RegExp(`^[\\p{L}0-9][ -~${NON_ASCII}]*$`, 'u'));
/** Matches `"…"` with the escape sequences that people and generators write. */
const DOUBLE_QUOTED = new RegExp(`^"(?:[ !#-[\\]-~${NON_ASCII}]|\\\\["\\\\nt])*"$`, 'u');
/** Matches `'…'`, in which a quotation mark is written twice. */
const SINGLE_QUOTED = new RegExp(`^'(?:[ -&(-~${NON_ASCII}]|'')*'$`, 'u');
/** Matches a list of plain words: `[a, b]`. */
const FLOW_LIST = /^\[ *[A-Za-z][\w-]*(?: *, *[A-Za-z][\w-]*)* *\]$/;

/** Matches the start of a block of text. With `-`, the block has no final line end. */
const BLOCK = /^[|>]-?$/;
/** Matches a line of a block without its indentation. The line does not end with a space. */
const BLOCK_LINE = new RegExp(`^[ -~${NON_ASCII}]*[!-~${NON_ASCII}]$`, 'u');

/** Matches spaces at the end of a value. Other white space is part of the value. */
const TRAILING_SPACES = / +$/;

/** Matches characters that begin a mapping or a comment inside a value without quotation marks. */
const SPECIAL_IN_PLAIN = /: |:$| #/;
/** Values that YAML's core schema reads as booleans. */
const CONSTANT = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
]);
const CONSTANT_LIKE = /^(?:true|false|null)$/i;
const INTEGER = /^(?:0|[1-9]\d{0,14})$/;

/** The value of a key, and the number of lines after the line of the key that belong to it. */
interface SimpleValue {
  readonly value: JsonValue;
  readonly lines: number;
}

/**
 * Reads front matter that consists only of `key: value` lines, lists and blocks of text, with plain and quoted values
 * on one line each. Most files do. This function exists because loading the YAML library would take longer than a start
 * of Muster may take. Returns undefined if the text may have any other meaning. Otherwise, the result is the same as
 * that of the library.
 */
export function parseSimple(yaml: string, firstLine: number): Fields | undefined {
  const fields = new Map<string, Field>();
  const lines = yaml.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    if (text === '') continue;
    const [, key, raw] = ENTRY.exec(text) ?? LIST_KEY.exec(text) ?? [];
    if (key === undefined || fields.has(key)) return undefined;
    const simple = readValue(raw?.replace(TRAILING_SPACES, ''), lines, index + 1);
    if (simple === undefined) return undefined;
    fields.set(key, { value: simple.value, line: firstLine + index });
    index += simple.lines;
  }
  return fields.size === 0 ? undefined : fields;
}

/**
 * Reads the value of a key.
 *
 * @param raw the text after the key
 * @param from the index of the next line
 */
function readValue(
  raw: string | undefined,
  lines: readonly string[],
  from: number,
): SimpleValue | undefined {
  if (raw === undefined) {
    const value = readBlockList(lines, from);
    return value === undefined ? undefined : { value, lines: value.length };
  }
  if (BLOCK.test(raw)) return readBlockText(raw, lines, from);
  const value = parseValue(raw);
  return value === undefined ? undefined : { value, lines: 0 };
}

/**
 * Reads the lines of a block with the same indentation. Lines of a `|` block may be indented further. There may be
 * empty lines between the lines.
 */
function readBlockText(
  style: string,
  lines: readonly string[],
  from: number,
): SimpleValue | undefined {
  const indent = /^ */.exec(lines[from] ?? '')?.[0].length ?? 0;
  if (indent === 0) return undefined;
  const texts: string[] = [];
  let length = 0;
  for (const line of lines.slice(from)) {
    if (line !== '' && !line.startsWith(' ')) break;
    const text = line.slice(indent);
    if (line !== '' && (line.slice(0, indent).trim() !== '' || !BLOCK_LINE.test(text)))
      return undefined;
    if (style.startsWith('>') && text.startsWith(' ')) return undefined;
    texts.push(text);
    if (line !== '') length = texts.length;
  }
  const block = texts.slice(0, length).join('\n');
  const value = style.startsWith('>') ? foldLines(block) : block;
  return { value: style.endsWith('-') ? value : `${value}\n`, lines: length };
}

/** Joins the lines of a `>` block: replaces each line end by a space, but keeps one line end for each empty line. */
function foldLines(block: string): string {
  return block.replaceAll(/\n+/g, (ends) => (ends === '\n' ? ' ' : ends.slice(1)));
}

/**
 * Reads list items with the same indentation. Returns undefined if there are none, or if an item may have another
 * meaning.
 */
function readBlockList(lines: readonly string[], from: number): readonly JsonValue[] | undefined {
  const items: JsonValue[] = [];
  const indent = ITEM.exec(lines[from] ?? '')?.[1];
  for (const text of lines.slice(from)) {
    const [, own, raw] = ITEM.exec(text) ?? [];
    if (own === undefined || raw === undefined) break;
    const value = own === indent ? parseValue(raw.replace(TRAILING_SPACES, '')) : undefined;
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items.length === 0 ? undefined : items;
}

function parseValue(text: string): JsonValue | undefined {
  switch (text.charAt(0)) {
    case '"':
      return DOUBLE_QUOTED.test(text) ? unescape(text.slice(1, -1)) : undefined;
    case "'":
      return SINGLE_QUOTED.test(text) ? text.slice(1, -1).replaceAll("''", "'") : undefined;
    case '[':
      return FLOW_LIST.test(text) ? parseFlowList(text) : undefined;
    default:
      return parsePlain(text);
  }
}

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
]);

function unescape(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replaceAll(/\\(.)/g, (_, char: string) => ESCAPED.get(char) ?? char);
}

function parseFlowList(text: string): readonly JsonValue[] | undefined {
  const words = text
    .slice(1, -1)
    .split(',')
    .map((word) => parsePlain(word.trim()));
  return words.some((word) => word === undefined) ? undefined : words.filter(isKnown);
}

function isKnown(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined;
}

function parsePlain(text: string): JsonValue | undefined {
  const isPlain = PLAIN_ASCII.test(text) || PLAIN().test(text);
  if (!isPlain || SPECIAL_IN_PLAIN.test(text)) return undefined;
  if (CONSTANT_LIKE.test(text)) return CONSTANT.get(text);
  if (INTEGER.test(text)) return Number(text);
  // The value may be an octal or hexadecimal number, a fraction or an exponent, which only the library reads.
  return /^\d\S*$/.test(text) ? undefined : text;
}
