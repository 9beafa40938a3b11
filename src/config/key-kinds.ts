import type { JsonObject } from '../base/json.ts';

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
  /** False if the key is accepted and has no effect in this version. */
  readonly acts: boolean;
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

interface Common {
  readonly meaning: string;
  readonly defaultText?: string;
  readonly acts?: boolean;
  readonly project?: ProjectRule;
}

function common(options: Common) {
  return {
    meaning: options.meaning,
    ...(options.defaultText === undefined ? {} : { defaultText: options.defaultText }),
    acts: options.acts ?? true,
    project: options.project ?? 'may',
    combine: 'replace',
    wrongValueHints: {},
  } as const;
}

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export function booleanKey(initial: boolean, options: Common): KeySpec<boolean> {
  return {
    ...common(options),
    default: initial,
    expects: 'true or false',
    schema: { type: 'boolean', default: initial },
    accepts: (value) => typeof value === 'boolean',
    fromText: (text) => BOOLEAN_WORDS.get(text.toLowerCase()),
  };
}

interface Range extends Common {
  readonly min: number;
  readonly max: number;
}

/** Accepts decimal digits and a leading minus, but not `0x10`, `1e3`, `1_000` or blanks. */
const WHOLE = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,15}(\.\d{1,9})?$/;

export function integerKey(initial: number, options: Range): KeySpec<number> {
  return {
    ...common(options),
    default: initial,
    expects: `a whole number from ${options.min} to ${options.max}`,
    ...(options.min === 0 ? { expectsAboveZero: `a whole number from 1 to ${options.max}` } : {}),
    schema: { type: 'integer', ...bounds(options), default: initial },
    accepts: (value): value is number => Number.isInteger(value) && within(value, options),
    fromText: (text) => (WHOLE.test(text) ? Number(text) : undefined),
  };
}

export function decimalKey(initial: number, options: Range): KeySpec<number> {
  return {
    ...common(options),
    default: initial,
    expects: `a number from ${options.min} to ${options.max}`,
    ...(options.min === 0
      ? { expectsAboveZero: `a number above 0, and at most ${options.max}` }
      : {}),
    schema: { type: 'number', ...bounds(options), default: initial },
    accepts: (value): value is number => within(value, options),
    fromText: (text) => (DECIMAL.test(text) ? Number(text) : undefined),
  };
}

function bounds({ min, max }: Range): JsonObject {
  return { minimum: min, maximum: max };
}

/** Returns false for NaN, too. */
function within(value: unknown, range: Range): boolean {
  return typeof value === 'number' && value >= range.min && value <= range.max;
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

export function textKey(options: Common & { readonly expects: string }): KeySpec<string> {
  return {
    ...common(options),
    default: '',
    expects: options.expects,
    schema: { type: 'string', pattern: '\\S' },
    accepts: (value): value is string => typeof value === 'string' && value.trim() !== '',
    fromText: (text) => text,
  };
}

interface ChoiceOptions extends Common {
  readonly wrongValueHints?: Readonly<Record<string, string>>;
}

export function choiceKey<const C extends string>(
  initial: C,
  choices: readonly C[],
  options: ChoiceOptions,
): KeySpec<C> {
  return {
    ...common(options),
    default: initial,
    choices,
    wrongValueHints: options.wrongValueHints ?? {},
    expects: choices.join(', '),
    schema: { enum: choices, default: initial },
    accepts: (value): value is C => choices.some((choice) => choice === value),
    fromText: (text) => text,
  };
}

interface ListOptions extends Common {
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
    ...common(options),
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
