import { expect, test } from 'vitest';
import { chooseScope, type NamedScopes } from '../../src/mcp/discover-issuer.ts';

const NONE: NamedScopes = {
  settings: null,
  demanded: null,
  earlier: null,
  ofResource: undefined,
  ofIssuer: undefined,
};

test.each<[string, Partial<NamedScopes>, string | undefined]>([
  ['nothing is named', {}, undefined],
  ['all of the server', { ofResource: ['a', 'b'] }, 'a b'],
  ['those that it demands', { demanded: 'a', ofResource: ['a', 'b'] }, 'a'],
  ['those of before as well', { demanded: 'b', earlier: 'a b' }, 'a b'],
  ['those of the entry', { settings: { scopes: ['x'] }, ofResource: ['a'] }, 'x'],
  ['a demand besides those of the entry', { settings: { scopes: ['x'] }, demanded: 'y' }, 'x y'],
  [
    'the right to renew tokens',
    { demanded: 'a', ofIssuer: ['a', 'offline_access'] },
    'a offline_access',
  ],
  ['no such right alone', { ofIssuer: ['offline_access'] }, undefined],
  [
    'no such right against the entry',
    { settings: { scopes: ['x'] }, ofIssuer: ['offline_access'] },
    'x',
  ],
])('scopes of a login: %s', (_, named, scope) => {
  expect(chooseScope({ ...NONE, ...named })).toBe(scope);
});
