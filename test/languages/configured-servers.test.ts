import { expect, it } from 'vitest';
import { addPluginServers, type PluginServerRow } from '../../src/languages/configured-servers.ts';
import { findLanguage } from '../../src/languages/find-server.ts';
import { LANGUAGES } from '../../src/languages/server-table.ts';

const server = (name: string, endings: Readonly<Record<string, string>>): PluginServerRow => ({
  name,
  program: name,
  args: ['--stdio'],
  endings,
  initializationOptions: null,
  settings: { a: 1 },
});

const programs = (path: string, servers: readonly PluginServerRow[]) =>
  findLanguage(path, { languages: addPluginServers(servers, LANGUAGES) })?.servers.map(
    ({ program }) => program,
  );

it('a server of a plugin comes after the other servers of a language', () => {
  const known = programs('a.go', []) ?? [];
  expect(known).toContain('gopls');
  expect(
    programs('a.go', [server('one', { '.go': 'go' }), server('two', { '.go': 'go' })]),
  ).toEqual([...known, 'one', 'two']);
});

it('a server of a plugin may serve a further language, and endings of several', () => {
  const servers = [
    server('zls', { '.zig': 'zig', '.go': 'go' }),
    server('other', { '.zig': 'zig' }),
  ];
  expect(programs('a.zig', servers)).toEqual(['zls', 'other']);
  expect(programs('a.go', servers)).toContain('zls');
  expect(programs('a.go', servers)).not.toContain('other');
  expect(programs('a.rs', servers)).toEqual(programs('a.rs', []));
});

it('nothing changes without a server of a plugin', () => {
  expect(addPluginServers([], LANGUAGES)).toBe(LANGUAGES);
});
