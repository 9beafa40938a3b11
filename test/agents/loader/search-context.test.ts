import { mkdirSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PathCache } from '../../../src/agents/loader/search-context.ts';
import { workTree } from '../support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree({
    'repo/.claude/agents/a.md': 'x',
    'repo/sub/.gen/x': 'x',
    'repo/Überall/x': 'x',
  });
  symlinkSync('nowhere', tree.path('repo/broken'));
  symlinkSync('.claude', tree.path('repo/link'));
});
afterEach(() => tree.remove());

const PATHS = [
  'repo/.claude/agents',
  'repo/.claude/agents/a.md',
  'repo/.claude/skills',
  'repo/.gen',
  'repo/sub/.gen',
  'repo/sub/.claude/agents',
  'repo/sub/../.claude',
  'repo/../repo/.claude',
  'repo//.claude',
  'repo/broken',
  'repo/broken/agents',
  'repo/link/agents',
  'repo/Überall/x',
  'repo/.claude/agents/a.md/below',
  'repo',
  'other/.claude',
];

it('gives the same answers with and without listed directories', () => {
  const plain = new PathCache([]);
  const listing = new PathCache([tree.path('repo'), tree.path('repo/sub'), tree.path('other')]);
  const told = (looks: PathCache) =>
    PATHS.map((path) => [path, looks.mayExist(`${tree.root}/${path}`)] as const);
  expect(told(listing)).toEqual(told(plain));
  expect(told(plain).filter(([, is]) => is).length).toBeGreaterThan(6);
});

it('looks up each path in a directory with very many files', () => {
  const names = Array.from({ length: 3_000 }, (_, at) => `many/a-file-with-a-long-name-${at}`);
  for (const name of names) tree.write(name, '');
  mkdirSync(tree.path('many/.gen'));
  const looks = new PathCache([tree.path('many')]);
  expect(['.gen', '.muster'].map((name) => looks.mayExist(tree.path('many', name)))).toEqual([
    true,
    false,
  ]);
});

it('does not notice paths that are added later', () => {
  const directories = [tree.path('repo')];
  const looks = new PathCache(directories);
  expect(looks.mayExist(tree.path('repo/.muster/agents'))).toBe(false);
  mkdirSync(tree.path('repo/.muster/agents'), { recursive: true });
  expect(looks.mayExist(tree.path('repo/.muster/agents'))).toBe(false);
  expect(new PathCache(directories).mayExist(tree.path('repo/.muster/agents'))).toBe(true);
});
