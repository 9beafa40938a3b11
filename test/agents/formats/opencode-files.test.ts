import { AGENTS } from '../../../src/agents/kinds.ts';
import { discoverDefinitions, readListedFiles } from '../../../src/agents/loader/discover.ts';
import { listDefinitionFiles } from '../../../src/agents/loader/list-files.ts';
import { openLive } from '../loader/support.ts';
import { createSearchContext } from '../../../src/agents/loader/search-context.ts';
import { scanSubtree } from '../../../src/agents/loader/subtree-scan.ts';
import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readProjectFiles } from '../../../src/trust/list-files.ts';
import { TRUST_ALL, type ProjectTrust } from '../../../src/sys/files/project-file.ts';
import { agentFile, workTree } from '../support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree({ '.git/HEAD': '', 'prompts/a.txt': 'From a file.\n', '.env': 'KEY=1' });
});
afterEach(() => tree.remove());

const config = (prompt: string): void =>
  tree.write('opencode.json', JSON.stringify({ agent: { tester: { description: 'd', prompt } } }));
const environment = (): Record<string, string> => ({ HOME: tree.path('home') });
const discover = async (trust: ProjectTrust = TRUST_ALL) => {
  const listed = listDefinitionFiles(AGENTS, createSearchContext(tree.root, environment()));
  const { result, referencedFiles } = await readListedFiles(AGENTS, listed, { trust });
  const tester = result.items.find(({ name }) => name === 'tester');
  return { ...result, referencedFiles, tester };
};

test('prompts in files are read, and listed among the files to trust', async () => {
  config('Begin. {file:./prompts/a.txt} {file:prompts/a.txt} End. {env:KEY}');
  const { tester, referencedFiles } = await discover();
  expect(tester).toMatchObject({ prompt: 'Begin. From a file. From a file. End. {env:KEY}' });
  expect([tester?.unusable, referencedFiles]).toEqual([undefined, [tree.path('prompts/a.txt')]]);
  expect(tester?.problems.map(({ code }) => code)).toEqual(['environment-reference']);
  const place = { environment: environment(), home: tree.path('home'), cwd: tree.root };
  const { found } = await readProjectFiles(place);
  expect(found.map(({ file }) => file.path)).toEqual([
    tree.path('opencode.json'),
    tree.path('prompts/a.txt'),
  ]);
  const below = await scanSubtree(AGENTS, tree.root);
  expect(below.items.map(({ prompt }) => prompt)).toEqual([tester?.prompt]);
});

test('agents are loaded again when a file with a prompt has changed', async () => {
  config('{file:./prompts/a.txt}');
  const live = await openLive(AGENTS, { cwd: tree.root, environment: environment() });
  const prompt = () => live.current().find(({ name }) => name === 'tester')?.prompt;
  expect([await live.check(), prompt()]).toEqual(['unchanged', 'From a file.']);
  tree.write('prompts/a.txt', 'From a file, changed.');
  expect([await live.check(), prompt()]).toEqual(['reloaded', 'From a file, changed.']);
});

test('prompts in files are not read before each of them is trusted', async () => {
  config('{file:./prompts/a.txt}');
  const trust: ProjectTrust = {
    judge: ({ path }) =>
      path === tree.path('opencode.json') ? { state: 'trusted' } : { state: 'new' },
  };
  const { tester, skipped } = await discover(trust);
  const reason = 'Not trusted yet. Look at it, then run `muster trust add`.';
  expect(tester).toMatchObject({
    prompt: '{file:./prompts/a.txt}',
    unusable: `Its prompt is in ./prompts/a.txt. ${reason}`,
  });
  expect(skipped).toEqual([{ path: tree.path('prompts/a.txt'), code: 'untrusted', reason }]);
});

test.each([
  ['/etc/hostname', 'It lies outside of '],
  ['../x.txt', 'It cannot be read: '],
  ['./prompts/none.txt', 'It cannot be read: '],
  ['./.env', 'It is a file that usually holds secrets.'],
  ['./prompts', 'Not a regular file'],
])('%s cannot be used as a prompt', async (name, reason) => {
  config(`{file:${name}}`);
  const { tester } = await discover();
  expect(tester?.unusable).toContain(`Its prompt is in ${name}. ${reason}`);
});

test('a link out of the project is not followed', async () => {
  const other = workTree({ 'x.txt': 'secret' });
  try {
    symlinkSync(other.path('x.txt'), tree.path('prompts/link.txt'));
    config('{file:./prompts/link.txt}');
    const { tester } = await discover();
    expect(tester?.unusable).toContain('It lies outside of ');
  } finally {
    other.remove();
  }
});

test('locations of the user, and of an environment variable', async () => {
  const home = (path: string): string => `home/${path}`;
  tree.write(home('.config/opencode/agents/a.md'), agentFile('description: A.'));
  tree.write(home('.config/opencode/mode/b.md'), agentFile('description: B.'));
  tree.write(home('.opencode/agent/c.md'), agentFile('description: C.'));
  tree.write(home('.config/opencode/opencode.jsonc'), '{"agent": {"d": {"description": "D."}}}');
  tree.write('own/agents/e.md', agentFile('description: E.'));
  const found = await discoverDefinitions(AGENTS, {
    cwd: tree.path('prompts'),
    environment: { ...environment(), OPENCODE_CONFIG_DIR: tree.path('own') },
    trust: TRUST_ALL,
  });
  const named = found.items.filter(({ origin }) => origin.vendor === 'opencode');
  expect(named.map(({ name, origin }) => [name, origin.scope])).toEqual([
    ['e', 'user'],
    ['a', 'user'],
    ['b', 'user'],
    ['d', 'user'],
    ['c', 'user'],
  ]);
});

test('what a configuration denies to all agents is also denied to those in files next to it', async () => {
  tree.write('opencode.json', '{"permission": {"webfetch": "deny", "edit": "deny"}}');
  tree.write('.opencode/opencode.jsonc', '{"tools": {"bash": false}} // all');
  tree.write('.opencode/agent/a.md', agentFile('description: A.'));
  tree.write('.opencode/agent/b.md', agentFile('description: B.', 'permission:', '  edit: allow'));
  const own = async () => {
    const { items: agents } = await discover();
    return agents
      .filter(({ origin }) => origin.vendor === 'opencode')
      .map(({ name, rules }) => [name, rules?.deny]);
  };
  expect(await own()).toEqual([
    ['a', ['Edit', 'Write', 'Bash', 'WebFetch']],
    ['b', ['Bash', 'WebFetch']],
  ]);
  tree.write('opencode.json', '{"permission": {');
  tree.write('.opencode/opencode.jsonc', '7');
  expect(await own()).toEqual([
    ['a', undefined],
    ['b', undefined],
  ]);
});
