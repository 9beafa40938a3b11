import { UsageError } from '../../base/errors.ts';
import { quoted } from '../../config/quote.ts';
import { flagProblem, type FlagValue } from '../../config/text-layer.ts';
import { expandHome } from '../../sys/paths.ts';
import { FLAG_NAMES, flagSpec, type FlagName } from './flags.ts';
import type { Scan } from './scan.ts';

const COUNT = /^\d{1,9}$/;

/** The flags of one command line, checked when read. Every method throws a UsageError. */
export class FlagReader {
  readonly #flags: Scan['flags'];

  constructor(flags: Scan['flags']) {
    this.#flags = flags;
  }

  given(name: FlagName): boolean {
    return this.#flags.has(name);
  }

  /** All texts of a flag that takes one; of a path with `~` expanded. */
  texts(name: FlagName): readonly string[] {
    const { isPath } = flagSpec(name);
    return (this.#flags.get(name) ?? []).map((text) => {
      // `--model --verbose`: the parser took the next flag for the value.
      if (text === null || text.trim() === '' || isFlag(text)) {
        throw new UsageError(`--${name} needs a value: --${name} ${flagSpec(name).value ?? ''}`);
      }
      return isPath === true ? expandHome(text) : text;
    });
  }

  /** Null when not given; of several, the last. */
  text(name: FlagName): string | null {
    return this.texts(name).at(-1) ?? null;
  }

  choice<const C extends string>(name: FlagName, choices: readonly C[], initial: C): C {
    const text = this.text(name);
    return text === null ? initial : choiceOf(name, text, choices);
  }

  /** All of the texts, each one of these. */
  choices<const C extends string>(name: FlagName, choices: readonly C[]): readonly C[] {
    return this.texts(name).map((text) => choiceOf(name, text, choices));
  }

  /** A whole number. */
  count(name: FlagName, { least = 1 }: { readonly least?: number } = {}): number | null {
    const text = this.text(name);
    if (text === null) return null;
    if (!COUNT.test(text) || Number(text) < least) {
      throw new UsageError(
        `--${name} must be a whole number of at least ${least}, not ${quoted(text)}`,
      );
    }
    return Number(text);
  }

  /** What the flags set in the configuration, in the order of the table. */
  configValues(names: readonly FlagName[]): readonly FlagValue[] {
    return names.flatMap((name) => {
      const { configKey: key, aboveZero, joinedBy } = flagSpec(name);
      if (key === undefined) return [];
      const given = this.texts(name);
      const texts = joinedBy === undefined || given.length < 2 ? given : [given.join(joinedBy)];
      return texts.map((text): FlagValue => {
        const problem = flagProblem(key, text, { aboveZero: aboveZero ?? false });
        if (problem !== undefined) throw new UsageError(`--${name} ${problem}`);
        return { key, flag: `--${name}`, text };
      });
    });
  }
}

function choiceOf<C extends string>(name: FlagName, text: string, choices: readonly C[]): C {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not ${quoted(text)}`);
}

function isFlag(text: string): boolean {
  return FLAG_NAMES.some(
    (name) => text === `--${name}` || text === `-${flagSpec(name).short ?? name}`,
  );
}
