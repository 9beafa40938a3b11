import { isTomlTable } from '../base/toml-statements.ts';
import type { JsonObject } from '../base/json.ts';
import {
  ATTACHMENT_KINDS,
  type AttachmentKind,
  type ModelOverride,
} from '../model/settings/model-settings.ts';
import { escapeLine, quoteValue } from './message-text.ts';
import type { ConfigProblem, ValueSource } from './setting.ts';
import type { TomlFile } from './parse-toml.ts';
import { sortByNearness } from '../base/name-suggestions.ts';
import { lazy } from '../base/lazy.ts';

/**
 * The values of one model in `[models.catalogue."PROVIDER/MODEL"]` of a file. They replace the values of Muster's own
 * catalogue.
 */
export interface CatalogueConfig extends ModelOverride {
  readonly source: ValueSource;
}

/** A key of a model whose value is a number. */
interface NumberKey {
  /** The property of the model (`MODEL_KEYS`) or of its price (`PRICE_KEYS`) that the key sets. */
  readonly field: string;
  readonly min: number;
  readonly max: number;
  readonly isWhole: boolean;
}

const price = { min: 0, max: 1_000_000, isWhole: false };

const MODEL_KEYS: ReadonlyMap<string, NumberKey> = new Map<string, NumberKey>([
  ['context_window', { field: 'contextWindow', min: 256, max: 1_000_000_000, isWhole: true }],
  ['output_limit', { field: 'outputLimit', min: 16, max: 1_000_000_000, isWhole: true }],
]);

const ATTACHMENTS = 'attachments';

const PRICE_KEYS: ReadonlyMap<string, NumberKey> = new Map<string, NumberKey>([
  ['price_input', { ...price, field: 'input' }],
  ['price_output', { ...price, field: 'output' }],
  ['price_cache_read', { ...price, field: 'cacheRead' }],
  ['price_cache_write', { ...price, field: 'cacheWrite' }],
]);

/**
 * Matches `PROVIDER/MODEL`. The JSON Schema contains this pattern, so it uses only syntax that every dialect of regular
 * expressions has.
 */
const MODEL_NAME_PATTERN = lazy(
  () =>
    // oxlint-disable-next-line no-control-regex -- not every dialect has `\p{Cc}`
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}[/][^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]{0,255}$/,
);

/** JSON Schema of `[models.catalogue]` of a file. */
export function catalogueSchema(): JsonObject {
  const numbers = [...MODEL_KEYS, ...PRICE_KEYS].map(([name, key]) => [
    name,
    {
      description: describeExpectedNumber(key),
      type: key.isWhole ? 'integer' : 'number',
      minimum: key.min,
      maximum: key.max,
    },
  ]);
  return {
    type: 'object',
    description: 'corrections to the catalogue of models, by "PROVIDER/MODEL"',
    propertyNames: { pattern: MODEL_NAME_PATTERN().source },
    additionalProperties: {
      type: 'object',
      properties: {
        ...Object.fromEntries(numbers),
        [ATTACHMENTS]: { type: 'array', items: { enum: ATTACHMENT_KINDS } },
      },
      // A price needs both an input and an output price.
      dependencies: Object.fromEntries(
        [...PRICE_KEYS.keys()].map((name) => [name, ['price_input', 'price_output']]),
      ),
      additionalProperties: false,
    },
  };
}

export interface CatalogueReading {
  readonly models: ReadonlyMap<string, CatalogueConfig>;
  readonly problems: readonly ConfigProblem[];
}

/** Reads `[models.catalogue.*]` of a file. */
export function readCatalogue(value: unknown, file: TomlFile): CatalogueReading {
  const path = ['models', 'catalogue'];
  const models = new Map<string, CatalogueConfig>();
  if (!isTomlTable(value)) {
    const message = 'write it as [models.catalogue."PROVIDER/MODEL"]';
    return { models, problems: [{ where: file.where(path), message }] };
  }
  const problems: ConfigProblem[] = [];
  for (const [name, table] of Object.entries(value)) {
    const modelPath = [...path, name];
    const where = file.where(modelPath);
    if (!MODEL_NAME_PATTERN().test(name))
      problems.push({ where, message: describeWrongName(name) });
    else if (!isTomlTable(table)) {
      problems.push({ where, message: `write it as a table: [${catalogueKey(name)}]` });
    } else {
      const reading = readModel(Object.entries(table), modelPath, file);
      problems.push(...reading.problems);
      if (reading.problems.length === 0) {
        models.set(name, { ...reading.override, source: { kind: 'config', where } });
      }
    }
  }
  return { models, problems };
}

/** Returns the key of a model as it is written in a file: `models.catalogue."anthropic/claude-sonnet-5"`. */
export function catalogueKey(model: string): string {
  return escapeLine(`models.catalogue."${model}"`);
}

function describeWrongName(name: string): string {
  return `${quoteValue(name)} is not the name of a model; write "PROVIDER/MODEL" in quotes, like [models.catalogue."openai/gpt-5"]`;
}

function readModel(
  entries: readonly (readonly [string, unknown])[],
  path: readonly string[],
  file: TomlFile,
): { readonly override: ModelOverride; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const numbers: Record<string, number> = {};
  const prices = new Map<string, number>();
  let attachments: readonly AttachmentKind[] | undefined;
  const model = catalogueKey(path.at(-1) ?? '');
  for (const [name, value] of entries) {
    const where = file.where([...path, name]);
    if (name === ATTACHMENTS) {
      if (isAttachmentKindList(value)) attachments = value;
      else problems.push({ where, message: `${model}.${name} must be a list of ${KIND_LIST}` });
      continue;
    }
    const priceKey = PRICE_KEYS.get(name);
    const key = priceKey ?? MODEL_KEYS.get(name);
    if (key === undefined) problems.push({ where, message: describeUnknownKey(name, model) });
    else if (!isValidNumber(key, value)) {
      problems.push({
        where,
        message: `${model}.${name} must be ${describeExpectedNumber(key)}, not ${quoteValue(value)}`,
      });
    } else if (priceKey === undefined) numbers[key.field] = value;
    else prices.set(key.field, value);
  }
  const values = { ...numbers, ...(attachments === undefined ? {} : { attachments }) };
  const input = prices.get('input');
  const output = prices.get('output');
  if (prices.size === 0 || problems.length > 0) return { override: values, problems };
  if (input === undefined || output === undefined) {
    const message = `${model}: a price needs both price_input and price_output`;
    return { override: values, problems: [{ where: file.where(path), message }] };
  }
  // If a cache has no price of its own, cached tokens cost the same as other input tokens.
  const cacheRead = prices.get('cacheRead') ?? input;
  const cacheWrite = prices.get('cacheWrite') ?? input;
  return { override: { ...values, price: { input, output, cacheRead, cacheWrite } }, problems };
}

const KIND_LIST = ATTACHMENT_KINDS.map((kind) => `"${kind}"`).join(' and ');

function isAttachmentKindList(value: unknown): value is readonly AttachmentKind[] {
  const isKind = (each: unknown): boolean => ATTACHMENT_KINDS.some((kind) => kind === each);
  return Array.isArray(value) && value.every(isKind);
}

function isValidNumber({ min, max, isWhole }: NumberKey, value: unknown): value is number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  return value >= min && value <= max && (!isWhole || Number.isInteger(value));
}

function describeExpectedNumber({ min, max, isWhole }: NumberKey): string {
  return isWhole
    ? `a whole number of tokens from ${min} to ${max}`
    : `USD per million tokens, a number from ${min} to ${max}`;
}

function describeUnknownKey(name: string, model: string): string {
  const valid = sortByNearness(name, [
    ...MODEL_KEYS.keys(),
    ...PRICE_KEYS.keys(),
    ATTACHMENTS,
  ]).join(', ');
  return `unknown key "${escapeLine(name)}" in [${model}]; valid: ${valid}`;
}
