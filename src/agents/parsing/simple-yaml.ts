import type { JsonValue } from '../../base/json.ts';
import type { Field, Fields } from './fields.ts';
import { lazy } from '../../base/lazy.ts';

/** `key: value`. */
const ENTRY = /^([A-Za-z][\w-]*): +(\S.*)$/;
/** `key:`, before a list. */
const LIST_KEY = /^([A-Za-z][\w-]*):$/;
/** `- value` with any indent. */
const ITEM = /^( *)- +(\S.*)$/;

/** Characters beyond ASCII, without control characters, line ends and byte order marks as YAML defines them. */
const FURTHER = String.raw`\u00A1-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}`;
/** A value without quotation marks begins with a letter or a digit. */
const PLAIN_ASCII = /^[A-Za-z0-9][ -~]*$/;
const PLAIN = lazy(() => new RegExp(`^[\\p{L}0-9][ -~${FURTHER}]*$`, 'u'));
/** `"…"` with the escape sequences that people and generators write. */
const DOUBLE_QUOTED = new RegExp(`^"(?:[ !#-[\\]-~${FURTHER}]|\\\\["\\\\nt])*"$`, 'u');
/** `'…'`, in which a quotation mark is written twice. */
const SINGLE_QUOTED = new RegExp(`^'(?:[ -&(-~${FURTHER}]|'')*'$`, 'u');
/** `[a, b]` of plain words. */
const FLOW_LIST = /^\[ *[A-Za-z][\w-]*(?: *, *[A-Za-z][\w-]*)* *\]$/;

/** The start of a block of text, with or without its last line end. */
const BLOCK = /^[|>]-?$/;
/** A line of a block, without the indentation. It does not end with a space. */
const BLOCK_LINE = new RegExp(`^[ -~${FURTHER}]*[!-~${FURTHER}]$`, 'u');

/** Spaces at the end. Other white space is part of a value. */
const BLANKS_AT_END = / +$/;

/** Inside a value without quotation marks, these begin a mapping or a comment. */
const NOT_PLAIN = /: |:$| #/;
/** Values that the core schema reads as something other than a string. */
const CONSTANT = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
]);
const CONSTANT_LIKE = /^(?:true|false|null)$/i;
const INTEGER = /^(?:0|[1-9]\d{0,14})$/;

/** The value of a key, and the number of further lines that it takes. */
interface SimpleValue {
  readonly value: JsonValue;
  readonly lines: number;
}

/**
 * Reads front matter that consists only of `key: value` lines, lists and blocks of text, with plain and quoted
 * values on one line each, as most files do. It does not load the YAML library, which takes longer than Muster
 * may take to start. Undefined: the text could mean more. Any other result equals that of the library.
 */
export function parseSimple(yaml: string, firstLine: number): Fields | undefined {
  const fields = new Map<string, Field>();
  const lines = yaml.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    if (text === '') continue;
    const [, key, raw] = ENTRY.exec(text) ?? LIST_KEY.exec(text) ?? [];
    if (key === undefined || fields.has(key)) return undefined;
    const found = valueAfter(raw?.replace(BLANKS_AT_END, ''), lines, index + 1);
    if (found === undefined) return undefined;
    fields.set(key, { value: found.value, line: firstLine + index });
    index += found.lines;
  }
  return fields.size === 0 ? undefined : fields;
}

/**
 * @param raw the text after the key
 * @param from the index of the next line
 */
function valueAfter(
  raw: string | undefined,
  lines: readonly string[],
  from: number,
): SimpleValue | undefined {
  if (raw === undefined) {
    const value = blockList(lines, from);
    return value === undefined ? undefined : { value, lines: value.length };
  }
  if (BLOCK.test(raw)) return blockText(raw, lines, from);
  const value = simpleValue(raw);
  return value === undefined ? undefined : { value, lines: 0 };
}

/** Reads lines with the same indentation. Lines of `|` may be indented further, and both may have empty lines between. */
function blockText(style: string, lines: readonly string[], from: number): SimpleValue | undefined {
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
  const value = style.startsWith('>') ? folded(block) : block;
  return { value: style.endsWith('-') ? value : `${value}\n`, lines: length };
}

/** Replaces a line end by a space. Before empty lines it is removed, and each empty line becomes a line end. */
function folded(block: string): string {
  return block.replaceAll(/\n+/g, (ends) => (ends === '\n' ? ' ' : ends.slice(1)));
}

/** Reads list items with the same indentation. Undefined: there are none, or one of them could mean more. */
function blockList(lines: readonly string[], from: number): readonly JsonValue[] | undefined {
  const items: JsonValue[] = [];
  const indent = ITEM.exec(lines[from] ?? '')?.[1];
  for (const text of lines.slice(from)) {
    const [, own, raw] = ITEM.exec(text) ?? [];
    if (own === undefined || raw === undefined) break;
    const value = own === indent ? simpleValue(raw.replace(BLANKS_AT_END, '')) : undefined;
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items.length === 0 ? undefined : items;
}

function simpleValue(text: string): JsonValue | undefined {
  switch (text.charAt(0)) {
    case '"':
      return DOUBLE_QUOTED.test(text) ? unescaped(text.slice(1, -1)) : undefined;
    case "'":
      return SINGLE_QUOTED.test(text) ? text.slice(1, -1).replaceAll("''", "'") : undefined;
    case '[':
      return FLOW_LIST.test(text) ? flowList(text) : undefined;
    default:
      return plainValue(text);
  }
}

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
]);

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replaceAll(/\\(.)/g, (_, char: string) => ESCAPED.get(char) ?? char);
}

function flowList(text: string): readonly JsonValue[] | undefined {
  const words = text
    .slice(1, -1)
    .split(',')
    .map((word) => plainValue(word.trim()));
  return words.some((word) => word === undefined) ? undefined : words.filter(isKnown);
}

function isKnown(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined;
}

function plainValue(text: string): JsonValue | undefined {
  const isPlain = PLAIN_ASCII.test(text) || PLAIN().test(text);
  if (!isPlain || NOT_PLAIN.test(text)) return undefined;
  if (CONSTANT_LIKE.test(text)) return CONSTANT.get(text);
  if (INTEGER.test(text)) return Number(text);
  // The library reads octal and hexadecimal numbers, fractions and exponents.
  return /^\d\S*$/.test(text) ? undefined : text;
}
