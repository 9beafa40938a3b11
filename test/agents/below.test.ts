import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentsBelow } from '../../src/agents/below.ts';
import { agentFile, workTree } from './support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree();
});
afterEach(() => tree.remove());

const file = (name: string): string => agentFile(`name: ${name}`, 'description: Does.');

test('every agent file below a directory, of whatever vendor, and why others are none', async () => {
  tree.write('a/.muster/agents/own.md', file('own'));
  tree.write('a/deep/er/than/most/of/them/are/laid/in/b.md', file('b'));
  tree.write('subagents/old/SUBAGENT.md', file('old'));
  tree.write('README.md', '# About\n');
  tree.write('node_modules/x/agents/none.md', file('none'));
  tree.write('binary.md', Buffer.from([0, 1]));
  tree.write('second.md', file('own'));
  const { agents, shadowed, skipped } = await agentsBelow(tree.root);
  expect(agents.map(({ name, origin }) => [name, origin.vendor])).toEqual([
    ['own', 'muster'],
    ['b', 'claude'],
    ['old', 'subagent'],
  ]);
  expect(shadowed.map(({ agent, by }) => [agent.origin.path, by])).toEqual([
    [tree.path('second.md'), tree.path('a/.muster/agents/own.md')],
  ]);
  expect(skipped.map(({ path, code }) => [path, code])).toEqual([
    [tree.path('README.md'), 'not-an-agent'],
    [tree.path('binary.md'), 'binary'],
  ]);
});

test.each([
  ['.factory/droids', 'factory'],
  ['.gen/agents/team', 'gen'],
  ['home/.config/opencode/agents', 'opencode'],
  ['home/.config/muster/agents', 'muster'],
  ['pi/opencode', 'claude'],
])('a file of %s is of the same vendor when that is what is looked at', async (place, vendor) => {
  tree.write(`${place}/a.md`, file('a'));
  const { agents } = await agentsBelow(tree.path(place));
  expect(agents.map(({ origin }) => origin.vendor)).toEqual([vendor]);
});

test("a file with one of Muster's own fields is Muster's, wherever it lies", async () => {
  tree.write('a.md', agentFile('name: a', 'description: Does.', 'deny-rules: [Bash]'));
  const { agents } = await agentsBelow(tree.root);
  expect(agents).toMatchObject([{ rules: { deny: ['Bash'] }, origin: { vendor: 'muster' } }]);
});
