import { AGENTS } from '../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../src/agents/loader/discover.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TRUST_ALL, type ProjectTrust } from '../../src/sys/files/project-file.ts';
import { agentFile, workTree } from './support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree({ 'repo/.git/HEAD': '' });
});
afterEach(() => tree.remove());

async function discover(trust: ProjectTrust = TRUST_ALL) {
  const environment = { HOME: tree.path('home') };
  return discoverDefinitions(AGENTS, { cwd: tree.path('repo'), environment, trust });
}

async function helper() {
  const { items: agents, shadowed } = await discover();
  const found = agents.find(({ name }) => name === 'helper');
  const { disallowedTools, rules, mode, problems, prompt, model } = found ?? {};
  const codes = problems?.map(({ code }) => code);
  return { found: { disallowedTools, rules, mode, prompt, model, codes }, shadowed };
}

test('an opencode agent is denied what a later file with the same name denies', async () => {
  const config = {
    prompt: 'There.',
    model: 'a/b',
    permission: { webfetch: 'deny', bash: { '*': 'allow', 'rm *': 'deny', 'git *': 'ask' } },
  };
  tree.write('repo/.opencode/agent/helper.md', agentFile('description: Helps.'));
  tree.write('home/.config/opencode/opencode.json', JSON.stringify({ agent: { helper: config } }));
  const { found, shadowed } = await helper();
  expect(found).toEqual({
    disallowedTools: ['WebFetch'],
    rules: { ask: ['Bash(git *)'], deny: ['Bash(rm *)'] },
    mode: null,
    prompt: 'Test.',
    model: undefined,
    codes: ['layered'],
  });
  expect(shadowed.map(({ by }) => by)).toEqual([tree.path('repo/.opencode/agent/helper.md')]);
});

test('a Codex agent without a mode takes that of a later file', async () => {
  const toml = (...lines: string[]): string =>
    ['name = "helper"', 'description = "d"', 'developer_instructions = "Do."', ...lines].join('\n');
  tree.write('repo/.codex/agents/helper.toml', toml());
  tree.write('home/.codex/agents/helper.toml', toml('sandbox_mode = "read-only"'));
  expect((await helper()).found).toMatchObject({ mode: 'plan', codes: ['layered'] });
  tree.write('repo/.codex/agents/helper.toml', toml('sandbox_mode = "workspace-write"'));
  expect((await helper()).found).toMatchObject({ mode: 'acceptEdits', codes: [] });
});

test.each([
  ['no later file denies anything', '.opencode/agent', '.config/opencode/agent', 'model: a/b'],
  [
    'the product does not merge its files',
    '.claude/agents',
    '.claude/agents',
    'disallowedTools: Write',
  ],
])('if %s, the agent stays unchanged', async (_, project, home, line) => {
  tree.write(`repo/${project}/helper.md`, agentFile('name: helper', 'description: d'));
  tree.write(`home/${home}/helper.md`, agentFile('name: helper', 'description: d', line));
  expect((await helper()).found).toMatchObject({ disallowedTools: [], codes: [] });
});

test('an untrusted file that several agents refer to is listed once', async () => {
  tree.write('repo/.codex/config.toml', '[agents.a]\n');
  for (const name of ['a', 'b']) tree.write(`repo/.codex/agents/${name}.toml`, 'name = "x"\n');
  const { skipped } = await discover({
    judge: ({ path }) => ({ state: path.endsWith('config.toml') ? 'new' : 'trusted' }),
  });
  expect(skipped.map(({ path }) => path)).toEqual([tree.path('repo/.codex/config.toml')]);
});
