import { copilot } from '../../../src/agents/formats/vendors.ts';
import { describe, expect, test } from 'vitest';
import { agentFile, codes, plainAgent, read, readOne } from '../support.ts';

const HEAD = ['name: Release notes', 'description: Writes them.'] as const;

const PLAIN = plainAgent('copilot', { name: 'Release notes', description: 'Writes them.' });

test('a file with every field: the others are kept and reported once', async () => {
  const file = agentFile(
    ...HEAD,
    "tools: ['read', 'EDIT', 'search', 'agent', 'tickets/find', 'wiki/*', 'web/fetch']",
    'model: Some Model (copilot)',
    'target: vscode',
    'argument-hint: a version',
    'user-invocable: false',
    'disable-model-invocation: true',
    'agents: [Writer, Checker]',
    'mcp-servers: {tickets: {command: serve}}',
    'metadata: {team: docs}',
    'handoffs: [{label: Go on, agent: Writer}]',
    'hooks: {Stop: []}',
    'mood: calm',
  );
  expect(await readOne(copilot.agents, file)).toEqual({
    ...PLAIN,
    tools: {
      mode: 'allow',
      names: [
        'Read',
        'Edit',
        'Write',
        'Grep',
        'Glob',
        'Task',
        'mcp__tickets__find',
        'mcp__wiki__*',
        'WebFetch',
      ],
    },
    servers: { tickets: { command: 'serve' } },
    model: 'Some Model (copilot)',
    unlisted: true,
    delegatesTo: ['Writer', 'Checker'],
    extra: {
      target: 'vscode',
      'argument-hint': 'a version',
      'user-invocable': false,
      metadata: { team: 'docs' },
      handoffs: [{ label: 'Go on', agent: 'Writer' }],
      hooks: { Stop: [] },
      mood: 'calm',
    },
    problems: [
      {
        code: 'inactive-field',
        message:
          'These fields have no effect yet: target, argument-hint, user-invocable, metadata, handoffs, hooks. Unknown fields: mood.',
        path: '/agents/tester.md',
        line: 6,
      },
    ],
  });
});

describe('tools', () => {
  test.each([
    ['a string', 'tools: read, search/codebase', ['Read', 'Grep'], []],
    [
      'the editor’s own names',
      'tools: [runCommands, usages, todos]',
      ['Bash', 'Grep', 'TodoWrite'],
      [],
    ],
    ['sets by their old names', 'tools: [execute, web]', ['Bash', 'WebFetch', 'WebSearch'], []],
    [
      'names of an extension and unknown names',
      'tools: [read, acme.some-tool/open, problems, problems]',
      ['Read'],
      ['unknown-tool', 'unknown-tool'],
    ],
    ['none', 'tools: []', [], ['no-tools']],
  ])('%s', async (_, line, names, expected) => {
    const agent = await readOne(copilot.agents, agentFile(...HEAD, line));
    expect([agent.tools, codes(agent)]).toEqual([{ mode: 'allow', names }, expected]);
  });
});

describe('callers and delegates', () => {
  test.each([
    [['infer: false'], { unlisted: true }, []],
    [['infer: true'], {}, []],
    [['infer: false', 'disable-model-invocation: false'], {}, []],
    [['disable-model-invocation: "true"'], { unlisted: true }, []],
    [['hidden: true'], { unlisted: true }, []],
    [['infer: maybe'], {}, ['invalid-flag']],
    [['tools: agent', 'agents: "*"'], {}, []],
    [['tools: agent', 'agents: [a]'], { delegatesTo: ['a'] }, []],
    [['tools: "agent(a, b)"', 'agents: b, c'], { delegatesTo: ['b'] }, []],
    [['tools: read', 'agents: [a]'], { delegatesTo: ['a'] }, ['agents-without-task']],
    [['tools: agent', 'agents: []'], { disallowedTools: ['Task'] }, []],
    [['tools: agent', 'agents: {a: b}'], { disallowedTools: ['Task'] }, []],
  ])('%j', async (lines, fields, expected) => {
    const agent = await readOne(copilot.agents, agentFile(...HEAD, ...lines));
    const { tools: _, ...rest } = agent;
    const { tools: __, ...plain } = PLAIN;
    expect(rest).toEqual({ ...plain, ...fields, problems: expect.any(Array) });
    expect(codes(agent)).toEqual(expected);
  });
});

test('the first available of several models is used', async () => {
  const agent = await readOne(copilot.agents, agentFile(...HEAD, 'model: [One, Two]'));
  expect([agent.model, agent.models, codes(agent)]).toEqual(['One', ['One', 'Two'], []]);
});

test('a prompt of more than 30,000 characters loads in full', async () => {
  const body = 'word '.repeat(8000).trim();
  const agent = await readOne(copilot.agents, `---\nname: long\ndescription: x\n---\n${body}\n`);
  expect([agent.prompt, codes(agent)]).toEqual([body, []]);
});

test('the name comes from the file, and front matter is optional', async () => {
  const names = ['planner.agent.md', 'planner.chatmode.md', 'planner.md'];
  for (const name of names) {
    const { items } = await read(copilot.agents, 'Plan.\n', `/p/.github/agents/${name}`);
    expect(items.map((agent) => [agent.name, agent.prompt, codes(agent)])).toEqual([
      ['planner', 'Plan.', ['frontmatter-missing', 'name-from-filename', 'missing-description']],
    ]);
  }
  const { items, problems } = await read(copilot.agents, 'Hello.\n', '/p/.github/agents/README.md');
  expect([items, problems.map(({ code }) => code)]).toEqual([[], ['not-an-agent']]);
});
