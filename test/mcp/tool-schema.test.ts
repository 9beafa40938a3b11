import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDeeperThan, type JsonObject, type JsonValue } from '../../src/base/json.ts';
import { convertToolSchema } from '../../src/mcp/tool-schema.ts';
import {
  checkRequest,
  describeViolations,
  WIRE_PROTOCOLS,
  type WireProtocol,
} from '../../src/testing/index.ts';

const EMPTY = { type: 'object', properties: {} };
const ANY = {
  anyOf: [
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    EMPTY,
    { type: 'array', items: { type: 'string' } },
  ],
};

test.each<[string, JsonValue | undefined, JsonObject]>([
  ['nothing', undefined, EMPTY],
  ['true', true, EMPTY],
  ['false', false, EMPTY],
  ['null', null, EMPTY],
  ['a list', [], EMPTY],
  [
    'no type',
    { properties: { a: { type: 'string' } } },
    { type: 'object', properties: { a: { type: 'string' } } },
  ],
  ['a wrong type', { type: 'string' }, EMPTY],
  [
    'keywords that explain nothing',
    {
      $schema: 'x',
      $id: 'y',
      title: 't',
      type: 'object',
      additionalProperties: false,
      properties: {},
      minProperties: 1,
    },
    EMPTY,
  ],
  [
    'a description',
    { type: 'object', description: 'What\u0000\u202e it is' },
    { ...EMPTY, description: 'What it is' },
  ],
  [
    'required properties that do not exist',
    { type: 'object', properties: { a: { type: 'null' } }, required: ['a', 'b', 'a', 7] },
    { type: 'object', properties: { a: { type: 'null' } }, required: ['a'] },
  ],
  [
    'anyOf at the top',
    {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      anyOf: [
        { properties: { b: { type: 'number' } }, required: ['b', 'c'] },
        { properties: { c: { type: 'boolean' } }, required: ['c'] },
      ],
    },
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' }, c: { type: 'boolean' } },
      required: ['a', 'c'],
    },
  ],
  [
    'oneOf of references at the top',
    {
      oneOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }],
      $defs: {
        A: { properties: { a: { type: 'string' } } },
        B: { properties: { b: { type: 'string' } } },
      },
    },
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
  ],
  [
    'allOf at the top',
    {
      allOf: [
        { properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'string' } } },
      ],
    },
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: ['a'],
    },
  ],
  [
    'conditions',
    {
      type: 'object',
      properties: { kind: { type: 'string' } },
      if: { properties: { kind: { const: 'x' } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the name of a keyword
      then: { properties: { x: { type: 'string' } }, required: ['x'] },
      else: { properties: { y: { type: 'string' } } },
    },
    {
      type: 'object',
      properties: { kind: { type: 'string' }, x: { type: 'string' }, y: { type: 'string' } },
    },
  ],
])('the schema of arguments with %s is converted', (_, schema, expected) => {
  expect(convertToolSchema(schema).schema).toEqual(expected);
});

test.each<[string, JsonValue, JsonObject | null]>([
  ['true', true, ANY],
  ['an empty schema', {}, ANY],
  ['false', false, null],
  ['an unknown type', { type: 'date' }, ANY],
  ['a list of one type', { type: ['string'] }, { type: 'string' }],
  [
    'a list of types',
    { type: ['string', 'null'] },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
  ],
  [
    'a list of types with a description',
    { type: ['integer', 'null'], description: 'D', minimum: 1 },
    { description: 'D', anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
  ],
  [
    'nullable',
    { type: 'string', nullable: true },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
  ],
  ['number and integer', { type: ['integer', 'number'] }, { type: 'number' }],
  ['a const text', { const: 'x' }, { type: 'string', enum: ['x'] }],
  ['a const number', { const: 7 }, { type: 'integer', description: 'Always 7.' }],
  ['a const flag', { const: true }, { type: 'boolean', description: 'Always true.' }],
  ['an enum', { enum: ['a', 'b', 'a'] }, { type: 'string', enum: ['a', 'b'] }],
  [
    'an enum of numbers',
    { type: 'number', enum: [1, 2.5] },
    { type: 'number', description: 'One of: 1, 2.5.' },
  ],
  [
    'an enum with null',
    { enum: ['a', null] },
    {
      anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }],
    },
  ],
  ['a list without items', { type: 'array' }, { type: 'array', items: ANY }],
  [
    'a tuple',
    { prefixItems: [{ type: 'string' }, { type: 'number' }] },
    { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
  ],
  [
    'a tuple of draft 7',
    { type: 'array', items: [{ type: 'string' }, { type: 'string' }] },
    { type: 'array', items: { type: 'string' } },
  ],
  [
    'limits of a list',
    { type: 'array', items: { type: 'null' }, minItems: 1, maxItems: 3, uniqueItems: true },
    { type: 'array', items: { type: 'null' }, minItems: 1, maxItems: 3 },
  ],
  [
    'limits of a text',
    { type: 'string', minLength: 1, maxLength: 5.5, pattern: '^a' },
    { type: 'string', minLength: 1, description: 'Pattern: ^a.' },
  ],
  ['a date', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
  [
    'another format',
    { type: 'string', format: 'uri', description: 'Where' },
    { type: 'string', description: 'Where Format: uri.' },
  ],
  [
    'limits of a number',
    { type: 'number', minimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 },
    { type: 'number', minimum: 0, description: 'Less than 1. A multiple of 0.1.' },
  ],
  [
    'draft 4',
    { type: 'number', minimum: 0, exclusiveMinimum: true },
    { type: 'number', minimum: 0 },
  ],
  ['a default', { type: 'integer', default: 3 }, { type: 'integer', description: 'Default: 3.' }],
  [
    'a map',
    { type: 'object', additionalProperties: { type: 'number' } },
    { ...EMPTY, description: 'A map from any keys to number values.' },
  ],
  [
    'anyOf',
    { anyOf: [{ type: 'string' }, { type: 'number' }] },
    { anyOf: [{ type: 'string' }, { type: 'number' }] },
  ],
  ['anyOf of one', { anyOf: [{ type: 'string' }] }, { type: 'string' }],
  [
    'oneOf of const texts',
    { oneOf: [{ const: 'a' }, { const: 'b' }] },
    { type: 'string', enum: ['a', 'b'] },
  ],
  ['oneOf with false', { oneOf: [{ type: 'string' }, false] }, { type: 'string' }],
  ['not', { not: { type: 'string' } }, ANY],
  ['allOf', { allOf: [{ type: 'string' }, { minLength: 2 }] }, { type: 'string', minLength: 2 }],
  ['allOf with false', { allOf: [{ type: 'string' }, false] }, null],
  ['a reference', { $ref: '#/$defs/Text' }, { type: 'string', minLength: 3 }],
  [
    'a reference with a description',
    { $ref: '#/$defs/Text', description: 'D' },
    { type: 'string', minLength: 3, description: 'D' },
  ],
  ['a reference to an anchor', { $ref: '#text' }, { type: 'string', minLength: 3 }],
  ['an escaped pointer', { $ref: '#/$defs/a~1b%20c' }, { type: 'boolean' }],
  ['a reference to nothing', { $ref: '#/$defs/Nothing' }, ANY],
  ['a reference to the web', { $ref: 'https://x.dev/schema.json' }, ANY],
  ['a reference to itself', { $ref: '#/$defs/Loop' }, EMPTY],
])('a property with %s is converted', (_, property, expected) => {
  const root = {
    type: 'object',
    properties: { p: property },
    $defs: {
      Text: { $anchor: 'text', type: 'string', minLength: 3 },
      'a/b c': { type: 'boolean' },
      Loop: { $ref: '#/$defs/Loop' },
    },
  };
  expect(convertToolSchema(root).schema).toEqual({
    type: 'object',
    properties: expected === null ? {} : { p: expected },
  });
});

test('a tree is inlined to a limited depth', () => {
  const node = {
    type: 'object',
    properties: { next: { $ref: '#/$defs/Node' }, value: { type: 'string' } },
  };
  const { schema } = convertToolSchema({ $ref: '#/$defs/Node', $defs: { Node: node } });
  expect(schema).toEqual({
    type: 'object',
    properties: {
      next: {
        type: 'object',
        properties: { next: EMPTY, value: { type: 'string' } },
      },
      value: { type: 'string' },
    },
  });
});

test('names of properties that a provider refuses are changed, and changed back in the arguments', () => {
  const { schema, restoreArguments } = convertToolSchema({
    type: 'object',
    properties: {
      'a b': { type: 'object', properties: { ß: { type: 'string' } } },
      ['x'.repeat(80)]: { type: 'string' },
      plain: { type: 'string' },
    },
    required: ['a b'],
  });
  const names = Object.keys(schema['properties'] as JsonObject);
  expect(names.every((name) => /^[\w.-]{1,64}$/.test(name))).toBe(true);
  const [ab = '', long = '', plain] = names;
  expect([schema['required'], plain]).toEqual([[ab], 'plain']);
  const inner = (schema['properties'] as Record<string, JsonObject>)[ab]?.[
    'properties'
  ] as JsonObject;
  const [sharpS = ''] = Object.keys(inner);
  expect(restoreArguments({ [ab]: { [sharpS]: 'v' }, [long]: ['w'], plain: { other: 1 } })).toEqual(
    {
      'a b': { ß: 'v' },
      ['x'.repeat(80)]: ['w'],
      plain: { other: 1 },
    },
  );
});

test('a schema that doubles with each reference stays small', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [
        `d${index}`,
        { type: 'object', description: 'x'.repeat(400), properties: { a: next, b: next } },
      ];
    }),
  );
  const { schema } = convertToolSchema({ $ref: '#/$defs/d0', $defs });
  expect(JSON.stringify(schema).length).toBeLessThan(64_000);
});

test('a schema with thousands of properties keeps the required ones', () => {
  const names = Array.from({ length: 3000 }, (_, index) => `p${index}`);
  const { schema } = convertToolSchema({
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: ['p2999'],
  });
  expect(schema['required']).toEqual(['p2999']);
  expect(Object.keys(schema['properties'] as JsonObject).length).toBe(200);
});

/** Schemas with every keyword of draft 2020-12, in senseless combinations. */
const { schema: anySchema } = fc.letrec<{ schema: JsonValue }>((tie) => {
  const inner = tie('schema');
  const inners = fc.array(inner, { maxLength: 3 });
  const name = fc.constantFrom('a', 'b', 'a b', '__proto__', 'é', 'constructor', '$ref');
  const map = fc.dictionary(name, inner, { maxKeys: 3 });
  const text = fc.constantFrom('', 'text', '^a+$', '\u0000\u202e');
  const number = fc.oneof(fc.integer({ min: -2, max: 9 }), fc.constant(0.5));
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(
      fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null', 'x'),
      fc.array(fc.constantFrom('string', 'number', 'null', 'object', 'array'), { maxLength: 3 }),
    ),
    $ref: fc.constantFrom('#', '#/$defs/a', '#/properties/a', '#a', 'https://x.dev/s', '#/$defs/%'),
    $defs: map,
    definitions: map,
    $anchor: fc.constantFrom('a', 'b'),
    $id: text,
    $dynamicRef: text,
    properties: map,
    patternProperties: map,
    dependentSchemas: map,
    additionalProperties: inner,
    unevaluatedProperties: inner,
    propertyNames: inner,
    required: fc.array(name, { maxLength: 3 }),
    dependentRequired: fc.dictionary(name, fc.array(name, { maxLength: 2 }), { maxKeys: 2 }),
    items: fc.oneof(inner, inners),
    prefixItems: inners,
    contains: inner,
    unevaluatedItems: inner,
    allOf: inners,
    anyOf: inners,
    oneOf: inners,
    not: inner,
    if: inner,
    // oxlint-disable-next-line unicorn/no-thenable -- the name of a keyword
    then: inner,
    else: inner,
    enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
    const: fc.jsonValue({ maxDepth: 1 }),
    format: fc.constantFrom('date-time', 'uri', 'int32'),
    pattern: text,
    minLength: number,
    maxLength: number,
    minimum: number,
    maximum: number,
    exclusiveMinimum: fc.oneof(number, fc.boolean()),
    exclusiveMaximum: number,
    multipleOf: number,
    minItems: number,
    maxItems: number,
    minContains: number,
    uniqueItems: fc.boolean(),
    minProperties: number,
    maxProperties: number,
    title: text,
    description: text,
    default: fc.jsonValue({ maxDepth: 1 }),
    examples: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 }),
    deprecated: fc.boolean(),
    readOnly: fc.boolean(),
    contentEncoding: text,
    nullable: fc.boolean(),
  };
  // Each keyword is seldom present, so that schemas stay small.
  const object = fc
    .subarray(Object.keys(keywords), { maxLength: 6 })
    .chain((names) =>
      fc.record(
        Object.fromEntries(names.map((each) => [each, keywords[each] ?? fc.constant(null)])),
      ),
    );
  return {
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.boolean(),
      fc.constant({ type: 'string' }),
      object,
    ) as fc.Arbitrary<JsonValue>,
  };
});

/** Returns what the servers of all providers would find wrong with a tool whose arguments have this schema. */
function findBreaches(parameters: JsonObject): readonly string[] {
  const tool = { name: 'mcp__s__t', description: 'A tool.' };
  const messages = [{ role: 'user', content: 'Hi' }];
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  const bodies: Readonly<Record<WireProtocol, JsonObject>> = {
    chat: {
      model: 'm',
      messages,
      tools: [{ type: 'function', function: { ...tool, parameters } }],
    },
    responses: {
      model: 'm',
      input: messages,
      tools: [{ type: 'function', ...tool, parameters }],
      store: false,
    },
    anthropic: {
      model: 'm',
      max_tokens: 9,
      messages,
      tools: [{ ...tool, input_schema: parameters }],
    },
    google: { contents, tools: [{ functionDeclarations: [{ ...tool, parameters }] }] },
  };
  return WIRE_PROTOCOLS.flatMap((protocol) => {
    const violations = checkRequest({ protocol, body: bodies[protocol], model: 'm' });
    return violations.length === 0 ? [] : [describeViolations(violations)];
  });
}

test('the result is accepted by every provider, whatever the schema', () => {
  fc.assert(
    fc.property(anySchema, (schema) => {
      const converted = convertToolSchema(schema).schema;
      expect(converted['type']).toBe('object');
      expect(isDeeperThan(converted, 64)).toBe(false);
      expect(findBreaches(converted)).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test('converting a converted schema changes nothing', () => {
  fc.assert(
    fc.property(anySchema, (schema) => {
      const once = convertToolSchema(schema).schema;
      expect(convertToolSchema(once).schema).toEqual(once);
    }),
    { numRuns: 500 },
  );
});
