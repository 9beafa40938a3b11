import { expect, it } from 'vitest';
import { definedFields } from '../../src/base/defined-fields.ts';

it('keeps the fields of an object that are not undefined', () => {
  const fields = { text: '', count: 0, flag: false, nothing: null, absent: undefined };
  const kept = definedFields(fields);
  expect(Object.entries(kept)).toEqual([
    ['text', ''],
    ['count', 0],
    ['flag', false],
    ['nothing', null],
  ]);
  expect(fields).toHaveProperty('absent');
});
