import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';

/**
 * The part of JSON Schema that tool inputs are made of. It is written as it goes to the model and
 * checked here: a schema library costs 12–15 ms of every start (import, building, conversion), which
 * is a third of what a start may cost, and words its errors for programmers.
 */
export type ValueSchema =
  | StringSchema
  | IntegerSchema
  | NumberSchema
  | BooleanSchema
  | ListSchema
  | ObjectSchema;

interface Described {
  readonly description?: string;
  /** The field is accepted, but the model is not told about it: it costs no bytes of a request. */
  readonly unlisted?: true;
}
interface StringSchema extends Described {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly minLength?: 1;
  /** An empty text in this optional field is a value. Default: it counts as absent. */
  readonly emptyIsValue?: true;
}
interface IntegerSchema extends Described {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum?: number;
  /** The largest number that makes a difference, where the model need not be told of it. */
  readonly clampTo?: number;
  /** A number below the minimum counts as absent: other tools write 0 for "no limit of mine". */
  readonly lowIsAbsent?: true;
}
interface NumberSchema extends Described {
  readonly type: 'number';
  readonly minimum: number;
  readonly maximum: number;
}
interface BooleanSchema extends Described {
  readonly type: 'boolean';
}
interface ListSchema extends Described {
  readonly type: 'array';
  readonly items: ValueSchema;
  readonly minItems?: 1;
}
export interface ObjectSchema extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ValueSchema>>;
  readonly required: readonly string[];
  /** Fields of other products that make no difference to the result: accepted, and left out. */
  readonly ignored?: readonly string[];
  /** Fields of other products, with the values that ask for what is done anyway. Any other value is an error. */
  readonly fixed?: Readonly<Record<string, readonly (string | number | boolean)[]>>;
}

/** The type of the values that fit a schema. */
export type ValueOf<S> = S extends { readonly enum: readonly (infer E)[] }
  ? E
  : S extends { readonly type: 'string' }
    ? string
    : S extends { readonly type: 'integer' | 'number' }
      ? number
      : S extends { readonly type: 'boolean' }
        ? boolean
        : S extends { readonly type: 'array'; readonly items: infer I }
          ? readonly ValueOf<I>[]
          : S extends { readonly properties: infer P; readonly required: readonly (infer R)[] }
            ? { readonly [K in keyof P & R]: ValueOf<P[K]> } & {
                readonly [K in Exclude<keyof P, R>]?: ValueOf<P[K]>;
              }
            : never;

/**
 * Whether a value fits; if not, `issues` gets one sentence an issue: `field: what is wrong; valid:
 * what would be right`. Keys that the schema does not name are not looked at: `readArguments` has refused them.
 */
export function fits<const S extends ValueSchema>(
  schema: S,
  value: unknown,
  issues: string[],
): value is ValueOf<S> {
  const before = issues.length;
  check(schema, value, '', issues);
  return issues.length === before;
}

function check(schema: ValueSchema, value: unknown, field: string, issues: string[]): void {
  const wrong = whatIsWrong(schema, value);
  if (wrong !== undefined) {
    issues.push(`${field === '' ? 'input' : field}: ${wrong}; valid: ${describeValid(schema)}`);
    return;
  }
  const inside = (name: string): string => (field === '' ? name : `${field}.${name}`);
  if (schema.type === 'array' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      check(schema.items, item, inside(String(index)), issues);
    }
  }
  if (schema.type === 'object' && isJsonObject(value)) {
    for (const [name, part] of Object.entries(schema.properties)) {
      const wanted = schema.required.includes(name);
      if (value[name] !== undefined) check(part, value[name], inside(name), issues);
      else if (wanted) issues.push(`${inside(name)}: is missing; valid: ${describeValid(part)}`);
    }
  }
}

function whatIsWrong(schema: ValueSchema, value: unknown): string | undefined {
  if (!isOfType(schema, value)) return `is of the wrong type: ${shown(value)}`;
  switch (schema.type) {
    case 'string':
      if (schema.minLength !== undefined && value === '') return 'is empty';
      return schema.enum === undefined || schema.enum.some((one) => one === value)
        ? undefined
        : `is not known: ${shown(value)}`;
    case 'integer':
    case 'number':
      if (Number(value) < schema.minimum) return `is too small: ${shown(value)}`;
      return Number(value) > (schema.maximum ?? Infinity)
        ? `is too large: ${shown(value)}`
        : undefined;
    case 'array':
      return schema.minItems !== undefined && Array.isArray(value) && value.length === 0
        ? 'is empty'
        : undefined;
    case 'boolean':
    case 'object':
      return undefined;
  }
}

function isOfType(schema: ValueSchema, value: unknown): boolean {
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return typeof value === schema.type;
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
  }
}

const MAX_SHOWN_VALUE = 60;

function shown(value: unknown): string {
  return truncate(JSON.stringify(value) ?? 'nothing', MAX_SHOWN_VALUE);
}

function describeValid(schema: ValueSchema): string {
  switch (schema.type) {
    case 'string':
      if (schema.enum !== undefined) return schema.enum.join(', ');
      return schema.minLength === undefined ? 'string' : 'string, not empty';
    case 'integer':
    case 'number': {
      const most = schema.maximum === undefined ? '' : ` and at most ${schema.maximum}`;
      return `${schema.type} of at least ${schema.minimum}${most}`;
    }
    case 'array':
      return schema.minItems === undefined ? 'list' : 'list, not empty';
    case 'boolean':
      return 'true, false';
    case 'object':
      return `object with ${Object.keys(schema.properties).join(', ')}`;
  }
}

/** What a model gets of a schema; all else is for the reading of its arguments. */
const SENT_KEYS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'description',
  'enum',
  'minLength',
  'minimum',
  'maximum',
  'items',
  'minItems',
]);

/** The schema as the JSON that goes to the model, without unlisted fields. */
export function schemaJson(schema: ValueSchema): JsonObject {
  const entries = Object.entries(schema).filter(([key]) => SENT_KEYS.has(key));
  return Object.fromEntries(
    entries.map(([key, value]): [string, JsonValue] => {
      if (schema.type === 'object' && key === 'properties') {
        const listed = Object.entries(schema.properties).filter(([, part]) => !part.unlisted);
        return [key, Object.fromEntries(listed.map(([name, part]) => [name, schemaJson(part)]))];
      }
      return [key, schema.type === 'array' && key === 'items' ? schemaJson(schema.items) : value];
    }),
  );
}
