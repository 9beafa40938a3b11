import { AGENTS } from '../../../src/agents/kinds.ts';
import { scanSubtree } from '../../../src/agents/loader/subtree-scan.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentFile, workTree } from '../support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree();
});
afterEach(() => tree.remove());

const file = (name: string): string => agentFile(`name: ${name}`, 'description: Does.');

test('finds every agent file below a directory, of any vendor, and gives the reasons for the other files', async () => {
  tree.write('a/.muster/agents/own.md', file('own'));
  tree.write('a/deep/er/than/most/of/them/are/laid/in/b.md', file('b'));
  tree.write('subagents/old/SUBAGENT.md', file('old'));
  tree.write('README.md', '# About\n');
  tree.write('node_modules/x/agents/none.md', file('none'));
  tree.write('binary.md', Buffer.from([0, 1]));
  tree.write('second.md', file('own'));
  const { items: agents, shadowed, skipped } = await scanSubtree(AGENTS, tree.root);
  expect(agents.map(({ name, origin }) => [name, origin.vendor])).toEqual([
    ['own', 'muster'],
    ['b', 'claude'],
    ['old', 'subagent'],
  ]);
  expect(shadowed.map(({ item: agent, by }) => [agent.origin.path, by])).toEqual([
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
])(
  'a file of %s is detected as the same vendor when its directory is scanned',
  async (place, vendor) => {
    tree.write(`${place}/a.md`, file('a'));
    const { items: agents } = await scanSubtree(AGENTS, tree.path(place));
    expect(agents.map(({ origin }) => origin.vendor)).toEqual([vendor]);
  },
);

test("a file with one of Muster's own fields is Muster's, wherever it lies", async () => {
  tree.write('a.md', agentFile('name: a', 'description: Does.', 'deny-rules: [Bash]'));
  const { items: agents } = await scanSubtree(AGENTS, tree.root);
  expect(agents).toMatchObject([{ rules: { deny: ['Bash'] }, origin: { vendor: 'muster' } }]);
});

test('ignores data files of a repository, and lists files in other directories with a reason', async () => {
  for (const path of ['package.json', 'ci.yml', 'Cargo.toml', '.github/workflows/ci.yml']) {
    tree.write(path, '{"name": "x"}');
  }
  tree.write('.kiro/settings/mcp.json', '{"mcpServers": {"a": {}}}');
  tree.write('huge.json', Buffer.alloc(5 * 1024 * 1024, ' '));
  tree.write('sub/.codex/config.toml', 'model = "x"\n');
  tree.write('.kiro/agents/none.json', '{"version": 1}');
  tree.write('.kiro/agents/keeper.json', '{"prompt": "Keep."}');
  tree.write('.kiro/steering/tech.md', file('tech'));
  tree.write('.claude/skills/sum/SKILL.md', file('sum'));
  tree.write('.claude/commands/commit.md', file('commit'));
  tree.write('.claude/sub-agents/mine.md', file('mine'));
  tree.write('recipes/one.yaml', 'title: one\nprompt: Do.\n');
  const { items: agents, skipped, problems } = await scanSubtree(AGENTS, tree.root);
  expect(agents.map(({ name }) => name)).toEqual(['mine', 'keeper', 'one']);
  expect(skipped.map(({ path, code, reason }) => [path, code, reason])).toEqual(
    (
      [
        ['.claude/commands/commit.md', 'It does not lie where its product keeps agents.'],
        [
          '.claude/skills/sum/SKILL.md',
          'It is a skill (see `muster skills list`), and not an agent.',
        ],
        ['.kiro/agents/none.json', 'It has none of the fields of an agent.'],
        ['.kiro/steering/tech.md', 'It does not lie where its product keeps agents.'],
        ['sub/.codex/config.toml', 'It declares no agent.'],
      ] as const
    ).map(([path, reason]) => [tree.path(path), 'not-an-agent', reason]),
  );
  expect(problems).toEqual([]);
});
