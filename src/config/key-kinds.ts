import type { JsonObject } from '../base/json.ts';
import { LIMITS, type LimitName } from '../protocol/limits.ts';

/**
 * The rule for a trusted project's file (docs/configuration.md): it may set the key, may never set it, or may only
 * narrow it.
 */
type ProjectRule = 'may' | 'never' | 'narrow';

/** One key of the configuration: its values, its meaning, and who may set it. */
export interface KeySpec<T> {
  readonly default: T;
  /** The text that stands for a default that is not a value (`by definition`). */
  readonly defaultText?: string;
  readonly meaning: string;
  /** The valid values as messages show them: `a whole number from 0 to 16`. */
  readonly expects: string;
  /** The same without 0, for a key that accepts 0. */
  readonly expectsAboveZero?: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the values in a file. It accepts all valid values, and may accept more. */
  readonly schema: JsonObject;
  /**
   * With `append`, each layer adds to those before it, so that no layer can remove a value of another one.
   */
  readonly combine: 'replace' | 'append';
  readonly project: ProjectRule;
  /** Further hints for particular wrong values. */
  readonly wrongValueHints: Readonly<Record<string, string>>;
  accepts(value: unknown): value is T;
  /** Converts the text of a variable or a flag. Returns undefined if it is not valid. */
  fromText(text: string): unknown;
}

/** The settings of a key that differ from those of most keys. */
interface KeyOptions {
  /** Default: `may`. */
  readonly project?: ProjectRule;
}

function common(meaning: string, { project = 'may' }: KeyOptions) {
  return { meaning, project, combine: 'replace', wrongValueHints: {} } as const;
}

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export function booleanKey(
  initial: boolean,
  meaning: string,
  options: KeyOptions = {},
): KeySpec<boolean> {
  return {
    ...common(meaning, options),
    default: initial,
    expects: 'true or false',
    schema: { type: 'boolean', default: initial },
    accepts: (value) => typeof value === 'boolean',
    fromText: (text) => BOOLEAN_WORDS.get(text.toLowerCase()),
  };
}

/** The least and the greatest value. */
type Range = readonly [min: number, max: number];

/** Accepts decimal digits and a leading minus, but not `0x10`, `1e3`, `1_000` or blanks. */
const WHOLE = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,15}(\.\d{1,9})?$/;

export function integerKey(
  initial: number,
  range: Range,
  meaning: string,
  options: KeyOptions = {},
): KeySpec<number> {
  const [min, max] = range;
  return {
    ...common(meaning, options),
    default: initial,
    expects: `a whole number from ${min} to ${max}`,
    ...(min === 0 ? { expectsAboveZero: `a whole number from 1 to ${max}` } : {}),
    schema: { type: 'integer', minimum: min, maximum: max, default: initial },
    accepts: (value): value is number => Number.isInteger(value) && within(value, range),
    fromText: (text) => (WHOLE.test(text) ? Number(text) : undefined),
  };
}

export function decimalKey(
  initial: number,
  range: Range,
  meaning: string,
  options: KeyOptions = {},
): KeySpec<number> {
  const [min, max] = range;
  return {
    ...common(meaning, options),
    default: initial,
    expects: `a number from ${min} to ${max}`,
    ...(min === 0 ? { expectsAboveZero: `a number above 0, and at most ${max}` } : {}),
    schema: { type: 'number', minimum: min, maximum: max, default: initial },
    accepts: (value): value is number => within(value, range),
    fromText: (text) => (DECIMAL.test(text) ? Number(text) : undefined),
  };
}

type LimitKeyRow = readonly [initial: number, range: Range, meaning: string];

/** Makes the keys of limits. A project's file can only narrow them. */
export function limitKeys<N extends LimitName>(
  rows: Readonly<Record<N, LimitKeyRow>>,
): Readonly<Record<N, KeySpec<number>>> {
  const keys = Object.entries<LimitKeyRow>(rows).map(([name, row]) => [
    name,
    limitKey(name as N, row),
  ]);
  return Object.fromEntries(keys) as Record<N, KeySpec<number>>;
}

/** Makes the key of one limit. The measure of the limit says whether its values are whole numbers. */
export function limitKey(name: LimitName, [initial, range, meaning]: LimitKeyRow): KeySpec<number> {
  const { measure } = LIMITS[name];
  const makeKey = measure === 'costUsd' || measure === 'wallMs' ? decimalKey : integerKey;
  return makeKey(initial, range, meaning, { project: 'narrow' });
}

/** Returns false for NaN, too. */
function within(value: unknown, [min, max]: Range): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

/** Makes a key whose default is no value, because something else decides if nobody sets it. */
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

export function textKey(expects: string, meaning: string): KeySpec<string> {
  return {
    ...common(meaning, {}),
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
  initial: C,
  choices: readonly C[],
  meaning: string,
  options: ChoiceOptions = {},
): KeySpec<C> {
  return {
    ...common(meaning, options),
    default: initial,
    choices,
    wrongValueHints: options.wrongValueHints ?? {},
    expects: choices.join(', '),
    schema: { enum: choices, default: initial },
    accepts: (value): value is C => choices.some((choice) => choice === value),
    fromText: (text) => text,
  };
}

interface ListOptions extends KeyOptions {
  readonly meaning: string;
  readonly combine: 'replace' | 'append';
  readonly expects: string;
  /** The separator of items in a text that is no JSON. Default: the text is one item. */
  readonly separator?: string;
  /** Accepts an item. Default: any text that is not blank. */
  readonly takes?: (item: string) => boolean;
}

export function listKey(options: ListOptions): KeySpec<readonly string[]> {
  const { takes = (item) => item.trim() !== '' } = options;
  return {
    ...common(options.meaning, options),
    default: [],
    combine: options.combine,
    expects: options.expects,
    schema: { type: 'array', items: { type: 'string' }, default: [] },
    accepts: (value): value is readonly string[] =>
      Array.isArray(value) && value.every((item) => typeof item === 'string' && takes(item)),
    fromText: (text) => listFromText(text, options.separator),
  };
}

/** Reads a JSON array, or one item, or several items if no item can contain the separator. */
function listFromText(text: string, separator: string | undefined): unknown {
  if (!text.trimStart().startsWith('[')) {
    return separator === undefined ? [text] : text.split(separator).map((item) => item.trim());
  }
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: no value, and the caller names the variable and what it takes.
    return undefined;
  }
}
