import { Command, CommanderError, Option } from 'commander';
import { FLAG_NAMES, flagSpec, type FlagName } from './flags.ts';

/** What stands in an argument list, before anything is made of it. */
export interface Scan {
  /** The texts given to each flag, in order; null for a flag given without a value. */
  readonly flags: ReadonlyMap<FlagName, readonly (string | null)[]>;
  /** What is neither a flag nor a flag's value, in order; all that follows `--`. */
  readonly words: readonly string[];
  /** The first argument that looks like a flag and is none. */
  readonly unknown?: string;
  /** The flag at the end of the line whose value is missing. */
  readonly incomplete?: string;
}

/**
 * Splits an argument list by the table of flags. All commands share one table, so a flag is read the
 * same wherever it stands, and what comes after `--` is never taken for a command's flag.
 */
export function scanArguments(argv: readonly string[]): Scan {
  const flags = new Map<FlagName, (string | null)[]>();
  const parser = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} });
  for (const name of FLAG_NAMES) {
    parser.addOption(new Option(flagSyntax(name)));
    parser.on(`option:${name}`, (value: unknown) => {
      const texts = flags.get(name) ?? [];
      flags.set(name, [...texts, typeof value === 'string' ? value : null]);
    });
  }
  try {
    const { operands, unknown } = parser.parseOptions([...argv]);
    const [first] = unknown;
    return { flags, words: operands, ...(first === undefined ? {} : { unknown: first }) };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Without a parser for values the only thing it can object to is a value missing at the end.
    return { flags, words: [], incomplete: argv.at(-1) ?? '' };
  }
}

/** `-p, --print [PROMPT]`: as commander and the help write a flag. */
export function flagSyntax(name: FlagName): string {
  const { short, value, optionalValue } = flagSpec(name);
  const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
  if (value === undefined) return names;
  return optionalValue === true ? `${names} [${value}]` : `${names} <${value}>`;
}
