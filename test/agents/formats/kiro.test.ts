import { detectFormat } from '../../../src/agents/formats/detect-format.ts';
import { kiro } from '../../../src/agents/formats/vendors.ts';
import { describe, expect, test } from 'vitest';
import type { DefinitionFile } from '../../../src/agents/loader/format.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { agentFile, codes, plainAgent, read, readOne } from '../support.ts';

const PATH = '/agents/keeper.json';
const HEAD = { name: 'keeper', description: 'Keeps.', prompt: 'Keep.' };

const PLAIN = plainAgent('kiro', {
  name: 'keeper',
  description: 'Keeps.',
  prompt: 'Keep.',
  path: PATH,
});

async function readJson(value: object) {
  const { items, problems } = await read(kiro.agents, JSON.stringify(value, null, 2), PATH);
  if (items[0] === undefined) throw new Error(JSON.stringify(problems));
  return items[0];
}

function ruleTexts(rules: Partial<NonNullable<AgentDefinition['rules']>>): object {
  return { ask: [], deny: [], ...rules };
}

test('a JSON file with every field', async () => {
  const agent = await readJson({
    ...HEAD,
    model: 'some-model',
    tools: ['read', 'write', 'shell', '@git', '@wiki/find'],
    allowedTools: ['read', '@git/*'],
    toolAliases: { '@git/status': 'status' },
    toolsSettings: {
      shell: { allowedCommands: ['npm test'], deniedCommands: ['git push.*'] },
      write: { allowedPaths: ['src/**'], deniedPaths: ['.env', '~/keys'] },
      aws: { allowedServices: ['s3'] },
    },
    resources: ['file://README.md'],
    hooks: { agentSpawn: [{ command: 'date' }] },
    mcpServers: { git: { command: 'serve' } },
    includeMcpJson: true,
    useLegacyMcpJson: true,
    keyboardShortcut: 'ctrl+k',
    welcomeMessage: 'Hello.',
    mood: 'calm',
  });
  expect(agent).toEqual({
    ...PLAIN,
    model: 'some-model',
    tools: {
      mode: 'allow',
      names: ['Read', 'Write', 'Edit', 'Bash', 'mcp__git__*', 'mcp__wiki__find'],
    },
    rules: {
      ask: ['Bash', 'Edit'],
      deny: ['Bash(git push*)', 'Edit(//**/.env)', 'Edit(~/keys)'],
    },
    extra: {
      allowedTools: ['read', '@git/*'],
      toolAliases: { '@git/status': 'status' },
      'toolsSettings.shell.allowedCommands': ['npm test'],
      'toolsSettings.write.allowedPaths': ['src/**'],
      'toolsSettings.aws.allowedServices': ['s3'],
      resources: ['file://README.md'],
      hooks: { agentSpawn: [{ command: 'date' }] },
      mcpServers: { git: { command: 'serve' } },
      includeMcpJson: true,
      useLegacyMcpJson: true,
      keyboardShortcut: 'ctrl+k',
      welcomeMessage: 'Hello.',
      mood: 'calm',
    },
    problems: [expect.objectContaining({ code: 'inactive-field', path: PATH })],
  });
});

test('a markdown file has the same fields', async () => {
  const file = agentFile(
    'name: keeper',
    'description: Keeps.',
    'tools: [read, shell]',
    'permissions:',
    '  - {capability: shell, effect: deny, match: ["rm *", sudo]}',
  );
  expect(await readOne(kiro.agents, file)).toEqual({
    ...PLAIN,
    prompt: 'Test.',
    tools: { mode: 'allow', names: ['Read', 'Bash'] },
    rules: { ask: [], deny: ['Bash(rm *)', 'Bash(sudo)'] },
    origin: { ...PLAIN.origin, path: '/agents/tester.md' },
  });
});

describe('tools', () => {
  const every = { mode: 'all', names: [] };
  const allow = (...names: string[]): object => ({ mode: 'allow', names });
  test.each([
    [{}, every, []],
    [{ tools: ['*'] }, every, []],
    [{ tools: ['@builtin'] }, every, ['mcp__*']],
    [{ tools: ['@mcp', 'read'] }, allow('mcp__*', 'Read'), []],
    [{ tools: [] }, allow(), []],
    [{ allowedTools: ['fs_read', 'execute_bash'] }, allow('Read', 'Bash'), []],
    [
      { tools: ['use_subagent', 'todo_list'], allowedTools: ['write'] },
      allow('Task', 'TodoWrite'),
      [],
    ],
  ])('%j', async (fields, tools, disallowedTools) => {
    const agent = await readJson({ ...HEAD, ...fields });
    expect([agent.tools, agent.disallowedTools]).toEqual([tools, disallowedTools]);
  });
});

describe('toolsSettings becomes rules that deny at least as much', () => {
  test.each([
    [
      { read: { deniedPaths: ['./secrets/**', '/etc'] } },
      { deny: ['Read(//**/secrets/**)', 'Read(//etc)'] },
    ],
    [{ read: { allowedPaths: ['src'] } }, undefined],
    [{ fs_write: { deniedPaths: 'a.key' } }, { deny: ['Edit(//**/a.key)'] }],
    [{ fs_write: { deniedPaths: ['../up'] } }, { deny: ['Edit'] }],
    [{ fs_write: { deniedPaths: ['$HOME/x', '.'] } }, { deny: ['Edit'] }],
    [{ fs_write: { deniedPaths: [['x']] } }, { deny: ['Edit'] }],
    [
      { grep: { deniedPaths: ['a'] }, glob: { deniedPaths: ['b'] } },
      { deny: ['Grep(//**/a)', 'Glob(//**/b)'] },
    ],
    [{ shell: { deniedCommands: ['(?!ls).*'] } }, { deny: ['Bash'] }],
    [
      { shell: { denyByDefault: true, allowedCommands: ['ls'] } },
      { deny: ['Bash'], ask: ['Bash'] },
    ],
    [{ shell: { denyByDefault: false } }, undefined],
    [{ shell: { autoAllowReadonly: true } }, undefined],
    [{ web_fetch: { trusted: ['.*a'], blocked: ['.*b'] } }, { deny: ['WebFetch'] }],
    // Two spellings of one name: neither is lost.
    [
      { shell: { deniedCommands: ['a'] }, execute_bash: { deniedCommands: ['b'] } },
      { deny: ['Bash(a)', 'Bash(b)'] },
    ],
    [
      {
        shell: { deniedCommands: ['a'] },
        Shell: { denied_commands: ['b'], deniedCommands: ['c'] },
      },
      { deny: ['Bash(a)', 'Bash(c)'] },
    ],
    [{ '@git/push': { deniedPaths: ['a'] }, aws: { deniedServices: ['x'] } }, undefined],
    [
      { shell: { deniedPaths: ['x'] }, read: { deniedCommands: ['x'] } },
      { deny: ['Bash', 'Read'] },
    ],
    [{ shell: { deniedCommands: [], deniedPaths: null }, read: null }, undefined],
    [null, undefined],
  ])('%j', async (toolsSettings, rules) => {
    const agent = await readJson({ ...HEAD, toolsSettings });
    expect(agent.rules).toEqual(rules && ruleTexts(rules));
  });

  test.each([
    [{ toolsSettings: 'all' }, 'toolsSettings'],
    [{ toolsSettings: { shell: ['rm'] } }, 'toolsSettings.shell'],
    [{ permissions: 'none' }, 'permissions'],
    [{ permissions: ['none', { capability: 'shell', effect: 'ask' }] }, 'permissions'],
  ])('%j cannot be read: the agent cannot be started', async (fields, name) => {
    const agent = await readJson({ ...HEAD, ...fields });
    expect([agent.unusable, codes(agent)[0]]).toEqual([
      `${name} cannot be read, so it is not known what it denies. It must be a map with settings for each tool, or a list of rules.`,
      'invalid-permissions',
    ]);
  });

  test('reports a tool that is denied completely', async () => {
    const agent = await readJson({ ...HEAD, toolsSettings: { shell: { deniedCommands: ['.*'] } } });
    expect(agent.problems).toEqual([
      {
        code: 'whole-tool-denied',
        message:
          '`toolsSettings.shell.deniedCommands` denies calls that no rule can express; Bash is denied as a whole.',
        path: PATH,
        line: 5,
      },
    ]);
  });
});

describe('permissions', () => {
  test.each([
    [{ capability: 'shell', effect: 'allow', match: ['npm *'] }, undefined, ['inactive-field']],
    [{ capability: 'fs_read', effect: 'deny', match: ['.env'] }, { deny: ['Read(//**/.env)'] }, []],
    [
      { capability: 'filesystem', effect: 'deny', match: ['.env'] },
      { deny: ['Read(//**/.env)', 'Edit(//**/.env)'] },
      [],
    ],
    [{ capability: 'fs_write', effect: 'ask' }, { ask: ['Edit'] }, []],
    [{ capability: 'shell', effect: 'deny', match: '*', exclude: ['ls'] }, { deny: ['Bash'] }, []],
    [
      { capability: 'mcp', effect: 'deny', match: ['git/*', 'wiki/find', '*/x', 'a/b*'] },
      { deny: ['mcp__git__*', 'mcp__wiki__find', 'mcp__*', 'mcp__a__*'] },
      [],
    ],
    [{ capability: 'mcp', effect: 'ask' }, { ask: ['mcp__*'] }, []],
    [{ capability: 'web', effect: 'deny', match: ['x'] }, { deny: ['WebFetch', 'WebSearch'] }, []],
    [{ capability: 'shell', effect: 'forbid' }, { deny: ['Bash'] }, []],
    [{ capability: 'flying', effect: 'deny' }, undefined, ['unknown-capability']],
    [null, undefined, []],
  ])('%j', async (entry, rules, expected) => {
    const agent = await readJson({ ...HEAD, permissions: [entry] });
    expect(agent.rules).toEqual(rules && ruleTexts(rules));
    expect(codes(agent)).toEqual(expected);
  });

  test('settings that allow calls without asking are kept, and have no effect', async () => {
    const allow = { capability: 'shell', effect: 'allow', match: ['npm *'] };
    const ask = { capability: 'shell', effect: 'ask', match: ['git *'] };
    expect(await readJson({ ...HEAD, permissions: [allow, ask] })).toEqual({
      ...PLAIN,
      rules: { ask: ['Bash(git *)'], deny: [] },
      extra: { 'permissions.allow': [allow] },
      problems: [expect.objectContaining({ code: 'inactive-field' })],
    });
  });

  test('`all` is every tool', async () => {
    const agent = await readJson({ ...HEAD, permissions: [{ capability: 'all', effect: 'deny' }] });
    expect(agent.rules?.deny).toEqual(expect.arrayContaining(['Bash', 'Task', 'mcp__*']));
  });
});

describe('delegates', () => {
  test.each([
    [['docs', 'tests'], { delegatesTo: ['docs', 'tests'] }, []],
    [['*'], {}, []],
    [['docs', 'test-*'], { delegatesTo: ['docs'] }, ['agent-pattern']],
    [['test-*'], { disallowedTools: ['Task'] }, ['agent-pattern']],
    [[], { disallowedTools: ['Task'] }, []],
  ])('%j', async (availableAgents, fields, expected) => {
    const agent = await readJson({ ...HEAD, toolsSettings: { subagent: { availableAgents } } });
    expect(agent).toEqual({ ...PLAIN, ...fields, problems: expect.any(Array) });
    expect(codes(agent)).toEqual(expected);
  });
});

describe('a prompt in a separate file', () => {
  const file = (prompt: string, beside?: DefinitionFile['readReferenced']): DefinitionFile => ({
    path: '/p/.kiro/agents/keeper.json',
    scope: 'project',
    text: JSON.stringify({ ...HEAD, prompt }),
    ...(beside === undefined ? {} : { readReferenced: beside }),
  });
  const texts = new Map([
    ['/p/.kiro/agents/prompts/keeper.md', '\nKeep it.\r\n'],
    ['/p/shared.md', 'Shared.'],
    ['/abs.md', 'Absolute.'],
  ]);
  const beside: DefinitionFile['readReferenced'] = (path) => {
    const text = texts.get(path);
    return text === undefined ? { ok: false, reason: 'Not there.' } : { ok: true, text };
  };

  test.each([
    ['file://./prompts/keeper.md', 'Keep it.'],
    ['file://prompts/keeper.md', 'Keep it.'],
    ['file://../../shared.md', 'Shared.'],
    ['FILE:///abs.md', 'Absolute.'],
  ])('%s', async (prompt, expected) => {
    const { items } = await kiro.agents.read(file(prompt, beside));
    expect(items.map((agent) => [agent.prompt, agent.unusable, codes(agent)])).toEqual([
      [expected, undefined, []],
    ]);
  });

  test.each([
    ['file://none.md', beside, 'Not there.'],
    ['file://none.md', undefined, 'Only the agent file itself can be read here.'],
  ])('%s that cannot be used keeps the agent from starting', async (prompt, port, reason) => {
    const { items } = await kiro.agents.read(file(prompt, port));
    const unusable = `Its prompt is in \`none.md\`, which cannot be used: ${reason}`;
    expect(items.map((agent) => [agent.prompt, agent.unusable, codes(agent)])).toEqual([
      ['', unusable, ['prompt-file']],
    ]);
  });

  test('the format lists the file in advance', async () => {
    const named = (text: string): Promise<readonly string[]> =>
      kiro.agents.referencedFiles('/p/.kiro/agents/keeper.json', text);
    expect([
      await named(file('file://./prompts/keeper.md').text),
      await named('---\nprompt: file://../a.md\n---\n'),
      await named(file('Keep.').text),
    ]).toEqual([['/p/.kiro/agents/prompts/keeper.md'], ['/p/.kiro/a.md'], []]);
  });
});

test('files that are not agents, and invalid files', async () => {
  const broken = '{\n  "name": "keeper",\n  "prompt": "Keep.",\n  "tools": ["read",],\n}\n';
  const mended = await read(kiro.agents, broken, PATH);
  expect(mended.items.map((agent) => [agent.name, agent.tools.names, codes(agent)])).toEqual([
    ['keeper', ['Read'], ['invalid-json', 'missing-description']],
  ]);
  const results = await Promise.all(
    ['{\n "name": [', '[]', '{"version": 1}'].map((text) => read(kiro.agents, text, PATH)),
  );
  expect(
    results.map(({ items, problems }) => [items, problems.map(({ code, line }) => [code, line])]),
  ).toEqual([
    [[], [['invalid-json', 2]]],
    [[], [['invalid-json', undefined]]],
    [[], [['not-an-agent', undefined]]],
  ]);
});

test('a JSON file anywhere is taken for one of Kiro’s by its own fields alone', () => {
  const of = (value: object): boolean =>
    detectFormat('some/file.json', JSON.stringify(value)) === kiro.agents;
  expect([
    of({ ...HEAD, allowedTools: [] }),
    of({ name: 'x', description: 'A package.', version: '1.0.0' }),
    of({ mcpServers: {} }),
  ]).toEqual([true, false, false]);
});
