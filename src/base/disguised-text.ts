import { lazy } from './lazy.ts';

/** Characters as a model reads them: behind entities, escapes and look-alike forms. */
const DISGUISE =
  /&#0*(\d{1,7});?|&#x0*([0-9a-f]{1,6});?|\\u\{?([0-9a-f]{4,6})\}?|\\x([0-9a-f]{2})|&(sol|nbsp|shy|zwj|zwnj|tab|newline|zerowidthspace);/iy;
const NAMED: Readonly<Record<string, string>> = {
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
export interface DecodedCharacter {
  readonly letter: string;
  readonly length: number;
}

/** Decodes the character at an index. */
export function decodeCharacterAt(text: string, at: number): DecodedCharacter {
  const code = text.charCodeAt(at);
  if (code === AMPERSAND || code === BACKSLASH) return disguisedAt(text, at);
  if (code < FIRST_NOT_ASCII) return { letter: text.charAt(at), length: 1 };
  const raw = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return { letter: plainLetter(raw), length: raw.length };
}

function disguisedAt(text: string, at: number): DecodedCharacter {
  DISGUISE.lastIndex = at;
  const match = DISGUISE.exec(text);
  if (match === null) return { letter: text.charAt(at), length: 1 };
  const [whole, decimal, hex, unicode, byte, name] = match;
  if (name !== undefined) return { letter: NAMED[name.toLowerCase()] ?? '', length: whole.length };
  const digits = decimal ?? hex ?? unicode ?? byte ?? '';
  const code = Number.parseInt(digits, decimal === undefined ? 16 : 10);
  const raw = code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  return { letter: plainLetter(raw), length: whole.length };
}

/** Full-width, mathematical and other forms of a letter are that letter. */
function plainLetter(letter: string): string {
  const plain = letter.normalize('NFKC');
  return plain.length === 1 && plain.charCodeAt(0) < FIRST_NOT_ASCII ? plain : letter;
}

const SEEN_ASCII = /^[ -~]$/;
const IGNORABLE = lazy(() => /^(?!\u0085)[\p{DI}\p{Mn}\p{Cc}]$/u);

/**
 * Tells whether a character is invisible between two letters: controls, marks, and characters without a width.
 * White space is visible.
 */
export function isIgnorable(letter: string): boolean {
  return !SEEN_ASCII.test(letter) && !isSpace(letter) && IGNORABLE().test(letter);
}

const SPACE = /^[\s\u0085]$/;

export function isSpace(letter: string): boolean {
  return letter !== '\ufeff' && SPACE.test(letter);
}

export function isLineEnd(code: number): boolean {
  return (code >= 0x0a && code <= 0x0d) || code === 0x85 || code === 0x2028 || code === 0x2029;
}
