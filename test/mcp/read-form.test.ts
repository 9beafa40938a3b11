import { expect, test } from 'vitest';
import { readForm, readPageAddress } from '../../src/mcp/read-form.ts';

const base = { title: '', description: '', isRequired: false, options: [] };

test.each([
  [
    { type: 'string', format: 'email', minLength: 3 },
    { type: 'text', format: 'email', minimum: 3 },
  ],
  [
    { type: 'string', format: 'ipv4', default: 'x' },
    { type: 'text', default: 'x' },
  ],
  [
    { type: 'number', maximum: 2, title: 'N' },
    { type: 'number', maximum: 2, title: 'N' },
  ],
  [{ type: 'integer', default: '3' }, { type: 'integer' }],
  [
    { type: 'boolean', default: false },
    { type: 'boolean', default: false },
  ],
  [
    { type: 'string', enum: ['a', 'b'], enumNames: ['A'], default: 'b' },
    {
      type: 'choice',
      options: [
        { value: 'a', title: 'A' },
        { value: 'b', title: '' },
      ],
      default: 'b',
    },
  ],
  [
    { type: 'string', oneOf: [{ const: 'a', title: 'A' }], default: 'z' },
    { type: 'choice', options: [{ value: 'a', title: 'A' }] },
  ],
  [
    { type: 'array', minItems: 1, items: { anyOf: [{ const: 'a', title: 'A' }] }, default: ['a'] },
    { type: 'choices', minimum: 1, options: [{ value: 'a', title: 'A' }], default: ['a'] },
  ],
  [
    { type: 'string', description: 'one\u001b[2J\n  two' },
    { type: 'text', description: 'one two' },
  ],
])('the field %j', (schema, field) => {
  expect(readForm({ type: 'object', properties: { f: schema } })).toEqual({
    ok: true,
    fields: [{ name: 'f', ...base, ...field }],
  });
});

test.each([
  [{}, 'has no list of fields'],
  [{ properties: { 'a\nb': { type: 'string' } } }, 'has a field with the name "a b"'],
  [{ properties: { a: { type: 'object' } } }, 'has a field a of a type that cannot be shown'],
  [{ properties: { a: { type: 'array' } } }, 'has a field a of a type that cannot be shown'],
  [
    { properties: { a: { type: 'string', enum: ['x\u202ey'] } } },
    'has a field a with an option that is too long or has control characters',
  ],
  [
    {
      properties: {
        a: { type: 'string', enum: Array.from({ length: 51 }, (_, index) => `${index}`) },
      },
    },
    'has a field a with 51 options; at most 50 are shown',
  ],
])('the form %j is refused', (schema, problem) => {
  const read = readForm(schema);
  expect(read.ok ? null : read.problem).toBe(problem);
});

test('only addresses of the web without a user name can be shown', () => {
  const shown = [
    'https://é.org/a?b=1',
    'http://localhost:80/',
    'https://a@b.org',
    'javascript:1',
    'x',
  ];
  expect(shown.map((text) => readPageAddress(text)?.href ?? null)).toEqual([
    'https://xn--9ca.org/a?b=1',
    'http://localhost/',
    null,
    null,
    null,
  ]);
  expect(readPageAddress(`https://a.org/${'x'.repeat(2_000)}`)).toBeNull();
});
