import type { ShellWord } from '../parsed-line.ts';

/**
 * The kind of value that an option takes. `none`: no value. `attached`: a value in the same word or none (`--color=auto`,
 * `-M90%`). `text`, `number` and `path`: a value in the same word or in the next one. `last`: a value in the same word,
 * or in the next one if there is one.
 */
export type ValueKind = 'none' | 'attached' | 'text' | 'number' | 'path' | 'last';

/** The options of a program or a subcommand, without their dashes. */
export interface OptionTable {
  readonly short: ReadonlyMap<string, ValueKind>;
  readonly long: ReadonlyMap<string, ValueKind>;
  /** True if `-5` is an option. */
  readonly digits: boolean;
}

const SUFFIXES: ReadonlyMap<string, ValueKind> = new Map<string, ValueKind>([
  ['[=]', 'attached'],
  ['=?', 'last'],
  ['=', 'text'],
  ['#', 'number'],
  ['@', 'path'],
]);
const PARSED = new Map<string, OptionTable>();
const ENTRY = /^(--?)([\w.-]+?)(\[=\]|=\?|=|#|@)?$/;

/**
 * Parses the options of a program, separated by blanks: `-abc` are three options without a value, `-n#` and `--lines#`
 * take a number, `-e=` takes text, `-f@` takes a path, `--color[=]` takes an attached value or none, `--contains=?` takes
 * the next word if there is one, and `-#` stands for `-5`. In a group of letters only the last one takes a value. Each
 * spelling is parsed once.
 */
export function parseOptionTable(spelling: string): OptionTable {
  const parsed = PARSED.get(spelling);
  if (parsed !== undefined) return parsed;
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
  const table = { short, long, digits: entries.includes('-#') };
  PARSED.set(spelling, table);
  return table;
}

/** A word of known options: letters without a value, and the last one, which may take a value. */
interface KnownOption {
  readonly isKnown: true;
  /** The letters before the last one, with their dashes. */
  readonly flags: readonly string[];
  /** The last option, with its dashes; `-#` for `-5`. */
  readonly name: string;
  readonly kind: ValueKind;
  /** The value in the same word, or null if there is none. */
  readonly attached: string | null;
}

interface UnknownOption {
  readonly isKnown: false;
  /** The part of the word that is not in the table. */
  readonly part: string;
}

/** Splits a word that starts with a dash into options, as a program with these options does. */
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

/** Tells whether an option takes the next word as its value, if there is one. */
export function takesNextWord({ kind, attached }: Pick<KnownOption, 'kind' | 'attached'>): boolean {
  return attached === null && kind !== 'none' && kind !== 'attached';
}

/** Counts the words of an option and its value: 0 for a word that is no option. Returns undefined if the option is not in the table. */
export function countOptionWords(word: string, table: OptionTable): number | undefined {
  if (!isOption(word)) return 0;
  const option = splitOption(word, table);
  if (!option.isKnown) return undefined;
  return takesNextWord(option) ? 2 : 1;
}

/** Tells whether the shell may expand a word to no word or to several. */
export function canBeSeveralWords({ value, form }: ShellWord): boolean {
  return value === null && (form === 'glob' || form === 'open');
}

export function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}
