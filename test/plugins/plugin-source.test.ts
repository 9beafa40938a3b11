import { expect, it } from 'vitest';
import {
  describePluginSource,
  parseGitHubRepository,
  parseSource,
  readStoredSource,
  type PluginSource,
} from '../../src/plugins/plugin-source.ts';

const git = (url: string, ref: string | null = null, directory = ''): PluginSource => ({
  kind: 'git',
  url,
  ref,
  directory,
});
const npm = (name: string, version: string | null = null): PluginSource => ({
  kind: 'npm',
  name,
  version,
  registry: null,
});

it.each<readonly [string, PluginSource]>([
  ['https://git.example/kit.git', git('https://git.example/kit.git')],
  ['https://git.example/kit.git#v1', git('https://git.example/kit.git', 'v1')],
  ['https://git.example/kit.git#v1:a/b', git('https://git.example/kit.git', 'v1', 'a/b')],
  ['https://git.example/kit.git#:a', git('https://git.example/kit.git', null, 'a')],
  ['ssh://git@git.example/kit', git('ssh://git@git.example/kit')],
  ['git@git.example:team/kit.git', git('git@git.example:team/kit.git')],
  ['file:///srv/kit', git('file:///srv/kit')],
  ['npm:kit', npm('kit')],
  ['npm:@team/kit@1.2.3', npm('@team/kit', '1.2.3')],
])('%s is a source that is stored and shown as it was typed', (text, source) => {
  expect(parseSource(text)).toEqual({ ok: true, source });
  expect(describePluginSource(source)).toBe(text);
  expect(readStoredSource(JSON.parse(JSON.stringify(source)))).toEqual(source);
});

it.each([
  ['github:team/kit#main', git('https://github.com/team/kit.git', 'main')],
  ['github:team/kit.git', git('https://github.com/team/kit.git')],
])('%s is a repository on GitHub', (text, source) => {
  expect(parseSource(text)).toEqual({ ok: true, source });
});

it.each([
  ['http://git.example/kit', 'only https, ssh and file addresses of git repositories can be used'],
  ['ext::sh', null],
  ['git://git.example/kit', 'only https, ssh and file addresses of git repositories can be used'],
  ['npm:x@git+ssh://y', 'the version of the package must be one version or a tag'],
  ['npm:', 'the name of the package is not valid'],
  ['github:team', 'a repository on GitHub is written as OWNER/REPOSITORY'],
  ['https://git.example/kit#-x', 'the branch, tag or commit is not a valid name'],
  ['https://git.example/kit#a..b', 'the branch, tag or commit is not a valid name'],
  ['https://git.example/kit#a:../b', 'the directory leads out of the repository'],
  ['./kit', null],
  ['kit', null],
])('%s is no source', (text, reason) => {
  expect(parseSource(text)).toEqual(reason === null ? null : { ok: false, reason });
});

it.each([
  ['team/kit', true],
  ['team/kit#v1', true],
  ['team', false],
  ['a/b/c', false],
  ['-team/kit', false],
])('%s may be a repository on GitHub: %s', (text, isRepository) => {
  expect(parseGitHubRepository(text) !== null).toBe(isRepository);
});

it.each([
  null,
  'x',
  {},
  { kind: 'directory', path: 'relative' },
  { kind: 'git', url: 'ext::sh', ref: null, directory: '' },
  { kind: 'git', url: 'https://x', ref: '--x', directory: '' },
  { kind: 'npm', name: '../x', version: null, registry: null },
])('%j is no stored source', (value) => {
  expect(readStoredSource(value)).toBeNull();
});
