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
 * The values that the user gives for one model in `[models.catalogue."PROVIDER/MODEL"]`, which replace those of the
 * catalogue.
 */
export interface CatalogueConfig extends ModelOverride {
  readonly source: ValueSource;
}

interface NumberKey {
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
 * Written so that every dialect of regular expressions can read it, since the JSON Schema contains it.
 */
const MODEL_NAME = lazy(
  () =>
    // oxlint-disable-next-line no-control-regex -- `\p{Cc}` is not in all of them
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}[/][^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]{0,255}$/,
);

/** JSON Schema of `[models.catalogue]` of a file. */
export function catalogueSchema(): JsonObject {
  const numbers = [...MODEL_KEYS, ...PRICE_KEYS].map(([name, key]) => [
    name,
    {
      description: expects(key),
      type: key.isWhole ? 'integer' : 'number',
      minimum: key.min,
      maximum: key.max,
    },
  ]);
  return {
    type: 'object',
    description: 'what you know better of models, by "PROVIDER/MODEL"',
    propertyNames: { pattern: MODEL_NAME().source },
    additionalProperties: {
      type: 'object',
      properties: {
        ...Object.fromEntries(numbers),
        [ATTACHMENTS]: { type: 'array', items: { enum: ATTACHMENT_KINDS } },
      },
      // A price takes both.
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
    const at = [...path, name];
    const where = file.where(at);
    if (!MODEL_NAME().test(name)) problems.push({ where, message: wrongName(name) });
    else if (!isTomlTable(table)) {
      problems.push({ where, message: `write it as a table: [${catalogueKey(name)}]` });
    } else {
      const reading = readModel(Object.entries(table), at, file);
      problems.push(...reading.problems);
      if (reading.problems.length === 0) {
        models.set(name, { ...reading.override, source: { kind: 'config', where } });
      }
    }
  }
  return { models, problems };
}

/** Returns the key of a model as a file has it: `models.catalogue."anthropic/claude-sonnet-5"`. */
export function catalogueKey(model: string): string {
  return escapeLine(`models.catalogue."${model}"`);
}

function wrongName(name: string): string {
  return `${quoteValue(name)} is no model: name it as "PROVIDER/MODEL", in quotes, like [models.catalogue."openai/gpt-5"]`;
}

function readModel(
  entries: readonly (readonly [string, unknown])[],
  at: readonly string[],
  file: TomlFile,
): { readonly override: ModelOverride; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const numbers: Record<string, number> = {};
  const prices = new Map<string, number>();
  let attachments: readonly AttachmentKind[] | undefined;
  const model = catalogueKey(at.at(-1) ?? '');
  for (const [name, value] of entries) {
    const where = file.where([...at, name]);
    if (name === ATTACHMENTS) {
      if (areKinds(value)) attachments = value;
      else problems.push({ where, message: `${model}.${name} must be a list of ${KINDS}` });
      continue;
    }
    const priceKey = PRICE_KEYS.get(name);
    const key = priceKey ?? MODEL_KEYS.get(name);
    if (key === undefined) problems.push({ where, message: unknownKey(name, model) });
    else if (!isOf(key, value)) {
      problems.push({
        where,
        message: `${model}.${name} must be ${expects(key)}, not ${quoteValue(value)}`,
      });
    } else if (priceKey === undefined) numbers[key.field] = value;
    else prices.set(key.field, value);
  }
  const values = { ...numbers, ...(attachments === undefined ? {} : { attachments }) };
  const input = prices.get('input');
  const output = prices.get('output');
  if (prices.size === 0 || problems.length > 0) return { override: values, problems };
  if (input === undefined || output === undefined) {
    const message = `${model}: a price takes both price_input and price_output`;
    return { override: values, problems: [{ where: file.where(at), message }] };
  }
  // If a cache has no price of its own, cached tokens cost the same as other input tokens.
  const cacheRead = prices.get('cacheRead') ?? input;
  const cacheWrite = prices.get('cacheWrite') ?? input;
  return { override: { ...values, price: { input, output, cacheRead, cacheWrite } }, problems };
}

const KINDS = ATTACHMENT_KINDS.map((kind) => `"${kind}"`).join(' and ');

function areKinds(value: unknown): value is readonly AttachmentKind[] {
  const isKind = (each: unknown): boolean => ATTACHMENT_KINDS.some((kind) => kind === each);
  return Array.isArray(value) && value.every(isKind);
}

function isOf({ min, max, isWhole }: NumberKey, value: unknown): value is number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  return value >= min && value <= max && (!isWhole || Number.isInteger(value));
}

function expects({ min, max, isWhole }: NumberKey): string {
  return isWhole
    ? `a whole number of tokens from ${min} to ${max}`
    : `USD per million tokens, a number from ${min} to ${max}`;
}

function unknownKey(name: string, model: string): string {
  const valid = sortByNearness(name, [
    ...MODEL_KEYS.keys(),
    ...PRICE_KEYS.keys(),
    ATTACHMENTS,
  ]).join(', ');
  return `unknown key "${escapeLine(name)}" in [${model}]; valid: ${valid}`;
}
