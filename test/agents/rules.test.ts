import { AGENTS } from '../../src/agents/kinds.ts';
import type { DiscoveryResult } from '../../src/agents/loader/discovery-result.ts';
import { scanSubtree } from '../../src/agents/loader/subtree-scan.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findAgent } from '../../src/agents/find-agent.ts';
import { agentId, findIdClashes } from '../../src/agents/agent-id.ts';
import type { AgentDefinition } from '../../src/protocol/agent.ts';
import { workTree } from './support.ts';

/**
 * What real agent files of all vendors need of a loader, rule by rule: each with files of the kind that
 * was found to need it.
 */

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree();
});
afterEach(() => tree.remove());

async function load(
  files: Readonly<Record<string, string>>,
): Promise<DiscoveryResult<AgentDefinition>> {
  for (const [path, text] of Object.entries(files)) tree.write(path, text);
  return await scanSubtree(AGENTS, tree.root);
}

async function loadOne(path: string, text: string): Promise<AgentDefinition> {
  const { items: agents, skipped } = await load({ [path]: text });
  const [agent] = agents;
  if (agent === undefined || agents.length !== 1) throw new Error(JSON.stringify(skipped));
  return agent;
}

const codes = ({ problems }: AgentDefinition): readonly string[] =>
  problems.map(({ code }) => code);

const claude = (...lines: readonly string[]): string =>
  ['---', ...lines, '---', '', 'Do it.', ''].join('\n');

describe('a loader of real files', () => {
  test('1: parses strictly first, then line by line, and reports the mistake with its line', async () => {
    const text = claude('name: a', 'description: Use when: it breaks', 'model: opus');
    const agent = await loadOne('.claude/agents/a.md', text);
    expect(agent).toMatchObject({ description: 'Use when: it breaks', model: 'opus' });
    expect(agent.problems).toEqual([
      {
        code: 'invalid-yaml',
        message: expect.stringContaining('read line by line'),
        path: tree.path('.claude/agents/a.md'),
        line: 3,
      },
    ]);
  });

  test('2: line by line an entry starts at a known key, not inside an example that closes', async () => {
    const agent = await loadOne(
      '.claude/agents/a.md',
      claude(
        'name: a',
        'description: Use it: often',
        'Context: two files',
        '<example>',
        'model: none of its own',
        '</example>',
        'model: haiku',
      ),
    );
    expect(agent).toMatchObject({
      model: 'haiku',
      description:
        'Use it: often\nContext: two files\n<example>\nmodel: none of its own\n</example>',
    });
  });

  test('3: only the first `---` closes the front matter', async () => {
    const text = '---\nname: a\ndescription: Does.\n---\nOne\n\n---\nmodel: opus\n---\nTwo\n';
    const agent = await loadOne('.claude/agents/a.md', text);
    expect([agent.prompt, agent.model]).toEqual(['One\n\n---\nmodel: opus\n---\nTwo', undefined]);
  });

  test('4: a literal `\\n` in a description is a line end, and a long description is kept in full', async () => {
    const long = 'Ünder '.repeat(1_000);
    const text = claude('name: a', String.raw`description: Use it.\n\n${long}`);
    const { description } = await loadOne('.claude/agents/a.md', text);
    expect(description).toBe(`Use it.\n\n${long}`.trim());
  });

  test.each([
    ['tools: Read, Task(a, b), Bash', { mode: 'allow', names: ['Read', 'Task', 'Bash'] }],
    ['tools: [Read, "Grep"]', { mode: 'allow', names: ['Read', 'Grep'] }],
    ['tools:\n  - Read\n  - Grep', { mode: 'allow', names: ['Read', 'Grep'] }],
    ['tools: "*"', { mode: 'all', names: [] }],
    ['tools: {bash: false, read: true}', { mode: 'deny', names: ['Bash'] }],
    ['tools: {mode: allowlist, allow: [Read]}', { mode: 'allow', names: ['Read'] }],
    ['model: opus', { mode: 'all', names: [] }],
    ['tools: []', { mode: 'allow', names: [] }],
  ])('5: takes tools as %s', async (line, tools) => {
    const text = claude('name: a', 'description: Does.', line);
    expect((await loadOne('.claude/agents/a.md', text)).tools).toEqual(tools);
  });

  test('6: maps tool names by one table, exact spelling first, then any case', async () => {
    const words =
      'read_file, run_shell_command, execute/runInTerminal, GREP_SEARCH, find, webfetch';
    const agent = await loadOne(
      '.claude/agents/a.md',
      claude('name: a', 'description: Does.', `tools: ${words}`),
    );
    expect(agent.tools.names).toEqual(['Read', 'Bash', 'Grep', 'Glob', 'WebFetch']);
  });

  test('7: expands names of groups, and those that clash only for their own vendor', async () => {
    const text = claude('name: NAME', 'description: Does.', 'tools: [edit, search]');
    const { items: agents } = await load({
      '.github/agents/a.agent.md': text.replace('NAME', 'a'),
      '.claude/agents/b.md': text.replace('NAME', 'b'),
      '.factory/droids/c.md': claude('name: c', 'description: Does.', 'tools: read-only'),
      '.kiro/agents/d.json': JSON.stringify({ name: 'd', prompt: 'Do.', tools: ['@builtin'] }),
    });
    expect(new Map(agents.map(({ name, tools }) => [name, tools]))).toEqual(
      new Map([
        ['a', { mode: 'allow', names: ['Edit', 'Write', 'Grep', 'Glob'] }],
        ['b', { mode: 'allow', names: ['Edit', 'Grep', 'Glob'] }],
        ['c', { mode: 'allow', names: ['Read', 'LS', 'Grep', 'Glob'] }],
        ['d', { mode: 'all', names: [] }],
      ]),
    );
  });

  test('8: reports an unknown tool once, and an agent without any tool loads but cannot start', async () => {
    const { items: agents } = await load({
      'a.md': claude('name: a', 'description: Does.', 'tools: Read, fly, fly, dig'),
      'b.md': claude('name: b', 'description: Does.', 'tools: fly'),
    });
    expect(agents.map((agent) => [agent.tools.names, codes(agent), agent.unusable])).toEqual([
      [['Read'], ['unknown-tool', 'unknown-tool'], undefined],
      [[], ['unknown-tool', 'no-known-tools'], expect.stringContaining('fly')],
    ]);
  });

  test('9: knows the names of all vendors for tools of MCP servers', async () => {
    const words = [
      'mcp__git__log',
      'mcp__docs',
      'mcp__web__*',
      'github/*',
      'jira/create_issue',
      '@sql',
      '@sql/query',
      'mcp_files_*',
    ];
    const agent = await loadOne(
      'a.md',
      claude('name: a', 'description: Does.', `tools: [${words.map((w) => `"${w}"`).join(', ')}]`),
    );
    expect(agent.tools.names).toEqual([
      'mcp__git__log',
      'mcp__docs',
      'mcp__web__*',
      'mcp__github__*',
      'mcp__jira__create_issue',
      'mcp__sql__*',
      'mcp__sql__query',
      'mcp__files__*',
    ]);
  });

  test('10: an agent without a name gets that of its file or its folder', async () => {
    const text = claude('description: Does.');
    const toml = 'description = "Does."\ndeveloper_instructions = "Do."\n';
    const { items: agents } = await load({
      '.claude/agents/one.md': text,
      '.github/agents/two.agent.md': text,
      '.codex/agents/three.toml': toml,
      'subagents/four/SUBAGENT.md': text,
      '.opencode/agents/deep/five.md': text,
    });
    expect(agents.map(({ name }) => name).toSorted()).toEqual(
      ['one', 'two', 'three', 'four', 'deep/five'].toSorted(),
    );
  });

  test('11: keeps any display name and adds an id to type, with a warning only for a clash', async () => {
    const { items: agents } = await load({
      'one.agent.md': claude('name: .NET Self-Learning Expert', 'description: Does.'),
      'two.agent.md': claude('name: 日本 Tester', 'description: Does.'),
      'three.agent.md': claude('name: dotnet-self-learning-expert', 'description: Does.'),
    });
    expect(agents.map((agent) => [agent.name, agentId(agent), codes(agent)])).toEqual([
      ['.NET Self-Learning Expert', expect.stringMatching(/^[\p{L}\p{N}-]+$/u), []],
      ['dotnet-self-learning-expert', 'dotnet-self-learning-expert', []],
      ['日本 Tester', '日本-tester', []],
    ]);
    expect(findAgent('日本-tester', agents)).toMatchObject({ ok: true });
    expect(findAgent('.net self-learning expert', agents)).toMatchObject({ ok: true });
    const clash = await load({
      'four.agent.md': claude('name: 日本-TESTER', 'description: Other.'),
    });
    expect([...findIdClashes(clash.items).values()].map(({ code }) => code)).toEqual(['id-clash']);
  });

  test('12: a missing description is a warning', async () => {
    const agent = await loadOne('.claude/agents/a.md', claude('name: a'));
    expect([agent.description, codes(agent)]).toEqual(['', ['missing-description']]);
  });

  test('13: a document is skipped; another file without front matter is listed with the reason', async () => {
    const { items: agents, skipped } = await load({
      '.claude/agents/README.md': '# About\n',
      '.claude/agents/notes.md': 'Some notes.\n',
      '.opencode/agents/bare.md': 'You do it.\n',
    });
    expect(agents.map((agent) => [agent.name, agent.prompt, codes(agent)])).toEqual([
      ['bare', 'You do it.', ['frontmatter-missing', 'missing-description']],
    ]);
    expect(skipped.map(({ code, reason }) => [code, reason])).toEqual([
      ['not-an-agent', expect.any(String)],
      ['frontmatter-missing', expect.stringContaining('`---`')],
    ]);
  });

  test('14: folders are searched with everything below them', async () => {
    const text = claude('name: a', 'description: Does.');
    expect((await loadOne('.gemini/agents/x/y/a.md', text)).origin.vendor).toBe('gemini');
  });

  test('15: the first agent with a name is used, and the others are listed', async () => {
    const { items: agents, shadowed } = await load({
      'agents/b.md': claude('name: same', 'description: Second.'),
      'agents/a.md': claude('name: SAME', 'description: First.'),
    });
    expect(agents.map(({ description }) => description)).toEqual(['First.']);
    expect(shadowed.map(({ item: agent, by }) => [agent.description, by])).toEqual([
      ['Second.', tree.path('agents/a.md')],
    ]);
  });

  test.each([
    ['model: opus', 'opus'],
    ['model: claude-sonnet-4-5', 'claude-sonnet-4-5'],
    ['model: github-copilot/gpt-4.1', 'github-copilot/gpt-4.1'],
    ['model: "Claude Sonnet 4.5 (copilot)"', 'Claude Sonnet 4.5 (copilot)'],
    ['model: powerful', 'powerful'],
    ['model: [gpt-5, sonnet]', 'gpt-5'],
    ['color: red', undefined],
  ])('16: keeps the requested model unchanged: %s', async (line, model) => {
    const text = claude('name: a', 'description: Does.', line);
    const agent = await loadOne('a.md', text);
    expect([agent.model, codes(agent)]).toEqual([model, []]);
  });

  test('17: loads every format', async () => {
    const { items: agents } = await load({
      'a.md': claude('name: a', 'description: Does.'),
      'b.agent.md': claude('name: b', 'description: Does.'),
      'c/SUBAGENT.md': claude('name: c', 'description: Does.'),
      'd.toml': 'name = "d"\ndescription = "Does."\ndeveloper_instructions = "Do."\n',
      'e.json': '{"name": "e", "description": "Does.", "prompt": "Do.", "allowedTools": ["read"]}',
      'opencode.json': '{"agent": {"f": {"description": "Does.", "prompt": "Do."}}}',
      'g.yaml': 'version: 1.0.0\ntitle: g\ndescription: Does.\ninstructions: Do.\n',
    });
    expect(agents.map(({ name, origin }) => [name, origin.vendor]).toSorted()).toEqual([
      ['a', 'claude'],
      ['b', 'copilot'],
      ['c', 'subagent'],
      ['d', 'codex'],
      ['e', 'kiro'],
      ['f', 'opencode'],
      ['g', 'goose'],
    ]);
  });

  test.each([
    ['.claude/agents/a.md', claude('name: a', 'description: D.', 'permissionMode: plan'), 'plan'],
    ['.claude/agents/a.md', claude('name: a', 'description: D.', 'permission-mode: plan'), 'plan'],
    ['.qwen/agents/a.md', claude('name: a', 'description: D.', 'approvalMode: plan'), 'plan'],
    ['.qwen/agents/a.md', claude('name: a', 'description: D.', 'approvalMode: yolo'), 'autonomous'],
    ['.cursor/agents/a.md', claude('name: a', 'description: D.', 'readonly: true'), 'plan'],
    [
      '.codex/agents/a.toml',
      'name = "a"\ndescription = "D."\ndeveloper_instructions = "Do."\nsandbox_mode = "read-only"\n',
      'plan',
    ],
    ['.claude/agents/a.md', claude('name: a', 'description: D.', 'permissionMode: odd'), 'default'],
  ])('18: reads which calls a file allows without a question: %s, %s', async (path, text, mode) => {
    expect((await loadOne(path, text)).mode).toBe(mode);
  });

  test.each(['maxTurns', 'max-turns', 'max_turns', 'steps', 'maxSteps'])(
    '19: reads the limit of turns as %s',
    async (name) => {
      const text = claude('name: a', 'description: Does.', `${name}: 7`);
      expect((await loadOne('a.md', text)).limits).toEqual({ maxTurns: 7 });
    },
  );

  test.each([
    ['.qwen/agents/a.md', claude('name: a', 'description: D.', 'runConfig: {max_turns: 7}')],
    ['g.yaml', 'title: a\ndescription: D.\ninstructions: Do.\nsettings: {max_turns: 7}\n'],
  ])('19: reads the limit of turns inside an object: %s', async (path, text) => {
    expect((await loadOne(path, text)).limits).toEqual({ maxTurns: 7 });
  });

  test('20: keeps all other keys and lists them in one warning, those that change the behaviour first', async () => {
    const agent = await loadOne(
      '.qwen/agents/a.md',
      claude('name: a', 'description: Does.', 'version: 2', 'hooks: {Stop: []}', 'tags: [x]'),
    );
    expect(agent.extra).toEqual({ version: 2, hooks: { Stop: [] }, tags: ['x'] });
    expect(agent.problems.map(({ message }) => message)).toEqual([
      'These fields have no effect yet: hooks. Unknown fields: version, tags.',
    ]);
  });
});
