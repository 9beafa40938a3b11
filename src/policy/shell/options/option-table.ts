import type { ShellWord } from '../parsed-line.ts';

/**
 * The kind of value that an option takes. `none`: no value. `optional_attached`: an optional value, which can only be
 * in the same word (`--color=auto`, `-M90%`). `text`, `number` and `path`: a value in the same word or in the next
 * word. `optional`: a value in the same word or in the next word, but no value if the option is the last word.
 */
export type ValueKind = 'none' | 'optional_attached' | 'text' | 'number' | 'path' | 'optional';

/** The options of a program or a subcommand, without their dashes. */
export interface OptionTable {
  readonly short: ReadonlyMap<string, ValueKind>;
  readonly long: ReadonlyMap<string, ValueKind>;
  /** True if a number with a dash is an option, such as `-5` for `head`. */
  readonly hasNumberOptions: boolean;
}

const KIND_BY_SUFFIX: ReadonlyMap<string, ValueKind> = new Map<string, ValueKind>([
  ['[=]', 'optional_attached'],
  ['=?', 'optional'],
  ['=', 'text'],
  ['#', 'number'],
  ['@', 'path'],
]);
const TABLES = new Map<string, OptionTable>();
const ENTRY = /^(--?)([\w.-]+?)(\[=\]|=\?|=|#|@)?$/;

/**
 * Parses the specification of a program's options, separated by blanks: `-abc` are three options without a value, `-n#`
 * and `--lines#` take a number, `-e=` takes text, `-f@` takes a path, `--color[=]` takes an optional attached value,
 * `--contains=?` takes the next word if there is one, and `-#` stands for options such as `-5`. In a group of letters
 * only the last letter can take a value. Each specification is parsed only once.
 */
export function parseOptionTable(specification: string): OptionTable {
  const parsed = TABLES.get(specification);
  if (parsed !== undefined) return parsed;
  const short = new Map<string, ValueKind>();
  const long = new Map<string, ValueKind>();
  const entries = specification.split(/\s+/).filter((entry) => entry !== '');
  for (const entry of entries) {
    if (entry === '-#') continue;
    const [, dashes, name, suffix = ''] = ENTRY.exec(entry) ?? [];
    if (name === undefined) throw new Error(`not an option: ${entry}`);
    const kind = KIND_BY_SUFFIX.get(suffix) ?? 'none';
    if (dashes === '--') {
      long.set(name, kind);
      continue;
    }
    for (const letter of name.slice(0, -1)) short.set(letter, 'none');
    short.set(name.slice(-1), kind);
  }
  const table = { short, long, hasNumberOptions: entries.includes('-#') };
  TABLES.set(specification, table);
  return table;
}

/** A word that consists of known options. Only the last option in the word may take a value. */
interface KnownOption {
  readonly isKnown: true;
  /** The options before the last option, with their dashes. */
  readonly flags: readonly string[];
  /** The last option, with its dashes; `-#` for options such as `-5`. */
  readonly name: string;
  readonly kind: ValueKind;
  /** The value in the same word, or null if there is none. */
  readonly attachedValue: string | null;
}

interface UnknownOption {
  readonly isKnown: false;
  /** A text that names the unknown option in a message: the option, the word, or `-x in -abx`. */
  readonly description: string;
}

/** Splits a word that starts with a dash into options, like a program with these options. */
export function splitOption(word: string, table: OptionTable): KnownOption | UnknownOption {
  if (table.hasNumberOptions && /^-\d+$/.test(word)) {
    return { isKnown: true, flags: [], name: '-#', kind: 'none', attachedValue: null };
  }
  return word.startsWith('--') ? splitLong(word, table) : splitShort(word, table);
}

function splitLong(word: string, { long }: OptionTable): KnownOption | UnknownOption {
  const at = word.indexOf('=');
  const name = at < 0 ? word : word.slice(0, at);
  const kind = long.get(name.slice(2));
  if (kind === undefined) return { isKnown: false, description: name };
  if (at >= 0 && kind === 'none') return { isKnown: false, description: word };
  return {
    isKnown: true,
    flags: [],
    name,
    kind,
    attachedValue: at < 0 ? null : word.slice(at + 1),
  };
}

function splitShort(word: string, { short }: OptionTable): KnownOption | UnknownOption {
  const flags: string[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word.charAt(at)}`;
    const kind = short.get(word.charAt(at));
    if (kind === undefined) {
      return { isKnown: false, description: word.length === 2 ? word : `${name} in ${word}` };
    }
    const rest = word.slice(at + 1);
    if (rest === '') return { isKnown: true, flags, name, kind, attachedValue: null };
    if (kind !== 'none') return { isKnown: true, flags, name, kind, attachedValue: rest };
    flags.push(name);
  }
  return { isKnown: false, description: word };
}

/** Tells whether an option takes the next word as its value, if there is one. */
export function takesNextWord({
  kind,
  attachedValue,
}: Pick<KnownOption, 'kind' | 'attachedValue'>): boolean {
  return attachedValue === null && kind !== 'none' && kind !== 'optional_attached';
}

/**
 * Counts the words that an option and its value take: 0 if the word is not an option. Returns undefined if the option
 * is not in the table.
 */
export function countOptionWords(word: string, table: OptionTable): number | undefined {
  if (!isOption(word)) return 0;
  const option = splitOption(word, table);
  if (!option.isKnown) return undefined;
  return takesNextWord(option) ? 2 : 1;
}

/** Tells whether the shell may expand a word to any number of words instead of exactly one. */
export function canExpandToSeveralWords({ value, form }: ShellWord): boolean {
  return value === null && (form === 'glob' || form === 'open');
}

export function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}
