import { describe, expect, it } from 'vitest';
import { readFormValues } from '../../../src/engine/questions/read-form-values.ts';
import type { FormField } from '../../../src/protocol/form.ts';

function field(name: string, more: Partial<FormField> = {}): FormField {
  const plain = {
    title: '',
    description: '',
    type: 'text',
    isRequired: false,
    options: [],
  } as const;
  return { name, ...plain, ...more };
}

const colors = [
  { value: 'r', title: 'red' },
  { value: 'g', title: 'green' },
];
const FIELDS: readonly FormField[] = [
  field('name', { isRequired: true }),
  field('age', { type: 'integer', minimum: 0, maximum: 150 }),
  field('note', { default: 'none' }),
];

describe('a form is read', () => {
  it.each([
    ['lines', 'name: Ada\nage: 36', { name: 'Ada', age: 36, note: 'none' }],
    ['semicolons', 'name: Ada; age: 36', { name: 'Ada', age: 36, note: 'none' }],
    ['JSON', '{"name":"Ada","age":36}', { name: 'Ada', age: 36, note: 'none' }],
    ['a default that was erased', 'name: Ada\nnote:', { name: 'Ada' }],
    [
      'values with line ends and colons',
      'name: a: b\nc; d\nnote: x',
      { name: 'a: b\nc; d', note: 'x' },
    ],
  ])('from %s', (_, text, values) => {
    expect(readFormValues(FIELDS, text)).toEqual({ ok: true, values });
  });

  it.each([
    ['', 'the field name is required'],
    ['name:', 'the field name is required'],
    ['Ada', 'begin with the name of a field and a colon, such as name: value'],
    ['name: Ada; age: 200', 'age: it must be a whole number from 0 up to 150'],
    ['name: Ada; age: 1.5', 'age: it must be a whole number from 0 up to 150'],
    ['{"name":"Ada","__proto__":1}', 'there is no field __proto__; the fields are name, age, note'],
    ['{"name":3}', 'name: it must be a text'],
  ])('and %j is refused', (text, problem) => {
    expect(readFormValues(FIELDS, text)).toEqual({ ok: false, problem });
  });

  it.each([
    [field('a', { type: 'boolean' }), 'Yes', true],
    [field('a', { type: 'boolean' }), 'a: no', false],
    [field('a', { type: 'boolean' }), 'perhaps', null],
    [field('a', { type: 'number' }), '-1.5', -1.5],
    [field('a', { type: 'number' }), '1e999', null],
    [field('a', { type: 'choice', options: colors }), 'g', 'g'],
    [field('a', { type: 'choice', options: colors }), 'red', 'r'],
    [field('a', { type: 'choice', options: colors }), '2', 'g'],
    [field('a', { type: 'choice', options: colors }), '3', null],
    [field('a', { type: 'choices', options: colors }), 'r, green, r', ['r', 'g']],
    [field('a', { type: 'choices', options: colors, minimum: 2 }), 'r', null],
    [field('a', { format: 'email' }), 'ada@example.org', 'ada@example.org'],
    [field('a', { format: 'email' }), 'ada', null],
    [field('a', { format: 'uri' }), 'https://example.org', 'https://example.org'],
    [field('a', { format: 'date' }), '2026-02-31x', null],
    [field('a', { format: 'date' }), '2026-02-28', '2026-02-28'],
    [field('a', { format: 'date-time' }), '2026-02-28T12:00:00Z', '2026-02-28T12:00:00Z'],
    [field('a', { minimum: 2 }), 'x', null],
    [field('a'), 'a text: with a colon', 'a text: with a colon'],
  ])('%j takes %j as %j', (only, text, value) => {
    const reading = readFormValues([only], text);
    expect(reading.ok ? reading.values['a'] : null).toEqual(value);
  });
});
