import type { ShellWord } from '../parsed-line.ts';

/**
 * What follows an option: nothing, a value that may be attached (`--color=auto`, `-M90%`), one that may
 * also be the next word (text, a number, a path), or the next word where there is one.
 */
export type ValueKind = 'none' | 'attached' | 'text' | 'number' | 'path' | 'last';

export interface OptionTable {
  readonly short: ReadonlyMap<string, ValueKind>;
  readonly long: ReadonlyMap<string, ValueKind>;
  /** Whether `-5` is an option. */
  readonly digits: boolean;
}

const SUFFIXES: ReadonlyMap<string, ValueKind> = new Map<string, ValueKind>([
  ['[=]', 'attached'],
  ['=?', 'last'],
  ['=', 'text'],
  ['#', 'number'],
  ['@', 'path'],
]);
const ENTRY = /^(--?)([\w.-]+?)(\[=\]|=\?|=|#|@)?$/;

/**
 * Options as the tables spell them, blanks between: `-abc` three without a value, `-n#` and `--lines#`
 * with a number, `-e=` with text, `-f@` with a path, `--color[=]` with an attached value or none,
 * `--contains=?` with the next word where there is one, `-#` for `-5`. Letters before the last of a
 * group take no value.
 */
export function parseOptionTable(spelling: string): OptionTable {
  const short = new Map<string, ValueKind>();
  const long = new Map<string, ValueKind>();
  const entries = spelling.split(/\s+/).filter((entry) => entry !== '');
  for (const entry of entries) {
    if (entry === '-#') continue;
    const [, dashes, name, suffix = ''] = ENTRY.exec(entry) ?? [];
    if (name === undefined) throw new Error(`not an option: ${entry}`);
    const kind = SUFFIXES.get(suffix) ?? 'none';
    if (dashes === '--') {
      long.set(name, kind);
      continue;
    }
    for (const letter of name.slice(0, -1)) short.set(letter, 'none');
    short.set(name.slice(-1), kind);
  }
  return { short, long, digits: entries.includes('-#') };
}

/** One word of options: letters without a value, and the last one, which may take one. */
interface KnownOption {
  readonly isKnown: true;
  /** With their dashes, in order; `-5` is `-#`. */
  readonly flags: readonly string[];
  readonly name: string;
  readonly kind: ValueKind;
  /** The value in the same word. */
  readonly attached: string | null;
}

interface UnknownOption {
  readonly isKnown: false;
  /** The part of the word that the table does not list. */
  readonly part: string;
}

/** Splits a word that starts with a dash as a program with these options does. */
export function splitOption(word: string, table: OptionTable): KnownOption | UnknownOption {
  if (table.digits && /^-\d+$/.test(word)) {
    return { isKnown: true, flags: [], name: '-#', kind: 'none', attached: null };
  }
  return word.startsWith('--') ? splitLong(word, table) : splitShort(word, table);
}

function splitLong(word: string, { long }: OptionTable): KnownOption | UnknownOption {
  const at = word.indexOf('=');
  const name = at < 0 ? word : word.slice(0, at);
  const kind = long.get(name.slice(2));
  if (kind === undefined) return { isKnown: false, part: name };
  if (at >= 0 && kind === 'none') return { isKnown: false, part: word };
  return { isKnown: true, flags: [], name, kind, attached: at < 0 ? null : word.slice(at + 1) };
}

function splitShort(word: string, { short }: OptionTable): KnownOption | UnknownOption {
  const flags: string[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word.charAt(at)}`;
    const kind = short.get(word.charAt(at));
    if (kind === undefined) {
      return { isKnown: false, part: word.length === 2 ? word : `${name} in ${word}` };
    }
    const rest = word.slice(at + 1);
    if (rest === '') return { isKnown: true, flags, name, kind, attached: null };
    if (kind !== 'none') return { isKnown: true, flags, name, kind, attached: rest };
    flags.push(name);
  }
  return { isKnown: false, part: word };
}

/** Whether an option takes the word behind it as its value, if there is one. */
export function takesNextWord({ kind, attached }: Pick<KnownOption, 'kind' | 'attached'>): boolean {
  return attached === null && kind !== 'none' && kind !== 'attached';
}

/** How many words an option takes: 0 for no option, undefined for one that the table does not list. */
export function countOptionWords(word: string, table: OptionTable): number | undefined {
  if (!isOption(word)) return 0;
  const option = splitOption(word, table);
  if (!option.isKnown) return undefined;
  return takesNextWord(option) ? 2 : 1;
}

/** Whether the shell may make no word of this one, or several. */
export function canBeSeveralWords({ value, form }: ShellWord): boolean {
  return value === null && (form === 'glob' || form === 'open');
}

export function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}
