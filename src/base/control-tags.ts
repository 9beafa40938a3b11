import { lazy } from './lazy.ts';

/**
 * The mark that is inserted into look-alikes of control tags and role markers, so that a model does not mistake
 * outside text for text of its system: `<¦system-reminder>`, `¦Human:`. The character is rare, so the mark can be
 * removed again without harm. A look-alike that already contains a mark gets another mark.
 */
const TAG_MARK = '¦';

/** Names of control tags in lower case, without the `-`, `_` and white space that the names may contain. */
const TAG_NAMES: ReadonlySet<string> = new Set(
  (
    'system systemreminder systemmessage systemprompt systeminstruction systeminstructions sys ' +
    'functioncall functioncalls functionresult functionresults invoke antml ' +
    'toolcall toolcalls tooluse toolresult toolresults toolresponse tooloutput ' +
    'human assistant startofturn endofturn outside notice stdin'
  ).split(' '),
);
const ROLE_NAMES: ReadonlySet<string> = new Set(['human', 'assistant']);
/** Common words that are role markers only if they begin with a capital letter and follow a blank line. */
const COMMON_ROLE_NAMES: ReadonlySet<string> = new Set(['system', 'user']);

const TAG_STARTS = listPrefixes(TAG_NAMES);
const ROLE_STARTS = listPrefixes(new Set([...ROLE_NAMES, ...COMMON_ROLE_NAMES]));

/** Matches a `<` that is written as an entity (`&lt;`, also `&amp;lt;`) or as an escape (`\u003c`, `\x3c`). */
const OPENER = /&(?:amp;)*(?:lt|#0*60|#x0*3c);?|\\u\{?0*3c\}?|\\x3c/iy;
/** Matches the rest of `<|im_start|>` and similar tokens after the `<`. */
const SPECIAL_TOKEN = lazy(() => /[|｜]\p{DI}{0,9}[\p{L}\p{N}_▁]{1,40}[|｜]/uy);
const BLANK = 0x20;

/**
 * Classes of the ASCII characters at which a name may start, for a quick test: `SKIPPED` characters may precede a
 * name, and at an `EXCLUDED` character no name starts. Characters of class 0 are examined further.
 */
const SKIPPED = 1;
const EXCLUDED = 2;
const START_CLASSES = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const letter = String.fromCharCode(code).toLowerCase();
  if (letter === '/' || letter === ' ') return SKIPPED;
  const isOpen = code < BLANK || '!?|&\\\u007f'.includes(letter);
  return isOpen || TAG_STARTS.has(letter) || ROLE_STARTS.has(letter) ? 0 : EXCLUDED;
});

const TAG_END = /^[>/:&\\＞]/;

/** Marks every look-alike in an outside text, in linear time. `unescapeTags` restores the text exactly. */
export function escapeTags(text: string): string {
  const indexes = findLookAlikes(text);
  if (indexes.length === 0) return text;
  let escaped = '';
  let done = 0;
  for (const at of indexes) {
    escaped += text.slice(done, at) + TAG_MARK;
    done = at;
  }
  return escaped + text.slice(done);
}

/** Removes one mark from each look-alike that contains a mark. */
export function unescapeTags(text: string): string {
  if (!text.includes(TAG_MARK)) return text;
  let bare = '';
  let done = 0;
  for (const at of findLookAlikes(text)) {
    if (text[at] !== TAG_MARK) continue;
    bare += text.slice(done, at);
    done = at + TAG_MARK.length;
  }
  return bare + text.slice(done);
}

/**
 * Returns the indexes at which a mark belongs, in ascending order: after the `<` of each tag, and at the start of
 * the line of each role marker.
 */
function findLookAlikes(text: string): readonly number[] {
  const indexes: number[] = [];
  if (isRole(text, 0, 0)) indexes.push(0);
  let lineStart = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // This skips letters, digits and most other characters of code quickly.
    if (code > 0x3c ? code < 0x80 && code !== 0x5c : code > 0x0d && code < 0x3c && code !== 0x26) {
      continue;
    }
    if (isLineEnd(code)) {
      if (isRole(text, at + 1, lineStart)) indexes.push(at + 1);
      lineStart = at + 1;
      continue;
    }
    const opened = measureOpener(text, at, code);
    if (opened === 0) continue;
    if (isTag(text, at + opened)) indexes.push(at + opened);
    at += opened - 1;
  }
  return indexes;
}

/** Returns the length of the `<` at an index in UTF-16 units, in any of its written forms; 0 if there is no `<`. */
function measureOpener(text: string, at: number, code: number): number {
  // The character itself, its full-width form and its small form.
  if (code === 0x3c || code === 0xff1c || code === 0xfe64) return 1;
  if (code !== 0x26 && code !== 0x5c) return 0;
  const next = text.charCodeAt(at + 1) | 0x20;
  // An entity or escape of `<` continues with `#`, `a`, `l`, `u` or `x`. Most texts after `&` and `\` do not.
  if (next !== 0x23 && next !== 0x61 && next !== 0x6c && next !== 0x75 && next !== 0x78) return 0;
  OPENER.lastIndex = at;
  return OPENER.exec(text)?.[0].length ?? 0;
}

function isSpecialToken(text: string, at: number): boolean {
  const first = text[at];
  if (first !== '|' && first !== '｜') return false;
  const pattern = SPECIAL_TOKEN();
  pattern.lastIndex = at;
  return pattern.test(text);
}

function isTag(text: string, start: number): boolean {
  let at = start;
  while (START_CLASSES[text.charCodeAt(at)] === SKIPPED) at += 1;
  if (START_CLASSES[text.charCodeAt(at)] === EXCLUDED) return false;
  at = start;
  let afterSpace = false;
  while (at < text.length) {
    const { letter, length } = decodeCharacterAt(text, at);
    const isBlank = isSpace(letter);
    const isLead = letter === TAG_MARK || letter === '/' || letter === '!' || letter === '?';
    if (!isLead && !isBlank && !isIgnorable(letter)) break;
    afterSpace ||= isBlank;
    at += length;
  }
  if (isSpecialToken(text, at)) return true;
  const name = readName(text, at, { starts: TAG_STARTS, oneLine: false });
  if (name === null || !TAG_NAMES.has(name.word)) return false;
  // `a < system` is a comparison, but `< system >` is a tag.
  return afterSpace ? TAG_END.test(name.next) : name.next !== '.';
}

/** Tells whether a role marker begins at `start`. `lineBefore` is the start of the previous line. */
function isRole(text: string, start: number, lineBefore: number): boolean {
  let at = start;
  while (text.charCodeAt(at) === BLANK) at += 1;
  if (START_CLASSES[text.charCodeAt(at)] === EXCLUDED) return false;
  let letter = '';
  while (at < text.length) {
    const decoded = decodeCharacterAt(text, at);
    ({ letter } = decoded);
    if (isLineEnd(letter.charCodeAt(0))) return false;
    if (letter !== TAG_MARK && !isSpace(letter) && !isIgnorable(letter)) break;
    at += decoded.length;
  }
  const name = readName(text, at, { starts: ROLE_STARTS, oneLine: true });
  if (name === null || (name.next !== ':' && name.next !== '：')) return false;
  if (ROLE_NAMES.has(name.word)) return true;
  if (!COMMON_ROLE_NAMES.has(name.word) || letter !== letter.toUpperCase()) return false;
  return text.slice(lineBefore, start).trim() === '';
}

interface Name {
  readonly word: string;
  /** The character after the name and its white space; empty at the end of the text. */
  readonly next: string;
}

interface NameForm {
  /** All beginnings of the known names. */
  readonly starts: ReadonlySet<string>;
  /** True if a line end ends the name. */
  readonly oneLine: boolean;
}

/**
 * Reads a known name, or the beginning of a known name, even if its letters are separated and disguised. Returns
 * null if there is no such name.
 */
function readName(text: string, start: number, { starts, oneLine }: NameForm): Name | null {
  let word = '';
  /** The letters before white space. A name may end there or continue after it. */
  let beforeSpace: string | null = null;
  for (let at = start; at < text.length;) {
    const { letter, length } = decodeCharacterAt(text, at);
    at += length;
    if (/^[a-z0-9]$/i.test(letter)) {
      const longer = word + letter.toLowerCase();
      if (!starts.has(longer))
        return beforeSpace === null ? null : { word: beforeSpace, next: letter };
      word = longer;
    } else if (isSpace(letter)) {
      if (word === '' || (oneLine && isLineEnd(letter.charCodeAt(0)))) return null;
      beforeSpace = word;
    } else if ((letter !== '-' && letter !== '_') || word === '') {
      if (!isIgnorable(letter)) return word === '' ? null : { word, next: letter };
    }
  }
  return word === '' ? null : { word, next: '' };
}

function listPrefixes(names: ReadonlySet<string>): ReadonlySet<string> {
  const starts = new Set<string>();
  for (const name of names) {
    for (let length = 1; length <= name.length; length += 1) starts.add(name.slice(0, length));
  }
  return starts;
}

/** Matches entities and escapes, which a model reads like the character that they stand for. */
const DISGUISE =
  /&#0*(\d{1,7});?|&#x0*([0-9a-f]{1,6});?|\\u\{?([0-9a-f]{4,6})\}?|\\x([0-9a-f]{2})|&(sol|nbsp|shy|zwj|zwnj|tab|newline|zerowidthspace);/iy;
const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  sol: '/',
  nbsp: ' ',
  shy: '\u00ad',
  zwj: '\u200d',
  zwnj: '\u200c',
  tab: '\t',
  newline: '\n',
  zerowidthspace: '\u200b',
};
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;
const FIRST_NOT_ASCII = 0x80;

/** The character at an index of a text after decoding, and the number of UTF-16 units that it takes. */
interface DecodedCharacter {
  readonly letter: string;
  readonly length: number;
}

/** Decodes the character at an index. */
function decodeCharacterAt(text: string, at: number): DecodedCharacter {
  const code = text.charCodeAt(at);
  if (code === AMPERSAND || code === BACKSLASH) return decodeDisguiseAt(text, at);
  if (code < FIRST_NOT_ASCII) return { letter: text.charAt(at), length: 1 };
  const raw = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return { letter: toPlainLetter(raw), length: raw.length };
}

function decodeDisguiseAt(text: string, at: number): DecodedCharacter {
  DISGUISE.lastIndex = at;
  const match = DISGUISE.exec(text);
  if (match === null) return { letter: text.charAt(at), length: 1 };
  const [whole, decimal, hex, unicode, byte, name] = match;
  if (name !== undefined)
    return { letter: NAMED_ENTITIES[name.toLowerCase()] ?? '', length: whole.length };
  const digits = decimal ?? hex ?? unicode ?? byte ?? '';
  const code = Number.parseInt(digits, decimal === undefined ? 16 : 10);
  const raw = code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  return { letter: toPlainLetter(raw), length: whole.length };
}

/** Returns the plain ASCII character for a full-width, mathematical or other form of it. */
function toPlainLetter(letter: string): string {
  const plain = letter.normalize('NFKC');
  return plain.length === 1 && plain.charCodeAt(0) < FIRST_NOT_ASCII ? plain : letter;
}

const VISIBLE_ASCII = /^[ -~]$/;
const IGNORABLE = lazy(() => /^(?!\u0085)[\p{DI}\p{Mn}\p{Cc}]$/u);

/**
 * Tells whether a character between two letters can be ignored because it is invisible: a control character, a
 * combining mark, or a character without width. White space is not ignorable.
 */
function isIgnorable(letter: string): boolean {
  return !VISIBLE_ASCII.test(letter) && !isSpace(letter) && IGNORABLE().test(letter);
}

const SPACE = /^[\s\u0085]$/;

function isSpace(letter: string): boolean {
  return letter !== '\ufeff' && SPACE.test(letter);
}

function isLineEnd(code: number): boolean {
  return (code >= 0x0a && code <= 0x0d) || code === 0x85 || code === 0x2028 || code === 0x2029;
}
