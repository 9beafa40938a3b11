import { opencode } from '../../../src/agents/formats/vendors.ts';
import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { agentFile, codes, plainAgent, read } from '../support.ts';

const PATH = '/p/.opencode/agents/tester.md';
const PLAIN = plainAgent('opencode', { path: PATH });

async function one(text: string, path = PATH): Promise<AgentDefinition> {
  const { items, problems } = await read(opencode.agents, text, path);
  if (items[0] === undefined || items.length !== 1) throw new Error(JSON.stringify(problems));
  return items[0];
}

describe('a markdown file', () => {
  test('with every field', async () => {
    const file = agentFile(
      'description: Tests.',
      'mode: subagent',
      'model: some/model',
      'variant: high',
      'temperature: 0.1',
      'top_p: 0.9',
      'steps: 12',
      'hidden: false',
      'disable: false',
      'color: "#ff5733"',
      'options: {a: 1}',
      'permission: {bash: {"git push *": ask}, webfetch: deny}',
      'reasoningSummary: auto',
    );
    expect(await one(file)).toEqual({
      ...PLAIN,
      model: 'some/model',
      effort: 'high',
      tools: { mode: 'deny', names: ['WebFetch'] },
      rules: { ask: ['Bash(git push *)'], deny: [] },
      limits: { maxTurns: 12 },
      color: '#ff5733',
      extra: { temperature: 0.1, top_p: 0.9, options: { a: 1 }, reasoningSummary: 'auto' },
      problems: [
        {
          code: 'inactive-field',
          message:
            'These fields have no effect yet: temperature, top_p, options. Unknown fields: reasoningSummary.',
          path: PATH,
          line: 6,
        },
      ],
    });
  });

  test.each([
    ['/p/.opencode/agent/web/css.md', 'web/css'],
    ['/p/.opencode/agents/agents/x.md', 'agents/x'],
    ['/home/u/.config/opencode/agent/x.md', 'x'],
    ['/p/agents/x/y.md', 'x/y'],
    ['/p/elsewhere/x.md', 'x'],
  ])('%s is called %s', async (path, name) => {
    expect(await one(agentFile('description: Tests.'), path)).toMatchObject({ name, problems: [] });
    const named = agentFile('name: Declared', 'description: Tests.');
    expect((await one(named, path)).name).toBe('Declared');
  });

  test.each([
    ['mode: primary', PATH, true],
    ['mode: all', PATH, undefined],
    ['mode: subagent', '/p/.opencode/modes/x.md', true],
    ['model: a', '/p/.opencode/mode/x.md', true],
    ['model: a', '/p/.opencode/agents/build.md', true],
    ['mode: all', '/p/.opencode/agents/build.md', undefined],
  ])('with %s at %s: unlisted is %s', async (line, path, unlisted) => {
    expect((await one(agentFile('description: Tests.', line), path)).unlisted).toBe(unlisted);
  });

  test('a file without front matter is a prompt', async () => {
    const agent = await one('Test.\n');
    expect([agent.name, agent.prompt, codes(agent)]).toEqual([
      'tester',
      'Test.',
      ['frontmatter-missing', 'missing-description'],
    ]);
  });

  test.each(['disable', 'disabled'])(
    'that is switched off by %s is not an agent',
    async (field) => {
      const { items, problems } = await read(opencode.agents, agentFile(`${field}: true`), PATH);
      expect([items, problems]).toEqual([
        [],
        [{ code: 'disabled', message: '`tester` is disabled (`disable: true`).', path: PATH }],
      ]);
    },
  );

  test('with the name of a built-in opencode agent keeps the restrictions of that agent', async () => {
    const plan = await one(
      agentFile('description: Plans.', 'permission: {bash: ask}'),
      '/p/agents/plan.md',
    );
    expect(plan).toMatchObject({
      tools: PLAIN.tools,
      rules: { ask: ['Bash'], deny: ['Edit', 'Write'] },
    });
    expect(codes(plan)).toEqual(['built-in-permissions']);
    const editing = agentFile('description: Plans.', 'permission: {edit: allow}');
    expect((await one(editing, '/p/agents/plan.md')).rules).toBeUndefined();
    const explore = await one(agentFile('description: Looks.'), '/p/agents/explore.md');
    expect(explore.rules?.deny).toEqual(
      expect.arrayContaining(['Edit', 'Write', 'Task', 'mcp__*']),
    );
    expect(explore.rules?.deny).not.toContain('Read');
  });
});

describe('opencode.json', () => {
  const path = '/p/opencode.json';
  const origin = { ...PLAIN.origin, path };
  const text = (config: object): string => JSON.stringify(config);

  test('with comments and commas, and an agent of each kind', async () => {
    const config = `{
      // Who works here.
      "$schema": "https://opencode.ai/config.json", /* { */
      "agent": {
        "tester": {"description": "Tests.", "prompt": "Test.\\r\\n// no comment, ]", "maxSteps": 3,},
        "off": {"disable": true, "prompt": "x"},
        "build": {"model": "some/model"},
        "broken": 3,
      },
      "agents": {"newer": {"description": "New.", "system": "New.", "disabled": false,
        "model": {"providerID": "some", "model": "model", "variant": "low"}, "request": {}}},
      "mode": {"old": {"description": "Old.", "prompt": "Old."}},
    }`;
    expect(await read(opencode.agents, config, path)).toEqual({
      items: [
        { ...PLAIN, origin, prompt: 'Test.\n// no comment, ]', limits: { maxTurns: 3 } },
        {
          ...PLAIN,
          name: 'build',
          description: '',
          prompt: '',
          model: 'some/model',
          unlisted: true,
          changesOnly: true,
          unusable:
            "It only changes opencode's own agent `build`, which Muster does not have: it has no prompt.",
          origin,
          problems: [expect.objectContaining({ code: 'missing-description' })],
        },
        {
          ...PLAIN,
          name: 'newer',
          description: 'New.',
          prompt: 'New.',
          model: 'some/model',
          effort: 'low',
          origin,
          extra: { request: {} },
          problems: [expect.objectContaining({ code: 'inactive-field' })],
        },
        { ...PLAIN, name: 'old', description: 'Old.', prompt: 'Old.', unlisted: true, origin },
      ],
      problems: [
        { code: 'disabled', message: '`off` is disabled (`disable: true`).', path },
        {
          code: 'invalid-agent',
          message: '`agent.broken` is not an agent: write `{"prompt": …}`.',
          path,
        },
      ],
    });
  });

  test.each([
    ['{}', 'not-an-agent'],
    [text({ agent: {} }), 'not-an-agent'],
    ['[]', 'invalid-json'],
    ['{"agent": {', 'invalid-json'],
    [`{"agent": ${'['.repeat(100)}`, 'invalid-json'],
    [`{"agent": [${'1,'.repeat(60_000)}1]}`, 'invalid-json'],
    ['', 'invalid-json'],
  ])('%.40s gives no agent (%s)', async (content, code) => {
    const { items, problems } = await read(opencode.agents, content, path);
    expect([items, problems.map((problem) => problem.code)]).toEqual([[], [code]]);
  });

  test('a prompt in another file cannot be read without trust', async () => {
    const prompt = 'Do: {file:./prompts/x.txt}';
    const config = text({ agent: { tester: { description: 'Tests.', prompt } } });
    expect(await one(config, path)).toEqual({
      ...PLAIN,
      origin,
      prompt,
      unusable: 'Its prompt is in ./prompts/x.txt. It cannot be read here.',
      problems: [
        {
          code: 'prompt-unreadable',
          message: 'Its prompt is in ./prompts/x.txt. It cannot be read here.',
          path,
        },
      ],
    });
  });
});
