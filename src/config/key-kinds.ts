import type { JsonObject } from '../base/json.ts';
import { LIMITS, type LimitName, type LimitRow } from '../protocol/limits.ts';

/**
 * The rule for a trusted project's file (docs/configuration.md): `may` lets the file set the key, `never` does not, and
 * `narrow` lets it only reduce the value of the user.
 */
type ProjectRule = 'may' | 'never' | 'narrow';

/** One key of the configuration: its values, its meaning, and who may set it. */
export interface KeySpec<T> {
  readonly default: T;
  /** The description of the default for a key whose default is not a fixed value, such as `by definition`. */
  readonly defaultText?: string;
  /** The description of the key in the list of settings. */
  readonly meaning: string;
  /** The valid values as messages show them: `a whole number from 0 to 16`. */
  readonly expects: string;
  /** The valid values without 0, for a key that accepts 0. */
  readonly expectsAboveZero?: string;
  readonly choices?: readonly string[];
  /** The JSON Schema of the values in a file. It accepts all valid values, but may also accept invalid ones. */
  readonly schema: JsonObject;
  /**
   * With `append`, each layer adds items to those of the layers below, so that no layer can remove another layer's
   * items.
   */
  readonly combine: 'replace' | 'append';
  readonly project: ProjectRule;
  /** Hints that follow the message about particular wrong values, by the wrong value. */
  readonly wrongValueHints: Readonly<Record<string, string>>;
  accepts(value: unknown): value is T;
  /** Converts the text of a variable or a flag. Returns undefined if the text is not valid. */
  fromText(text: string): unknown;
}

/** Options of a key, with the defaults of most keys. */
interface KeyOptions {
  /** Default: `may`. */
  readonly project?: ProjectRule;
}

function commonFields(meaning: string, { project = 'may' }: KeyOptions) {
  return { meaning, project, combine: 'replace', wrongValueHints: {} } as const;
}

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export function booleanKey(
  defaultValue: boolean,
  meaning: string,
  options: KeyOptions = {},
): KeySpec<boolean> {
  return {
    ...commonFields(meaning, options),
    default: defaultValue,
    expects: 'true or false',
    schema: { type: 'boolean', default: defaultValue },
    accepts: (value) => typeof value === 'boolean',
    fromText: (text) => BOOLEAN_WORDS.get(text.toLowerCase()),
  };
}

/** The minimum and the maximum value, both valid. */
type Range = readonly [min: number, max: number];

/** Accepts decimal digits and a leading minus, but not `0x10`, `1e3`, `1_000` or blanks. */
const WHOLE_NUMBER = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,15}(\.\d{1,9})?$/;

export function integerKey(
  defaultValue: number,
  range: Range,
  meaning: string,
  options: KeyOptions = {},
): KeySpec<number> {
  const [min, max] = range;
  return {
    ...commonFields(meaning, options),
    default: defaultValue,
    expects: `a whole number from ${min} to ${max}`,
    ...(min === 0 ? { expectsAboveZero: `a whole number from 1 to ${max}` } : {}),
    schema: { type: 'integer', minimum: min, maximum: max, default: defaultValue },
    accepts: (value): value is number => Number.isInteger(value) && isInRange(value, range),
    fromText: (text) => (WHOLE_NUMBER.test(text) ? Number(text) : undefined),
  };
}

export function decimalKey(
  defaultValue: number,
  range: Range,
  meaning: string,
  options: KeyOptions = {},
): KeySpec<number> {
  const [min, max] = range;
  return {
    ...commonFields(meaning, options),
    default: defaultValue,
    expects: `a number from ${min} to ${max}`,
    ...(min === 0 ? { expectsAboveZero: `a number above 0, and at most ${max}` } : {}),
    schema: { type: 'number', minimum: min, maximum: max, default: defaultValue },
    accepts: (value): value is number => isInRange(value, range),
    fromText: (text) => (DECIMAL.test(text) ? Number(text) : undefined),
  };
}

/** The keys of the limits in one section that have one scope. */
type LimitKeys<Section extends LimitRow['section'], Scope extends LimitRow['scope']> = {
  readonly [
    N in LimitName as (typeof LIMITS)[N] extends { section: Section; scope: Scope } ? N : never
  ]: KeySpec<(typeof LIMITS)[N]['default'] extends null ? number | null : number>;
};

/** Creates the keys of the limits in a section that have a scope. A project's file can only narrow them. */
export function limitKeys<
  const Section extends LimitRow['section'],
  const Scope extends LimitRow['scope'],
>(section: Section, scope: Scope): LimitKeys<Section, Scope> {
  const keys = Object.entries<LimitRow>(LIMITS)
    .filter(([, row]) => row.section === section && row.scope === scope)
    .map(([name, row]) => [name, createLimitKey(row)]);
  return Object.fromEntries(keys) as LimitKeys<Section, Scope>;
}

/** Creates the key of a limit. Its values are whole numbers, unless the limit measures a cost or a time. */
function createLimitKey(row: LimitRow): KeySpec<number> | KeySpec<number | null> {
  const { measure, default: defaultValue, range, meaning } = row;
  const createKey = measure === 'costUsd' || measure === 'wallMs' ? decimalKey : integerKey;
  const key = createKey(defaultValue ?? range[0], range, meaning, { project: 'narrow' });
  return defaultValue === null ? optionalKey(key, 'by definition') : key;
}

/** Returns whether a value is a number in the range. NaN is not. */
function isInRange(value: unknown, [min, max]: Range): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

/** Creates a key whose default is null, because something other than the table decides when the key is not set. */
export function optionalKey<T>(spec: KeySpec<T>, defaultText: string): KeySpec<T | null> {
  const { default: _, ...schema } = spec.schema;
  return {
    ...spec,
    default: null,
    defaultText,
    schema,
    accepts: (value): value is T | null => value === null || spec.accepts(value),
  };
}

export function textKey(
  expects: string,
  meaning: string,
  options: KeyOptions = {},
): KeySpec<string> {
  return {
    ...commonFields(meaning, options),
    default: '',
    expects,
    schema: { type: 'string', pattern: '\\S' },
    accepts: (value): value is string => typeof value === 'string' && value.trim() !== '',
    fromText: (text) => text,
  };
}

interface ChoiceOptions extends KeyOptions {
  readonly wrongValueHints?: Readonly<Record<string, string>>;
}

export function choiceKey<const C extends string>(
  defaultValue: C,
  choices: readonly C[],
  meaning: string,
  options: ChoiceOptions = {},
): KeySpec<C> {
  return {
    ...commonFields(meaning, options),
    default: defaultValue,
    choices,
    wrongValueHints: options.wrongValueHints ?? {},
    expects: choices.join(', '),
    schema: { enum: choices, default: defaultValue },
    accepts: (value): value is C => choices.some((choice) => choice === value),
    fromText: (text) => text,
  };
}

interface ListOptions extends KeyOptions {
  readonly meaning: string;
  readonly combine: 'replace' | 'append';
  readonly expects: string;
  /** Default: an empty list. */
  readonly default?: readonly string[];
  /** The separator of items in a text that is not a JSON array. Default: none, so that the text is one item. */
  readonly separator?: string;
  /** Returns whether an item is valid. Default: any text that is not blank. */
  readonly acceptsItem?: (item: string) => boolean;
}

export function listKey(options: ListOptions): KeySpec<readonly string[]> {
  const { acceptsItem = (item) => item.trim() !== '', default: preset = [] } = options;
  return {
    ...commonFields(options.meaning, options),
    default: preset,
    combine: options.combine,
    expects: options.expects,
    schema: { type: 'array', items: { type: 'string' }, default: [...preset] },
    accepts: (value): value is readonly string[] =>
      Array.isArray(value) && value.every((item) => typeof item === 'string' && acceptsItem(item)),
    fromText: (text) => parseList(text, options.separator),
  };
}

/** Reads a list: a JSON array, else items between separators, else (without a separator) one item. */
function parseList(text: string, separator: string | undefined): unknown {
  if (!text.trimStart().startsWith('[')) {
    return separator === undefined ? [text] : text.split(separator).map((item) => item.trim());
  }
  try {
    return JSON.parse(text);
  } catch {
    // The text is not JSON. The caller reports the variable and the values that it accepts.
    return undefined;
  }
}
