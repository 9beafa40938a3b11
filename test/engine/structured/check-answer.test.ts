import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import {
  createAnswerCheck,
  findSchemaProblem,
  type AnswerCheck,
  parseAnswerJson,
} from '../../../src/engine/structured/check-answer.ts';
import { isValid } from './plain-validator.ts';

async function checkOf(schema: JsonObject): Promise<AnswerCheck> {
  const check = await createAnswerCheck(schema);
  if (typeof check === 'string') throw new Error(check);
  return check;
}

const PERSON = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[A-Z]' }, age: { type: 'integer', minimum: 0 } },
  required: ['name'],
  additionalProperties: false,
};
const LIST = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  definitions: {
    item: { type: 'object', properties: { next: { $ref: '#/definitions/item' } } },
  },
  $ref: '#/definitions/item',
};

describe('an answer', () => {
  it.each<[string, JsonObject, unknown]>([
    ['that matches the schema', PERSON, { name: 'Ada', age: 36 }],
    ['of a schema that refers to itself', LIST, { next: { next: {} } }],
    ['with an unknown format', { format: 'constructor' }, 'x'],
    ['that is an empty map', {}, null],
  ])('%s is valid', async (_, schema, value) => {
    const check = await checkOf(schema);
    expect(check(JSON.stringify(value))).toEqual({ kind: 'valid', value });
  });

  it.each<[string, JsonObject, unknown, readonly string[]]>([
    [
      'several problems',
      PERSON,
      { name: 'ada', age: -1.5, x: 1 },
      [
        '#/name: String does not match pattern.',
        '#/age: Instance type "number" is invalid. Expected "integer".',
        '#/age: -1.5 is less than 0.',
        '#: Property "x" does not match additional properties schema.',
      ],
    ],
    ['a missing property', PERSON, {}, ['#: Instance does not have required property "name".']],
    [
      'a problem deep inside',
      LIST,
      { next: { next: 5 } },
      ['#/next/next: Instance type "number" is invalid. Expected "object".'],
    ],
    [
      'a property that every object has',
      { required: ['toString', '__proto__'] },
      {},
      [
        '#: Instance does not have required property "toString".',
        '#: Instance does not have required property "__proto__".',
      ],
    ],
    ['a schema that nothing matches', { not: {} }, 1, ['#: Instance matched "not" schema.']],
    [
      'an unchecked format',
      { format: 'date' },
      '2026-02-30',
      ['#: String does not match format "date".'],
    ],
  ])('gets a report about %s', async (_, schema, value, findings) => {
    const check = await checkOf(schema);
    expect(check(JSON.stringify(value))).toEqual({ kind: 'invalid', findings });
  });

  it('that is wrong in very many places gets a report about ten', async () => {
    const check = await checkOf({ items: { type: 'string' } });
    const verdict = check(JSON.stringify(Array.from({ length: 100_000 }, () => 1)));
    if (verdict.kind !== 'invalid') throw new Error(verdict.kind);
    expect(verdict.findings[0]).toBe('#/0: Instance type "number" is invalid. Expected "string".');
    expect(verdict.findings.length).toBeLessThanOrEqual(11);
  });

  it('that makes a pattern backtrack without end is left unchecked', async () => {
    const check = await checkOf({ pattern: '^(a+)+$' });
    expect(check(JSON.stringify(`${'a'.repeat(50)}!`))).toEqual({
      kind: 'unchecked',
      reason:
        'a pattern or another keyword of the schema took longer than 500 ms on it (limit schema_check_ms = 500)',
    });
    expect(check('"aaa"')).toEqual({ kind: 'valid', value: 'aaa' });
  });
});

describe('a schema', () => {
  it.each<[string, JsonObject, string]>([
    ['with an invalid type', { type: 'objct' }, '#/type: Instance does not match any subschemas.'],
    [
      'with a keyword of the wrong form',
      { required: true },
      '#/required: Instance type "boolean" is invalid. Expected "array".',
    ],
    [
      'with an invalid part',
      { properties: { a: { items: 5 } } },
      '#/properties/a/items: Instance type "number" is invalid.',
    ],
    [
      'with an invalid pattern',
      { properties: { a: { pattern: '((' } } },
      '#/properties/a: Invalid regular expression: /((/u',
    ],
    [
      'with an invalid name pattern',
      { patternProperties: { '(': {} } },
      '#: Invalid regular expression: /(/u',
    ],
    [
      'with a reference that leads nowhere',
      { $ref: '#/nope' },
      '#: $ref "#/nope" leads to nothing within the schema, and nothing is fetched',
    ],
    [
      'with a reference that leads out',
      { $ref: 'http://127.0.0.1:9/x' },
      '#: $ref "http://127.0.0.1:9/x" leads to nothing within the schema',
    ],
    [
      'with a reference to a file',
      { $ref: 'file:///etc/passwd' },
      '#: $ref "file:///etc/passwd" leads to nothing',
    ],
    ['that is a reference to itself', { $ref: '#' }, 'refers to itself without end ($ref "#")'],
    [
      'with a reference that returns to itself',
      { $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
      'refers to itself without end',
    ],
    [
      'with references of a later draft',
      { $dynamicRef: '#x' },
      '#: $dynamicRef is not supported; use $ref',
    ],
    [
      'of another draft',
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      '#/$schema: must be one of draft-06, draft-07, 2019-09 and 2020-12',
    ],
    [
      'with two parts of the same name',
      { $defs: { a: { $id: 'x' }, b: { $id: 'x' } } },
      "its $id, $anchor and $ref can't be read: Duplicate schema URI",
    ],
    [
      'with an invalid id',
      { $id: 'http://[' },
      "its $id, $anchor and $ref can't be read: Invalid URL",
    ],
    [
      'of 70,000 bytes',
      { description: 'x'.repeat(70_000) },
      'has 70018 bytes; at most 65536 are allowed',
    ],
    [
      'of 100 levels',
      JSON.parse(`${'{"not":'.repeat(100)}{}${'}'.repeat(100)}`),
      'is nested more than 64 levels deep',
    ],
    [
      'with the marks that the validator adds',
      { $ref: '#/$defs/a', __absolute_ref__: 'x', $defs: { a: {} } },
      '#: $ref "#/$defs/a" leads to nothing',
    ],
  ])('%s is refused', async (_, schema, problem) => {
    expect(await findSchemaProblem(schema)).toContain(problem);
  });

  it('stays unchanged', async () => {
    const schema = { $defs: { a: { type: 'string', format: 'odd' } }, $ref: '#/$defs/a' };
    const frozen = JSON.stringify(schema);
    const check = await checkOf(schema);
    check('1');
    expect(Object.getOwnPropertyNames(schema.$defs.a)).toEqual(['type', 'format']);
    expect(JSON.stringify(schema)).toBe(frozen);
  });
});

const KEYS = ['a', 'b', 'toString'];
const names = fc.uniqueArray(fc.constantFrom(...KEYS), { maxLength: 2 });
const count = fc.nat(3);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, 1, 2.5, -3, '', 'a', 'bb', '\ud83d\ude00'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 3 }),
  ),
}));
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record(
      {
        type: fc.constantFrom('object', 'array', 'string', 'integer', 'number', 'null', 'boolean'),
        enum: fc.uniqueArray(value, {
          minLength: 1,
          maxLength: 3,
          selector: (each) => JSON.stringify(each),
        }),
        const: value,
        minimum: count,
        multipleOf: fc.constantFrom(0.5, 1, 2),
        minLength: count,
        maxLength: count,
        pattern: fc.constantFrom('^a', 'b+$', '.'),
        minItems: count,
        uniqueItems: fc.boolean(),
        required: names,
        maxProperties: count,
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        properties: fc.dictionary(fc.constantFrom(...KEYS), tie('schema'), { maxKeys: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        items: tie('schema'),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }), not: tie('schema') },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { contains: tie('schema'), minContains: count, maxContains: count },
      { requiredKeys: ['contains'] },
    ),
    fc.dictionary(fc.constantFrom('if', 'then', 'else'), tie('schema')),
    fc.record(
      {
        dependentRequired: fc.dictionary(fc.constantFrom(...KEYS), names),
        propertyNames: tie('schema'),
        allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 1 }),
      },
      { requiredKeys: [] },
    ),
  ),
}));

it('an answer is valid exactly when a plain reading of the keywords says so', async () => {
  await fc.assert(
    fc.asyncProperty(
      schema,
      fc.array(value, { minLength: 1, maxLength: 4 }),
      async (form, values) => {
        const check = await checkOf(plain(form));
        for (const each of values) {
          const answer = JSON.stringify(each);
          const kind = isValid(JSON.parse(answer), plain(form)) ? 'valid' : 'invalid';
          expect([answer, check(answer).kind]).toEqual([answer, kind]);
        }
      },
    ),
    { numRuns: 500 },
  );
});

function plain(form: unknown): JsonObject {
  return JSON.parse(JSON.stringify(form));
}

const fence = (text: string, language = 'json') => `\`\`\`${language}\n${text}\n\`\`\``;

describe('the JSON of an answer', () => {
  it.each([
    ['the full answer', '{"a":1}', { a: 1 }],
    ['with space around it', '\n\t [1, 2] \r\n', [1, 2]],
    ['after a byte order mark', '\ufeff"x"', 'x'],
    ['null', 'null', null],
    ['the only block of JSON', `Here it is:\n${fence('{"a":1}')}\nThat is all.`, { a: 1 }],
    ['the only block marked as JSON', `${fence('const a = 1;', 'ts')}\n${fence('[1]')}`, [1]],
    ['in capitals, after a blank, with CRLF', '``` JSON\r\n{"a":\r\n1}\r\n```\r\n', { a: 1 }],
    ['the only block without a mark', `So:\n${fence('[1]', '')}`, [1]],
    [
      'a block with fences in its texts',
      fence('{"md":"```json\\n[2]\\n```"}'),
      { md: '```json\n[2]\n```' },
    ],
    [
      'names that every object has',
      '{"__proto__":1,"constructor":2}',
      JSON.parse('{"__proto__":1,"constructor":2}'),
    ],
    ['half of an emoji', '"\\ud83d"', '\ud83d'],
    ['200 levels', `${'['.repeat(200)}${']'.repeat(200)}`, expect.any(Array)],
  ])('is %s', (_, answer, value) => {
    expect(parseAnswerJson(answer)).toEqual({ ok: true, value });
  });

  it.each([
    ['prose', 'Nothing found.', /^it is not JSON: Unexpected token 'N'/],
    ['an empty answer', '', /^it is not JSON: Unexpected end of JSON input$/],
    ['JSON with words before it', 'The result: {"a":1}', /^it is not JSON: /],
    ['JSON with words after it', '{"a":1} is it', /^it is not JSON: /],
    ['two values', '{"a":1}\n{"a":2}', /^it is not JSON: /],
    ['a comma too many', '{"a":1,}', /^it is not JSON: /],
    [
      'two blocks of JSON',
      `${fence('1')}\n${fence('2')}`,
      /^it holds 2 blocks of JSON; one value is wanted$/,
    ],
    ['a block of something else', fence('{"a":1}', 'js'), /^it is not JSON: /],
    ['a block that is cut off', '```json\n{"a":1}', /^it is not JSON: /],
    ['a block that is not JSON', fence('{a:1}'), /^it is not JSON: Expected property name/],
    ['a number out of range', '{"a":[1e999]}', /^it holds a number that is too large$/],
    [
      '201 levels',
      `${'['.repeat(201)}${']'.repeat(201)}`,
      /^it is nested more than 200 levels deep$/,
    ],
    ['a million levels', '['.repeat(1_000_000), /^it is not JSON: /],
    ['a megabyte of words on one line', 'word '.repeat(200_000), /^it is not JSON: /],
  ])('is not found in %s', (_, answer, why) => {
    expect(parseAnswerJson(answer)).toEqual({ ok: false, reason: expect.stringMatching(why) });
  });

  it('is the value that was written, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, isFenced) => {
        const json = JSON.stringify(value, null, isFenced ? 2 : 0);
        const answer = isFenced ? `It is:\n${fence(json)}` : json;
        expect(parseAnswerJson(answer)).toEqual({ ok: true, value: JSON.parse(json) });
      }),
    );
  });
});
