import { expect, it } from 'vitest';
import { dropMissing } from '../../src/base/drop-missing.ts';

it('keeps the fields of an object that are neither undefined nor null', () => {
  const fields = { text: '', count: 0, flag: false, nothing: null, absent: undefined };
  const kept = dropMissing(fields);
  expect(Object.entries(kept)).toEqual([
    ['text', ''],
    ['count', 0],
    ['flag', false],
  ]);
  expect(fields).toHaveProperty('absent');
});
