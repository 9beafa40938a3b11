import { userInfo } from 'node:os';
import { expect, it } from 'vitest';
import { homeDirectory } from '../../src/sys/env.ts';

it.each([
  [{ HOME: '/home/me' }, '/home/me'],
  [{ HOME: '' }, userInfo().homedir],
  [{ HOME: 'relative' }, userInfo().homedir],
  [{}, userInfo().homedir],
])('the home directory with %j is %s', (environment, expected) => {
  expect(homeDirectory(environment)).toBe(expected);
});
