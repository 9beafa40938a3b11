import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';

/**
 * The subset of JSON Schema that tool inputs use. The schemas are sent to the model nearly as they are written, and
 * `matchesSchema` checks values. A schema library would add 12 to 15 ms to every start (import, construction,
 * conversion), which is a third of the time that a start may take, and its errors are written for programmers.
 */
export type ValueSchema =
  | StringSchema
  | IntegerSchema
  | NumberSchema
  | BooleanSchema
  | ListSchema
  | ObjectSchema;

interface CommonSchema {
  readonly description?: string;
  /** Whether the field is accepted, but not sent to the model, so that it needs no bytes in a request. */
  readonly unlisted?: true;
}
interface StringSchema extends CommonSchema {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly minLength?: 1;
  /** Whether an empty text in this optional field is a value. By default it counts as absent. */
  readonly emptyIsValue?: true;
}
interface IntegerSchema extends CommonSchema {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum?: number;
  /**
   * The largest number that makes a difference. Larger numbers are reduced to it. Unlike `maximum`, it is not sent to
   * the model.
   */
  readonly clampTo?: number;
  /** Whether a number below the minimum counts as absent. Models that know other tools write 0 for "no limit". */
  readonly lowIsAbsent?: true;
}
interface NumberSchema extends CommonSchema {
  readonly type: 'number';
  readonly minimum: number;
  readonly maximum: number;
}
interface BooleanSchema extends CommonSchema {
  readonly type: 'boolean';
}
interface ListSchema extends CommonSchema {
  readonly type: 'array';
  readonly items: ValueSchema;
  readonly minItems?: 1;
}
/** The schema of an object, and so of the arguments of a tool. */
export interface ObjectSchema extends CommonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ValueSchema>>;
  readonly required: readonly string[];
  /** Fields of other products' tools that make no difference to the result. They are accepted and ignored. */
  readonly ignored?: readonly string[];
  /**
   * Fields of other products' tools, with the values that match what this tool does anyway. Any other value is an
   * error.
   */
  readonly fixed?: Readonly<Record<string, readonly (string | number | boolean)[]>>;
}

/** The type of the values that match a schema. */
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
 * Returns whether a value matches a schema. If not, one sentence for each problem is added to `issues`, in the form
 * `field: what is wrong; valid: what would be right`. Keys that are not in the schema are not checked, because
 * `normalizeArguments` has already refused them.
 */
export function matchesSchema<const S extends ValueSchema>(
  schema: S,
  value: unknown,
  issues: string[],
): value is ValueOf<S> {
  const before = issues.length;
  checkValue(schema, value, '', issues);
  return issues.length === before;
}

function checkValue(schema: ValueSchema, value: unknown, field: string, issues: string[]): void {
  const problem = describeProblem(schema, value);
  if (problem !== undefined) {
    issues.push(`${field === '' ? 'input' : field}: ${problem}; valid: ${describeValid(schema)}`);
    return;
  }
  const nestedField = (name: string): string => (field === '' ? name : `${field}.${name}`);
  if (schema.type === 'array' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      checkValue(schema.items, item, nestedField(String(index)), issues);
    }
  }
  if (schema.type === 'object' && isJsonObject(value)) {
    for (const [name, part] of Object.entries(schema.properties)) {
      const isRequired = schema.required.includes(name);
      if (value[name] !== undefined) checkValue(part, value[name], nestedField(name), issues);
      else if (isRequired)
        issues.push(`${nestedField(name)}: is missing; valid: ${describeValid(part)}`);
    }
  }
}

function describeProblem(schema: ValueSchema, value: unknown): string | undefined {
  if (!isOfType(schema, value)) return `is of the wrong type: ${formatValue(value)}`;
  switch (schema.type) {
    case 'string':
      if (schema.minLength !== undefined && value === '') return 'is empty';
      return schema.enum === undefined || schema.enum.some((one) => one === value)
        ? undefined
        : `is not known: ${formatValue(value)}`;
    case 'integer':
    case 'number':
      if (Number(value) < schema.minimum) return `is too small: ${formatValue(value)}`;
      return Number(value) > (schema.maximum ?? Infinity)
        ? `is too large: ${formatValue(value)}`
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

const MAX_SHOWN_LENGTH = 60;

function formatValue(value: unknown): string {
  return truncate(JSON.stringify(value) ?? 'nothing', MAX_SHOWN_LENGTH);
}

function describeValid(schema: ValueSchema): string {
  switch (schema.type) {
    case 'string':
      if (schema.enum !== undefined) return schema.enum.join(', ');
      return schema.minLength === undefined ? 'string' : 'string, not empty';
    case 'integer':
    case 'number': {
      const upperBound = schema.maximum === undefined ? '' : ` and at most ${schema.maximum}`;
      return `${schema.type} of at least ${schema.minimum}${upperBound}`;
    }
    case 'array':
      return schema.minItems === undefined ? 'list' : 'list, not empty';
    case 'boolean':
      return 'true, false';
    case 'object':
      return `object with ${Object.keys(schema.properties).join(', ')}`;
  }
}

/**
 * The keys that are sent to the model. All other keys only control how arguments are read. The lower bounds are not
 * sent, because no provider requires them and hardly a call breaks them: a number below its bound is raised to it, with
 * a note, and an empty text or list is refused with an issue that says so.
 */
const SENT_KEYS: ReadonlySet<string> = new Set(
  'type properties required description enum maximum items'.split(' '),
);

/** Converts a schema to the JSON that is sent to the model, without unlisted fields and empty lists. */
export function schemaJson(schema: ValueSchema): JsonObject {
  const entries = Object.entries(schema).filter(
    ([key, value]) => SENT_KEYS.has(key) && !isEmptyList(value),
  );
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

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
