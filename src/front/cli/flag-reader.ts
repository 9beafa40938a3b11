import { UsageError } from '../../base/errors.ts';
import { quoteValue } from '../../config/message-text.ts';
import { describeFlagProblem, type FlagValue } from '../../config/text-layer.ts';
import { expandHome } from '../../sys/files/paths.ts';
import { flagSpec, type FlagName } from './flags.ts';
import { findFlag, type Scan } from './scan.ts';

const COUNT = /^\d{1,9}$/;

/** Reads and checks the flags of one command line. The methods that return values throw a UsageError for a wrong value. */
export class FlagReader {
  readonly #given: Scan['flags'];

  constructor(given: Scan['flags']) {
    this.#given = given;
  }

  has(name: FlagName): boolean {
    return this.#given.has(name);
  }

  /** Whether any flag was given. */
  get hasAny(): boolean {
    return this.#given.size > 0;
  }

  /** Returns those of the named flags that the command line has, with their dashes. */
  findGivenFlags(names: readonly FlagName[]): readonly string[] {
    return names.filter((name) => this.has(name)).map((name) => `--${name}`);
  }

  /** Returns the values of a flag whose value may be left out, and may look like a flag. */
  optionalTexts(name: FlagName): readonly string[] {
    return (this.#given.get(name) ?? []).filter((text) => text !== null);
  }

  /** Returns all values of a flag; in paths, `~` is expanded. */
  texts(name: FlagName): readonly string[] {
    const { path, value = '' } = flagSpec(name);
    return (this.#given.get(name) ?? []).map((text) => {
      // In `--model --verbose` the scanner took the next flag for the value.
      if (text === null || text.trim() === '' || findFlag(text) !== undefined) {
        throw new UsageError(`--${name} needs a value: --${name} ${value}`);
      }
      return path === undefined ? text : expandHome(text);
    });
  }

  /** Returns the last value of a flag; null if it was not given. */
  text(name: FlagName): string | null {
    return this.texts(name).at(-1) ?? null;
  }

  choice<const C extends string>(name: FlagName, choices: readonly C[], initial: C): C {
    const text = this.text(name);
    return text === null ? initial : parseChoice(name, text, choices);
  }

  choices<const C extends string>(name: FlagName, choices: readonly C[]): readonly C[] {
    return this.texts(name).map((text) => parseChoice(name, text, choices));
  }

  /** Returns the different values of a flag that takes several, with commas or repeated; `initial` if it was not given. */
  choiceList<const C extends string>(
    name: FlagName,
    choices: readonly C[],
    initial: readonly C[],
  ): readonly C[] {
    const texts = this.texts(name).flatMap((text) => text.split(','));
    if (texts.length === 0) return initial;
    return [...new Set(texts.map((text) => parseChoice(name, text.trim(), choices)))];
  }

  /** Returns a whole number of at least `minimum`; null if the flag was not given. */
  count(name: FlagName, minimum = 1): number | null {
    const text = this.text(name);
    if (text === null) return null;
    if (COUNT.test(text) && Number(text) >= minimum) return Number(text);
    throw new UsageError(
      `--${name} must be a whole number of at least ${minimum}, not ${quoteValue(text)}`,
    );
  }

  /** Returns the configuration values that the named flags set, in the order of the names. */
  configValues(names: readonly FlagName[]): readonly FlagValue[] {
    return names.flatMap((name) => {
      const { configKey: key, refusesZero, joinedBy } = flagSpec(name);
      if (key === undefined) return [];
      const given = this.texts(name);
      const texts = joinedBy === undefined || given.length < 2 ? given : [given.join(joinedBy)];
      return texts.map((text): FlagValue => {
        const problem = describeFlagProblem(key, text, { aboveZero: refusesZero ?? false });
        if (problem !== undefined) throw new UsageError(`--${name} ${problem}`);
        return { key, flag: `--${name}`, text };
      });
    });
  }
}

function parseChoice<C extends string>(name: FlagName, text: string, choices: readonly C[]): C {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not ${quoteValue(text)}`);
}
