import { createContext, Script } from 'node:vm';
import { dereference, format, validate, type OutputUnit, type Schema } from '@cfworker/json-schema';
import { errorMessage } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { lazy } from '../../base/lazy.ts';

/** The result of checking an answer against a schema. */
export type SchemaCheckResult =
  | { readonly kind: 'valid'; readonly value: JsonValue }
  /** `findings`: the error messages of the validator. */
  | { readonly kind: 'invalid'; readonly findings: readonly string[] }
  /** The check could not be finished, and a better answer would not help. */
  | { readonly kind: 'unchecked'; readonly reason: string };

type Draft = '7' | '2019-09' | '2020-12';
type Lookup = Readonly<Record<string, Schema | boolean>>;

/**
 * The drafts by their `$schema`, without `http(s)://` and the empty fragment. Draft 6 is validated as draft 7, which
 * includes all of it.
 */
const DRAFTS: ReadonlyMap<string, Draft> = new Map([
  ['json-schema.org/draft-06/schema', '7'],
  ['json-schema.org/draft-07/schema', '7'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/** The time limit of one check, since a regular expression may backtrack almost without end. */
const CHECK_TIMEOUT_MS = 500;
/** The maximum number of findings about one value, and the maximum number of code points of each. */
const MAX_FINDINGS = 10;
const MAX_FINDING_LENGTH = 300;
/** The maximum number of faults of a schema that are reported. */
const MAX_SHOWN_FAULTS = 3;
/** Keywords whose error only says that a nested value is invalid. The error of the nested value follows it. */
const WRAPPING_KEYWORDS: ReadonlySet<string> = new Set([
  '$ref',
  '$recursiveRef',
  'properties',
  'items',
  'prefixItems',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
]);

interface Compiled {
  readonly schema: Schema;
  readonly lookup: Lookup;
  readonly draft: Draft;
}

interface Findings {
  readonly lines: readonly string[];
}

const compiledMetaschema = lazy((): Compiled => {
  const schema = buildMetaschema();
  return { schema, lookup: dereference(schema), draft: '2020-12' };
});

/**
 * Compiles a schema into a check, or returns a description of the problem. The caller checks the size of the schema
 * first. Nothing is fetched and no code is generated.
 */
export function compileSchema(
  source: JsonObject,
): ((value: JsonValue) => SchemaCheckResult) | string {
  const draft = findDraft(source['$schema']);
  if (draft === undefined) {
    return `#/$schema: must be one of draft-06, draft-07, 2019-09 and 2020-12 (https://json-schema.org/draft/2020-12/schema)`;
  }
  const faults = findErrors(source, compiledMetaschema());
  if (faults !== null) return faults.lines.slice(0, MAX_SHOWN_FAULTS).join('; ');
  // Validate with a copy, because the validator writes resolved references into the schema.
  const schema: Schema = JSON.parse(JSON.stringify(source));
  let lookup: Lookup;
  try {
    lookup = dereference(schema);
  } catch (thrown) {
    return `its $id, $anchor and $ref can't be read: ${collapseWhitespace(errorMessage(thrown))}`;
  }
  const fault = findSchemaFault(lookup);
  if (fault !== null) return fault;
  return (value) => checkValue(value, { schema, lookup, draft });
}

function checkValue(value: JsonValue, compiled: Compiled): SchemaCheckResult {
  try {
    const found = findErrors(value, compiled);
    return found === null ? { kind: 'valid', value } : { kind: 'invalid', findings: found.lines };
  } catch (thrown) {
    const why = findUncheckedReason(thrown);
    if (why === null) throw thrown;
    return { kind: 'unchecked', reason: why };
  }
}

/** Returns the reason why a check could not be finished; null for any other error. "It" in the reason is the value. */
function findUncheckedReason(thrown: unknown): string | null {
  if (thrown instanceof CheckTimeout) {
    return `a pattern or another keyword of the schema took longer than ${CHECK_TIMEOUT_MS} ms on it (limit schema_check_ms = ${CHECK_TIMEOUT_MS})`;
  }
  // The stack overflowed: the schema recurses many steps for each level of the value.
  return thrown instanceof RangeError ? 'the schema leads too deep on it' : null;
}

function findDraft(named: JsonValue | undefined): Draft | undefined {
  if (named === undefined) return '2020-12';
  if (typeof named !== 'string') return undefined;
  return DRAFTS.get(named.replace(/^https?:\/\//, '').replace(/#$/, ''));
}

/**
 * Finds a fault that the metaschema cannot express.
 *
 * @param lookup all schemas within the schema, by URI
 */
function findSchemaFault(lookup: Lookup): string | null {
  for (const [uri, schema] of Object.entries(lookup)) {
    if (typeof schema === 'boolean') continue;
    const fault = findKeywordFault(schema, lookup);
    if (fault !== null) return `#${uri.split('#')[1] ?? ''}: ${fault}`;
  }
  return findEndlessRef(lookup);
}

function findKeywordFault(schema: Schema, lookup: Lookup): string | null {
  const { $ref, pattern, patternProperties } = schema;
  if ('$dynamicRef' in schema) return '$dynamicRef is not supported; use $ref';
  if (typeof $ref === 'string' && lookup[schema.__absolute_ref__ ?? ''] === undefined) {
    return `$ref ${JSON.stringify($ref)} leads to nothing within the schema, and nothing is fetched`;
  }
  const patternKeys = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  for (const source of [...(typeof pattern === 'string' ? [pattern] : []), ...patternKeys]) {
    try {
      RegExp(source, 'u');
    } catch (thrown) {
      return collapseWhitespace(errorMessage(thrown));
    }
  }
  // An unknown format checks nothing. Remove it, because the validator would look up the name as an inherited object
  // property as well.
  if (typeof schema.format === 'string' && !Object.hasOwn(format, schema.format)) {
    delete schema.format;
  }
  return null;
}

/** Returns the error messages of the validator for a value; null if the value is valid. */
function findErrors(value: JsonValue, { schema, lookup, draft }: Compiled): Findings | null {
  const check = (stopsAtFirst: boolean) =>
    runWithTimeout(CHECK_TIMEOUT_MS, () => validate(value, schema, draft, lookup, stopsAtFirst));
  const first = check(true);
  if (first.valid) return null;
  const { errors } = listAllErrors(() => check(false)) ?? first;
  const informative = errors.filter((unit, index) => isInformative(unit, errors[index + 1]));
  const lines = new Set(
    (informative.length === 0 ? errors : informative).map(({ instanceLocation, error }) =>
      truncate(collapseWhitespace(`${instanceLocation}: ${error}`), MAX_FINDING_LENGTH),
    ),
  );
  const shown = [...lines].slice(0, MAX_FINDINGS);
  const more = lines.size - shown.length;
  return { lines: more === 0 ? shown : [...shown, `and ${more} more`] };
}

/** Returns true if an error says more than that a nested value is invalid. */
function isInformative({ keyword }: OutputUnit, next: OutputUnit | undefined): boolean {
  return keyword !== 'false' && (!WRAPPING_KEYWORDS.has(keyword) || next?.keyword === 'false');
}

/** Lists all errors. Returns null if the check could not be finished. */
function listAllErrors<T>(check: () => T): T | null {
  try {
    return check();
  } catch (thrown) {
    if (findUncheckedReason(thrown) !== null) return null;
    throw thrown;
  }
}

/** Keywords whose subschemas apply to the same value as the schema that contains them. */
const SCHEMA_KEYWORDS = ['not', 'if', 'then', 'else'] as const;
const SCHEMA_LIST_KEYWORDS = ['allOf', 'anyOf', 'oneOf'] as const;
const SCHEMA_MAP_KEYWORDS = ['dependentSchemas', 'dependencies'] as const;

/**
 * Finds a schema that refers to itself without descending into the value, so that a check would never end. Returns
 * null if there is none.
 */
function findEndlessRef(lookup: Readonly<Record<string, Schema | boolean>>): string | null {
  const state = new Map<Schema, 'open' | 'done'>();
  const leadsBack = (schema: Schema): boolean => {
    const visited = state.get(schema);
    if (visited !== undefined) return visited === 'open';
    state.set(schema, 'open');
    const found = listSchemasOfSameValue(schema, lookup).some(leadsBack);
    state.set(schema, 'done');
    return found;
  };
  for (const schema of Object.values(lookup)) {
    if (typeof schema === 'object' && leadsBack(schema)) {
      const named = schema.$ref === undefined ? '' : ` ($ref ${JSON.stringify(schema.$ref)})`;
      return `refers to itself without end${named}`;
    }
  }
  return null;
}

function listSchemasOfSameValue(
  schema: Schema,
  lookup: Readonly<Record<string, Schema | boolean>>,
): readonly Schema[] {
  const target = lookup[schema.__absolute_ref__ ?? ''];
  const below: readonly unknown[] = [
    target,
    ...(schema.$recursiveRef === undefined
      ? []
      : [lookup[schema.__absolute_recursive_ref__ ?? '']]),
    ...SCHEMA_KEYWORDS.map((keyword) => schema[keyword]),
    ...SCHEMA_LIST_KEYWORDS.flatMap((keyword) => schema[keyword] ?? []),
    ...SCHEMA_MAP_KEYWORDS.flatMap((keyword) => Object.values(schema[keyword] ?? {})),
  ];
  return below.filter(isSchema);
}

function isSchema(value: unknown): value is Schema {
  return isJsonObject(value);
}

/** The error of a check that took too long. */
class CheckTimeout extends Error {}

const sandbox = lazy(() => {
  const inside: { work?: () => void } = {};
  return { inside, context: createContext(inside), script: new Script('work()') };
});

/**
 * Runs synchronous work that holds no resources, and aborts it after `ms` milliseconds, even within a regular
 * expression. Throws `CheckTimeout` in this case; otherwise rethrows any error of `work`.
 */
function runWithTimeout<T>(ms: number, work: () => T): T {
  // In Node.js only the run of a script can have a timeout. It also aborts the functions that the script calls.
  const { inside, context, script } = sandbox();
  let done: { readonly result: T } | null = null;
  inside.work = () => {
    done = { result: work() };
  };
  try {
    script.runInContext(context, { timeout: ms });
  } catch (thrown) {
    throw isTimeout(thrown) ? new CheckTimeout() : thrown;
  } finally {
    delete inside.work;
  }
  return requireResult<T>(done);
}

function requireResult<T>(done: { readonly result: T } | null): T {
  if (done === null) throw new Error('the script of a schema check did not call its function');
  return done.result;
}

/**
 * Returns true for the timeout error of a script. The error comes from another context, so `instanceof Error` is
 * false.
 */
function isTimeout(thrown: unknown): boolean {
  return (
    typeof thrown === 'object' &&
    thrown !== null &&
    'code' in thrown &&
    thrown.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

const TEXT: Schema = { type: 'string' };
const FLAG: Schema = { type: 'boolean' };
const NUMBER: Schema = { type: 'number' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const TEXTS: Schema = { type: 'array', items: TEXT };
const SCHEMA: Schema = { $ref: '#' };
const SCHEMAS: Schema = { type: 'array', minItems: 1, items: SCHEMA };
const SCHEMA_MAP: Schema = { type: 'object', additionalProperties: SCHEMA };
const TYPE: Schema = {
  enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'],
};

/** The schemas of keyword values, each with the keywords that it applies to. */
const KEYWORDS: readonly (readonly [Schema, string])[] = [
  [TEXT, '$schema $id $ref pattern format'],
  [FLAG, 'uniqueItems $recursiveAnchor'],
  [NUMBER, 'minimum maximum exclusiveMinimum exclusiveMaximum'],
  [COUNT, 'minLength maxLength minItems maxItems minContains maxContains'],
  [COUNT, 'minProperties maxProperties'],
  [TEXTS, 'required'],
  [SCHEMA, 'not if then else contains propertyNames additionalProperties'],
  [SCHEMA, 'unevaluatedProperties additionalItems unevaluatedItems'],
  [SCHEMAS, 'allOf anyOf oneOf prefixItems'],
  [SCHEMA_MAP, '$defs definitions properties patternProperties dependentSchemas'],
  [{ type: 'array' }, 'enum'],
  [{ type: 'number', exclusiveMinimum: 0 }, 'multipleOf'],
  [{ type: 'object', additionalProperties: TEXTS }, 'dependentRequired'],
  [{ type: 'object', additionalProperties: schemaOrList(TEXT) }, 'dependencies'],
  [schemaOrList(SCHEMA), 'items'],
  [{ anyOf: [TYPE, { type: 'array', minItems: 1, items: TYPE }] }, 'type'],
  [{ type: 'string', pattern: '^[A-Za-z_][-A-Za-z0-9._]*$' }, '$anchor'],
  [{ const: '#' }, '$recursiveRef'],
];

/**
 * Builds the metaschema: the keywords of drafts 6, 7, 2019-09 and 2020-12 that check something, with the types of
 * their values. Other keywords are allowed and have no effect.
 */
function buildMetaschema(): Schema {
  const forms = KEYWORDS.flatMap(([form, names]) =>
    names.split(' ').map((name): [string, Schema] => [name, form]),
  );
  const keywords: Schema = { properties: Object.fromEntries(forms) };
  return { type: ['object', 'boolean'], $ref: '#/$defs/keywords', $defs: { keywords } };
}

function schemaOrList(items: Schema): Schema {
  return { type: ['object', 'boolean', 'array'], $ref: '#/$defs/keywords', items };
}
