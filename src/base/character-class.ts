/** The class of a character in a tokenizer. The class decides which neighboring characters are joined with it. */
export type CharacterClass =
  | 'space'
  | 'line_end'
  | 'digit'
  | 'lower'
  | 'upper'
  /** Any other ASCII character. */
  | 'sign'
  /** Latin letters with accents, which occur in the same words as ASCII letters. */
  | 'accented'
  | ScriptKind;

/** The classes of characters that are neither ASCII nor Latin, grouped by their cost in tokens. */
export type ScriptKind =
  | 'cyrillic'
  | 'greek'
  | 'hebrew'
  | 'arabic'
  | 'indic'
  | 'kana'
  | 'han'
  | 'hangul'
  | 'wide_sign'
  | 'symbol'
  | 'surrogate';

/** Returns the class of one UTF-16 unit. */
export function classifyCharacter(unit: number): CharacterClass {
  const ascii = ASCII[unit];
  if (ascii !== undefined) return ascii;
  if (unit < 0x250) return unit < 0xc0 || unit === 0xd7 || unit === 0xf7 ? 'symbol' : 'accented';
  // The blocks are sorted, so the first block that ends above the unit contains the unit.
  for (const block of BLOCKS) if (unit < block[0]) return block[1];
  return 'symbol';
}

function classifyAscii(unit: number): CharacterClass {
  if (unit >= 0x61 && unit <= 0x7a) return 'lower';
  if (unit === 0x20 || unit === 0x09) return 'space';
  if (unit >= 0x30 && unit <= 0x39) return 'digit';
  if (unit >= 0x41 && unit <= 0x5a) return 'upper';
  return unit === 0x0a || unit === 0x0d ? 'line_end' : 'sign';
}

/** Blocks of Unicode: the first unit after each block, and its class. */
const BLOCKS: readonly (readonly [end: number, kind: CharacterClass])[] = [
  [0x370, 'symbol'],
  [0x400, 'greek'],
  [0x530, 'cyrillic'],
  [0x590, 'greek'],
  [0x600, 'hebrew'],
  [0x900, 'arabic'],
  [0x1100, 'indic'],
  [0x1200, 'hangul'],
  [0x1e00, 'indic'],
  [0x1f00, 'accented'],
  [0x2000, 'greek'],
  [0x3000, 'symbol'],
  [0x3040, 'wide_sign'],
  [0x3130, 'kana'],
  [0x3190, 'hangul'],
  [0x3400, 'wide_sign'],
  [0xa000, 'han'],
  [0xac00, 'indic'],
  [0xd7b0, 'hangul'],
  [0xd800, 'symbol'],
  [0xe000, 'surrogate'],
  [0xf900, 'symbol'],
  [0xfb00, 'han'],
  [0xfe00, 'arabic'],
  [0xff00, 'symbol'],
  [0xff66, 'wide_sign'],
  [0xffa0, 'kana'],
];

/** The classes of ASCII characters, which make up most texts. */
const ASCII: readonly CharacterClass[] = Array.from({ length: 0x80 }, (_, unit) =>
  classifyAscii(unit),
);
