import { expect, it } from 'vitest';
import { dataDirectory, userConfigDirectory } from '../../src/config/paths.ts';
import { quoteValue } from '../../src/config/message-text.ts';
import { sortByNearness } from '../../src/base/name-suggestions.ts';

const home = '/home/me';

it.each([
  [{}, '/home/me/.config/muster'],
  [{ XDG_CONFIG_HOME: '/x' }, '/x/muster'],
  [{ XDG_CONFIG_HOME: '' }, '/home/me/.config/muster'],
  [{ XDG_CONFIG_HOME: 'relative' }, '/home/me/.config/muster'],
  [{ XDG_CONFIG_HOME: '~/conf' }, '/home/me/conf/muster'],
])('user files with %j are in %s', (environment, expected) => {
  expect(userConfigDirectory({ environment, home })).toBe(expected);
});

it.each([
  [{}, undefined, '/home/me/.local/share/muster'],
  [{ XDG_DATA_HOME: '/x' }, undefined, '/x/muster'],
  [{ XDG_DATA_HOME: '/x', MUSTER_DATA_DIR: '/y' }, undefined, '/y'],
  [{ MUSTER_DATA_DIR: '/y' }, 'state', '/srv/state'],
  [{ MUSTER_DATA_DIR: '~/state' }, undefined, '/home/me/state'],
  [{ MUSTER_DATA_DIR: '~' }, undefined, '/home/me'],
  [{ MUSTER_DATA_DIR: '/y' }, '~/state', '/home/me/state'],
  [{ MUSTER_DATA_DIR: '~other/state' }, undefined, '/srv/~other/state'],
  [{}, './~/state', '/srv/~/state'],
])('data with %j and %j are in %s', (environment, chosen, expected) => {
  const wish = chosen === undefined ? {} : { dataDir: chosen };
  expect(dataDirectory({ environment, home }, { cwd: '/srv', ...wish })).toBe(expected);
});

it('names are sorted by similarity', () => {
  expect(sortByNearness('Max_Dept', ['nested', 'max_tasks', 'max_depth'])).toEqual([
    'max_depth',
    'max_tasks',
    'nested',
  ]);
});

it.each([
  ['plain', '"plain"'],
  ['a"b', '"a\\"b"'],
  ['a\nb', '"a\\nb"'],
  ['\u001B[31m\u202E', '"⟨U+001B⟩[31m⟨U+202E⟩"'],
  ['x'.repeat(61), `"${'x'.repeat(60)}…"`],
  [Number.NaN, 'NaN'],
  [['a'], '["a"]'],
])('quotes %j', (value, expected) => {
  expect(quoteValue(value)).toBe(expected);
});
