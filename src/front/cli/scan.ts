import { FLAG_NAMES, flagSpec, type FlagName } from './flags.ts';

/** What stands in an argument list, before anything is made of it. */
export interface Scan {
  /** The texts given to each flag, in order; null for a flag given without a value. */
  readonly flags: ReadonlyMap<FlagName, readonly (string | null)[]>;
  /** What is neither a flag nor a flag's value, in order; all that follows `--`. */
  readonly words: readonly string[];
  /** `--` stood in it: what follows are words. */
  readonly flagsEnded?: true;
  /** The first argument that looks like a flag and is none. */
  readonly unknown?: string;
  /** The flag at the end of the line whose value is missing. */
  readonly incomplete?: string;
}

/** Every spelling of a flag: `--model`, `-p`. */
const SPELLINGS: ReadonlyMap<string, FlagName> = new Map(
  FLAG_NAMES.flatMap((name): [string, FlagName][] => {
    const { short } = flagSpec(name);
    return short === undefined
      ? [[`--${name}`, name]]
      : [
          [`--${name}`, name],
          [`-${short}`, name],
        ];
  }),
);

/**
 * Splits an argument list by the table of flags, as POSIX and GNU have it: `--flag value`,
 * `--flag=value`, `-f value`, `-fvalue`, `-fg`, and `--` before words that begin with a dash. All
 * commands share one table, so a flag is read the same wherever it stands. Our own, since a library
 * costs a tenth of a start (docs/decisions/0003).
 */
export function scanArguments(argv: readonly string[]): Scan {
  const flags = new Map<FlagName, (string | null)[]>();
  const words: string[] = [];
  const left = argv.toReversed();
  for (let word = left.pop(); word !== undefined; word = left.pop()) {
    if (word === '--') return { flags, words: [...words, ...left.toReversed()], flagsEnded: true };
    if (!looksLikeFlag(word)) {
      words.push(word);
      continue;
    }
    const read = readFlag(word);
    if (read === null) return { flags, words, unknown: word };
    const { name, inline, rest } = read;
    if (rest !== null) left.push(rest);
    const value = inline ?? (rest === null ? takeValue(name, left) : null);
    if (value === MISSING) return { flags, words, incomplete: word };
    flags.set(name, [...(flags.get(name) ?? []), value]);
  }
  return { flags, words };
}

const MISSING = Symbol('a value that is not there');

/** The next argument, where the flag takes one; what it may leave out never begins with a dash. */
function takeValue(name: FlagName, left: string[]): string | null | typeof MISSING {
  const { value, optionalValue } = flagSpec(name);
  const next = left.at(-1);
  if (value === undefined) return null;
  if (optionalValue === true && (next === undefined || looksLikeFlag(next) || next === '--')) {
    return null;
  }
  return left.pop() ?? MISSING;
}

interface ReadFlag {
  readonly name: FlagName;
  readonly inline: string | null;
  /** The other flags of a bundle such as `-hv`. */
  readonly rest: string | null;
}

function readFlag(word: string): ReadFlag | null {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const spelling = equals === -1 ? word : word.slice(0, equals);
  const name = SPELLINGS.get(spelling);
  if (name !== undefined) {
    const inline = equals === -1 ? null : word.slice(equals + 1);
    if (inline !== null && flagSpec(name).value === undefined) return null;
    return { name, inline, rest: null };
  }
  if (word.startsWith('--') || word.length < 3) return null;
  const first = SPELLINGS.get(word.slice(0, 2));
  if (first === undefined) return null;
  const behind = word.slice(2);
  return flagSpec(first).value === undefined
    ? { name: first, inline: null, rest: `-${behind}` }
    : { name: first, inline: behind, rest: null };
}

function looksLikeFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-') && word !== '--';
}
