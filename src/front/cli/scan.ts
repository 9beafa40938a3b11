import { FLAG_NAMES, flagSpec, type FlagName } from './flags.ts';

/** An argument list, split into flags and words. */
export interface Scan {
  /** The values of each flag, in order; null for a flag given without a value. */
  readonly flags: ReadonlyMap<FlagName, readonly (string | null)[]>;
  /** The arguments that are neither flags nor values, in order, and all that follow `--`. */
  readonly words: readonly string[];
  /** Set if the arguments contain `--`; all arguments after it are words. */
  readonly flagsEnded?: true;
  /** The first argument that begins with a dash and names no flag. */
  readonly unknown?: string;
  /** The last flag, if its value is missing. */
  readonly incomplete?: string;
}

/** The flags by their spellings, such as `--model` and `-p`. */
const SPELLINGS: ReadonlyMap<string, FlagName> = new Map(
  FLAG_NAMES.flatMap((name) => {
    const { short, formerName } = flagSpec(name);
    const spellings = [
      `--${name}`,
      ...(short === undefined ? [] : [`-${short}`]),
      ...(formerName === undefined ? [] : [`--${formerName}`]),
    ];
    return spellings.map((spelling): [string, FlagName] => [spelling, name]);
  }),
);

/** Finds the flag that an argument such as `--model` or `-p` names. */
export function findFlag(spelling: string): FlagName | undefined {
  return SPELLINGS.get(spelling);
}

/**
 * Splits an argument list by the table of flags, with the forms of POSIX and GNU: `--flag value`,
 * `--flag=value`, `-f value`, `-fvalue`, `-fg`, and `--` before words that begin with a dash. No library is used,
 * because loading one slows each start down (docs/decisions/0003).
 */
export function scanArguments(argv: readonly string[]): Scan {
  const flags = new Map<FlagName, (string | null)[]>();
  const words: string[] = [];
  const rest = argv.toReversed();
  for (let word = rest.pop(); word !== undefined; word = rest.pop()) {
    if (word === '--') return { flags, words: [...words, ...rest.toReversed()], flagsEnded: true };
    if (!startsWithDash(word)) {
      words.push(word);
      continue;
    }
    const flag = readFlag(word);
    if (flag === null) return { flags, words, unknown: word };
    if (flag.otherFlags !== undefined) rest.push(flag.otherFlags);
    let value = flag.value ?? null;
    const { value: takesValue, hasOptionalValue = false } = flagSpec(flag.name);
    if (takesValue !== undefined && value === null) {
      const next = rest.at(-1);
      if (!hasOptionalValue || (next !== undefined && !startsWithDash(next))) {
        if (next === undefined) return { flags, words, incomplete: word };
        value = next;
        rest.pop();
      }
    }
    flags.set(flag.name, [...(flags.get(flag.name) ?? []), value]);
  }
  return { flags, words };
}

interface ReadFlag {
  readonly name: FlagName;
  /** The value in the same argument, as in `--model=fast`. */
  readonly value?: string;
  /** The other flags of an argument such as `-hv`. */
  readonly otherFlags?: string;
}

function readFlag(word: string): ReadFlag | null {
  const isLong = word.startsWith('--');
  const equals = word.indexOf('=');
  const end = isLong ? (equals === -1 ? word.length : equals) : 2;
  const name = SPELLINGS.get(word.slice(0, end));
  if (name === undefined) return null;
  if (end === word.length) return { name };
  if (flagSpec(name).value !== undefined)
    return { name, value: word.slice(isLong ? end + 1 : end) };
  return isLong ? null : { name, otherFlags: `-${word.slice(end)}` };
}

function startsWithDash(word: string): boolean {
  return word.length > 1 && word.startsWith('-');
}
