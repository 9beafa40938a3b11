import type { Schema } from '@cfworker/json-schema';

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

/** The form of a keyword's value, and the keywords that have it. */
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
 * What a schema itself must be valid against: the keywords of drafts 6, 7, 2019-09 and 2020-12 that check
 * something, with the form that their values have. Others may stand there, and check nothing.
 */
export function metaschema(): Schema {
  const forms = KEYWORDS.flatMap(([form, names]) =>
    names.split(' ').map((name): [string, Schema] => [name, form]),
  );
  const keywords: Schema = { properties: Object.fromEntries(forms) };
  return { type: ['object', 'boolean'], $ref: '#/$defs/keywords', $defs: { keywords } };
}

function schemaOrList(items: Schema): Schema {
  return { type: ['object', 'boolean', 'array'], $ref: '#/$defs/keywords', items };
}
