import { expect, it } from 'vitest';
import {
  catchMusterError,
  errorInfo,
  errorMessage,
  isCancelled,
  MusterError,
  systemErrorCode,
} from '../../src/base/errors.ts';

it('returns a MusterError instead of throwing it, and throws any other error', () => {
  const error = new MusterError('NOT_FOUND', 'there is no such task');
  const fail = (thrown: unknown) => () => {
    throw thrown;
  };
  expect(catchMusterError(() => 'found')).toBe('found');
  expect(catchMusterError(fail(error))).toBe(error);
  expect(() => catchMusterError(fail(new TypeError('a bug')))).toThrow('a bug');
});

const refuse = (): never => {
  throw new Error('not readable');
};

it.each<[string, unknown, string]>([
  ['an error', new Error('a bug'), 'a bug'],
  ['a text', 'plain', 'plain'],
  ['no value', undefined, 'undefined'],
  ['a message that is no text', Object.assign(new Error('x'), { message: 5 }), '5'],
  [
    'a message that throws',
    Object.defineProperty(new Error('x'), 'message', { get: refuse }),
    'the thrown value cannot be read',
  ],
  [
    'a prototype that throws',
    new Proxy({}, { getPrototypeOf: refuse }),
    'the thrown value cannot be read',
  ],
  ['an object without a text', Object.create(null), 'the thrown value cannot be read'],
  [
    'a MusterError whose fields throw',
    new Proxy(new MusterError('CANCELLED', 'x'), { get: refuse }),
    'the thrown value cannot be read',
  ],
])('reads %s without throwing', (_what, thrown, message) => {
  expect([
    errorMessage(thrown),
    errorInfo(thrown),
    isCancelled(thrown),
    systemErrorCode(thrown),
  ]).toEqual([message, { code: 'INTERNAL_ERROR', message, retryable: false }, false, undefined]);
});
