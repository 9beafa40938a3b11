import { dereference, format, validate, type OutputUnit, type Schema } from '@cfworker/json-schema';
import { errorMessage } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { lazy } from '../../base/lazy.ts';
import { endlessRef } from './endless-ref.ts';
import { metaschema } from './metaschema.ts';
import { CheckTimeout, withinTime } from './within-time.ts';

/** What became of an answer that has to be valid against a schema. */
export type SchemaCheckResult =
  | { readonly kind: 'valid'; readonly value: JsonValue }
  /** What is wrong with it, in the validator's own words. */
  | { readonly kind: 'invalid'; readonly findings: readonly string[] }
  /** The check did not come to its end, and a better answer would be no help. */
  | { readonly kind: 'unchecked'; readonly why: string };

type Draft = '7' | '2019-09' | '2020-12';
type Lookup = Readonly<Record<string, Schema | boolean>>;

/** By what `$schema` says, without `http(s)://` and the empty fragment. Draft 7 knows all that 6 does. */
const DRAFTS: ReadonlyMap<string, Draft> = new Map([
  ['json-schema.org/draft-06/schema', '7'],
  ['json-schema.org/draft-07/schema', '7'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/** Milliseconds for one check: a pattern may go back and forth for years. */
const CHECK_MS = 500;
/** Findings that are told of one value, and code points of each. */
const SHOWN_FINDINGS = 10;
const FINDING_LENGTH = 300;
/** What is wrong with a schema that is told of it. */
const SHOWN_FAULTS = 3;
/** These say no more than that something further in is wrong. */
const WRAPPERS: ReadonlySet<string> = new Set([
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

const ofSchemas = lazy((): Compiled => {
  const schema = metaschema();
  return { schema, lookup: dereference(schema), draft: '2020-12' };
});

/**
 * Makes the check of a schema that is not too big, or says what is wrong with it. Nothing is fetched, and
 * no code is made of it.
 */
export function compileSchema(
  given: JsonObject,
): ((value: JsonValue) => SchemaCheckResult) | string {
  const draft = draftOf(given['$schema']);
  if (draft === undefined) {
    return `#/$schema: must be one of draft-06, draft-07, 2019-09 and 2020-12 (https://json-schema.org/draft/2020-12/schema)`;
  }
  const faults = findings(given, ofSchemas());
  if (faults !== null) return faults.lines.slice(0, SHOWN_FAULTS).join('; ');
  // The validator notes in it what refers to what.
  const schema: Schema = JSON.parse(JSON.stringify(given));
  let lookup: Lookup;
  try {
    lookup = dereference(schema);
  } catch (thrown) {
    return `its $id, $anchor and $ref can't be read: ${collapseWhitespace(errorMessage(thrown))}`;
  }
  const fault = faultIn(lookup);
  if (fault !== null) return fault;
  return (value) => verdictOn(value, { schema, lookup, draft });
}

function verdictOn(value: JsonValue, compiled: Compiled): SchemaCheckResult {
  try {
    const found = findings(value, compiled);
    return found === null ? { kind: 'valid', value } : { kind: 'invalid', findings: found.lines };
  } catch (thrown) {
    const why = whyUnchecked(thrown);
    if (why === null) throw thrown;
    return { kind: 'unchecked', why };
  }
}

function whyUnchecked(thrown: unknown): string | null {
  if (thrown instanceof CheckTimeout) {
    return `a pattern or another keyword of the schema took longer than ${CHECK_MS} ms on it (limit schema_check_ms = ${CHECK_MS})`;
  }
  // The stack: a schema that goes many steps deeper for one of the value.
  return thrown instanceof RangeError ? 'the schema leads too deep on it' : null;
}

function draftOf(named: JsonValue | undefined): Draft | undefined {
  if (named === undefined) return '2020-12';
  if (typeof named !== 'string') return undefined;
  return DRAFTS.get(named.replace(/^https?:\/\//, '').replace(/#$/, ''));
}

/** What the metaschema can't see; `lookup`: every schema within the schema, by its URI. */
function faultIn(lookup: Lookup): string | null {
  for (const [uri, schema] of Object.entries(lookup)) {
    if (typeof schema === 'boolean') continue;
    const fault = keywordFault(schema, lookup);
    if (fault !== null) return `#${uri.split('#')[1] ?? ''}: ${fault}`;
  }
  return endlessRef(lookup);
}

function keywordFault(schema: Schema, lookup: Lookup): string | null {
  const { $ref, pattern, patternProperties } = schema;
  if ('$dynamicRef' in schema) return '$dynamicRef is not supported; use $ref';
  if (typeof $ref === 'string' && lookup[schema.__absolute_ref__ ?? ''] === undefined) {
    return `$ref ${JSON.stringify($ref)} leads to nothing within the schema, and nothing is fetched`;
  }
  const own = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  for (const source of [...(typeof pattern === 'string' ? [pattern] : []), ...own]) {
    try {
      RegExp(source, 'u');
    } catch (thrown) {
      return collapseWhitespace(errorMessage(thrown));
    }
  }
  // One that is unknown checks nothing; the validator looks it up among what every object inherits, too.
  if (typeof schema.format === 'string' && !Object.hasOwn(format, schema.format)) {
    delete schema.format;
  }
  return null;
}

/** What is wrong with a value, in the validator's own words; null: nothing. */
function findings(value: JsonValue, { schema, lookup, draft }: Compiled): Findings | null {
  const check = (stopsAtFirst: boolean) =>
    withinTime(CHECK_MS, () => validate(value, schema, draft, lookup, stopsAtFirst));
  const first = check(true);
  if (first.valid) return null;
  const { errors } = whole(() => check(false)) ?? first;
  const telling = errors.filter((unit, index) => isTelling(unit, errors[index + 1]));
  const lines = new Set(
    (telling.length === 0 ? errors : telling).map(({ instanceLocation, error }) =>
      truncate(collapseWhitespace(`${instanceLocation}: ${error}`), FINDING_LENGTH),
    ),
  );
  const shown = [...lines].slice(0, SHOWN_FINDINGS);
  const more = lines.size - shown.length;
  return { lines: more === 0 ? shown : [...shown, `and ${more} more`] };
}

/** Not what only says that something further in is wrong, which follows; of `false`, what led there. */
function isTelling({ keyword }: OutputUnit, next: OutputUnit | undefined): boolean {
  return keyword !== 'false' && (!WRAPPERS.has(keyword) || next?.keyword === 'false');
}

/** Null: there is so much wrong that the list of it has no end. */
function whole<T>(check: () => T): T | null {
  try {
    return check();
  } catch (thrown) {
    if (whyUnchecked(thrown) !== null) return null;
    throw thrown;
  }
}
