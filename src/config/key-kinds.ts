import type { JsonObject } from '../base/json.ts';

/** Whether a trusted project's file may set a key (docs/configuration.md). */
type ProjectRule = 'may' | 'never' | 'narrow';

/** One key of the configuration: what it takes, what it means, who may set it. */
export interface KeySpec<T> {
  readonly default: T;
  /** How the default is told where it is not a value (`by definition`). */
  readonly defaultText?: string;
  readonly meaning: string;
  /** The valid values, for messages: `a whole number from 0 to 16`. */
  readonly expects: string;
  /** The same without 0, where 0 is one of them. */
  readonly expectsAboveZero?: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the values in a file; it takes all that are valid, and may take more. */
  readonly schema: JsonObject;
  /** False: accepted, and without effect in this version. */
  readonly acts: boolean;
  /** `append`: each layer adds to those before it, so that no layer can take another's away. */
  readonly combine: 'replace' | 'append';
  readonly project: ProjectRule;
  /** What is told beside `expects` about one particular wrong value. */
  readonly wrongValueHints: Readonly<Record<string, string>>;
  accepts(value: unknown): value is T;
  /** A variable's or flag's text as the value it stands for; undefined: it stands for none. */
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

/** Decimal digits only: no `0x10`, `1e3`, `1_000`, blank or sign but a leading minus. */
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

/** NaN is within no range. */
function within(value: unknown, range: Range): boolean {
  return typeof value === 'number' && value >= range.min && value <= range.max;
}

/** A key whose default is no value: it is decided elsewhere when nobody sets it. */
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
  /** What parts the items of a text that is no JSON. Absent: it is one item. */
  readonly separator?: string;
  /** Default: any text that is not blank. */
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

/** Several as a JSON array; else one as it stands, or parted where no item can hold what parts them. */
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
