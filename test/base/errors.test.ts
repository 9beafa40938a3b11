import { expect, it } from 'vitest';
import { catchMusterError, MusterError } from '../../src/base/errors.ts';

it('returns a MusterError instead of throwing it, and throws any other error', () => {
  const error = new MusterError('NOT_FOUND', 'there is no such task');
  const fail = (thrown: unknown) => () => {
    throw thrown;
  };
  expect(catchMusterError(() => 'found')).toBe('found');
  expect(catchMusterError(fail(error))).toBe(error);
  expect(() => catchMusterError(fail(new TypeError('a bug')))).toThrow('a bug');
});
